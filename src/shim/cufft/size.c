/*
 * The work area of a transform, by formula.
 *
 * NVIDIA documents that a plan may need memory for intermediate results, that the need depends on the
 * sizes and may be as large as the data, and that lengths with prime factors above 127 are done by
 * Bluestein's algorithm, which needs more. The rule here:
 *   - a dimension whose prime factors are 2, 3, 5 and 7 and of which one line fits into 32 KiB of shared
 *     memory takes one pass and no work area; if all dimensions are like this, the answer is 0;
 *   - otherwise one complex copy of the whole batch, in which a dimension with a prime factor above 127
 *     counts with the power of two that holds twice its length (Bluestein's padded convolution).
 */
#include "shim/cufft/plan.h"

#include <stdbool.h>
#include <string.h>

#include "stack/stack_file.h"

enum { SHARED_LINE = 32 << 10, RADIX_MAX = 7, BLUESTEIN_ABOVE = 127 };

static const struct {
    int type;
    uint8_t bytes;
    enum plm_fft_kind kind;
} types[] = {
    {0x29, 8, PLM_FFT_C2C},  {0x2a, 8, PLM_FFT_R2C}, {0x2c, 8, PLM_FFT_C2R}, {0x69, 16, PLM_FFT_C2C}, /* Z2Z */
    {0x6a, 16, PLM_FFT_R2C}, /* D2Z */
    {0x6c, 16, PLM_FFT_C2R}, /* Z2D */
};

/* cudaDataTypes that cuFFT transforms: the real and the complex one of each precision. */
static const struct {
    int real, complex;
    uint8_t bytes;
} precisions[] = {
    {2, 6, 4},   /* half */
    {14, 15, 4}, /* bfloat16 */
    {0, 4, 8},   /* single */
    {1, 5, 16},  /* double */
};

int plm_transform_of_type(struct plm_transform *out, int type)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == type) {
            out->complex_bytes = types[i].bytes;
            out->kind = types[i].kind;
            out->half = types[i].kind != PLM_FFT_C2C;
            return PLM_CUFFT_SUCCESS;
        }
    return PLM_CUFFT_INVALID_TYPE;
}

int plm_transform_of_data(struct plm_transform *out, int input, int output)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++) {
        bool in_real = input == precisions[i].real, out_real = output == precisions[i].real;
        bool in_complex = input == precisions[i].complex, out_complex = output == precisions[i].complex;
        if ((in_complex && (out_complex || out_real)) || (in_real && out_complex)) {
            out->complex_bytes = precisions[i].bytes;
            out->kind = in_real ? PLM_FFT_R2C : out_real ? PLM_FFT_C2R : PLM_FFT_C2C;
            out->half = out->kind != PLM_FFT_C2C;
            return PLM_CUFFT_SUCCESS;
        }
    }
    return PLM_CUFFT_INVALID_TYPE;
}

int plm_transform_shape(struct plm_transform *out, int rank, const int64_t *n, int64_t batch)
{
    if (rank < 1 || rank > PLM_CUFFT_RANK_MAX || !n)
        return PLM_CUFFT_INVALID_VALUE;
    if (batch < 1)
        return PLM_CUFFT_INVALID_SIZE;
    out->rank = rank;
    out->batch = batch;
    for (int i = 0; i < rank; i++) {
        if (n[i] < 1)
            return PLM_CUFFT_INVALID_SIZE;
        out->n[i] = n[i];
    }
    return PLM_CUFFT_SUCCESS;
}

/* At most a few hundred divisions even for a large prime: it stops where Bluestein starts. */
static int64_t largest_factor(int64_t n)
{
    int64_t largest = 1;
    for (int64_t p = 2; p <= BLUESTEIN_ABOVE && n > 1; p++)
        for (; n % p == 0; n /= p)
            largest = p;
    return n > 1 ? n : largest;
}

struct plm_fft_shape plm_transform_row(const struct plm_transform *transform)
{
    struct plm_fft_shape row = {.kind = transform->kind,
                                .rank = transform->rank,
                                .batch = transform->batch,
                                .complex_bytes = (int)transform->complex_bytes};
    memcpy(row.n, transform->n, sizeof row.n);
    return row;
}

static bool measured(const struct plm_transform *transform, size_t *bytes)
{
    const struct plm_fft_shape row = plm_transform_row(transform);
    const struct plm_stack_row_key key = plm_fft_key(&row);
    const struct plm_stack_sizes sizes = plm_stack_file_find(plm_stack_in_use(), &key);
    if (!sizes.count)
        return false;
    *bytes = sizes.bytes[0];
    return true;
}

static int estimate(const struct plm_transform *transform, size_t *bytes)
{
    uint64_t total = (uint64_t)transform->batch * transform->complex_bytes;
    bool passes = false;

    if (__builtin_mul_overflow((uint64_t)transform->batch, (uint64_t)transform->complex_bytes, &total))
        return PLM_CUFFT_INVALID_SIZE;
    for (int i = 0; i < transform->rank; i++) {
        uint64_t n = (uint64_t)transform->n[i], count = n;
        int64_t factor = largest_factor(transform->n[i]);
        if (transform->half && i == transform->rank - 1)
            count = n / 2 + 1;
        if (factor > BLUESTEIN_ABOVE)
            for (count = 1; count < 2 * n - 1 && count < UINT64_MAX / 4;)
                count *= 2;
        passes |= factor > RADIX_MAX || n > SHARED_LINE / transform->complex_bytes;
        if (__builtin_mul_overflow(total, count, &total))
            return PLM_CUFFT_INVALID_SIZE;
    }
    *bytes = passes ? total : 0;
    return PLM_CUFFT_SUCCESS;
}

int plm_transform_work(const struct plm_transform *transform, size_t *bytes)
{
    return measured(transform, bytes) ? PLM_CUFFT_SUCCESS : estimate(transform, bytes);
}
