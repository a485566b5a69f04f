/*
 * How large a work space a dense routine asks for, in elements of the matrix's type.
 *
 * NVIDIA documents the query, not the sizes. These follow what the algorithms need: a blocked
 * factorization keeps a panel of 64 columns, a divide-and-conquer eigensolver two matrices, a Jacobi
 * solver a copy of what it rotates. Where a size is known from a public report it is used and said so.
 * Negative dimensions count as 0 and huge ones are capped, so nothing overflows. Pure functions.
 */
#ifndef PLM_SOLVER_WORKSIZE_H
#define PLM_SOLVER_WORKSIZE_H

#include <stdbool.h>
#include <stdint.h>

int64_t plm_worksize_panel(int64_t n);                       /* potrf, getrf, sytrf, sytrd, orgtr, ... */
int64_t plm_worksize_reflect(int64_t n);                     /* geqrf, orgqr, ormqr: a panel and its triangle T */
int64_t plm_worksize_bidiagonal(int64_t m, int64_t n);       /* gebrd, orgbr */
int64_t plm_worksize_svd(int64_t m, int64_t n);              /* gesvd: QR iteration */
int64_t plm_worksize_svd_jacobi(int64_t m, int64_t n, bool vectors);
int64_t plm_worksize_svd_gram(int64_t m, int64_t n);         /* gesvda: eigenvalues of the Gram matrix */
int64_t plm_worksize_svd_random(int64_t m, int64_t n, int64_t rank);
int64_t plm_worksize_eigen(int64_t n, bool vectors);         /* syevd: divide and conquer */
int64_t plm_worksize_eigen_jacobi(int64_t n, bool vectors);
int64_t plm_worksize_eigen_jacobi_batched(int64_t n, int64_t batch);
int64_t plm_worksize_schur(int64_t n, bool vectors);         /* geev */
int64_t plm_worksize_polar(int64_t m, int64_t n);
int64_t plm_worksize_batch(int64_t elements, int64_t batch); /* saturates */

#endif
