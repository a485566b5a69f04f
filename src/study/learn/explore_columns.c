/* The columns of a table of runs: what each is, its numbers or words, and how these are distributed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/csv.h"
#include "study/learn/explore.h"

static const double LARGEST = 1e18;  /* either way, as plm_csv_real() has it */
static const double TWO_DECADES = 100;

const char *plm_explore_role_name(enum plm_explore_role role)
{
    static const char *const names[] = {"argument", "feature", "label", "ran"};
    _Static_assert(sizeof names / sizeof names[0] == PLM_EXPLORE_ROLES, "every role has a name");
    return names[role];
}

const char *plm_explore_kind_name(enum plm_explore_kind kind)
{
    static const char *const names[] = {"empty", "number", "category", "text"};
    _Static_assert(sizeof names / sizeof names[0] == PLM_EXPLORE_KINDS, "every kind has a name");
    return names[kind];
}

/* ---- roles ---- */

enum content { ANYTHING, NUMBERS, WORDS }; /* NUMBERS: others are refused. WORDS: numbers are words too. */

/* Columns that are not named otherwise are arguments. A name that ends in "_" is the beginning of one. */
static const struct known_column {
    const char *name;
    enum plm_explore_role role;
    enum content content;
} known_columns[] = {
    {"x_", PLM_EXPLORE_FEATURE, NUMBERS},        {"measured_", PLM_EXPLORE_LABEL, ANYTHING},
    {"allocated", PLM_EXPLORE_LABEL, NUMBERS},   {"reserved", PLM_EXPLORE_LABEL, NUMBERS},
    {"device_used", PLM_EXPLORE_LABEL, NUMBERS}, {"device_mib", PLM_EXPLORE_LABEL, NUMBERS},
    {"oom", PLM_EXPLORE_LABEL, NUMBERS},         {"step_ms", PLM_EXPLORE_LABEL, NUMBERS},
    {"gputl", PLM_EXPLORE_LABEL, NUMBERS},       {"gract", PLM_EXPLORE_LABEL, NUMBERS},
    {"smact", PLM_EXPLORE_LABEL, NUMBERS},       {"smocc", PLM_EXPLORE_LABEL, NUMBERS},
    {"fp32a", PLM_EXPLORE_LABEL, NUMBERS},       {"family", PLM_EXPLORE_RAN, WORDS},
    {"row", PLM_EXPLORE_RAN, ANYTHING},          {"name", PLM_EXPLORE_RAN, WORDS},
    {"torch", PLM_EXPLORE_RAN, WORDS},           {"gpu", PLM_EXPLORE_RAN, WORDS},
    {"stack", PLM_EXPLORE_RAN, WORDS},           {"layers", PLM_EXPLORE_RAN, WORDS},
    {"status", PLM_EXPLORE_RAN, WORDS},          {"script", PLM_EXPLORE_RAN, WORDS},
};

static struct known_column column_known(const char *name)
{
    for (size_t i = 0; i < sizeof known_columns / sizeof known_columns[0]; i++) {
        const struct known_column *k = &known_columns[i];
        const size_t length = strlen(k->name);
        if (k->name[length - 1] == '_' ? !strncmp(name, k->name, length) : !strcmp(name, k->name))
            return *k;
    }
    return (struct known_column){.name = name, .role = PLM_EXPLORE_ARGUMENT};
}

/* ---- cells ---- */

enum cell { CELL_EMPTY, CELL_NUMBER, CELL_ENDLESS, CELL_WORD };

static enum cell cell_read(const char *text, double *value)
{
    char *end;
    *value = NAN;
    if (!*text)
        return CELL_EMPTY;
    *value = strtod(text, &end);
    if (end == text || *end)
        return CELL_WORD;
    return fabs(*value) <= LARGEST ? CELL_NUMBER : CELL_ENDLESS; /* NaN is no number either */
}

/* How many cells are of each sort, and the first row that has one. */
struct cells {
    size_t count[CELL_WORD + 1], first[CELL_WORD + 1];
};

static void cells_read(const struct plm_csv *t, size_t at, double *value, struct cells *cells)
{
    *cells = (struct cells){0};
    for (size_t row = 0; row < t->rows; row++) {
        const enum cell cell = cell_read(plm_csv_cell(t, row, (int)at), &value[row]);
        if (!cells->count[cell]++)
            cells->first[cell] = row;
    }
}

static int cells_check(const struct plm_csv *t, size_t at, enum content content, const struct cells *c,
                       struct plm_error *error)
{
    /* "nan" among words is a word; alone or among numbers somebody's program failed. */
    const enum cell bad = content == NUMBERS && c->count[CELL_WORD] ? CELL_WORD : CELL_ENDLESS;
    if (content == WORDS || !c->count[bad] || (bad == CELL_ENDLESS && c->count[CELL_WORD]))
        return 0;
    return plm_csv_wrong(t, c->first[bad], (int)at, "a finite number; leave the cell empty if it is unknown", error);
}

/* ---- words ---- */

static int word_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void words_count(const struct plm_csv *t, size_t at, struct plm_explore_column *c)
{
    for (size_t row = 0; row < t->rows; row++) {
        const char *text = plm_csv_cell(t, row, (int)at);
        const char *const *found = bsearch(&text, c->word, c->distinct, sizeof c->word[0], word_order);
        c->value[row] = found ? (double)(found - c->word) : NAN;
        if (found)
            c->words[found - c->word]++;
    }
}

static void words_make(const struct plm_csv *t, size_t at, struct plm_explore_column *c)
{
    const char **all = plm_calloc(t->rows, sizeof *all);
    size_t count = 0;
    for (size_t row = 0; row < t->rows; row++)
        if (*plm_csv_cell(t, row, (int)at))
            all[count++] = plm_csv_cell(t, row, (int)at);
    qsort(all, count, sizeof *all, word_order);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(all[i], all[i - 1])) {
            if (c->distinct < PLM_EXPLORE_VALUES)
                c->word[c->distinct] = all[i];
            c->distinct++;
        }
    free(all);
    c->kind = c->distinct > PLM_EXPLORE_VALUES ? PLM_EXPLORE_TEXT : PLM_EXPLORE_CATEGORY;
    c->varies = c->distinct > 1;
    if (c->kind == PLM_EXPLORE_CATEGORY)
        words_count(t, at, c);
}

/* ---- numbers ---- */

static int number_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t distinct_count(const double *value, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        distinct += !i || value[i] != value[i - 1];
    return distinct;
}

static void bars_make(const double *value, size_t count, struct plm_explore_histogram *h)
{
    for (size_t i = 0; i < count; i++) {
        if (!i || value[i] != value[i - 1])
            h->value[h->bins++] = value[i];
        h->count[h->bins - 1]++;
    }
}

double plm_explore_edge(const struct plm_explore_histogram *h, size_t bin)
{
    const double share = (double)bin / (double)h->bins;
    if (bin == h->bins)
        return h->high;
    return h->logarithmic ? h->low * pow(h->high / h->low, share) : h->low + (h->high - h->low) * share;
}

/* Rice's rule: two times the cube root. */
static size_t bins_wanted(size_t count)
{
    const size_t bins = (size_t)ceil(2 * cbrt((double)count) - 1e-9);
    return bins < 4 ? 4 : bins > PLM_EXPLORE_BINS ? PLM_EXPLORE_BINS : bins;
}

static size_t bin_of(const struct plm_explore_histogram *h, double value)
{
    const double share =
        h->logarithmic ? log(value / h->low) / log(h->high / h->low) : (value - h->low) / (h->high - h->low);
    const size_t bin = (size_t)fmax(0, share * (double)h->bins);
    return bin < h->bins ? bin : h->bins - 1;
}

/* Positive numbers over two decades, half of them in the first quarter of the axis: a linear one would show nothing of
   these. */
static bool is_skewed(const double *value, size_t count)
{
    const double low = value[0], high = value[count - 1];
    return high >= TWO_DECADES * low && value[count / 2] < low + (high - low) / 4;
}

/* What is not above 0 in a column of sizes is one number, which means "none"; with more of these it is no such column. */
void plm_explore_histogram_make(const double *value, size_t count, struct plm_explore_histogram *h)
{
    size_t below = 0;
    *h = (struct plm_explore_histogram){.low = value[0], .high = value[count - 1]};
    h->one_by_one = distinct_count(value, count) <= PLM_EXPLORE_NUMBERS;
    if (h->one_by_one) {
        bars_make(value, count, h);
        return;
    }
    while (below < count && value[below] <= 0)
        below++;
    h->logarithmic =
        below < count && is_skewed(value + below, count - below) && (!below || distinct_count(value, below) == 1);
    h->below = h->logarithmic ? below : 0;
    if (h->logarithmic)
        h->low = value[below];
    h->bins = bins_wanted(count);
    for (size_t i = h->below; i < count; i++)
        h->count[bin_of(h, value[i])]++;
}

static void numbers_make(size_t rows, struct plm_explore_column *c)
{
    double *sorted = plm_calloc(c->known, sizeof *sorted);
    size_t n = 0;
    c->whole = true;
    for (size_t i = 0; i < rows; i++)
        if (!isnan(c->value[i])) {
            sorted[n++] = c->value[i];
            c->mean += c->value[i] / (double)c->known;
            c->whole = c->whole && c->value[i] == floor(c->value[i]);
        }
    qsort(sorted, n, sizeof *sorted, number_order);
    c->distinct = distinct_count(sorted, n);
    c->varies = c->distinct > 1;
    c->least = sorted[0];
    c->most = sorted[n - 1];
    c->median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    plm_explore_histogram_make(sorted, n, &c->histogram);
    free(sorted);
}

/* ---- all of it ---- */

static int column_make(const struct plm_csv *t, size_t at, struct plm_explore_column *c, struct plm_error *error)
{
    const struct known_column known = column_known(plm_csv_name(t, at));
    struct cells cells;
    int status;
    *c = (struct plm_explore_column){.name = plm_csv_name(t, at), .role = known.role};
    c->value = plm_calloc(t->rows, sizeof *c->value);
    cells_read(t, at, c->value, &cells);
    status = cells_check(t, at, known.content, &cells, error);
    if (status)
        return status;
    c->known = t->rows - cells.count[CELL_EMPTY];
    if (cells.count[CELL_WORD] || (c->known && known.content == WORDS))
        words_make(t, at, c);
    else if (c->known) {
        c->kind = PLM_EXPLORE_NUMBER;
        numbers_make(t->rows, c);
    }
    return 0;
}

int plm_explore_columns(const struct plm_csv *t, struct plm_explore_column **column, struct plm_error *error)
{
    int status = 0;
    *column = plm_calloc(t->columns, sizeof **column);
    for (size_t i = 0; i < t->columns && status == 0; i++)
        status = column_make(t, i, &(*column)[i], error);
    if (status) {
        plm_explore_columns_free(*column, t->columns);
        *column = NULL;
    }
    return status;
}

void plm_explore_columns_free(struct plm_explore_column *column, size_t columns)
{
    for (size_t i = 0; column && i < columns; i++)
        free(column[i].value);
    free(column);
}
