#include "study/evaluate/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/method.h"

static const char *const response_names[PLM_RESPONSES] = {"absolute", "signed", "none"};
static const char *const origin_names[] = {"virtual", "method", "published"};

const struct plm_published plm_published[PLM_PUBLISHED] = {
    {"xMem", 0.0359, 0.0887, 24.2, "xmem", "xmem"},
    {"DNNMem", 0.1382, 0.5367, 36.4, "dnnmem", "dnnmem-x"},
    {"SchedTune", 0.2484, 0.5055, 0.14, "schedtune", "schedtune"},
    {"LLMem", 0.7683, 0.6577, 17.4, "llmem", "llmem"},
};

const char *plm_response_name(enum plm_response response)
{
    return response_names[response];
}

const char *plm_origin_name(enum plm_origin origin)
{
    return origin_names[origin];
}

const struct plm_truth_row *plm_evaluation_row(const struct plm_evaluation *e, size_t row)
{
    return &e->bench->truth->row[e->row[row]];
}

const struct plm_bench_run *plm_evaluation_run(const struct plm_evaluation *e, size_t row)
{
    return &e->bench->run[e->bench->run_of_row[e->row[row]]];
}

/* A family without a name stands for all. */
static bool family_has(const struct plm_evaluation_family *family, const struct plm_truth_row *row)
{
    return !family->name || !strcmp(row->family, family->name);
}

/* ---- one estimate of one run, against what the run is held against ---- */

static uint64_t bytes_less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* With memory in plenty. The range of device_used holds that of the context, which is not part of the other kinds. What
   comes after the first sample is, at the upper end: a process that used the card before has loaded its code already, a
   fresh one has not. */
static struct plm_evaluation_range estimate_unbounded(const struct plm_outcome *o, enum plm_truth_kind kind)
{
    const uint64_t beyond = bytes_less(bytes_less(o->high, o->context_high), o->reserved + o->outside);
    const uint64_t below = bytes_less(o->reserved + o->outside, bytes_less(o->low, o->context_low));
    struct plm_evaluation_range e;
    switch (kind) {
    case PLM_TRUTH_DEVICE: return (struct plm_evaluation_range){o->low, plm_outcome_used(o), o->high};
    case PLM_TRUTH_ALLOCATED: e.bytes = o->allocated; break;
    case PLM_TRUTH_RESERVED: e.bytes = o->reserved; break;
    default: e.bytes = o->reserved + o->outside;
    }
    e.low = bytes_less(e.bytes, below);
    e.high = e.bytes + beyond + (kind == PLM_TRUTH_LESS_FIRST ? o->later : 0);
    return e;
}

/* Where the card is the limit, it shows less, and never more than it has. */
struct plm_evaluation_range plm_evaluation_range_of(const struct plm_outcome *o, enum plm_truth_kind kind)
{
    struct plm_evaluation_range e = estimate_unbounded(o, kind);
    const uint64_t most = kind == PLM_TRUTH_DEVICE ? o->usable : bytes_less(o->usable, o->context_low);
    if (!o->bounded_reserved)
        return e;
    e.bytes = bytes_less(e.bytes, kind == PLM_TRUTH_ALLOCATED ? bytes_less(o->allocated, o->bounded_allocated)
                                                              : bytes_less(o->reserved, o->bounded_reserved));
    e.low = e.low < e.bytes ? e.low : e.bytes;
    e.high = e.high < most ? e.high : most;
    e.high = e.high > e.bytes ? e.high : e.bytes;
    return e;
}

/* Does it not fit on the card, with so much beside what PyTorch reserves and the context? */
static bool runs_out(const struct plm_bench_run *run, uint64_t beside, uint64_t context)
{
    return run->outcome.least + beside + context > run->usable;
}

static struct plm_yardstick yardstick_of(const struct plm_bench_run *run, const struct plm_truth_row *row,
                                         const struct plm_judge_options *options)
{
    const struct plm_outcome *o = &run->outcome;
    struct plm_yardstick y = {.bytes = row->ground[options->kind], .oom = row->oom};
    y.reference = !y.bytes && !y.oom;
    if (y.reference && o->done) {
        y.bytes = plm_evaluation_range_of(o, options->kind).bytes;
        y.oom = runs_out(run, o->outside, o->context);
    }
    y.most = y.bytes;
    if (y.bytes && !y.reference && options->kind == PLM_TRUTH_LESS_FIRST &&
        run->workload->first_sample == PLM_SAMPLE_LATE) {
        y.most += o->early;
        y.bytes = options->late_sample ? y.most : y.bytes;
    }
    return y;
}

/*
 * The second run, which may take no more than `cap`: a replay with that capacity, by the least that PyTorch can do
 * with. What is known of the real job is that it took `short_by` more than the virtual one, if it did; that much is
 * taken to be held all the time.
 */
static void score_replay(const struct plm_outcome *o, uint64_t cap, uint64_t short_by, struct plm_score *s)
{
    s->capped_fails[PLM_CAP_TORCH] = o->least + short_by > cap;
    s->capped_fails[PLM_CAP_DEVICE] = o->least + o->outside + short_by > cap;
}

static void score_compare(const struct plm_yardstick *y, double estimate, bool oom, struct plm_score *s)
{
    s->estimate = estimate;
    s->oom = oom;
    s->compared = s->answered && !oom && !y->oom && y->bytes;
    s->error = y->bytes ? (estimate - (double)y->bytes) / (double)y->bytes : 0;
    s->agrees = oom == y->oom;
}

static double total_of(const struct plm_truth_row *row, const struct plm_bench_run *run)
{
    return (double)(row->total ? row->total : run->total);
}

/* Where the run on the virtual GPU is the yardstick, it cannot be measured with it. */
static struct plm_score score_virtual(const struct plm_evaluation *e, const struct plm_estimator *by, size_t row)
{
    const struct plm_yardstick *y = &e->yardstick[row];
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_outcome *o = &run->outcome;
    const struct plm_evaluation_range own = plm_evaluation_range_of(o, e->options.kind);
    const struct plm_evaluation_range beside = plm_evaluation_range_of(o, PLM_TRUTH_LESS_FIRST);
    const struct plm_evaluation_range plenty = estimate_unbounded(o, PLM_TRUTH_LESS_FIRST);
    const uint64_t cap = by->upper ? beside.high : beside.bytes;
    const uint64_t held = bytes_less(by->upper ? plenty.high : plenty.bytes, o->reserved);
    const uint64_t context = by->upper ? bytes_less(o->context_high, o->later) : o->context;
    struct plm_score s = {.judged = !y->reference};
    if (!o->done) {
        s.note = o->why;
        return s;
    }
    s.answered = true;
    s.seconds = o->seconds;
    score_compare(y, (double)(by->upper ? own.high : own.bytes), runs_out(run, held, context), &s);
    s.width = y->bytes ? (double)(own.high - own.low) / (double)y->bytes : 0;
    s.covers = own.low <= y->most && y->bytes <= own.high;
    if (!s.oom && !y->oom)
        score_replay(o, cap, bytes_less(y->bytes, own.bytes), &s);
    s.compared = s.compared && !y->reference;
    plm_score_conserve(&s, total_of(plm_evaluation_row(e, row), run));
    return s;
}

/* Is an answer of that kind of the kind that was measured? */
static bool is_same_kind(enum plm_answer_kind answer_kind, enum plm_truth_kind kind)
{
    switch (kind) {
    case PLM_TRUTH_ALLOCATED: return answer_kind == PLM_ANSWER_ALLOCATED;
    case PLM_TRUTH_RESERVED: return answer_kind == PLM_ANSWER_RESERVED;
    default: return answer_kind == PLM_ANSWER_DEVICE;
    }
}

/* Answers are without the context, which is the same for all methods. */
static struct plm_score score_method(const struct plm_evaluation *e, size_t reply, size_t row)
{
    const struct plm_yardstick *y = &e->yardstick[row];
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_outcome *o = &run->outcome;
    const struct plm_reply *r = &run->reply[reply];
    const struct plm_answer *a = &r->answer;
    const uint64_t expected = plm_evaluation_range_of(o, e->options.kind).bytes;
    struct plm_score s = {.note = r->known && a->note[0] ? a->note : NULL};
    if (!r->known || a->state == PLM_UNANSWERED || !o->done)
        return s;
    s.answered = true;
    s.judged = y->bytes || y->oom;
    s.outside = a->state == PLM_OUTSIDE;
    s.seconds = r->capture_seconds + a->seconds;
    score_compare(y, (double)(a->bytes + (e->options.kind == PLM_TRUTH_DEVICE ? o->context : 0)), a->oom, &s);
    if (!s.oom && !y->oom)
        score_replay(o, a->bytes, bytes_less(y->bytes, expected), &s);
    plm_score_conserve(&s, total_of(plm_evaluation_row(e, row), run));
    return s;
}

/* The second run with PyTorch's cap is the one that was published; with the card's it is our replay. */
static struct plm_score score_tool(const struct plm_evaluation *e, size_t tool, size_t row)
{
    const struct plm_truth_row *truth = plm_evaluation_row(e, row);
    const struct plm_truth_claim *claim = &truth->claim[tool];
    const struct plm_yardstick *y = &e->yardstick[row];
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_outcome *o = &run->outcome;
    struct plm_score s = {.answered = claim->memory > 0 && !y->reference, .judged = claim->judged && !y->reference};
    score_compare(y, claim->memory > 0 ? claim->memory : 0, claim->oom, &s);
    s.seconds = claim->seconds;
    if (!s.oom && !y->oom && o->done && s.answered)
        score_replay(o, (uint64_t)s.estimate, bytes_less(y->bytes, plm_evaluation_range_of(o, e->options.kind).bytes),
                     &s);
    s.capped_fails[PLM_CAP_TORCH] = !claim->oom && claim->second && claim->second_oom;
    s.capped_fails[PLM_CAP_DEVICE] = s.capped_fails[PLM_CAP_DEVICE] || s.capped_fails[PLM_CAP_TORCH];
    plm_score_conserve(&s, total_of(truth, run));
    return s;
}

/* ---- estimators ---- */

static struct plm_estimator *estimator_add(struct plm_evaluation *e, const char *name, enum plm_origin origin)
{
    struct plm_estimator *by = &e->estimator[e->estimators];
    by->score = plm_calloc(e->rows, sizeof *by->score);
    snprintf(by->name, sizeof by->name, "%s", name);
    by->origin = origin;
    e->estimators++;
    return by;
}

static void add_virtual(struct plm_evaluation *e)
{
    static const struct {
        const char *name;
        bool upper;
    } ways[] = {
        {"plimsoll", false},
        {"plimsoll, upper end", true},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct plm_estimator *by = estimator_add(e, ways[i].name, PLM_ORIGIN_VIRTUAL);
        by->upper = ways[i].upper;
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = score_virtual(e, by, row);
    }
}

static void add_methods(struct plm_evaluation *e)
{
    const struct plm_bench_settings *s = e->bench->settings;
    for (size_t i = 0; s && i < s->methods; i++) {
        struct plm_estimator *by = estimator_add(e, s->method[i]->name, PLM_ORIGIN_METHOD);
        by->other_kind = !is_same_kind(s->method[i]->kind, e->options.kind);
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = score_method(e, i, row);
    }
}

static void add_tools(struct plm_evaluation *e)
{
    const struct plm_truth *truth = e->bench->truth;
    for (size_t i = 0; i < truth->tools; i++) {
        char name[48];
        struct plm_estimator *by;
        snprintf(name, sizeof name, "%s (published)", truth->tool[i]);
        by = estimator_add(e, name, PLM_ORIGIN_PUBLISHED);
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = score_tool(e, i, row);
    }
}

/* ---- what the error of an estimator depends on: the columns of the truth file as factors ---- */

enum { FACTORS = 6, LEAST_OBSERVATIONS = 8 };
static const char *const factor_names[FACTORS] = {"family", "model", "optimizer", "batch", "gpu", "zero_grad"};

static void factor_text(const struct plm_evaluation *e, size_t row, int factor, char *out, size_t size)
{
    const struct plm_truth_row *r = plm_evaluation_row(e, row);
    switch (factor) {
    case 0: snprintf(out, size, "%s", r->family); break;
    case 1: snprintf(out, size, "%s", r->model); break;
    case 2: snprintf(out, size, "%s", r->optimizer); break;
    case 3: snprintf(out, size, "%llu", (unsigned long long)r->batch); break;
    case 4: snprintf(out, size, "%s", plm_evaluation_run(e, row)->card); break;
    default: snprintf(out, size, "%d", r->zero_grad);
    }
}

/* Numbers the values that occur, in their order; PLM_EINVAL if there are too many. */
static int number_levels(const struct plm_evaluation *e, const size_t *row, size_t count, int factor, uint32_t *level)
{
    char(*seen)[128] = plm_calloc(PLM_LEVELS, sizeof *seen);
    uint32_t levels = 0;
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        char text[128];
        factor_text(e, row[i], factor, text, sizeof text);
        for (level[i] = 0; level[i] < levels && strcmp(seen[level[i]], text) != 0; level[i]++)
            ;
        if (level[i] == PLM_LEVELS)
            status = PLM_EINVAL;
        else if (level[i] == levels)
            strcpy(seen[levels++], text);
    }
    free(seen);
    return status;
}

static void factors_analyse(const struct plm_evaluation *e, const size_t *row, const double *value, size_t count,
                            struct plm_anova *anova)
{
    uint32_t *level = plm_calloc(FACTORS * count, sizeof *level);
    struct plm_anova_factor factor[FACTORS];
    int status = 0;
    for (int i = 0; i < FACTORS && status == 0; i++) {
        factor[i] = (struct plm_anova_factor){factor_names[i], level + (size_t)i * count};
        status = number_levels(e, row, count, i, level + (size_t)i * count);
    }
    if (status == 0)
        status = plm_anova_make(value, count, factor, FACTORS, anova);
    free(level);
    if (status)
        *anova = (struct plm_anova){0};
}

static void family_anova(const struct plm_evaluation *e, const struct plm_evaluation_family *family, size_t estimator,
                         struct plm_anova *anova)
{
    const struct plm_score *score = e->estimator[estimator].score;
    size_t *row = plm_calloc(e->rows, sizeof *row), count = 0;
    double *value = plm_calloc(e->rows, sizeof *value);
    *anova = (struct plm_anova){0};
    for (size_t i = 0; i < e->rows; i++)
        if (score[i].compared && family_has(family, plm_evaluation_row(e, i))) {
            row[count] = i;
            value[count++] = e->options.response == PLM_RESPONSE_SIGNED ? score[i].error : fabs(score[i].error);
        }
    if (count >= LEAST_OBSERVATIONS && e->options.response != PLM_RESPONSE_NONE)
        factors_analyse(e, row, value, count, anova);
    free(row);
    free(value);
}

/* ---- families ---- */

static void family_measure(struct plm_evaluation *e, struct plm_evaluation_family *family)
{
    struct plm_score *list = plm_calloc(e->rows, sizeof *list);
    family->metrics = plm_calloc(e->estimators, sizeof *family->metrics);
    family->anova = plm_calloc(e->estimators, sizeof *family->anova);
    for (size_t i = 0; i < e->estimators; i++) {
        family->rows = 0;
        for (size_t row = 0; row < e->rows; row++)
            if (family_has(family, plm_evaluation_row(e, row)))
                list[family->rows++] = e->estimator[i].score[row];
        plm_metrics_make(list, family->rows, e->options.seed, &family->metrics[i]);
        family_anova(e, family, i, &family->anova[i]);
    }
    free(list);
}

static size_t family_of(const struct plm_evaluation *e, size_t row)
{
    size_t i = 0;
    while (i < e->families && !family_has(&e->family[i], plm_evaluation_row(e, row)))
        i++;
    return i;
}

/* In the order in which they come in the file. */
static void add_families(struct plm_evaluation *e)
{
    e->family = plm_calloc(e->rows + 1, sizeof *e->family);
    for (size_t row = 0; row < e->rows; row++)
        if (family_of(e, row) == e->families)
            e->family[e->families++].name = plm_evaluation_row(e, row)->family;
    if (e->families > 1)
        e->families++;
    for (size_t i = 0; i < e->families; i++)
        family_measure(e, &e->family[i]);
}

/* ---- all together ---- */

static void add_rows(struct plm_evaluation *e)
{
    const struct plm_bench *bench = e->bench;
    const size_t methods = bench->settings ? bench->settings->methods : 0;
    e->row = plm_calloc(bench->truth->rows + 1, sizeof *e->row);
    e->yardstick = plm_calloc(bench->truth->rows + 1, sizeof *e->yardstick);
    e->estimator = plm_calloc(4 + methods + bench->truth->tools, sizeof *e->estimator);
    for (size_t i = 0; i < bench->truth->rows; i++)
        if (bench->run_of_row[i] != SIZE_MAX) {
            const struct plm_bench_run *run = &bench->run[bench->run_of_row[i]];
            e->yardstick[e->rows] = yardstick_of(run, &bench->truth->row[i], &e->options);
            e->references += e->yardstick[e->rows].reference;
            e->row[e->rows++] = i;
            e->failed += !run->outcome.done;
        }
}

void plm_judge(const struct plm_bench *bench, const struct plm_judge_options *options, struct plm_evaluation *e)
{
    *e = (struct plm_evaluation){.bench = bench, .options = *options};
    add_rows(e);
    add_virtual(e);
    add_methods(e);
    add_tools(e);
    add_families(e);
}

void plm_evaluation_free(struct plm_evaluation *e)
{
    for (size_t i = 0; i < e->estimators; i++)
        free(e->estimator[i].score);
    for (size_t i = 0; i < e->families; i++) {
        free(e->family[i].metrics);
        free(e->family[i].anova);
    }
    free(e->estimator);
    free(e->row);
    free(e->yardstick);
    free(e->family);
    *e = (struct plm_evaluation){0};
}
