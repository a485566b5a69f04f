/* NVML on a card of which it counts more memory than CUDA does. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

struct memory_info {
    uint64_t total, free, used;
};

/* `nvidia-smi` shows 24564 MiB for an RTX 4090, of which CUDA has 24210: NVIDIA documents `used` as what is allocated and what the
   driver keeps, so the three figures add up. */
static void the_drivers_part_is_used(void **state)
{
    char path[4096];
    struct memory_info info = {0};
    void *library, *card = NULL;
    int (*init)(void), (*by_index)(unsigned, void **), (*memory)(void *, struct memory_info *);
    (void)state;
    snprintf(path, sizeof path, "%s/data/gpus/rtx4090.ini#rtx4090", getenv("PLM_SOURCE"));
    setenv("PLIMSOLL_CARD", path, 1);
    snprintf(path, sizeof path, "%s/libnvidia-ml.so.1", getenv("PLM_SHIMS"));
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    init = (int (*)(void))dlsym(library, "nvmlInit_v2");
    by_index = (int (*)(unsigned, void **))dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    memory = (int (*)(void *, struct memory_info *))dlsym(library, "nvmlDeviceGetMemoryInfo");
    assert_int_equal(init(), 0);
    assert_int_equal(by_index(0, &card), 0);
    assert_int_equal(memory(card, &info), 0);
    assert_int_equal(info.total, 24564 * MIB);
    assert_int_equal(info.free + info.used, info.total);
    assert_true(info.used >= 100 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_drivers_part_is_used)};
    return RUN(tests);
}
