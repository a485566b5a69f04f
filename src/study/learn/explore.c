#include "study/learn/explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/spearman.h"
#include "base/csv.h"
#include "study/estimate/tree.h"
#include "study/learn/tsne.h"

static const double MIB = 1 << 20, PERPLEXITY = 30;
static const double START = 1e-4, NOISE = 1e-6; /* standard deviation of t-SNE's start, and what parts equal rows */

/* Amounts of memory, the first that is there makes the classes: measured before modelled, the whole before a part. */
static const struct amount {
    const char *name;
    bool stairs; /* PyTorch's segments show in it */
} amounts[] = {
    {"measured_device_mib", true}, {"device_used", true}, {"device_mib", true}, {"reserved", true},
    {"allocated", false},
};

/* ---- columns ---- */

static int column_find(const struct plm_explore *e, const char *name)
{
    for (size_t i = 0; i < e->columns; i++)
        if (!strcmp(e->column[i].name, name) && e->column[i].kind != PLM_EXPLORE_EMPTY)
            return (int)i;
    return -1;
}

static int numbers_find(const struct plm_explore *e, const char *name)
{
    const int column = column_find(e, name);
    return column >= 0 && e->column[column].kind == PLM_EXPLORE_NUMBER ? column : -1;
}

/* MiB in one of a column. */
static double column_unit(const struct plm_explore_column *c)
{
    const size_t length = strlen(c->name);
    return length > 4 && !strcmp(c->name + length - 4, "_mib") ? 1 : 1 / MIB;
}

static int memory_find(struct plm_explore *e, struct plm_error *error)
{
    const char *wanted = e->settings.target;
    e->memory = wanted ? numbers_find(e, wanted) : -1;
    for (size_t i = 0; !wanted && e->memory < 0 && i < sizeof amounts / sizeof amounts[0]; i++)
        e->memory = numbers_find(e, amounts[i].name);
    if (wanted && e->memory < 0)
        return plm_fail(error, PLM_EINVAL, "%.300s has no column \"%.60s\" with numbers", e->table->path, wanted);
    if (e->memory >= 0)
        e->unit = column_unit(&e->column[e->memory]);
    return 0;
}

static int columns_check(const struct plm_explore *e, struct plm_error *error)
{
    size_t numbers = 0, varying = 0;
    for (size_t i = 0; i < e->columns; i++) {
        const struct plm_explore_column *c = &e->column[i];
        const bool number = c->kind == PLM_EXPLORE_NUMBER && c->role != PLM_EXPLORE_RAN;
        numbers += number;
        varying += number && c->varies;
    }
    if (!numbers)
        return plm_fail(error, PLM_EFORMAT, "%.300s has no column of numbers: is it a table of `plimsoll dataset`?",
                        e->table->path);
    if (!varying)
        return plm_fail(error, PLM_EFORMAT, "%.300s: every row has the same numbers, so there is nothing to show",
                        e->table->path);
    return 0;
}

static void columns_choose(struct plm_explore *e)
{
    e->given = plm_calloc(e->columns, sizeof *e->given);
    e->label = plm_calloc(e->columns, sizeof *e->label);
    e->used = plm_calloc(e->columns, sizeof *e->used);
    for (size_t i = 0; i < e->columns; i++) {
        const struct plm_explore_column *c = &e->column[i];
        if (c->kind != PLM_EXPLORE_NUMBER || !c->varies)
            continue;
        if (c->role == PLM_EXPLORE_LABEL)
            e->label[e->labels++] = i;
        else if (c->role != PLM_EXPLORE_RAN)
            e->given[e->givens++] = i;
        if (c->role == PLM_EXPLORE_FEATURE)
            e->used[e->useds++] = i;
    }
    if (e->useds < 2) { /* a table without features: the arguments are what is known of a network */
        memcpy(e->used, e->given, e->givens * sizeof *e->used);
        e->useds = e->givens;
    }
}

/* ---- classes ---- */

static bool row_is_oom(const struct plm_explore *e, int oom, size_t row)
{
    return oom >= 0 && e->column[oom].value[row] > 0;
}

/* The number of a row's class, before empty ones are left out. */
static int class_number(struct plm_explore *e, int oom, size_t row, int32_t *number, struct plm_error *error)
{
    const double amount = e->column[e->memory].value[row];
    const double class = floor(amount * e->unit / ((double)e->settings.bin * PLM_EXPLORE_GB));
    *number = row_is_oom(e, oom, row) ? PLM_EXPLORE_OOM : PLM_EXPLORE_NO_CLASS;
    if (*number == PLM_EXPLORE_OOM || isnan(amount))
        return 0;
    if (class < 0 || class >= PLM_EXPLORE_CLASSES)
        return plm_csv_wrong(e->table, row, e->memory, "an amount of memory that a card could have", error);
    *number = (int32_t)class;
    return 0;
}

static void classes_gather(struct plm_explore *e)
{
    size_t *count = plm_calloc(PLM_EXPLORE_CLASSES, sizeof *count);
    int32_t *index = plm_calloc(PLM_EXPLORE_CLASSES, sizeof *index);
    for (size_t row = 0; row < e->table->rows; row++) {
        e->oom += e->class_of[row] == PLM_EXPLORE_OOM;
        e->unclassed += e->class_of[row] == PLM_EXPLORE_NO_CLASS;
        if (e->class_of[row] >= 0)
            count[e->class_of[row]]++;
    }
    e->class = plm_calloc(PLM_EXPLORE_CLASSES, sizeof *e->class);
    for (uint32_t i = 0; i < PLM_EXPLORE_CLASSES; i++)
        if (count[i]) {
            index[i] = (int32_t)e->classes;
            e->class[e->classes++] = (struct plm_explore_class){i, count[i]};
        }
    for (size_t row = 0; row < e->table->rows; row++)
        if (e->class_of[row] >= 0)
            e->class_of[row] = index[e->class_of[row]];
    free(count);
    free(index);
}

static int classes_make(struct plm_explore *e, struct plm_error *error)
{
    const int oom = numbers_find(e, "oom");
    int status = 0;
    e->class_of = plm_calloc(e->table->rows, sizeof *e->class_of);
    for (size_t row = 0; row < e->table->rows && status == 0; row++)
        if (e->memory < 0)
            e->class_of[row] = PLM_EXPLORE_NO_CLASS;
        else
            status = class_number(e, oom, row, &e->class_of[row], error);
    if (status == 0)
        classes_gather(e);
    return status;
}

const char *plm_explore_class_text(const struct plm_explore *e, size_t class, char *buffer, size_t size)
{
    const uint32_t bin = (uint32_t)e->settings.bin, number = e->class[class].number;
    snprintf(buffer, size, "%u to %u GB", number * bin, (number + 1) * bin);
    return buffer;
}

/* ---- stairs ---- */

/* The commonest of some numbers, which are sorted; whole KiB, so that rounding parts nothing. */
static void commonest(const struct plm_spearman_place *place, size_t count, double *value, size_t *times)
{
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && place[to].value == place[from].value; to++)
            ;
        if (to - from > *times) {
            *times = to - from;
            *value = place[from].value;
        }
    }
}

static void stairs_climb(double *kib, size_t rows, struct plm_explore_stairs *s)
{
    struct plm_spearman_place *place = plm_spearman_order(kib, rows), *steps;
    double before = NAN;
    for (size_t i = 0; i < rows; i++) {
        if (place[i].value != before && i)
            kib[s->levels++ - 1] = place[i].value - before;
        else if (!i)
            s->levels = 1;
        before = place[i].value;
    }
    steps = plm_spearman_order(kib, s->levels - 1);
    commonest(steps, s->levels - 1, &s->step, &s->steps);
    s->step /= 1024;
    free(place);
    free(steps);
}

static void stairs_make(struct plm_explore *e, size_t column)
{
    const struct plm_explore_column *c = &e->column[column];
    struct plm_explore_stairs *s = &e->stairs[e->stairs_count++];
    double *kib = plm_calloc(e->table->rows, sizeof *kib);
    s->column = column;
    for (size_t row = 0; row < e->table->rows; row++)
        if (!isnan(c->value[row])) {
            kib[s->rows] = round(c->value[row] * column_unit(c) * 1024);
            s->even += fmod(kib[s->rows++], 2048) == 0;
        }
    stairs_climb(kib, s->rows, s);
    free(kib);
}

static void stairs_find(struct plm_explore *e)
{
    _Static_assert(sizeof amounts / sizeof amounts[0] <= PLM_EXPLORE_STAIRS, "every amount has room for its stairs");
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        const int column = amounts[i].stairs ? numbers_find(e, amounts[i].name) : -1;
        if (column >= 0 && e->column[column].varies)
            stairs_make(e, (size_t)column);
    }
}

/* ---- correlations ---- */

/* Over the shown rows that have both. */
static double spearman_of(const struct plm_explore *e, size_t a, size_t b, double *x, double *y)
{
    size_t count = 0;
    for (size_t i = 0; i < e->showns; i++) {
        x[count] = e->column[a].value[e->shown[i]];
        y[count] = e->column[b].value[e->shown[i]];
        count += !isnan(x[count]) && !isnan(y[count]);
    }
    return count > 2 ? plm_spearman(x, y, count) : NAN;
}

static void correlations_make(struct plm_explore *e)
{
    double *x = plm_calloc(e->showns, sizeof *x), *y = plm_calloc(e->showns, sizeof *y);
    e->spearman = plm_calloc(e->givens * e->labels, sizeof *e->spearman);
    for (size_t i = 0; i < e->givens; i++)
        for (size_t k = 0; k < e->labels; k++)
            e->spearman[i * e->labels + k] = spearman_of(e, e->given[i], e->label[k], x, y);
    free(x);
    free(y);
}

/* ---- rows that are shown ---- */

static int row_order(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* `wanted` of `count`, ascending. */
static size_t *rows_draw(size_t count, size_t wanted, uint64_t seed)
{
    size_t *row = plm_calloc(count, sizeof *row);
    uint64_t random = plm_splitmix_stream(seed, 0);
    for (size_t i = 0; i < count; i++)
        row[i] = i;
    for (size_t i = 0; wanted < count && i < wanted; i++) {
        const size_t other = i + plm_splitmix_below(&random, count - i), kept = row[i];
        row[i] = row[other];
        row[other] = kept;
    }
    qsort(row, wanted, sizeof *row, row_order);
    return row;
}

static void rows_choose(struct plm_explore *e)
{
    e->showns = e->table->rows < PLM_EXPLORE_SHOWN ? e->table->rows : PLM_EXPLORE_SHOWN;
    e->shown = rows_draw(e->table->rows, e->showns, e->settings.seed);
    e->mappeds = e->showns < PLM_EXPLORE_MAPPED ? e->showns : PLM_EXPLORE_MAPPED;
    e->mapped = rows_draw(e->showns, e->mappeds, e->settings.seed);
}

/* ---- components and the map ---- */

static double number_as_used(const struct plm_explore_column *c, double value)
{
    if (!c->histogram.logarithmic)
        return value;
    return value < 0 ? -log1p(-value) : log1p(value);
}

/* Features of all rows; an empty cell is as the mean of the others. */
static double *features_make(const struct plm_explore *e)
{
    double *x = plm_calloc(e->table->rows * e->useds, sizeof *x);
    for (size_t k = 0; k < e->useds; k++) {
        const struct plm_explore_column *c = &e->column[e->used[k]];
        double mean = 0;
        for (size_t row = 0; row < e->table->rows; row++) {
            double *to = &x[row * e->useds + k];
            *to = isnan(c->value[row]) ? NAN : number_as_used(c, c->value[row]);
            mean += isnan(*to) ? 0 : *to / (double)c->known;
        }
        for (size_t row = 0; row < e->table->rows; row++)
            if (isnan(x[row * e->useds + k]))
                x[row * e->useds + k] = mean;
    }
    return x;
}

static void components_make(struct plm_explore *e, double *x)
{
    double *standard = plm_calloc(e->useds, sizeof *standard);
    plm_pca_make(x, e->table->rows, e->useds, &e->pca);
    e->component = plm_calloc(2 * e->showns, sizeof *e->component);
    for (size_t row = 0; row < e->table->rows; row++) {
        plm_pca_standardize(&e->pca, x + row * e->useds, standard);
        memcpy(x + row * e->useds, standard, e->useds * sizeof *x);
    }
    for (size_t i = 0; i < e->showns; i++)
        for (size_t k = 0; k < 2 && k < e->useds; k++)
            e->component[2 * i + k] = plm_pca_project(&e->pca, x + e->shown[i] * e->useds, k);
    free(standard);
}

static double noise(uint64_t *random)
{
    return NOISE * ((double)(plm_splitmix_next(random) >> 11) / (1ull << 52) - 1);
}

static void map_make(struct plm_explore *e, const double *x)
{
    /* Variance of the first component: as much as all columns have, times its share. */
    const double scale = START / sqrt(fmax(1e-9, e->pca.share[0] * (double)e->useds));
    uint64_t random = plm_splitmix_stream(e->settings.seed, 1);
    e->map = plm_calloc(2 * e->mappeds, sizeof *e->map);
    for (size_t i = 0; i < 2 * e->mappeds; i++)
        e->map[i] = scale * e->component[2 * e->mapped[i / 2] + i % 2] + noise(&random);
    plm_tsne(x, e->mappeds, e->useds, PERPLEXITY, e->settings.iterations, e->map);
}

/* The class of the nearest other row that has one. */
static int32_t nearest_class(const struct plm_explore *e, const double *x, size_t self)
{
    int32_t class = PLM_EXPLORE_NO_CLASS;
    double nearest = INFINITY;
    for (size_t i = 0; i < e->mappeds; i++) {
        const int32_t own = e->class_of[e->shown[e->mapped[i]]];
        double distance;
        if (i == self || own == PLM_EXPLORE_NO_CLASS)
            continue;
        distance = plm_tsne_distance(x + self * e->useds, x + i * e->useds, e->useds);
        if (distance < nearest) {
            nearest = distance;
            class = own;
        }
    }
    return class;
}

static void parting_measure(struct plm_explore *e, const double *x)
{
    size_t *count = plm_calloc(e->classes + 1, sizeof *count);
    for (size_t i = 0; i < e->mappeds; i++) {
        const int32_t own = e->class_of[e->shown[e->mapped[i]]];
        if (own == PLM_EXPLORE_NO_CLASS)
            continue;
        e->asked++;
        e->alike += nearest_class(e, x, i) == own;
        count[own < 0 ? e->classes : (size_t)own]++;
    }
    for (size_t i = 0; i <= e->classes; i++)
        e->guessed = count[i] > e->guessed ? count[i] : e->guessed;
    free(count);
}

static void shapes_make(struct plm_explore *e)
{
    double *x, *few;
    if (!e->useds)
        return;
    x = features_make(e);
    components_make(e, x);
    few = plm_calloc(e->mappeds * e->useds, sizeof *few);
    for (size_t i = 0; i < e->mappeds; i++)
        memcpy(few + i * e->useds, x + e->shown[e->mapped[i]] * e->useds, e->useds * sizeof *x);
    free(x);
    map_make(e, few);
    parting_measure(e, few);
    free(few);
}

/* ---- all of it ---- */

static int settings_check(const struct plm_csv *table, const struct plm_explore_settings *s, struct plm_error *error)
{
    if (s->bin < 0 || s->bin > 1000)
        return plm_fail(error, PLM_EINVAL, "a memory class is 1 to 1000 GB wide, not %d", s->bin);
    if (table->rows < 2)
        return plm_fail(error, PLM_EFORMAT, "%.300s has %s: there is nothing to compare", table->path,
                        table->rows ? "one row" : "a header and no rows");
    return 0;
}

static int explore_start(struct plm_explore *e, struct plm_error *error)
{
    int status = plm_explore_columns(e->table, &e->column, error);
    if (status)
        return status;
    status = columns_check(e, error);
    if (status == 0)
        status = memory_find(e, error);
    return status ? status : classes_make(e, error);
}

int plm_explore_make(const struct plm_csv *table, const struct plm_explore_settings *settings, struct plm_explore *e,
                     struct plm_error *error)
{
    int status = settings_check(table, settings, error);
    *e = (struct plm_explore){.table = table, .settings = *settings, .columns = table->columns, .memory = -1};
    if (!e->settings.bin)
        e->settings.bin = 1;
    if (!e->settings.iterations)
        e->settings.iterations = PLM_TSNE_ITERATIONS;
    if (status == 0)
        status = explore_start(e, error);
    if (status) {
        plm_explore_free(e);
        return status;
    }
    e->family = column_find(e, "family");
    stairs_find(e);
    columns_choose(e);
    rows_choose(e);
    correlations_make(e);
    shapes_make(e);
    plm_explore_thin(e);
    return 0;
}

void plm_explore_free(struct plm_explore *e)
{
    void *const parts[] = {e->class_of, e->class, e->given,     e->label,  e->spearman,
                           e->shown,    e->used,  e->component, e->mapped, e->map};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        free(parts[i]);
    for (size_t i = 0; i < e->thins; i++)
        free(e->thin[i]);
    free(e->thin);
    plm_explore_columns_free(e->column, e->columns);
    plm_pca_free(&e->pca);
    *e = (struct plm_explore){0};
}

int plm_explore_write(const struct plm_csv *table, const struct plm_explore_settings *settings, FILE *out,
                      struct plm_error *error)
{
    struct plm_explore e;
    int status = plm_explore_make(table, settings, &e, error);
    if (status == 0)
        status = plm_explore_html(out, &e, error);
    plm_explore_free(&e);
    return status;
}
