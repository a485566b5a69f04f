/*
 * What the files of the cuSPARSE shim share: statuses and the descriptors of the generic interface.
 *
 * Descriptors remember what the program put into them, so that getters answer and buffer sizes can be
 * computed. They are allocated by create and freed by destroy, and belong to the program in between. They
 * hold device pointers that are never followed. As in the real library a descriptor must not be changed
 * by two threads at once. Entry points return a cusparseStatus_t and never print.
 */
#ifndef PLM_SHIM_CUSPARSE_H
#define PLM_SHIM_CUSPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "device/shim.h"

/* An entry point has the arguments its library documents, used here or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum plm_sparse_status {
    SPARSE_OK = 0,
    SPARSE_NOT_INITIALIZED = 1,
    SPARSE_ALLOC_FAILED = 2,
    SPARSE_INVALID_VALUE = 3,
};

/* Values of the documented enumerations. */
enum { SPARSE_CSR = 1, SPARSE_CSC = 2, SPARSE_COO = 3, SPARSE_BLOCKED_ELL = 5, SPARSE_BSR = 6, SPARSE_SLICED_ELL = 7 };
enum { SPARSE_INDEX_16U = 1, SPARSE_INDEX_32I = 2, SPARSE_INDEX_64I = 3 };
enum { SPARSE_POINTER_HOST = 0, SPARSE_POINTER_DEVICE = 1 };
enum { SPARSE_FILL_MODE = 0, SPARSE_DIAG_TYPE = 1, SPARSE_ATTRIBUTES = 2 };

struct plm_sparse_handle {
    void *stream;
    int pointer_mode;
};

/* Every format has up to three arrays: CSR row offsets, columns, values; CSC column offsets, rows,
   values; COO rows, columns, values; the ELL formats likewise. */
struct plm_spmat {
    int format;
    int64_t rows, cols, nnz; /* in elements, for blocked formats too */
    void *outer, *inner, *values;
    int outer_type, inner_type, base, value_type, order;
    int64_t block_rows, block_cols;
    int64_t ell_cols, sell_values, slice;
    int batches;
    int attributes[SPARSE_ATTRIBUTES];
};

struct plm_dnmat {
    int64_t rows, cols, ld;
    void *values;
    int value_type, order;
    int batches;
    int64_t stride;
};

struct plm_spvec {
    int64_t size, nnz;
    void *indices, *values;
    int index_type, base, value_type;
};

struct plm_dnvec {
    int64_t size;
    void *values;
    int value_type;
};

static inline size_t plm_sparse_index_bytes(int type)
{
    return type == SPARSE_INDEX_64I ? 8 : type == SPARSE_INDEX_16U ? 2 : 4;
}

/* Names the entry point in the record as work on the device. */
#define SPARSE_LAUNCH(name)                                            \
    do {                                                               \
        static const struct plm_symbol symbol_ = {"cusparse", (name)}; \
        plm_call_launch(&symbol_);                                     \
    } while (0)

/* Writes an output that the application may leave out. */
#define SPARSE_PUT(out, value) \
    do {                       \
        if (out)               \
            *(out) = (value);  \
    } while (0)

#endif
