/*
 * What is in a table of runs (docs/dataset.md): how its columns are distributed, how memory rises with size, what goes
 * with what, whether memory classes part, and where there are few rows. As a page (web/explore.html) and as text.
 *
 * plm_explore_make() looks at a table, which must outlive it; plm_explore_free() gives it back. Read-only in between,
 * so any thread may look. Fails with one sentence: PLM_EFORMAT for a table that has nothing to show, PLM_EINVAL for a bad
 * setting, PLM_EIO if this build has no page or it cannot be written. The same table, settings and build
 * give the same bytes.
 */
#ifndef PLM_LEARN_EXPLORE_H
#define PLM_LEARN_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "study/learn/pca.h"

struct plm_error;
struct plm_page;
struct plm_csv;

enum {
    PLM_EXPLORE_SHOWN = 4000,  /* rows that a page has; of more, as many are drawn */
    PLM_EXPLORE_MAPPED = 2000, /* of these: in the map of t-SNE */
    PLM_EXPLORE_VALUES = 40,   /* different words that a column may have and be a category */
    PLM_EXPLORE_NUMBERS = 16,  /* different numbers that are shown one by one */
    PLM_EXPLORE_BINS = 40,
    PLM_EXPLORE_CLASSES = 4096,
    PLM_EXPLORE_GB = 1000, /* MiB: what the published classes call a GB */
};

struct plm_explore_settings {
    int bin;            /* width of a memory class in GB; 0: 1 */
    const char *target; /* the column that classes are made of; NULL: the first that is there of those in explore.c */
    uint64_t seed;      /* draws rows where there are too many, and t-SNE's start */
    int iterations;     /* of t-SNE; 0: PLM_TSNE_ITERATIONS */
};

/* ---- columns ---- */

enum plm_explore_role {
    PLM_EXPLORE_ARGUMENT, /* of the generator */
    PLM_EXPLORE_FEATURE,  /* x_NAME */
    PLM_EXPLORE_LABEL,    /* what the run took; measured_NAME */
    PLM_EXPLORE_RAN,      /* family, row, torch, gpu, stack, script, status, layers */
    PLM_EXPLORE_ROLES
};
const char *plm_explore_role_name(enum plm_explore_role role); /* "argument" */

enum plm_explore_kind {
    PLM_EXPLORE_EMPTY,
    PLM_EXPLORE_NUMBER,
    PLM_EXPLORE_CATEGORY,
    PLM_EXPLORE_TEXT, /* too many different words */
    PLM_EXPLORE_KINDS
};
const char *plm_explore_kind_name(enum plm_explore_kind kind); /* "number" */

/* Numbers in bins of equal width, on a logarithmic axis where they span two decades and most are small. With few different numbers a bin
   for each of these, and `low` to `high` mean nothing. */
struct plm_explore_histogram {
    bool one_by_one, logarithmic;
    double low, high; /* of the bins; logarithmic: of the positive numbers */
    size_t bins, below; /* below: numbers up to 0, which have no place on a logarithmic axis */
    size_t count[PLM_EXPLORE_BINS];
    double value[PLM_EXPLORE_NUMBERS]; /* one_by_one: the numbers, ascending */
};
/* `value`: the known numbers, ascending, at least one. */
void plm_explore_histogram_make(const double *value, size_t count, struct plm_explore_histogram *histogram);
/* The axis of a histogram, from 0 to 1, at the edge before bin `bin`: the number there. */
double plm_explore_edge(const struct plm_explore_histogram *histogram, size_t bin);

struct plm_explore_column {
    const char *name;
    enum plm_explore_role role;
    enum plm_explore_kind kind;
    bool whole; /* numbers without a fraction */
    bool varies;
    size_t known, distinct;
    double *value; /* per row; NAN: empty. NUMBER: the number; CATEGORY: of which word */
    /* NUMBER */
    double least, most, mean, median;
    struct plm_explore_histogram histogram;
    /* CATEGORY: words in alphabetical order, which belong to the table, and how many rows have each */
    const char *word[PLM_EXPLORE_VALUES];
    size_t words[PLM_EXPLORE_VALUES];
};
int plm_explore_columns(const struct plm_csv *table, struct plm_explore_column **column, struct plm_error *error);
void plm_explore_columns_free(struct plm_explore_column *column, size_t columns);

/* ---- all of it ---- */

struct plm_explore_class {
    uint32_t number; /* from number * bin to (number + 1) * bin GB */
    size_t rows;
};

/* The levels that an amount of memory has: of equal rows there is one. */
struct plm_explore_stairs {
    size_t column, rows, levels;
    double step; /* MiB: the commonest difference of neighbouring levels; 0: there is one level */
    size_t steps; /* how many are of it */
    size_t even; /* rows whose amount is a multiple of 2 MiB */
};

enum { PLM_EXPLORE_NO_CLASS = -1, PLM_EXPLORE_OOM = -2, PLM_EXPLORE_STAIRS = 8 };

struct plm_explore {
    const struct plm_csv *table;
    struct plm_explore_settings settings;
    struct plm_explore_column *column;
    size_t columns;

    int memory; /* the column that classes are made of; -1: none */
    double unit; /* MiB in one of it */
    int family; /* that column; -1: none */
    int32_t *class_of; /* per row: an index of `class`, or one of the above */
    struct plm_explore_class *class;
    size_t classes, oom, unclassed;
    struct plm_explore_stairs stairs[PLM_EXPLORE_STAIRS];
    size_t stairs_count;

    size_t *given, givens; /* columns: features and arguments that vary */
    size_t *label, labels; /* columns: labels that vary */
    double *spearman; /* per given, one for each label, of the shown rows; NAN: not known */

    size_t *shown, showns; /* rows, ascending */
    size_t *used, useds; /* columns that components are made of: their logarithm, if their histogram has one */
    struct plm_pca pca; /* of all rows */
    double *component; /* two per shown */
    size_t *mapped, mappeds; /* indices of shown, ascending */
    double *map; /* two per mapped */
    size_t alike, asked; /* rows of the map with a class, and those whose nearest other such row has the same */
    size_t guessed; /* of these: as many have the commonest class */

    char **thin; /* sentences */
    size_t thins;
};

int plm_explore_make(const struct plm_csv *table, const struct plm_explore_settings *settings,
                     struct plm_explore *explore, struct plm_error *error);
void plm_explore_free(struct plm_explore *explore);
/* Where there are few rows, in sentences. For plm_explore_make(). */
void plm_explore_thin(struct plm_explore *explore);
/* "2 to 4 GB". Returns buffer. */
const char *plm_explore_class_text(const struct plm_explore *explore, size_t class, char *buffer, size_t size);

/* What stairs and nearest rows tell, in a sentence, or "". Returns buffer. */
const char *plm_explore_stairs_text(const struct plm_explore *explore, size_t stairs, char *buffer, size_t size);
const char *plm_explore_parting_text(const struct plm_explore *explore, char *buffer, size_t size);

int plm_explore_html(FILE *out, const struct plm_explore *explore, struct plm_error *error);
int plm_explore_text(const struct plm_page *page, const struct plm_explore *explore, struct plm_error *error);

/* Makes it, writes the page and gives it back. */
int plm_explore_write(const struct plm_csv *table, const struct plm_explore_settings *settings, FILE *out,
                      struct plm_error *error);

#endif
