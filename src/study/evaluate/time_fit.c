/* A few constants of the time model, chosen by rows that were measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/evaluate/time_model.h"

/* ---- a search without derivatives ---- */

enum { TRIES_MOST = 160, STARTS = 2 };
#define NEAR 1e-4 /* a simplex that is smaller than this is done */

struct corner {
    double x[PLM_TIME_FIT_MOST], y;
};

struct search {
    double (*f)(const double *x, void *context);
    void *context;
    size_t count, tries;
    struct corner corner[PLM_TIME_FIT_MOST + 1]; /* the best first */
};

static double corner_try(struct search *s, struct corner *c)
{
    for (size_t i = 0; i < s->count; i++)
        c->x[i] = fmin(fmax(c->x[i], 0), 1);
    s->tries++;
    c->y = s->f(c->x, s->context);
    return c->y;
}

static int corner_order(const void *a, const void *b)
{
    const double x = ((const struct corner *)a)->y, y = ((const struct corner *)b)->y;
    return (x > y) - (x < y);
}

static double simplex_size(const struct search *s)
{
    double size = 0;
    for (size_t i = 1; i <= s->count; i++)
        for (size_t k = 0; k < s->count; k++)
            size = fmax(size, fabs(s->corner[i].x[k] - s->corner[0].x[k]));
    return size;
}

/* From the worst corner through the middle of the others, `far` times as far beyond it. */
static struct corner corner_beyond(const struct search *s, double far)
{
    struct corner c = {.y = 0};
    for (size_t k = 0; k < s->count; k++) {
        double middle = 0;
        for (size_t i = 0; i < s->count; i++)
            middle += s->corner[i].x[k] / (double)s->count;
        c.x[k] = middle + far * (middle - s->corner[s->count].x[k]);
    }
    return c;
}

static void simplex_shrink(struct search *s)
{
    for (size_t i = 1; i <= s->count; i++) {
        for (size_t k = 0; k < s->count; k++)
            s->corner[i].x[k] = (s->corner[i].x[k] + s->corner[0].x[k]) / 2;
        corner_try(s, &s->corner[i]);
    }
}

static void simplex_move(struct search *s)
{
    struct corner *worst = &s->corner[s->count], reflected = corner_beyond(s, 1), other;
    corner_try(s, &reflected);
    if (reflected.y < s->corner[0].y) {
        other = corner_beyond(s, 2);
        *worst = corner_try(s, &other) < reflected.y ? other : reflected;
    } else if (reflected.y < s->corner[s->count - 1].y)
        *worst = reflected;
    else {
        other = corner_beyond(s, reflected.y < worst->y ? 0.5 : -0.5);
        if (corner_try(s, &other) < fmin(reflected.y, worst->y))
            *worst = other;
        else
            simplex_shrink(s);
    }
}

/* Around the best so far, with one corner in each direction. */
static void simplex_start(struct search *s, double size)
{
    for (size_t i = 1; i <= s->count; i++) {
        s->corner[i] = s->corner[0];
        s->corner[i].x[i - 1] += s->corner[0].x[i - 1] + size <= 1 ? size : -size;
        corner_try(s, &s->corner[i]);
    }
}

size_t plm_minimum_find(double (*f)(const double *x, void *context), void *context, size_t count, double *x,
                        double *least)
{
    struct search s = {.f = f, .context = context, .count = count};
    memcpy(s.corner[0].x, x, count * sizeof *x);
    corner_try(&s, &s.corner[0]);
    for (int start = 0; start < STARTS; start++) {
        const size_t most = s.tries + TRIES_MOST / STARTS;
        simplex_start(&s, start ? 0.05 : 0.2);
        do {
            qsort(s.corner, count + 1, sizeof s.corner[0], corner_order);
            simplex_move(&s);
        } while (s.tries < most && simplex_size(&s) > NEAR);
        qsort(s.corner, count + 1, sizeof s.corner[0], corner_order);
    }
    memcpy(x, s.corner[0].x, count * sizeof *x);
    *least = s.corner[0].y;
    return s.tries;
}

/* ---- how far off ---- */

struct sums {
    double count, measured, measured2, errors;
};

static double unexplained(const struct sums *s)
{
    const double all = s->measured2 - s->measured * s->measured / s->count;
    return all > 0 ? s->errors / all : 0;
}

static double loss_of(const struct sums *s, enum plm_timed_kind kind)
{
    double loss = 0, figures = 0;
    if (kind == PLM_TIMED_STEP)
        return s[PLM_FIGURE_STEP].count > 0 ? s[PLM_FIGURE_STEP].errors / s[PLM_FIGURE_STEP].count : 0;
    for (int i = PLM_FIGURE_METRIC; i < PLM_TIMED_FIGURES; i++)
        if (s[i].count > 1) {
            loss += unexplained(&s[i]);
            figures++;
        }
    return figures > 0 ? loss / figures : 0;
}

double plm_timed_loss(struct plm_timed_bench *bench, const size_t *run, size_t runs,
                      const struct plm_timed_model *model)
{
    struct sums sums[PLM_TIMED_FIGURES] = {0};
    for (size_t i = 0; i < runs; i++) {
        const struct plm_timed_row *row = bench->run[run[i]].row;
        struct plm_timed_forecast f;
        plm_timed_model_ask(model, &bench->run[run[i]], &f);
        for (int k = 0; k < PLM_TIMED_FIGURES && f.known; k++) {
            const double error =
                k == PLM_FIGURE_STEP ? fabs(log(f.figure[k] / row->figure[k])) : f.figure[k] - row->figure[k];
            if (!(row->known >> k & 1))
                continue;
            sums[k].count++;
            sums[k].measured += row->figure[k];
            sums[k].measured2 += row->figure[k] * row->figure[k];
            sums[k].errors += k == PLM_FIGURE_STEP ? error : error * error;
        }
    }
    return loss_of(sums, bench->truth->kind);
}

/* ---- constants ---- */

/* Constants that may be 0 are looked for more closely near it, all others by their logarithm. */
static double constant_of_place(const struct plm_speed *c, double x)
{
    return c->least > 0 ? c->least * pow(c->most / c->least, x) : c->most * pow(x, 4);
}

static double place_of_constant(const struct plm_speed *c, double value)
{
    return c->least > 0 ? log(value / c->least) / log(c->most / c->least) : pow(value / c->most, 0.25);
}

static const struct plm_speed *constant_find(const char *name, size_t length)
{
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        if (strlen(plm_speed[i].name) == length && !strncmp(plm_speed[i].name, name, length))
            return &plm_speed[i];
    return NULL;
}

int plm_timed_fit_parse(const char *text, struct plm_timed_fit *fit, struct plm_error *error)
{
    *fit = (struct plm_timed_fit){0};
    for (;;) {
        const size_t length = strcspn(text, ",");
        const struct plm_speed *constant = constant_find(text, length);
        if (!constant)
            return plm_fail(error, PLM_EINVAL,
                            "--fit: the time model has no constant \"%.*s\"; docs/utilization.md lists them",
                            length < 40 ? (int)length : 40, text);
        for (size_t i = 0; i < fit->constants; i++)
            if (fit->constant[i] == constant)
                return plm_fail(error, PLM_EINVAL, "--fit: %s is given twice", constant->name);
        if (fit->constants == PLM_TIME_FIT_MOST)
            return plm_fail(error, PLM_EINVAL, "--fit: at most three constants are fitted");
        fit->constant[fit->constants++] = constant;
        if (!text[length])
            return 0;
        text += length + 1;
    }
}

struct fitting {
    struct plm_timed_bench *bench;
    const size_t *run;
    size_t runs;
    struct plm_timed_model *model;
    const struct plm_timed_fit *fit;
};

static void constants_set(const struct fitting *g, const double *x)
{
    for (size_t i = 0; i < g->fit->constants; i++)
        for (size_t k = 0; k < g->model->cards; k++)
            plm_speed_set(&g->model->card[k].speeds, g->fit->constant[i], constant_of_place(g->fit->constant[i], x[i]));
}

static double constants_try(const double *x, void *context)
{
    const struct fitting *g = context;
    constants_set(g, x);
    return plm_timed_loss(g->bench, g->run, g->runs, g->model);
}

void plm_timed_fit_make(struct plm_timed_bench *bench, const size_t *run, size_t runs, struct plm_timed_model *model,
                        struct plm_timed_fit *fit)
{
    struct fitting g = {bench, run, runs, model, fit};
    double x[PLM_TIME_FIT_MOST];
    fit->rows = runs;
    fit->loss_before = plm_timed_loss(bench, run, runs, model);
    for (size_t i = 0; i < fit->constants; i++) {
        fit->before[i] = plm_speed_get(&model->card[0].speeds, fit->constant[i]);
        x[i] = place_of_constant(fit->constant[i], fit->before[i]);
    }
    fit->tries = plm_minimum_find(constants_try, &g, fit->constants, x, &fit->loss);
    constants_set(&g, x);
    for (size_t i = 0; i < fit->constants; i++)
        fit->value[i] = plm_speed_get(&model->card[0].speeds, fit->constant[i]);
}
