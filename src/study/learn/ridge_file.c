#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "study/learn/ridge.h"

/* ---- writing ---- */

static void line_put(FILE *out, const double *x, size_t features, double last)
{
    for (size_t f = 0; f < features; f++)
        fprintf(out, "%.17g,", x[f]);
    fprintf(out, "%.17g\n", last);
}

int plm_ridge_save(FILE *out, const struct plm_correction_frame *frame, const struct plm_ridge *r)
{
    for (size_t f = 0; f < r->features; f++) {
        plm_table_put(out, frame->name(f));
        fputc(',', out);
    }
    fprintf(out, "weight_%s\n", frame->target);
    line_put(out, r->mean, r->features, r->base);
    line_put(out, r->scale, r->features, r->width);
    for (size_t i = 0; i < r->rows; i++)
        line_put(out, r->point + i * r->features, r->features, r->weight[i]);
    return ferror(out);
}

/* ---- reading ---- */

static bool head_fits(const struct plm_table *t, const struct plm_correction_frame *frame)
{
    char last[2 * PLM_TREE_NAME];
    bool fits = t->columns == frame->features + 1 && t->rows > 2;
    snprintf(last, sizeof last, "weight_%s", frame->target);
    for (size_t f = 0; f < frame->features && fits; f++)
        fits = !strcmp(plm_table_name(t, f), frame->name(f));
    return fits && !strcmp(plm_table_name(t, frame->features), last);
}

static int line_read(const struct plm_table *t, size_t row, double *x, double *last, struct plm_error *error)
{
    int status = 0;
    for (size_t f = 0; f + 1 < t->columns && status == 0; f++)
        status = plm_table_real(t, row, (int)f, &x[f], error);
    return status ? status : plm_table_real(t, row, (int)t->columns - 1, last, error);
}

static int lines_read(const struct plm_table *t, struct plm_ridge *r, struct plm_error *error)
{
    int status = line_read(t, 0, r->mean, &r->base, error);
    if (status == 0)
        status = line_read(t, 1, r->scale, &r->width, error);
    for (size_t f = 0; f < r->features && status == 0; f++)
        if (r->scale[f] < 0)
            status = plm_table_wrong(t, 1, (int)f, "a scale", error);
    if (status == 0 && !(r->width > 0))
        status = plm_table_wrong(t, 1, (int)r->features, "a width", error);
    for (size_t i = 0; i < r->rows && status == 0; i++)
        status = line_read(t, i + 2, r->point + i * r->features, &r->weight[i], error);
    return status;
}

int plm_ridge_load(const char *path, const struct plm_correction_frame *frame, struct plm_ridge *r,
                   struct plm_error *error)
{
    struct plm_table t;
    int status = plm_table_read(path, &t, error);
    *r = (struct plm_ridge){0};
    if (status)
        return status;
    if (head_fits(&t, frame)) {
        plm_ridge_alloc(r, t.rows - 2, frame->features);
        status = lines_read(&t, r, error);
    } else {
        status = plm_fail(error, PLM_EFORMAT, "%.300s holds no correction of %s that this release can use", path,
                          frame->target);
    }
    plm_table_free(&t);
    if (status)
        plm_ridge_free(r);
    return status;
}
