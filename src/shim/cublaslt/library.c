/* What cuBLASLt says of itself, and the settings of the library as a whole. */
#include "device/device.h"
#include "shim/cublas/releases.h"
#include "shim/cublas/status.h"
#include "device/shim.h"

static size_t cache_capacity = 8192; /* documented default */
static unsigned instruction_mask;

PLM_API size_t cublasLtGetVersion(void)
{
    const int *part = plm_releases()->cublas.part;
    return (size_t)part[0] * 10000 + (size_t)part[1] * 100 + (size_t)part[2];
}

PLM_API size_t cublasLtGetCudartVersion(void)
{
    return (size_t)plm_software()->cuda;
}

PLM_API int cublasLtGetProperty(int type, int *value)
{
    return plm_library_version_property(&plm_releases()->cublas, type, value, PLM_CUBLAS_INVALID_VALUE);
}

PLM_API const char *cublasLtGetStatusName(int status)
{
    return plm_cublas_status_name(status);
}

PLM_API const char *cublasLtGetStatusString(int status)
{
    return plm_cublas_status_text(status);
}

PLM_API int cublasLtHeuristicsCacheGetCapacity(size_t *capacity)
{
    if (!capacity)
        return PLM_CUBLAS_INVALID_VALUE;
    *capacity = __atomic_load_n(&cache_capacity, __ATOMIC_RELAXED);
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasLtHeuristicsCacheSetCapacity(size_t capacity)
{
    __atomic_store_n(&cache_capacity, capacity, __ATOMIC_RELAXED);
    return PLM_CUBLAS_SUCCESS;
}

/* Returns the mask that was in force. */
PLM_API unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask)
{
    return __atomic_exchange_n(&instruction_mask, mask, __ATOMIC_RELAXED);
}
