#include "shim/cuda/driver.h"
#include "shim/cuda/module.h"

/*
 * Libraries are modules that belong to no context; kernels are their functions. Here they are the
 * same. Whether there is code for the card shows at the launch, since code is loaded lazily.
 */

PLM_API int cuLibraryLoadData(struct plm_module **out, const void *image, const int *options, void **values,
                              unsigned count)
{
    plm_cu_empty_messages(count, options, values);
    return plm_cu_module_open(image, NULL, out);
}

PLM_API int cuLibraryLoadFromFile(struct plm_module **out, const char *path, const int *options, void **values,
                                  unsigned count)
{
    plm_cu_empty_messages(count, options, values);
    return plm_cu_module_open_file(path, NULL, out);
}

PLM_API int cuLibraryUnload(struct plm_module *library)
{
    return plm_cu_module_close(library);
}

PLM_API int cuLibraryGetKernel(struct plm_kernel **out, struct plm_module *library, const char *name)
{
    if (!out || !name)
        return PLM_CU_INVALID_VALUE;
    if (!library)
        return PLM_CU_INVALID_HANDLE;
    return plm_cu_from_module(plm_module_kernel(library, name, out));
}

PLM_API int cuLibraryGetKernelCount(unsigned *count, struct plm_module *library)
{
    return plm_cu_module_count(library, count, "cuLibraryGetKernelCount");
}

PLM_API int cuLibraryEnumerateKernels(struct plm_kernel **out, unsigned count, struct plm_module *library)
{
    return plm_cu_module_list(library, out, count, "cuLibraryEnumerateKernels");
}

PLM_API int cuLibraryGetModule(struct plm_module **out, struct plm_module *library)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    *out = library;
    return library ? 0 : PLM_CU_INVALID_HANDLE;
}

PLM_API int cuLibraryGetGlobal(uint64_t *address, size_t *size, struct plm_module *library, const char *name)
{
    return plm_cu_module_variable(library, name, false, address, size);
}

PLM_API int cuLibraryGetManaged(uint64_t *address, size_t *size, struct plm_module *library, const char *name)
{
    return plm_cu_module_variable(library, name, true, address, size);
}

PLM_API int cuKernelGetFunction(struct plm_kernel **out, struct plm_kernel *kernel)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    *out = kernel;
    return kernel ? 0 : PLM_CU_INVALID_HANDLE;
}

PLM_API int cuKernelGetLibrary(struct plm_module **out, const struct plm_kernel *kernel)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!kernel)
        return PLM_CU_INVALID_HANDLE;
    *out = kernel->module;
    return 0;
}

PLM_API int cuKernelGetName(const char **out, const struct plm_kernel *kernel)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!kernel)
        return PLM_CU_INVALID_HANDLE;
    *out = kernel->name;
    return 0;
}

PLM_API int cuKernelGetAttribute(int *value, int attribute, const struct plm_kernel *kernel, int device)
{
    return plm_cu_function_get(kernel, attribute, device, value);
}

PLM_API int cuKernelSetAttribute(int attribute, int value, struct plm_kernel *kernel, int device)
{
    return plm_cu_function_set(kernel, attribute, device, value);
}
