/* What the compiler says about itself: version, architectures, error texts. */
#include "shim/nvrtc/nvrtc.h"

#include <string.h>

#include "device/device.h"
#include "device/shim.h"

/* Compute capabilities that the compiler of this generation has code for, ascending. */
static const int architectures[] = {
#if PLM_CUDA >= 13
    75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121,
#else
    50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 120,
#endif
};

#define ARCHITECTURES ((int)(sizeof architectures / sizeof architectures[0]))

/* Blackwell came with 12.8. */
static int architecture_count(void)
{
    int n = ARCHITECTURES;
    if (plm_software()->cuda < 12080)
        while (n > 0 && architectures[n - 1] >= 100)
            n--;
    return n;
}

PLM_API int nvrtcVersion(int *major, int *minor)
{
    int cuda = plm_software()->cuda;
    if (!major || !minor)
        return PLM_NVRTC_INVALID_INPUT;
    /* A process may load the library of the other generation than PyTorch's. */
    if (cuda / 1000 != PLM_CUDA)
        cuda = PLM_CUDA * 1000;
    *major = cuda / 1000;
    *minor = cuda % 1000 / 10;
    return PLM_NVRTC_OK;
}

PLM_API int nvrtcGetNumSupportedArchs(int *count)
{
    if (!count)
        return PLM_NVRTC_INVALID_INPUT;
    *count = architecture_count();
    return PLM_NVRTC_OK;
}

PLM_API int nvrtcGetSupportedArchs(int *out)
{
    if (!out)
        return PLM_NVRTC_INVALID_INPUT;
    memcpy(out, architectures, (size_t)architecture_count() * sizeof *out);
    return PLM_NVRTC_OK;
}

PLM_API const char *nvrtcGetErrorString(int status)
{
    static const char *const texts[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
        "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
        "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
        "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
        "NVRTC_ERROR_PCH_CREATE",
        "NVRTC_ERROR_CANCELLED",
    };
    if (status < 0 || status >= (int)(sizeof texts / sizeof texts[0]))
        return "NVRTC_ERROR unknown";
    return texts[status];
}
