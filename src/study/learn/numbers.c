#include "study/learn/numbers.h"

#include <float.h>
#include <stdlib.h>
#include <strings.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/csv.h"

static int column_of(const struct plm_csv *table, const char *name, int *column, struct plm_error *error)
{
    for (size_t i = 0; i < table->columns; i++)
        if (!strcasecmp(plm_csv_name(table, i), name)) {
            *column = (int)i;
            return 0;
        }
    return plm_fail(error, PLM_EFORMAT, "%.300s: the header has no column \"%s\"", table->path, name);
}

static int cell_number(const struct plm_csv *table, size_t row, int column, double *value, struct plm_error *error)
{
    const char *text = plm_csv_cell(table, row, column);
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= 0 && *value < FLT_MAX))
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %.60s is \"%.60s\", which is not a number from 0", table->path,
                        table->line[row + 1], plm_csv_name(table, (size_t)column), text);
    return 0;
}

static int target_check(const struct plm_csv *table, size_t row, const struct plm_learn_target *target, double value,
                        struct plm_error *error)
{
    if (target->positive && value <= 0)
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %s is 0", table->path, table->line[row + 1], target->column);
    if (target->most > 0 && value > target->most)
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %s is %g, but at most %g is allowed", table->path,
                        table->line[row + 1], target->column, value, target->most);
    return 0;
}

static int row_read(const struct plm_csv *table, size_t row, const int *column, size_t features, double *x, double *y,
                    struct plm_error *error)
{
    int status = 0;
    for (size_t i = 0; i < features && status == 0; i++)
        status = cell_number(table, row, column[i], &x[row * features + i], error);
    return status ? status : cell_number(table, row, column[features], &y[row], error);
}

int plm_learn_numbers(const struct plm_csv *table, const char *const *column, size_t features,
                      const struct plm_learn_target *target, double *x, double *y, struct plm_error *error)
{
    int *place = plm_calloc(features + 1, sizeof *place), status = 0;
    for (size_t i = 0; i <= features && status == 0; i++)
        status = column_of(table, i < features ? column[i] : target->column, &place[i], error);
    for (size_t row = 0; row < table->rows && status == 0; row++) {
        status = row_read(table, row, place, features, x, y, error);
        if (status == 0)
            status = target_check(table, row, target, y[row], error);
    }
    free(place);
    return status;
}
