#include "time/timeline.h"

#include <string.h>

#include "time_common.h"

/* Mangled as the Itanium C++ ABI has it; the first ones are kernels of PyTorch. */
static void short_names(void **state)
{
    static const struct {
        const char *name, *wanted;
    } rows[] = {
        {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
         "vectorized_elementwise_kernel"},
        {"_ZN2at6native12_GLOBAL__N_120softmax_warp_forwardIfffLi10ELb0ELb0EEEvPT0_PKT_iiiPKbib",
         "softmax_warp_forward"},
        {"_Z6kernelPfi", "kernel"},
        {"_ZN2at6native6kernelEv", "kernel"},
        {"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
        {"cublasGemmEx", "cublasGemmEx"},
        {"_x3abc", "_x3abc"}, /* not mangled, though it begins with an underscore */
        {"", ""},
        {"_Z", "_Z"},
        {"_ZN", "_ZN"},
        {"_ZN99short", "_ZN99short"}, /* a length beyond the end */
        {"_ZN99999999999999999999x", "_ZN99999999999999999999x"},
    };
    char text[64];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(plm_time_kernel_short(rows[i].name, text, sizeof text), rows[i].wanted);
    assert_string_equal(plm_time_kernel_short(rows[0].name, text, 6), "vecto");
    assert_string_equal(plm_time_kernel_short("plain name", text, 6), "plain");
}

static void span_names(void **state)
{
    static struct plm_work some[] = {{.class = PLM_WORK_GEMM}, {.class = PLM_WORK_OTHER, .name = 1}};
    static struct plm_work_site sites[] = {{"", "", "", PLM_PHASE_OTHER},
                                           {"m", "aten::linear", "aten::addmm", PLM_PHASE_OTHER},
                                           {"m", "aten::linear", "", PLM_PHASE_OTHER}};
    static const char *texts[] = {"", "_Z6kernelPfi"};
    const struct plm_timeline timeline = {.works = {.work = some, .site = sites, .names = {.text = texts, .count = 2}}};
    char text[64];
    (void)state;
    assert_string_equal(plm_span_name(&timeline, 0, 1, text, sizeof text), "aten::addmm");
    assert_string_equal(plm_span_name(&timeline, 0, 2, text, sizeof text), "aten::linear");
    assert_string_equal(plm_span_name(&timeline, 1, 0, text, sizeof text), "kernel");
    assert_string_equal(plm_span_name(&timeline, 0, 0, text, sizeof text), "gemm");
}

/* ---- of a record ---- */

/* In place of plm_install_find(): the files of the checkout. */
int __wrap_plm_install_find(struct plm_install *install, struct plm_error *error);
int __wrap_plm_install_find(struct plm_install *install, struct plm_error *error)
{
    const char *source = getenv("PLM_SOURCE");
    (void)error;
    memset(install, 0, sizeof *install);
    snprintf(install->gpus, sizeof install->gpus, "%s/data/gpus", source);
    snprintf(install->capabilities, sizeof install->capabilities, "%s/data/compute-capabilities.ini", source);
    snprintf(install->timing, sizeof install->timing, "%s/data/timing", source);
    return 0;
}

static void extent_take(double begin, double end, double extent[2])
{
    extent[0] = fmin(extent[0], begin);
    extent[1] = fmax(extent[1], end);
}

static void host_take(const struct plm_host_span *span, void *context)
{
    extent_take(span->begin, span->end, context);
}

static void span_take(const struct plm_span *span, void *context)
{
    extent_take(span->begin, span->end, context);
}

static void kernel_on(int device, uint64_t floats)
{
    plm_pen_launch(&pen, device,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "vectorized_elementwise_kernel"),
                                           .grid_x = 100000,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 256,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .counts = PLM_COUNT_ELEMENTS,
                                           .count = floats});
}

/* Four steps of 20 us, in each two kernels on device 0 and one on device 3, 10 us apart. */
static void record_steps(uint64_t floats)
{
    record_begin(unit_path("steps.plm"));
    for (uint32_t i = 1; i <= 4; i++) {
        pause_us(10);
        kernel_on(0, floats);
        pause_us(10);
        kernel_on(0, floats);
        kernel_on(3, floats);
        step(i);
    }
    record_end();
}

/* A kernel reads 4 bytes and writes 4 for each of a thousand million floats: on an RTX 3060, whose data sheet says 360
   GB/s, two of them take 44 ms or more, and less than twice that. */
static void lanes(void **state)
{
    const double least = 2 * 8e9 / 360;
    const struct plm_timeline_lane *lane;
    struct plm_timeline timeline;
    struct plm_error error = {0};
    (void)state;
    record_steps(1000000000);
    if (plm_timeline_make(unit_path("steps.plm"), "rtx3060", &timeline, &error))
        fail_msg("%s", error.text);
    assert_string_equal(timeline.card.id, "rtx3060");
    assert_int_equal(timeline.lanes, 2);
    lane = plm_timeline_find(&timeline, timeline.lane[0].work->process, 3);
    assert_non_null(lane);
    assert_int_equal(lane->work->device, 3);
    assert_int_equal(lane->calls, 1);
    assert_null(plm_timeline_find(&timeline, timeline.lane[0].work->process, 1));
    assert_null(plm_timeline_find(&timeline, timeline.lane[0].work->process + 1, 3));
    lane = plm_timeline_find(&timeline, timeline.lane[0].work->process, 0);
    assert_non_null(lane);
    assert_int_equal(lane->work->device, 0);
    assert_int_equal(lane->calls, 2);
    /* The record begins at 1000 ns, and a step takes 20,002. */
    assert_int_equal(lane->from_ns, 1000 + 3 * 20002 - 1);
    assert_int_equal(lane->to_ns, 1000 + 4 * 20002 - 1);
    assert_true(lane->timing.step > least && lane->timing.step < 2 * least);
    assert_true(lane->begin <= 0 && lane->end - lane->begin >= least && lane->end < 3 * least);
    for (size_t i = 0; i < timeline.lanes; i++) {
        double extent[2] = {0, 0};
        plm_timeline_each(&timeline, &timeline.lane[i], host_take, span_take, extent);
        assert_float_equal(timeline.lane[i].begin, extent[0], 0);
        assert_float_equal(timeline.lane[i].end, extent[1], 0);
    }
    plm_timeline_free(&timeline);
}

/* The last call of a model has no end: it lasts until the last call of the host. */
static void last_pass(void **state)
{
    struct plm_timeline timeline;
    struct plm_error error = {0};
    (void)state;
    record_begin(unit_path("pass.plm"));
    for (int i = 0; i < 4; i++) {
        plm_pen_pass(&pen, 0, &(struct plm_ev_pass){plm_pen_intern(&pen, "model"), 32});
        pause_us(1);
        kernel_us(100, 0);
        pause_us(2);
        kernel_us(100, 0);
        pause_us(4);
    }
    record_end();
    assert_int_equal(plm_timeline_make(unit_path("pass.plm"), "rtx3060", &timeline, &error), 0);
    assert_int_equal(timeline.lane[0].from_ns, 1000 + 3 * 7000);
    assert_int_equal(timeline.lane[0].to_ns, 1000 + 3 * 7000 + 3000);
    plm_timeline_free(&timeline);
}

/* Works that were read with something else give the same, and belong to the timeline then, also if it is refused. */
static void of_works(void **state)
{
    struct plm_timeline one, other;
    struct plm_error error = {0};
    struct plm_works own;
    (void)state;
    record_steps(1000000000);
    assert_int_equal(plm_timeline_make(unit_path("steps.plm"), "rtx3060", &one, &error), 0);
    assert_int_equal(plm_works_read(unit_path("steps.plm"), &own, &error), 0);
    assert_int_equal(plm_timeline_of(&own, "rtx3060", &other, &error), 0);
    assert_int_equal(own.lanes, 0);
    assert_null(own.lane);
    assert_int_equal(other.lanes, 2);
    for (size_t i = 0; i < other.lanes; i++)
        assert_float_equal(other.lane[i].end, one.lane[i].end, 0);
    plm_timeline_free(&other);
    plm_timeline_free(&one);
    assert_int_equal(plm_works_read(unit_path("steps.plm"), &own, &error), 0);
    assert_int_equal(plm_timeline_of(&own, "no-such-card", &other, &error), PLM_EINVAL);
    assert_null(own.lane); /* freed */
}

/* Cards that nobody knows, asked for or recorded. The host is done at once, so its last step ends with all eight kernels:
   of 7e17 floats each that takes an RTX 3060 four years, of 3e17 less than three. */
static void refused(void **state)
{
    struct plm_timeline timeline;
    struct plm_error error = {0};
    (void)state;
    record_steps(1000);
    assert_int_equal(plm_timeline_make(unit_path("steps.plm"), "no-such-card", &timeline, &error), PLM_EINVAL);
    assert_contains(error.text, "no-such-card");
    assert_int_equal(plm_timeline_make(unit_path("steps.plm"), NULL, &timeline, &error), PLM_EINVAL);
    assert_contains(error.text, "round");
    assert_int_equal(plm_timeline_make(unit_path("missing.plm"), NULL, &timeline, &error), PLM_ENOTFOUND);
    record_steps(700000000000000000u);
    assert_int_equal(plm_timeline_make(unit_path("steps.plm"), "rtx3060", &timeline, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "no plausible step time on rtx3060");
    record_steps(300000000000000000u);
    assert_int_equal(plm_timeline_make(unit_path("steps.plm"), "rtx3060", &timeline, &error), 0);
    plm_timeline_free(&timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_names), cmocka_unit_test(span_names),
                                       cmocka_unit_test(lanes),       cmocka_unit_test(last_pass),
                                       cmocka_unit_test(of_works),    cmocka_unit_test(refused)};
    return RUN(tests);
}
