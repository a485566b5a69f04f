/* What cuRAND says of itself. */
#include "shim/cublas/releases.h"
#include "device/shim.h"

enum { OUT_OF_RANGE = 104 }; /* CURAND_STATUS_OUT_OF_RANGE */

PLM_API int curandGetVersion(int *version)
{
    const int *part = plm_releases()->curand.part;
    if (!version)
        return OUT_OF_RANGE;
    *version = part[0] * 1000 + part[1] * 100 + part[2];
    return 0;
}

PLM_API int curandGetProperty(int type, int *value)
{
    return plm_library_version_property(&plm_releases()->curand, type, value, OUT_OF_RANGE);
}
