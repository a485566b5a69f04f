/*
 * Sizes of PyTorch's tensors, read from its own objects: TensorImpl, IValue, lists of IValues and the inputs of a
 * RecordFunction. None of these has an exported getter that costs nothing, and where they have what differs between
 * releases. So it is located at start, with tensors whose sizes are known (hook/plimsoll_hook/layout.py makes them): what
 * is not found in all of them at one place alone is not known, and then nothing is read at all.
 *
 * Locating is for one thread, before anybody reads; reading is pure, for any thread, and never fails. An object that is
 * read must live; what does not agree with itself (its sizes with its number of elements) is left out.
 */
#ifndef PLM_DEVICE_TENSORS_H
#define PLM_DEVICE_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/format.h"

enum { PLM_TENSOR_SAMPLE_DIMENSIONS = 6, PLM_TENSOR_DIMENSIONS = 4, PLM_TENSORS_SHAPED = 3 };

/* A contiguous tensor that somebody knows. Part of the contract with the hook. */
struct plm_tensors_sample {
    uint64_t object;     /* its TensorImpl */
    uint32_t type;       /* c10::ScalarType */
    uint32_t dimensions; /* at most 6; sizes of more than 5 stand elsewhere in it */
    int64_t size[PLM_TENSOR_SAMPLE_DIMENSIONS];
};

/* Where a tensor has its sizes, its number of elements and its type. */
bool plm_tensors_locate(const struct plm_tensors_sample *samples, unsigned count);
/* The bytes of an element of this tensor's type. After the above. */
bool plm_tensors_learn_type(uint64_t object, unsigned bytes);
/* Where a RecordFunction that begins with two tensors has its inputs, at `from` or some words later, and where
   one that begins with a list of these two has them in it. */
bool plm_tensors_locate_inputs(const void *function, size_t from, const uint64_t object[2]);
bool plm_tensors_locate_list(const void *function, const uint64_t object[2]);
/* All of this is known. */
bool plm_tensors_known(void);

/* ---- for values.h ---- */

struct plm_ivalue {
    uint64_t payload;
    uint32_t tag, unused;
};
struct plm_ivalues {
    const struct plm_ivalue *first;
    uint64_t count;
};
/* Part of the contract with the hook. */
enum plm_ivalue_kind {
    PLM_IVALUE_OTHER,
    PLM_IVALUE_TENSOR,
    PLM_IVALUE_LIST,
    PLM_IVALUE_NONE,
    PLM_IVALUE_INT,
    PLM_IVALUE_DOUBLE,
    PLM_IVALUE_BOOL,
    PLM_IVALUE_TEXT,
    PLM_IVALUE_DEVICE,
    PLM_IVALUE_KINDS
};

/* A tensor whose storage and memory are known, and which begins `offset` elements after that. */
struct plm_storage_sample {
    uint64_t object, storage, data, bytes, offset;
};
bool plm_tensors_locate_storage(const struct plm_storage_sample *sample);
/* Where a RecordFunction that returned this tensor alone has its outputs. */
bool plm_tensors_locate_outputs(const void *function, size_t from, uint64_t object);
/* The argument `number` of this operator is of that kind. False if the operator has less. */
bool plm_tensors_learn_kind(const void *function, uint64_t number, enum plm_ivalue_kind kind);
/* All of this is known as well. */
bool plm_tensors_values_known(void);

struct plm_ivalues plm_tensors_inputs(const void *function);
struct plm_ivalues plm_tensors_outputs(const void *function); /* none if it failed */
enum plm_ivalue_kind plm_ivalue_kind(const struct plm_ivalue *value);
struct plm_ivalues plm_ivalue_list(const struct plm_ivalue *list);
const char *plm_ivalue_text(const struct plm_ivalue *text);

struct plm_tensors_view {
    uint64_t data;     /* its first element; 0: it has no memory */
    uint64_t elements, extent; /* extent: bytes from the first to the last element */
    const int64_t *sizes, *strides;
    unsigned dimensions, type, element_bytes; /* type: c10::ScalarType */
    bool readable;     /* else the view is all of its storage, and has no sizes */
    bool undefined;    /* it is none: what stands for an index that is not given */
};
void plm_tensors_view(uint64_t object, struct plm_tensors_view *view);

/* Adds a tensor to `sum`, which starts as zeros; all that are inputs of a RecordFunction that begins. */
void plm_tensors_add(uint64_t object, struct plm_ev_operands *sum);
void plm_tensors_add_inputs(const void *function, struct plm_ev_operands *sum);

#endif
