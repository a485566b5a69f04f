#include "study/evaluate/time_truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "base/memory.h"

/* A layout, known by a column. A table may have two of them: timm's benchmark of inference and of training side by
   side. */
struct layout {
    const char *known_by;
    const char *step, *batch, *image; /* columns */
    const char *mode; /* NULL: in the column mode */
    const char *family; /* where there is no column family; NULL: it must be there */
    bool per_cent; /* gputl is, as nvidia-smi shows it; else 0 to 1, as the other metrics are */
};
static const struct layout layouts[] = {
    {"infer_step_time", "infer_step_time", "infer_batch_size", "infer_img_size", "infer", "timm", true},
    {"train_step_time", "train_step_time", "train_batch_size", "train_img_size", "train", "timm", true},
    {"arch", "step_time_ms", "batch", "image_size", "train", "mlp", true},
    {"batch_size", "step_time_ms", "batch_size", "image_size", NULL, NULL, false},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const char *const memory_columns[] = {"ground", "allocated", "reserved", "device_used"};
static const char *const measured_columns[] = {"infer_step_time",       "train_step_time",       "step_time_ms",
                                               "infer_samples_per_sec", "train_samples_per_sec", "device_mib"};
static const char *const kind_names[PLM_TIMED_KINDS] = {"step-time", "utilization"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

const char *plm_timed_figure_name(int figure)
{
    return figure == PLM_FIGURE_STEP ? "step_ms" : plm_metric_name((enum plm_metric)(figure - PLM_FIGURE_METRIC));
}

const char *plm_timed_kind_name(enum plm_timed_kind kind)
{
    return kind_names[kind];
}

int plm_timed_kind_parse(const char *text, enum plm_timed_kind *kind)
{
    for (int i = 0; i < PLM_TIMED_KINDS; i++)
        if (!strcmp(text, kind_names[i])) {
            *kind = (enum plm_timed_kind)i;
            return 0;
        }
    return PLM_EINVAL;
}

int plm_timed_kind_figures(enum plm_timed_kind kind, int *first)
{
    *first = kind == PLM_TIMED_STEP ? PLM_FIGURE_STEP : PLM_FIGURE_METRIC;
    return kind == PLM_TIMED_STEP ? 1 : PLM_METRICS;
}

bool plm_timed_truth_measured(const char *column)
{
    for (size_t i = 0; i < COUNT(measured_columns); i++)
        if (!strcmp(column, measured_columns[i]))
            return true;
    for (int i = 0; i < PLM_METRICS; i++)
        if (!strcmp(column, plm_metric_name((enum plm_metric)i)))
            return true;
    return false;
}

static bool metrics_there(const struct plm_csv *t)
{
    for (int i = 0; i < PLM_METRICS; i++)
        if (plm_csv_column(t, plm_metric_name((enum plm_metric)i)) >= 0)
            return true;
    return false;
}

static bool steps_there(const struct plm_csv *t)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (plm_csv_column(t, layouts[i].step) >= 0)
            return true;
    return false;
}

bool plm_timed_truth_recognize(const struct plm_csv *t, enum plm_timed_kind *kind)
{
    *kind = steps_there(t) ? PLM_TIMED_STEP : PLM_TIMED_UTILIZATION;
    for (size_t i = 0; i < COUNT(memory_columns); i++)
        if (plm_csv_column(t, memory_columns[i]) >= 0)
            return false;
    return steps_there(t) || metrics_there(t);
}

/* ---- rows ---- */

struct reading {
    struct plm_timed_truth *truth;
    const struct layout *layout;
    size_t at;
    struct plm_error *error;
};

static const char *cell(const struct reading *r, const char *column)
{
    const struct plm_csv *t = &r->truth->table;
    return plm_csv_cell(t, r->at, plm_csv_column(t, column));
}

/* A number within bounds; 0 if the cell is empty or there is no such column. */
static int number(const struct reading *r, const char *column, double least, double most, const char *wanted,
                  double *value)
{
    const struct plm_csv *t = &r->truth->table;
    const int at = plm_csv_column(t, column);
    const int status = plm_csv_real(t, r->at, at, value, r->error);
    if (status || !*plm_csv_cell(t, r->at, at))
        return status;
    return *value >= least && *value <= most ? 0 : plm_csv_wrong(t, r->at, at, wanted, r->error);
}

static int whole(const struct reading *r, const char *column, uint64_t *value)
{
    double real;
    int status = number(r, column, 1, 1e9, "a whole number from 1", &real);
    if (status == 0 && real != floor(real))
        status = plm_csv_wrong(&r->truth->table, r->at, plm_csv_column(&r->truth->table, column),
                               "a whole number from 1", r->error);
    *value = status ? 0 : (uint64_t)real;
    return status;
}

static int figures_read(const struct reading *r, struct plm_timed_row *row)
{
    int status = number(r, r->layout->step, 1e-6, 1e9, "a time in ms", &row->figure[PLM_FIGURE_STEP]);
    if (status == 0 && *cell(r, r->layout->step))
        row->known |= 1u << PLM_FIGURE_STEP;
    for (int i = 0; i < PLM_METRICS && status == 0; i++) {
        const char *name = plm_metric_name((enum plm_metric)i);
        const bool per_cent = i == PLM_METRIC_GPUTL && r->layout->per_cent;
        double *value = &row->figure[PLM_FIGURE_METRIC + i];
        status = number(r, name, 0, per_cent ? 100 : 1, per_cent ? "a percentage from 0 to 100" : "a share from 0 to 1",
                        value);
        *value /= per_cent ? 100 : 1;
        if (*cell(r, name))
            row->known |= 1u << (PLM_FIGURE_METRIC + i);
    }
    return status;
}

static int words_read(const struct reading *r, struct plm_timed_row *row)
{
    const struct plm_csv *t = &r->truth->table;
    row->family = cell(r, "family");
    if (!*row->family)
        row->family = r->layout->family ? r->layout->family : "";
    row->model = cell(r, "model");
    if (!*row->model)
        row->model = cell(r, "name");
    row->mode = r->layout->mode ? r->layout->mode : cell(r, "mode");
    row->gpu = cell(r, "gpu");
    row->layout = cell(r, "layout");
    row->precision = cell(r, "precision");
    if (!*row->family)
        return plm_fail(r->error, PLM_EFORMAT, "%.300s:%u: the row names no family", t->path, row->line);
    if (*row->mode && strcmp(row->mode, "infer") != 0 && strcmp(row->mode, "train") != 0)
        return plm_csv_wrong(t, r->at, plm_csv_column(t, "mode"), "infer or train", r->error);
    return 0;
}

static int row_read(const struct reading *r, struct plm_timed_row *row)
{
    int status;
    *row = (struct plm_timed_row){.line = r->truth->table.line[r->at + 1], .at = r->at};
    status = words_read(r, row);
    if (status == 0)
        status = whole(r, r->layout->batch, &row->batch);
    if (status == 0)
        status = whole(r, r->layout->image, &row->image);
    if (status == 0)
        status = number(r, "infer_gmacs", 0, 1e9, "a number from 0", &row->gmacs);
    if (status == 0)
        status = number(r, "infer_macts", 0, 1e9, "a number from 0", &row->macts);
    return status ? status : figures_read(r, row);
}

static unsigned kind_bits(enum plm_timed_kind kind)
{
    int first, count = plm_timed_kind_figures(kind, &first);
    return ((1u << count) - 1) << first;
}

static int layout_read(struct plm_timed_truth *truth, const struct layout *layout, struct plm_error *error)
{
    struct reading r = {.truth = truth, .layout = layout, .error = error};
    int status = 0;
    for (; r.at < truth->table.rows && status == 0; r.at++) {
        struct plm_timed_row row;
        status = row_read(&r, &row);
        if (status == 0 && !(row.known & kind_bits(truth->kind)))
            truth->without++;
        else if (status == 0) {
            truth->row = plm_grow(truth->row, truth->rows, &truth->room, sizeof *truth->row);
            truth->row[truth->rows++] = row;
        }
    }
    return status;
}

/* Layouts that have a column of their own come first; of those that share batch_size, the last. */
static int layouts_read(struct plm_timed_truth *truth, struct plm_error *error)
{
    const struct plm_csv *t = &truth->table;
    bool found = false;
    int status = 0;
    for (int i = 0; i < LAYOUTS && status == 0; i++)
        if (plm_csv_column(t, layouts[i].known_by) >= 0 && !(found && i >= LAYOUTS - 2)) {
            found = true;
            status = layout_read(truth, &layouts[i], error);
        }
    if (status || found)
        return status;
    return plm_fail(
        error, PLM_EFORMAT,
        "%.300s: the header has no column batch_size; with it belong family, model, gpu, step_time_ms or gputl, "
        "gract, smact, smocc, fp32a",
        t->path);
}

int plm_timed_truth_read(const char *path, enum plm_timed_kind kind, struct plm_timed_truth *truth,
                         struct plm_error *error)
{
    int status;
    *truth = (struct plm_timed_truth){.kind = kind};
    status = plm_csv_read(path, &truth->table, error);
    if (status)
        return status;
    if (!truth->table.rows)
        status = plm_fail(error, PLM_EFORMAT, "%.300s has a header and no rows", path);
    if (status == 0)
        status = layouts_read(truth, error);
    if (status == 0 && !truth->rows)
        status =
            plm_fail(error, PLM_EFORMAT, "%.300s: no row has a figure for --truth %s", path, plm_timed_kind_name(kind));
    if (status)
        plm_timed_truth_free(truth);
    return status;
}

void plm_timed_truth_free(struct plm_timed_truth *truth)
{
    free(truth->row);
    plm_csv_free(&truth->table);
    *truth = (struct plm_timed_truth){0};
}

bool plm_timed_row_has(const struct plm_timed_truth *truth, const struct plm_timed_row *row, const char *pattern)
{
    const struct plm_csv *t = &truth->table;
    return !pattern || strcasestr(row->family, pattern) || strcasestr(row->model, pattern) ||
           strcasestr(row->mode, pattern) || strcasestr(plm_csv_cell(t, row->at, plm_csv_column(t, "name")), pattern);
}
