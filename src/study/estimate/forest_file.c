#include <float.h>
#include <inttypes.h>

#include "base/error.h"
#include "study/estimate/forest.h"
#include "study/estimate/tree_file.h"

#define VERSION "1"
#define KIND    "plimsoll-forest"
#define WHAT    "a forest"

/* A mean of equal numbers may be off by a rounding error. */
#define ROUNDING 1e-9

int plm_forest_save(FILE *out, const struct plm_forest *f)
{
    fprintf(out, KIND " " VERSION "\nmethod %s\ntarget %s\nrows %" PRIu64 "\nseed %" PRIu64 "\n", f->method, f->target,
            f->rows, f->seed);
    fprintf(out, "range %.17g %.17g\nout-of-bag %" PRIu64 " %.17g %.17g\n", f->low, f->high, f->oob_rows, f->oob_r2,
            f->oob_error);
    plm_tree_file_put_features(out, f->feature, f->features);
    plm_tree_file_put_trees(out, &f->trees);
    return ferror(out) ? PLM_EIO : 0;
}

/* One line of the head after the other. */
static int read_head(struct plm_tree_file *r, struct plm_forest *f)
{
    int status;
    if ((status = plm_tree_file_kind(r, KIND, WHAT, VERSION)) ||
        (status = plm_tree_file_one_name(r, "method", f->method)) ||
        (status = plm_tree_file_one_name(r, "target", f->target)) ||
        (status = plm_tree_file_one_whole(r, "rows", 1, PLM_TREE_ROWS, &f->rows)) ||
        (status = plm_tree_file_one_whole(r, "seed", 0, UINT64_MAX, &f->seed)) ||
        (status = plm_tree_file_expect(r, "range", 2)) || (status = plm_tree_file_range(r, 1, &f->low, &f->high)))
        return status;
    if (f->low <= 0)
        return plm_tree_file_wrong(r, "the target is above 0");
    if ((status = plm_tree_file_expect(r, "out-of-bag", 3)) ||
        (status = plm_tree_file_whole(r, 1, 0, f->rows, &f->oob_rows)) ||
        (status = plm_tree_file_real(r, 2, &f->oob_r2)) || (status = plm_tree_file_real(r, 3, &f->oob_error)))
        return status;
    return plm_tree_file_features(r, f->feature, &f->features);
}

int plm_forest_load(const char *path, struct plm_forest *forest, struct plm_error *error)
{
    struct plm_tree_file file;
    int status = plm_tree_file_open(path, WHAT, &file, error);
    *forest = (struct plm_forest){0};
    if (status == 0)
        status = read_head(&file, forest);
    if (status == 0)
        status = plm_tree_file_trees(&file, forest->features, forest->low * (1 - ROUNDING),
                                     forest->high * (1 + ROUNDING), &forest->trees);
    plm_tree_file_close(&file);
    if (status)
        plm_forest_free(forest);
    return status;
}
