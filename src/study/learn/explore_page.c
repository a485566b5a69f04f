/* The page of a table of runs: one document in web/explore.html. docs/page.md has its fields. */
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "base/json.h"
#include "base/csv.h"
#include "report/page.h"
#include "study/learn/explore.h"

enum { COMPONENTS_SHOWN = 12 };

/* ---- columns ---- */

static void histogram_write(struct plm_json *j, const struct plm_explore_histogram *h)
{
    plm_json_object(j, "histogram");
    if (h->one_by_one) {
        plm_json_array(j, "values");
        for (size_t i = 0; i < h->bins; i++)
            plm_json_real(j, NULL, h->value[i]);
        plm_json_end_array(j);
    } else {
        plm_json_bool(j, "logarithmic", h->logarithmic);
        plm_json_integer(j, "below", h->below);
        plm_json_real(j, "low", h->low);
        plm_json_real(j, "high", h->high);
    }
    plm_json_array(j, "counts");
    for (size_t i = 0; i < h->bins; i++)
        plm_json_integer(j, NULL, h->count[i]);
    plm_json_end_array(j);
    plm_json_end_object(j);
}

static void words_write(struct plm_json *j, const struct plm_explore_column *c)
{
    plm_json_array(j, "words");
    for (size_t i = 0; i < c->distinct; i++)
        plm_json_string(j, NULL, c->word[i]);
    plm_json_end_array(j);
    plm_json_array(j, "counts");
    for (size_t i = 0; i < c->distinct; i++)
        plm_json_integer(j, NULL, c->words[i]);
    plm_json_end_array(j);
}

/* The cells of the shown rows: those that are known, and the indices of those that are not. */
static void cells_write(struct plm_json *j, const struct plm_explore *e, const struct plm_explore_column *c)
{
    plm_json_array(j, "cells");
    for (size_t i = 0; i < e->showns; i++)
        if (!isnan(c->value[e->shown[i]]))
            plm_json_real(j, NULL, c->value[e->shown[i]]);
    plm_json_end_array(j);
    plm_json_array(j, "empty");
    for (size_t i = 0; i < e->showns; i++)
        if (isnan(c->value[e->shown[i]]))
            plm_json_integer(j, NULL, i);
    plm_json_end_array(j);
}

static void number_write(struct plm_json *j, const struct plm_explore_column *c)
{
    plm_json_bool(j, "whole", c->whole);
    plm_json_real(j, "least", c->least);
    plm_json_real(j, "most", c->most);
    plm_json_real(j, "mean", c->mean);
    plm_json_real(j, "median", c->median);
    histogram_write(j, &c->histogram);
}

static void column_write(struct plm_json *j, const struct plm_explore *e, const struct plm_explore_column *c)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "name", c->name);
    plm_json_string(j, "role", plm_explore_role_name(c->role));
    plm_json_string(j, "kind", plm_explore_kind_name(c->kind));
    plm_json_integer(j, "known", c->known);
    plm_json_integer(j, "distinct", c->distinct);
    if (c->kind == PLM_EXPLORE_NUMBER)
        number_write(j, c);
    else if (c->kind == PLM_EXPLORE_CATEGORY)
        words_write(j, c);
    if (c->kind == PLM_EXPLORE_NUMBER || c->kind == PLM_EXPLORE_CATEGORY)
        cells_write(j, e, c);
    plm_json_end_object(j);
}

static void columns_write(struct plm_json *j, const struct plm_explore *e)
{
    plm_json_array(j, "columns");
    for (size_t i = 0; i < e->columns; i++)
        column_write(j, e, &e->column[i]);
    plm_json_end_array(j);
}

/* ---- rows and classes ---- */

static void indices_write(struct plm_json *j, const char *key, const size_t *index, size_t count)
{
    plm_json_array(j, key);
    for (size_t i = 0; i < count; i++)
        plm_json_integer(j, NULL, index[i]);
    plm_json_end_array(j);
}

static void lines_write(struct plm_json *j, const struct plm_explore *e)
{
    plm_json_array(j, "lines");
    for (size_t i = 0; i < e->showns; i++)
        plm_json_integer(j, NULL, e->table->line[e->shown[i] + 1]);
    plm_json_end_array(j);
}

static void memory_write(struct plm_json *j, const struct plm_explore *e)
{
    char text[64];
    if (e->memory < 0)
        return;
    plm_json_object(j, "memory");
    plm_json_integer(j, "column", (uint64_t)e->memory);
    plm_json_integer(j, "bin", (uint64_t)e->settings.bin);
    plm_json_integer(j, "oom", e->oom);
    plm_json_integer(j, "unclassed", e->unclassed);
    plm_json_array(j, "classes");
    for (size_t i = 0; i < e->classes; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "name", plm_explore_class_text(e, i, text, sizeof text));
        plm_json_integer(j, "number", e->class[i].number);
        plm_json_integer(j, "rows", e->class[i].rows);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_array(j, "of");
    for (size_t i = 0; i < e->showns; i++)
        plm_json_signed(j, NULL, e->class_of[e->shown[i]]);
    plm_json_end_array(j);
    plm_json_end_object(j);
}

static void stairs_write(struct plm_json *j, const struct plm_explore *e)
{
    char text[400];
    plm_json_array(j, "stairs");
    for (size_t i = 0; i < e->stairs_count; i++) {
        plm_json_object(j, NULL);
        plm_json_integer(j, "column", e->stairs[i].column);
        plm_json_string(j, "sentence", plm_explore_stairs_text(e, i, text, sizeof text));
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

/* ---- correlations, components, map ---- */

/* One for each label; those that are not known are named by their index. */
static void values_write(struct plm_json *j, const double *value, size_t count)
{
    plm_json_array(j, "values");
    for (size_t i = 0; i < count; i++)
        plm_json_real(j, NULL, isnan(value[i]) ? 0 : value[i]);
    plm_json_end_array(j);
    plm_json_array(j, "unknown");
    for (size_t i = 0; i < count; i++)
        if (isnan(value[i]))
            plm_json_integer(j, NULL, i);
    plm_json_end_array(j);
}

static void correlations_write(struct plm_json *j, const struct plm_explore *e)
{
    indices_write(j, "labels", e->label, e->labels);
    plm_json_array(j, "correlations");
    for (size_t i = 0; i < e->givens; i++) {
        plm_json_object(j, NULL);
        plm_json_integer(j, "column", e->given[i]);
        values_write(j, e->spearman + i * e->labels, e->labels);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

/* Each as two numbers; a page shows no more digits. */
static void places_write(struct plm_json *j, const char *key, const double *place, size_t count)
{
    plm_json_array(j, key);
    for (size_t i = 0; i < 2 * count; i++)
        plm_json_real(j, NULL, round(place[i] * 1e4) / 1e4);
    plm_json_end_array(j);
}

static void components_write(struct plm_json *j, const struct plm_explore *e)
{
    const size_t shown = e->useds < COMPONENTS_SHOWN ? e->useds : COMPONENTS_SHOWN;
    if (!e->useds)
        return;
    plm_json_object(j, "components");
    indices_write(j, "columns", e->used, e->useds);
    plm_json_array(j, "shares");
    for (size_t i = 0; i < e->useds; i++)
        plm_json_real(j, NULL, e->pca.share[i]);
    plm_json_end_array(j);
    plm_json_array(j, "weights");
    for (size_t i = 0; i < shown; i++) {
        plm_json_array(j, NULL);
        for (size_t k = 0; k < e->useds; k++)
            plm_json_real(j, NULL, e->pca.weight[i * e->useds + k]);
        plm_json_end_array(j);
    }
    plm_json_end_array(j);
    places_write(j, "places", e->component, e->showns);
    plm_json_end_object(j);
}

static void map_write(struct plm_json *j, const struct plm_explore *e)
{
    char text[400];
    if (!e->useds)
        return;
    plm_json_object(j, "map");
    indices_write(j, "rows", e->mapped, e->mappeds);
    places_write(j, "places", e->map, e->mappeds);
    plm_json_text(j, "sentence", plm_explore_parting_text(e, text, sizeof text));
    plm_json_end_object(j);
}

static void thin_write(struct plm_json *j, const struct plm_explore *e)
{
    plm_json_array(j, "thin");
    for (size_t i = 0; i < e->thins; i++)
        plm_json_string(j, NULL, e->thin[i]);
    plm_json_end_array(j);
}

/* ---- all of it ---- */

static void document_write(struct plm_json *j, const struct plm_explore *e)
{
    const char *slash = strrchr(e->table->path, '/'); /* the rest of the path stays out of what goes to others */
    plm_json_object(j, NULL);
    plm_json_string(j, "schema", "plimsoll.explore-page/1");
    plm_json_string(j, "version", PLM_VERSION);
    plm_json_string(j, "file", slash ? slash + 1 : e->table->path);
    plm_json_integer(j, "rows", e->table->rows);
    plm_json_integer(j, "seed", e->settings.seed);
    if (e->family >= 0)
        plm_json_integer(j, "family", (uint64_t)e->family);
    columns_write(j, e);
    lines_write(j, e);
    memory_write(j, e);
    stairs_write(j, e);
    correlations_write(j, e);
    components_write(j, e);
    map_write(j, e);
    thin_write(j, e);
    plm_json_end_object(j);
}

int plm_explore_html(FILE *out, const struct plm_explore *e, struct plm_error *error)
{
    struct plm_json j;
    if (!plm_html_explore_before_size)
        return plm_fail(error, PLM_EIO, "this build has no page: %s", plm_html_missing);
    plm_json_start(&j, out);
    j.page = true;
    fwrite(plm_html_explore_before, 1, plm_html_explore_before_size, out);
    document_write(&j, e);
    fwrite(plm_html_explore_after, 1, plm_html_explore_after_size, out);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the page could not be written") : 0;
}
