/* The matrix product of cuBLASLt: nothing is computed, but what was asked for is recorded. */
#include "device/calls.h"
#include "device/device.h"
#include "device/stream.h"
#include "shim/cublas/status.h"
#include "shim/cublaslt/bag.h"
#include "device/shim.h"

#define U __attribute__((unused)) plm_word

static int64_t of_layout(const struct plm_bag *layout, int attribute)
{
    return (int64_t)plm_bag_number(layout, PLM_BAG_LAYOUT, attribute);
}

static int of_matmul(const struct plm_bag *operation, int attribute)
{
    return (int)plm_bag_number(operation, PLM_BAG_MATMUL, attribute);
}

PLM_API int cublasLtMatmul(void *handle, const struct plm_bag *operation, U alpha, U a, const struct plm_bag *a_layout,
                           U b, const struct plm_bag *b_layout, U beta, U c, const struct plm_bag *c_layout, U d,
                           const struct plm_bag *d_layout, U algorithm, void *workspace, size_t workspace_bytes,
                           struct plm_stream *stream)
{
    struct plm_call_gemm gemm;
    bool run;
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (!operation || !a_layout || !b_layout || !c_layout || !d_layout)
        return PLM_CUBLAS_INVALID_VALUE;
    if (plm_stream_enqueue(stream, PLM_NODE_KERNEL, &run))
        return PLM_CUBLAS_EXECUTION_FAILED;
    if (run)
        plm_launch(NULL);
    gemm = (struct plm_call_gemm){
        .m = of_layout(d_layout, PLM_LAYOUT_ROWS),
        .n = of_layout(d_layout, PLM_LAYOUT_COLUMNS),
        .batch = of_layout(d_layout, PLM_LAYOUT_BATCH_COUNT),
        .type_a = (int)of_layout(a_layout, PLM_LAYOUT_TYPE),
        .type_b = (int)of_layout(b_layout, PLM_LAYOUT_TYPE),
        .type_c = (int)of_layout(c_layout, PLM_LAYOUT_TYPE),
        .type_d = (int)of_layout(d_layout, PLM_LAYOUT_TYPE),
        .compute = of_matmul(operation, PLM_MATMUL_COMPUTE_TYPE),
        .transpose_a = of_matmul(operation, PLM_MATMUL_TRANSPOSE_A),
        .transpose_b = of_matmul(operation, PLM_MATMUL_TRANSPOSE_B),
        .epilogue = of_matmul(operation, PLM_MATMUL_EPILOGUE),
    };
    gemm.k = of_layout(a_layout, gemm.transpose_a ? PLM_LAYOUT_ROWS : PLM_LAYOUT_COLUMNS);
    gemm.how = gemm.batch > 1 ? PLM_GEMM_STRIDED : PLM_GEMM_ONE;
    plm_call_gemm(&gemm, stream, run);
    if (workspace_bytes)
        plm_call_workspace(workspace);
    return PLM_CUBLAS_SUCCESS;
}
