/*
 * Attribute bags: the contents of cuBLASLt's descriptors.
 *
 * A descriptor lives in memory of its own or in memory of the caller (the *Init functions), in which
 * case it is never destroyed and nothing may be written beyond its size. So a bag is one flat piece of
 * memory that points nowhere. Like the real descriptors it is not meant for several threads at a time.
 * Functions return an enum plm_cublas_status.
 */
#ifndef PLM_CUBLASLT_BAG_H
#define PLM_CUBLASLT_BAG_H

#include <stddef.h>
#include <stdint.h>

enum plm_bag_kind {
    PLM_BAG_MATMUL = 1,
    PLM_BAG_LAYOUT,
    PLM_BAG_PREFERENCE,
    PLM_BAG_TRANSFORM,
    PLM_BAG_EMULATION,
    PLM_BAG_KINDS,
};

struct plm_bag;

/* Attributes that this project reads itself. */
enum plm_bag_layout_attribute {
    PLM_LAYOUT_TYPE = 0,
    PLM_LAYOUT_ROWS = 2,
    PLM_LAYOUT_COLUMNS = 3,
    PLM_LAYOUT_LEAD = 4,
    PLM_LAYOUT_BATCH_COUNT = 5,
};
enum plm_matmul_attribute {
    PLM_MATMUL_COMPUTE_TYPE = 0,
    PLM_MATMUL_SCALE_TYPE = 1,
    PLM_MATMUL_TRANSPOSE_A = 3,
    PLM_MATMUL_TRANSPOSE_B = 4,
    PLM_MATMUL_EPILOGUE = 7,
};
enum plm_transform_attribute { PLM_TRANSFORM_SCALE_TYPE = 0 };

int plm_bag_create(struct plm_bag **out, enum plm_bag_kind kind);
int plm_bag_init(struct plm_bag *bag, size_t size, enum plm_bag_kind kind);
int plm_bag_destroy(struct plm_bag *bag, enum plm_bag_kind kind);

int plm_bag_set(struct plm_bag *bag, enum plm_bag_kind kind, int id, const void *value, size_t size);
/* size = 0 asks for the size the attribute needs. */
int plm_bag_get(const struct plm_bag *bag, enum plm_bag_kind kind, int id, void *value, size_t size, size_t *written);

/* The value of an attribute as a number; 0 if there is none. */
uint64_t plm_bag_number(const struct plm_bag *bag, enum plm_bag_kind kind, int id);

#endif
