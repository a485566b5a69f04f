#include "study/learn/lesson_rows.h"

#include <stdlib.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/csv.h"
#include "study/learn/example.h"
#include "study/learn/learner.h"

static int row_read(const struct plm_lesson *l, size_t row, int column, plm_lesson_take *take, const void *context,
                    struct plm_lesson_rows *r, struct plm_error *error)
{
    const size_t at = r->data.rows;
    struct plm_example example;
    struct plm_error why = {0};
    int status = plm_csv_real(l->table, row, column, &r->y[at], error);
    if (status)
        return status;
    status = plm_example_read(l->table, row, &example, error);
    if (status)
        return status;
    status = take(context, l->table, row, &example, r->x + at * r->data.features, &why);
    plm_example_free(&example);
    if (status)
        return plm_fail(error, status, "%.200s:%u: %.250s", l->path, l->table->line[row + 1], why.text);
    r->y[at] *= r->target->scale;
    r->row[at] = row;
    r->data.rows++;
    return 0;
}

int plm_lesson_rows_read(const struct plm_lesson *l, size_t features, plm_lesson_take *take, const void *context,
                         struct plm_lesson_rows *r, struct plm_error *error)
{
    const struct plm_target *target = plm_target_choose(l->table, l->target, error);
    const size_t most = l->table->rows ? l->table->rows : 1;
    int column, status = 0;
    *r = (struct plm_lesson_rows){.target = target};
    if (!target)
        return PLM_EINVAL;
    column = plm_csv_column(l->table, target->column);
    r->x = plm_calloc(most * features, sizeof *r->x);
    r->y = plm_calloc(most, sizeof *r->y);
    r->row = plm_calloc(most, sizeof *r->row);
    r->data = (struct plm_tree_data){.x = r->x, .y = r->y, .features = features};
    for (size_t row = 0; row < l->table->rows && status == 0; row++)
        if (!(l->left_out && l->left_out[row]) && plm_target_known(target, l->table, row))
            status = row_read(l, row, column, take, context, r, error);
    if (status)
        plm_lesson_rows_free(r);
    return status;
}

void plm_lesson_rows_free(struct plm_lesson_rows *r)
{
    free(r->x);
    free(r->y);
    free(r->row);
    *r = (struct plm_lesson_rows){0};
}
