/* Which release of the mathematical libraries belongs to which CUDA toolkit. */
#include "shim/cublas/releases.h"

#include <stddef.h>

#include "device/device.h"

/* From the packages that PyTorch's wheels require; ascending. */
static const struct plm_releases table[] = {
    {12010, {{12, 1, 3}}, {{11, 0, 2}}, {{10, 3, 2}}},  {12040, {{12, 4, 5}}, {{11, 2, 1}}, {{10, 3, 5}}},
    {12060, {{12, 6, 4}}, {{11, 3, 0}}, {{10, 3, 7}}},  {12080, {{12, 8, 4}}, {{11, 3, 3}}, {{10, 3, 9}}},
    {12090, {{12, 9, 1}}, {{11, 4, 1}}, {{10, 3, 10}}}, {13000, {{13, 1, 0}}, {{12, 0, 0}}, {{10, 4, 0}}},
    {13020, {{13, 4, 0}}, {{12, 2, 0}}, {{10, 4, 2}}},
};

const struct plm_releases *plm_releases(void)
{
    const struct plm_releases *best = &table[0];
    int cuda = plm_software()->cuda;
    if (PLM_CUDA && cuda / 1000 != PLM_CUDA) /* not known: the newest of this library's own generation */
        cuda = PLM_CUDA * 1000 + 999;
    for (size_t i = 0; i < sizeof table / sizeof table[0] && table[i].cuda <= cuda; i++)
        best = &table[i];
    return best;
}

int plm_library_version_property(const struct plm_library_version *release, int type, int *value, int invalid)
{
    if (!value || type < 0 || type > 2)
        return invalid;
    *value = release->part[type];
    return 0;
}
