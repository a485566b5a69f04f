#include "shim/nccl/model.h"

#include <stdio.h>
#include <string.h>

#include "stack/topology.h"

#define KIB     1024ull
#define GRANULE (2048 * KIB) /* allocations that others can map are so large at least, and all of cuMem */
#define HEAD    (4 * KIB)    /* of a connection, before its buffers */

enum { STEPS = 8, SHARED_STEPS = 16 };
enum { PER_CHANNEL = 3, PER_COMMUNICATOR = 2 }; /* small allocations that NCCL keeps its books in */
enum { MARGIN = 5 }; /* a first all-to-all of 8 H100 took 14 to 20 % more than its buffers: NVIDIA/nccl issue 1685 */

enum end { LOW, USUAL, HIGH };

/* A communicator with a number of channels. */
struct view {
    const struct plm_nccl_rules *rules;
    const struct plm_nccl_place *place;
    uint64_t channels;
    bool direct, rdma;
};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + GRANULE - 1) / GRANULE * GRANULE;
}

static int power_of_two(int least)
{
    int n = 1;
    while (n < least)
        n *= 2;
    return n;
}

/* ---- ranks ---- */

struct plm_nccl_place plm_nccl_place(int ranks, int rank, int per_node, plm_nccl_rank_at *job_rank,
                                     const void *communicator)
{
    struct plm_nccl_place p = {.ranks = ranks, .rank = rank};
    const int size = per_node > 0 ? per_node : 1, own = job_rank(communicator, rank) / size;
    int last = -1;
    for (int i = 0; i < ranks; i++) {
        const int node = job_rank(communicator, i) / size;
        p.nodes += node != last;
        last = node;
        if (node != own)
            continue;
        p.first = p.local ? p.first : i;
        p.local++;
    }
    return p;
}

/* ---- channels ---- */

static int count_at(const struct plm_topology_count *c, enum end end)
{
    return end == LOW ? c->least : end == HIGH ? c->most : c->usual;
}

/* One rank has no neighbours, and gets all channels that there are. */
static int channels_of(const struct plm_nccl_rules *r, const struct plm_nccl_place *p, enum end end)
{
    const struct plm_topology *t = r->topology;
    int n = p->ranks < 2 ? r->most : count_at(p->nodes > 1 ? &t->crossing : &t->channels, end);
    n = n < r->most ? n : r->most;
    return n > r->least ? n : r->least;
}

static uint64_t peer_channels_all(const struct view *v)
{
    int n = (int)v->channels < v->rules->peer_most ? (int)v->channels : v->rules->peer_most;
    return (uint64_t)power_of_two(n > v->rules->peer_least ? n : v->rules->peer_least);
}

static uint64_t peer_channels(const struct view *v)
{
    const uint64_t all = peer_channels_all(v);
    const uint64_t n =
        (uint64_t)power_of_two(v->place->nodes > 1 ? v->rules->network_peer : v->rules->topology->peer_channels);
    return n < all ? n : all;
}

static uint64_t nvls_channels(const struct view *v)
{
    const struct plm_nccl_rules *r = v->rules;
    int n = v->place->nodes > 1 ? r->topology->nvls_crossing : r->topology->nvls_channels;
    n = r->nvls ? r->nvls : n;
    n = n < r->most ? n : r->most;
    return (uint64_t)(n > r->least ? n : r->least);
}

/* ---- connections ---- */

/* What a rank holds of a connection to or from one of its node. Without a direct way it is the host's memory. */
static uint64_t near_out(const struct view *v)
{
    return v->direct ? rounded(HEAD + (v->rules->read ? v->rules->simple : 0)) : 0;
}

static uint64_t near_in(const struct view *v)
{
    const struct plm_nccl_rules *r = v->rules;
    return v->direct ? rounded(HEAD + r->ll + r->ll128 + (r->read ? 0 : r->simple)) : 0;
}

/* The same of another node's: heads, and LL on the way out, are in the host's memory. */
static uint64_t far_out(const struct view *v)
{
    return v->rdma ? rounded(v->rules->ll128 + v->rules->simple) : 0;
}

static uint64_t far_in(const struct view *v)
{
    return v->rdma ? rounded(v->rules->ll + v->rules->ll128 + v->rules->simple) : 0;
}

enum neighbour { NEXT = 1, BEFORE = 2 };

/* A ring sends to the next rank and receives from the one before. A tree is a chain in which every link goes both ways.
   What both have is made once; two ranks are each other's next and before. */
static uint64_t near_neighbours(const struct view *v, unsigned algorithms)
{
    const int at = v->place->rank - v->place->first, local = v->place->local;
    unsigned out = 0, in = 0;
    if (local < 2)
        return 0;
    if (algorithms & PLM_NCCL_RING) {
        out |= NEXT;
        in |= BEFORE;
    }
    if (algorithms & PLM_NCCL_TREE) {
        const unsigned both = (at + 1 < local ? NEXT : 0) | (at > 0 ? BEFORE : 0);
        out |= both;
        in |= both;
    }
    if (local == 2) {
        out = !!out;
        in = !!in;
    }
    return (uint64_t)__builtin_popcount(out) * near_out(v) + (uint64_t)__builtin_popcount(in) * near_in(v);
}

/* Each channel enters and leaves a node at one of its ranks in turn. */
static uint64_t channels_leaving(const struct view *v, uint64_t channels)
{
    const uint64_t local = (uint64_t)v->place->local;
    return v->place->nodes > 1 ? (channels + local - 1) / local : 0;
}

/* In two trees that share the work each node is a leaf of one and inside of the other: three neighbours and one. */
static uint64_t far_tree_neighbours(const struct view *v)
{
    return v->place->nodes > 2 ? 2 : 1;
}

static uint64_t pat_neighbours(const struct view *v)
{
    uint64_t n = 0;
    for (int step = 1; step < v->place->ranks; step *= 2)
        n += 2;
    return n;
}

static uint64_t connections(const struct view *v, unsigned algorithms)
{
    const uint64_t leaving = channels_leaving(v, v->channels), both = far_out(v) + far_in(v);
    const bool tree = algorithms & PLM_NCCL_TREE, ring = algorithms & PLM_NCCL_RING;
    uint64_t sum = (v->channels - (tree ? 0 : leaving)) * near_neighbours(v, algorithms);
    sum += ring ? leaving * both : 0;
    sum += tree ? leaving * far_tree_neighbours(v) * both : 0;
    sum += algorithms & PLM_NCCL_PAT ? v->channels * pat_neighbours(v) * both : 0;
    return sum;
}

/* Two directions of eight steps for each channel and rank of the node. */
static uint64_t nvls(const struct view *v, unsigned algorithms)
{
    const uint64_t channels = nvls_channels(v);
    uint64_t sum;
    if (!(algorithms & (PLM_NCCL_NVLS | PLM_NCCL_NVLS_TREE)))
        return 0;
    sum = rounded(channels * 2 * STEPS * v->rules->nvls_chunk * (uint64_t)v->place->local);
    if (algorithms & PLM_NCCL_NVLS_TREE)
        sum += channels_leaving(v, channels) * far_tree_neighbours(v) * (far_out(v) + far_in(v));
    return sum;
}

/* ---- pools and books ---- */

static uint64_t pool(const struct view *v)
{
    const struct plm_nccl_rules *r = v->rules;
    uint64_t chunk = v->place->nodes > 1                                           ? r->network_chunk
                     : r->topology->link == PLM_LINK_NVLINK || v->place->ranks < 2 ? r->nvlink_chunk
                                                                                   : r->pcie_chunk;
    chunk = chunk * STEPS > r->simple ? r->simple / STEPS : chunk;
    return rounded(peer_channels_all(v) * SHARED_STEPS * chunk);
}

/* One for transfers out of the node and one for those into it. The first may be there from the beginning. */
static uint64_t pools(const struct view *v, const struct plm_nccl_use *use)
{
    const uint64_t out = use->pool || (use->far_out && v->rdma), in = use->far_in && v->rdma;
    return (out + in) * pool(v);
}

/* Small as they are, each is a granule of its own. */
static uint64_t books(const struct view *v)
{
    const uint64_t peers = peer_channels_all(v), channels = v->channels > peers ? v->channels : peers;
    const unsigned all = plm_nccl_all(v->rules, v->place);
    uint64_t count = PER_CHANNEL * channels + PER_COMMUNICATOR;
    if (all & (PLM_NCCL_NVLS | PLM_NCCL_NVLS_TREE))
        count += nvls_channels(v) + 1;
    return v->rules->cumem ? count * GRANULE : 0;
}

/* ---- the sum ---- */

static uint64_t peers(const struct view *v, const struct plm_nccl_use *use)
{
    return peer_channels(v) * ((uint64_t)__builtin_popcountll(use->out) * near_out(v) +
                               (uint64_t)__builtin_popcountll(use->in) * near_in(v));
}

/* Cards on PCI Express reach each other directly only below one switch; the network's adapter is not known. */
static struct view view_of(const struct plm_nccl_rules *r, const struct plm_nccl_place *p, enum end end)
{
    const bool sure = r->topology->link == PLM_LINK_NVLINK;
    return (struct view){r, p, (uint64_t)channels_of(r, p, end), r->direct && (sure || end != LOW),
                         r->rdma && end != LOW};
}

static uint64_t need_at(const struct view *v, const struct plm_nccl_use *use, unsigned algorithms)
{
    return connections(v, algorithms) + nvls(v, algorithms) + pools(v, use) + books(v) + peers(v, use);
}

struct plm_nccl_need plm_nccl_need(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place,
                                   const struct plm_nccl_use *use)
{
    const struct view low = view_of(rules, place, LOW), usual = view_of(rules, place, USUAL),
                      high = view_of(rules, place, HIGH);
    const unsigned used = use->algorithms.used;
    return (struct plm_nccl_need){
        .bytes = need_at(&usual, use, used),
        .low = need_at(&low, use, used),
        .high = need_at(&high, use, used | use->algorithms.possible) + peers(&high, use) / MARGIN,
    };
}

/* ---- in words ---- */

static void word_add(char *out, size_t size, const char *word)
{
    const size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used ? ", " : "", word);
}

static const struct {
    unsigned algorithms;
    const char *name;
} words[] = {
    {PLM_NCCL_RING, "ring"},
    {PLM_NCCL_TREE, "tree"},
    {PLM_NCCL_NVLS | PLM_NCCL_NVLS_TREE, "NVLS"},
    {PLM_NCCL_PAT, "PAT"},
};

void plm_nccl_describe(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place,
                       const struct plm_nccl_use *use, char *out, size_t size)
{
    const int peers_near = __builtin_popcountll(use->out | use->in);
    const unsigned used = use->algorithms.used;
    char text[48];
    *out = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (used & words[i].algorithms)
            word_add(out, size, words[i].name);
    if (!used && place->ranks > 1)
        word_add(out, size, "no collective yet");
    snprintf(text, sizeof text, "%d channels", channels_of(rules, place, USUAL));
    word_add(out, size, text);
    snprintf(text, sizeof text, "%d peer%s", peers_near, peers_near == 1 ? "" : "s");
    if (peers_near)
        word_add(out, size, text);
    if (use->far_out || use->far_in || use->pool)
        word_add(out, size, "network");
}
