/* A sweep as JSON, whole enough to be shown later, and as a table. */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/secret.h"
#include "sweep/sweep.h"

static const char *const places[] = {
    [PLM_SWEEP_WORD] = "word", [PLM_SWEEP_ENVIRONMENT] = "environment", [PLM_SWEEP_CONFIG] = "config"};

static void parameters_put(struct plm_json *j, const struct plm_sweep *s)
{
    plm_json_array(j, "parameters");
    for (size_t i = 0; i < s->parameters.count; i++) {
        const struct plm_sweep_parameter *p = &s->parameters.item[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "name", p->name);
        plm_json_string(j, "in", places[p->where]);
        plm_json_text(j, "file", p->file);
        if (p->range) {
            plm_json_integer(j, "low", p->low);
            plm_json_integer(j, "high", p->high);
            plm_json_bool(j, "stepped", p->stepped);
        }
        plm_json_array(j, "values");
        for (size_t k = 0; k < p->values; k++)
            plm_json_string(j, NULL, p->value[k]);
        plm_json_end_array(j);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void cards_put(struct plm_json *j, const struct plm_sweep *s)
{
    plm_json_array(j, "cards");
    for (size_t i = 0; i < s->cards; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "gpu", s->card[i].id);
        plm_json_integer(j, "usable", s->card[i].usable);
        if (s->card[i].price > 0)
            plm_json_real(j, "price", s->card[i].price);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void known_put(struct plm_json *j, const char *key, double value)
{
    if (value > 0)
        plm_json_real(j, key, value);
}

static void cell_put(struct plm_json *j, const struct plm_sweep *s, const struct plm_sweep_point *point, size_t i)
{
    const struct plm_sweep_cell *cell = &point->cell[i];
    plm_json_object(j, NULL);
    plm_json_string(j, "gpu", s->card[i].id);
    plm_json_string(j, "verdict", plm_verdict_name(cell->verdict));
    plm_json_integer(j, "need", cell->need);
    plm_json_integer(j, "high", cell->high);
    plm_json_signed(j, "left", (int64_t)s->card[i].usable - (int64_t)cell->need);
    known_put(j, "step", cell->step);
    known_put(j, "samples_per_second", cell->samples);
    known_put(j, "samples_per_dollar", plm_sweep_per_dollar(&s->card[i], point, i));
    plm_json_end_object(j);
}

static void point_put(struct plm_json *j, const struct plm_sweep *s, const struct plm_sweep_point *point)
{
    plm_json_object(j, NULL);
    plm_json_array(j, "values");
    for (size_t i = 0; i < s->parameters.count; i++)
        plm_json_string(j, NULL, point->value[i]);
    plm_json_end_array(j);
    plm_json_real(j, "seconds", point->seconds);
    plm_json_bool(j, "forked", point->forked);
    if (point->state == PLM_SWEEP_FAILED)
        plm_json_string(j, "failed", point->why);
    else {
        plm_json_integer(j, "gpus", point->gpus);
        plm_json_integer(j, "allocated", point->allocated);
        plm_json_integer(j, "reserved", point->reserved);
        plm_json_array(j, "cards");
        for (size_t i = 0; i < s->cards; i++)
            cell_put(j, s, point, i);
        plm_json_end_array(j);
    }
    plm_json_end_object(j);
}

static void growth_put(struct plm_json *j, const struct plm_sweep *s, int along)
{
    const struct plm_sweep_growth g = plm_sweep_grows(s);
    if (!g.known)
        return;
    plm_json_object(j, "growth");
    plm_json_string(j, "parameter", s->parameters.item[along].name);
    plm_json_real(j, "each", g.each);
    plm_json_real(j, "fixed", g.fixed);
    plm_json_real(j, "off", g.off);
    plm_json_bool(j, "linear", g.linear);
    if (g.bend) {
        plm_json_integer(j, "bend", g.bend);
        plm_json_real(j, "each_below", g.below);
        plm_json_real(j, "each_above", g.above);
    }
    plm_json_end_object(j);
}

static void largest_put(struct plm_json *j, const struct plm_sweep *s, int along)
{
    plm_json_array(j, "largest");
    for (size_t i = 0; i < s->cards; i++) {
        const struct plm_sweep_largest l = plm_sweep_largest_on(s, i);
        uint64_t value;
        plm_json_object(j, NULL);
        plm_json_string(j, "gpu", s->card[i].id);
        if (l.fits && plm_sweep_whole(l.fits->value[along], &value))
            plm_json_integer(j, "fits", value);
        if (l.fails && plm_sweep_whole(l.fails->value[along], &value))
            plm_json_integer(j, "fails", value);
        if (l.estimate)
            plm_json_integer(j, "estimate", l.estimate);
        plm_json_bool(j, "settled", l.settled);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

/* Secrets are masked: a sweep is kept, and shown to others. */
static void command_put(struct plm_json *j, char *const *command)
{
    bool next = false;
    plm_json_array(j, "command");
    for (; *command; command++) {
        char *word = plm_secret_mask(*command, &next);
        plm_json_string(j, NULL, word);
        free(word);
    }
    plm_json_end_array(j);
}

int plm_sweep_json(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_sweep *s = what;
    const int along = plm_sweep_along(s);
    struct plm_json j;
    plm_json_document(&j, out, "plimsoll.sweep/1");
    command_put(&j, s->command);
    plm_json_string(&j, "simulated", s->simulated);
    plm_json_text(&j, "margin", s->margin);
    plm_json_bool(&j, "zip", s->parameters.zip);
    plm_json_bool(&j, "allow_tight", s->allow_tight);
    plm_json_text(&j, "cold", s->cold);
    if (s->largest >= 0)
        plm_json_integer(&j, "searched", (uint64_t)s->largest);
    parameters_put(&j, s);
    if (along >= 0) {
        largest_put(&j, s, along);
        growth_put(&j, s, along);
    }
    cards_put(&j, s);
    plm_json_array(&j, "runs");
    for (size_t i = 0; i < s->points; i++)
        if (s->point[i].state != PLM_SWEEP_WAITS)
            point_put(&j, s, &s->point[i]);
    plm_json_end_array(&j);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the document could not be written") : 0;
}

/* ---- a table ---- */

static void row_put(struct plm_lines *l, const struct plm_sweep *s, const struct plm_sweep_point *point, size_t i)
{
    const bool done = point->state == PLM_SWEEP_DONE;
    const struct plm_sweep_cell *cell = &point->cell[i];
    for (size_t k = 0; k < s->parameters.count; k++)
        plm_lines_text(l, point->value[k]);
    plm_lines_text(l, s->card[i].id);
    plm_lines_text(l, done ? plm_verdict_name(cell->verdict) : "failed");
    plm_lines_cell(l, done, "%llu", (unsigned long long)point->allocated);
    plm_lines_cell(l, done, "%llu", (unsigned long long)point->reserved);
    plm_lines_cell(l, done, "%llu", (unsigned long long)cell->need);
    plm_lines_cell(l, s->card[i].usable > 0, "%llu", (unsigned long long)s->card[i].usable);
    plm_lines_cell(l, cell->step > 0, "%.9g", cell->step);
    plm_lines_cell(l, cell->samples > 0, "%.9g", cell->samples);
    plm_lines_cell(l, done && s->card[i].price > 0, "%.9g", done ? plm_sweep_per_dollar(&s->card[i], point, i) : 0);
    plm_lines_text(l, point->why);
    plm_lines_end(l);
}

int plm_sweep_csv(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_sweep *s = what;
    struct plm_lines l = {.out = out};
    for (size_t k = 0; k < s->parameters.count; k++)
        plm_lines_text(&l, s->parameters.item[k].name);
    plm_lines_cell(&l, true,
                   "gpu,verdict,allocated,reserved,need,usable,step,samples_per_second,samples_per_dollar,why");
    plm_lines_end(&l);
    for (size_t i = 0; i < s->points; i++)
        for (size_t k = 0; k < s->cards && s->point[i].state != PLM_SWEEP_WAITS; k++)
            row_put(&l, s, &s->point[i], k);
    return ferror(out) ? plm_fail(error, PLM_EIO, "the table could not be written") : 0;
}
