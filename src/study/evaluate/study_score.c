#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "study/evaluate/random.h"
#include "study/evaluate/study.h"

enum { CLASSES = 1024 };
/* An upper edge that was computed belongs to its own class. */
#define EDGE 1e-9

const char *plm_study_figure_name(enum plm_study_figure figure)
{
    static const char *const names[PLM_STUDY_FIGURES] = {[PLM_STUDY_ACCURACY] = "accuracy",
                                                         [PLM_STUDY_F1] = "f1",
                                                         [PLM_STUDY_UNDER] = "under",
                                                         [PLM_STUDY_BELOW] = "below",
                                                         [PLM_STUDY_EXACT] = "exact",
                                                         [PLM_STUDY_MAE] = "mean_error",
                                                         [PLM_STUDY_R2] = "r2"};
    return names[figure];
}

unsigned plm_study_class(double figure, double width)
{
    double class = ceil(figure / width - EDGE);
    return class <= 0 ? 0 : class >= CLASSES ? CLASSES - 1 : (unsigned)class;
}

/* The answers that are there, and how often each counts in a resample. */
struct sample {
    size_t count;
    double *answer, *truth;
    unsigned *class, *class_true;
    unsigned *times;
    bool memory;
    unsigned hit[CLASSES], said[CLASSES], there[CLASSES]; /* scratch, per class */
};

static double f1_of(struct sample *s)
{
    double sum = 0, classes = 0;
    for (size_t i = 0; i < CLASSES; i++)
        s->hit[i] = s->said[i] = s->there[i] = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->said[s->class[i]] += s->times[i];
        s->there[s->class_true[i]] += s->times[i];
        s->hit[s->class[i]] += s->class[i] == s->class_true[i] ? s->times[i] : 0;
    }
    for (size_t i = 0; i < CLASSES; i++)
        if (s->said[i] || s->there[i]) {
            sum += 2.0 * s->hit[i] / (s->said[i] + s->there[i]);
            classes++;
        }
    return classes > 0 ? sum / classes : NAN;
}

static double r2_of(const struct sample *s)
{
    double n = 0, mean = 0, residual = 0, spread = 0;
    for (size_t i = 0; i < s->count; i++) {
        n += s->times[i];
        mean += s->times[i] * s->truth[i];
    }
    mean /= n;
    for (size_t i = 0; i < s->count; i++) {
        residual += s->times[i] * (s->answer[i] - s->truth[i]) * (s->answer[i] - s->truth[i]);
        spread += s->times[i] * (s->truth[i] - mean) * (s->truth[i] - mean);
    }
    return spread > 0 ? 1 - residual / spread : NAN;
}

static void figures_make(struct sample *s, double value[PLM_STUDY_FIGURES])
{
    double n = 0, same = 0, under = 0, below = 0, exact = 0, off = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double times = s->times[i];
        n += times;
        same += s->class[i] == s->class_true[i] ? times : 0;
        under += s->class[i] < s->class_true[i] ? times : 0;
        below += rint(s->answer[i]) < rint(s->truth[i]) ? times : 0;
        exact += rint(s->answer[i]) == rint(s->truth[i]) ? times : 0;
        off += times * fabs(s->answer[i] - s->truth[i]);
    }
    value[PLM_STUDY_ACCURACY] = same / n;
    value[PLM_STUDY_F1] = f1_of(s);
    value[PLM_STUDY_UNDER] = under / n;
    value[PLM_STUDY_BELOW] = below / n;
    value[PLM_STUDY_EXACT] = s->memory ? exact / n : NAN;
    value[PLM_STUDY_MAE] = off / n;
    value[PLM_STUDY_R2] = r2_of(s);
}

static void intervals_make(struct sample *s, uint64_t seed, struct plm_study_score *score)
{
    double *drawn = plm_calloc((size_t)PLM_STUDY_FIGURES * PLM_RESAMPLES, sizeof *drawn);
    struct plm_random random;
    plm_random_start(&random, seed);
    for (size_t i = 0; i < PLM_RESAMPLES; i++) {
        double value[PLM_STUDY_FIGURES];
        for (size_t k = 0; k < s->count; k++)
            s->times[k] = 0;
        for (size_t k = 0; k < s->count; k++)
            s->times[plm_random_below(&random, s->count)]++;
        figures_make(s, value);
        for (size_t k = 0; k < PLM_STUDY_FIGURES; k++)
            drawn[k * PLM_RESAMPLES + i] = value[k];
    }
    for (size_t k = 0; k < PLM_STUDY_FIGURES; k++)
        score->interval[k] = plm_interval_known(drawn + k * PLM_RESAMPLES, PLM_RESAMPLES);
    free(drawn);
}

static void sample_take(const double *answer, const double *truth, size_t count, double width, struct sample *s)
{
    s->answer = plm_calloc(count + 1, sizeof *s->answer);
    s->truth = plm_calloc(count + 1, sizeof *s->truth);
    s->class = plm_calloc(count + 1, sizeof *s->class);
    s->class_true = plm_calloc(count + 1, sizeof *s->class_true);
    s->times = plm_calloc(count + 1, sizeof *s->times);
    for (size_t i = 0; i < count; i++)
        if (!isnan(answer[i])) {
            s->answer[s->count] = answer[i];
            s->truth[s->count] = truth[i];
            s->class[s->count] = plm_study_class(answer[i], width);
            s->class_true[s->count] = plm_study_class(truth[i], width);
            s->times[s->count++] = 1;
        }
}

void plm_study_score_make(const double *answer, const double *truth, size_t count, double width, bool memory,
                          bool intervals, uint64_t seed, struct plm_study_score *score)
{
    struct sample *s = plm_calloc(1, sizeof *s);
    s->memory = memory;
    *score = (struct plm_study_score){.asked = count};
    for (int i = 0; i < PLM_STUDY_FIGURES; i++) {
        score->value[i] = NAN;
        score->interval[i] = (struct plm_interval){NAN, NAN};
    }
    sample_take(answer, truth, count, width, s);
    score->answered = s->count;
    if (s->count)
        figures_make(s, score->value);
    if (s->count && intervals)
        intervals_make(s, seed, score);
    free(s->answer);
    free(s->truth);
    free(s->class);
    free(s->class_true);
    free(s->times);
    free(s);
}
