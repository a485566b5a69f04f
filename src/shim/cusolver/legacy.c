/*
 * Work sizes of the routines with a type in their name (S, D, C, Z). They take and give `int`; a size
 * that does not fit is an invalid value, as the real library finds.
 *
 * A row is one routine: its name, its documented arguments and the elements it needs.
 */
#include <limits.h>

#include "shim/cusolver/cusolver.h"
#include "shim/cusolver/worksize.h"

static int answer(void *handle, int *lwork, int64_t elements)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    if (!lwork || elements > INT_MAX)
        return SOLVER_INVALID_VALUE;
    *lwork = (int)elements;
    return SOLVER_OK;
}

/* Numbers of eigenvalues that a range selects; how many lie in an interval of values only the data
   would tell, so that is the upper bound. */
static int selected(int range, int n, int il, int iu)
{
    return range == SOLVER_RANGE_INDEX && iu >= il ? iu - il + 1 : n;
}

static int answer_range(void *handle, int *lwork, int64_t elements, int *count, int chosen)
{
    if (count)
        *count = chosen;
    return answer(handle, lwork, elements);
}

#define ROW(name, args, elements)                  \
    PLM_API int cusolverDn##name##_bufferSize args \
    {                                              \
        return answer(handle, lwork, (elements));  \
    }
/* One row for the four types; the second form when real and complex routines differ in name. */
#define ALL(name, args, elements) \
    ROW(S##name, args, elements) ROW(D##name, args, elements) ROW(C##name, args, elements) ROW(Z##name, args, elements)
#define TWO(real, complex, args, elements) \
    ROW(S##real, args, elements)           \
    ROW(D##real, args, elements) ROW(C##complex, args, elements) ROW(Z##complex, args, elements)

#define UPLO_N (void *handle, int uplo, int n, void *a, int lda, int *lwork)
#define M_N_A  (void *handle, int m, int n, void *a, int lda, int *lwork)
#define M_N    (void *handle, int m, int n, int *lwork)
ALL(potrf, UPLO_N, plm_worksize_panel(n))
ALL(potri, UPLO_N, plm_worksize_panel(n))
ALL(lauum, UPLO_N, plm_worksize_panel(n))
ALL(getrf, M_N_A, plm_worksize_panel(m))
ALL(geqrf, M_N_A, plm_worksize_reflect(n))
ALL(gebrd, M_N, plm_worksize_bidiagonal(m, n))
ALL(gesvd, M_N, plm_worksize_svd(m, n))
ALL(sytrf, (void *handle, int n, void *a, int lda, int *lwork), plm_worksize_panel(n))
ALL(sytri, (void *handle, int uplo, int n, void *a, int lda, const int *pivots, int *lwork), plm_worksize_panel(n))
TWO(orgqr, ungqr, (void *handle, int m, int n, int k, const void *a, int lda, const void *tau, int *lwork),
    plm_worksize_reflect(n))
TWO(ormqr, unmqr,
    (void *handle, int side, int trans, int m, int n, int k, const void *a, int lda, const void *tau, const void *c,
     int ldc, int *lwork),
    plm_worksize_reflect(side ? m : n))
TWO(orgbr, ungbr, (void *handle, int side, int m, int n, int k, const void *a, int lda, const void *tau, int *lwork),
    plm_worksize_reflect(side ? m : n))
TWO(sytrd, hetrd,
    (void *handle, int uplo, int n, const void *a, int lda, const void *d, const void *e, const void *tau, int *lwork),
    plm_worksize_panel(n))
TWO(orgtr, ungtr, (void *handle, int uplo, int n, const void *a, int lda, const void *tau, int *lwork),
    plm_worksize_reflect(n))
TWO(ormtr, unmtr,
    (void *handle, int side, int uplo, int trans, int m, int n, const void *a, int lda, const void *tau, const void *c,
     int ldc, int *lwork),
    plm_worksize_reflect(side ? m : n))

#define EIGEN (void *handle, int jobz, int uplo, int n, const void *a, int lda, const void *w, int *lwork)
#define EIGEN_JACOBI \
    (void *handle, int jobz, int uplo, int n, const void *a, int lda, const void *w, int *lwork, void *info)
#define EIGEN_BATCHED \
    (void *handle, int jobz, int uplo, int n, const void *a, int lda, const void *w, int *lwork, void *info, int batch)
#define PENCIL                                                                                                         \
    (void *handle, int type, int jobz, int uplo, int n, const void *a, int lda, const void *b, int ldb, const void *w, \
     int *lwork)
#define PENCIL_JACOBI                                                                                                  \
    (void *handle, int type, int jobz, int uplo, int n, const void *a, int lda, const void *b, int ldb, const void *w, \
     int *lwork, void *info)
TWO(syevd, heevd, EIGEN, plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS))
TWO(syevj, heevj, EIGEN_JACOBI, plm_worksize_eigen_jacobi(n, jobz != SOLVER_NO_VECTORS))
TWO(syevjBatched, heevjBatched, EIGEN_BATCHED, plm_worksize_eigen_jacobi_batched(n, batch))
TWO(sygvd, hegvd, PENCIL, plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS))
TWO(sygvj, hegvj, PENCIL_JACOBI, plm_worksize_eigen_jacobi(n, jobz != SOLVER_NO_VECTORS))

ALL(gesvdj,
    (void *handle, int jobz, int econ, int m, int n, const void *a, int lda, const void *s, const void *u, int ldu,
     const void *v, int ldv, int *lwork, void *info),
    plm_worksize_svd_jacobi(m, n, jobz != SOLVER_NO_VECTORS))
ALL(gesvdjBatched,
    (void *handle, int jobz, int m, int n, const void *a, int lda, const void *s, const void *u, int ldu, const void *v,
     int ldv, int *lwork, void *info, int batch),
    plm_worksize_batch(plm_worksize_svd_jacobi(m, n, jobz != SOLVER_NO_VECTORS), batch))
ALL(gesvdaStridedBatched,
    (void *handle, int jobz, int rank, int m, int n, const void *a, int lda, long long stride_a, const void *s,
     long long stride_s, const void *u, int ldu, long long stride_u, const void *v, int ldv, long long stride_v,
     int *lwork, int batch),
    plm_worksize_batch(plm_worksize_svd_gram(m, n), batch))

/* Part of the spectrum: both the query and the routine tell the host how many eigenvalues there are. */
#define RANGE(name, real)                                                                                           \
    PLM_API int cusolverDn##name##_bufferSize(void *handle, int jobz, int range, int uplo, int n, const void *a,    \
                                              int lda, real vl, real vu, int il, int iu, int *count, const void *w, \
                                              int *lwork)                                                           \
    {                                                                                                               \
        return answer_range(handle, lwork, plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS), count,                 \
                            selected(range, n, il, iu));                                                            \
    }                                                                                                               \
    PLM_API int cusolverDn##name(void *handle, int jobz, int range, int uplo, int n, void *a, int lda, real vl,     \
                                 real vu, int il, int iu, int *count, void *w, void *work, int lwork, int *info)    \
    {                                                                                                               \
        if (count)                                                                                                  \
            *count = selected(range, n, il, iu);                                                                    \
        SOLVER_LAUNCH("cusolverDn" #name);                                                                          \
        return SOLVER_OK;                                                                                           \
    }
RANGE(Ssyevdx, float)
RANGE(Dsyevdx, double)
RANGE(Cheevdx, float)
RANGE(Zheevdx, double)

#define PENCIL_RANGE(name, real)                                                                                      \
    PLM_API int cusolverDn##name##_bufferSize(void *handle, int type, int jobz, int range, int uplo, int n,           \
                                              const void *a, int lda, const void *b, int ldb, real vl, real vu,       \
                                              int il, int iu, int *count, const void *w, int *lwork)                  \
    {                                                                                                                 \
        return answer_range(handle, lwork, plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS), count,                   \
                            selected(range, n, il, iu));                                                              \
    }                                                                                                                 \
    PLM_API int cusolverDn##name(void *handle, int type, int jobz, int range, int uplo, int n, void *a, int lda,      \
                                 void *b, int ldb, real vl, real vu, int il, int iu, int *count, void *w, void *work, \
                                 int lwork, int *info)                                                                \
    {                                                                                                                 \
        if (count)                                                                                                    \
            *count = selected(range, n, il, iu);                                                                      \
        SOLVER_LAUNCH("cusolverDn" #name);                                                                            \
        return SOLVER_OK;                                                                                             \
    }
PENCIL_RANGE(Ssygvdx, float)
PENCIL_RANGE(Dsygvdx, double)
PENCIL_RANGE(Chegvdx, float)
PENCIL_RANGE(Zhegvdx, double)

/* The approximate SVD reports the norm of each residual to the host if asked. */
#define SVD_APPROXIMATE(name)                                                                                     \
    PLM_API int cusolverDn##name(void *handle, int jobz, int rank, int m, int n, const void *a, int lda,          \
                                 long long stride_a, void *s, long long stride_s, void *u, int ldu,               \
                                 long long stride_u, void *v, int ldv, long long stride_v, void *work, int lwork, \
                                 int *info, double *residuals, int batch)                                         \
    {                                                                                                             \
        for (int i = 0; residuals && i < batch; i++)                                                              \
            residuals[i] = 0;                                                                                     \
        SOLVER_LAUNCH("cusolverDn" #name);                                                                        \
        return SOLVER_OK;                                                                                         \
    }
SVD_APPROXIMATE(SgesvdaStridedBatched)
SVD_APPROXIMATE(DgesvdaStridedBatched)
SVD_APPROXIMATE(CgesvdaStridedBatched)
SVD_APPROXIMATE(ZgesvdaStridedBatched)
