/* What the record holds of launches, copies, synchronizations and tags: the exact words of their events. */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/calls.h"
#include "device/context.h"
#include "device/device.h"
#include "device/module.h"
#include "device/stream.h"
#include "unit.h"

enum { COMMON = 2 };

static int take(struct unit_event **first)
{
    return unit_take(unit_path("calls.plm"), first);
}

static struct unit_event *take_one(enum plm_record_event_type type)
{
    struct unit_event *e;
    assert_int_equal(take(&e), 1);
    assert_int_equal(e->type, type);
    return e;
}

static uint64_t pair(uint64_t low, uint64_t high)
{
    return low | high << 32;
}

static uint32_t high(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static struct plm_kernel *kernel(const char *name)
{
    static struct plm_module *module;
    struct plm_kernel *k = NULL;
    if (!module)
        assert_int_equal(plm_module_open(".version 8.0\n.target sm_50\n", &module), 0);
    assert_int_equal(plm_module_kernel(module, name, &k), 0);
    return k;
}

#define NATIVE "_ZN2at6native"

/* ---- what nothing is recorded of ---- */

static const int64_t axis[3] = {1, 1, 1};

static void call_libraries(struct plm_stream *stream, bool run)
{
    plm_call_gemm(&(struct plm_call_gemm){.m = 1}, stream, run);
    plm_call_convolution(&(struct plm_call_convolution){0, 0, false, false, 2, 1, 1, 1, 1, axis, axis, axis, axis, axis,
                                                        axis, 0, PLM_CONV_SOURCE_OFF, 0},
                         stream, run);
    plm_call_rnn(&(struct plm_call_rnn){0}, stream, run);
    plm_call_attention(&(struct plm_call_attention){0}, stream, run);
    plm_call_collective(&(struct plm_call_collective){0}, stream, run);
}

static void call_everything(void)
{
    uint64_t at = 0;
    plm_device_count();
    plm_mem_alloc(0, 4096, &at);
    plm_call_kernel(kernel("k"), &(struct plm_call_shape){{1, 1, 1}, {1, 1, 1}, 0}, NULL, NULL, true);
    call_libraries(NULL, true);
    plm_call_fill((void *)at, 16, true, NULL, true);
    plm_call_sync(PLM_SYNC_DEVICE, NULL, 0);
    plm_call_graph(1, 1, NULL, true);
    plm_call_routine("routine", NULL, true);
    plm_call_tag((void *)at, PLM_CATEGORY_COMMUNICATION);
    plm_call_copy((void *)at, axis, 16, false, NULL, true); /* tags, as every copy to the device */
}

/* The level is read once, so in a child and before anything else. */
static void only_tags_at(const char *level)
{
    struct unit_event events[8];
    const char *path = unit_path(level);
    int status;
    pid_t pid;
    unit_record(path);
    setenv("PLIMSOLL_DETAIL", level, 1);
    pid = fork();
    if (!pid) {
        call_everything();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    unsetenv("PLIMSOLL_DETAIL");
    assert_int_equal(unit_calls(path, events, COUNT(events)), 2);
    assert_int_equal(events[0].type, PLM_EV_TAG);
    assert_int_equal(events[0].word[1], PLM_CATEGORY_COMMUNICATION);
    assert_int_equal(events[1].type, PLM_EV_TAG);
    assert_int_equal(events[1].word[1], PLM_CATEGORY_INPUTS);
}

/* docs/record.md: a call stands under the device that was current, a tag under that of its address. And only where the
   host waits, the clock of its thread is read: a call to the system each. */
static void everything_on_the_second_device(void)
{
    struct unit_event events[24];
    const char *path = unit_path("second.plm");
    int n, status, waits = 0;
    unit_record(path);
    setenv("PLIMSOLL_GPUS", "2", 1);
    if (!fork()) {
        if (plm_device_select(1))
            _exit(1);
        call_everything();
        _exit(0);
    }
    wait(&status);
    assert_int_equal(status, 0);
    unsetenv("PLIMSOLL_GPUS");
    n = unit_calls(path, events, COUNT(events));
    assert_int_equal(n, 13);
    for (int i = 0; i < n; i++) {
        const bool tag = events[i].type == PLM_EV_TAG;
        /* the synchronization, and the copy that is not asynchronous */
        const bool wait = events[i].type == PLM_EV_SYNC || i == n - 1;
        assert_int_equal(events[i].device, !tag);
        assert_true(tag || (high(events[i].word[0]) > 0) == wait);
        waits += wait;
    }
    assert_int_equal(waits, 2);
}

static void less_detail_keeps_the_tags(void **state)
{
    (void)state;
    only_tags_at("low");
    only_tags_at("off");
    everything_on_the_second_device();
    unit_record(unit_path("calls.plm"));
}

static void full_detail_records_them_all(void **state)
{
    int of_type[PLM_EV_TYPES] = {0}, n;
    struct unit_event *e;
    (void)state;
    call_everything();
    n = take(&e);
    for (int i = 0; i < n; i++)
        of_type[e[i].type]++;
    assert_int_equal(of_type[PLM_EV_LAUNCH], 3); /* a kernel, a graph, a routine */
    assert_int_equal(of_type[PLM_EV_COPY], 2);   /* a copy, a fill */
    assert_int_equal(of_type[PLM_EV_TAG], 2);
    for (int type = PLM_EV_GEMM; type <= PLM_EV_COLLECTIVE; type++)
        assert_int_equal(of_type[type], 1);
    assert_int_equal(of_type[PLM_EV_SYNC], 1);
}

/* ---- launches ---- */

static const struct plm_call_shape shape = {{70000, 3, 2}, {128, 4, 2}, 49152};

static void launch_words(void **state)
{
    struct plm_stream *stream;
    struct unit_event *e;
    (void)state;
    plm_call_kernel(kernel("mine"), &shape, NULL, NULL, true);
    e = take_one(PLM_EV_LAUNCH);
    assert_string_equal(e->name, "mine");
    assert_int_equal(e->count, 5);
    assert_int_equal((uint32_t)e->word[0], plm_context_now());
    assert_int_equal(e->word[1], 0);
    assert_int_equal(high(e->word[2]), 70000);
    assert_int_equal(e->word[3], 3ull | 2ull << 16 | 128ull << 32 | 4ull << 48);
    assert_int_equal(e->word[4], 2ull | (uint64_t)PLM_COUNT_NONE << 16 | 49152ull << 32);
    assert_int_equal(plm_stream_create(0, 0, &stream), 0);
    plm_call_kernel(kernel("mine"), &shape, NULL, stream, true);
    plm_call_kernel(kernel("mine"), &shape, NULL, PLM_STREAM_PER_THREAD, true);
    assert_int_equal(take(&e), 2);
    assert_int_equal(e[0].word[1], plm_stream_number(stream));
    assert_true(plm_stream_number(stream) >= 2);
    assert_int_equal(e[1].word[1], 1);
    plm_stream_destroy(stream);
}

static void elements(void **state)
{
    static const struct {
        const char *name;
        bool counted;
    } cases[] = {
        {NATIVE "29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_", true},
        {NATIVE "27unrolled_elementwise_kernelINS0_11FillFunctorIfEE", true},
        {NATIVE "18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl", true},
        {NATIVE "32elementwise_kernel_manual_unrollILi128ELi8EZ", false}, /* of builds for ROCm */
        {NATIVE "24index_elementwise_kernelILi128ELi4EZ", false}, /* its number is wide */
        {NATIVE "18elementwise_kernel", false},
        {"_ZN4mine6native18elementwise_kernelILi128ELi2E", false},
        {"elementwise_kernel", false},
    };
    int32_t n = 123457;
    void *arguments[] = {&n};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct unit_event *e;
        plm_call_kernel(kernel(cases[i].name), &shape, arguments, NULL, true);
        e = take_one(PLM_EV_LAUNCH);
        assert_string_equal(e->name, cases[i].name);
        assert_int_equal(e->word[4] >> 16 & 0xffff, cases[i].counted ? PLM_COUNT_ELEMENTS : PLM_COUNT_NONE);
        assert_int_equal(e->count, cases[i].counted ? 7 : 5);
        if (cases[i].counted) {
            assert_int_equal(e->word[5], 123457);
            assert_int_equal(e->word[6], 0);
        }
    }
}

/* TensorListMetadata<2>, as ATen/native/cuda/MultiTensorApply.cuh has it for up to 4 KiB of arguments. */
struct list2 {
    const void *addresses[2][64];
    int64_t elements[64];
    unsigned char tensor_of_block[320];
    int chunk_of_block[320];
    int start;
};
/* TensorListScalarListMetadata<double, 1> */
struct list1_scalars {
    const void *addresses[1][96];
    int64_t elements[96];
    double scalars[96];
    unsigned char tensor_of_block[320];
    int chunk_of_block[320];
};
/* FusedOptimizerTensorListMetadata<4> */
struct list4_steps {
    const void *addresses[4][36];
    int64_t elements[36];
    const void *steps[36];
    unsigned char tensor_of_block[320];
    int chunk_of_block[320];
    int start;
};

#define MULTI NATIVE "12_GLOBAL__N_125multi_tensor_apply_kernelI"

static struct unit_event *multi(const char *name, void *list, uint32_t blocks)
{
    const struct plm_call_shape s = {{blocks, 1, 1}, {512, 1, 1}, 0};
    void *arguments[] = {list};
    plm_call_kernel(kernel(name), &s, arguments, NULL, true);
    return take_one(PLM_EV_LAUNCH);
}

static void counted(const struct unit_event *e, int kind, uint64_t first, uint64_t second)
{
    assert_int_equal(e->word[4] >> 16 & 0xffff, kind);
    assert_int_equal(e->count, 7);
    assert_int_equal(e->word[5], first);
    assert_int_equal(e->word[6], second);
}

static void uncounted(const struct unit_event *e)
{
    assert_int_equal(e->word[4] >> 16 & 0xffff, PLM_COUNT_NONE);
    assert_int_equal(e->count, 5);
}

static void tensors(void **state)
{
    static const char name[] = MULTI "NS1_18TensorListMetadataILi2EEENS1_11CopyFunctorIffLi2ELi1ELi1EEE";
    /* Three tensors of 2, 1 and 4 chunks; the first chunk was in the launch before, the last two are in the next. */
    struct list2 list = {
        .elements = {70000, 5, 200000}, .tensor_of_block = {0, 1, 2, 2}, .chunk_of_block = {1, 0, 0, 1}};
    struct list1_scalars scalars = {.elements = {10, 20}, .tensor_of_block = {0, 1}};
    struct list4_steps steps = {.elements = {65536, 65537}, .tensor_of_block = {0, 1, 1}, .chunk_of_block = {0, 0, 1}};
    (void)state;
    memset(list.addresses, 0x7f, sizeof list.addresses);
    counted(multi(name, &list, 4), PLM_COUNT_TENSORS, 70000 - 65536 + 5 + 2 * 65536, pair(3, 2));
    uncounted(multi(name, &list, 5)); /* more blocks than it says */
    uncounted(multi(name, &list, 321));
    list.elements[1] = -5;
    uncounted(multi(name, &list, 4));
    memset(scalars.scalars, 0x7f, sizeof scalars.scalars);
    counted(multi(MULTI "NS1_28TensorListScalarListMetadataIdLi1EEENS1_3AddE", &scalars, 2), PLM_COUNT_TENSORS, 30,
            pair(2, 1));
    uncounted(multi(MULTI "NS1_28TensorListScalarListMetadataIN3c107complexIfEELi1EEENS1_3AddE", &scalars, 2));
    memset(steps.steps, 0x7f, sizeof steps.steps);
    counted(multi(MULTI "NS1_32FusedOptimizerTensorListMetadataILi4EEENS1_4AdamE", &steps, 3), PLM_COUNT_TENSORS,
            65536 + 65537, pair(2, 4));
    uncounted(multi(MULTI "NS1_5OtherILi4EEENS1_4AdamE", &steps, 3));
}

/* ReduceOp: an operation, an identity, the configuration, then strides. */
struct reduce {
    float operation[3];
    int element_bytes, inputs, outputs, step_input, step_output, blocks_per_output, input_factor[3], output_factor[2];
    int block_width, block_height, threads;
    bool vectorized;
    int outputs_per_thread;
    char strides[512];
};

static void reductions(void **state)
{
    static const char name[] = NATIVE "13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_";
    struct reduce r = {{0}, 4, 1000, 77, 32, 4, 1, {1, 0, 0}, {0, 1}, 32, 4, 128, true, 1, {0}};
    struct plm_call_shape s = {{20, 1, 1}, {32, 4, 1}, 0};
    void *arguments[] = {&r};
    (void)state;
    plm_call_kernel(kernel(name), &s, arguments, NULL, true);
    counted(take_one(PLM_EV_LAUNCH), PLM_COUNT_REDUCTION, 77000, 77);
    r.outputs_per_thread = 4; /* 19 vectors: 5 blocks */
    plm_call_kernel(kernel(name), &s, arguments, NULL, true);
    uncounted(take_one(PLM_EV_LAUNCH));
    s.grid[0] = 5;
    plm_call_kernel(kernel(name), &s, arguments, NULL, true);
    counted(take_one(PLM_EV_LAUNCH), PLM_COUNT_REDUCTION, 77000, 77);
}

static void captured_launches(void **state)
{
    struct plm_stream *stream;
    struct plm_graph *graph;
    struct plm_graph_exec *exec;
    struct unit_event *e;
    uint64_t before;
    uint32_t number;
    bool run;
    (void)state;
    assert_int_equal(plm_stream_create(0, 0, &stream), 0);
    assert_int_equal(plm_capture_begin(stream, PLM_CAPTURE_GLOBAL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(plm_stream_enqueue(stream, PLM_NODE_KERNEL, &run), 0);
        assert_false(run);
        plm_call_kernel(kernel("mine"), &shape, NULL, stream, run);
    }
    assert_int_equal(plm_capture_end(stream, &graph), 0);
    number = plm_graph_number(graph);
    assert_true(number > 0);
    assert_int_equal(take(&e), 2);
    assert_int_equal(e[1].word[1], pair(plm_stream_number(stream), number));
    assert_int_equal(plm_graph_instantiate(graph, &exec), 0);
    before = plm_launch_count();
    assert_int_equal(plm_graph_launch(exec, stream), 0);
    assert_int_equal(plm_launch_count(), before + 2);
    e = take_one(PLM_EV_LAUNCH);
    assert_int_equal(e->word[1], plm_stream_number(stream));
    assert_int_equal(e->word[2], 0);
    counted(e, PLM_COUNT_GRAPH, 2, number);
    plm_graph_exec_destroy(exec);
    plm_graph_destroy(graph);
    plm_stream_destroy(stream);
}

/* docs/record.md: a call that a stream captures has the number of the graph, one that runs has 0. */
static void captured_calls(void **state)
{
    struct plm_stream *stream;
    struct plm_graph *graph;
    struct unit_event *e;
    uint64_t at = 0;
    (void)state;
    assert_int_equal(plm_mem_alloc(0, 4096, &at), 0);
    assert_int_equal(plm_stream_create(0, 0, &stream), 0);
    assert_int_equal(plm_capture_begin(stream, PLM_CAPTURE_GLOBAL), 0);
    for (int run = 0; run < 2; run++) {
        call_libraries(stream, run);
        plm_call_fill((void *)at, 16, true, stream, run);
        plm_call_routine("routine", stream, run);
    }
    assert_int_equal(plm_capture_end(stream, &graph), 0);
    assert_int_equal(take(&e), 14);
    for (int i = 0; i < 14; i++)
        assert_int_equal(e[i].word[1], pair(plm_stream_number(stream), i < 7 ? plm_graph_number(graph) : 0));
    plm_graph_destroy(graph);
    plm_stream_destroy(stream);
    plm_mem_free(at);
}

static void routines(void **state)
{
    struct unit_event *e;
    (void)state;
    for (int i = 0; i < 2; i++) {
        plm_call_routine("cublasSgemv_v2", NULL, true);
        e = take_one(PLM_EV_LAUNCH);
        assert_string_equal(e->name, "cublasSgemv_v2");
        assert_int_equal(e->word[4], 0x100u << 16);
    }
}

/* ---- copies, synchronizations, tags ---- */

static void copies(void **state)
{
    char pageable[64], other[64];
    void *pinned = NULL;
    uint64_t at = 0, from = 0;
    struct unit_event *e;
    int n = 0;
    (void)state;
    assert_int_equal(plm_mem_alloc(0, 4096, &at), 0);
    assert_int_equal(plm_mem_alloc(0, 4096, &from), 0);
    assert_int_equal(plm_mem_host_alloc(4096, 0, &pinned), 0);
    const struct {
        void *to;
        const void *from;
        bool async;
        enum plm_copy_direction direction;
        enum plm_copy_host host;
    } cases[] = {
        {(void *)at, pageable, false, PLM_COPY_HOST_TO_DEVICE, PLM_COPY_PAGEABLE},
        {(void *)at, pinned, true, PLM_COPY_HOST_TO_DEVICE, PLM_COPY_PINNED},
        {pinned, (void *)at, true, PLM_COPY_DEVICE_TO_HOST, PLM_COPY_PINNED},
        {pageable, (void *)at, false, PLM_COPY_DEVICE_TO_HOST, PLM_COPY_PAGEABLE},
        {(void *)at, (void *)from, true, PLM_COPY_DEVICE_TO_DEVICE, PLM_COPY_NO_HOST},
        {pageable, other, false, PLM_COPY_HOST_TO_HOST, PLM_COPY_PAGEABLE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        plm_call_copy(cases[i].to, cases[i].from, 48 + i, cases[i].async, NULL, true);
        n = take(&e);
        if (cases[i].direction == PLM_COPY_HOST_TO_DEVICE) {
            assert_int_equal(n, 2);
            assert_int_equal(e->type, PLM_EV_TAG);
            assert_int_equal(e->word[0], at);
            assert_int_equal(e->word[1], PLM_CATEGORY_INPUTS);
            e++;
        } else
            assert_int_equal(n, 1);
        assert_int_equal(e->type, PLM_EV_COPY);
        assert_int_equal(e->word[2], 48 + i);
        assert_int_equal(e->word[3], (uint64_t)cases[i].to);
        assert_int_equal(e->word[4],
                         (uint64_t)cases[i].direction | (uint64_t)cases[i].host << 8 | (uint64_t)cases[i].async << 16);
    }
    plm_call_fill((void *)at, 4096, true, NULL, true);
    e = take_one(PLM_EV_COPY);
    assert_int_equal(e->word[4], PLM_COPY_FILL | 1 << 16);
    plm_call_copy((void *)at, pageable, 0, true, NULL, true);
    assert_int_equal(take(&e), 0);
}

static void synchronizations(void **state)
{
    struct plm_stream *stream, *second;
    struct plm_event *event;
    struct unit_event *e;
    uint32_t number;
    (void)state;
    assert_int_equal(plm_stream_create(0, 0, &stream), 0);
    assert_int_equal(plm_stream_create(0, 0, &second), 0);
    assert_int_equal(plm_event_create(0, &event), 0);
    number = plm_stream_number(stream);
    assert_int_equal(plm_stream_number(second), number + 1);
    assert_int_equal(plm_stream_wait(second, event), 0); /* never recorded: nothing to wait for */
    assert_int_equal(plm_event_record(event, stream), 0);
    assert_int_equal(plm_stream_query(stream), 0);
    assert_int_equal(plm_event_query(event), 0);
    assert_int_equal(take(&e), 0);
    assert_int_equal(plm_stream_synchronize(stream), 0);
    assert_int_equal(plm_event_synchronize(event), 0);
    assert_int_equal(plm_stream_wait(second, event), 0);
    plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    assert_int_equal(take(&e), 4);
    assert_int_equal(e[0].word[1], number);
    assert_int_equal(e[0].word[2], pair(PLM_SYNC_STREAM, PLM_STREAM_UNKNOWN));
    assert_int_equal(e[1].word[2], pair(PLM_SYNC_EVENT, number));
    assert_int_equal(e[2].word[1], number + 1);
    assert_int_equal(e[2].word[2], pair(PLM_SYNC_STREAM_WAITS, number));
    assert_int_equal(e[3].word[2], pair(PLM_SYNC_DEVICE, PLM_STREAM_UNKNOWN));
    plm_event_destroy(event);
    plm_stream_destroy(stream);
    plm_stream_destroy(second);
}

static void workspaces_are_tagged_once_a_block(void **state)
{
    uint64_t at = 0;
    struct unit_event *e;
    (void)state;
    assert_int_equal(plm_mem_alloc(0, 4096, &at), 0);
    plm_call_workspace((void *)at);
    e = take_one(PLM_EV_TAG);
    assert_int_equal(e->word[0], at);
    assert_int_equal(e->word[1], PLM_CATEGORY_WORKSPACE);
    assert_int_equal(e->word[2], 0);
    plm_call_workspace((void *)at);
    plm_call_new_block(at + 512);
    plm_call_workspace((void *)at);
    assert_int_equal(take(&e), 0);
    plm_call_new_block(at); /* another block at the same place */
    plm_call_workspace((void *)at);
    take_one(PLM_EV_TAG);
    plm_call_workspace(NULL);
    plm_call_tag(&at, PLM_CATEGORY_WORKSPACE); /* not on the device */
    assert_int_equal(take(&e), 0);
}

static void a_life_ends_with_its_block(void **state)
{
    uint64_t at = 0, first;
    (void)state;
    assert_int_equal(plm_mem_alloc(0, 4096, &at), 0);
    first = plm_call_life(at);
    assert_int_not_equal(first, 0);
    assert_int_not_equal(plm_call_life(at + 512), first);
    assert_int_equal(plm_call_life(at), first);
    plm_call_new_block(at + 512);
    assert_int_equal(plm_call_life(at), first);
    plm_call_new_block(at);
    assert_int_not_equal(plm_call_life(at), first);
    assert_int_equal(plm_call_life(0), 0);
}

/* ---- times and processes ---- */

static void spin(long milliseconds)
{
    struct timespec t;
    long end = 0;
    for (;;) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        long now = t.tv_sec * 1000 + t.tv_nsec / 1000000;
        end = end ? end : now + milliseconds;
        if (now >= end)
            return;
    }
}

/* The CPU time stands where it was read: every 256th event, where the host waits, and where another thread goes on. Its sum is complete. */
static void cpu_time(void **state)
{
    enum { LAUNCHES = 512 };
    struct unit_event *e;
    uint64_t sum = 0;
    int n, read = 0;
    (void)state;
    plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    take(&e);
    for (int i = 0; i < LAUNCHES; i++) {
        if (i % 8 == 0)
            spin(1);
        plm_call_kernel(kernel("mine"), &shape, NULL, NULL, true);
    }
    plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    n = take(&e);
    assert_int_equal(n, LAUNCHES + 1);
    for (int i = 0; i < n; i++) {
        sum += high(e[i].word[0]);
        read += high(e[i].word[0]) != 0;
    }
    assert_int_equal(read, LAUNCHES / 256 + 1);
    assert_in_range(sum, 60 * 1000000ull, 400 * 1000000ull);
    assert_true(high(e[LAUNCHES].word[0]) > 0);
    sleep(1); /* waiting is not CPU time */
    plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    assert_in_range(high(take_one(PLM_EV_SYNC)->word[0]), 1, 500 * 1000000ull);
}

static void *launch_some(void *count)
{
    for (int i = 0; i < *(int *)count; i++) {
        spin(1);
        plm_call_kernel(kernel("mine"), &shape, NULL, NULL, true);
    }
    return NULL;
}

/* Another thread makes calls: its time is read when it begins, and this one's when it goes on. */
static void cpu_time_of_threads(void **state)
{
    struct unit_event *e;
    pthread_t thread;
    int some = 12, n;
    (void)state;
    plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    launch_some(&some);
    take(&e);
    assert_int_equal(pthread_create(&thread, NULL, launch_some, &some), 0);
    pthread_join(thread, NULL);
    take(&e);
    plm_call_kernel(kernel("mine"), &shape, NULL, NULL, true);
    n = take(&e);
    assert_int_equal(n, 1);
    assert_in_range(high(e[0].word[0]), 12 * 900000ull, 400 * 1000000ull);
}

/* A forked child has numbers of its own for the same names. */
static void forked_child(void **state)
{
    struct unit_event *e;
    int status;
    (void)state;
    pid_t pid = fork();
    if (!pid) {
        plm_call_routine("only the child's", NULL, true);
        plm_call_kernel(kernel("mine"), &shape, NULL, NULL, true);
        plm_call_routine("cublasSgemv_v2", NULL, true);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(take(&e), 3);
    assert_int_equal(e[1].process, 1);
    assert_string_equal(e[0].name, "only the child's");
    assert_string_equal(e[1].name, "mine");
    assert_string_equal(e[2].name, "cublasSgemv_v2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_detail_keeps_the_tags),
        cmocka_unit_test(full_detail_records_them_all),
        cmocka_unit_test(launch_words),
        cmocka_unit_test(elements),
        cmocka_unit_test(tensors),
        cmocka_unit_test(reductions),
        cmocka_unit_test(captured_launches),
        cmocka_unit_test(captured_calls),
        cmocka_unit_test(routines),
        cmocka_unit_test(copies),
        cmocka_unit_test(synchronizations),
        cmocka_unit_test(workspaces_are_tagged_once_a_block),
        cmocka_unit_test(a_life_ends_with_its_block),
        cmocka_unit_test(cpu_time),
        cmocka_unit_test(cpu_time_of_threads),
        cmocka_unit_test(forked_child),
    };
    return RUN(tests);
}
