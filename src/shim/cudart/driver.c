#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "shim/cudart/runtime.h"

/* By path, so that it is found without the loader's help too. Not by pthread_once: a thread that waited for it in the
   constructor of a library would hold the loader's lock, which whoever runs it waits for. To open it twice is harmless. */
static void *open_driver(void)
{
    static _Atomic(void *) library;
    void *found = atomic_load(&library);
    char path[4096];
    Dl_info self;
    char *slash;
    if (found || !dladdr((void *)open_driver, &self) || !self.dli_fname)
        return found;
    snprintf(path, sizeof path - 16, "%s", self.dli_fname);
    slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    strcpy(slash + 1, "libcuda.so.1");
    found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    atomic_store(&library, found);
    return found;
}

/* Stands in for a driver function that is not there: an installation without libcuda.so.1. */
static int absent(void)
{
    return PLM_RT_NOT_SUPPORTED;
}

void *plm_rt_driver(const char *name)
{
    void *library = open_driver(), *function = library ? dlsym(library, name) : NULL;
    return function ? function : (void *)absent;
}

/* 0 found, 1 not found, as documented for cudaDriverEntryPointQueryResult. */
static int entry_point(const char *symbol, void **function, int version, unsigned long long flags, int *result)
{
    int (*get)(const char *, void **, int, unsigned long long, int *);
    int status, found = 1;

    if (!symbol || !function)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *function = NULL;
    *(void **)&get = plm_rt_driver("cuGetProcAddress_v2");
    status = get(symbol, function, version, flags, &found);
    if (result)
        *result = *function ? 0 : found ? found : 1;
    /* A missing symbol is told by the result; only without one is it an error. */
    return status && !result ? plm_rt(PLM_RT_SYMBOL_NOT_FOUND) : PLM_RT_OK;
}

PLM_API int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags, int *result)
{
    return entry_point(symbol, function, plm_software()->cuda, flags, result);
}

PLM_API int cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, unsigned long long flags, int *result)
{
    return entry_point(symbol, function, plm_software()->cuda, flags, result);
}

PLM_API int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags, int *result)
{
    return entry_point(symbol, function, (int)version, flags, result);
}

PLM_API int cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **function, unsigned version,
                                                  unsigned long long flags, int *result)
{
    return entry_point(symbol, function, (int)version, flags, result);
}

PLM_API int cudaDriverGetVersion(int *version)
{
    int (*get)(int *);
    if (!version)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *version = 0;
    *(void **)&get = plm_rt_driver("cuDriverGetVersion");
    return plm_rt(get(version));
}

/* The runtime of the CUDA release that PyTorch was built with. */
PLM_API int cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *version = plm_software()->cuda / 1000 == PLM_CUDA ? plm_software()->cuda : PLM_CUDA * 1000;
    return PLM_RT_OK;
}
