/*
 * Sizes of the element types that the sparse and solver libraries name by number (cudaDataType), and
 * saturating arithmetic for work sizes. Shared by cusolver, cusparse and cusparseLt. No state, any thread.
 */
#ifndef PLM_SHIM_DATATYPE_H
#define PLM_SHIM_DATATYPE_H

#include <stddef.h>
#include <stdint.h>

enum { PLM_R_32F = 0, PLM_R_64F = 1, PLM_R_16F = 2, PLM_R_8I = 3, PLM_C_32F = 4, PLM_C_64F = 5 };

/* Bits of one element; the values are those the CUDA documentation gives for cudaDataType. An unknown
   type counts as 64 bits: too large rather than too small. */
static inline unsigned plm_datatype_bits(int type)
{
    static const unsigned char bits[] = {
        32, 64, 16, 8,  64, 128, 32, 16, 8,   16, 32,  64, 32, 64, 16, 32, 4, /* R_32F ... C_16BF, R_4I */
        8,  4,  8,  16, 32, 16,  32, 64, 128, 64, 128, 8,  8,  8,  6,  6,  4,      /* C_4I ... R_4F_E2M1 */
    };
    return type >= 0 && (size_t)type < sizeof bits ? bits[type] : 64;
}

static inline size_t plm_datatype_bytes(int type)
{
    return (plm_datatype_bits(type) + 7) / 8;
}

/* A product of sizes; what does not fit is SIZE_MAX, and what was negative counts as nothing. */
static inline size_t plm_shim_size_mul(int64_t count, size_t bytes)
{
    size_t out;
    if (count <= 0)
        return 0;
    return __builtin_mul_overflow((size_t)count, bytes, &out) ? SIZE_MAX : out;
}

static inline size_t plm_shim_size_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

#endif
