/*
 * Attribute bags.
 *
 * Only what was set is stored, as a tag and the value without its upper zero bytes, so that the
 * descriptors fit the 64 bytes that a caller's memory may have. What was not set reads as its
 * documented default.
 */
#include "shim/cublaslt/bag.h"

#include <stdlib.h>
#include <string.h>

#include "shim/cublas/status.h"

enum {
    BAG_MAGIC = 0x5a,
    BAG_BYTES = 512,    /* of a bag in memory of its own */
    BAG_BYTES_MIN = 64, /* of the smallest descriptor a caller may provide */
    VALUE_MAX = 8,
};

struct plm_bag {
    uint8_t magic, kind;
    uint16_t capacity, used; /* bytes of data */
    uint8_t data[];
};

/* What stands in front of each value in the data. */
struct tag {
    uint8_t id;
    uint8_t sizes; /* size of the attribute in the upper half, of what is stored in the lower */
};

struct attribute {
    int id;
    uint8_t size;
    uint64_t value; /* documented default */
};

static const struct attribute matmul[] = {
    {0, 4, 0},           /* compute type */
    {1, 4, 0},           /* scale type */
    {2, 4, 0},           /* pointer mode: host */
    {3, 4, 0},           /* transpose A, B, C */
    {4, 4, 0},           {5, 4, 0},  {6, 4, 2},           /* fill mode: full */
    {7, 4, 1},           /* epilogue: none */
    {8, 8, 0},           /* bias pointer */
    {10, 8, 0},          /* bias batch stride */
    {11, 8, 0},          /* auxiliary output: pointer, leading dimension, batch stride */
    {12, 8, 0},          {13, 8, 0}, {14, 8, 0},          /* alpha batch stride */
    {15, 4, 0},          /* target number of SMs */
    {17, 8, 0},          /* scale pointers A, B, C, D */
    {18, 8, 0},          {19, 8, 0}, {20, 8, 0}, {21, 8, 0},          /* maximum of D */
    {22, 4, 0xffffffff}, /* auxiliary output: type, scale, maximum */
    {23, 8, 0},          {24, 8, 0}, {25, 1, 0},          /* fast accumulation */
    {26, 4, 0xffffffff}, /* bias type */
    {27, 4, 0},          /* chunks of D: rows, columns; counters in, out */
    {28, 4, 0},          {29, 8, 0}, {30, 8, 0}, {31, 4, 0},          /* scale modes A, B, C, D, auxiliary */
    {32, 4, 0},          {33, 4, 0}, {34, 4, 0}, {35, 4, 0}, {36, 8, 0},          /* output scale: pointer, mode */
    {37, 4, 0},
};
static const struct attribute layout[] = {
    {PLM_LAYOUT_TYPE, 4, 0},
    {1, 4, 0}, /* order: by columns */
    {PLM_LAYOUT_ROWS, 8, 0},
    {PLM_LAYOUT_COLUMNS, 8, 0},
    {PLM_LAYOUT_LEAD, 8, 0},
    {PLM_LAYOUT_BATCH_COUNT, 4, 1},
    {6, 8, 0}, /* batch stride */
    {7, 8, 0}, /* plane offset */
    {8, 4, 0}, /* batch mode */
};
static const struct attribute preference[] = {
    {0, 4, 0},          /* search mode: best fit */
    {1, 8, 0},          /* most bytes of workspace */
    {3, 4, 7},          /* reduction schemes: all */
    {5, 4, 256},        /* alignment of A, B, C, D */
    {6, 4, 256},         {7, 4, 256}, {8, 4, 256}, {9, 4, 0},          /* most waves: any */
    {12, 8, UINT64_MAX}, /* implementations: all */
};
static const struct attribute transform[] = {
    {0, 4, 0}, /* scale type */
    {1, 4, 0}, /* pointer mode: host */
    {2, 4, 0}, /* transpose A, B */
    {3, 4, 0},
};
static const struct attribute emulation[] = {
    {0, 4, 0},      /* strategy */
    {1, 4, 0xffff}, /* special values: all are honoured */
    {2, 4, 0},      /* mantissa control */
    {3, 4, 0},      /* most mantissa bits */
    {4, 4, 0},      /* mantissa bit offset */
    {5, 8, 0},      /* mantissa bit count pointer */
};

#define TABLE(name) {name, sizeof name / sizeof name[0]}
static const struct {
    const struct attribute *attributes;
    size_t count;
} tables[PLM_BAG_KINDS] = {
    [PLM_BAG_MATMUL] = TABLE(matmul),         [PLM_BAG_LAYOUT] = TABLE(layout),
    [PLM_BAG_PREFERENCE] = TABLE(preference), [PLM_BAG_TRANSFORM] = TABLE(transform),
    [PLM_BAG_EMULATION] = TABLE(emulation),
};

static const struct attribute *documented(enum plm_bag_kind kind, int id)
{
    for (size_t i = 0; i < tables[kind].count; i++)
        if (tables[kind].attributes[i].id == id)
            return &tables[kind].attributes[i];
    return NULL;
}

int plm_bag_init(struct plm_bag *bag, size_t size, enum plm_bag_kind kind)
{
    if (!bag)
        return PLM_CUBLAS_INVALID_VALUE;
    if (size < BAG_BYTES_MIN)
        return PLM_CUBLAS_ALLOC_FAILED;
    size = size > BAG_BYTES ? BAG_BYTES : size;
    memset(bag, 0, size);
    bag->magic = BAG_MAGIC;
    bag->kind = (uint8_t)kind;
    bag->capacity = (uint16_t)(size - offsetof(struct plm_bag, data));
    return PLM_CUBLAS_SUCCESS;
}

int plm_bag_create(struct plm_bag **out, enum plm_bag_kind kind)
{
    if (!out)
        return PLM_CUBLAS_INVALID_VALUE;
    *out = malloc(BAG_BYTES);
    return *out ? plm_bag_init(*out, BAG_BYTES, kind) : PLM_CUBLAS_ALLOC_FAILED;
}

static int bag_check(const struct plm_bag *bag, enum plm_bag_kind kind)
{
    return bag && bag->magic == BAG_MAGIC && bag->kind == kind ? PLM_CUBLAS_SUCCESS : PLM_CUBLAS_INVALID_VALUE;
}

int plm_bag_destroy(struct plm_bag *bag, enum plm_bag_kind kind)
{
    if (!bag)
        return PLM_CUBLAS_SUCCESS;
    if (bag_check(bag, kind))
        return PLM_CUBLAS_INVALID_VALUE;
    bag->magic = 0;
    free(bag);
    return PLM_CUBLAS_SUCCESS;
}

static struct tag tag_at(const struct plm_bag *bag, size_t at)
{
    return (struct tag){bag->data[at], bag->data[at + 1]};
}

static size_t stored(struct tag tag)
{
    return tag.sizes & 15u;
}

/* Where an attribute stands in the data; bag->used if it is not there. */
static size_t attribute_find(const struct plm_bag *bag, int id)
{
    size_t at = 0;
    while (at < bag->used && tag_at(bag, at).id != id)
        at += sizeof(struct tag) + stored(tag_at(bag, at));
    return at;
}

static void take_out(struct plm_bag *bag, size_t at)
{
    size_t length = sizeof(struct tag) + stored(tag_at(bag, at));
    memmove(bag->data + at, bag->data + at + length, bag->used - at - length);
    bag->used = (uint16_t)(bag->used - length);
}

int plm_bag_set(struct plm_bag *bag, enum plm_bag_kind kind, int id, const void *value, size_t size)
{
    const struct attribute *attribute;
    const uint8_t *bytes = value;
    size_t length = size, at;

    if (bag_check(bag, kind) || !value || !size || size > VALUE_MAX || id < 0 || id > UINT8_MAX)
        return PLM_CUBLAS_INVALID_VALUE;
    /* An attribute that is not in the table comes from a newer release and is kept as it is. */
    attribute = documented(kind, id);
    if (attribute && attribute->size != size)
        return PLM_CUBLAS_INVALID_VALUE;
    while (length && !bytes[length - 1])
        length--;
    at = attribute_find(bag, id);
    if (at < bag->used)
        take_out(bag, at);
    if (bag->used + sizeof(struct tag) + length > bag->capacity)
        return PLM_CUBLAS_NOT_SUPPORTED;
    bag->data[bag->used] = (uint8_t)id;
    bag->data[bag->used + 1] = (uint8_t)(size << 4 | length);
    memcpy(bag->data + bag->used + sizeof(struct tag), value, length);
    bag->used = (uint16_t)(bag->used + sizeof(struct tag) + length);
    return PLM_CUBLAS_SUCCESS;
}

int plm_bag_get(const struct plm_bag *bag, enum plm_bag_kind kind, int id, void *value, size_t size, size_t *written)
{
    const struct attribute *attribute;
    uint64_t number = 0;
    size_t need, at;

    if (bag_check(bag, kind))
        return PLM_CUBLAS_INVALID_VALUE;
    at = attribute_find(bag, id);
    attribute = documented(kind, id);
    if (at < bag->used) {
        need = tag_at(bag, at).sizes >> 4;
        memcpy(&number, bag->data + at + sizeof(struct tag), stored(tag_at(bag, at)));
    } else if (attribute) {
        need = attribute->size;
        number = attribute->value;
    } else
        return PLM_CUBLAS_INVALID_VALUE;

    if (size ? !value || size != need : !written)
        return PLM_CUBLAS_INVALID_VALUE;
    if (size)
        memcpy(value, &number, need);
    if (written)
        *written = need;
    return PLM_CUBLAS_SUCCESS;
}

uint64_t plm_bag_number(const struct plm_bag *bag, enum plm_bag_kind kind, int id)
{
    uint64_t number = 0;
    size_t size;
    if (plm_bag_get(bag, kind, id, NULL, 0, &size) || plm_bag_get(bag, kind, id, &number, size, NULL))
        return 0;
    return number;
}
