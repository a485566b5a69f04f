#include "device/tensors.h"

#include <malloc.h>
#include <string.h>

enum { INLINE = 5 };    /* sizes and strides of so many dimensions stand in the tensor itself */
enum { FURTHEST = 256 }; /* bytes of an object that are searched at the most */
enum { TYPES = 64, LIST_MOST = 4096 };

_Static_assert(sizeof(struct plm_ivalue) == 16, "as PyTorch lays it out; proved by locating two of them");

static struct {
    size_t sizes_at, elements_at, type_at; /* of a TensorImpl */
    size_t inputs_at;                      /* of a RecordFunction */
    size_t list_at;                        /* of a list */
    uint32_t tensor_tag, list_tag;
    uint8_t element_bytes[TYPES];          /* 0: not known */
    bool tensor, inputs, list;
    size_t storage_bytes_at, outputs_at;   /* of a StorageImpl; of a RecordFunction */
    size_t counted; /* what every object begins with: its functions, and what counts references */
    uint32_t tag[PLM_IVALUE_KINDS];
    bool learned[PLM_IVALUE_KINDS], storage, outputs;
} torch;

/* ---- tensors ---- */

static uint64_t word_at(const void *object, size_t at)
{
    uint64_t value;
    memcpy(&value, (const char *)object + at, sizeof value);
    return value;
}

static unsigned type_of(const void *object, size_t at)
{
    uint16_t value;
    memcpy(&value, (const char *)object + at, sizeof value);
    return value;
}

/* Number of dimensions, then sizes and strides, or where these are. */
static const int64_t *sizes_of(const void *object, size_t at, uint64_t dimensions)
{
    return dimensions > INLINE ? (const int64_t *)word_at(object, at + 8)
                               : (const int64_t *)(const void *)((const char *)object + at + 8);
}

static int64_t elements_of(const struct plm_tensors_sample *s)
{
    int64_t product = 1;
    for (unsigned i = 0; i < s->dimensions; i++)
        product *= s->size[i];
    return product;
}

static bool strides_fit(const struct plm_tensors_sample *s, const int64_t *strides)
{
    int64_t stride = 1;
    for (unsigned i = s->dimensions; i-- > 0; stride *= s->size[i])
        if (strides[i] != stride)
            return false;
    return true;
}

static bool sizes_fit(const struct plm_tensors_sample *s, size_t at)
{
    const void *object = (const void *)s->object;
    const int64_t *sizes;
    const size_t needed = at + 8 + (s->dimensions > INLINE ? 8 : 16 * INLINE);
    if (needed > malloc_usable_size((void *)s->object) || word_at(object, at) != s->dimensions)
        return false;
    sizes = sizes_of(object, at, s->dimensions);
    if (s->dimensions > INLINE && malloc_usable_size((void *)(uintptr_t)sizes) < 16 * s->dimensions)
        return false;
    return !memcmp(sizes, s->size, 8 * s->dimensions) &&
           strides_fit(s, sizes + (s->dimensions > INLINE ? s->dimensions : INLINE));
}

static bool elements_fit(const struct plm_tensors_sample *s, size_t at)
{
    return word_at((const void *)s->object, at) == (uint64_t)elements_of(s);
}

static bool type_fits(const struct plm_tensors_sample *s, size_t at)
{
    return type_of((const void *)s->object, at) == s->type;
}

/* The one place at which all samples have it. */
static bool locate(const struct plm_tensors_sample *samples, unsigned count,
                   bool (*fits)(const struct plm_tensors_sample *, size_t), size_t unit, size_t *found)
{
    size_t end = FURTHEST, places = 0;
    for (unsigned i = 0; i < count; i++) {
        const size_t size = malloc_usable_size((void *)samples[i].object);
        end = size < end ? size : end;
    }
    for (size_t at = 8; at + 8 <= end; at += unit) {
        unsigned i = 0;
        while (i < count && fits(&samples[i], at))
            i++;
        if (i == count) {
            *found = at;
            places++;
        }
    }
    return places == 1;
}

bool plm_tensors_locate(const struct plm_tensors_sample *samples, unsigned count)
{
    bool six = false; /* sizes that stand elsewhere must have been seen too */
    for (unsigned i = 0; i < count; i++) {
        if (!samples[i].object || samples[i].dimensions > PLM_TENSOR_SAMPLE_DIMENSIONS)
            return false;
        six |= samples[i].dimensions > INLINE;
    }
    torch.tensor = six && locate(samples, count, sizes_fit, 8, &torch.sizes_at) &&
                   locate(samples, count, elements_fit, 8, &torch.elements_at) &&
                   locate(samples, count, type_fits, 2, &torch.type_at);
    return torch.tensor;
}

bool plm_tensors_learn_type(uint64_t object, unsigned bytes)
{
    unsigned type;
    if (!torch.tensor || !object || bytes > 255)
        return false;
    type = type_of((const void *)object, torch.type_at);
    if (type >= TYPES)
        return false;
    torch.element_bytes[type] = (uint8_t)bytes;
    return true;
}

/* ---- inputs ---- */

static struct plm_ivalues array_at(const void *object, size_t at)
{
    struct plm_ivalues array;
    memcpy(&array, (const char *)object + at, sizeof array);
    return array;
}

static bool are_tensors(const struct plm_ivalue *pair, const uint64_t object[2])
{
    return pair[0].payload == object[0] && pair[1].payload == object[1] && pair[0].tag == pair[1].tag;
}

/* The inputs of an operator that was called directly stand on the stack, not far from the function. */
static bool is_near(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return (x > y ? x - y : y - x) < 4096 && x % 8 == 0;
}

bool plm_tensors_locate_inputs(const void *function, size_t from, const uint64_t object[2])
{
    unsigned places = 0;
    for (size_t at = from; at < from + 64; at += 8) {
        const struct plm_ivalues a = array_at(function, at);
        if (a.count == 2 && is_near(a.first, function) && are_tensors(a.first, object)) {
            torch.inputs_at = at;
            torch.tensor_tag = a.first->tag;
            places++;
        }
    }
    return torch.inputs = places == 1;
}

/* A std::vector: first, end, end of the room. */
static struct plm_ivalues vector_at(const void *object, size_t at)
{
    const uint64_t first = word_at(object, at), end = word_at(object, at + 8);
    return (struct plm_ivalues){(const struct plm_ivalue *)first,
                                end > first ? (end - first) / sizeof(struct plm_ivalue) : 0};
}

bool plm_tensors_locate_list(const void *function, const uint64_t object[2])
{
    struct plm_ivalues inputs;
    const void *list;
    unsigned places = 0;
    if (!torch.inputs)
        return false;
    inputs = array_at(function, torch.inputs_at);
    if (inputs.count != 1 || !is_near(inputs.first, function) || inputs.first->tag == torch.tensor_tag)
        return false;
    list = (const void *)inputs.first->payload;
    for (size_t at = 8; at + 16 <= malloc_usable_size((void *)inputs.first->payload) && at < 64; at += 8) {
        const struct plm_ivalues a = vector_at(list, at);
        if (a.count == 2 && malloc_usable_size((void *)(uintptr_t)a.first) >= 2 * sizeof *a.first &&
            are_tensors(a.first, object) && a.first->tag == torch.tensor_tag) {
            torch.list_at = at;
            torch.list_tag = inputs.first->tag;
            places++;
        }
    }
    return torch.list = places == 1;
}

bool plm_tensors_known(void)
{
    return torch.tensor && torch.inputs && torch.list;
}

/* ---- reading ---- */

struct tensor {
    const int64_t *sizes;
    uint64_t dimensions;
    uint64_t elements, stored; /* stored: without what a stride of 0 repeats */
    uint8_t element_bytes;
};

static bool tensor_read(uint64_t object, struct tensor *t)
{
    const void *o = (const void *)object;
    const unsigned type = type_of(o, torch.type_at);
    const uint64_t dimensions = word_at(o, torch.sizes_at);
    const int64_t *sizes = sizes_of(o, torch.sizes_at, dimensions), *strides;
    uint64_t product = 1, stored = 1;
    if (type >= TYPES || !torch.element_bytes[type] || dimensions > 64 || !sizes)
        return false;
    strides = sizes + (dimensions > INLINE ? dimensions : INLINE);
    for (uint64_t i = 0; i < dimensions; i++)
        if (sizes[i] < 0 || __builtin_mul_overflow(product, (uint64_t)sizes[i], &product))
            return false;
        else
            stored *= strides[i] || !sizes[i] ? (uint64_t)sizes[i] : 1;
    if (product != word_at(o, torch.elements_at) || product >> 56)
        return false;
    *t = (struct tensor){sizes, dimensions, product, stored, torch.element_bytes[type]};
    return true;
}

static uint32_t short_size(const struct tensor *t, unsigned i)
{
    return i < t->dimensions ? plm_ev_u32(t->sizes[i]) : 0;
}

static void shape_keep(const struct tensor *t, struct plm_ev_operands *sum)
{
    const uint8_t dimensions = (uint8_t)t->dimensions;
    switch (sum->tensors) {
    case 0:
        sum->first_element_bytes = t->element_bytes, sum->first_dimensions = dimensions;
        sum->first_1 = short_size(t, 0), sum->first_2 = short_size(t, 1);
        sum->first_3 = short_size(t, 2), sum->first_4 = short_size(t, 3);
        break;
    case 1:
        sum->second_element_bytes = t->element_bytes, sum->second_dimensions = dimensions;
        sum->second_1 = short_size(t, 0), sum->second_2 = short_size(t, 1);
        sum->second_3 = short_size(t, 2), sum->second_4 = short_size(t, 3);
        break;
    case 2:
        sum->third_element_bytes = t->element_bytes, sum->third_dimensions = dimensions;
        sum->third_1 = short_size(t, 0), sum->third_2 = short_size(t, 1);
        sum->third_3 = short_size(t, 2), sum->third_4 = short_size(t, 3);
        break;
    default: break;
    }
}

void plm_tensors_add(uint64_t object, struct plm_ev_operands *sum)
{
    struct tensor t;
    if (!object || !tensor_read(object, &t))
        return;
    shape_keep(&t, sum);
    if (!sum->tensors || t.elements > sum->elements) {
        sum->second_elements = sum->tensors ? sum->elements : 0;
        sum->elements = t.elements;
        sum->element_bytes = t.element_bytes;
    } else if (t.elements > sum->second_elements)
        sum->second_elements = t.elements;
    sum->bytes += t.stored * t.element_bytes;
    sum->tensors++;
}

static void list_add(uint64_t object, struct plm_ev_operands *sum)
{
    const struct plm_ivalues list = vector_at((const void *)object, torch.list_at);
    for (uint64_t i = 0; i < list.count && i < LIST_MOST; i++)
        if (list.first[i].tag == torch.tensor_tag)
            plm_tensors_add(list.first[i].payload, sum);
}

void plm_tensors_add_inputs(const void *function, struct plm_ev_operands *sum)
{
    const struct plm_ivalues inputs = array_at(function, torch.inputs_at);
    for (uint64_t i = 0; i < inputs.count; i++) {
        const struct plm_ivalue *v = &inputs.first[i];
        if (v->tag == torch.tensor_tag)
            plm_tensors_add(v->payload, sum);
        else if (v->tag == torch.list_tag && v->payload)
            list_add(v->payload, sum);
    }
}

/* ---- for values.h ---- */

/* What counts references comes first in all of them, and then what they are for: 16 bytes, before 2.3 24. A tensor's offset
   stands before its number of elements. */
enum { COUNTED = 16, COUNTED_WIDE = 24, OFFSET_BEFORE = 8 };

static bool storage_lies_at(const struct plm_storage_sample *s, size_t counted)
{
    return word_at((const void *)s->object, counted) == s->storage &&
           word_at((const void *)s->storage, counted) == s->data;
}

bool plm_tensors_locate_storage(const struct plm_storage_sample *s)
{
    const void *object = (const void *)s->object, *storage = (const void *)s->storage;
    unsigned places = 0;
    torch.counted = storage_lies_at(s, COUNTED) ? COUNTED : COUNTED_WIDE;
    if (!torch.tensor || torch.elements_at < OFFSET_BEFORE + 8 || !storage_lies_at(s, torch.counted) ||
        word_at(object, torch.elements_at - OFFSET_BEFORE) != s->offset)
        return false;
    for (size_t at = torch.counted + 8; at + 8 <= malloc_usable_size((void *)s->storage) && at < 80; at += 8)
        if (word_at(storage, at) == s->bytes) {
            torch.storage_bytes_at = at;
            places++;
        }
    return torch.storage = places == 1;
}

bool plm_tensors_locate_outputs(const void *function, size_t from, uint64_t object)
{
    unsigned places = 0;
    for (size_t at = from; at < from + 96; at += 8) {
        const uint64_t first = word_at(function, at), end = word_at(function, at + 8);
        struct plm_ivalue value;
        if (end - first != sizeof value || first % 8 || first < 4096 || first >> 47)
            continue;
        memcpy(&value, (const void *)first, sizeof value);
        if (value.payload == object && value.tag == torch.tensor_tag) {
            torch.outputs_at = at;
            places++;
        }
    }
    return torch.outputs = places == 1;
}

bool plm_tensors_learn_kind(const void *function, uint64_t number, enum plm_ivalue_kind kind)
{
    const struct plm_ivalues inputs = torch.inputs ? plm_tensors_inputs(function) : (struct plm_ivalues){NULL, 0};
    if (number >= inputs.count || kind <= PLM_IVALUE_LIST || kind >= PLM_IVALUE_KINDS)
        return false;
    torch.tag[kind] = inputs.first[number].tag;
    return torch.learned[kind] = true;
}

bool plm_tensors_values_known(void)
{
    for (unsigned i = PLM_IVALUE_NONE; i < PLM_IVALUE_KINDS; i++) {
        if (!torch.learned[i] || torch.tag[i] == torch.tensor_tag || torch.tag[i] == torch.list_tag)
            return false;
        for (unsigned k = PLM_IVALUE_NONE; k < i; k++)
            if (torch.tag[i] == torch.tag[k])
                return false;
    }
    return plm_tensors_known() && torch.storage && torch.outputs;
}

struct plm_ivalues plm_tensors_inputs(const void *function)
{
    return array_at(function, torch.inputs_at);
}

struct plm_ivalues plm_tensors_outputs(const void *function)
{
    return vector_at(function, torch.outputs_at);
}

enum plm_ivalue_kind plm_ivalue_kind(const struct plm_ivalue *value)
{
    if (value->tag == torch.tensor_tag)
        return value->payload ? PLM_IVALUE_TENSOR : PLM_IVALUE_OTHER;
    if (value->tag == torch.list_tag)
        return value->payload ? PLM_IVALUE_LIST : PLM_IVALUE_OTHER;
    for (unsigned i = PLM_IVALUE_NONE; i < PLM_IVALUE_KINDS; i++)
        if (value->tag == torch.tag[i])
            return (enum plm_ivalue_kind)i;
    return PLM_IVALUE_OTHER;
}

struct plm_ivalues plm_ivalue_list(const struct plm_ivalue *list)
{
    return vector_at((const void *)list->payload, torch.list_at);
}

const char *plm_ivalue_text(const struct plm_ivalue *text)
{
    return (const char *)word_at((const void *)text->payload, torch.counted);
}

static uint64_t extent_of(const struct plm_tensors_view *v)
{
    uint64_t last = 0;
    for (unsigned i = 0; i < v->dimensions; i++)
        last += (uint64_t)(v->sizes[i] - 1) * (uint64_t)v->strides[i];
    return v->elements ? (last + 1) * v->element_bytes : 0;
}

void plm_tensors_view(uint64_t object, struct plm_tensors_view *v)
{
    const void *o = (const void *)object;
    const uint64_t storage = word_at(o, torch.counted);
    struct tensor t;
    *v = (struct plm_tensors_view){.elements = ~0ull, .type = type_of(o, torch.type_at)};
    if (storage) {
        v->data = word_at((const void *)storage, torch.counted);
        v->extent = word_at((const void *)storage, torch.storage_bytes_at);
    }
    if (!tensor_read(object, &t)) {
        v->undefined = !storage && !word_at(o, torch.elements_at);
        return;
    }
    v->readable = v->data || !t.elements; /* sparse and fake tensors have elements without memory */
    v->sizes = t.sizes;
    v->dimensions = (unsigned)t.dimensions;
    v->strides = t.sizes + (v->dimensions > INLINE ? v->dimensions : INLINE);
    v->elements = t.elements;
    v->element_bytes = t.element_bytes;
    v->extent = extent_of(v);
    if (v->data)
        v->data += word_at(o, torch.elements_at - OFFSET_BEFORE) * t.element_bytes;
}
