/* What the snippets of cuSPARSE share. */
#ifndef PLM_SNIPPETS_CUSPARSE_H
#define PLM_SNIPPETS_CUSPARSE_H

#include "snippet.h"

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3 };
enum { R_32F = 0, R_64F = 1, C_64F = 5, INDEX_32I = 2, INDEX_64I = 3, ONE_BASED = 1, ORDER_ROW = 2 };
enum { CSR = 1, CSC = 2, COO = 3, BLOCKED_ELL = 5, BSR = 6, SLICED_ELL = 7 };
enum { ROWS = 1000, COLS = 2000, NNZ = 10000 };

#define P void *
#define I int64_t
#define Z size_t *
extern char sparse_memory[3]; /* addresses that stand for device arrays */
#define A ((void *)&sparse_memory[0])
#define B ((void *)&sparse_memory[1])
#define C ((void *)&sparse_memory[2])

void *sparse_lib(int pointer_mode); /* one handle for all, in that mode */
/* Descriptors of small matrices and vectors. */
void *sparse_new_dnvec(void);
void *sparse_new_dnmat(void);
void *sparse_new_spvec(void);
void *sparse_new_csr(int64_t rows, int64_t cols, int64_t nnz);

/* What the matrix says of itself. */
void sparse_check_size(void *d, int format, int64_t rows, int64_t cols, int64_t nnz);

#endif
