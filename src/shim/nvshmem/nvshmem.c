/*
 * NVSHMEM's host side, never initialised: what a program may ask of a library in that state is
 * answered, everything else is refused. The functions here are those whose result is not a status.
 */
#include "device/shim.h"

#include <string.h>

/* Read, not called, by the device half that is linked into PyTorch. 0: no transport was chosen. */
PLM_API int nvshmem_selected_device_transport = 0;

static void *refuse(const char *name)
{
    const struct plm_symbol symbol = {"nvshmem", name};
    plm_call_refused(&symbol);
    return NULL;
}

PLM_API void *nvshmem_malloc(void)
{
    return refuse("nvshmem_malloc");
}

PLM_API void *nvshmem_calloc(void)
{
    return refuse("nvshmem_calloc");
}

PLM_API void *nvshmem_align(void)
{
    return refuse("nvshmem_align");
}

PLM_API void *nvshmem_ptr(void)
{
    return refuse("nvshmem_ptr");
}

PLM_API void *nvshmemx_mc_ptr(void)
{
    return refuse("nvshmemx_mc_ptr");
}

PLM_API void *nvshmemx_buffer_register_symmetric(void)
{
    return refuse("nvshmemx_buffer_register_symmetric");
}

PLM_API int nvshmem_my_pe(void)
{
    return -1;
}

PLM_API int nvshmem_n_pes(void)
{
    return 0;
}

PLM_API int nvshmem_team_my_pe(void)
{
    return -1;
}

PLM_API int nvshmem_team_n_pes(void)
{
    return -1;
}

PLM_API int nvshmem_team_translate_pe(void)
{
    return -1;
}

PLM_API void nvshmem_info_get_name(char *name)
{
    if (name)
        strcpy(name, "NVSHMEM"); /* the caller's buffer holds at least 256 */
}
