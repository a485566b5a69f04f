#include <string.h>

#include "device/ipc.h"
#include "shim/cuda/driver.h"

/* What is known of an address. */

enum pointer_attribute {
    CONTEXT = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    P2P_TOKENS = 5,
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    LEGACY_IPC = 10,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MAPPED = 13,
    HANDLE_TYPES = 14,
    RDMA_CAPABLE = 15,
    ACCESS_FLAGS = 16,
    POOL_HANDLE = 17,
    MAPPING_SIZE = 18,
    MAPPING_BASE = 19,
    BLOCK_ID = 20,
    DECOMPRESS_CAPABLE = 21,
    ATTRIBUTES,
};

enum { TYPE_HOST = 1, TYPE_DEVICE = 2, ACCESS_READ_WRITE = 3 };

/* Bytes of each value; booleans are read into an int by applications. 0 = not answered. */
static const unsigned char sizes[ATTRIBUTES] = {
    [CONTEXT] = 8,     [MEMORY_TYPE] = 4,  [DEVICE_POINTER] = 8, [HOST_POINTER] = 8, [SYNC_MEMOPS] = 4,
    [BUFFER_ID] = 8,   [IS_MANAGED] = 4,   [DEVICE_ORDINAL] = 4, [LEGACY_IPC] = 4,   [RANGE_START] = 8,
    [RANGE_SIZE] = 8,  [MAPPED] = 4,       [HANDLE_TYPES] = 8,   [RDMA_CAPABLE] = 4, [ACCESS_FLAGS] = 4,
    [POOL_HANDLE] = 8, [MAPPING_SIZE] = 8, [MAPPING_BASE] = 8,   [BLOCK_ID] = 8,     [DECOMPRESS_CAPABLE] = 4,
};

static bool known(int attribute)
{
    return attribute > 0 && attribute < ATTRIBUTES && sizes[attribute];
}

static uint64_t value_of(int attribute, const struct plm_mem_info *info, uint64_t address)
{
    bool host = info->kind == PLM_MEM_HOST, managed = info->kind == PLM_MEM_MANAGED;
    int device = info->device >= 0 ? info->device : plm_device_current();

    switch ((enum pointer_attribute)attribute) {
    case CONTEXT: return (uint64_t)(uintptr_t)plm_cu_primary(device);
    case MEMORY_TYPE: return host ? TYPE_HOST : TYPE_DEVICE;
    case DEVICE_POINTER: return address;
    case HOST_POINTER: return host || managed ? address : 0;
    case BUFFER_ID:
    case BLOCK_ID: return info->id;
    case IS_MANAGED: return managed;
    case DEVICE_ORDINAL: return (uint64_t)device;
    case RANGE_START:
    case MAPPING_BASE: return info->base;
    case RANGE_SIZE:
    case MAPPING_SIZE: return info->size;
    case MAPPED: return 1;
    case ACCESS_FLAGS: return ACCESS_READ_WRITE;
    case LEGACY_IPC: return info->kind == PLM_MEM_DEVICE && plm_ipc_exportable(address);
    default: return 0;
    }
}

/* Attributes that only some addresses have: without one the single query is an error. */
static bool applies(int attribute, const struct plm_mem_info *info)
{
    if (info->kind == PLM_MEM_NONE)
        return false;
    return attribute != HOST_POINTER || info->kind != PLM_MEM_DEVICE;
}

PLM_API int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    struct plm_mem_info info = plm_mem_query((const void *)address);
    uint64_t answer;
    if (!value || !known(attribute) || !applies(attribute, &info))
        return PLM_CU_INVALID_VALUE;
    answer = value_of(attribute, &info, address);
    memcpy(value, &answer, sizes[attribute]); /* little-endian: the low bytes come first */
    return 0;
}

/* Many at once, and no error for an unknown address: every value is then 0, the ordinal -2. */
PLM_API int cuPointerGetAttributes(unsigned count, const int *attributes, void **values, uint64_t address)
{
    struct plm_mem_info info = plm_mem_query((const void *)address);
    if (!attributes || !values)
        return PLM_CU_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (!values[i] || !known(attributes[i]))
            return PLM_CU_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        uint64_t answer = attributes[i] == DEVICE_ORDINAL ? (uint64_t)-2 : 0;
        if (applies(attributes[i], &info))
            answer = value_of(attributes[i], &info, address);
        memcpy(values[i], &answer, sizes[attributes[i]]);
    }
    return 0;
}

/* Every memory operation is over when its call returns, so that is what is asked for already. */
PLM_API int cuPointerSetAttribute(const void *value, int attribute, uint64_t address)
{
    if (!value || attribute != SYNC_MEMOPS || plm_mem_query((const void *)address).kind == PLM_MEM_NONE)
        return PLM_CU_INVALID_VALUE;
    return 0;
}

/* ---- ranges of managed memory ---- */

enum range_attribute { READ_MOSTLY = 1, PREFERRED = 2, ACCESSED_BY = 3, LAST_PREFETCH = 4, RANGE_ATTRIBUTES = 9 };
enum { NO_DEVICE = -2 };

static int range_answer(int *value, size_t size, int attribute)
{
    int answer = attribute == PREFERRED || attribute == ACCESSED_BY || attribute == LAST_PREFETCH ? NO_DEVICE : 0;
    if (!value || attribute < READ_MOSTLY || attribute >= RANGE_ATTRIBUTES || !size || size % sizeof *value)
        return PLM_CU_INVALID_VALUE;
    for (size_t i = 0; i < size / sizeof *value; i++)
        value[i] = answer;
    return 0;
}

PLM_API int cuMemRangeGetAttribute(int *value, size_t size, int attribute, uint64_t address, size_t bytes)
{
    if (!bytes || plm_mem_query((const void *)address).kind != PLM_MEM_MANAGED)
        return PLM_CU_INVALID_VALUE;
    return range_answer(value, size, attribute);
}

PLM_API int cuMemRangeGetAttributes(int **values, const size_t *sizes_of, const int *attributes, size_t count,
                                    uint64_t address, size_t bytes)
{
    int status = 0;
    if (!values || !sizes_of || !attributes || !bytes || plm_mem_query((const void *)address).kind != PLM_MEM_MANAGED)
        return PLM_CU_INVALID_VALUE;
    for (size_t i = 0; i < count && status == 0; i++)
        status = range_answer(values[i], sizes_of[i], attributes[i]);
    return status;
}
