#include "time/timeline.h"

#include <string.h>

#include "unit.h"

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
    static struct plm_work works[] = {{.class = PLM_WORK_GEMM}, {.class = PLM_WORK_OTHER, .name = 1}};
    static struct plm_work_site sites[] = {{"", "", "", PLM_PHASE_OTHER},
                                           {"m", "aten::linear", "aten::addmm", PLM_PHASE_OTHER},
                                           {"m", "aten::linear", "", PLM_PHASE_OTHER}};
    static const char *texts[] = {"", "_Z6kernelPfi"};
    const struct plm_timeline timeline = {
        .works = {.work = works, .site = sites, .names = {.text = texts, .count = 2}}};
    char text[64];
    (void)state;
    assert_string_equal(plm_span_name(&timeline, 0, 1, text, sizeof text), "aten::addmm");
    assert_string_equal(plm_span_name(&timeline, 0, 2, text, sizeof text), "aten::linear");
    assert_string_equal(plm_span_name(&timeline, 1, 0, text, sizeof text), "kernel");
    assert_string_equal(plm_span_name(&timeline, 0, 0, text, sizeof text), "gemm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_names), cmocka_unit_test(span_names)};
    return RUN(tests);
}
