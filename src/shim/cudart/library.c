#include "shim/cudart/runtime.h"

/* Libraries loaded at run time: the driver's, whose handles are interchangeable with these. */

#define DRIVER(name, types, arguments) plm_rt(((int(*) types)plm_rt_driver(name))arguments)

PLM_API int cudaLibraryLoadData(void **library, const void *code, void *o, void *ov, unsigned on, void *l, void *lv,
                                unsigned ln)
{
    return DRIVER("cuLibraryLoadData", (void **, const void *, void *, void *, unsigned, void *, void *, unsigned),
                  (library, code, o, ov, on, l, lv, ln));
}

PLM_API int cudaLibraryLoadFromFile(void **library, const char *file, void *o, void *ov, unsigned on, void *l, void *lv,
                                    unsigned ln)
{
    return DRIVER("cuLibraryLoadFromFile", (void **, const char *, void *, void *, unsigned, void *, void *, unsigned),
                  (library, file, o, ov, on, l, lv, ln));
}

PLM_API int cudaLibraryUnload(void *library)
{
    return DRIVER("cuLibraryUnload", (void *), (library));
}

PLM_API int cudaLibraryGetKernel(struct plm_kernel **kernel, void *library, const char *name)
{
    return DRIVER("cuLibraryGetKernel", (struct plm_kernel **, void *, const char *), (kernel, library, name));
}

PLM_API int cudaLibraryGetGlobal(void **pointer, size_t *size, void *library, const char *name)
{
    return DRIVER("cuLibraryGetGlobal", (void **, size_t *, void *, const char *), (pointer, size, library, name));
}

PLM_API int cudaLibraryGetManaged(void **pointer, size_t *size, void *library, const char *name)
{
    return DRIVER("cuLibraryGetManaged", (void **, size_t *, void *, const char *), (pointer, size, library, name));
}

PLM_API int cudaLibraryGetUnifiedFunction(void **function, void *library, const char *name)
{
    return DRIVER("cuLibraryGetUnifiedFunction", (void **, void *, const char *), (function, library, name));
}

PLM_API int cudaLibraryGetKernelCount(unsigned *count, void *library)
{
    return DRIVER("cuLibraryGetKernelCount", (unsigned *, void *), (count, library));
}

PLM_API int cudaLibraryEnumerateKernels(struct plm_kernel **kernels, unsigned count, void *library)
{
    return DRIVER("cuLibraryEnumerateKernels", (struct plm_kernel **, unsigned, void *), (kernels, count, library));
}
