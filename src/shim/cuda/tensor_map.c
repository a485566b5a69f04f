#include <string.h>

#include "shim/cuda/driver.h"

/*
 * Tensor maps: 128 opaque bytes that only kernels read, so they are cleared. The arguments are checked
 * as far as the documentation states their limits, since code probes layouts by asking.
 */

enum { MAP_BYTES = 128, MAP_ALIGN = 64, ADDRESS_ALIGN = 16, STRIDE_ALIGN = 16, RANK_MAX = 5, BOX_MAX = 256 };

static int map_check(const void *map, unsigned rank, uint64_t address, const uint64_t *dims, const uint64_t *strides)
{
    int device, status = plm_cu_device(&device);
    /* An encoding needs no device, but whether it is of use depends on one. */
    if (status == 0 && plm_device_card(device)->major < 9)
        return PLM_CU_NOT_SUPPORTED;
    if (!map || (uintptr_t)map % MAP_ALIGN || rank < 1 || rank > RANK_MAX || address % ADDRESS_ALIGN || !dims)
        return PLM_CU_INVALID_VALUE;
    for (unsigned i = 0; i < rank; i++)
        if (!dims[i] || dims[i] > 1ull << 32)
            return PLM_CU_INVALID_VALUE;
    for (unsigned i = 0; i + 1 < rank; i++)
        if (!strides || strides[i] % STRIDE_ALIGN || strides[i] >= 1ull << 40)
            return PLM_CU_INVALID_VALUE;
    return 0;
}

PLM_API int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,
                                   const uint64_t *strides, const uint32_t *box)
{
    int status = map_check(map, rank, address, dims, strides);
    (void)type;
    if (status)
        return status;
    for (unsigned i = 0; i < rank; i++)
        if (!box || !box[i] || box[i] > BOX_MAX)
            return PLM_CU_INVALID_VALUE;
    memset(map, 0, MAP_BYTES);
    return 0;
}

PLM_API int cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,
                                    const uint64_t *strides)
{
    int status = map_check(map, rank, address, dims, strides);
    (void)type;
    if (status == 0 && rank < 3)
        status = PLM_CU_INVALID_VALUE;
    if (status == 0)
        memset(map, 0, MAP_BYTES);
    return status;
}
PLM_API int cuTensorMapEncodeIm2colWide(void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,
                                        const uint64_t *strides) __attribute__((alias("cuTensorMapEncodeIm2col")));

/* The address is not kept in the map. */
PLM_API int cuTensorMapReplaceAddress(void *map, uint64_t address)
{
    return map && address % ADDRESS_ALIGN == 0 ? 0 : PLM_CU_INVALID_VALUE;
}
