/* cuSOLVER's work sizes against the manual pages of reference LAPACK, whose formulas docs/accuracy.md says they follow. */
#include "shim/cusolver/worksize.h"
#include "unit.h"

enum { N = 1000, M = 1500 };

/* ILAENV's block for xPOTRF, xGETRF and xSYTRF is 64; DSYTRF: "LWORK >= N*NB, where NB is the block size returned by ILAENV". */
static void test_panel(void **state)
{
    (void)state;
    assert_int_equal(plm_work_panel(N), N * 64);
    assert_int_equal(plm_work_panel(0), 0);
    assert_int_equal(plm_work_panel(-5), 0);
}

/* DORMQR has NBMAX = 64, LDT = NBMAX + 1, TSIZE = LDT * NBMAX and asks for NW*NB + TSIZE. The triangle needs no row more here. */
static void test_reflect(void **state)
{
    (void)state;
    assert_int_equal(plm_work_reflect(N), N * 64 + 65 * 64 - 64);
}

/* DGEBRD: "for optimum performance LWORK >= (M+N)*NB". DGESVD: at least 5*min(M,N), and room for the vectors of one side. */
static void test_svd(void **state)
{
    (void)state;
    assert_int_equal(plm_work_bidiagonal(M, N), (M + N) * 64);
    assert_int_equal(plm_work_svd(M, N), (M + N) * 64 + N * N + 5 * N);
    assert_int_equal(plm_work_svd(N, M), plm_work_svd(M, N));
}

/* DSYEVD with vectors: "LWORK must be at least 1 + 6*N + 2*N**2"; without: "2*N + 1", beside DSYTRD's panel. */
static void test_eigen(void **state)
{
    (void)state;
    assert_int_equal(plm_work_eigen(N, true), 1 + 6 * N + 2 * N * N);
    assert_int_equal(plm_work_eigen(N, false), 2 * N + 1 + N * 64);
}

/* Sizes that cupy issue 7261 lists for 4 x 4 matrices; a batch that does not fit stays countable in bytes. */
static void test_batched(void **state)
{
    (void)state;
    assert_int_equal(plm_work_eigen_jacobi_batched(4, 1), 2077);
    assert_int_equal(plm_work_eigen_jacobi_batched(4, 256), 269572);
    assert_int_equal(plm_work_batch(INT64_MAX / 2, 3), INT64_MAX / 32);
    assert_int_equal(plm_work_batch(7, 6), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panel), cmocka_unit_test(test_reflect), cmocka_unit_test(test_svd),
        cmocka_unit_test(test_eigen), cmocka_unit_test(test_batched),
    };
    return RUN(tests);
}
