/*
 * cublasSetVector, cublasGetVector, cublasSetMatrix, cublasGetMatrix: copies between host and device,
 * with strides. All of them are the same strided copy; the asynchronous ones are enqueued on a stream.
 */
#include "device/device.h"
#include "device/stream.h"
#include "shim/cublas/status.h"
#include "device/shim.h"

/* `count` pieces of `width` bytes, a pitch apart on each side. */
static int vector_copy(int64_t count, int64_t width, const void *from, int64_t from_pitch, void *to, int64_t to_pitch)
{
    if (!count || !width)
        return PLM_CUBLAS_SUCCESS;
    if (from_pitch == width && to_pitch == width)
        plm_copy(to, from, (size_t)width * (size_t)count);
    else
        plm_copy_2d(to, (size_t)to_pitch, from, (size_t)from_pitch, (size_t)width, (size_t)count);
    return PLM_CUBLAS_SUCCESS;
}

static int vector(int64_t n, int64_t size, const void *from, int64_t from_step, void *to, int64_t to_step)
{
    int64_t from_pitch, to_pitch;
    if (n < 0 || size <= 0 || from_step <= 0 || to_step <= 0 || __builtin_mul_overflow(from_step, size, &from_pitch) ||
        __builtin_mul_overflow(to_step, size, &to_pitch))
        return PLM_CUBLAS_INVALID_VALUE;
    return vector_copy(n, size, from, from_pitch, to, to_pitch);
}

/* Matrices are stored by columns: a column is one piece. */
static int matrix(int64_t rows, int64_t columns, int64_t size, const void *from, int64_t from_lead, void *to,
                  int64_t to_lead)
{
    int64_t width, from_pitch, to_pitch;
    if (rows < 0 || columns < 0 || size <= 0 || from_lead < rows || to_lead < rows || from_lead <= 0 || to_lead <= 0 ||
        __builtin_mul_overflow(rows, size, &width) || __builtin_mul_overflow(from_lead, size, &from_pitch) ||
        __builtin_mul_overflow(to_lead, size, &to_pitch))
        return PLM_CUBLAS_INVALID_VALUE;
    return vector_copy(columns, width, from, from_pitch, to, to_pitch);
}

static int enqueue(void *stream)
{
    return plm_stream_work(stream) ? PLM_CUBLAS_MAPPING_ERROR : PLM_CUBLAS_SUCCESS;
}

/* `integer` is int, or int64_t in the variants for large sizes. */
#define VECTOR(name, integer)                                                                     \
    PLM_API int name(integer n, integer size, const void *x, integer incx, void *y, integer incy) \
    {                                                                                             \
        return vector(n, size, x, incx, y, incy);                                                 \
    }
#define VECTOR_ASYNC(name, integer)                                                                             \
    PLM_API int name(integer n, integer size, const void *x, integer incx, void *y, integer incy, void *stream) \
    {                                                                                                           \
        int status = vector(n, size, x, incx, y, incy);                                                         \
        return status ? status : enqueue(stream);                                                               \
    }
#define MATRIX(name, integer)                                                                                       \
    PLM_API int name(integer rows, integer columns, integer size, const void *a, integer lda, void *b, integer ldb) \
    {                                                                                                               \
        return matrix(rows, columns, size, a, lda, b, ldb);                                                         \
    }
#define MATRIX_ASYNC(name, integer)                                                                                 \
    PLM_API int name(integer rows, integer columns, integer size, const void *a, integer lda, void *b, integer ldb, \
                     void *stream)                                                                                  \
    {                                                                                                               \
        int status = matrix(rows, columns, size, a, lda, b, ldb);                                                   \
        return status ? status : enqueue(stream);                                                                   \
    }

VECTOR(cublasSetVector, int)
VECTOR(cublasSetVector_64, int64_t)
VECTOR(cublasGetVector, int)
VECTOR(cublasGetVector_64, int64_t)
VECTOR_ASYNC(cublasSetVectorAsync, int)
VECTOR_ASYNC(cublasSetVectorAsync_64, int64_t)
VECTOR_ASYNC(cublasGetVectorAsync, int)
VECTOR_ASYNC(cublasGetVectorAsync_64, int64_t)
MATRIX(cublasSetMatrix, int)
MATRIX(cublasSetMatrix_64, int64_t)
MATRIX(cublasGetMatrix, int)
MATRIX(cublasGetMatrix_64, int64_t)
MATRIX_ASYNC(cublasSetMatrixAsync, int)
MATRIX_ASYNC(cublasSetMatrixAsync_64, int64_t)
MATRIX_ASYNC(cublasGetMatrixAsync, int)
MATRIX_ASYNC(cublasGetMatrixAsync_64, int64_t)
