/*
 * Which algorithm carries a collective. NCCL estimates how long each would take, from latencies and bandwidths in its
 * published source (src/graph/tuning.cc), and takes the fastest. The rows here are what those estimates come to on
 * boards of eight GPUs (docs/nccl.md); a way that comes close is possible too.
 */
#include "shim/nccl/model.h"

#include <stdlib.h>

#include "stack/topology.h"

enum { HAS_PAT = 22300, HAS_NVLS_OF_TWO = 22800 };
#define MIB (1ull << 20)

enum where { NODE = 1, NODES = 2, ANYWHERE = NODE | NODES };

/* The first row that fits counts. */
static const struct row {
    enum plm_collective kind;
    enum where where;
    bool nvls;           /* only where there is NVLink SHARP */
    uint64_t least;      /* bytes for each node, from which on */
    unsigned used, possible;
} rows[] = {
    {PLM_COLLECTIVE_ALL_REDUCE, NODE, true, 2 * MIB, PLM_NCCL_NVLS, PLM_NCCL_RING | PLM_NCCL_TREE},
    {PLM_COLLECTIVE_ALL_REDUCE, NODE, true, MIB / 2, PLM_NCCL_RING, PLM_NCCL_NVLS | PLM_NCCL_TREE},
    {PLM_COLLECTIVE_ALL_REDUCE, NODE, false, 0, PLM_NCCL_RING, PLM_NCCL_TREE},
    {PLM_COLLECTIVE_ALL_REDUCE, NODES, true, MIB / 2, PLM_NCCL_NVLS_TREE, PLM_NCCL_RING | PLM_NCCL_TREE},
    {PLM_COLLECTIVE_ALL_REDUCE, NODES, false, 8 * MIB, PLM_NCCL_RING, PLM_NCCL_TREE},
    {PLM_COLLECTIVE_ALL_REDUCE, NODES, false, 0, PLM_NCCL_TREE, PLM_NCCL_RING},
    {PLM_COLLECTIVE_REDUCE_SCATTER, NODES, false, 0, PLM_NCCL_RING, PLM_NCCL_PAT},
    {PLM_COLLECTIVE_ALL_GATHER, NODES, false, 0, PLM_NCCL_RING, PLM_NCCL_PAT},
};

/* As NCCL_ALGO writes them, in the order in which they stand in for one that is not allowed. */
static const struct {
    enum plm_nccl_algorithm algorithm;
    const char *name;
} names[] = {
    {PLM_NCCL_RING, "Ring"},          {PLM_NCCL_TREE, "Tree"}, {PLM_NCCL_NVLS, "NVLS"},
    {PLM_NCCL_NVLS_TREE, "NVLSTree"}, {PLM_NCCL_PAT, "PAT"},
};

static const char *function_name(enum plm_collective kind)
{
    switch (kind) {
    case PLM_COLLECTIVE_ALL_REDUCE: return "AllReduce";
    case PLM_COLLECTIVE_REDUCE_SCATTER: return "ReduceScatter";
    case PLM_COLLECTIVE_ALL_GATHER: return "AllGather";
    case PLM_COLLECTIVE_REDUCE: return "Reduce";
    default: return "Broadcast";
    }
}

/* Those that can run such a collective at all, as the same source has them. */
static unsigned able(enum plm_collective kind)
{
    switch (kind) {
    case PLM_COLLECTIVE_ALL_REDUCE: return PLM_NCCL_RING | PLM_NCCL_TREE | PLM_NCCL_NVLS | PLM_NCCL_NVLS_TREE;
    case PLM_COLLECTIVE_REDUCE_SCATTER:
    case PLM_COLLECTIVE_ALL_GATHER: return PLM_NCCL_RING | PLM_NCCL_NVLS | PLM_NCCL_PAT;
    default: return PLM_NCCL_RING;
    }
}

/* NVLink SHARP has buffers of the Simple protocol only. */
static unsigned forbidden(enum plm_collective kind)
{
    const char *function = function_name(kind);
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!plm_nccl_allows(getenv("NCCL_ALGO"), function, names[i].name))
            bits |= names[i].algorithm;
    if (!plm_nccl_allows(getenv("NCCL_PROTO"), function, "Simple"))
        bits |= PLM_NCCL_NVLS | PLM_NCCL_NVLS_TREE | PLM_NCCL_PAT;
    return bits;
}

/* Those that these ranks can be connected by. */
static unsigned present(const struct plm_nccl_rules *r, const struct plm_nccl_place *p)
{
    const int enough = r->version >= HAS_NVLS_OF_TWO ? 2 : 3;
    unsigned bits = PLM_NCCL_RING | PLM_NCCL_TREE;
    if (r->nvls >= 0 && p->local >= enough)
        bits |= p->nodes > 1 ? PLM_NCCL_NVLS_TREE : PLM_NCCL_NVLS;
    if (p->nodes > 1 && p->local == 1 && r->version >= HAS_PAT)
        bits |= PLM_NCCL_PAT;
    return bits;
}

static struct plm_nccl_choice preferred(const struct plm_nccl_place *p, unsigned there, enum plm_collective kind,
                                        uint64_t bytes)
{
    const enum where here = p->nodes > 1 ? NODES : NODE;
    const bool nvls = there & (PLM_NCCL_NVLS | PLM_NCCL_NVLS_TREE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == kind && rows[i].where & here && (nvls || !rows[i].nvls) &&
            bytes / (uint64_t)p->nodes >= rows[i].least)
            return (struct plm_nccl_choice){rows[i].used, rows[i].possible};
    return (struct plm_nccl_choice){PLM_NCCL_RING, 0};
}

struct plm_nccl_choice plm_nccl_choose(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place,
                                       enum plm_collective kind, uint64_t bytes)
{
    const unsigned there = present(rules, place), allowed = there & able(kind) & ~forbidden(kind);
    struct plm_nccl_choice c = preferred(place, there, kind, bytes);
    if (!(c.used & allowed)) {
        c.used = PLM_NCCL_RING; /* NCCL would refuse the call if nothing were left */
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (names[i].algorithm & allowed) {
                c.used = names[i].algorithm;
                break;
            }
    }
    c.possible &= allowed;
    return c;
}

unsigned plm_nccl_all(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place)
{
    return place->ranks > 1 ? present(rules, place) : 0;
}
