#include <float.h>
#include <inttypes.h>

#include "base/error.h"
#include "study/estimate/boosted.h"
#include "study/estimate/tree_file.h"

#define KIND "plimsoll-boosted"
#define WHAT "a file of boosted trees"

static void put_boosted(FILE *out, const void *what)
{
    const struct plm_boosted *b = what;
    plm_tree_file_put_kind(out, KIND);
    fprintf(out, "method %s\ntarget %s\nrows %" PRIu64 "\nseed %" PRIu64 "\n", b->method, b->target, b->rows, b->seed);
    fprintf(out, "range %.17g %.17g\nbase %.17g\nheld-out %" PRIu64 " %.17g %.17g\n", b->low, b->high, b->base,
            b->held_rows, b->held_r2, b->held_error);
    plm_tree_file_put_features(out, b->feature, b->features);
    plm_tree_file_put_trees(out, &b->trees);
}

int plm_boosted_save(FILE *out, const struct plm_boosted *b)
{
    return plm_tree_file_save(out, put_boosted, b);
}

/* One line of the head after the other. */
static int read_head(struct plm_tree_file *r, struct plm_boosted *b)
{
    int status;
    if ((status = plm_tree_file_kind(r, KIND, WHAT, PLM_TREE_FILE_VERSION)) ||
        (status = plm_tree_file_one_name(r, "method", b->method)) ||
        (status = plm_tree_file_one_name(r, "target", b->target)) ||
        (status = plm_tree_file_one_whole(r, "rows", 1, PLM_TREE_ROWS, &b->rows)) ||
        (status = plm_tree_file_one_whole(r, "seed", 0, UINT64_MAX, &b->seed)) ||
        (status = plm_tree_file_expect(r, "range", 2)) || (status = plm_tree_file_range(r, 1, &b->low, &b->high)) ||
        (status = plm_tree_file_expect(r, "base", 1)) || (status = plm_tree_file_real(r, 1, &b->base)))
        return status;
    if (b->base < b->low || b->base > b->high)
        return plm_tree_file_wrong(r, "the base lies outside of the range of the target");
    if ((status = plm_tree_file_expect(r, "held-out", 3)) ||
        (status = plm_tree_file_whole(r, 1, 0, b->rows, &b->held_rows)) ||
        (status = plm_tree_file_real(r, 2, &b->held_r2)) || (status = plm_tree_file_real(r, 3, &b->held_error)))
        return status;
    return plm_tree_file_features(r, b->feature, &b->features);
}

int plm_boosted_load(const char *path, struct plm_boosted *boosted, struct plm_error *error)
{
    struct plm_tree_file file;
    int status = plm_tree_file_open(path, WHAT, &file, error);
    *boosted = (struct plm_boosted){0};
    if (status == 0)
        status = read_head(&file, boosted);
    if (status == 0)
        status = plm_tree_file_trees(&file, boosted->features, -FLT_MAX, FLT_MAX, &boosted->trees);
    plm_tree_file_close(&file);
    if (status)
        plm_boosted_free(boosted);
    return status;
}
