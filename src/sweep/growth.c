#include "sweep/growth.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static int by_value(const void *a, const void *b)
{
    const struct plm_sweep_sample *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

size_t plm_sweep_samples_sort(struct plm_sweep_sample *s, size_t count)
{
    size_t kept = 0;
    qsort(s, count, sizeof *s, by_value);
    for (size_t i = 0; i < count; i++)
        if (!kept || s[kept - 1].value != s[i].value)
            s[kept++] = s[i];
    return kept;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *of, size_t count)
{
    qsort(of, count, sizeof *of, by_size);
    return count % 2 ? of[count / 2] : (of[count / 2 - 1] + of[count / 2]) / 2;
}

static double slope(const struct plm_sweep_sample *a, const struct plm_sweep_sample *b)
{
    return ((double)b->bytes - (double)a->bytes) / ((double)b->value - (double)a->value);
}

enum { PAIRED = 400 }; /* of more samples some are passed over */

static double slope_of_all(const struct plm_sweep_sample *s, size_t count)
{
    const size_t stride = count / PAIRED + 1;
    double *slopes = plm_calloc((count / stride + 1) * (count / stride + 1), sizeof *slopes), result;
    size_t n = 0;
    for (size_t i = 0; i < count; i += stride)
        for (size_t k = i + stride; k < count; k += stride)
            slopes[n++] = slope(&s[i], &s[k]);
    if (!n)
        slopes[n++] = slope(&s[0], &s[count - 1]);
    result = median(slopes, n);
    free(slopes);
    return result;
}

static void bend_find(struct plm_sweep_growth *g, const struct plm_sweep_sample *s, size_t count)
{
    double most = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        const double below = slope(&s[0], &s[i]), above = slope(&s[i], &s[count - 1]);
        if (fabs(above - below) > most) {
            most = fabs(above - below);
            g->bend = s[i].value;
            g->below = below;
            g->above = above;
        }
    }
}

struct plm_sweep_growth plm_sweep_growth(const struct plm_sweep_sample *s, size_t count)
{
    struct plm_sweep_growth g = {.known = count > 1};
    double *rest;
    if (!g.known)
        return g;
    rest = plm_calloc(count, sizeof *rest);
    g.each = slope_of_all(s, count);
    for (size_t i = 0; i < count; i++)
        rest[i] = (double)s[i].bytes - g.each * (double)s[i].value;
    g.fixed = median(rest, count);
    free(rest);
    for (size_t i = 0; i < count; i++) {
        const double line = g.fixed + g.each * (double)s[i].value, off = fabs((double)s[i].bytes - line);
        const double share = s[i].bytes ? off / (double)s[i].bytes : 0;
        if (share > g.off) {
            g.off = share;
            g.off_at = s[i].value;
        }
    }
    g.linear = g.off <= PLM_SWEEP_LINEAR;
    if (!g.linear)
        bend_find(&g, s, count);
    return g;
}

double plm_sweep_memory_at(const struct plm_sweep_sample *s, size_t count, double value)
{
    size_t i = 0;
    if (!count)
        return 0;
    if (count == 1)
        return (double)s[0].bytes;
    while (i + 2 < count && (double)s[i + 1].value < value)
        i++;
    return (double)s[i].bytes + slope(&s[i], &s[i + 1]) * (value - (double)s[i].value);
}

uint64_t plm_sweep_value_within(const struct plm_sweep_sample *s, size_t count, uint64_t bytes, uint64_t most)
{
    uint64_t low = 0, high = most; /* memory is within at low */
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if (plm_sweep_memory_at(s, count, (double)middle) <= (double)bytes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
