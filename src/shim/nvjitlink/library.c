/* What nvJitLink says of itself. It links nothing: code that would need it is never run. */
#include "device/device.h"
#include "device/shim.h"

enum { NULL_INPUT = 10 }; /* NVJITLINK_ERROR_NULL_INPUT */

PLM_API int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    int cuda = plm_software()->cuda; /* the linker has the number of its toolkit */
    if (!major || !minor)
        return NULL_INPUT;
    if (cuda / 1000 != PLM_CUDA) /* not known: only this library's own generation is certain */
        cuda = PLM_CUDA * 1000;
    *major = (unsigned)(cuda / 1000);
    *minor = (unsigned)(cuda % 1000 / 10);
    return 0;
}
