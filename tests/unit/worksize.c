/* Work sizes by formula: cuSOLVER's against the manual pages of reference LAPACK, which docs/accuracy.md says they follow; cuFFT's
   against what NVIDIA documents of it. */
#include "shim/cufft/plan.h"
#include "shim/cusolver/worksize.h"
#include "unit.h"

enum { N = 1000, M = 1500 };

/* ILAENV's block for xPOTRF, xGETRF and xSYTRF is 64; DSYTRF: "LWORK >= N*NB, where NB is the block size returned by ILAENV". */
static void test_panel(void **state)
{
    (void)state;
    assert_int_equal(plm_worksize_panel(N), N * 64);
    assert_int_equal(plm_worksize_panel(0), 0);
    assert_int_equal(plm_worksize_panel(-5), 0);
}

/* DORMQR has NBMAX = 64, LDT = NBMAX + 1, TSIZE = LDT * NBMAX and asks for NW*NB + TSIZE. The triangle needs no row more here. */
static void test_reflect(void **state)
{
    (void)state;
    assert_int_equal(plm_worksize_reflect(N), N * 64 + 65 * 64 - 64);
}

/* DGEBRD: "for optimum performance LWORK >= (M+N)*NB". DGESVD: at least 5*min(M,N), and room for the vectors of one side. */
static void test_svd(void **state)
{
    (void)state;
    assert_int_equal(plm_worksize_bidiagonal(M, N), (M + N) * 64);
    assert_int_equal(plm_worksize_svd(M, N), (M + N) * 64 + N * N + 5 * N);
    assert_int_equal(plm_worksize_svd(N, M), plm_worksize_svd(M, N));
}

/* DSYEVD with vectors: "LWORK must be at least 1 + 6*N + 2*N**2"; without: "2*N + 1", beside DSYTRD's panel. */
static void test_eigen(void **state)
{
    (void)state;
    assert_int_equal(plm_worksize_eigen(N, true), 1 + 6 * N + 2 * N * N);
    assert_int_equal(plm_worksize_eigen(N, false), 2 * N + 1 + N * 64);
}

/* Sizes that cupy issue 7261 lists for 4 x 4 matrices; a batch that does not fit stays countable in bytes. */
static void test_batched(void **state)
{
    (void)state;
    assert_int_equal(plm_worksize_eigen_jacobi_batched(4, 1), 2077);
    assert_int_equal(plm_worksize_eigen_jacobi_batched(4, 256), 269572);
    assert_int_equal(plm_worksize_batch(INT64_MAX / 2, 3), INT64_MAX / 32);
    assert_int_equal(plm_worksize_batch(7, 6), 42);
}

static size_t transform_bytes(int64_t n)
{
    struct plm_transform t;
    size_t bytes = 0;
    assert_int_equal(plm_transform_of_type(&t, 0x29), 0); /* C2C */
    assert_int_equal(plm_transform_shape(&t, 1, &n, 4), 0);
    assert_int_equal(plm_transform_work(&t, &bytes), 0);
    return bytes;
}

/* The manual: transforms of one to three dimensions, each of them at least 1, and at least one at a time. CUFFT_INVALID_VALUE is 4,
   CUFFT_INVALID_SIZE 8. */
static void test_fft_shapes(void **state)
{
    static const struct {
        int64_t n[4], batch;
        int rank, status;
    } rows[] = {
        {{8, 1, 3}, 1, 3, 0}, {{8}, 7, 1, 0},  {{8, 1, 3, 1}, 1, 4, 4}, {{8}, 1, 0, 4},
        {{8, 8, 0}, 1, 3, 8}, {{-1}, 1, 1, 8}, {{8}, 0, 1, 8},
    };
    struct plm_transform t;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(plm_transform_of_type(&t, 0x29), 0);
        assert_int_equal(plm_transform_shape(&t, rows[i].rank, rows[i].n, rows[i].batch), rows[i].status);
        if (rows[i].status)
            continue;
        assert_int_equal(t.rank, rows[i].rank);
        assert_int_equal(t.batch, rows[i].batch);
        assert_memory_equal(t.n, rows[i].n, (size_t)t.rank * sizeof *t.n);
    }
    assert_int_equal(plm_transform_shape(&t, 1, NULL, 1), 4);
}

/* The manual: primes up to 127 have kernels of their own, and beyond Bluestein's algorithm pads a length to more than its double. */
static void test_fft(void **state)
{
    (void)state;
    assert_int_equal(transform_bytes(1024), 0);
    assert_int_equal(transform_bytes(127), 4 * 127 * 8);
    assert_int_equal(transform_bytes(131), 4 * 512 * 8); /* 2 * 131 - 1 fits into 512 */
    assert_int_equal(transform_bytes(2 * 251), 4 * 1024 * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panel),      cmocka_unit_test(test_reflect), cmocka_unit_test(test_svd),
        cmocka_unit_test(test_eigen),      cmocka_unit_test(test_batched), cmocka_unit_test(test_fft),
        cmocka_unit_test(test_fft_shapes),
    };
    return RUN(tests);
}
