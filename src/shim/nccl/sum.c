/* Reductions of a few elements, as the operators of NCCL define them. 16-bit floats are computed in 32 bits and rounded to even. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shim/nccl/exchange.h"

enum { SUM, PRODUCT, MAX, MIN, MEAN }; /* ncclRedOp_t */

/* Integers wrap around, as they do on a card. */
#define ROW(name, type, wide)                                               \
    static void name##_sum(void *sum, const void *of, size_t count, int op) \
    {                                                                       \
        for (size_t i = 0; i < count; i++) {                                \
            type a, b;                                                      \
            memcpy(&a, (char *)sum + i * sizeof a, sizeof a);               \
            memcpy(&b, (const char *)of + i * sizeof b, sizeof b);          \
            a = op == SUM || op == MEAN  ? (type)((wide)a + (wide)b)        \
                : op == PRODUCT          ? (type)((wide)a * (wide)b)        \
                : (op == MAX) == (a > b) ? a                                \
                                         : b;                               \
            memcpy((char *)sum + i * sizeof a, &a, sizeof a);               \
        }                                                                   \
    }                                                                       \
    static void name##_divide(void *sum, size_t count, int by)              \
    {                                                                       \
        for (size_t i = 0; i < count; i++) {                                \
            type a;                                                         \
            memcpy(&a, (char *)sum + i * sizeof a, sizeof a);               \
            a = (type)(a / (type)by);                                       \
            memcpy((char *)sum + i * sizeof a, &a, sizeof a);               \
        }                                                                   \
    }

ROW(int8, int8_t, uint64_t)
ROW(uint8, uint8_t, uint64_t)
ROW(int32, int32_t, uint64_t)
ROW(uint32, uint32_t, uint64_t)
ROW(int64, int64_t, uint64_t)
ROW(uint64, uint64_t, uint64_t)
ROW(float, float, float)
ROW(double, double, double)

/* ---- 16 bits ---- */

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bfloat_widen(uint16_t x)
{
    return float_of((uint32_t)x << 16);
}

static uint16_t bfloat_narrow(float value)
{
    uint32_t bits = bits_of(value);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The exponents of half and float differ by 112. */
static float half_widen(uint16_t x)
{
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, exponent = x >> 10 & 31, fraction = x & 1023;
    if (exponent == 31)
        return float_of(sign | 0x7f800000u | fraction << 13);
    if (exponent)
        return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    return float_of(sign | bits_of((float)fraction * 0x1p-24f));
}

static uint16_t half_narrow(float value)
{
    const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000u) /* 65520: rounds to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000u) /* below 2^-14 its steps are 2^-24: a sum with 0.5 rounds to them */
        return (uint16_t)(sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f)));
    return (uint16_t)(sign | ((magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

#define SMALL_ROW(name)                                                     \
    static void name##_sum(void *sum, const void *of, size_t count, int op) \
    {                                                                       \
        for (size_t i = 0; i < count; i++) {                                \
            uint16_t a, b;                                                  \
            float wide;                                                     \
            memcpy(&a, (char *)sum + i * sizeof a, sizeof a);               \
            memcpy(&b, (const char *)of + i * sizeof b, sizeof b);          \
            wide = name##_widen(a);                                         \
            float_sum(&wide, &(float){name##_widen(b)}, 1, op);             \
            a = name##_narrow(wide);                                        \
            memcpy((char *)sum + i * sizeof a, &a, sizeof a);               \
        }                                                                   \
    }                                                                       \
    static void name##_divide(void *sum, size_t count, int by)              \
    {                                                                       \
        for (size_t i = 0; i < count; i++) {                                \
            uint16_t a;                                                     \
            memcpy(&a, (char *)sum + i * sizeof a, sizeof a);               \
            a = name##_narrow(name##_widen(a) / (float)by);                 \
            memcpy((char *)sum + i * sizeof a, &a, sizeof a);               \
        }                                                                   \
    }

SMALL_ROW(half)
SMALL_ROW(bfloat)

/* By NCCL's number of the type. 8-bit floats, which follow, are not computed. */
static const struct {
    size_t bytes;
    void (*sum)(void *sum, const void *of, size_t count, int op);
    void (*divide)(void *sum, size_t count, int by);
} types[] = {
    {1, int8_sum, int8_divide},     {1, uint8_sum, uint8_divide}, {4, int32_sum, int32_divide},
    {4, uint32_sum, uint32_divide}, {8, int64_sum, int64_divide}, {8, uint64_sum, uint64_divide},
    {2, half_sum, half_divide},     {4, float_sum, float_divide}, {8, double_sum, double_divide},
    {2, bfloat_sum, bfloat_divide},
};

static bool is_computed(int type, int op)
{
    return type >= 0 && (size_t)type < sizeof types / sizeof types[0] && op >= SUM && op <= MEAN;
}

bool plm_nccl_sum(void *sum, const void *of, size_t bytes, int type, int op)
{
    if (!is_computed(type, op))
        return false;
    types[type].sum(sum, of, bytes / types[type].bytes, op);
    return true;
}

bool plm_nccl_mean(void *sum, size_t bytes, int type, int op, int count)
{
    if (!is_computed(type, op))
        return false;
    if (op == MEAN)
        types[type].divide(sum, bytes / types[type].bytes, count);
    return true;
}
