/*
 * The descriptors of cuBLASLt: five kinds of attribute bags, each with the same five functions. They
 * differ in what is set at birth.
 */
#include "shim/cublas/status.h"
#include "shim/cublaslt/bag.h"
#include "device/shim.h"

static int set_int(struct plm_bag *bag, enum plm_bag_kind kind, int id, int32_t value)
{
    return plm_bag_set(bag, kind, id, &value, sizeof value);
}

static int set_long(struct plm_bag *bag, enum plm_bag_kind kind, int id, int64_t value)
{
    return plm_bag_set(bag, kind, id, &value, sizeof value);
}

static int fill_matmul(struct plm_bag *bag, int compute_type, int scale_type)
{
    int status = set_int(bag, PLM_BAG_MATMUL, PLM_MATMUL_COMPUTE_TYPE, compute_type);
    return status ? status : set_int(bag, PLM_BAG_MATMUL, PLM_MATMUL_SCALE_TYPE, scale_type);
}

static int fill_layout(struct plm_bag *bag, int type, uint64_t rows, uint64_t columns, int64_t lead)
{
    int status = set_int(bag, PLM_BAG_LAYOUT, PLM_LAYOUT_TYPE, type);
    if (!status)
        status = set_long(bag, PLM_BAG_LAYOUT, PLM_LAYOUT_ROWS, (int64_t)rows);
    if (!status)
        status = set_long(bag, PLM_BAG_LAYOUT, PLM_LAYOUT_COLUMNS, (int64_t)columns);
    return status ? status : set_long(bag, PLM_BAG_LAYOUT, PLM_LAYOUT_LEAD, lead);
}

/* ---- what all kinds share ---- */
#define COMMON(stem, kind)                                                                                       \
    PLM_API int stem##Destroy(struct plm_bag *bag)                                                               \
    {                                                                                                            \
        return plm_bag_destroy(bag, kind);                                                                       \
    }                                                                                                            \
    PLM_API int stem##SetAttribute(struct plm_bag *bag, int id, const void *value, size_t size)                  \
    {                                                                                                            \
        return plm_bag_set(bag, kind, id, value, size);                                                          \
    }                                                                                                            \
    PLM_API int stem##GetAttribute(const struct plm_bag *bag, int id, void *value, size_t size, size_t *written) \
    {                                                                                                            \
        return plm_bag_get(bag, kind, id, value, size, written);                                                 \
    }

COMMON(cublasLtMatmulDesc, PLM_BAG_MATMUL)
COMMON(cublasLtMatrixLayout, PLM_BAG_LAYOUT)
COMMON(cublasLtMatmulPreference, PLM_BAG_PREFERENCE)
COMMON(cublasLtMatrixTransformDesc, PLM_BAG_TRANSFORM)

/* ---- birth ---- */
PLM_API int cublasLtMatmulDescInit_internal(struct plm_bag *bag, size_t size, int compute_type, int scale_type)
{
    int status = plm_bag_init(bag, size, PLM_BAG_MATMUL);
    return status ? status : fill_matmul(bag, compute_type, scale_type);
}

PLM_API int cublasLtMatmulDescCreate(struct plm_bag **out, int compute_type, int scale_type)
{
    int status = plm_bag_create(out, PLM_BAG_MATMUL);
    return status ? status : fill_matmul(*out, compute_type, scale_type);
}

PLM_API int cublasLtMatrixLayoutInit_internal(struct plm_bag *bag, size_t size, int type, uint64_t rows,
                                              uint64_t columns, int64_t lead)
{
    int status = plm_bag_init(bag, size, PLM_BAG_LAYOUT);
    return status ? status : fill_layout(bag, type, rows, columns, lead);
}

PLM_API int cublasLtMatrixLayoutCreate(struct plm_bag **out, int type, uint64_t rows, uint64_t columns, int64_t lead)
{
    int status = plm_bag_create(out, PLM_BAG_LAYOUT);
    return status ? status : fill_layout(*out, type, rows, columns, lead);
}

PLM_API int cublasLtMatmulPreferenceInit_internal(struct plm_bag *bag, size_t size)
{
    return plm_bag_init(bag, size, PLM_BAG_PREFERENCE);
}

PLM_API int cublasLtMatmulPreferenceCreate(struct plm_bag **out)
{
    return plm_bag_create(out, PLM_BAG_PREFERENCE);
}

PLM_API int cublasLtMatrixTransformDescInit_internal(struct plm_bag *bag, size_t size, int scale_type)
{
    int status = plm_bag_init(bag, size, PLM_BAG_TRANSFORM);
    return status ? status : set_int(bag, PLM_BAG_TRANSFORM, PLM_TRANSFORM_SCALE_TYPE, scale_type);
}

PLM_API int cublasLtMatrixTransformDescCreate(struct plm_bag **out, int scale_type)
{
    int status = plm_bag_create(out, PLM_BAG_TRANSFORM);
    return status ? status : set_int(*out, PLM_BAG_TRANSFORM, PLM_TRANSFORM_SCALE_TYPE, scale_type);
}

#if PLM_CUDA >= 13
COMMON(cublasLtEmulationDesc, PLM_BAG_EMULATION)

PLM_API int cublasLtEmulationDescInit_internal(struct plm_bag *bag, size_t size)
{
    return plm_bag_init(bag, size, PLM_BAG_EMULATION);
}

PLM_API int cublasLtEmulationDescCreate(struct plm_bag **out)
{
    return plm_bag_create(out, PLM_BAG_EMULATION);
}

/* The sizes of the groups are arrays on the device, which cannot be read: only their number is kept. */
static int fill_grouped(struct plm_bag *bag, int type, int groups)
{
    int status = set_int(bag, PLM_BAG_LAYOUT, PLM_LAYOUT_TYPE, type);
    return status ? status : set_int(bag, PLM_BAG_LAYOUT, PLM_LAYOUT_BATCH_COUNT, groups);
}

PLM_API int cublasLtGroupedMatrixLayoutInit_internal(struct plm_bag *bag, size_t size, int type, int groups,
                                                     __attribute__((unused)) const void *rows,
                                                     __attribute__((unused)) const void *columns,
                                                     __attribute__((unused)) const void *lead)
{
    int status = plm_bag_init(bag, size, PLM_BAG_LAYOUT);
    return status ? status : fill_grouped(bag, type, groups);
}

PLM_API int cublasLtGroupedMatrixLayoutCreate(struct plm_bag **out, int type, int groups,
                                              __attribute__((unused)) const void *rows,
                                              __attribute__((unused)) const void *columns,
                                              __attribute__((unused)) const void *lead)
{
    int status = plm_bag_create(out, PLM_BAG_LAYOUT);
    return status ? status : fill_grouped(*out, type, groups);
}
#endif
