#include "shim/cuda/driver.h"
#include "shim/cuda/module.h"

/*
 * Attributes of kernels. What the compiler decided (registers, static shared memory, stack) stands in
 * packed code that is not read; the values here are those of an ordinary small kernel.
 */

enum function_attribute {
    MAX_THREADS = 0,
    STATIC_SHARED = 1,
    CONSTANT_BYTES = 2,
    LOCAL_BYTES = 3,
    REGISTERS = 4,
    PTX_VERSION = 5,
    BINARY_VERSION = 6,
    CACHE_MODE = 7,
    DYNAMIC_SHARED = 8,
    CARVEOUT = 9,
    CLUSTER_MUST_BE_SET = 10,
    CLUSTER_POLICY = 15,
    ATTRIBUTES,
};

enum { TYPICAL_REGISTERS = 32 };

int plm_cu_function_get(const struct plm_kernel *kernel, int attribute, int device, int *value)
{
    const struct plm_card *card;
    int other;

    if (!value || attribute < 0 || attribute >= ATTRIBUTES)
        return PLM_CU_INVALID_VALUE;
    if (!kernel)
        return PLM_CU_INVALID_HANDLE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    card = plm_device_card(device);
    switch ((enum function_attribute)attribute) {
    case MAX_THREADS: *value = card->max_threads_per_block; break;
    case REGISTERS: *value = TYPICAL_REGISTERS; break;
    case PTX_VERSION: plm_module_version(kernel->module, card, value, &other); break;
    case BINARY_VERSION: plm_module_version(kernel->module, card, &other, value); break;
    case DYNAMIC_SHARED:
        *value = kernel->max_dynamic_shared ? kernel->max_dynamic_shared : card->shared_per_block;
        break;
    case CARVEOUT: *value = kernel->preferred_carveout; break;
    default: *value = 0;
    }
    return 0;
}

int plm_cu_function_set(struct plm_kernel *kernel, int attribute, int device, int value)
{
    if (!kernel)
        return PLM_CU_INVALID_HANDLE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    if (attribute == DYNAMIC_SHARED) {
        if (value < 0 || value > plm_device_card(device)->shared_per_block_optin)
            return PLM_CU_INVALID_VALUE;
        kernel->max_dynamic_shared = value;
        return 0;
    }
    if (attribute == CARVEOUT) {
        if (value < -1 || value > 100)
            return PLM_CU_INVALID_VALUE;
        kernel->preferred_carveout = value;
        return 0;
    }
    /* The attributes of clusters can be set too; nothing here depends on them. The others are facts. */
    return attribute > CLUSTER_MUST_BE_SET && attribute <= CLUSTER_POLICY ? 0 : PLM_CU_INVALID_VALUE;
}

PLM_API int cuFuncGetAttribute(int *value, int attribute, const struct plm_kernel *kernel)
{
    int device, status = plm_cu_device(&device);
    return status ? status : plm_cu_function_get(kernel, attribute, device, value);
}

PLM_API int cuFuncSetAttribute(struct plm_kernel *kernel, int attribute, int value)
{
    int device, status = plm_cu_device(&device);
    return status ? status : plm_cu_function_set(kernel, attribute, device, value);
}

PLM_API int cuFuncGetModule(struct plm_module **out, const struct plm_kernel *kernel)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!kernel)
        return PLM_CU_INVALID_HANDLE;
    *out = kernel->module;
    return 0;
}

PLM_API int cuFuncGetName(const char **out, const struct plm_kernel *kernel)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!kernel)
        return PLM_CU_INVALID_HANDLE;
    *out = kernel->name;
    return 0;
}
