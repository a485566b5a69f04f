/*
 * Iterative refinement (gesv, gels in mixed precision): its parameter object and work sizes.
 *
 * The work space holds the matrix in the lower precision, to be factored, and in the higher one the
 * right-hand sides, the solution, the residual and the correction. Sizes are bytes here.
 */
#include <stdlib.h>

#include "shim/cusolver/cusolver.h"
#include "shim/cusparse/datatype.h"

enum { MAX_ITERS_DEFAULT = 50 }; /* documented */

struct refinement_params {
    int max_iters;
};

PLM_API int cusolverDnIRSParamsCreate(struct refinement_params **out)
{
    struct refinement_params *params;
    if (!out)
        return SOLVER_INVALID_VALUE;
    params = calloc(1, sizeof *params);
    if (!params)
        return SOLVER_ALLOC_FAILED;
    params->max_iters = MAX_ITERS_DEFAULT;
    *out = params;
    return SOLVER_OK;
}

PLM_API int cusolverDnIRSParamsDestroy(struct refinement_params *params)
{
    free(params);
    return SOLVER_OK;
}

PLM_API int cusolverDnIRSParamsSetMaxIters(struct refinement_params *params, int max_iters)
{
    if (!params)
        return SOLVER_INVALID_VALUE;
    params->max_iters = max_iters;
    return SOLVER_OK;
}

PLM_API int cusolverDnIRSParamsGetMaxIters(const struct refinement_params *params, int *max_iters)
{
    if (!params || !max_iters)
        return SOLVER_INVALID_VALUE;
    *max_iters = params->max_iters;
    return SOLVER_OK;
}

static int answer(size_t *bytes, int64_t m, int64_t n, int64_t nrhs, size_t high, size_t low)
{
    enum { VECTORS = 4 };
    int64_t longest = m > n ? m : n;
    if (!bytes || m < 0 || n < 0 || nrhs < 0)
        return SOLVER_INVALID_VALUE;
    *bytes = plm_shim_size_add(plm_shim_size_mul(m * n, low), plm_shim_size_mul(longest * nrhs, high * VECTORS));
    return SOLVER_OK;
}

/* The letters are the type of the solution and the precision of the factorization, with their bytes:
   K, E, Y are half, bfloat16 and TF32 complex, H, B, X the same for real numbers. */
/* clang-format off */
#define PAIRS(X) \
    X(ZZ, 16, 16) X(ZC, 16, 8) X(ZK, 16, 4) X(ZE, 16, 4) X(ZY, 16, 8) X(CC, 8, 8) \
    X(CK, 8, 4) X(CE, 8, 4) X(CY, 8, 8) X(DD, 8, 8) X(DS, 8, 4) X(DH, 8, 2) \
    X(DB, 8, 2) X(DX, 8, 4) X(SS, 4, 4) X(SH, 4, 2) X(SB, 4, 2) X(SX, 4, 4)
/* clang-format on */

#define GESV(pair, high, low)                                                                                    \
    PLM_API int cusolverDn##pair##gesv_bufferSize(void *handle, int n, int nrhs, void *a, int lda, void *pivots, \
                                                  void *b, int ldb, void *x, int ldx, void *work, size_t *bytes) \
    {                                                                                                            \
        return answer(bytes, n, n, nrhs, high, low);                                                             \
    }
#define GELS(pair, high, low)                                                                                      \
    PLM_API int cusolverDn##pair##gels_bufferSize(void *handle, int m, int n, int nrhs, void *a, int lda, void *b, \
                                                  int ldb, void *x, int ldx, void *work, size_t *bytes)            \
    {                                                                                                              \
        return answer(bytes, m, n, nrhs, high, low);                                                               \
    }
PAIRS(GESV)
PAIRS(GELS)

/* The generic forms take the precisions from the parameter object; the widest pair is assumed. */
PLM_API int cusolverDnIRSXgesv_bufferSize(void *handle, void *params, int n, int nrhs, size_t *bytes)
{
    return answer(bytes, n, n, nrhs, 16, 16);
}

PLM_API int cusolverDnIRSXgels_bufferSize(void *handle, void *params, int m, int n, int nrhs, size_t *bytes)
{
    return answer(bytes, m, n, nrhs, 16, 16);
}
