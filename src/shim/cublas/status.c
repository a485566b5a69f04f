/* The names of the status codes of cuBLAS and cuBLASLt. */
#include "shim/cublas/status.h"

#include <stddef.h>

static const struct {
    int status;
    const char *name, *text;
} table[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "no library context exists yet"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the library ran out of memory"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an argument has a value that is not valid"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "this device cannot do it"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "device memory could not be reached"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the kernel did not run to its end"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "something failed inside the library"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "not supported here"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR", "no license"},
};

const char *plm_cublas_status_name(int status)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].status == status)
            return table[i].name;
    return "unknown cuBLAS status";
}

const char *plm_cublas_status_text(int status)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].status == status)
            return table[i].text;
    return "unknown cuBLAS status";
}
