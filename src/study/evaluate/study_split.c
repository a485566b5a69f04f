#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/folds.h"
#include "study/evaluate/study.h"

enum { BEYOND_SHARE = 5 }; /* one row of so many */

void plm_split_folds(size_t rows, size_t folds, uint64_t seed, struct plm_split *split)
{
    *split = (struct plm_split){.kind = PLM_SPLIT_FOLDS, .parts = folds};
    split->part = plm_calloc(rows + 1, sizeof *split->part);
    plm_folds_draw(split->part, rows, folds, seed);
}

/* The first row with the same cell has its number. */
int plm_split_column(const struct plm_csv *table, const char *column, struct plm_split *split, struct plm_error *error)
{
    const int at = plm_csv_column(table, column);
    const char *cell[PLM_SPLIT_GROUPS] = {0};
    *split = (struct plm_split){.kind = PLM_SPLIT_UNSEEN, .column = column};
    if (at < 0)
        return plm_fail(error, PLM_EINVAL, "%.300s has no column %.60s whose groups could be left out", table->path,
                        column);
    split->part = plm_calloc(table->rows + 1, sizeof *split->part);
    for (size_t row = 0; row < table->rows; row++) {
        size_t group = 0;
        while (group < split->parts && cell[group] && strcmp(cell[group], plm_csv_cell(table, row, at)) != 0)
            group++;
        if (group == PLM_SPLIT_GROUPS)
            return plm_fail(error, PLM_EINVAL, "column %.60s has more than %d different values: too many to leave out",
                            column, PLM_SPLIT_GROUPS);
        if (group == split->parts)
            cell[split->parts++] = plm_csv_cell(table, row, at);
        split->part[row] = group;
    }
    return split->parts > 1
               ? 0
               : plm_fail(error, PLM_EINVAL, "column %.60s has one value: no group of it is unseen", column);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void plm_split_beyond(const double *size, size_t rows, struct plm_split *split)
{
    double *sorted = plm_calloc(rows + 1, sizeof *sorted), edge;
    *split = (struct plm_split){.kind = PLM_SPLIT_BEYOND, .parts = 1};
    split->part = plm_calloc(rows + 1, sizeof *split->part);
    memcpy(sorted, size, rows * sizeof *sorted);
    qsort(sorted, rows, sizeof *sorted, ascending);
    edge = rows ? sorted[rows - 1 - rows / BEYOND_SHARE] : 0;
    for (size_t row = 0; row < rows; row++)
        split->part[row] = size[row] > edge ? 0 : PLM_SPLIT_KEPT;
    free(sorted);
}

void plm_split_elsewhere(size_t rows, struct plm_split *split)
{
    *split = (struct plm_split){.kind = PLM_SPLIT_ELSEWHERE, .parts = 1};
    split->part = plm_calloc(rows + 1, sizeof *split->part);
}

void plm_split_free(struct plm_split *split)
{
    free(split->part);
    *split = (struct plm_split){0};
}

const char *plm_split_name(const struct plm_split *split, char *buffer, size_t size)
{
    if (split->kind == PLM_SPLIT_FOLDS)
        snprintf(buffer, size, "%zu folds", split->parts);
    else if (split->kind == PLM_SPLIT_UNSEEN)
        snprintf(buffer, size, "unseen %.60s", split->column);
    else
        snprintf(buffer, size, "%s", split->kind == PLM_SPLIT_BEYOND ? "beyond the rows" : "learned elsewhere");
    return buffer;
}
