/* Scalars on the host or on the device. */
#include "shim/cublas/scalar.h"

#include <stdint.h>

#include "device/device.h"

bool plm_cublas_on_device(const void *scalar)
{
    return !scalar || plm_mem_query(scalar).kind == PLM_MEM_DEVICE;
}

void plm_cublas_write(void *result, const void *value, size_t bytes)
{
    if (!plm_cublas_on_device(result))
        plm_copy(result, value, bytes); /* knows whether managed memory has bytes behind it */
}

size_t plm_cublas_type_size(int type)
{
    static const uint8_t bytes[] = {
        [0] = 4,  [4] = 8,   /* float, real and complex */
        [1] = 8,  [5] = 16,  /* double */
        [2] = 2,  [6] = 4,   /* half */
        [14] = 2, [15] = 4,  /* bfloat16 */
        [3] = 1,  [7] = 2,   [8] = 1,  [9] = 2,   /* 8-bit integers */
        [20] = 2, [21] = 4,  [22] = 2, [23] = 4,  /* 16 */
        [10] = 4, [11] = 8,  [12] = 4, [13] = 8,  /* 32 */
        [24] = 8, [25] = 16, [26] = 8, [27] = 16, /* 64 */
        [28] = 1, [29] = 1,  /* 8-bit floats */
    };
    return type >= 0 && (size_t)type < sizeof bytes ? bytes[type] : 0;
}
