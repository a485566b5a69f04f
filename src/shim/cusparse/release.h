/*
 * Which release of a library belongs to which CUDA toolkit. The shims answer version queries with the
 * release that the running PyTorch was built against. No state, any thread.
 */
#ifndef PLM_SHIM_RELEASE_H
#define PLM_SHIM_RELEASE_H

#include <stddef.h>

#include "device/device.h"

struct plm_release {
    int cuda; /* first toolkit that ships it, 12040 = 12.4 */
    int part[3];
};

/* Rows in rising order of toolkit; the last that is not newer than the running stack. A shared object of
   one CUDA generation stays in it (0: of any), since without PyTorch the stack is only assumed. */
static inline const struct plm_release *plm_release_find(const struct plm_release *rows, size_t count, int generation)
{
    int cuda = plm_software()->cuda;
    size_t found = 0;
    if (generation && cuda < generation * 1000)
        cuda = generation * 1000;
    if (generation && cuda > generation * 1000 + 999)
        cuda = generation * 1000 + 999;
    for (size_t i = 0; i < count; i++)
        if (rows[i].cuda <= cuda)
            found = i;
    return &rows[found];
}

/* The encoding that cuSOLVER, cuSPARSE and cuSPARSELt document. */
static inline int plm_release_number(const struct plm_release *release)
{
    return release->part[0] * 1000 + release->part[1] * 100 + release->part[2];
}

#endif
