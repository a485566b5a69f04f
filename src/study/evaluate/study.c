#include "study/evaluate/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/error.h"
#include "base/memory.h"

#define CLASS_MIB     1000.0 /* of a GB, as the published classes have it */
#define CLASS_PERCENT 10.0
#define MEASURED      "measured_"
enum { BIN_MLP = 1, BIN_OTHERS = 8, FAMILIES = 64 };

/* ---- what the table has ---- */

static int rows_read(struct plm_study *s, struct plm_error *error)
{
    int status = 0;
    s->example = plm_calloc(s->table.rows + 1, sizeof *s->example);
    s->box = plm_calloc(s->table.rows + 1, sizeof *s->box);
    for (size_t row = 0; row < s->table.rows && status == 0; row++) {
        status = plm_example_read(&s->table, row, &s->example[row], error);
        if (status == 0)
            status = plm_white_box_read(&s->table, row, &s->box[row], error);
    }
    return status;
}

static int families_find(struct plm_study *s, struct plm_error *error)
{
    const int column = plm_csv_column(&s->table, "family");
    s->family = plm_calloc(FAMILIES + 1, sizeof *s->family);
    s->family_of = plm_calloc(s->table.rows + 1, sizeof *s->family_of);
    for (size_t row = 0; row < s->table.rows; row++) {
        const char *name = plm_csv_cell(&s->table, row, column);
        size_t i = 0;
        while (i < s->families && strcmp(s->family[i].name, name) != 0)
            i++;
        if (i == FAMILIES)
            return plm_fail(error, PLM_EFORMAT, "%.300s has more than %d families", s->options.path, FAMILIES);
        s->families += i == s->families;
        s->family[i].name = name;
        s->family[i].rows++;
        s->family_of[row] = i;
    }
    if (s->families == 1)
        s->families = 0; /* it is all */
    s->family[s->families] = (struct plm_study_family){.rows = s->table.rows};
    return 0;
}

static bool is_mlp_alone(const struct plm_study *s)
{
    const int column = plm_csv_column(&s->table, "family");
    for (size_t row = 0; row < s->table.rows; row++)
        if (strcmp(plm_csv_cell(&s->table, row, column), "mlp") != 0)
            return false;
    return true;
}

/* ---- targets ---- */

static double class_width(const struct plm_study *s, const struct plm_target *target)
{
    if (target->unit == PLM_LEARNED_MEMORY)
        return CLASS_MIB * s->options.bin;
    return CLASS_PERCENT; /* of time too: classes of it mean nothing, and are not shown */
}

/* What another table was labelled with stands for what was measured here: its device_used for the memory of the
   device, its column of the same name without measured_ for all else. */
static const struct plm_target *lesson_of(const struct plm_study *s, const struct plm_target *target,
                                          struct plm_error *error)
{
    const char *column = target->column;
    if (!s->options.lessons)
        return target;
    if (!strncmp(column, MEASURED, strlen(MEASURED)) && plm_csv_column(&s->lessons, column) < 0)
        column = target->with_context ? "device_used" : column + strlen(MEASURED);
    return plm_target_choose(&s->lessons, column, error);
}

static int target_add(struct plm_study *s, const char *column, struct plm_error *error)
{
    const struct plm_target *target = plm_target_choose(&s->table, column, error);
    struct plm_study_target t = {.target = target, .lesson = target ? lesson_of(s, target, error) : NULL};
    int status = t.lesson ? 0 : PLM_EINVAL, at;
    if (status)
        return status;
    at = plm_csv_column(&s->table, target->column);
    t.width = class_width(s, target);
    t.truth = plm_calloc(s->table.rows + 1, sizeof *t.truth);
    for (size_t row = 0; row < s->table.rows && status == 0; row++) {
        t.truth[row] = NAN;
        if (!plm_target_known(target, &s->table, row)) /* nobody is asked */
            continue;
        status = plm_csv_real(&s->table, row, at, &t.truth[row], error);
        t.truth[row] *= target->scale;
        t.rows++;
    }
    s->target = plm_grow(s->target, s->targets, &s->target_room, sizeof *s->target);
    s->target[s->targets++] = t;
    return status;
}

/* A metric as it was measured, or, in a table where nothing was, as the virtual GPU says it. */
static int metric_add(struct plm_study *s, const char *name, struct plm_error *error)
{
    char column[32];
    snprintf(column, sizeof column, "measured_%s", name);
    if (plm_csv_column(&s->table, column) >= 0)
        return target_add(s, column, error);
    if (plm_csv_column(&s->table, "measured_device_mib") < 0 && plm_csv_column(&s->table, name) >= 0)
        return target_add(s, name, error);
    return 0;
}

static int targets_choose(struct plm_study *s, struct plm_error *error)
{
    const char *given = s->options.targets;
    char *words, *rest, *word;
    int status = 0;
    if (!given || !strcmp(given, "all")) {
        const size_t metrics = given ? PLM_WHITE_METRICS : 1;
        status = target_add(s, NULL, error);
        for (size_t i = 0; i < metrics && status == 0; i++)
            status = metric_add(s, plm_white_metric[i], error);
        return status;
    }
    words = rest = plm_strdup(given);
    while (status == 0 && (word = strsep(&rest, ",")))
        status = target_add(s, word, error);
    free(words);
    return status;
}

/* ---- splits ---- */

static int column_add(struct plm_study *s, const char *column, bool wanted, struct plm_error *error)
{
    struct plm_split *split = &s->split[s->splits];
    int status;
    if (s->splits == PLM_SPLITS)
        return plm_fail(error, PLM_EINVAL, "there are too many columns to leave groups of out");
    for (size_t i = 0; i < s->splits; i++)
        if (s->split[i].column && !strcmp(s->split[i].column, column))
            return 0;
    status = plm_split_column(&s->table, column, split, error);
    if (status == 0)
        s->splits++;
    else
        plm_split_free(split);
    return wanted ? status : 0;
}

/* The name of a column as the table has it, which lasts. */
static const char *column_name(const struct plm_study *s, const char *word)
{
    const int column = plm_csv_column(&s->table, word);
    return column < 0 ? word : plm_csv_name(&s->table, (size_t)column);
}

static int splits_of_columns(struct plm_study *s, struct plm_error *error)
{
    const char *given = s->options.unseen;
    char *words = plm_strdup(given ? given : ""), *rest = words, *word;
    int status = 0;
    column_add(s, "family", false, NULL);
    column_add(s, "gpu", false, NULL);
    while (given && status == 0 && (word = strsep(&rest, ",")))
        status = column_add(s, column_name(s, word), true, error);
    free(words);
    return status;
}

static void beyond_add(struct plm_study *s)
{
    double *size = plm_calloc(s->table.rows + 1, sizeof *size);
    for (size_t row = 0; row < s->table.rows; row++)
        size[row] = s->example[row].number[PLM_EXAMPLE_PARAMETERS];
    if (s->splits < PLM_SPLITS)
        plm_split_beyond(size, s->table.rows, &s->split[s->splits++]);
    free(size);
}

static int splits_choose(struct plm_study *s, struct plm_error *error)
{
    int status;
    if (s->options.lessons) {
        plm_split_elsewhere(s->table.rows, &s->split[s->splits++]);
        return 0;
    }
    plm_split_folds(s->table.rows, (size_t)s->options.folds, s->options.seed, &s->split[s->splits++]);
    status = splits_of_columns(s, error);
    if (status == 0)
        beyond_add(s);
    return status;
}

int plm_study_open(const struct plm_study_options *options, struct plm_study *s, struct plm_error *error)
{
    int status;
    *s = (struct plm_study){.options = *options};
    status = plm_csv_read(options->path, &s->table, error);
    if (status == 0 && options->lessons)
        status = plm_csv_read(options->lessons, &s->lessons, error);
    if (status)
        return status;
    if (s->table.rows < (size_t)options->folds)
        return plm_fail(error, PLM_EINVAL, "%.300s has %zu rows, fewer than folds", options->path, s->table.rows);
    if (!s->options.bin)
        s->options.bin = is_mlp_alone(s) ? BIN_MLP : BIN_OTHERS;
    status = rows_read(s, error);
    if (status == 0)
        status = families_find(s, error);
    if (status == 0)
        status = targets_choose(s, error);
    if (status == 0)
        status = splits_choose(s, error);
    if (status == 0)
        status = plm_contestants_choose(s, error);
    if (status == 0)
        status = plm_study_sample(s, error);
    s->result = plm_calloc(s->contestants * s->targets * s->splits + 1, sizeof *s->result);
    return status;
}

struct plm_study_result *plm_study_result(const struct plm_study *s, size_t contestant, size_t target, size_t split)
{
    return &s->result[(contestant * s->targets + target) * s->splits + split];
}

void plm_study_close(struct plm_study *s)
{
    for (size_t i = 0; s->result && i < s->contestants * s->targets * s->splits; i++) {
        free(s->result[i].answer);
        free(s->result[i].score);
    }
    for (size_t i = 0; i < s->targets; i++)
        free(s->target[i].truth);
    for (size_t i = 0; i < s->splits; i++)
        plm_split_free(&s->split[i]);
    for (size_t row = 0; s->example && row < s->table.rows; row++)
        plm_example_free(&s->example[row]);
    for (size_t i = 0; i < s->contestants; i++)
        free(s->contestant[i].captured);
    free(s->sampled);
    free(s->result);
    free(s->target);
    free(s->contestant);
    free(s->family);
    free(s->family_of);
    free(s->example);
    free(s->box);
    plm_csv_free(&s->table);
    plm_csv_free(&s->lessons);
    *s = (struct plm_study){0};
}
