/* What the error of an estimator depends on: the columns of the truth file as factors of an analysis of variance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/evaluate/judge.h"

enum { FACTORS = 6, LEAST_OBSERVATIONS = 8 };
static const char *const names[FACTORS] = {"family", "model", "optimizer", "batch", "gpu", "zero_grad"};

static void text_of(const struct plm_evaluation *e, size_t row, int factor, char *out, size_t size)
{
    const struct plm_truth_row *r = plm_evaluation_row(e, row);
    switch (factor) {
    case 0: snprintf(out, size, "%s", r->family); break;
    case 1: snprintf(out, size, "%s", r->model); break;
    case 2: snprintf(out, size, "%s", r->optimizer); break;
    case 3: snprintf(out, size, "%llu", (unsigned long long)r->batch); break;
    case 4: snprintf(out, size, "%s", plm_evaluation_run(e, row)->card); break;
    default: snprintf(out, size, "%d", r->zero_grad);
    }
}

/* Numbers the values that occur, in their order; PLM_EINVAL if there are too many. */
static int number_levels(const struct plm_evaluation *e, const size_t *row, size_t count, int factor, uint32_t *level)
{
    char(*seen)[128] = plm_calloc(PLM_LEVELS, sizeof *seen);
    uint32_t levels = 0;
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        char text[128];
        text_of(e, row[i], factor, text, sizeof text);
        for (level[i] = 0; level[i] < levels && strcmp(seen[level[i]], text) != 0; level[i]++)
            ;
        if (level[i] == PLM_LEVELS)
            status = PLM_EINVAL;
        else if (level[i] == levels)
            strcpy(seen[levels++], text);
    }
    free(seen);
    return status;
}

static void analyse(const struct plm_evaluation *e, const size_t *row, const double *value, size_t count,
                    struct plm_anova *anova)
{
    uint32_t *level = plm_calloc(FACTORS * count, sizeof *level);
    struct plm_anova_factor factor[FACTORS];
    int status = 0;
    for (int i = 0; i < FACTORS && status == 0; i++) {
        factor[i] = (struct plm_anova_factor){names[i], level + (size_t)i * count};
        status = number_levels(e, row, count, i, level + (size_t)i * count);
    }
    if (status == 0)
        status = plm_anova_make(value, count, factor, FACTORS, anova);
    free(level);
    if (status)
        *anova = (struct plm_anova){0};
}

void plm_evaluation_anova(const struct plm_evaluation *e, const struct plm_family *family, size_t estimator,
                          struct plm_anova *anova)
{
    const struct plm_score *score = e->estimator[estimator].score;
    size_t *row = plm_calloc(e->rows, sizeof *row), count = 0;
    double *value = plm_calloc(e->rows, sizeof *value);
    *anova = (struct plm_anova){0};
    for (size_t i = 0; i < e->rows; i++)
        if (score[i].compared && plm_family_has(family, plm_evaluation_row(e, i))) {
            row[count] = i;
            value[count++] = e->options.response == PLM_RESPONSE_SIGNED ? score[i].error : fabs(score[i].error);
        }
    if (count >= LEAST_OBSERVATIONS && e->options.response != PLM_RESPONSE_NONE)
        analyse(e, row, value, count, anova);
    free(row);
    free(value);
}
