/*
 * Sizes of PyTorch's tensors, read from its own objects: TensorImpl, IValue, lists of IValues and the inputs of a
 * RecordFunction. None of these has an exported getter that costs nothing, and where they have what differs between
 * releases. So it is located at start, with tensors whose sizes are known (hook/plimsoll_hook/sizes.py makes them): what
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
struct plm_tensor_sample {
    uint64_t object;     /* its TensorImpl */
    uint32_t type;       /* c10::ScalarType */
    uint32_t dimensions; /* at most 6; sizes of more than 5 stand elsewhere in it */
    int64_t size[PLM_TENSOR_SAMPLE_DIMENSIONS];
};

/* Where a tensor has its sizes, its number of elements and its type. */
bool plm_tensors_locate(const struct plm_tensor_sample *samples, unsigned count);
/* The bytes of an element of this tensor's type. After the above. */
bool plm_tensors_learn_type(uint64_t object, unsigned bytes);
/* Where a RecordFunction that begins with two tensors has its inputs, at `from` or some words later, and where
   one that begins with a list of these two has them in it. */
bool plm_tensors_locate_inputs(const void *function, size_t from, const uint64_t object[2]);
bool plm_tensors_locate_list(const void *function, const uint64_t object[2]);
/* All of this is known. */
bool plm_tensors_known(void);

/* Adds a tensor to `sum`, which starts as zeros; all that are inputs of a RecordFunction that begins. */
void plm_tensors_add(uint64_t object, struct plm_ev_operands *sum);
void plm_tensors_add_inputs(const void *function, struct plm_ev_operands *sum);

#endif
