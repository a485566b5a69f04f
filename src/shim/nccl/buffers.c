/*
 * What a communicator has connected only grows, and with it what it needs; each growth is one allocation. Memory of
 * ncclMemAlloc is the program's, counted where it is taken, and registering it (ncclCommRegister,
 * ncclCommWindowRegister) makes no second copy: peers map the same pages.
 */
#include "shim/nccl/buffers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/groups.h"
#include "record/writer.h"
#include "shim/nccl/model.h"
#include "stack/topology.h"

#define LIBRARY "nccl"

/* A communicator and those that were split off and share its connections (splitShare). */
struct family {
    atomic_int members;
    _Atomic unsigned connected; /* enum plm_nccl_algorithm */
    atomic_bool pool;
};

struct plm_nccl_memory {
    struct plm_nccl_rules rules;
    struct plm_nccl_place place;
    struct plm_nccl_use use;
    unsigned borrowed; /* algorithms that another of the family has connected */
    bool pool_borrowed;
    struct plm_nccl_need held;
    uint64_t *address;
    size_t count, room;
    struct family *family;
    uint32_t number;
    char name[64], ranks[64];
};

/* ---- who belongs together ---- */

static struct family *family_join(struct family *family)
{
    if (!family)
        family = calloc(1, sizeof *family);
    if (family)
        atomic_fetch_add(&family->members, 1);
    return family;
}

static void family_leave(struct family *family)
{
    if (family && atomic_fetch_sub(&family->members, 1) == 1)
        free(family);
}

static bool shares(const struct plm_nccl_comm *parent, const struct plm_nccl_config *config)
{
    const char *setting = getenv("NCCL_COMM_SPLIT_SHARE_RESOURCES");
    if (!parent || !parent->memory)
        return false;
    return setting ? atoi(setting) == 1 : plm_nccl_config(config).share == 1;
}

/* ---- where it is ---- */

/* Processes of a node: those that the launcher says, else as many as a node has GPUs. */
static int per_node(const struct plm_topology *t)
{
    const char *local = getenv("LOCAL_WORLD_SIZE"), *nodes = getenv("PLIMSOLL_NODES"), *world = getenv("WORLD_SIZE");
    const int known = local ? atoi(local) : 0, several = nodes ? atoi(nodes) : 0, all = world ? atoi(world) : 0;
    if (known > 0)
        return known;
    return several > 0 && all >= several ? (all + several - 1) / several : t->gpus;
}

static int rank_at(const void *communicator, int place)
{
    return plm_nccl_job_rank(communicator, place);
}

/* "0-7", "1-57/8", "3" */
static void ranks_write(const struct plm_nccl_comm *comm, char *out, size_t size)
{
    const int last = comm->first + (comm->size - 1) * comm->stride;
    if (comm->group)
        snprintf(out, size, "%s", comm->group->ranks);
    else if (comm->size == 1)
        snprintf(out, size, "%d", comm->first);
    else if (comm->stride == 1)
        snprintf(out, size, "%d-%d", comm->first, last);
    else
        snprintf(out, size, "%d-%d/%d", comm->first, last, comm->stride);
}

/* ---- taking and giving ---- */

static void tell(const struct plm_nccl_comm *comm, const struct plm_nccl_need *held)
{
    const struct plm_nccl_memory *m = comm->memory;
    char what[96];
    plm_nccl_describe(&m->rules, &m->place, &m->use, what, sizeof what);
    plm_put_communicator(comm->device, &(struct plm_ev_communicator){.number = m->number,
                                                                     .name = plm_record_text(m->name),
                                                                     .ranks = plm_record_text(m->ranks),
                                                                     .size = (uint32_t)comm->size,
                                                                     .place = (uint32_t)comm->rank,
                                                                     .what = plm_record_text(what),
                                                                     .bytes = held->bytes,
                                                                     .low = held->low,
                                                                     .high = held->high});
}

static bool address_room(struct plm_nccl_memory *m)
{
    if (m->count == m->room) {
        const size_t room = m->room ? 2 * m->room : 8;
        uint64_t *more = realloc(m->address, room * sizeof *more);
        if (!more)
            return false;
        m->address = more;
        m->room = room;
    }
    return true;
}

/* What others of the family have connected is held once; at the high end it may be made again, for other neighbours. */
static struct plm_nccl_need need_of(const struct plm_nccl_memory *m, const struct plm_nccl_use *use)
{
    struct plm_nccl_need need = plm_nccl_need(&m->rules, &m->place, use), own;
    struct plm_nccl_use without = *use;
    without.algorithms.used &= ~m->borrowed;
    without.pool &= !m->pool_borrowed;
    own = plm_nccl_need(&m->rules, &m->place, &without);
    need.bytes = own.bytes;
    need.low = own.low;
    return need;
}

static int take(struct plm_nccl_comm *comm, uint64_t bytes)
{
    struct plm_nccl_memory *m = comm->memory;
    if (!bytes)
        return PLM_NCCL_OK;
    if (!address_room(m))
        return PLM_NCCL_SYSTEM_ERROR;
    if (plm_mem_library(comm->device, LIBRARY, bytes, &m->address[m->count]))
        return PLM_NCCL_CUDA_ERROR;
    m->count++;
    return PLM_NCCL_OK;
}

/* Takes what `use` needs and is not held. The record is told before, so that a peak that this makes has it. */
static int grow(struct plm_nccl_comm *comm, const struct plm_nccl_use *use)
{
    struct plm_nccl_memory *m = comm->memory;
    const struct plm_nccl_need need = need_of(m, use), held = m->held;
    const struct plm_nccl_use before = m->use;
    int status;
    m->use = *use;
    tell(comm, &need);
    status = take(comm, need.bytes > held.bytes ? need.bytes - held.bytes : 0);
    if (status) {
        m->use = before;
        tell(comm, &held);
        return status;
    }
    m->held = need;
    plm_footprint_range(comm->device, LIBRARY, (int64_t)(need.low - held.low), (int64_t)(need.high - held.high));
    return PLM_NCCL_OK;
}

static void give_all(struct plm_nccl_comm *comm)
{
    struct plm_nccl_memory *m = comm->memory;
    while (m->count)
        plm_mem_free(m->address[--m->count]);
    plm_footprint_range(comm->device, LIBRARY, -(int64_t)m->held.low, -(int64_t)m->held.high);
    m->held = (struct plm_nccl_need){0};
    tell(comm, &m->held);
}

/* ---- from its making to its end ---- */

static void begin(struct plm_nccl_comm *comm, const struct plm_nccl_config *config)
{
    static _Atomic uint32_t numbers;
    const struct plm_nccl_config own = plm_nccl_config(config);
    const struct plm_topology *topology = plm_topology_in_use();
    struct plm_nccl_memory *m = comm->memory;
    m->rules = plm_nccl_rules(plm_device_card(comm->device), plm_software()->nccl, topology, config);
    m->place = plm_nccl_place(comm->size, comm->rank, per_node(topology), rank_at, comm);
    m->number = atomic_fetch_add(&numbers, 1) + 1;
    snprintf(m->name, sizeof m->name, "%s", comm->group ? comm->group->name : own.name ? own.name : "");
    ranks_write(comm, m->ranks, sizeof m->ranks);
}

/* What this communicator is about to connect, if no other of its family has. */
static void borrow(struct plm_nccl_memory *m, const struct plm_nccl_use *use)
{
    const unsigned more = use->algorithms.used & ~m->use.algorithms.used;
    if (!m->family)
        return;
    m->borrowed |= more & atomic_fetch_or(&m->family->connected, more);
    if (use->pool && !m->use.pool)
        m->pool_borrowed = atomic_exchange(&m->family->pool, true);
}

int plm_nccl_memory_open(struct plm_nccl_comm *comm, const struct plm_nccl_comm *parent,
                         const struct plm_nccl_config *config)
{
    struct plm_nccl_use use = {0};
    int status;
    struct plm_nccl_memory *m = comm->memory = calloc(1, sizeof *m);
    if (!m)
        return PLM_NCCL_SYSTEM_ERROR;
    begin(comm, config);
    m->family = family_join(shares(parent, config) ? parent->memory->family : NULL);
    if (m->rules.at_once) {
        use.algorithms.used = plm_nccl_all(&m->rules, &m->place);
        use.pool = true;
    }
    borrow(m, &use);
    status = grow(comm, &use);
    if (status)
        plm_nccl_memory_close(comm);
    return status;
}

void plm_nccl_memory_close(struct plm_nccl_comm *comm)
{
    struct plm_nccl_memory *m = comm->memory;
    if (!m)
        return;
    give_all(comm);
    family_leave(m->family);
    free(m->address);
    free(m);
    comm->memory = NULL;
}

/* ---- connecting ---- */

enum direction { OUT = 1, IN = 2 };

static void use_peer(const struct plm_nccl_place *p, struct plm_nccl_use *use, int peer, unsigned directions)
{
    const int at = peer - p->first;
    if (peer < 0 || peer >= p->ranks || peer == p->rank)
        return;
    if (at < 0 || at >= p->local) {
        use->far_out |= !!(directions & OUT);
        use->far_in |= !!(directions & IN);
        return;
    }
    if (at >= 64) /* no board has more; they are counted as one */
        return;
    use->out |= directions & OUT ? 1ull << at : 0;
    use->in |= directions & IN ? 1ull << at : 0;
}

/* Which ways data go between this rank and each other. A root has all, the others have the root. */
static void use_peers(const struct plm_nccl_place *p, struct plm_nccl_use *use, enum plm_collective kind, int root)
{
    const unsigned of_root = kind == PLM_COLLECTIVE_ALL_TO_ALL ? OUT | IN : kind == PLM_COLLECTIVE_GATHER ? IN : OUT;
    const unsigned of_others = kind == PLM_COLLECTIVE_GATHER ? OUT : IN;
    const bool all = kind == PLM_COLLECTIVE_ALL_TO_ALL || root == p->rank;
    for (int peer = 0; all && peer < p->ranks; peer++)
        use_peer(p, use, peer, of_root);
    if (!all)
        use_peer(p, use, root, of_others);
}

static bool use_grew(const struct plm_nccl_use *a, const struct plm_nccl_use *b)
{
    return a->algorithms.used != b->algorithms.used || a->algorithms.possible != b->algorithms.possible ||
           a->out != b->out || a->in != b->in || a->far_out != b->far_out || a->far_in != b->far_in;
}

static void use_algorithms(const struct plm_nccl_memory *m, struct plm_nccl_use *use, enum plm_collective kind,
                           uint64_t bytes)
{
    const struct plm_nccl_choice c = plm_nccl_choose(&m->rules, &m->place, kind, bytes);
    if (m->rules.at_once)
        return; /* it has them all */
    use->algorithms.used |= c.used;
    use->algorithms.possible |= c.possible;
}

int plm_nccl_connect(struct plm_nccl_comm *comm, enum plm_collective kind, uint64_t bytes, int peer)
{
    struct plm_nccl_memory *m = comm->memory;
    struct plm_nccl_use use;
    if (!m || comm->size < 2)
        return PLM_NCCL_OK;
    use = m->use;
    switch (kind) {
    case PLM_COLLECTIVE_SEND: use_peer(&m->place, &use, peer, OUT); break;
    case PLM_COLLECTIVE_RECEIVE: use_peer(&m->place, &use, peer, IN); break;
    case PLM_COLLECTIVE_ALL_TO_ALL:
    case PLM_COLLECTIVE_GATHER:
    case PLM_COLLECTIVE_SCATTER: use_peers(&m->place, &use, kind, peer); break;
    default: use_algorithms(m, &use, kind, bytes);
    }
    if (!use_grew(&m->use, &use))
        return PLM_NCCL_OK;
    borrow(m, &use);
    return grow(comm, &use);
}

/* ---- suspended ---- */

void plm_nccl_memory_suspend(struct plm_nccl_comm *comm)
{
    if (comm->memory)
        give_all(comm);
}

int plm_nccl_memory_resume(struct plm_nccl_comm *comm)
{
    return comm->memory ? grow(comm, &comm->memory->use) : PLM_NCCL_OK;
}

uint64_t plm_nccl_memory_bytes(const struct plm_nccl_comm *comm)
{
    return comm->memory ? need_of(comm->memory, &comm->memory->use).bytes : 0;
}
