#include "time/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "time/cost.h"
#include "time/figures.h"

struct fitting {
    const struct plm_figures *figures;
    const struct plm_card *card;
    struct plm_calibration *c;
};

/* ---- times of the host and of kernels that do nothing ---- */

static bool figure_us(const struct plm_figures *figures, const char *name, double *us)
{
    const struct plm_figure *figure = plm_figures_find(figures, name, NULL);
    if (figure)
        *us = figure->us;
    return figure != NULL;
}

/* What one figure takes beyond another. */
static bool beyond(const struct plm_figures *f, const char *name, const char *without, double *us)
{
    double a, b;
    if (!figure_us(f, name, &a) || !figure_us(f, without, &b))
        return false;
    *us = a - b;
    return true;
}

static bool launch_of(const struct plm_figures *f, const struct plm_speeds *now, double *us)
{
    (void)now;
    return beyond(f, "host_launch", "host_plain", us);
}

static bool copy_call_of(const struct plm_figures *f, const struct plm_speeds *now, double *us)
{
    (void)now;
    return beyond(f, "host_copy", "host_copy_plain", us);
}

/* Kernels that are queued up follow each other in their own time and the gap; a profiler tells them apart. */
static bool floor_of(const struct plm_figures *f, const struct plm_speeds *now, double *us)
{
    if (figure_us(f, "kernel", us))
        return true;
    if (!figure_us(f, "period", us))
        return false;
    *us -= now->gap_us;
    return true;
}

static bool gap_of(const struct plm_figures *f, const struct plm_speeds *now, double *us)
{
    (void)now;
    return beyond(f, "period", "kernel", us);
}

static bool latency_of(const struct plm_figures *f, const struct plm_speeds *now, double *us)
{
    (void)now;
    return figure_us(f, "latency", us);
}

/* A launch and a wait for it: what is neither the call nor the kernel nor the way to it. */
static bool wait_of(const struct plm_figures *f, const struct plm_speeds *now, double *us)
{
    if (!beyond(f, "roundtrip", "host_launch", us))
        return false;
    *us -= now->latency_us + now->floor_us;
    return true;
}

static const struct direct {
    int constant;
    bool (*value)(const struct plm_figures *figures, const struct plm_speeds *now, double *us);
} directs[] = {
    {PLM_SPEED_launch_us, launch_of}, {PLM_SPEED_copy_call_us, copy_call_of}, {PLM_SPEED_floor_us, floor_of},
    {PLM_SPEED_gap_us, gap_of},       {PLM_SPEED_latency_us, latency_of},     {PLM_SPEED_wait_us, wait_of},
};

static void value_take(struct plm_calibration *c, int constant, double value)
{
    plm_speed_set(&c->speeds, &plm_speed[constant], value);
    c->how[constant] = PLM_CALIBRATED_MEASURED;
}

/* Differences of two clocks may come out a little below nothing. */
static void directs_take(const struct fitting *f)
{
    for (size_t i = 0; i < sizeof directs / sizeof directs[0]; i++) {
        const struct plm_speed *speed = &plm_speed[directs[i].constant];
        double value;
        if (!directs[i].value(f->figures, &f->c->speeds, &value))
            continue;
        value = fmax(value, speed->least);
        if (value <= speed->most)
            value_take(f->c, directs[i].constant, value);
        else
            f->c->how[directs[i].constant] = PLM_CALIBRATED_BEYOND;
    }
}

/* ---- constants that the model is solved for ---- */

/* In this order: each counts on those before it. */
static const struct fit {
    int constant;
    const char *figures; /* those of this name, each by itself; the mean counts */
    enum rule {
        PLAIN,
        NEEDED, /* without it nothing is right */
        ENDS,   /* its least says that there is none of it, so that is not beyond its limits */
        CACHED, /* of data that is in the cache: how much of it a network finds there is another matter */
        NEAR,   /* the value by which the model is nearest to all figures of the name together */
    } rule;
} fits[] = {
    {PLM_SPEED_memory_efficiency, "stream", NEEDED},
    {PLM_SPEED_l2_ratio, "cached", CACHED},
    {PLM_SPEED_strided_ops, "strided", ENDS},
    {PLM_SPEED_norm_ops, "norm", ENDS},
    {PLM_SPEED_softmax_ops, "softmax", ENDS},
    {PLM_SPEED_pooling_ops, "pooling", ENDS},
    {PLM_SPEED_gather_efficiency, "gather", PLAIN},
    {PLM_SPEED_simt_efficiency, "product_fp32", NEEDED},
    {PLM_SPEED_tensor_efficiency, "product_tensor", PLAIN},
    {PLM_SPEED_tile_128, "product", NEAR},
    {PLM_SPEED_tile_64, "product", NEAR},
    {PLM_SPEED_tile_32, "product", NEAR},
    {PLM_SPEED_tile_16, "product", NEAR},
    {PLM_SPEED_uneven_efficiency, "product_uneven", PLAIN},
    {PLM_SPEED_prologue_us, "product_short", ENDS},
    {PLM_SPEED_tile_step_ns, "product_long", ENDS},
    {PLM_SPEED_conv_efficiency, "convolution", PLAIN},
    {PLM_SPEED_conv_turning, "convolution_turned", ENDS},
    {PLM_SPEED_conv_gradient_efficiency, "convolution_gradient", PLAIN},
    {PLM_SPEED_winograd_gain, "convolution_fp32", ENDS},
    {PLM_SPEED_depthwise_efficiency, "depthwise", PLAIN},
    {PLM_SPEED_depthwise_gradient_efficiency, "depthwise_gradient", PLAIN},
    {PLM_SPEED_group_efficiency, "convolution_groups", PLAIN},
    {PLM_SPEED_attention_efficiency, "attention", PLAIN},
    {PLM_SPEED_attention_gradient_efficiency, "attention_gradient", PLAIN},
    {PLM_SPEED_pcie_efficiency, "pinned", PLAIN},
    {PLM_SPEED_pageable_gbs, "pageable", PLAIN},
};
enum { FITS = sizeof fits / sizeof fits[0], ROUNDS = 5, HALVINGS = 60, TRIES = 120 };

/* What the model says of a figure's work, in microseconds, if the constant were so; `fit` NULL: as they are. NAN:
   nothing. */
static double model_us(const struct fitting *f, const struct plm_figure *figure, const struct fit *fit, double value)
{
    struct plm_speeds speeds = f->c->speeds;
    struct plm_machine machine;
    struct plm_cost cost;
    if (fit)
        plm_speed_set(&speeds, &plm_speed[fit->constant], value);
    if (fit && fit->rule == CACHED)
        speeds.l2_share = 1;
    if (!figure->sized || plm_machine_make(f->card, &speeds, &machine, NULL))
        return NAN;
    cost = plm_cost(&machine, &figure->work);
    return cost.known ? cost.ns / 1e3 + speeds.gap_us : NAN;
}

/* ---- by one figure ---- */

/* The value at which the model gives the figure: between `low` and `high`, which do not. */
static double halve(const struct fitting *f, const struct plm_figure *figure, const struct fit *fit, double low,
                    double high)
{
    const bool grows = model_us(f, figure, fit, high) > model_us(f, figure, fit, low);
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        if ((model_us(f, figure, fit, middle) < figure->us) == grows)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Only where the constant matters to the figure does the figure tell it: by one part in a hundred at least. */
static enum plm_calibrated solve(const struct fitting *f, const struct plm_figure *figure, const struct fit *fit,
                                 double *value)
{
    const struct plm_speed *speed = &plm_speed[fit->constant];
    const double least = model_us(f, figure, fit, speed->least), most = model_us(f, figure, fit, speed->most);
    const double fast = fmin(least, most), slow = fmax(least, most);
    if (!(fast >= 0) || !(slow >= fast * 1.01))
        return PLM_CALIBRATED_KEPT;
    *value = speed->least;
    if (fit->rule == ENDS && (least < most ? figure->us < least : figure->us > least))
        return PLM_CALIBRATED_MEASURED;
    if (figure->us < fast || figure->us > slow)
        return PLM_CALIBRATED_BEYOND;
    *value = halve(f, figure, fit, speed->least, speed->most);
    return PLM_CALIBRATED_MEASURED;
}

/* Those that cannot be had are left out of the mean. */
static enum plm_calibrated solve_each(const struct fitting *f, const struct fit *fit, double *value)
{
    const struct plm_figure *figure = NULL;
    enum plm_calibrated how = PLM_CALIBRATED_KEPT;
    double sum = 0, one = 0;
    int count = 0;
    while ((figure = plm_figures_find(f->figures, fit->figures, figure))) {
        const enum plm_calibrated this = solve(f, figure, fit, &one);
        sum += this == PLM_CALIBRATED_MEASURED ? one : 0;
        count += this == PLM_CALIBRATED_MEASURED;
        how = this == PLM_CALIBRATED_BEYOND ? this : how;
    }
    *value = count ? sum / count : 0;
    return count ? PLM_CALIBRATED_MEASURED : how;
}

/* ---- by many together ---- */

/* How far the model is from all figures of the name: the sum of squared logarithms. */
static double distance(const struct fitting *f, const struct fit *fit, double value)
{
    const struct plm_figure *figure = NULL;
    double sum = 0;
    while ((figure = plm_figures_find(f->figures, fit->figures, figure))) {
        const double off = log(model_us(f, figure, fit, value) / figure->us);
        sum += isfinite(off) ? off * off : 0;
    }
    return sum;
}

/* Tries the whole range, for the model jumps where it takes another tile. What is there stays unless another value is
   nearer. */
static enum plm_calibrated nearest(const struct fitting *f, const struct fit *fit, double *value)
{
    const struct plm_speed *speed = &plm_speed[fit->constant];
    const double now = plm_speed_get(&f->c->speeds, speed), there = distance(f, fit, now);
    double best = there, worst = there;
    *value = now;
    for (int i = 0; i <= TRIES; i++) {
        const double tried = speed->least + (speed->most - speed->least) * i / TRIES, off = distance(f, fit, tried);
        worst = fmax(worst, off);
        if (off < best - 1e-9) {
            best = off;
            *value = tried;
        }
    }
    return worst - best > 1e-4 ? PLM_CALIBRATED_MEASURED : PLM_CALIBRATED_KEPT;
}

static void fit_take(const struct fitting *f, const struct fit *fit)
{
    double value = 0;
    const enum plm_calibrated how = fit->rule == NEAR ? nearest(f, fit, &value) : solve_each(f, fit, &value);
    f->c->how[fit->constant] = how;
    if (how == PLM_CALIBRATED_MEASURED)
        value_take(f->c, fit->constant, value);
}

static int fit_check(const struct fitting *f, const struct fit *fit, struct plm_error *error)
{
    const struct plm_speed *speed = &plm_speed[fit->constant];
    const struct plm_figure *figure = plm_figures_find(f->figures, fit->figures, NULL);
    if (fit->rule != NEEDED || f->c->how[fit->constant] == PLM_CALIBRATED_MEASURED)
        return 0;
    if (!figure)
        return plm_fail(error, PLM_EFORMAT, "the figure \"%s\" is missing, and %s needs it", fit->figures, speed->name);
    return plm_fail(error, PLM_EFORMAT,
                    "the figure \"%s\" (%g us) does not match this card: %s would not be between %g and %g",
                    fit->figures, figure->us, speed->name, speed->least, speed->most);
}

/* ---- how well it fits ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fit_judge(const struct fitting *f)
{
    double *off = plm_calloc(f->figures->count + 1, sizeof *off);
    size_t count = 0;
    for (size_t i = 0; i < f->figures->count; i++) {
        const struct plm_figure *figure = &f->figures->item[i];
        const double us = model_us(f, figure, NULL, 0);
        if (!(us > 0) || !strcmp(figure->name, "cached")) /* the model does not take that for granted */
            continue;
        off[count] = fabs(us / figure->us - 1);
        if (off[count] >= f->c->worst) {
            f->c->worst = off[count];
            memcpy(f->c->worst_name, figure->name, sizeof f->c->worst_name);
        }
        count++;
    }
    qsort(off, count, sizeof *off, by_size);
    f->c->median = count ? off[count / 2] : 0;
    free(off);
}

int plm_calibrate(const struct plm_figures *figures, const struct plm_card *card, const struct plm_speeds *kept,
                  struct plm_calibration *calibration, struct plm_error *error)
{
    const struct fitting f = {figures, card, calibration};
    struct plm_machine machine;
    int status = plm_machine_make(card, kept, &machine, error);
    *calibration = (struct plm_calibration){.speeds = *kept};
    memcpy(calibration->kept, kept->name, sizeof calibration->kept);
    if (status)
        return status;
    directs_take(&f);
    for (int round = 0; round < ROUNDS; round++) /* some count on later ones too */
        for (size_t i = 0; i < FITS; i++)
            fit_take(&f, &fits[i]);
    for (size_t i = 0; i < FITS && !status; i++)
        status = fit_check(&f, &fits[i], error);
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        calibration->measured += calibration->how[i] == PLM_CALIBRATED_MEASURED;
    fit_judge(&f);
    return status;
}

/* ---- the file ---- */

void plm_calibration_write(FILE *out, const struct plm_calibration *c)
{
    const char *group = "";
    fprintf(out, "# Made by `plimsoll calibrate --time`; docs/utilization.md explains the constants.\n");
    fprintf(out, "[speeds]\nname = %s\nsource = %s\n", c->speeds.name, c->speeds.source);
    for (size_t i = 0; i < PLM_SPEEDS; i++) {
        const struct plm_speed *s = &plm_speed[i];
        if (strcmp(group, s->group) != 0)
            fprintf(out, "\n[%s]\n", s->group);
        group = s->group;
        fprintf(out, "# %s: ", s->meaning);
        if (c->how[i] == PLM_CALIBRATED_MEASURED)
            fputs("measured", out);
        else
            fprintf(out, "kept from %s%s", c->kept,
                    c->how[i] == PLM_CALIBRATED_BEYOND ? ", as the measured value is out of range" : "");
        fprintf(out, "\n%s = %.6g\n", s->name, plm_speed_get(&c->speeds, s));
    }
}
