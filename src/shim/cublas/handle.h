/*
 * The handle of cuBLAS: what a program sets on it. It belongs to the program, which does not use it in two threads at
 * a time.
 */
#ifndef PLM_CUBLAS_HANDLE_H
#define PLM_CUBLAS_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/cublas/pool.h"

struct plm_cublas_handle {
    uint32_t magic;
    int pointer_mode, atomics_mode, math_mode, sm_count_target;
    int emulation_strategy, special_values, mantissa_control, mantissa_bits_max, mantissa_bit_offset;
    int *mantissa_bit_count;
    void *stream, *workspace;
    size_t workspace_size;
    bool workspace_set;
    struct plm_cublas_pool pool;
};

bool plm_cublas_handle_valid(const struct plm_cublas_handle *handle);

#endif
