/*
 * The hook's part of values.h, called from PyTorch's threads: Python's lock is taken, an error that is under way is kept,
 * and one of the hook's own is dropped. Tensors are handed over as what they are in memory: (memory, type, sizes,
 * strides), with memory None where there is none.
 */
#ifndef PLM_DEVICE_VALUES_PYTHON_H
#define PLM_DEVICE_VALUES_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/tensors.h"
#include "device/values.h"

struct plm_operator {
    uint32_t number; /* the hook's */
    unsigned flags;  /* enum plm_operator_is */
    unsigned arguments, returns;
    uint64_t writes, needs; /* arguments that it writes, and those whose values it reads, a bit each */
    uint64_t decides; /* where not all is known, something of each of these must be: the mask of masked_fill */
};

/* What an operator is. One that the hook does not know writes all that it is given. */
struct plm_operator plm_python_classify(const void *function);
/* An object of the hook's that computes the operator later; NULL: it cannot. `expected` gets the size of its result where the
   operator reads that from the device. `parts`: not all inputs are known, and each tensor has its mask as a fifth item. */
void *plm_python_prepare(const struct plm_operator *is, struct plm_ivalues inputs, bool parts, int64_t *expected);
/* The same for an operator that chooses by values of which not all are known: what the last of its results is assumed to be.
   `parts`: some are; `bounded`: the others are not negative. */
void *plm_python_choose(const struct plm_operator *is, struct plm_ivalues inputs, bool parts, bool bounded);
/* Computes, and puts it into the memory of these outputs, if there are any. Takes `pending`. */
/* certain: whatever the inputs are; parts: `mask` tells of the one output what is known. */
enum { PLM_FINISH_FAILED, PLM_FINISH_DONE, PLM_FINISH_CERTAIN, PLM_FINISH_PARTS };
int plm_python_finish(void *pending, struct plm_ivalues outputs, char *mask, size_t size);

/* The program reads a value that nobody computed: the hook remembers where. It may know the answer that lets the program
   go on (plm_values_unknown); -1: no answer. */
int plm_python_unknown(const struct plm_values_read *read);
/* Whether PyTorch makes the text of a tensor. */
bool plm_python_shown(void);

#endif
