/*
 * Buffer sizes of the routines that predate the generic interface, and the zero-pivot queries.
 *
 * A row is one routine: its name, its documented arguments and its bytes. The sizes follow the
 * algorithms: a triangular solve or an incomplete factorization keeps a few words a row to find the
 * order of its rows, a sort keeps a second copy of keys and permutation, a tridiagonal solver the
 * reduced system. Nothing of this is documented by NVIDIA.
 */
#include <limits.h>

#include "shim/cusparse/cusparse.h"
#include "shim/cusparse/datatype.h"

enum { ROW_STATE = 16, SORT_ENTRY = 16, SCAN_ENTRY = 8 };

static int put_size(size_t *out, size_t bytes)
{
    if (!out)
        return SPARSE_INVALID_VALUE;
    *out = bytes;
    return SPARSE_OK;
}

static int put_int(int *out, size_t bytes)
{
    if (!out || bytes > INT_MAX)
        return SPARSE_INVALID_VALUE;
    *out = (int)bytes;
    return SPARSE_OK;
}

static size_t rows_bytes(int rows, int entries)
{
    return plm_shim_size_add(plm_shim_size_mul(rows + (int64_t)1, ROW_STATE), plm_shim_size_mul(entries, sizeof(int)));
}

static size_t sort_bytes(int entries)
{
    return plm_shim_size_mul(entries, SORT_ENTRY);
}

static size_t scan_bytes(int rows)
{
    return plm_shim_size_mul(rows + (int64_t)1, SCAN_ENTRY);
}

/* `count` numbers of the type for each of `m` rows and `n` systems. */
static size_t system_bytes(int m, int n, size_t count, size_t type)
{
    return plm_shim_size_mul(m, plm_shim_size_mul(n, count * type));
}

/* Rows give `bytes_` in terms of their arguments and, for those of a type, of its size `type`. */
#define TYPED(X) X(S, 4) X(D, 8) X(C, 8) X(Z, 16)
#define BODY(put, bytes_, width)   \
    {                              \
        enum { type = width };     \
        (void)type;                \
        return put(out, (bytes_)); \
    }

#define BSRSV2_ARGS(out_type)                                                                              \
    (void *handle, int dir, int trans, int mb, int nnzb, const void *descr, void *values, const int *rows, \
     const int *cols, int block, void *info, out_type *out)
#define BSRSM2_ARGS(out_type)                                                                                 \
    (void *handle, int dir, int trans, int trans_x, int mb, int n, int nnzb, const void *descr, void *values, \
     const int *rows, const int *cols, int block, void *info, out_type *out)
#define BSR02_ARGS(out_type)                                                                                     \
    (void *handle, int dir, int mb, int nnzb, const void *descr, void *values, const int *rows, const int *cols, \
     int block, void *info, out_type *out)
#define CSR02_ARGS(out_type)                                                                                      \
    (void *handle, int m, int nnz, const void *descr, void *values, const int *rows, const int *cols, void *info, \
     out_type *out)
#define CSR2GEBSR_ARGS(out_type)                                                                                   \
    (void *handle, int dir, int m, int n, const void *descr, const void *values, const int *rows, const int *cols, \
     int row_dim, int col_dim, out_type *out)
#define GEBSC_ARGS(out_type)                                                                                    \
    (void *handle, int mb, int nb, int nnzb, const void *values, const int *rows, const int *cols, int row_dim, \
     int col_dim, out_type *out)
#define GEBSR_ARGS(out_type)                                                                                  \
    (void *handle, int dir, int mb, int nb, int nnzb, const void *descr, const void *values, const int *rows, \
     const int *cols, int row_dim_a, int col_dim_a, int row_dim_c, int col_dim_c, out_type *out)

/* Those that exist with an int and, under another name, with a size_t. */
#define BOTH(T, name, args, bytes_, width)                                            \
    PLM_API int cusparse##T##name##_bufferSize args(int) BODY(put_int, bytes_, width) \
        PLM_API int cusparse##T##name##_bufferSizeExt args(size_t) BODY(put_size, bytes_, width)
#define BOTH_FAMILIES(T, width)                                \
    BOTH(T, bsrsv2, BSRSV2_ARGS, rows_bytes(mb, nnzb), width)  \
    BOTH(T, bsrsm2, BSRSM2_ARGS, rows_bytes(mb, nnzb), width)  \
    BOTH(T, bsric02, BSR02_ARGS, rows_bytes(mb, nnzb), width)  \
    BOTH(T, bsrilu02, BSR02_ARGS, rows_bytes(mb, nnzb), width) \
    BOTH(T, csric02, CSR02_ARGS, rows_bytes(m, nnz), width)    \
    BOTH(T, csrilu02, CSR02_ARGS, rows_bytes(m, nnz), width)   \
    BOTH(T, csr2gebsr, CSR2GEBSR_ARGS, scan_bytes(m), width)   \
    BOTH(T, gebsr2gebsc, GEBSC_ARGS, sort_bytes(nnzb), width)  \
    BOTH(T, gebsr2gebsr, GEBSR_ARGS, scan_bytes(mb), width)
TYPED(BOTH_FAMILIES)

#define GTSV2_ARGS \
    (void *handle, int m, int n, const void *dl, const void *d, const void *du, const void *b, int ldb, size_t *out)
#define STRIDED_ARGS                                                                                           \
    (void *handle, int m, const void *dl, const void *d, const void *du, const void *x, int batch, int stride, \
     size_t *out)
#define INTERLEAVED_ARGS                                                                                     \
    (void *handle, int algo, int m, const void *dl, const void *d, const void *du, const void *x, int batch, \
     size_t *out)
#define PENTA_ARGS                                                                                                 \
    (void *handle, int algo, int m, const void *ds, const void *dl, const void *d, const void *du, const void *dw, \
     const void *x, int batch, size_t *out)
#define GEAM2_ARGS                                                                                                 \
    (void *handle, int m, int n, const void *alpha, const void *descr_a, int nnz_a, const void *values_a,          \
     const int *rows_a, const int *cols_a, const void *beta, const void *descr_b, int nnz_b, const void *values_b, \
     const int *rows_b, const int *cols_b, const void *descr_c, const void *values_c, const int *rows_c,           \
     const int *cols_c, size_t *out)
#define CSRU2CSR_ARGS \
    (void *handle, int m, int n, int nnz, void *values, const int *rows, int *cols, void *info, size_t *out)
#define GEMVI_ARGS (void *handle, int trans, int m, int n, int nnz, int *out)

/* Cyclic reduction keeps the three diagonals and the right-hand sides; pivoting keeps the permutation
   as a fifth vector. The pentadiagonal QR keeps its reflectors, twice the five diagonals. */
#define ONE_FAMILIES(T, width)                                                                                         \
    PLM_API int cusparse##T##gtsv2_bufferSizeExt GTSV2_ARGS BODY(                                                      \
        put_size, system_bytes(m, 1, 4, type) + system_bytes(m, n, 1, type), width)                                    \
    PLM_API int cusparse##T##gtsv2_nopivot_bufferSizeExt GTSV2_ARGS BODY(                                              \
        put_size, system_bytes(m, 1, 3, type) + system_bytes(m, n, 1, type), width)                                    \
    PLM_API int cusparse##T##gtsv2StridedBatch_bufferSizeExt STRIDED_ARGS BODY(put_size,                               \
                                                                               system_bytes(m, batch, 4, type), width) \
    PLM_API int cusparse##T##gtsvInterleavedBatch_bufferSizeExt INTERLEAVED_ARGS BODY(                                 \
        put_size, system_bytes(m, batch, 3, type), width)                                                              \
    PLM_API int cusparse##T##gpsvInterleavedBatch_bufferSizeExt PENTA_ARGS BODY(                                       \
        put_size, system_bytes(m, batch, 10, type), width)                                                             \
    PLM_API int cusparse##T##csrgeam2_bufferSizeExt GEAM2_ARGS BODY(put_size, scan_bytes(m), width)                    \
    PLM_API int cusparse##T##csru2csr_bufferSizeExt CSRU2CSR_ARGS BODY(put_size, sort_bytes(nnz), width)               \
    PLM_API int cusparse##T##gemvi_bufferSize GEMVI_ARGS BODY(put_int, system_bytes(trans ? n : m, 1, 1, type), width)
TYPED(ONE_FAMILIES)

#define SORT(name)                                                                                                    \
    PLM_API int cusparse##name##_bufferSizeExt(void *handle, int m, int n, int nnz, const int *rows, const int *cols, \
                                               size_t *out)                                                           \
    {                                                                                                                 \
        return put_size(out, sort_bytes(nnz));                                                                        \
    }
SORT(Xcoosort)
SORT(Xcsrsort)
SORT(Xcscsort)

PLM_API int cusparseCsr2cscEx2_bufferSize(void *handle, int m, int n, int nnz, const void *values, const int *rows,
                                          const int *cols, void *csc_values, int *csc_cols, int *csc_rows,
                                          int value_type, int action, int base, int alg, size_t *out)
{
    return put_size(out, plm_shim_size_add(sort_bytes(nnz), scan_bytes(n)));
}

/* No pivot was seen to be zero: position -1, on the host or on the device. */
#define ZERO_PIVOT(name)                                                                                      \
    PLM_API int cusparse##name##_zeroPivot(const struct plm_sparse_handle *handle, void *info, int *position) \
    {                                                                                                         \
        if (!handle)                                                                                          \
            return SPARSE_NOT_INITIALIZED;                                                                    \
        if (position && handle->pointer_mode == SPARSE_POINTER_HOST)                                          \
            *position = -1;                                                                                   \
        return SPARSE_OK;                                                                                     \
    }
ZERO_PIVOT(Xbsrsv2)
ZERO_PIVOT(Xbsrsm2)
ZERO_PIVOT(Xbsric02)
ZERO_PIVOT(Xbsrilu02)
ZERO_PIVOT(Xcsric02)
ZERO_PIVOT(Xcsrilu02)
