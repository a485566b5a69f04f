#include <float.h>
#include <inttypes.h>

#include "common/error.h"
#include "study/estimate/boosted.h"
#include "study/estimate/model_file.h"

void plm_boosted_put(FILE *out, const void *what)
{
    const struct plm_boosted *b = what;
    fprintf(out, "target %s\nrows %" PRIu64 "\nseed %" PRIu64 "\n", b->target, b->rows, b->seed);
    fprintf(out, "range %.17g %.17g\nbase %.17g\nheld-out %" PRIu64 " %.17g %.17g\n", b->low, b->high, b->base,
            b->held_rows, b->held_r2, b->held_error);
    plm_model_file_put_features(out, b->feature, b->features);
    plm_model_file_put_trees(out, &b->trees);
}

/* One line of the head after the other. */
static int read_head(struct plm_model_file *r, struct plm_boosted *b)
{
    int status;
    if ((status = plm_model_file_one_name(r, "target", b->target)) ||
        (status = plm_model_file_one_whole(r, "rows", 1, PLM_TREE_ROWS, &b->rows)) ||
        (status = plm_model_file_one_whole(r, "seed", 0, UINT64_MAX, &b->seed)) ||
        (status = plm_model_file_expect(r, "range", 2)) || (status = plm_model_file_range(r, 1, &b->low, &b->high)) ||
        (status = plm_model_file_expect(r, "base", 1)) || (status = plm_model_file_real(r, 1, &b->base)))
        return status;
    if (b->base < b->low || b->base > b->high)
        return plm_model_file_wrong(r, "the base is outside the target's range");
    if ((status = plm_model_file_expect(r, "held-out", 3)) ||
        (status = plm_model_file_whole(r, 1, 0, b->rows, &b->held_rows)) ||
        (status = plm_model_file_real(r, 2, &b->held_r2)) || (status = plm_model_file_real(r, 3, &b->held_error)))
        return status;
    return plm_model_file_features(r, b->feature, &b->features);
}

int plm_boosted_read(struct plm_model_file *file, struct plm_boosted *boosted)
{
    int status;
    *boosted = (struct plm_boosted){0};
    status = read_head(file, boosted);
    if (status == 0)
        status = plm_model_file_trees(file, boosted->features, -FLT_MAX, FLT_MAX, &boosted->trees);
    if (status)
        plm_boosted_free(boosted);
    return status;
}
