#include <math.h>
#include <string.h>

#include "common/error.h"
#include "study/estimate/model_file.h"
#include "study/learn/ridge.h"

static const double LARGEST = 1e18; /* either way */

/* ---- writing ---- */

void plm_ridge_put(FILE *out, const struct plm_correction_frame *frame, const struct plm_ridge *r)
{
    fprintf(out, "target %s\nrows %zu\nbase %.17g\nwidth %.17g\nfeatures %zu\n", frame->target, r->rows, r->base,
            r->width, r->features);
    for (size_t f = 0; f < r->features; f++)
        fprintf(out, "feature %s %.17g %.17g\n", frame->name(f), r->mean[f], r->scale[f]);
    fputs("points\n", out);
    for (size_t i = 0; i < r->rows; i++)
        plm_model_file_put_values(out, r->point + i * r->features, r->features);
    fputs("weights\n", out);
    plm_model_file_put_values(out, r->weight, r->rows);
}

/* ---- reading ---- */

static int unlike(const struct plm_model_file *r, const struct plm_correction_frame *frame)
{
    return plm_fail(r->error, PLM_EFORMAT, "%.300s holds no correction of %s that this release can use", r->path,
                    frame->target);
}

/* Larger ones would lead to answers that are none. */
static int limit(const struct plm_model_file *r, const double *value, size_t values)
{
    for (size_t i = 0; i < values; i++)
        if (fabs(value[i]) > LARGEST)
            return plm_model_file_wrong(r, "a number is too large");
    return 0;
}

static int read_values(struct plm_model_file *r, double *value, size_t values)
{
    const int status = plm_model_file_values(r, value, values);
    return status ? status : limit(r, value, values);
}

static int read_real(struct plm_model_file *r, const char *key, double *value)
{
    int status = plm_model_file_expect(r, key, 1);
    if (status == 0)
        status = plm_model_file_real(r, 1, value);
    return status ? status : limit(r, value, 1);
}

static int read_feature(struct plm_model_file *r, const char *name, double *mean, double *scale)
{
    int status = plm_model_file_expect(r, "feature", 3);
    if (status == 0 && strcmp(r->word[1], name) != 0)
        status = plm_model_file_wrong(r, "there should be another feature");
    if (status == 0)
        status = plm_model_file_real(r, 2, mean);
    if (status == 0)
        status = plm_model_file_real(r, 3, scale);
    if (status == 0)
        status = limit(r, (const double[]){*mean, *scale}, 2);
    return status == 0 && *scale < 0 ? plm_model_file_wrong(r, "a scale is 0 or more") : status;
}

static int read_head(struct plm_model_file *r, const struct plm_correction_frame *frame, struct plm_ridge *ridge)
{
    char target[PLM_TREE_NAME];
    uint64_t rows = 0, features = 0;
    double base, width;
    int status;
    if ((status = plm_model_file_one_name(r, "target", target)) ||
        (status = plm_model_file_one_whole(r, "rows", 1, PLM_RIDGE_ROWS, &rows)) ||
        (status = read_real(r, "base", &base)) || (status = read_real(r, "width", &width)))
        return status;
    if (!(width > 0))
        return plm_model_file_wrong(r, "a width is above 0");
    status = plm_model_file_one_whole(r, "features", 1, PLM_TREE_FEATURES, &features);
    if (status == 0 && (strcmp(target, frame->target) != 0 || features != frame->features))
        status = unlike(r, frame);
    if (status)
        return status;
    plm_ridge_alloc(ridge, (size_t)rows, frame->features);
    ridge->base = base;
    ridge->width = width;
    for (size_t f = 0; f < frame->features && status == 0; f++)
        status = read_feature(r, frame->name(f), &ridge->mean[f], &ridge->scale[f]);
    return status;
}

int plm_ridge_read(struct plm_model_file *r, const struct plm_correction_frame *frame, struct plm_ridge *ridge)
{
    int status;
    *ridge = (struct plm_ridge){0};
    status = read_head(r, frame, ridge);
    if (status == 0)
        status = plm_model_file_expect(r, "points", 0);
    for (size_t i = 0; i < ridge->rows && status == 0; i++)
        status = read_values(r, ridge->point + i * ridge->features, ridge->features);
    if (status == 0)
        status = plm_model_file_expect(r, "weights", 0);
    if (status == 0)
        status = read_values(r, ridge->weight, ridge->rows);
    if (status == 0)
        status = plm_model_file_end(r);
    if (status)
        plm_ridge_free(ridge);
    return status;
}
