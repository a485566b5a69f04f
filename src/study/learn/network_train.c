/*
 * Training of networks: the rows become a file of plain numbers, exactly as a trained network will see questions; a
 * child Python (hook/plimsoll_learn) trains with PyTorch and writes the weights, which are read back as any other file
 * of weights is.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "common/error.h"
#include "base/install.h"
#include "base/memory.h"
#include "base/csv.h"
#include "study/estimate/model_file.h"
#include "study/learn/example.h"
#include "study/learn/network.h"

enum {
    ROWS_LEAST = 20,
    PATH_ROOM = 4096,
    GB = 1000, /* MiB of a GB, as in the published classes */
    POINTS = 10,
    STATUS_LIBRARY = 71, /* of hook/plimsoll_learn: PyTorch is there, a library of NVIDIA's is not */
};

/* ---- the rows ---- */

struct rows {
    const struct plm_lesson *lesson;
    const struct plm_architecture *own;
    const struct plm_target *target;
    struct plm_network *network;
    double *y; /* of the rows that are used, in the unit of the target */
    size_t *row;
    size_t count;
};

static int rows_wrong(const struct rows *r, size_t row, const struct plm_error *why, struct plm_error *error)
{
    return plm_fail(error, PLM_EFORMAT, "%.200s:%u: %.250s", r->lesson->table->path, r->lesson->table->line[row],
                    why->text);
}

static int family_read(const struct rows *r, size_t row, enum plm_family *family, struct plm_error *error)
{
    const int column = plm_csv_column(r->lesson->table, "family");
    const char *cell = plm_csv_cell(r->lesson->table, row, column);
    for (unsigned i = 0; i < PLM_FAMILIES; i++)
        if (!strcmp(cell, plm_family_name[i])) {
            *family = (enum plm_family)i;
            return 0;
        }
    if (column < 0)
        return plm_fail(error, PLM_EFORMAT, "%.300s has no column family; `plimsoll dataset` makes such tables",
                        r->lesson->table->path);
    return plm_csv_wrong(r->lesson->table, row, column, "mlp, cnn or transformer", error);
}

/* The row's target; *used is false if it has none. Runs out of memory are the last class, or are left out. */
static int target_read(const struct rows *r, size_t row, double *y, bool *used, struct plm_error *error)
{
    const struct plm_csv *t = r->lesson->table;
    const int column = plm_csv_column(t, r->target->column);
    const bool oom = !strcmp(plm_csv_cell(t, row, plm_csv_column(t, "oom")), "1");
    int status = plm_csv_real(t, row, column, y, error);
    *y *= r->target->scale;
    *used = plm_target_known(r->target, t, row) && (!oom || r->target->unit != PLM_LEARNED_MEMORY);
    if (oom && r->target->unit == PLM_LEARNED_MEMORY && r->own->oom > 0 && !r->lesson->regression) {
        *used = true;
        *y = r->own->oom;
    }
    if (status == 0 && *used && (*y < 0 || (*y == 0 && r->target->unit != PLM_LEARNED_UTILIZATION)))
        status = plm_csv_wrong(t, row, column, "above 0", error);
    return status;
}

static int rows_choose(struct rows *r, struct plm_error *error)
{
    const struct plm_csv *t = r->lesson->table;
    int status = 0;
    r->y = plm_calloc(t->rows, sizeof *r->y);
    r->row = plm_calloc(t->rows, sizeof *r->row);
    for (size_t i = 0; i < t->rows && status == 0; i++) {
        enum plm_family family = PLM_FAMILY_MLP;
        bool used = false;
        if (r->lesson->left_out && r->lesson->left_out[i])
            continue;
        status = target_read(r, i, &r->y[r->count], &used, error);
        if (status || !used)
            continue;
        status = family_read(r, i, &family, error);
        if (!r->count)
            r->network->family = family;
        else if (status == 0 && family != r->network->family && !r->own->graph)
            status =
                plm_fail(error, PLM_EFORMAT, "%.300s has rows of %s and of %s; %s learns one family at a time", t->path,
                         plm_family_name[r->network->family], plm_family_name[family], r->lesson->method->name);
        r->row[r->count++] = i;
    }
    if (status == 0 && r->count < ROWS_LEAST)
        status = plm_fail(error, PLM_EFORMAT, "%.300s has %zu rows with %s, but at least %d are needed", t->path,
                          r->count, r->target->column, ROWS_LEAST);
    r->network->rows = r->count;
    return status;
}

/* ---- what the outputs mean ---- */

static void answer_number(const struct rows *r, bool logarithm, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < r->count; i++)
        sum += logarithm ? log(r->y[i]) : r->y[i];
    *mean = sum / (double)r->count;
    for (size_t i = 0; i < r->count; i++) {
        double off = (logarithm ? log(r->y[i]) : r->y[i]) - *mean;
        squares += off * off;
    }
    *deviation = fmax(sqrt(squares / (double)r->count), 1e-6);
}

static int answer_classes(const struct rows *r, struct plm_error *error)
{
    struct plm_network *n = r->network;
    double low = r->y[0], high = r->y[0], from, to;
    for (size_t i = 0; i < r->count; i++) {
        low = fmin(low, r->y[i]);
        high = fmax(high, r->y[i]);
    }
    n->width = POINTS;
    if (r->target->unit == PLM_LEARNED_MEMORY)
        n->width = GB * (r->lesson->bin ? r->lesson->bin : n->family == PLM_FAMILY_MLP ? 1 : 8);
    from = fmax(ceil(low / n->width) - 1, 0);
    to = ceil(high / n->width);
    if (r->target->unit == PLM_LEARNED_UTILIZATION) {
        from = 0;
        to = 100. / POINTS;
    }
    if (to - from > PLM_LEARNED_CLASSES)
        return plm_fail(error, PLM_EINVAL, "%.0f classes of %g %s are too many; make them wider with --bin", to - from,
                        n->width, plm_learned_unit_name(r->target->unit));
    n->first = from * n->width;
    n->outputs = (size_t)(to - from);
    return 0;
}

static int answer_choose(const struct rows *r, struct plm_error *error)
{
    struct plm_network *n = r->network;
    const bool number = r->lesson->regression || r->own->graph;
    if (!number && r->target->unit == PLM_LEARNED_TIME)
        return plm_fail(error, PLM_EINVAL, "times have no classes: learn them as numbers with --regression");
    if (r->lesson->bin && (number || r->target->unit != PLM_LEARNED_MEMORY))
        return plm_fail(error, PLM_EINVAL, "--bin applies to memory classes only");
    n->kind = !number ? PLM_NETWORK_CLASSES : r->own->graph ? PLM_NETWORK_LOG : PLM_NETWORK_NUMBER;
    n->outputs = 1;
    if (!number)
        return answer_classes(r, error);
    if (n->kind == PLM_NETWORK_LOG && r->target->unit == PLM_LEARNED_UTILIZATION)
        return plm_fail(error, PLM_EINVAL, "%s learns memory and time: --target %s is neither", n->method->name,
                        n->target);
    answer_number(r, n->kind == PLM_NETWORK_LOG, &n->first, &n->width);
    return 0;
}

static size_t class_of(const struct plm_network *n, double y)
{
    double at = ceil((y - n->first) / n->width) - 1;
    return at < 0 ? 0 : at >= (double)n->outputs ? n->outputs - 1 : (size_t)at;
}

/* ---- the file of numbers ---- */

static void range_widen(struct plm_network *n, const double *x, bool first)
{
    for (size_t i = 0; i < n->features; i++) {
        struct plm_tree_feature *f = &n->feature[i];
        f->low = first ? x[i] : fmin(f->low, x[i]);
        f->high = first ? x[i] : fmax(f->high, x[i]);
    }
}

static void numbers_put(FILE *out, const char *key, const double *value, size_t count)
{
    fputs(key, out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %.9g", value[i]);
    fputc('\n', out);
}

static void row_put(FILE *out, const struct rows *r, size_t i, const struct plm_view *v)
{
    const struct plm_network *n = r->network;
    fprintf(out, "row %zu %.17g", n->kind == PLM_NETWORK_CLASSES ? class_of(n, r->y[i]) : 0, r->y[i]);
    numbers_put(out, "", v->x, n->features);
    if (r->own->sequence)
        numbers_put(out, "tokens", v->token, v->tokens * v->token_width);
    if (!r->own->graph)
        return;
    numbers_put(out, "nodes", v->node, v->nodes * PLM_DNNPERF_NODE);
    fputs("edges", out);
    for (size_t k = 0; k < v->edges; k++)
        fprintf(out, " %" PRIu32 " %" PRIu32 " %.9g", v->edge[k].from, v->edge[k].to, v->edge[k].size);
    fputc('\n', out);
}

/* Calls `each` with every row as the network sees it. */
static int rows_view(struct rows *r, void (*each)(struct rows *r, size_t i, const struct plm_view *v, FILE *out),
                     FILE *out, struct plm_error *error)
{
    struct plm_view view = {0};
    int status = 0;
    for (size_t i = 0; i < r->count && status == 0; i++) {
        struct plm_example example = {0};
        struct plm_error why;
        status = plm_example_read(r->lesson->table, r->row[i], &example, error);
        if (status == 0 && r->own->view(r->network->family, &example, &view, &why))
            status = rows_wrong(r, r->row[i], &why, error);
        if (status == 0)
            each(r, i, &view, out);
        plm_example_free(&example);
    }
    plm_view_free(&view);
    return status;
}

static void row_measure(struct rows *r, size_t i, const struct plm_view *v, FILE *out)
{
    (void)out;
    range_widen(r->network, v->x, i == 0);
    if (r->own->sequence && v->tokens > r->network->length)
        r->network->length = v->tokens;
}

static void row_write(struct rows *r, size_t i, const struct plm_view *v, FILE *out)
{
    row_put(out, r, i, v);
}

static size_t lines_of(const struct plm_network *n)
{
    return 7 + n->features;
}

static int matrix_write(struct rows *r, const char *path, struct plm_error *error)
{
    const struct plm_network *n = r->network;
    FILE *out = fopen(path, "we");
    int status;
    if (!out)
        return plm_fail(error, PLM_EIO, "cannot write %.300s: %s", path, strerror(errno));
    fprintf(out, "plimsoll-matrix 3\nmethod %s\nfolds %d\nall %d\ntoken %zu\nnode %d\nhead %zu\n", n->method->name,
            r->lesson->folds, r->lesson->judged_elsewhere, plm_gpumemnet_token_width(n->family), PLM_DNNPERF_NODE,
            lines_of(n));
    plm_network_put_head(out, n);
    status = rows_view(r, row_write, out, error);
    if ((ferror(out) | fclose(out)) && status == 0)
        status = plm_fail(error, PLM_EIO, "cannot write %.300s: %s", path, strerror(errno));
    return status;
}

static int network_describe(struct rows *r, struct plm_error *error)
{
    struct plm_network *n = r->network;
    const char *const *name;
    int status = rows_choose(r, error);
    if (status == 0)
        status = answer_choose(r, error);
    if (status)
        return status;
    for (name = r->own->features(n->family); name[n->features]; n->features++)
        snprintf(n->feature[n->features].name, sizeof n->feature[0].name, "%s", name[n->features]);
    status = rows_view(r, row_measure, NULL, error);
    if (status == 0 && n->length > PLM_NETWORK_LENGTH)
        status = plm_fail(error, PLM_EINVAL, "a network of %zu layers is too long: at most %d are supported", n->length,
                          PLM_NETWORK_LENGTH);
    return status;
}

/* ---- the child ---- */

struct school {
    const struct plm_install *install;
    bool shims; /* PyTorch gets ours in place of NVIDIA's libraries, which are not there */
};

/* In the child. No GPU is used, whether there is one or not: networks of some hundred weights learn faster without. */
static void school_prepare(void *context)
{
    const struct school *s = context;
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    if (s->shims) {
        setenv("PLIMSOLL_SHIMS", s->install->shims, 1);
        setenv("LD_AUDIT", s->install->audit, 1);
    }
}

static int school_failed(const char *python, const char *log, int status, struct plm_error *error)
{
    char line[PLM_LAST_LINE];
    if (WIFSIGNALED(status))
        return plm_fail(error, PLM_EIO, "the training was killed by signal %d (%s); nothing was written",
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    plm_child_last_line(fopen(log, "re"), false, line);
    return plm_fail(error, PLM_EIO, "%.200s could not train: %s; choose an interpreter with --python", python,
                    line[0] ? line : "no message");
}

static int school_run(const struct plm_lesson *l, struct school *school, const char *matrix, const char *weights,
                      struct plm_error *error)
{
    const char *python = l->python ? l->python : "python3";
    char status_path[PATH_ROOM], log[PATH_ROOM];
    const char *const words[] = {python, school->install->learn, matrix, weights, status_path, NULL};
    const struct plm_child child = {.words = words, .prepare = school_prepare, .context = school, .log = log};
    int failure = 0, status;
    pid_t pid;
    snprintf(status_path, sizeof status_path, "%.4000s/status", l->scratch);
    snprintf(log, sizeof log, "%.4000s/log", l->scratch);
    pid = plm_child_start(&child, &failure);
    if (pid < 0)
        return plm_fail(error, PLM_EIO, "cannot start %.200s: %s; choose an interpreter with --python", python,
                        strerror(failure));
    status = l->wait ? l->wait(pid, status_path, l->context) : plm_child_wait(pid, NULL, NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_LIBRARY && !school->shims) {
        school->shims = true;
        return school_run(l, school, matrix, weights, error);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : school_failed(python, log, status, error);
}

static int weights_read(const char *path, struct plm_network *network, struct plm_error *error)
{
    const struct plm_method *method = network->method;
    struct plm_model_file file;
    int status = plm_model_file_open(path, &file, error);
    if (status == 0 && strcmp(file.kind, method->name) != 0)
        status = plm_fail(error, PLM_EFORMAT, "%.300s is of %s", path, file.kind);
    plm_network_free(network);
    if (status == 0)
        status = plm_network_read(method, &file, network);
    plm_model_file_close(&file);
    return status;
}

static int network_train(struct rows *r, struct plm_error *error)
{
    const struct plm_lesson *l = r->lesson;
    char matrix[PATH_ROOM], weights[PATH_ROOM];
    struct plm_install install;
    struct school school = {&install, false};
    struct plm_error why = {0};
    int status = plm_install_find(&install, error);
    snprintf(matrix, sizeof matrix, "%.4000s/matrix", l->scratch);
    snprintf(weights, sizeof weights, "%.4000s/weights", l->scratch);
    if (status == 0)
        status = matrix_write(r, matrix, error);
    if (status == 0)
        status = school_run(l, &school, matrix, weights, error);
    if (status == 0 && weights_read(weights, r->network, &why))
        status = plm_fail(error, PLM_EIO, "the training's output is unusable: %.400s", why.text);
    return status;
}

int plm_network_train(const struct plm_lesson *lesson, void **model, struct plm_error *error)
{
    struct plm_network *n = plm_calloc(1, sizeof *n);
    struct rows r = {.lesson = lesson, .own = plm_architecture_of(lesson->method), .network = n};
    int status;
    *model = n;
    r.target = plm_target_choose(lesson->table, lesson->target, error);
    if (!r.target)
        return PLM_EINVAL;
    n->method = lesson->method;
    snprintf(n->target, sizeof n->target, "%s", r.target->column);
    n->seed = lesson->seed;
    status = network_describe(&r, error);
    if (status == 0)
        status = network_train(&r, error);
    free(r.y);
    free(r.row);
    return status;
}
