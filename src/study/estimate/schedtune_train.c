#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/estimate/forest.h"
#include "study/estimate/schedtune.h"
#include "base/table.h"

/* Columns as the published table calls them. */
static const struct {
    const char *name, *column;
} feature[PLM_SCHEDTUNE_FEATURES] = {
    [PLM_SCHEDTUNE_ACTIVATIONS] = {"activations", "activations"},
    [PLM_SCHEDTUNE_PARAMETERS] = {"parameters", "parameters"},
    [PLM_SCHEDTUNE_INPUT] = {"input", "input"},
    [PLM_SCHEDTUNE_BANDWIDTH] = {"bandwidth", "Memory bandwidth (GB/s)"},
    [PLM_SCHEDTUNE_CORES] = {"cores", "Pipelines/CUDA cores"},
    [PLM_SCHEDTUNE_SMS] = {"sms", "SM count"},
};
static const char target[] = "peak mem usage";

/* However upper and lower case are used. */
static int column_of(const struct plm_table *table, const char *name, int *column, struct plm_error *error)
{
    for (size_t i = 0; i < table->columns; i++)
        if (!strcasecmp(plm_table_name(table, i), name)) {
            *column = (int)i;
            return 0;
        }
    return plm_fail(error, PLM_EFORMAT, "%.300s: the head line has no column \"%s\"", table->path, name);
}

static int cell_number(const struct plm_table *table, size_t row, int column, double *value, struct plm_error *error)
{
    const char *text = plm_table_cell(table, row, column);
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= 0 && *value < FLT_MAX))
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %.60s is \"%.60s\", which is not a number from 0", table->path,
                        table->line[row + 1], plm_table_name(table, (size_t)column), text);
    return 0;
}

/* The numbers of the table: x has room for all features of all rows, y for all targets. */
static int read_numbers(const struct plm_table *table, double *x, double *y, struct plm_error *error)
{
    int column[PLM_SCHEDTUNE_FEATURES], answer = 0, status = 0;
    for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES && status == 0; i++)
        status = column_of(table, feature[i].column, &column[i], error);
    if (status == 0)
        status = column_of(table, target, &answer, error);
    for (size_t row = 0; row < table->rows && status == 0; row++) {
        for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES && status == 0; i++)
            status = cell_number(table, row, column[i], &x[row * PLM_SCHEDTUNE_FEATURES + i], error);
        if (status == 0)
            status = cell_number(table, row, answer, &y[row], error);
        if (status == 0 && y[row] <= 0)
            status = plm_fail(error, PLM_EFORMAT, "%.300s:%u: %s is 0", table->path, table->line[row + 1], target);
    }
    return status;
}

static int forest_learn(const struct plm_table *table, const struct plm_forest_settings *settings,
                        struct plm_forest *forest, struct plm_error *error)
{
    double *x = plm_calloc(table->rows, PLM_SCHEDTUNE_FEATURES * sizeof *x);
    double *y = plm_calloc(table->rows, sizeof *y);
    const struct plm_forest_data data = {x, y, table->rows, PLM_SCHEDTUNE_FEATURES};
    struct plm_error why = {0};
    int status = read_numbers(table, x, y, error);
    if (status == 0) {
        status = plm_forest_train(&data, settings, forest, &why);
        if (status)
            plm_fail(error, status, "%.200s: %.250s", table->path, why.text);
    }
    for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES && status == 0; i++)
        snprintf(forest->feature[i].name, sizeof forest->feature[i].name, "%s", feature[i].name);
    free(x);
    free(y);
    return status;
}

int plm_schedtune_train(const char *path, const struct plm_forest_settings *settings, struct plm_forest *forest,
                        struct plm_error *error)
{
    struct plm_table table;
    int status = plm_table_read(path, &table, error);
    if (status)
        return status;
    status = forest_learn(&table, settings, forest, error);
    if (status == 0) {
        snprintf(forest->method, sizeof forest->method, PLM_SCHEDTUNE_METHOD);
        snprintf(forest->target, sizeof forest->target, "peak-mib");
    }
    plm_table_free(&table);
    return status;
}

int plm_schedtune_check(const char *path, const struct plm_forest *forest, struct plm_error *error)
{
    if (strcmp(forest->method, PLM_SCHEDTUNE_METHOD) != 0)
        return plm_fail(error, PLM_EFORMAT, "%.300s is a forest for %s, not for " PLM_SCHEDTUNE_METHOD, path,
                        forest->method);
    for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES; i++)
        if (forest->features != PLM_SCHEDTUNE_FEATURES || strcmp(forest->feature[i].name, feature[i].name) != 0)
            return plm_fail(error, PLM_EFORMAT, "%.300s: the forest has other features than " PLM_SCHEDTUNE_METHOD,
                            path);
    return 0;
}
