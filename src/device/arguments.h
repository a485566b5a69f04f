/*
 * How much a kernel of PyTorch works on, read from the arguments of its launch.
 *
 * Kernels are recognized by their mangled names, once. Where their arguments stand is taken from PyTorch's
 * public headers (ATen/native/cuda: CUDALoops.cuh, MultiTensorApply.cuh, Reduce.cuh). What is read is checked
 * against the launch's own grid and block; what does not agree is not known. Never reads beyond what the
 * argument has. Pure; any thread.
 */
#ifndef PLM_DEVICE_ARGUMENTS_H
#define PLM_DEVICE_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

struct plm_arguments_form {
    uint8_t kind;    /* enum plm_launch_count */
    uint8_t lists;   /* multi-tensor kernels: tensors that are worked on together */
    uint8_t extra;   /* and bytes that the list holds for each tensor behind its number of elements */
    bool scalars;    /* and whether those are scalars: other limits apply */
};

struct plm_arguments_form plm_arguments_form(const char *mangled);

/* Fills count[] as the record's LAUNCH event has them; false: not known. */
bool plm_arguments_read(const struct plm_arguments_form *form, const uint32_t grid[3], const uint32_t block[3],
                        void *const *arguments, uint64_t count[2]);

#endif
