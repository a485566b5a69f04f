#include "study/evaluate/bootstrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/evaluate/metrics.h"
#include "study/evaluate/random.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The values are sorted, so counting how often each was drawn is enough: no resample is sorted. */
static double one_median(const double *value, size_t count, uint32_t *times, struct plm_random *random)
{
    const size_t middle = (count - 1) / 2;
    size_t seen = 0, at = 0, next;
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[plm_random_below(random, count)]++;
    while (seen + times[at] <= middle)
        seen += times[at++];
    if (count % 2 || seen + times[at] > middle + 1)
        return value[at];
    for (next = at + 1; next < count && !times[next]; next++)
        ;
    return next < count ? (value[at] + value[next]) / 2 : value[at];
}

void plm_bootstrap_median(const double *value, size_t count, uint64_t seed, struct plm_interval *interval)
{
    double *median;
    uint32_t *times;
    struct plm_random random;
    *interval = (struct plm_interval){0};
    if (!count)
        return;
    median = plm_calloc(PLM_RESAMPLES, sizeof *median);
    times = plm_calloc(count, sizeof *times);
    plm_random_start(&random, seed);
    for (size_t i = 0; i < PLM_RESAMPLES; i++)
        median[i] = one_median(value, count, times, &random);
    qsort(median, PLM_RESAMPLES, sizeof *median, ascending);
    interval->low = plm_quantile(median, PLM_RESAMPLES, 0.025);
    interval->high = plm_quantile(median, PLM_RESAMPLES, 0.975);
    free(median);
    free(times);
}
