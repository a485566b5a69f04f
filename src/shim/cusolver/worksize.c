#include "shim/cusolver/worksize.h"

enum { PANEL = 64 };
#define DIMENSION_MAX (INT64_C(1) << 28) /* a square of it, a few times over, still fits */

static int64_t dim(int64_t n)
{
    return n < 0 ? 0 : n > DIMENSION_MAX ? DIMENSION_MAX : n;
}

static int64_t smaller(int64_t m, int64_t n)
{
    return m < n ? dim(m) : dim(n);
}

int64_t plm_worksize_panel(int64_t n)
{
    return dim(n) * PANEL;
}

int64_t plm_worksize_reflect(int64_t n)
{
    return (dim(n) + PANEL) * PANEL;
}

int64_t plm_worksize_bidiagonal(int64_t m, int64_t n)
{
    return (dim(m) + dim(n)) * PANEL;
}

/* Bidiagonal reduction, the singular vectors on the shorter side and LAPACK's five vectors. */
int64_t plm_worksize_svd(int64_t m, int64_t n)
{
    int64_t k = smaller(m, n);
    return plm_worksize_bidiagonal(m, n) + k * k + 5 * k;
}

int64_t plm_worksize_svd_jacobi(int64_t m, int64_t n, bool vectors)
{
    int64_t k = smaller(m, n);
    return dim(m) * dim(n) + (vectors ? k * k : 0) + 2 * k;
}

int64_t plm_worksize_svd_gram(int64_t m, int64_t n)
{
    int64_t k = smaller(m, n);
    return k * k + plm_worksize_eigen(k, true);
}

/* The sampled range and its projection, each with its orthogonal factor, and the small SVD. */
int64_t plm_worksize_svd_random(int64_t m, int64_t n, int64_t rank)
{
    int64_t r = rank < smaller(m, n) ? dim(rank) : smaller(m, n);
    return 2 * (dim(m) + dim(n)) * r + plm_worksize_svd(r, r);
}

/* LAPACK's 2n^2 + 6n + 1 with vectors. The limit n <= 32768 that NVIDIA documented until CUDA 13 fits it:
   there 2n^2 reaches 2^31. That is an inference, no size was measured. */
int64_t plm_worksize_eigen(int64_t n, bool vectors)
{
    int64_t k = dim(n);
    return vectors ? 2 * k * k + 6 * k + 1 : plm_worksize_panel(k) + 2 * k + 1;
}

int64_t plm_worksize_eigen_jacobi(int64_t n, bool vectors)
{
    int64_t k = dim(n);
    return (vectors ? 2 : 1) * k * k + 2 * k + 1;
}

/* Fitted to cupy issue 7261 (cheevj): exact for the listed 4 x 4 batches, and the slope for 2 x 2 agrees
   with where 32 bits overflow there. Other n up to 32 are extrapolated; beyond, one work space each. */
int64_t plm_worksize_eigen_jacobi_batched(int64_t n, int64_t batch)
{
    enum { TILE = 32 };
    int64_t k = dim(n);
    if (k > TILE)
        return plm_worksize_batch(plm_worksize_eigen_jacobi(k, true), batch);
    return plm_worksize_batch(TILE * TILE + (k + 1) * (k + 1), batch) + TILE * TILE + k;
}

/* The Hessenberg matrix and the vectors accumulated on the way to it. */
int64_t plm_worksize_schur(int64_t n, bool vectors)
{
    int64_t k = dim(n);
    return (vectors ? 3 : 1) * k * k + plm_worksize_reflect(k);
}

/* QDWH factors the matrix stacked on an identity, and needs the orthogonal factor beside it. */
int64_t plm_worksize_polar(int64_t m, int64_t n)
{
    return 2 * (dim(m) + dim(n)) * dim(n) + plm_worksize_reflect(n);
}

int64_t plm_worksize_batch(int64_t elements, int64_t batch)
{
    int64_t out;
    if (__builtin_mul_overflow(elements, dim(batch), &out) || out > INT64_MAX / 32)
        return INT64_MAX / 32; /* still fits when counted in bytes */
    return out;
}
