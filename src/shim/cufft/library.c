/* What cuFFT says of itself. */
#include "shim/cublas/releases.h"
#include "shim/cufft/plan.h"
#include "device/shim.h"

PLM_API int cufftGetVersion(int *version)
{
    const int *part = plm_releases()->cufft.part;
    if (!version)
        return PLM_CUFFT_INVALID_VALUE;
    *version = part[0] * 1000 + part[1] * 100 + part[2];
    return PLM_CUFFT_SUCCESS;
}

PLM_API int cufftGetProperty(int type, int *value)
{
    return plm_library_version_property(&plm_releases()->cufft, type, value, PLM_CUFFT_INVALID_TYPE);
}
