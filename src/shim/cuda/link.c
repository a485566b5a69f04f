#include <stdlib.h>
#include <string.h>

#include "shim/cuda/driver.h"
#include "shim/cuda/module.h"

/*
 * The linker of device code. Nothing is linked: the first input is handed back as the result, which
 * is enough to load it as a module and to find its kernels by name.
 */

struct link {
    char *image; /* with a NUL behind it */
    size_t size;
};

PLM_API int cuLinkCreate_v2(unsigned count, const int *options, void **values, struct link **out)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    plm_cu_empty_messages(count, options, values);
    *out = calloc(1, sizeof **out);
    return *out ? 0 : PLM_CU_OUT_OF_MEMORY;
}
PLM_API int cuLinkCreate(unsigned count, const int *options, void **values, struct link **out)
    __attribute__((alias("cuLinkCreate_v2")));

PLM_API int cuLinkAddData_v2(struct link *link, int type, const void *data, size_t size)
{
    (void)type;
    if (!link)
        return PLM_CU_INVALID_HANDLE;
    if (!data || !size)
        return PLM_CU_INVALID_VALUE;
    if (link->image)
        return 0;
    link->image = malloc(size + 1);
    if (!link->image)
        return PLM_CU_OUT_OF_MEMORY;
    memcpy(link->image, data, size);
    link->image[size] = '\0';
    link->size = size;
    return 0;
}
PLM_API int cuLinkAddData(struct link *link, int type, const void *data, size_t size)
    __attribute__((alias("cuLinkAddData_v2")));

PLM_API int cuLinkAddFile_v2(struct link *link, int type, const char *path)
{
    size_t size = 0;
    char *data = path ? plm_cu_read_file(path, &size) : NULL;
    int status;

    if (!data)
        return path ? PLM_CU_FILE_NOT_FOUND : PLM_CU_INVALID_VALUE;
    status = cuLinkAddData_v2(link, type, data, size);
    free(data);
    return status;
}
PLM_API int cuLinkAddFile(struct link *link, int type, const char *path) __attribute__((alias("cuLinkAddFile_v2")));

PLM_API int cuLinkComplete(struct link *link, void **image, size_t *size)
{
    if (!link)
        return PLM_CU_INVALID_HANDLE;
    if (!image)
        return PLM_CU_INVALID_VALUE;
    if (!link->image)
        return PLM_CU_INVALID_IMAGE;
    *image = link->image;
    if (size)
        *size = link->size;
    return 0;
}

PLM_API int cuLinkDestroy(struct link *link)
{
    if (!link)
        return PLM_CU_INVALID_HANDLE;
    free(link->image);
    free(link);
    return 0;
}
