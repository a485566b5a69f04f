/* NCCL's memory: what users measured (docs/nccl.md has the reports), what the environment changes, topologies, and the
   shim that takes it. */
#include "shim/nccl/buffers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/summary.h"
#include "common/card.h"
#include "base/draw.h"
#include "common/error.h"
#include "base/install.h"
#include "device/device.h"
#include "report/communicators.h"
#include "shim/nccl/model.h"
#include "stack/topology.h"
#include "unit.h"

static const struct plm_card a100 = {.id = "a100-40gb", .major = 8, .class = "datacenter"};
static const struct plm_card h100 = {.id = "h100-80gb", .major = 9, .class = "datacenter"};
static const struct plm_card b200 = {.id = "b200", .major = 10, .class = "datacenter"};
static const struct plm_card rtx3090 = {.id = "rtx3090", .major = 8, .minor = 6, .class = "geforce"};
static const struct plm_card l40s = {.id = "l40s", .major = 8, .minor = 9, .class = "datacenter"};

static struct plm_topology_list topologies;

static const struct plm_topology *board(const struct plm_card *card, const char *name)
{
    const struct plm_topology_entry *entry;
    assert_int_equal(plm_topology_choose(&topologies, name, card, &entry, NULL), 0);
    return &entry->topology;
}

static struct plm_nccl_rules rules(const struct plm_card *card, int version)
{
    return plm_nccl_rules(card, version, board(card, NULL), NULL);
}

static int rank_at(const void *communicator, int place)
{
    const int *regular = communicator;
    return regular[0] + place * regular[1];
}

/* The ranks first, first + stride, ... of a job with eight on each node. */
static struct plm_nccl_place placed(int ranks, int rank, int first, int stride)
{
    return plm_nccl_place(ranks, rank, 8, rank_at, (int[]){first, stride});
}

static struct plm_nccl_place in_node(int ranks, int rank)
{
    return placed(ranks, rank, 0, 1);
}

int plm_nccl_job_rank(const struct plm_nccl_comm *comm, int place)
{
    return comm->first + place * comm->stride;
}

/* What one communicator holds after its making and one collective. */
static struct plm_nccl_need after(const struct plm_nccl_rules *r, const struct plm_nccl_place *p,
                                  enum plm_collective kind, uint64_t bytes)
{
    struct plm_nccl_use use = {.pool = r->at_once};
    if (r->at_once)
        use.algorithms.used = plm_nccl_all(r, p);
    else if (p->ranks > 1)
        use.algorithms = plm_nccl_choose(r, p, kind, bytes);
    return plm_nccl_need(r, p, &use);
}

static struct plm_nccl_need reduced(const struct plm_card *card, int version, int ranks, int rank)
{
    const struct plm_nccl_rules r = rules(card, version);
    const struct plm_nccl_place p = in_node(ranks, rank);
    return after(&r, &p, PLM_COLLECTIVE_ALL_REDUCE, 4 * MIB);
}

static struct plm_nccl_need gathered(const struct plm_card *card, int version, int ranks)
{
    const struct plm_nccl_rules r = rules(card, version);
    const struct plm_nccl_place p = in_node(ranks, 0);
    return after(&r, &p, PLM_COLLECTIVE_ALL_GATHER, 4 * MIB);
}

#define BOOKS(channels) (((channels) * 3 + 2) * 2 * MIB) /* small allocations of 2 MiB each, with cuMem */

/* ---- reports ---- */

/* NVIDIA/nccl issue 964, August 2023: four A100 with NVLink, a group of two 544 MB, a larger one 688 MB. */
static void four_a100(void **state)
{
    (void)state;
    assert_int_equal(reduced(&a100, 21403, 2, 0).bytes, 544 * MIB);
    assert_int_equal(reduced(&a100, 21403, 3, 0).bytes, 688 * MIB);
    assert_int_equal(reduced(&a100, 21403, 4, 0).bytes, 688 * MIB);
    assert_int_equal(reduced(&a100, 21403, 4, 3).bytes, 688 * MIB); /* the other end of the chain reads as well */
    assert_int_equal(reduced(&a100, 21403, 8, 3).bytes, 832 * MIB); /* in its middle */
    assert_int_equal(reduced(&a100, 21805, 2, 1).bytes, 544 * MIB);
    assert_int_equal(reduced(&a100, 22105, 2, 1).bytes, 544 * MIB + BOOKS(32));
}

/* Since 2.22 only what is used is connected. */
static void a100_later(void **state)
{
    struct plm_nccl_need need = reduced(&a100, 22705, 8, 3);
    (void)state;
    assert_int_equal(need.bytes, 288 * MIB + BOOKS(32));
    assert_int_equal(need.low, need.bytes);
    assert_int_equal(need.high, 576 * MIB + BOOKS(32)); /* if it takes trees as well */
    need = gathered(&a100, 22705, 8);
    assert_int_equal(need.high, 288 * MIB + BOOKS(32));
}

/* NVIDIA/nccl issue 1685: allocations of 10,485,760 and 2,097,152 bytes, with each peer on 32 channels; 3.28 GB after the
   first all-to-all of 8 H100. */
static void eight_h100(void **state)
{
    const struct plm_nccl_rules r = rules(&h100, 22505);
    const struct plm_nccl_place p = in_node(8, 0);
    struct plm_nccl_use use = {0};
    struct plm_nccl_need none = plm_nccl_need(&r, &p, &use), need;
    (void)state;
    use.out = 2;
    need = plm_nccl_need(&r, &p, &use);
    assert_int_equal(need.bytes - none.bytes, 32 * 2097152);
    use.out = 0;
    use.in = 2;
    need = plm_nccl_need(&r, &p, &use);
    assert_int_equal(need.bytes - none.bytes, 32 * 10485760);
    use.out = use.in = 0xfe;
    need = plm_nccl_need(&r, &p, &use);
    assert_int_equal(need.bytes - none.bytes, 7 * 384 * MIB);
    assert_true(need.low < 3280000000 && 3280000000 < need.high);
    assert_true(need.bytes > 3280000000 / 100 * 90 && need.bytes < 3280000000); /* it misses code that is loaded */
}

/* NVIDIA/nccl issue 2363, 8 x B300, NCCL 2.28.9: a communicator of one rank asks for 536,870,912 bytes; pull request 2366, one
   RTX 3090: 996 MiB with that pool, 484 without. What is left of the 484 is code. */
static void one_rank(void **state)
{
    struct plm_nccl_rules r = rules(&b200, 22809);
    const struct plm_nccl_place p = in_node(1, 0);
    struct plm_nccl_use with = {.pool = true}, without = {0};
    (void)state;
    assert_int_equal(plm_nccl_need(&r, &p, &with).bytes - plm_nccl_need(&r, &p, &without).bytes, 536870912);
    r = rules(&rtx3090, 23007);
    assert_false(r.at_once);
    assert_int_equal(after(&r, &p, PLM_COLLECTIVE_ALL_REDUCE, 4).bytes, BOOKS(64));
    assert_true(BOOKS(64) < 484 * MIB);
    setenv("NCCL_RUNTIME_CONNECT", "0", 1);
    r = rules(&rtx3090, 23007);
    assert_int_equal(after(&r, &p, PLM_COLLECTIVE_ALL_REDUCE, 4).bytes, BOOKS(64) + (996 - 484) * MIB);
    unsetenv("NCCL_RUNTIME_CONNECT");
}

/* NVLink SHARP: 16 channels x 2 x 128 KiB x 8 steps x 8 heads, and a granule for each channel's and the group's books. */
static void nvls(void **state)
{
    const uint64_t books = BOOKS(32) + (16 + 1) * 2 * MIB;
    struct plm_nccl_need need = reduced(&h100, 22705, 8, 0);
    (void)state;
    assert_int_equal(need.bytes, 256 * MIB + books);
    assert_int_equal(need.high, 256 * MIB + books + 32 * (12 + 10) * MIB); /* with a ring and the head of its chain */
    need = gathered(&h100, 22705, 8);
    assert_int_equal(need.bytes, 288 * MIB + books);
    assert_int_equal(need.low, 192 * MIB + BOOKS(16) + (16 + 1) * 2 * MIB);
    assert_int_equal(need.high, 384 * MIB + books);
    need = reduced(&h100, 22705, 2, 0); /* two were too few until 2.28 */
    assert_int_equal(need.bytes, 288 * MIB + BOOKS(32));
    need = reduced(&h100, 22809, 2, 0);
    assert_int_equal(need.bytes, 64 * MIB + books);
    need = reduced(&b200, 22809, 8, 0);
    assert_int_equal(need.bytes, 384 * MIB + BOOKS(32) + (24 + 1) * 2 * MIB);
}

/* Writing, a head of a chain receives in both directions, its tail sends: 10 and 2 MiB more for a channel. */
static void chains(void **state)
{
    (void)state;
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    assert_int_equal(reduced(&h100, 21805, 8, 0).bytes, 24 * 22 * MIB + 256 * MIB);
    assert_int_equal(reduced(&h100, 21805, 8, 4).bytes, 24 * 24 * MIB + 256 * MIB);
    assert_int_equal(reduced(&h100, 21805, 8, 7).bytes, 24 * 14 * MIB + 256 * MIB);
    assert_int_equal(reduced(&h100, 21805, 2, 1).bytes, 24 * 12 * MIB + 256 * MIB);
    unsetenv("NCCL_NVLS_ENABLE");
}

/* ---- several nodes ---- */

static void places(void **state)
{
    struct plm_nccl_place p = placed(8, 3, 16, 1);
    (void)state;
    assert_true(p.nodes == 1 && p.local == 8 && p.first == 0);
    p = placed(8, 5, 1, 8); /* every eighth rank */
    assert_true(p.nodes == 8 && p.local == 1 && p.first == 5);
    p = placed(16, 9, 0, 1);
    assert_true(p.nodes == 2 && p.local == 8 && p.first == 8);
    p = placed(6, 2, 1, 3); /* 1 4 7 | 10 13 | 16 */
    assert_true(p.nodes == 3 && p.local == 3 && p.first == 0);
}

static void nodes(void **state)
{
    const struct plm_nccl_rules r = rules(&a100, 22705);
    struct plm_nccl_place p = placed(16, 3, 0, 1);
    struct plm_nccl_use use = {0};
    struct plm_nccl_need need = after(&r, &p, PLM_COLLECTIVE_ALL_GATHER, MIB);
    (void)state;
    /* 16 channels, of which 2 enter and leave the node at this rank: 10 MiB each way instead of 6. */
    assert_int_equal(need.bytes, (14 * 12 + 2 * 20) * MIB + BOOKS(16));
    assert_int_equal(need.low, (8 - 1) * 12 * MIB + BOOKS(8)); /* the network's buffers may be the host's */
    p = placed(8, 3, 0, 8);
    need = after(&r, &p, PLM_COLLECTIVE_ALL_GATHER, MIB);
    assert_int_equal(need.bytes, 16 * 20 * MIB + BOOKS(16));
    need = plm_nccl_need(&r, &p, &use);
    assert_int_equal(need.bytes, BOOKS(16));
    use.far_out = true; /* shared by all peers: 16 channels x 16 x 128 KiB */
    assert_int_equal(plm_nccl_need(&r, &p, &use).bytes - need.bytes, 32 * MIB);
    use.far_in = true;
    assert_int_equal(plm_nccl_need(&r, &p, &use).bytes - need.bytes, 64 * MIB);
}

static void choices(void **state)
{
    const struct plm_nccl_place node = in_node(8, 0), two = placed(16, 0, 0, 1), each = placed(8, 0, 0, 8);
    const struct {
        const struct plm_card *card;
        const struct plm_nccl_place *place;
        enum plm_collective kind;
        uint64_t bytes;
        unsigned used, possible;
    } rows[] = {
        {&a100, &node, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB, PLM_NCCL_RING, PLM_NCCL_TREE},
        {&a100, &node, PLM_COLLECTIVE_BROADCAST, 64 * MIB, PLM_NCCL_RING, 0},
        {&h100, &node, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB, PLM_NCCL_NVLS, PLM_NCCL_RING | PLM_NCCL_TREE},
        {&h100, &node, PLM_COLLECTIVE_ALL_REDUCE, 8, PLM_NCCL_RING, PLM_NCCL_TREE},
        {&h100, &node, PLM_COLLECTIVE_REDUCE_SCATTER, 64 * MIB, PLM_NCCL_RING, 0},
        {&a100, &two, PLM_COLLECTIVE_ALL_REDUCE, 8, PLM_NCCL_TREE, PLM_NCCL_RING},
        {&a100, &two, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB, PLM_NCCL_RING, PLM_NCCL_TREE},
        {&h100, &two, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB, PLM_NCCL_NVLS_TREE, PLM_NCCL_RING | PLM_NCCL_TREE},
        {&h100, &each, PLM_COLLECTIVE_ALL_GATHER, 64 * MIB, PLM_NCCL_RING, PLM_NCCL_PAT},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_nccl_rules r = rules(rows[i].card, 22705);
        const struct plm_nccl_choice c = plm_nccl_choose(&r, rows[i].place, rows[i].kind, rows[i].bytes);
        assert_int_equal(c.used, rows[i].used);
        assert_int_equal(c.possible, rows[i].possible);
    }
}

/* ---- the environment ---- */

static void channels_set(void **state)
{
    const struct plm_nccl_config config = {.size = sizeof config, .least = INT_MIN, .most = 4};
    const struct plm_nccl_place p = in_node(8, 1);
    struct plm_nccl_rules r = plm_nccl_rules(&a100, 22705, board(&a100, NULL), &config);
    (void)state;
    assert_int_equal(after(&r, &p, PLM_COLLECTIVE_BROADCAST, 1).bytes, 4 * 12 * MIB + BOOKS(4));
    setenv("NCCL_MAX_NCHANNELS", "1", 1);
    assert_int_equal(gathered(&a100, 22705, 8).bytes, 12 * MIB + BOOKS(1));
    unsetenv("NCCL_MAX_NCHANNELS");
    setenv("NCCL_MAX_CTAS", "6", 1);
    assert_int_equal(gathered(&a100, 22705, 8).high, 6 * 12 * MIB + BOOKS(8));
    unsetenv("NCCL_MAX_CTAS");
    setenv("NCCL_MIN_NCHANNELS", "0x20", 1);
    assert_int_equal(gathered(&a100, 22705, 8).low, 32 * 12 * MIB + BOOKS(32));
    unsetenv("NCCL_MIN_NCHANNELS");
    setenv("NCCL_MIN_NCHANNELS", "4294967297", 1); /* there are never more than 64 */
    assert_int_equal(gathered(&a100, 22705, 8).low, 64 * 12 * MIB + BOOKS(64));
    unsetenv("NCCL_MIN_NCHANNELS");
    setenv("NCCL_MAX_P2P_NCHANNELS", "8", 1);
    r = rules(&a100, 21403);
    assert_int_equal(after(&r, &p, PLM_COLLECTIVE_BROADCAST, 1).bytes, 576 * MIB + 64 * MIB);
    unsetenv("NCCL_MAX_P2P_NCHANNELS");
}

static void buffers_set(void **state)
{
    (void)state;
    setenv("NCCL_BUFFSIZE", "8388608", 1); /* 8 MiB and a head do not fit into 8 */
    assert_int_equal(gathered(&a100, 22705, 8).bytes, 24 * (10 + 6) * MIB + BOOKS(32));
    setenv("NCCL_BUFFSIZE", "none", 1);
    assert_int_equal(gathered(&a100, 22705, 8).bytes, 288 * MIB + BOOKS(32));
    unsetenv("NCCL_BUFFSIZE");
    setenv("NCCL_LL128_BUFFSIZE", "1048576", 1);
    setenv("NCCL_LL_BUFFSIZE", "65536", 1);
    assert_int_equal(gathered(&a100, 22705, 8).bytes, 24 * (6 + 2) * MIB + BOOKS(32));
    unsetenv("NCCL_LL128_BUFFSIZE");
    unsetenv("NCCL_LL_BUFFSIZE");
    setenv("NCCL_P2P_DISABLE", "1", 1); /* then it is the host's memory */
    assert_int_equal(gathered(&a100, 22705, 8).high, BOOKS(32));
    unsetenv("NCCL_P2P_DISABLE");
    setenv("NCCL_P2P_READ_ENABLE", "0", 1);
    assert_int_equal(reduced(&a100, 21403, 8, 0).bytes, 24 * 22 * MIB + 256 * MIB);
    unsetenv("NCCL_P2P_READ_ENABLE");
}

static void algorithms_set(void **state)
{
    const struct plm_nccl_place node = in_node(8, 1);
    struct plm_nccl_rules r = rules(&h100, 22705);
    (void)state;
    setenv("NCCL_ALGO", "Tree", 1);
    assert_int_equal(plm_nccl_choose(&r, &node, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB).used, PLM_NCCL_TREE);
    setenv("NCCL_ALGO", "^nvls", 1);
    assert_int_equal(plm_nccl_choose(&r, &node, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB).used, PLM_NCCL_RING);
    setenv("NCCL_ALGO", "ring;allreduce:nvls,tree", 1);
    assert_int_equal(plm_nccl_choose(&r, &node, PLM_COLLECTIVE_ALL_REDUCE, 8).used, PLM_NCCL_TREE);
    assert_int_equal(plm_nccl_choose(&r, &node, PLM_COLLECTIVE_ALL_GATHER, 8).used, PLM_NCCL_RING);
    unsetenv("NCCL_ALGO");
    setenv("NCCL_PROTO", "LL,LL128", 1);
    assert_int_equal(plm_nccl_choose(&r, &node, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB).used, PLM_NCCL_RING);
    unsetenv("NCCL_PROTO");
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    r = rules(&h100, 22705);
    assert_int_equal(plm_nccl_choose(&r, &node, PLM_COLLECTIVE_ALL_REDUCE, 64 * MIB).used, PLM_NCCL_RING);
    unsetenv("NCCL_NVLS_ENABLE");
    assert_true(plm_nccl_allows("^LL128", "AllReduce", "LL"));
    assert_false(plm_nccl_allows("^LL128", "AllReduce", "LL128"));
    assert_false(plm_nccl_allows("LL", "AllReduce", "LL128"));
    assert_true(plm_nccl_allows("", "AllReduce", "LL"));
}

/* Cards that the network does not reach had cuMem, and with it late connections, only from 2.24 on. */
static void when_connected(void **state)
{
    (void)state;
    assert_true(rules(&a100, 22105).at_once);
    assert_false(rules(&a100, 22203).at_once);
    assert_true(rules(&rtx3090, 22304).at_once);
    assert_false(rules(&rtx3090, 22403).at_once);
    assert_true(rules(&a100, 22105).cumem);
    assert_false(rules(&a100, 21805).cumem);
    setenv("NCCL_CUMEM_ENABLE", "0", 1);
    assert_true(rules(&a100, 22705).at_once);
    assert_int_equal(gathered(&a100, 22705, 2).bytes, 544 * MIB);
    unsetenv("NCCL_CUMEM_ENABLE");
    setenv("NCCL_RUNTIME_CONNECT", "0", 1);
    assert_true(rules(&a100, 22705).at_once);
    unsetenv("NCCL_RUNTIME_CONNECT");
}

static void on_pcie(void **state)
{
    struct plm_nccl_need need = gathered(&l40s, 22705, 4);
    (void)state;
    assert_int_equal(need.bytes, 2 * 12 * MIB + BOOKS(2));
    assert_int_equal(need.low, BOOKS(2)); /* through the host's memory */
    need = gathered(&rtx3090, 22705, 4);
    assert_int_equal(need.bytes, BOOKS(2));
    assert_int_equal(need.high, BOOKS(8));
}

/* ---- topologies ---- */

static void by_card(void **state)
{
    const struct plm_card h200 = {.id = "h200"}, v100 = {.id = "v100-32gb"}, slice = {.id = "h100-80gb:1g.10gb"};
    (void)state;
    assert_string_equal(board(&a100, NULL)->id, "hgx-a100");
    assert_string_equal(board(&h100, "auto")->id, "hgx-h100");
    assert_string_equal(board(&h200, "")->id, "hgx-h200");
    assert_string_equal(board(&b200, NULL)->id, "dgx-b200");
    assert_string_equal(board(&v100, NULL)->id, "dgx-1");
    assert_string_equal(board(&rtx3090, NULL)->id, "pcie");
    assert_string_equal(board(&slice, NULL)->id, "pcie");
    assert_string_equal(board(&rtx3090, "hgx-h100")->id, "hgx-h100");
}

static void unknown(void **state)
{
    const struct plm_topology_entry *entry;
    struct plm_error error;
    (void)state;
    assert_true(plm_topology_choose(&topologies, "hgx-a10", &a100, &entry, &error) < 0);
    assert_string_equal(error.text,
                        "unknown topology 'hgx-a10'; use one of dgx-1, dgx-b200, hgx-a100, hgx-h100, hgx-h200, "
                        "nvlink-pair, pcie, single");
}

#define FIGURES                                                                                               \
    "channels = 4\nchannels_least = 2\nchannels_most = 8\nnetwork_channels = 2\nnetwork_channels_least = 1\n" \
    "network_channels_most = 2\npeer_channels = 2\n"

static void own_files(void **state)
{
    const struct {
        const char *text, *says;
    } rows[] = {
        {"[topology]\n" FIGURES, "gpus is missing"},
        {"[topology]\ngpus = 0\n" FIGURES, ":2: gpus = 0: use a number from 1 to 1024"},
        {"[topology]\ngpus = 4\nlink = air\n" FIGURES, ":3: link = air: use 'pcie' or 'nvlink'"},
        {"[topology]\ngpus = 4\nnetwork = ib\n" FIGURES, ":3: network = ib: use 'host' or 'rdma'"},
        {"[topology]\ngpus = 4\ncolour = red\n" FIGURES, ":3: colour = red: no such key"},
        {"[board]\ngpus = 4\n", ":2: unknown section [board]"},
        {"[topology]\ngpus = 4\n" FIGURES "channels = 9\n", "is outside"},
    };
    const struct plm_topology_entry *entry;
    struct plm_topology topology;
    struct plm_error error;
    char path[4096];
    (void)state;
    snprintf(path, sizeof path, "%s", unit_path("mine.ini"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_write(path, rows[i].text, strlen(rows[i].text));
        assert_true(plm_topology_read(path, &topology, &error) < 0);
        assert_contains(error.text, rows[i].says);
    }
    unit_write(path, "[topology]\ngpus = 4\nlink = nvlink\nnvls_channels = 8\n" FIGURES,
               strlen("[topology]\ngpus = 4\nlink = nvlink\nnvls_channels = 8\n" FIGURES));
    assert_int_equal(plm_topology_choose(&topologies, path, &a100, &entry, &error), 0);
    assert_string_equal(entry->topology.id, "mine");
    assert_true(entry->topology.gpus == 4 && entry->topology.nvls_crossing == 8);
}

/* ---- the shim ---- */

static uint64_t left(void)
{
    uint64_t available, total;
    plm_device_memory(0, &available, &total);
    return available;
}

static struct plm_nccl_comm opened(int size, int rank, const struct plm_nccl_comm *parent,
                                   const struct plm_nccl_config *config)
{
    struct plm_nccl_comm comm = {.size = size, .rank = rank, .stride = 1};
    assert_int_equal(plm_nccl_memory_open(&comm, parent, config), PLM_NCCL_OK);
    return comm;
}

/* What is needed is taken once and given back: on two H100 of a board, with NCCL 2.30. */
static void taken(void **state)
{
    const uint64_t before = left(), books = BOOKS(32) + (16 + 1) * 2 * MIB;
    struct plm_nccl_comm comm = opened(4, 1, NULL, NULL);
    (void)state;
    assert_int_equal(plm_nccl_memory_bytes(&comm), books);
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_BROADCAST, 4, 0), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_memory_bytes(&comm), books + 288 * MIB);
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_ALL_GATHER, GIB, -1), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_memory_bytes(&comm), books + 288 * MIB);
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_SEND, 4, 2), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_SEND, 4, 1), PLM_NCCL_OK); /* to itself: nothing */
    assert_int_equal(plm_nccl_memory_bytes(&comm), books + (288 + 32 * 2) * MIB);
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_ALL_TO_ALL, 4, -1), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_memory_bytes(&comm), books + (288 + 3 * 384) * MIB);
    assert_int_equal(before - left(), books + (288 + 3 * 384) * MIB);
    plm_nccl_memory_suspend(&comm);
    assert_int_equal(left(), before);
    assert_int_equal(plm_nccl_memory_resume(&comm), PLM_NCCL_OK);
    assert_int_equal(before - left(), books + (288 + 3 * 384) * MIB);
    plm_nccl_memory_close(&comm);
    assert_int_equal(left(), before);
}

/* A root receives from all, the others send to it. */
static void rooted(void **state)
{
    struct plm_nccl_comm comm = opened(4, 1, NULL, NULL);
    const uint64_t books = plm_nccl_memory_bytes(&comm);
    (void)state;
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_GATHER, 4, 0), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_memory_bytes(&comm), books + 32 * 2 * MIB);
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_GATHER, 4, 1), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_memory_bytes(&comm), books + 32 * (2 + 3 * 10) * MIB);
    assert_int_equal(plm_nccl_connect(&comm, PLM_COLLECTIVE_SCATTER, 4, 0), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_memory_bytes(&comm), books + 32 * (2 + 3 * 10) * MIB);
    plm_nccl_memory_close(&comm);
}

/* A split has connections of its own unless both agree to share. */
static void split(void **state)
{
    const struct plm_nccl_config config = {.size = sizeof config, .least = INT_MIN, .most = INT_MIN, .share = 1},
                                 shorter = {.size = 16, .share = 1};
    struct plm_nccl_comm parent = opened(4, 1, NULL, NULL), child = opened(4, 1, &parent, NULL),
                         sharing = opened(4, 1, &parent, &config), old = opened(4, 1, &parent, &shorter);
    const uint64_t books = plm_nccl_memory_bytes(&parent);
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct plm_nccl_comm *comm = (struct plm_nccl_comm *[]){&parent, &child, &sharing, &old}[i];
        assert_int_equal(plm_nccl_connect(comm, PLM_COLLECTIVE_BROADCAST, 4, 0), PLM_NCCL_OK);
        assert_int_equal(plm_nccl_memory_bytes(comm), books + (comm == &sharing ? 0 : 288 * MIB));
    }
    plm_nccl_memory_close(&parent);
    plm_nccl_memory_close(&child);
    plm_nccl_memory_close(&sharing);
    plm_nccl_memory_close(&old);
}

/* ---- what is told ---- */

static void described(void **state)
{
    const struct plm_nccl_rules r = rules(&h100, 22705);
    const struct plm_nccl_place node = in_node(8, 0), far = placed(8, 0, 0, 8), alone = in_node(1, 0);
    const struct {
        const struct plm_nccl_place *place;
        struct plm_nccl_use use;
        const char *text;
    } rows[] = {
        {&node, {{PLM_NCCL_RING, 0}, 0, 0, 0, 0, 0}, "ring, 24 channels"},
        {&node, {{PLM_NCCL_RING | PLM_NCCL_NVLS, 0}, 0, 2, 4, 0, 0}, "ring, NVLS, 24 channels, 2 peers"},
        {&node, {{0, PLM_NCCL_TREE}, 0, 2, 2, 0, 0}, "no collective yet, 24 channels, 1 peer"},
        {&far, {{PLM_NCCL_TREE, 0}, 0, 0, 0, 1, 0}, "tree, 16 channels, network"},
        {&alone, {{0, 0}, 0, 0, 0, 0, 0}, "64 channels"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[96];
        plm_nccl_describe(&r, rows[i].place, &rows[i].use, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

/* The lines add up to what NCCL held at the peak, also if one was given back since. */
static void recorded(void **state)
{
    struct plm_nccl_comm one = opened(4, 1, NULL, NULL), two = {.size = 4, .rank = 1, .first = 1, .stride = 2};
    const struct plm_nccl_config config = {.size = sizeof config, .least = INT_MIN, .most = INT_MIN, .name = "mesh_tp"};
    const uint64_t books = BOOKS(32) + (16 + 1) * 2 * MIB;
    const struct plm_communicators *all;
    const struct plm_communicator *c;
    struct plm_summary s;
    struct plm_error error;
    uint64_t address, sum = 0;
    (void)state;
    assert_int_equal(plm_nccl_memory_open(&two, NULL, &config), PLM_NCCL_OK);
    assert_int_equal(plm_nccl_connect(&two, PLM_COLLECTIVE_BROADCAST, 4, 0), PLM_NCCL_OK);
    assert_int_equal(plm_mem_alloc(0, 8 * GIB, &address), 0); /* the peak */
    plm_nccl_memory_close(&two);
    assert_int_equal(plm_nccl_connect(&one, PLM_COLLECTIVE_BROADCAST, 4, 0), PLM_NCCL_OK);
    assert_int_equal(plm_mem_free(address), 0);
    plm_nccl_memory_close(&one);
    assert_int_equal(plm_summary_read(unit_path("nccl.plm"), &s, &error), 0);
    all = &s.device[0].communicators;
    assert_true(all->count >= 2);
    for (int i = 0; i < all->count; i++)
        sum += all->item[i].at_peak.bytes;
    assert_int_equal(sum, s.device[0].taker[0].at_peak);
    assert_int_equal(sum, 2 * books + 288 * MIB);
    c = &all->item[all->count - 1];
    assert_string_equal(c->name, "mesh_tp");
    assert_string_equal(c->ranks, "1-7/2");
    assert_string_equal(c->at_peak.what, "ring, 24 channels");
    assert_int_equal(c->at_peak.bytes, books + 288 * MIB);
    assert_int_equal(c->at_peak.low, 192 * MIB + BOOKS(16) + (16 + 1) * 2 * MIB);
    assert_int_equal(c->now.bytes, 0);
    plm_summary_free(&s);
}

static char *shown(const struct plm_communicators *all)
{
    char *text = NULL;
    size_t size = 0;
    struct plm_page page = {.out = open_memstream(&text, &size), .width = 200};
    plm_report_communicators_show(&page, all);
    fclose(page.out);
    return text;
}

static void reported(void **state)
{
    struct plm_communicator item[12] = {
        {.number = 1, .name = "", .ranks = "3", .size = 1, .at_peak = {2 * MIB, 2 * MIB, 2 * MIB, "64 channels"}},
        {.number = 2,
         .name = "mesh_tp",
         .ranks = "0-7",
         .size = 8,
         .at_peak = {288 * MIB, 192 * MIB, 384 * MIB, "ring, 24 channels"}},
        {.number = 3, .ranks = "0-7", .size = 8}, /* was given back before */
    };
    struct plm_communicators all = {.item = item, .count = 3};
    char *text = shown(&all);
    (void)state;
    assert_string_equal(text, "      NCCL: communicator mesh_tp, ranks 0-7: ring, 24 channels, 288.0 MiB (192.0 MiB to "
                              "384.0 MiB)\n      NCCL: communicator rank 3: 64 channels, 2.0 MiB\n");
    free(text);
    for (int i = 3; i < 12; i++)
        item[i] = item[0];
    all.count = 12;
    text = shown(&all);
    assert_contains(text, "NCCL: and 3 more, 6.0 MiB\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_a100),      cmocka_unit_test(a100_later),  cmocka_unit_test(eight_h100),
        cmocka_unit_test(one_rank),       cmocka_unit_test(nvls),        cmocka_unit_test(chains),
        cmocka_unit_test(places),         cmocka_unit_test(nodes),       cmocka_unit_test(choices),
        cmocka_unit_test(channels_set),   cmocka_unit_test(buffers_set), cmocka_unit_test(algorithms_set),
        cmocka_unit_test(when_connected), cmocka_unit_test(on_pcie),     cmocka_unit_test(by_card),
        cmocka_unit_test(unknown),        cmocka_unit_test(own_files),   cmocka_unit_test(taken),
        cmocka_unit_test(rooted),         cmocka_unit_test(split),       cmocka_unit_test(described),
        cmocka_unit_test(recorded),       cmocka_unit_test(reported),
    };
    struct plm_install install = {0};
    struct plm_error error;
    char path[4096];
    snprintf(install.topologies, sizeof install.topologies, "%s/data/topologies", getenv("PLM_SOURCE"));
    if (plm_topology_list_load(&topologies, &install, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    snprintf(path, sizeof path, "%s/data/gpus/h100-80gb.ini#h100-80gb", getenv("PLM_SOURCE"));
    setenv("PLIMSOLL_CARD", path, 1);
    snprintf(path, sizeof path, "%s/data/topologies/hgx-h100.ini", getenv("PLM_SOURCE"));
    setenv("PLIMSOLL_TOPOLOGY", path, 1);
    unsetenv("LOCAL_WORLD_SIZE");
    unit_record(unit_path("nccl.plm"));
    return RUN(tests);
}
