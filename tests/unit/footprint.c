/* What the device counts of a process, what a bounded card has left, and the models of libraries' own memory. */
#include "device/footprint.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "device/capture.h"
#include "device/device.h"
#include "device/module.h"
#include "record/writer.h"
#include "shim/cublas/pool.h"
#include "unit.h"

#define LIMIT (1ull << 30)

static const uint64_t context = 28ull * 1536 * 2048; /* of the RTX 3060 that is played */

/* A container with one entry of machine code for this card. */
struct image {
    uint32_t magic;
    uint16_t version, head;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_head;
    uint64_t size;
    uint32_t packed_size, unused;
    uint16_t minor, major;
    uint32_t sm, name_at, name_size;
    uint64_t flags, zero, unpacked;
    char payload[32];
};

static struct plm_kernel *kernel_of(unsigned kernels, uint64_t unpacked, uint64_t flags)
{
    const struct image image = {.magic = 0xba55ed50,
                                .head = 16,
                                .bytes = 64 + sizeof image.payload,
                                .kind = 2,
                                .entry_head = 64,
                                .size = sizeof image.payload,
                                .sm = 86,
                                .flags = flags,
                                .unpacked = unpacked};
    struct plm_module *m;
    struct plm_kernel *k;
    assert_int_equal(plm_module_open(&image, &m), 0);
    plm_module_expect(m, kernels, false);
    assert_int_equal(plm_module_kernel(m, "k", &k), 0);
    return k;
}

static void sizes_of_code(void **state)
{
    bool guessed = true;
    (void)state;
    assert_int_equal(plm_module_code(kernel_of(1, 8 << 20, 1 << 13)->module, plm_device_card(0), &guessed), 7 << 20);
    assert_false(guessed);
    assert_int_equal(plm_module_kernel_code(kernel_of(7, 8 << 20, 1 << 15)->module, plm_device_card(0), &guessed),
                     1 << 20);
    assert_int_equal(plm_module_code(kernel_of(1, 8 << 20, 0)->module, plm_device_card(0), &guessed),
                     28); /* not packed */
    assert_int_equal(plm_module_code(kernel_of(1, UINT64_MAX, 1 << 13)->module, plm_device_card(0), &guessed), 0);
}

static uint64_t left(void)
{
    uint64_t free_bytes, total;
    plm_device_memory(0, &free_bytes, &total);
    return free_bytes;
}

/* ---- before this process has a context ---- */

static uint64_t modules_code(const struct plm_card *card, uint64_t *guessed)
{
    assert_int_equal(card->sms, 28);
    *guessed += 1 << 20;
    return 5 << 20;
}

static uint64_t modules_more(const struct plm_card *card, uint64_t *guessed)
{
    (void)card;
    (void)guessed;
    return 2 << 20;
}

/* What a child finds left of the card, with these settings, once it has a context and used cuDNN and a larger stack. */
static void left_in_child(const char *setting, const char *loading, uint64_t expected)
{
    int status;
    const pid_t child = fork();
    if (!child) {
        unsetenv("PLIMSOLL_CONTEXT");
        if (setting)
            setenv("PLIMSOLL_CONTEXT", setting, 1);
        if (loading)
            setenv("CUDA_MODULE_LOADING", loading, 1);
        plm_footprint_registered(modules_code);
        plm_footprint_registered(modules_more);
        plm_footprint_registered(modules_code); /* a second time counts once */
        plm_device_activate(0);
        plm_footprint_library(0, PLM_LIBRARY_CUDNN);
        plm_footprint_limit(0, PLM_LIMIT_STACK, 2048);
        _exit(plm_footprint_taken(0) == expected ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A figure that was measured has all that is usual in it; a stack is not. Eager loading takes all code that is
   registered, 7 MiB, and 250 MiB of cuDNN. */
static void settings(void **state)
{
    const uint64_t stack = 28ull * 1536 * 1024;
    (void)state;
    left_in_child(NULL, NULL, 0);
    left_in_child("0", NULL, 0);
    left_in_child("104857600", NULL, (100 << 20) + stack);
    left_in_child("model", NULL, context + (40 << 20) + stack);
    left_in_child("model", "LAZY", context + (40 << 20) + stack);
    left_in_child("model", "EAGER", context + (250 << 20) + (7 << 20) + stack);
}

/* In the order in which a job does it: nothing is given back but allocations. */
static void bounded(void **state)
{
    struct plm_kernel *k = kernel_of(1, 80 << 20, 1 << 13);
    uint64_t address, before;
    struct plm_graph *graph;
    struct plm_graph_exec *exec;
    (void)state;
    assert_int_equal(left(), LIMIT); /* no context yet */
    plm_device_activate(0);
    assert_int_equal(left(), LIMIT - context);
    assert_int_equal(plm_mem_alloc(0, LIMIT - context + 1, &address), PLM_DEV_NOMEM);
    assert_int_equal(plm_mem_alloc(0, (LIMIT - context) / PLM_PAGE * PLM_PAGE, &address), 0);
    assert_int_equal(plm_mem_free(address), 0);
    plm_footprint_kernel(0, k);
    plm_footprint_kernel(0, k);
    assert_int_equal(left(), LIMIT - context - (70 << 20));
    before = left();
    plm_footprint_library(0, PLM_LIBRARY_CUDNN);
    plm_footprint_library(0, PLM_LIBRARY_CUDNN);
    assert_int_equal(left(), before - (40 << 20));
    before = left();
    plm_footprint_limit(0, PLM_LIMIT_STACK, 2048);
    assert_int_equal(left(), before - 28ull * 1536 * 1024);
    plm_footprint_limit(0, PLM_LIMIT_STACK, 1024); /* stays */
    assert_int_equal(left(), before - 28ull * 1536 * 1024);
    before = left();
    plm_footprint_limit(0, PLM_LIMIT_PRINTF, 12 << 20); /* 7 MiB is the default */
    assert_int_equal(left(), before - (5 << 20));
    plm_footprint_limit(0, PLM_LIMIT_PRINTF, 7 << 20);
    plm_footprint_limit(0, PLM_LIMIT_HEAP, 16 << 20);
    assert_int_equal(left(), before - (16 << 20));
    plm_footprint_limit(0, PLM_LIMIT_HEAP, 8 << 20); /* the default */
    assert_int_equal(left(), before);
    plm_footprint_limit(0, PLM_LIMIT_HEAP + 1, 64 << 20); /* no memory */
    plm_footprint_limit(-1, PLM_LIMIT_HEAP, 64 << 20);
    plm_footprint_limit(PLM_DEVICES_MAX, PLM_LIMIT_HEAP, 64 << 20);
    plm_footprint_graph(-1, 100);
    plm_footprint_graph(PLM_DEVICES_MAX, 100);
    plm_footprint_library(-1, PLM_LIBRARY_CUBLAS);
    plm_footprint_library(PLM_DEVICES_MAX, PLM_LIBRARY_CUBLAS);
    plm_footprint_range(-1, "nccl", 1, 1);
    plm_footprint_range(PLM_DEVICES_MAX, "nccl", 1, 1);
    assert_int_equal(left(), before);
    plm_footprint_graph(0, 100);
    plm_footprint_graph(0, -100);
    plm_footprint_graph(0, 50);
    assert_int_equal(left(), before - 100 * (16 << 10));
    plm_footprint_graph(0, -50);
    /* An executable graph that is destroyed makes room for the next one. */
    assert_int_equal(plm_graph_create(&graph), 0);
    for (int i = 0; i < 150; i++)
        assert_int_equal(plm_graph_add(graph, PLM_NODE_KERNEL, NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(plm_graph_instantiate(graph, &exec), 0);
        assert_int_equal(left(), before - 150 * (16 << 10));
        assert_int_equal(plm_graph_exec_destroy(exec), 0);
    }
    assert_int_equal(plm_graph_destroy(graph), 0);
}

static void recorded(void **state)
{
    struct plm_summary s;
    const struct plm_summary_device *d;
    (void)state;
    plm_footprint_range(0, "nccl", 10, 1000);
    plm_footprint_range(0, "nccl", -10, -1000);
    plm_footprint_range(0, "nccl", 20, 700);
    plm_footprint_range(0, "cufft", 3, 50);
    plm_footprint_range(0, "cufft", 4, 50);
    plm_footprint_end();
    assert_int_equal(plm_summary_read(unit_path("footprint.plm"), &s, NULL), 0);
    assert_int_equal(s.devices, 1);
    d = &s.device[0];
    assert_int_equal(d->overhead.sms, 28);
    assert_int_equal(d->overhead.kernels, 1);
    assert_int_equal(d->overhead.code, 70 << 20);
    assert_int_equal(d->overhead.stack, 2048);
    assert_int_equal(d->overhead.graph_nodes, 150);
    assert_int_equal(d->overhead.libraries, 1u << PLM_LIBRARY_CUDNN);
    assert_string_equal(d->taker[0].name, "nccl");
    assert_int_equal(d->taker[0].low, 10);
    assert_int_equal(d->taker[0].high, 1000); /* the most at a time */
    assert_string_equal(d->taker[1].name, "cufft");
    assert_int_equal(d->taker[1].low, 7);
    assert_int_equal(d->taker[1].high, 100);
    assert_int_equal(d->overhead.heap, 8 << 20);
    assert_int_equal(d->overhead.printf_bytes, 7 << 20);
    assert_false(d->overhead.eager);
    plm_summary_free(&s);
}

/* ---- libraries ---- */

static void cublas(void **state)
{
    static const struct {
        int major;
        const char *setting;
        uint64_t kib;
    } rows[] = {
        {7, NULL, 8320},       {8, NULL, 8320},       {9, NULL, 32768},          {10, NULL, 32768},
        {12, NULL, 12288},     {8, ":4096:8", 32768}, {9, ":4096:2:16:8", 8320}, {8, ":16:8", 128},
        {8, "nonsense", 8320}, {8, ":4096:", 8320},   {8, ":0:0", 8320},         {8, ":99999999999999:99999999", 8320},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_card card = {.major = rows[i].major};
        assert_int_equal(plm_cublas_pool_bytes(&card, rows[i].setting), rows[i].kib * KIB);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_code), cmocka_unit_test(settings), cmocka_unit_test(bounded),
        cmocka_unit_test(recorded),      cmocka_unit_test(cublas),
    };
    unit_record(unit_path("footprint.plm"));
    setenv("PLIMSOLL_LIMIT", "1073741824", 1);
    setenv("PLIMSOLL_CONTEXT", "model", 1);
    return RUN(tests);
}
