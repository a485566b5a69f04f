/*
 * The handle of cuBLAS: what a program sets on it. It belongs to the program, which does not use it in two threads at
 * a time.
 */
#ifndef PLM_CUBLAS_HANDLE_H
#define PLM_CUBLAS_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLM_CUBLAS_OWN = 3 };

struct plm_cublas_handle {
    uint32_t magic;
    int pointer_mode, atomics_mode, math_mode, sm_count_target;
    int emulation_strategy, special_values, mantissa_control, mantissa_bits_max, mantissa_bit_offset;
    int *mantissa_bit_count;
    void *stream, *workspace;
    size_t workspace_size;
    uint64_t own[PLM_CUBLAS_OWN]; /* addresses of the library's own workspace; 0: not taken */
};

bool plm_cublas_handle_valid(const struct plm_cublas_handle *handle);

#endif
