/* Topologies: one that is accepted gives every communicator a need in the order of its range. */
#include <stdlib.h>

#include "common/card.h"
#include "common/error.h"
#include "fuzz.h"
#include "shim/nccl/model.h"
#include "stack/topology.h"

static int rank_at(const void *communicator, int place)
{
    return place * *(const int *)communicator;
}

static void check_need(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place, struct plm_nccl_use use)
{
    struct plm_nccl_need need = plm_nccl_need(rules, place, &use);
    char text[96];
    if (need.low > need.bytes || need.bytes > need.high || need.high > 1ull << 50)
        abort();
    plm_nccl_describe(rules, place, &use, text, sizeof text);
}

static void check_topology(const struct plm_topology *t)
{
    static const struct plm_card cards[] = {{.major = 8, .class = "datacenter"},
                                            {.major = 8, .minor = 6, .class = "geforce"},
                                            {.major = 10, .class = "datacenter"}};
    static const int sizes[] = {1, 2, 8, 24}, strides[] = {1, 3, 8}, versions[] = {21403, 22105, 23007};
    for (int i = 0; i < 3 * 4 * 3 * 3; i++) {
        const int ranks = sizes[i / 3 % 4];
        const struct plm_nccl_rules rules = plm_nccl_rules(&cards[i % 3], versions[i / 12 % 3], t, NULL);
        const struct plm_nccl_place place = plm_nccl_place(ranks, ranks / 2, t->gpus, rank_at, &strides[i / 36]);
        check_need(&rules, &place, (struct plm_nccl_use){{plm_nccl_all(&rules, &place), 0}, true, 1, 3, false, true});
        check_need(&rules, &place,
                   (struct plm_nccl_use){
                       .algorithms = plm_nccl_choose(&rules, &place, PLM_COLLECTIVE_ALL_REDUCE, 1ull << i % 40)});
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_topology topology;
    struct plm_error error = {0};
    fuzz_ini("topology.ini", data, size);
    if (plm_topology_read("topology.ini", &topology, &error) == 0)
        check_topology(&topology);
    else if (!error.text[0])
        abort();
    return 0;
}
