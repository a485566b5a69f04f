/*
 * Scalars that cuBLAS reads or writes on the host or on the device. Which of the two is told by the
 * address, not by the handle's pointer mode: it cannot be out of step. Any thread.
 */
#ifndef PLM_CUBLAS_SCALAR_H
#define PLM_CUBLAS_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

/* Nothing the host could read there: NULL or device memory. */
bool plm_cublas_on_device(const void *scalar);

/* Writes a result unless it belongs on the device, where no kernel ran. */
void plm_cublas_write(void *result, const void *value, size_t bytes);

/* Bytes of one element of a cudaDataType; 0 for one that has no whole bytes or is not known. */
size_t plm_cublas_type_size(int type);

#endif
