/*
 * Matrix products: nothing is computed, but what was asked for is recorded. One macro for each order of arguments;
 * each makes the 32-bit and the 64-bit function. Arguments behind the last one that is needed are left out, those in
 * between that are not needed are words.
 */
#include "device/calls.h"
#include "device/device.h"
#include "device/stream.h"
#include "shim/cublas/handle.h"
#include "shim/cublas/status.h"
#include "device/shim.h"

#define U __attribute__((unused)) plm_word

/* cudaDataType and cublasComputeType_t */
enum { R32 = 0, R64 = 1, R16 = 2, C32 = 4, C64 = 5 };
enum { IN_16F = 64, IN_32F = 68, IN_64F = 70, IN_TF32 = 77 };
enum { MATH_TF32 = 3 };

struct matrices {
    int a, b, c, compute;
};

static const struct matrices half = {R16, R16, R16, IN_16F}, single = {R32, R32, R32, IN_32F},
                             twice = {R64, R64, R64, IN_64F}, single_complex = {C32, C32, C32, IN_32F},
                             twice_complex = {C64, C64, C64, IN_64F};

struct size {
    int transpose_a, transpose_b;
    int64_t m, n, k;
};

static int gemm(struct plm_cublas_handle *handle, struct size size, struct matrices type, enum plm_gemm_batch how,
                int64_t batch)
{
    bool run;
    if (!plm_cublas_handle_valid(handle))
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (!handle->workspace_set && plm_cublas_pool_take(&handle->pool))
        return PLM_CUBLAS_ALLOC_FAILED;
    if (plm_stream_enqueue(handle->stream, PLM_NODE_KERNEL, &run))
        return PLM_CUBLAS_EXECUTION_FAILED;
    if (run)
        plm_launch(NULL);
    /* The handle may let single precision use tensor cores. */
    if (type.compute == IN_32F && handle->math_mode == MATH_TF32 && (type.a == R32 || type.a == C32))
        type.compute = IN_TF32;
    plm_call_gemm(&(struct plm_call_gemm){size.m, size.n, size.k, batch, type.a, type.b, type.c, type.c, type.compute,
                                          size.transpose_a, size.transpose_b, how, 1},
                  handle->stream, run);
    return PLM_CUBLAS_SUCCESS;
}

#define SIZES(integer) struct plm_cublas_handle *handle, int ta, int tb, integer m, integer n, integer k
#define SIZE            \
    (struct size)       \
    {                   \
        ta, tb, m, n, k \
    }

#define PLAIN_OF(name, integer, type)                     \
    PLM_API int name(SIZES(integer))                      \
    {                                                     \
        return gemm(handle, SIZE, type, PLM_GEMM_ONE, 1); \
    }
#define BATCHED_OF(name, integer, type)                                                                  \
    PLM_API int name(SIZES(integer), U alpha, U a, U lda, U b, U ldb, U beta, U c, U ldc, integer batch) \
    {                                                                                                    \
        return gemm(handle, SIZE, type, PLM_GEMM_POINTERS, batch);                                       \
    }
#define STRIDED_OF(name, integer, type)                                                                     \
    PLM_API int name(SIZES(integer), U alpha, U a, U lda, U sa, U b, U ldb, U sb, U beta, U c, U ldc, U sc, \
                     integer batch)                                                                         \
    {                                                                                                       \
        return gemm(handle, SIZE, type, PLM_GEMM_STRIDED, batch);                                           \
    }
/* The types of the matrices are arguments. */
#define TYPED_OF(name, integer, in)                                                                                    \
    PLM_API int name(SIZES(integer), U alpha, U a, int type_a, U lda, U b, int type_b, U ldb, U beta, U c, int type_c) \
    {                                                                                                                  \
        return gemm(handle, SIZE, (struct matrices){type_a, type_b, type_c, in}, PLM_GEMM_ONE, 1);                     \
    }

#define BOTH(form, name, type) form##_OF(name, int, type) form##_OF(name##_64, int64_t, type)

BOTH(PLAIN, cublasSgemm_v2, single)
BOTH(PLAIN, cublasDgemm_v2, twice)
BOTH(PLAIN, cublasCgemm_v2, single_complex)
BOTH(PLAIN, cublasZgemm_v2, twice_complex)
BOTH(PLAIN, cublasHgemm, half)
BOTH(PLAIN, cublasCgemm3m, single_complex)
BOTH(PLAIN, cublasZgemm3m, twice_complex)
BOTH(TYPED, cublasSgemmEx, IN_32F)
BOTH(TYPED, cublasCgemmEx, IN_32F)
BOTH(TYPED, cublasCgemm3mEx, IN_32F)
BOTH(BATCHED, cublasSgemmBatched, single)
BOTH(BATCHED, cublasDgemmBatched, twice)
BOTH(BATCHED, cublasCgemmBatched, single_complex)
BOTH(BATCHED, cublasZgemmBatched, twice_complex)
BOTH(BATCHED, cublasHgemmBatched, half)
BOTH(BATCHED, cublasCgemm3mBatched, single_complex)
BOTH(STRIDED, cublasSgemmStridedBatched, single)
BOTH(STRIDED, cublasDgemmStridedBatched, twice)
BOTH(STRIDED, cublasCgemmStridedBatched, single_complex)
BOTH(STRIDED, cublasZgemmStridedBatched, twice_complex)
BOTH(STRIDED, cublasHgemmStridedBatched, half)
BOTH(STRIDED, cublasCgemm3mStridedBatched, single_complex)

#define GEMM_EX(name, integer)                                                                                         \
    PLM_API int name(SIZES(integer), U alpha, U a, int type_a, U lda, U b, int type_b, U ldb, U beta, U c, int type_c, \
                     U ldc, int compute)                                                                               \
    {                                                                                                                  \
        return gemm(handle, SIZE, (struct matrices){type_a, type_b, type_c, compute}, PLM_GEMM_ONE, 1);                \
    }
#define BATCHED_EX(name, integer)                                                                                      \
    PLM_API int name(SIZES(integer), U alpha, U a, int type_a, U lda, U b, int type_b, U ldb, U beta, U c, int type_c, \
                     U ldc, integer batch, int compute)                                                                \
    {                                                                                                                  \
        return gemm(handle, SIZE, (struct matrices){type_a, type_b, type_c, compute}, PLM_GEMM_POINTERS, batch);       \
    }
#define STRIDED_EX(name, integer)                                                                                      \
    PLM_API int name(SIZES(integer), U alpha, U a, int type_a, U lda, U sa, U b, int type_b, U ldb, U sb, U beta, U c, \
                     int type_c, U ldc, U sc, integer batch, int compute)                                              \
    {                                                                                                                  \
        return gemm(handle, SIZE, (struct matrices){type_a, type_b, type_c, compute}, PLM_GEMM_STRIDED, batch);        \
    }

GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)
BATCHED_EX(cublasGemmBatchedEx, int)
BATCHED_EX(cublasGemmBatchedEx_64, int64_t)
STRIDED_EX(cublasGemmStridedBatchedEx, int)
STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)
