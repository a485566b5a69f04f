/*
 * Work sizes of the 64-bit interface, which is typed by its arguments. Sizes are bytes, one for the
 * device and one for the host; the real library fills both and so do we. The host needs room only where
 * part of the algorithm runs there (geev).
 *
 * A row is one routine: its name, its documented arguments, the elements it needs on the device and on
 * the host, and the type they are of.
 */
#include "shim/cusolver/cusolver.h"
#include "shim/cusolver/worksize.h"
#include "shim/cusparse/datatype.h"

static int answer(void *handle, size_t *device, size_t *host, int64_t elements, int64_t host_elements, int type)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    if (!device)
        return SOLVER_INVALID_VALUE;
    *device = plm_shim_size_mul(elements, plm_datatype_bytes(type));
    if (host)
        *host = plm_shim_size_mul(host_elements, plm_datatype_bytes(type));
    return SOLVER_OK;
}

#define ROW(name, args, elements, host_elements)                                \
    PLM_API int cusolverDn##name##_bufferSize args                              \
    {                                                                           \
        return answer(handle, device, host, (elements), (host_elements), type); \
    }

ROW(Xpotrf,
    (void *handle, void *params, int uplo, int64_t n, int type, const void *a, int64_t lda, int compute, size_t *device,
     size_t *host),
    plm_worksize_panel(n), 0)
ROW(Xgetrf,
    (void *handle, void *params, int64_t m, int64_t n, int type, const void *a, int64_t lda, int compute,
     size_t *device, size_t *host),
    plm_worksize_panel(m), 0)
ROW(Xgeqrf,
    (void *handle, void *params, int64_t m, int64_t n, int type, const void *a, int64_t lda, int tau_type,
     const void *tau, int compute, size_t *device, size_t *host),
    plm_worksize_reflect(n), 0)
ROW(Xtrtri, (void *handle, int uplo, int diag, int64_t n, int type, void *a, int64_t lda, size_t *device, size_t *host),
    plm_worksize_panel(n), 0)
ROW(Xlarft,
    (void *handle, void *params, int direct, int storev, int64_t n, int64_t k, int type, const void *v, int64_t ldv,
     int tau_type, const void *tau, int t_type, void *t, int64_t ldt, int compute, size_t *device, size_t *host),
    plm_worksize_panel(k), 0)
ROW(Xsytrs,
    (void *handle, int uplo, int64_t n, int64_t nrhs, int type, const void *a, int64_t lda, const int64_t *pivots,
     int b_type, void *b, int64_t ldb, size_t *device, size_t *host),
    plm_worksize_batch(n, nrhs), 0)
ROW(Xsytrf,
    (void *handle, void *params, int uplo, int64_t n, int type, const void *a, int64_t lda, const int64_t *pivots,
     int compute, size_t *device, size_t *host),
    plm_worksize_panel(n), 0)
ROW(Xhetrf,
    (void *handle, void *params, int uplo, int64_t n, int type, const void *a, int64_t lda, const int64_t *pivots,
     int compute, size_t *device, size_t *host),
    plm_worksize_panel(n), 0)
ROW(Xsyevd,
    (void *handle, void *params, int jobz, int uplo, int64_t n, int type, const void *a, int64_t lda, int w_type,
     const void *w, int compute, size_t *device, size_t *host),
    plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS), 0)
ROW(XsyevBatched,
    (void *handle, void *params, int jobz, int uplo, int64_t n, int type, const void *a, int64_t lda, int w_type,
     const void *w, int compute, size_t *device, size_t *host, int64_t batch),
    plm_worksize_batch(plm_worksize_eigen_jacobi(n, jobz != SOLVER_NO_VECTORS), batch), 0)
ROW(Xsygvd,
    (void *handle, void *params, int itype, int jobz, int uplo, int64_t n, int type, const void *a, int64_t lda,
     int b_type, const void *b, int64_t ldb, int w_type, const void *w, int compute, size_t *device, size_t *host),
    plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS), 0)
ROW(Xstedc,
    (void *handle, void *params, int compz, int64_t n, int d_type, const void *d, const void *e, int type,
     const void *z, int64_t ldz, int compute, size_t *device, size_t *host),
    plm_worksize_eigen(n, z != NULL), 0)
ROW(Xgeev,
    (void *handle, void *params, int jobvl, int jobvr, int64_t n, int type, const void *a, int64_t lda, int w_type,
     const void *w, int vl_type, const void *vl, int64_t ldvl, int vr_type, const void *vr, int64_t ldvr, int compute,
     size_t *device, size_t *host),
    plm_worksize_schur(n, jobvl != SOLVER_NO_VECTORS || jobvr != SOLVER_NO_VECTORS), plm_worksize_schur(n, true))
ROW(Xgesvd,
    (void *handle, void *params, signed char jobu, signed char jobvt, int64_t m, int64_t n, int type, const void *a,
     int64_t lda, int s_type, const void *s, int u_type, const void *u, int64_t ldu, int v_type, const void *v,
     int64_t ldv, int compute, size_t *device, size_t *host),
    plm_worksize_svd(m, n), 0)
ROW(Xgesvdp,
    (void *handle, void *params, int jobz, int econ, int64_t m, int64_t n, int type, const void *a, int64_t lda,
     int s_type, const void *s, int u_type, const void *u, int64_t ldu, int v_type, const void *v, int64_t ldv,
     int compute, size_t *device, size_t *host),
    plm_worksize_polar(m, n) + plm_worksize_eigen(n, true), 0)
ROW(Xgesvdr,
    (void *handle, void *params, signed char jobu, signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
     int64_t iterations, int type, const void *a, int64_t lda, int s_type, const void *s, int u_type, const void *u,
     int64_t ldu, int v_type, const void *v, int64_t ldv, int compute, size_t *device, size_t *host),
    plm_worksize_svd_random(m, n, k > INT32_MAX || p > INT32_MAX ? INT32_MAX : k + p), 0)
ROW(Xpolar,
    (void *handle, void *params, int uplo, int64_t m, int64_t n, int type, const void *a, int64_t lda, int h_type,
     const void *h, int64_t ldh, int compute, size_t *device, size_t *host),
    plm_worksize_polar(m, n), 0)

/* Part of the spectrum: an interval of values is answered with its upper bound, see legacy.c. */
static void select_range(int64_t *count, int range, int64_t n, int64_t il, int64_t iu)
{
    if (count)
        *count = range == SOLVER_RANGE_INDEX && iu >= il ? iu - il + 1 : n;
}

PLM_API int cusolverDnXsyevdx_bufferSize(void *handle, void *params, int jobz, int range, int uplo, int64_t n, int type,
                                         const void *a, int64_t lda, void *vl, void *vu, int64_t il, int64_t iu,
                                         int64_t *count, int w_type, const void *w, int compute, size_t *device,
                                         size_t *host)
{
    select_range(count, range, n, il, iu);
    return answer(handle, device, host, plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS), 0, type);
}

PLM_API int cusolverDnXsyevdx(void *handle, void *params, int jobz, int range, int uplo, int64_t n, int type, void *a,
                              int64_t lda, void *vl, void *vu, int64_t il, int64_t iu, int64_t *count, int w_type,
                              void *w, int compute, void *device, size_t device_bytes, void *host, size_t host_bytes,
                              int *info)
{
    select_range(count, range, n, il, iu);
    SOLVER_LAUNCH("cusolverDnXsyevdx");
    return SOLVER_OK;
}

/* ---- the first 64-bit interface, without the X: one size, gone with CUDA 13 ---- */

#define FIRST(name, args, elements)                               \
    PLM_API int cusolverDn##name##_bufferSize args                \
    {                                                             \
        return answer(handle, device, NULL, (elements), 0, type); \
    }

FIRST(Potrf,
      (void *handle, void *params, int uplo, int64_t n, int type, const void *a, int64_t lda, int compute,
       size_t *device),
      plm_worksize_panel(n))
FIRST(Getrf,
      (void *handle, void *params, int64_t m, int64_t n, int type, const void *a, int64_t lda, int compute,
       size_t *device),
      plm_worksize_panel(m))
FIRST(Geqrf,
      (void *handle, void *params, int64_t m, int64_t n, int type, const void *a, int64_t lda, int tau_type,
       const void *tau, int compute, size_t *device),
      plm_worksize_reflect(n))
FIRST(Gesvd,
      (void *handle, void *params, signed char jobu, signed char jobvt, int64_t m, int64_t n, int type, const void *a,
       int64_t lda, int s_type, const void *s, int u_type, const void *u, int64_t ldu, int v_type, const void *v,
       int64_t ldv, int compute, size_t *device),
      plm_worksize_svd(m, n))
FIRST(Syevd,
      (void *handle, void *params, int jobz, int uplo, int64_t n, int type, const void *a, int64_t lda, int w_type,
       const void *w, int compute, size_t *device),
      plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS))

PLM_API int cusolverDnSyevdx_bufferSize(void *handle, void *params, int jobz, int range, int uplo, int64_t n, int type,
                                        const void *a, int64_t lda, void *vl, void *vu, int64_t il, int64_t iu,
                                        int64_t *count, int w_type, const void *w, int compute, size_t *device)
{
    select_range(count, range, n, il, iu);
    return answer(handle, device, NULL, plm_worksize_eigen(n, jobz != SOLVER_NO_VECTORS), 0, type);
}

PLM_API int cusolverDnSyevdx(void *handle, void *params, int jobz, int range, int uplo, int64_t n, int type, void *a,
                             int64_t lda, void *vl, void *vu, int64_t il, int64_t iu, int64_t *count, int w_type,
                             void *w, int compute, void *buffer, size_t bytes, int *info)
{
    select_range(count, range, n, il, iu);
    SOLVER_LAUNCH("cusolverDnSyevdx");
    return SOLVER_OK;
}
