/*
 * plimsoll-learned: what the white box leaves over, from measured rows. Of memory that is what the stack takes beside
 * PyTorch's segments, one constant, and what cuDNN chose, which trees learn; of utilization and of the step what the
 * host took. Trees that do no better than the constant on rows that were held out are left out. The constant is the
 * stack's and stands apart; by the trees the figure never leaves the range that the white box gives it: that of
 * memory, which has one, and 0 to 100 % of the metrics, which have none.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/csv.h"
#include "study/estimate/boosted.h"
#include "study/estimate/folds.h"
#include "study/estimate/model_file.h"
#include "study/learn/correction.h"
#include "study/learn/example.h"
#include "study/learn/learner.h"
#include "study/learn/lesson_rows.h"
#include "study/learn/white_box.h"

#define METHOD "plimsoll-learned"

enum { FOLDS = 5 };

/* ---- what a row looks like ---- */

enum { SIZES = 3, BOX = SIZES + PLM_WHITE_METRICS, FEATURES = BOX + PLM_EXAMPLE_NUMBER_COUNT };
_Static_assert((int)FEATURES <= (int)PLM_TREE_FEATURES, "trees have room for the features");

static const char *feature_name(size_t feature)
{
    static const char *const sizes[SIZES] = {"log_reserved", "log_allocated", "log_step"};
    if (feature < SIZES)
        return sizes[feature];
    return feature < BOX ? plm_white_metric[feature - SIZES] : plm_example_column[feature - BOX] + 2;
}

/* What is said of time has no part in memory: a record without it can be asked. */
static void features_make(const struct plm_target *target, const struct plm_white_box *box,
                          const struct plm_example *example, double *x)
{
    const bool timed = target->unit != PLM_LEARNED_MEMORY;
    const double sizes[SIZES] = {box->reserved, box->allocated, timed ? box->step : -1};
    for (size_t i = 0; i < SIZES; i++)
        x[i] = sizes[i] < 0 ? -1 : log(sizes[i] + 1);
    for (size_t i = 0; i < PLM_WHITE_METRICS; i++)
        x[SIZES + i] = timed ? box->metric[i] : -1;
    memcpy(x + BOX, example->number, sizeof example->number);
}

/* ---- the figure that is corrected ---- */

/* Of the white box, in the unit of the target; -1: it does not say. */
static double forecast_of(const struct plm_target *target, const struct plm_white_box *box)
{
    const char *name = target->column + strlen("measured_");
    if (target->unit == PLM_LEARNED_MEMORY)
        return box->reserved;
    if (target->unit == PLM_LEARNED_TIME)
        return box->step;
    for (size_t i = 0; i < PLM_WHITE_METRICS; i++)
        if (!strcmp(name, plm_white_metric[i]))
            return box->metric[i];
    return -1;
}

static enum plm_correction_way way_of(const struct plm_target *target)
{
    return target->unit == PLM_LEARNED_TIME ? PLM_CORRECT_BY_FACTOR : PLM_CORRECT_BY_SUM;
}

/* Only of what somebody measured: what the white box says itself has nothing left over. */
static const struct plm_target *target_check(const struct plm_target *target, struct plm_error *error)
{
    if (target && strncmp(target->column, "measured_", strlen("measured_")) != 0) {
        plm_fail(error, PLM_EINVAL,
                 METHOD " corrects by measured rows: a column measured_..., as `plimsoll dataset --from "
                        "TRUTH.csv` makes it, not %s",
                 target->column);
        return NULL;
    }
    return target;
}

/* ---- the model ---- */

struct model {
    struct plm_boosted trees; /* `base` is the constant */
    const struct plm_target *target;
};

static double figure_of(const struct plm_target *target, const struct plm_white_box *box, double constant, double part)
{
    const double forecast = forecast_of(target, box);
    if (target->unit == PLM_LEARNED_MEMORY)
        return fmin(fmax(forecast + part, box->low), box->high) + constant;
    if (target->unit == PLM_LEARNED_UTILIZATION)
        return fmin(fmax(forecast + constant + part, 0), 100);
    return plm_correction_apply(PLM_CORRECT_BY_FACTOR, forecast, constant + part);
}

/* ---- learning ---- */

static struct plm_correction_frame frame_of(const struct plm_target *target)
{
    return (struct plm_correction_frame){target->column, FEATURES, feature_name};
}

/* From the constant on instead of the mean of all rows: most rows are exactly there, and few far off. */
struct residual {
    const struct plm_correction_frame *frame;
    struct plm_boosted_settings settings; /* no trees: the constant alone */
    struct plm_boosted trees;
};

static double median_of(const struct plm_tree_data *data)
{
    double *value = plm_calloc(data->rows, sizeof *value), median;
    memcpy(value, data->y, data->rows * sizeof *value);
    median = plm_tree_median(value, data->rows);
    free(value);
    return median;
}

/* The mean of what is left over becomes a tree of one leaf, and the base the constant. */
static int constant_take(struct plm_boosted *b, double constant)
{
    struct plm_trees leaf = {0};
    leaf.node = plm_grow(leaf.node, leaf.nodes, &leaf.node_room, sizeof *leaf.node);
    leaf.root = plm_grow(leaf.root, leaf.count, &leaf.root_room, sizeof *leaf.root);
    leaf.node[leaf.nodes++] = (struct plm_tree_node){.value = b->base, .feature = -1};
    leaf.root[leaf.count++] = 0;
    b->base = constant;
    b->low = fmin(b->low + constant, constant);
    b->high = fmax(b->high + constant, constant);
    return plm_trees_join(&b->trees, &leaf);
}

static int residual_learn(void *context, const struct plm_tree_data *data, struct plm_error *error)
{
    struct residual *r = context;
    const double constant = median_of(data);
    double *y = plm_calloc(data->rows, sizeof *y);
    const struct plm_tree_data shifted = {data->x, y, data->rows, data->features};
    struct plm_boosted_settings settings = r->settings;
    int status;
    for (size_t i = 0; i < data->rows && settings.trees; i++)
        y[i] = data->y[i] - constant;
    settings.trees += !settings.trees;
    status = plm_correction_learn(r->frame, &shifted, &settings, &r->trees, error);
    if (status == 0)
        status = constant_take(&r->trees, constant);
    free(y);
    return status;
}

static double residual_ask(const void *context, const double *x)
{
    return plm_boosted_predict(&((const struct residual *)context)->trees, x);
}

static void residual_forget(void *context)
{
    plm_boosted_free(&((struct residual *)context)->trees);
}

/* A lesson with what the white box says of each row. */
struct course {
    struct plm_lesson_rows rows;
    struct plm_white_box *box;
    double *over; /* what it leaves over */
};

static int course_take(const void *context, const struct plm_csv *table, size_t row, const struct plm_example *example,
                       double *x, struct plm_error *error)
{
    struct plm_white_box box;
    int status = plm_white_box_read(table, row, &box, error);
    if (status == 0)
        features_make(context, &box, example, x);
    return status;
}

static int course_open(const struct plm_lesson *l, const struct plm_target *target, struct course *c,
                       struct plm_error *error)
{
    int status = plm_lesson_rows_read(l, FEATURES, course_take, target, &c->rows, error);
    if (status)
        return status;
    c->box = plm_calloc(c->rows.data.rows + 1, sizeof *c->box);
    c->over = plm_calloc(c->rows.data.rows + 1, sizeof *c->over);
    for (size_t i = 0; i < c->rows.data.rows && status == 0; i++) {
        double forecast;
        status = plm_white_box_read(l->table, c->rows.row[i], &c->box[i], error);
        forecast = forecast_of(c->rows.target, &c->box[i]);
        if (status == 0 && (forecast < 0 || (c->rows.target->unit == PLM_LEARNED_TIME && !(forecast > 0))))
            status = plm_fail(
                error, PLM_EFORMAT,
                "%.200s:%u: the row has %s but not the virtual GPU's estimate; `plimsoll dataset --from` adds it",
                l->path, l->table->line[c->rows.row[i] + 1], c->rows.target->column);
        c->over[i] = plm_correction_target(way_of(c->rows.target), forecast, c->rows.y[i]);
    }
    return status;
}

static void course_close(struct course *c)
{
    plm_lesson_rows_free(&c->rows);
    free(c->box);
    free(c->over);
}

/* What folds say of each row, into `answer`; the mean error. */
static int course_cross(const struct course *c, struct residual *r, size_t folds, double *answer, double *error_mean,
                        struct plm_error *error)
{
    const struct plm_fold_learner learner = {residual_learn, residual_ask, residual_forget, r};
    struct plm_tree_data data = c->rows.data;
    double sum = 0, constant;
    int status;
    data.y = c->over;
    constant = median_of(&data);
    status = plm_folds_cross(&data, folds, r->settings.seed, &learner, answer, error);
    for (size_t i = 0; i < data.rows && status == 0; i++) {
        answer[i] = figure_of(c->rows.target, &c->box[i], constant, answer[i] - constant);
        sum += fabs(answer[i] - c->rows.y[i]);
    }
    *error_mean = sum / (double)data.rows;
    return status;
}

/* Trees if they help on rows that were held out; if these are too few to tell, none. */
static int course_learn(const struct plm_lesson *l, const struct course *c, struct plm_boosted *trees,
                        struct plm_error *error)
{
    const struct plm_correction_frame frame = frame_of(c->rows.target);
    const size_t rows = c->rows.data.rows, folds = l->folds ? (size_t)l->folds : FOLDS, given = l->trees ? l->trees : 0;
    struct residual r = {.frame = &frame, .settings = PLM_CORRECTION_SETTINGS};
    double *plain = plm_calloc(rows + 1, sizeof *plain), *moved = plm_calloc(rows + 1, sizeof *moved);
    double plain_error = 0, moved_error = INFINITY;
    const size_t many = given ? given : r.settings.trees;
    const bool enough = rows - rows / folds - 1 >= PLM_TREE_ROWS_LEAST && rows > folds;
    struct plm_tree_data data = c->rows.data;
    int status = 0;
    r.settings.seed = l->seed;
    r.settings.trees = 0;
    data.y = c->over;
    if (enough)
        status = course_cross(c, &r, folds, plain, &plain_error, error);
    r.settings.trees = many;
    if (enough && status == 0)
        status = course_cross(c, &r, folds, moved, &moved_error, error);
    r.settings.trees = moved_error < plain_error ? many : 0;
    if (status == 0)
        status = residual_learn(&r, &data, error);
    *trees = r.trees;
    if (status == 0 && enough)
        plm_boosted_judge(&c->rows.data, r.settings.trees ? moved : plain, trees);
    free(plain);
    free(moved);
    return status;
}

static int train(const struct plm_lesson *l, void **model, struct plm_error *error)
{
    struct model *m = plm_calloc(1, sizeof *m);
    struct course c = {0};
    struct plm_error why = {0};
    int status;
    *model = m;
    m->target = target_check(plm_target_choose(l->table, l->target, error), error);
    if (!m->target)
        return PLM_EINVAL;
    status = course_open(l, m->target, &c, error);
    if (status == 0) {
        status = course_learn(l, &c, &m->trees, &why);
        if (status)
            plm_fail(error, status, "%.200s: %.250s", l->path, why.text);
    }
    course_close(&c);
    return status;
}

/* ---- in a file ---- */

static int load(const struct plm_method *method, struct plm_model_file *file, void **model)
{
    struct model *m = plm_calloc(1, sizeof *m);
    struct plm_correction_frame frame;
    int status = plm_boosted_read(file, &m->trees);
    *model = m;
    if (status)
        return status;
    m->target = target_check(plm_target_find(m->trees.target), file->error);
    frame = m->target ? frame_of(m->target) : (struct plm_correction_frame){0};
    return m->target && plm_correction_fits(&frame, &m->trees)
               ? 0
               : plm_fail(file->error, PLM_EFORMAT, "%.300s holds no trees that this release of %s can use", file->path,
                          method->name);
}

static void put(FILE *out, const void *model)
{
    plm_boosted_put(out, &((const struct model *)model)->trees);
}

static void forget(void *model)
{
    if (model)
        plm_boosted_free(&((struct model *)model)->trees);
    free(model);
}

/* ---- what was learned ---- */

static const struct plm_tree_feature *features(const void *model, size_t *count)
{
    const struct model *m = model;
    *count = m->trees.features;
    return m->trees.feature;
}

static bool has_trees(const struct plm_boosted *b)
{
    return b->trees.nodes > 2;
}

static void show(const void *model, const struct plm_page *p)
{
    const struct model *m = model;
    const struct plm_boosted *b = &m->trees;
    const char *unit = plm_learned_unit_name(m->target->unit);
    fprintf(p->out, "%s%s%s: residual of the white box for %s, learned from %" PRIu64 " rows (seed %" PRIu64 ").\n",
            plm_ink(p, PLM_INK_BOLD), METHOD, plm_ink(p, PLM_INK_PLAIN), b->target, b->rows, b->seed);
    if (m->target->unit == PLM_LEARNED_TIME)
        fprintf(p->out, "The constant: %.4g times the forecast.\n", exp(b->base));
    else
        fprintf(p->out, "The constant: %.6g %s%s.\n", b->base, unit,
                m->target->with_context ? ", memory of the stack outside PyTorch's allocator" : "");
    fprintf(p->out,
            has_trees(b) ? "On held-out rows %zu trees help.\n"
                         : "On held-out rows trees are no better than the constant, so there are none.\n",
            b->trees.count - 1);
    if (b->held_rows)
        fprintf(p->out, "On held-out rows (%" PRIu64 "): R%s %.4f, median error %.4g %s.\n", b->held_rows,
                plm_squared(p), b->held_r2, b->held_error, unit);
    if (has_trees(b))
        plm_features_show(b->feature, b->features, p);
}

static void describe(const void *model, struct plm_json *json)
{
    const struct model *m = model;
    const struct plm_boosted *b = &m->trees;
    plm_json_string(json, "target", b->target);
    plm_json_integer(json, "rows", b->rows);
    plm_json_integer(json, "seed", b->seed);
    plm_json_integer(json, "trees", has_trees(b) ? b->trees.count - 1 : 0);
    plm_json_integer(json, "nodes", b->trees.nodes);
    plm_json_real(json, "constant", b->base);
    if (b->held_rows) {
        plm_json_object(json, "held_out");
        plm_json_integer(json, "rows", b->held_rows);
        plm_json_real(json, "r2", b->held_r2);
        plm_json_real(json, "median_error", b->held_error);
        plm_json_end_object(json);
    }
    plm_features_describe(b->feature, b->features, json);
}

/* ---- asking ---- */

static int ask_beside(const void *model, const struct plm_example *example, const struct plm_white_box *box,
                      struct plm_learned_answer *answer, struct plm_error *error)
{
    const struct model *m = model;
    double x[FEATURES];
    if (forecast_of(m->target, box) < 0)
        return plm_fail(error, PLM_EFORMAT, "the white box has no %s for this job",
                        m->target->column + strlen("measured_"));
    features_make(m->target, box, example, x);
    *answer = (struct plm_learned_answer){.unit = m->target->unit, .with_context = m->target->with_context};
    snprintf(answer->target, sizeof answer->target, "%s", m->target->column);
    answer->figure = figure_of(m->target, box, m->trees.base, plm_boosted_predict(&m->trees, x) - m->trees.base);
    plm_learned_range(m->trees.feature, m->trees.features, x, answer);
    return 0;
}

/* ---- its row ---- */

static const struct plm_learner learner = {
    .noun = "the trees",
    .takes = PLM_LESSON_TREES | PLM_LESSON_TARGET | PLM_LESSON_FOLDS,
    .train = train,
    .load = load,
    .put = put,
    .show = show,
    .describe = describe,
    .features = features,
    .free = forget,
    .ask_beside = ask_beside,
};
const struct plm_method plm_method_plimsoll_learned = {
    .name = METHOD,
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_DEVICE,
    .needs = PLM_NEEDS_JOB | PLM_NEEDS_DESCRIPTION,
    .domain = "jobs that run on the virtual GPU, on its training rows' stack",
    .leaves_out = "nothing",
    .prepare = plm_learned_prepare,
    .judge = plm_learned_judge,
    .explain = plm_learned_explain,
    .learner = &learner,
};
