#include "study/evaluate/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "study/evaluate/random.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- how sure a median is ---- */

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

struct plm_interval plm_interval_known(double *value, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(value[i]))
            value[known++] = value[i];
    if (!known)
        return (struct plm_interval){NAN, NAN};
    qsort(value, known, sizeof *value, ascending);
    return (struct plm_interval){plm_quantile(value, known, 0.025), plm_quantile(value, known, 0.975)};
}

/* ---- figures ---- */

const double plm_quantile_of[PLM_QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};

double plm_quantile(const double *value, size_t count, double share)
{
    double place;
    size_t below;
    if (!count)
        return 0;
    place = share * (double)(count - 1);
    below = (size_t)place;
    if (below + 1 >= count)
        return value[count - 1];
    return value[below] + (place - (double)below) * (value[below + 1] - value[below]);
}

bool plm_score_fails(const struct plm_score *s, enum plm_cap cap)
{
    return !s->agrees || s->capped_fails[cap];
}

void plm_score_conserve(struct plm_score *s, double total)
{
    for (int cap = 0; cap < PLM_CAPS; cap++)
        if (plm_score_fails(s, (enum plm_cap)cap))
            s->conserved[cap] = -s->estimate;
        else
            s->conserved[cap] = s->oom ? total : total - s->estimate;
}

/* Figures over the runs that have a verdict. */
static void add_verdicts(const struct plm_score *score, size_t count, struct plm_metrics *m)
{
    size_t agree = 0, fail[PLM_CAPS] = {0};
    double conserved[PLM_CAPS] = {0};
    for (size_t i = 0; i < count; i++) {
        m->answered += score[i].answered;
        if (score[i].seconds > 0) {
            m->timed++;
            m->seconds += score[i].seconds;
        }
        if (!score[i].judged)
            continue;
        m->judged++;
        agree += score[i].agrees;
        for (int cap = 0; cap < PLM_CAPS; cap++) {
            fail[cap] += plm_score_fails(&score[i], (enum plm_cap)cap);
            conserved[cap] += score[i].conserved[cap];
        }
    }
    m->seconds /= m->timed ? (double)m->timed : 1;
    if (!m->judged)
        return;
    m->agreement = (double)agree / (double)m->judged;
    for (int cap = 0; cap < PLM_CAPS; cap++) {
        m->pef[cap] = (double)fail[cap] / (double)m->judged;
        m->mcp[cap] = conserved[cap] / (double)m->judged;
    }
}

/* Of the signed errors, in `list`, and then of their sizes. */
static void add_errors(double *list, size_t n, uint64_t seed, struct plm_metrics *m)
{
    double sum = 0;
    qsort(list, n, sizeof *list, ascending);
    for (int i = 0; i < PLM_QUANTILES; i++)
        m->quantile[i] = plm_quantile(list, n, plm_quantile_of[i]);
    for (size_t i = 0; i < n; i++)
        sum += list[i] = fabs(list[i]);
    qsort(list, n, sizeof *list, ascending);
    if (!n)
        return;
    m->median = plm_quantile(list, n, 0.5);
    m->mean = sum / (double)n;
    m->p95 = plm_quantile(list, n, 0.95);
    m->worst = list[n - 1];
    plm_bootstrap_median(list, n, seed, &m->interval);
}

/* The median without the runs that the method was not made for. */
static void add_inside(const struct plm_score *score, size_t count, double *list, struct plm_metrics *m)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (score[i].compared && !score[i].outside)
            list[n++] = fabs(score[i].error);
    m->outside = m->compared - n;
    qsort(list, n, sizeof *list, ascending);
    m->inside = plm_quantile(list, n, 0.5);
}

void plm_metrics_make(const struct plm_score *score, size_t count, uint64_t seed, struct plm_metrics *m)
{
    double *list = plm_calloc(count, sizeof *list), width = 0;
    size_t n = 0, under = 0;
    *m = (struct plm_metrics){.runs = count};
    add_verdicts(score, count, m);
    for (size_t i = 0; i < count; i++) {
        if (!score[i].compared)
            continue;
        list[n++] = score[i].error;
        under += score[i].error < 0;
        width += score[i].width;
        m->covered += score[i].covers;
    }
    m->compared = n;
    add_errors(list, n, seed, m);
    if (n) {
        m->under = (double)under / (double)n;
        m->width = width / (double)n;
    }
    add_inside(score, count, list, m);
    free(list);
}
