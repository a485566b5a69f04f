#include "round_card.h"

#include <math.h>

const struct plm_card round_card = {.id = "round",
                                    .architecture = "round",
                                    .sms = 10,
                                    .tensor_cores = 40,
                                    .bandwidth_gbs = 1000,
                                    .fp32_tflops = 10,
                                    .fp16_tflops = 100,
                                    .max_threads_per_sm = 2048,
                                    .max_blocks_per_sm = 32,
                                    .pcie_generation = 4,
                                    .pcie_lanes = 16,
                                    .nvlink_gbs = 200};

struct plm_speeds round_speeds(void)
{
    struct plm_speeds s = {.name = "plain", .source = "a test"};
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&s, &plm_speed[i], fmin(fmax(1, plm_speed[i].least), plm_speed[i].most));
    s.prologue_us = s.tile_step_ns = s.collective_latency_us = 0;
    s.thread_bytes = 1024;
    s.memory_latency_ns = 10;
    s.pageable_gbs = 4;
    return s;
}
