#include "base/spearman.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static int place_order(const void *a, const void *b)
{
    const struct plm_spearman_place *x = a, *y = b;
    if (x->value != y->value)
        return (x->value > y->value) - (x->value < y->value);
    return (x->at > y->at) - (x->at < y->at);
}

void plm_spearman_sort(struct plm_spearman_place *place, size_t count)
{
    qsort(place, count, sizeof *place, place_order);
}

struct plm_spearman_place *plm_spearman_order(const double *value, size_t count)
{
    struct plm_spearman_place *place = plm_calloc(count, sizeof *place);
    for (size_t i = 0; i < count; i++)
        place[i] = (struct plm_spearman_place){value[i], i};
    plm_spearman_sort(place, count);
    return place;
}

void plm_spearman_ranks(const struct plm_spearman_place *place, size_t count, const uint32_t *times, double *rank)
{
    double before = 0;
    for (size_t from = 0, to; from < count; from = to) {
        double same = 0;
        for (to = from; to < count && place[to].value == place[from].value; to++)
            same += times[place[to].at];
        for (size_t i = from; i < to; i++)
            rank[place[i].at] = before + (same + 1) / 2;
        before += same;
    }
}

double plm_spearman_correlation(const double *x, const double *y, const uint32_t *times, size_t count)
{
    double n = 0, middle, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < count; i++)
        n += times[i];
    middle = (n + 1) / 2;
    for (size_t i = 0; i < count; i++) {
        const double a = x[i] - middle, b = y[i] - middle;
        xx += times[i] * a * a;
        yy += times[i] * b * b;
        xy += times[i] * a * b;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

double plm_spearman(const double *x, const double *y, size_t count)
{
    struct plm_spearman_place *place[] = {plm_spearman_order(x, count), plm_spearman_order(y, count)};
    double *rank = plm_calloc(2 * count, sizeof *rank), result;
    uint32_t *once = plm_calloc(count, sizeof *once);
    for (size_t i = 0; i < count; i++)
        once[i] = 1;
    for (size_t i = 0; i < 2; i++)
        plm_spearman_ranks(place[i], count, once, rank + i * count);
    result = plm_spearman_correlation(rank, rank + count, once, count);
    free(place[0]);
    free(place[1]);
    free(rank);
    free(once);
    return result;
}
