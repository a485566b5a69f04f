#include "evaluate/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

const double plm_quantile_of[PLM_QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

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

bool plm_score_fails(const struct plm_score *s)
{
    return !s->agrees || s->capped_fails;
}

double plm_score_conserved(const struct plm_score *s, bool estimated_oom, double total)
{
    if (plm_score_fails(s))
        return -s->estimate;
    return estimated_oom ? total : total - s->estimate;
}

/* Figures over the runs that have a verdict. */
static void add_verdicts(const struct plm_score *score, size_t count, struct plm_metrics *m)
{
    size_t agree = 0, fail = 0;
    double conserved = 0;
    for (size_t i = 0; i < count; i++) {
        m->answered += score[i].answered;
        if (!score[i].judged)
            continue;
        m->judged++;
        agree += score[i].agrees;
        fail += plm_score_fails(&score[i]);
        conserved += score[i].conserved;
    }
    if (!m->judged)
        return;
    m->agreement = (double)agree / (double)m->judged;
    m->pef = (double)fail / (double)m->judged;
    m->mcp = conserved / (double)m->judged;
}

int plm_metrics_make(const struct plm_score *score, size_t count, struct plm_metrics *m)
{
    double *list = calloc(count ? count : 1, sizeof *list), sum = 0, width = 0;
    size_t n = 0, under = 0;
    if (!list)
        return PLM_ENOMEM;
    *m = (struct plm_metrics){.runs = count};
    add_verdicts(score, count, m);
    for (size_t i = 0; i < count; i++) {
        if (!score[i].compared)
            continue;
        list[n++] = score[i].error;
        under += score[i].error < 0;
        width += score[i].width;
    }
    m->compared = n;
    qsort(list, n, sizeof *list, ascending);
    for (int i = 0; i < PLM_QUANTILES; i++)
        m->quantile[i] = plm_quantile(list, n, plm_quantile_of[i]);
    for (size_t i = 0; i < n; i++)
        sum += list[i] = fabs(list[i]);
    qsort(list, n, sizeof *list, ascending);
    if (n) {
        m->median = plm_quantile(list, n, 0.5);
        m->mean = sum / (double)n;
        m->p95 = plm_quantile(list, n, 0.95);
        m->worst = list[n - 1];
        m->under = (double)under / (double)n;
        m->width = width / (double)n;
    }
    free(list);
    return 0;
}
