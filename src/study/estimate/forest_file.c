#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "study/estimate/forest.h"
#include "study/estimate/model_file.h"

/* A mean of equal numbers may be off by a rounding error. */
#define ROUNDING 1e-9

/* How thresholds were found. */
static const char *const splits[] = {"best", "drawn"};

void plm_forest_put(FILE *out, const void *what)
{
    const struct plm_forest *f = what;
    fprintf(out, "target %s\nsplits %s\nrows %" PRIu64 "\nseed %" PRIu64 "\n", f->target, splits[f->drawn], f->rows,
            f->seed);
    fprintf(out, "range %.17g %.17g\nout-of-bag %" PRIu64 " %.17g %.17g\nheld-out %" PRIu64 " %.17g %.17g\n", f->low,
            f->high, f->oob_rows, f->oob_r2, f->oob_error, f->held_rows, f->held_r2, f->held_error);
    plm_model_file_put_features(out, f->feature, f->features);
    plm_model_file_put_trees(out, &f->trees);
}

static int read_splits(struct plm_model_file *r, struct plm_forest *f)
{
    char word[PLM_TREE_NAME];
    int status = plm_model_file_one_name(r, "splits", word);
    if (status)
        return status;
    f->drawn = !strcmp(word, splits[1]);
    return f->drawn || !strcmp(word, splits[0]) ? 0 : plm_model_file_wrong(r, "splits are \"best\" or \"drawn\"");
}

/* Rows that were not seen: how many, R^2, and how far off answers are. */
static int read_unseen(struct plm_model_file *r, const char *key, uint64_t most, uint64_t *rows, double *r2,
                       double *off)
{
    int status = plm_model_file_expect(r, key, 3);
    if (status == 0)
        status = plm_model_file_whole(r, 1, 0, most, rows);
    if (status == 0)
        status = plm_model_file_real(r, 2, r2);
    return status ? status : plm_model_file_real(r, 3, off);
}

/* One line of the head after the other. */
static int read_head(struct plm_model_file *r, struct plm_forest *f)
{
    int status;
    if ((status = plm_model_file_one_name(r, "target", f->target)) || (status = read_splits(r, f)) ||
        (status = plm_model_file_one_whole(r, "rows", 1, PLM_TREE_ROWS, &f->rows)) ||
        (status = plm_model_file_one_whole(r, "seed", 0, UINT64_MAX, &f->seed)) ||
        (status = plm_model_file_expect(r, "range", 2)) || (status = plm_model_file_range(r, 1, &f->low, &f->high)))
        return status;
    if (f->low <= 0 && !f->drawn)
        return plm_model_file_wrong(r, "the target is above 0");
    if ((status = read_unseen(r, "out-of-bag", f->rows, &f->oob_rows, &f->oob_r2, &f->oob_error)))
        return status;
    if ((status = read_unseen(r, "held-out", f->rows, &f->held_rows, &f->held_r2, &f->held_error)))
        return status;
    return plm_model_file_features(r, f->feature, &f->features);
}

int plm_forest_read(struct plm_model_file *file, struct plm_forest *forest)
{
    int status;
    *forest = (struct plm_forest){0};
    status = read_head(file, forest);
    if (status == 0)
        status = plm_model_file_trees(file, forest->features, forest->low - ROUNDING * fabs(forest->low),
                                      forest->high + ROUNDING * fabs(forest->high), &forest->trees);
    if (status)
        plm_forest_free(forest);
    return status;
}
