#include "study/evaluate/agreement.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/spearman.h"
#include "study/evaluate/random.h"

/* The pairs, and the orders that figures need. A resample says how often each pair was drawn, so nothing is sorted
   again. */
struct sample {
    const double *predicted, *measured;
    size_t count, relative;
    struct plm_spearman_place *by_predicted, *by_measured, *by_error;
    double *rank[2]; /* room for one resample */
    uint32_t *times;
};

const char *plm_agreement_name(enum plm_agreement_figure figure)
{
    static const char *const names[] = {[PLM_AGREE_R2] = "r2",
                                        [PLM_AGREE_SPEARMAN] = "spearman",
                                        [PLM_AGREE_MAE] = "mae",
                                        [PLM_AGREE_MEDIAN] = "median",
                                        [PLM_AGREE_P90] = "p90"};
    _Static_assert(sizeof names / sizeof names[0] == PLM_AGREE_FIGURES, "every figure has a name");
    return names[figure];
}

static void sample_start(const double *predicted, const double *measured, size_t count, struct sample *s)
{
    *s = (struct sample){.predicted = predicted, .measured = measured, .count = count};
    s->by_predicted = plm_spearman_order(predicted, count);
    s->by_measured = plm_spearman_order(measured, count);
    s->by_error = plm_calloc(count, sizeof *s->by_error);
    for (size_t i = 0; i < count; i++)
        if (measured[i] > 0)
            s->by_error[s->relative++] = (struct plm_spearman_place){fabs(predicted[i] - measured[i]) / measured[i], i};
    plm_spearman_sort(s->by_error, s->relative);
    for (int i = 0; i < 2; i++)
        s->rank[i] = plm_calloc(count, sizeof *s->rank[i]);
    s->times = plm_calloc(count, sizeof *s->times);
}

static void sample_end(struct sample *s)
{
    free(s->by_predicted);
    free(s->by_measured);
    free(s->by_error);
    free(s->rank[0]);
    free(s->rank[1]);
    free(s->times);
}

/* Mean and squares by weights that are counts. */
static double r2_of(const struct sample *s)
{
    double mean = 0, all = 0, errors = 0, n = 0;
    for (size_t i = 0; i < s->count; i++) {
        mean += s->times[i] * s->measured[i];
        n += s->times[i];
    }
    mean /= n;
    for (size_t i = 0; i < s->count; i++) {
        const double off = s->measured[i] - mean, error = s->predicted[i] - s->measured[i];
        all += s->times[i] * off * off;
        errors += s->times[i] * error * error;
    }
    return all > 0 ? 1 - errors / all : NAN;
}

static double spearman_of(const struct sample *s)
{
    plm_spearman_ranks(s->by_predicted, s->count, s->times, s->rank[0]);
    plm_spearman_ranks(s->by_measured, s->count, s->times, s->rank[1]);
    return plm_spearman_correlation(s->rank[0], s->rank[1], s->times, s->count);
}

static double mae_of(const struct sample *s)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < s->count; i++) {
        sum += s->times[i] * fabs(s->predicted[i] - s->measured[i]);
        n += s->times[i];
    }
    return sum / n;
}

/* plm_quantile() of the errors, each as often as it was drawn. */
static double error_quantile(const struct sample *s, double share)
{
    double n = 0, place, seen = 0, below = NAN;
    for (size_t i = 0; i < s->relative; i++)
        n += s->times[s->by_error[i].at];
    if (n == 0)
        return NAN;
    place = share * (n - 1);
    for (size_t i = 0; i < s->relative; i++) {
        seen += s->times[s->by_error[i].at];
        if (isnan(below) && seen > floor(place))
            below = s->by_error[i].value;
        if (seen > floor(place) + 1)
            return below + (place - floor(place)) * (s->by_error[i].value - below);
    }
    return below;
}

static void figures_make(const struct sample *s, double value[PLM_AGREE_FIGURES])
{
    value[PLM_AGREE_R2] = r2_of(s);
    value[PLM_AGREE_SPEARMAN] = spearman_of(s);
    value[PLM_AGREE_MAE] = mae_of(s);
    value[PLM_AGREE_MEDIAN] = error_quantile(s, 0.5);
    value[PLM_AGREE_P90] = error_quantile(s, 0.9);
}

static void intervals_make(struct sample *s, uint64_t seed, struct plm_agreement *a)
{
    double *drawn = plm_calloc((size_t)PLM_AGREE_FIGURES * PLM_RESAMPLES, sizeof *drawn);
    struct plm_random random;
    plm_random_start(&random, seed);
    for (size_t i = 0; i < PLM_RESAMPLES; i++) {
        double value[PLM_AGREE_FIGURES];
        for (size_t k = 0; k < s->count; k++)
            s->times[k] = 0;
        for (size_t k = 0; k < s->count; k++)
            s->times[plm_random_below(&random, s->count)]++;
        figures_make(s, value);
        for (size_t k = 0; k < PLM_AGREE_FIGURES; k++)
            drawn[k * PLM_RESAMPLES + i] = value[k];
    }
    for (size_t k = 0; k < PLM_AGREE_FIGURES; k++)
        a->interval[k] = plm_interval_known(drawn + k * PLM_RESAMPLES, PLM_RESAMPLES);
    free(drawn);
}

void plm_agreement_make(const double *predicted, const double *measured, size_t count, uint64_t seed,
                        struct plm_agreement *a)
{
    struct sample s;
    *a = (struct plm_agreement){.count = count};
    for (int i = 0; i < PLM_AGREE_FIGURES; i++) {
        a->value[i] = NAN;
        a->interval[i] = (struct plm_interval){NAN, NAN};
    }
    if (!count)
        return;
    sample_start(predicted, measured, count, &s);
    a->relative = s.relative;
    for (size_t i = 0; i < count; i++)
        s.times[i] = 1;
    figures_make(&s, a->value);
    intervals_make(&s, seed, a);
    sample_end(&s);
}
