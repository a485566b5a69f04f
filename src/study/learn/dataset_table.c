/* The columns of a dataset, and a line of it. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/learn/dataset.h"
#include "study/learn/example.h"
#include "study/learn/label.h"

/* Around the arguments of a network, the numbers of an example and what is carried over. */
static const char *const first[] = {"family", "row", "script"};
static const char *const labels[] = {"torch",        "gpu",           "stack",       "status", "allocated", "reserved",
                                     "reserved_low", "reserved_high", "device_used", "oom",    "step_ms",   "gputl",
                                     "gract",        "smact",         "smocc",       "fp32a"};
static const char layers[] = "layers";
enum { FIRST = sizeof first / sizeof first[0], LABELS = sizeof labels / sizeof labels[0] };
enum { CELL_MOST = 60000 }; /* bytes; base/csv.c takes 64 KiB */
#define MEASURED "measured_"

static bool is_in(const char *name, const char *const *list, size_t count)
{
    while (count--)
        if (!strcmp(name, list[count]))
            return true;
    return false;
}

bool plm_dataset_writes(const char *column)
{
    return is_in(column, first, FIRST) || is_in(column, labels, LABELS) || !strcmp(column, layers) ||
           is_in(column, plm_example_column, PLM_EXAMPLE_NUMBER_COUNT);
}

/* The n-th column of the table that is carried over. */
static const char *carried_column(const struct plm_dataset *d, size_t index, char buffer[128])
{
    for (size_t i = 0; i < d->from.columns; i++)
        if (d->carried[i] && !index--) {
            const char *name = plm_csv_name(&d->from, i);
            snprintf(buffer, 128, "%s%.110s", strncmp(name, MEASURED, strlen(MEASURED)) ? MEASURED : "", name);
            return buffer;
        }
    return NULL;
}

const char *plm_dataset_column(const struct plm_dataset *d, size_t index, char buffer[128])
{
    const struct {
        const char *const *name;
        size_t count;
    } part[] = {{first, FIRST},
                {plm_argument_column, PLM_ARGUMENT_COUNT},
                {labels, LABELS},
                {plm_example_column, PLM_EXAMPLE_NUMBER_COUNT},
                {(const char *const[]){layers}, 1}};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; index -= part[i++].count)
        if (index < part[i].count)
            return part[i].name[index];
    return carried_column(d, index, buffer);
}

/* ---- a line ---- */

static void labels_put(FILE *out, const struct plm_labels *l)
{
    if (!l || !l->known) {
        fputs(",,,,,,,,,,,", out);
        return;
    }
    fprintf(out, "%llu,%llu,%llu,%llu,%llu,%d,", (unsigned long long)l->allocated, (unsigned long long)l->reserved,
            (unsigned long long)l->reserved_low, (unsigned long long)l->reserved_high,
            (unsigned long long)l->device_used, l->oom);
    if (l->step_ms <= 0) {
        fputs(",,,,,", out);
        return;
    }
    fprintf(out, "%.6g", l->step_ms);
    for (int i = 0; i < PLM_LABEL_METRICS; i++)
        fprintf(out, ",%.5g", l->metric[i]);
}
/* allocated to oom, step_ms, and the metrics */
_Static_assert(LABELS == 4 + 6 + 1 + PLM_LABEL_METRICS, "labels_put() has a cell for each");

/* A cell that no reader of tables takes would spoil the file: the layers of a network with thousands are left out. */
static void layers_cell_put(FILE *out, const struct plm_example *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *cell = open_memstream(&text, &size);
    if (!cell)
        return;
    plm_layers_put(cell, e->layer, e->layers);
    fclose(cell);
    if (size <= CELL_MOST)
        fputs(text, out);
    free(text);
}

static void example_put(FILE *out, const struct plm_example *e)
{
    for (int i = 0; i < PLM_EXAMPLE_NUMBER_COUNT; i++) {
        if (e && e->number[i] >= 0)
            fprintf(out, "%.0f", e->number[i]);
        fputc(',', out);
    }
    if (e)
        layers_cell_put(out, e);
}

void plm_dataset_put(FILE *out, const struct plm_dataset *d, const struct plm_dataset_row *row,
                     const struct plm_dataset_answer *a)
{
    fprintf(out, "%s,%zu,", row->script ? "script" : plm_family_name[row->network.family], row->number);
    plm_csv_put(out, row->script ? row->script : "");
    for (int i = 0; i < PLM_ARGUMENT_COUNT; i++) {
        fputc(',', out);
        plm_csv_put(out, row->network.cell[i]);
    }
    fprintf(out, ",%s,%s,", a->torch, d->settings->card->id);
    plm_csv_put(out, a->stack);
    fputc(',', out);
    plm_csv_put(out, a->status);
    fputc(',', out);
    labels_put(out, a->labels);
    fputc(',', out);
    example_put(out, a->example);
    for (size_t i = 0; i < d->from.columns; i++)
        if (d->carried[i]) {
            fputc(',', out);
            plm_csv_put(out, plm_csv_cell(&d->from, row->origin, (int)i));
        }
    fputc('\n', out);
}

/* ---- all of them ---- */

/* The columns of the older table, then those of the dataset that it lacks. */
static size_t columns_of(const struct plm_dataset *d, const struct plm_csv *older, const char **name,
                         char buffer[PLM_CSV_COLUMNS][128])
{
    size_t count = 0;
    const char *column;
    for (size_t i = 0; older && i < older->columns; i++)
        name[count++] = plm_csv_name(older, i);
    for (size_t i = 0; count < PLM_CSV_COLUMNS && (column = plm_dataset_column(d, i, buffer[count])); i++)
        if (!older || plm_csv_column(older, column) < 0)
            name[count++] = column;
    return count;
}

static void older_put(FILE *out, const struct plm_csv *older, size_t columns)
{
    for (size_t row = 0; row < older->rows; row++)
        for (size_t i = 0; i < columns; i++) {
            if (i < older->columns)
                plm_csv_put(out, plm_csv_cell(older, row, (int)i));
            fputc(i + 1 < columns ? ',' : '\n', out);
        }
}

/* Lines are whole as they are, where there is no older table; else each cell goes to the column of its name. */
static int lines_put(FILE *out, const struct plm_dataset *d, const struct plm_csv *older, const char **name,
                     size_t columns, struct plm_error *error)
{
    char buffer[128], *text = NULL;
    size_t size;
    struct plm_csv lines;
    FILE *all = open_memstream(&text, &size);
    const char *column;
    int status;
    if (!all)
        return plm_fail(error, PLM_EIO, "the table could not be written");
    for (size_t i = 0; (column = plm_dataset_column(d, i, buffer)); i++) {
        if (i)
            fputc(',', all);
        plm_csv_put(all, column);
    }
    fputc('\n', all);
    for (size_t i = 0; i < d->rows; i++)
        fputs(d->row[i].line, all);
    fclose(all);
    if (!older) {
        fputs(text, out);
        free(text);
        return 0;
    }
    status = plm_csv_take("the rows that were made", text, size, &lines, error);
    if (status)
        return status;
    for (size_t row = 0; row < lines.rows; row++)
        for (size_t i = 0; i < columns; i++) {
            plm_csv_put(out, plm_csv_cell(&lines, row, plm_csv_column(&lines, name[i])));
            fputc(i + 1 < columns ? ',' : '\n', out);
        }
    plm_csv_free(&lines);
    return 0;
}

int plm_dataset_write(FILE *out, const struct plm_dataset *d, const struct plm_csv *older, struct plm_error *error)
{
    static char buffer[PLM_CSV_COLUMNS][128];
    const char *name[PLM_CSV_COLUMNS];
    const size_t columns = columns_of(d, older, name, buffer);
    int status;
    for (size_t i = 0; older && i < columns; i++) {
        plm_csv_put(out, name[i]);
        fputc(i + 1 < columns ? ',' : '\n', out);
    }
    if (older)
        older_put(out, older, columns);
    status = lines_put(out, d, older, name, columns, error);
    if (status == 0 && ferror(out))
        status = plm_fail(error, PLM_EIO, "the table could not be written");
    return status;
}
