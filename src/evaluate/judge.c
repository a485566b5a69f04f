#include "evaluate/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char *const kind_names[PLM_TRUTH_KINDS] = {"allocated", "reserved", "device", "device-less-first"};

const char *plm_truth_kind_name(enum plm_truth_kind kind)
{
    return kind_names[kind];
}

int plm_truth_kind_parse(const char *text, enum plm_truth_kind *kind)
{
    for (int i = 0; i < PLM_TRUTH_KINDS; i++)
        if (!strcmp(text, kind_names[i])) {
            *kind = (enum plm_truth_kind)i;
            return 0;
        }
    return PLM_EINVAL;
}

const struct plm_truth_row *plm_evaluation_row(const struct plm_evaluation *e, size_t row)
{
    return &e->bench->truth->row[e->row[row]];
}

const struct plm_bench_run *plm_evaluation_run(const struct plm_evaluation *e, size_t row)
{
    return &e->bench->run[e->bench->run_of_row[e->row[row]]];
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The range of device_used holds that of the context, which is not part of the other kinds. What comes after the first sample is, at the
   upper end: a process that used the card before has loaded its code already, a fresh one has not. */
struct plm_estimate plm_outcome_estimate(const struct plm_outcome *o, enum plm_truth_kind kind)
{
    const uint64_t beyond = less(less(o->high, o->context_high), o->reserved + o->outside);
    const uint64_t below = less(o->reserved + o->outside, less(o->low, o->context_low));
    struct plm_estimate e;
    switch (kind) {
    case PLM_TRUTH_DEVICE: return (struct plm_estimate){o->low, plm_outcome_used(o), o->high};
    case PLM_TRUTH_ALLOCATED: e.bytes = o->allocated; break;
    case PLM_TRUTH_RESERVED: e.bytes = o->reserved; break;
    default: e.bytes = o->reserved + o->outside;
    }
    e.low = less(e.bytes, below);
    e.high = e.bytes + beyond + (kind == PLM_TRUTH_LESS_FIRST ? o->later : 0);
    return e;
}

/* ---- plimsoll ---- */

/*
 * The second run may take `cap` on top of what the context takes. What is known of the real job is that it took `short_by` more than was
 * estimated, if it did; that much is taken to be held all the time, in addition to what PyTorch needs at the very least.
 */
static bool capped_fails(const struct plm_outcome *o, uint64_t cap, uint64_t short_by)
{
    return o->least + o->outside + short_by > cap;
}

static void score_own(const struct plm_evaluation *e, const struct plm_estimator *by, size_t row, struct plm_score *s)
{
    const struct plm_truth_row *truth = plm_evaluation_row(e, row);
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_outcome *o = &run->outcome;
    const struct plm_estimate own = plm_outcome_estimate(o, e->options.kind);
    const struct plm_estimate beside = plm_outcome_estimate(o, PLM_TRUTH_LESS_FIRST);
    const bool late = by->late && run->workload->first_sample == PLM_SAMPLE_LATE;
    const uint64_t unseen = late ? o->early : 0, expected = less(own.bytes, unseen);
    const uint64_t cap = by->upper ? beside.high : beside.bytes;
    const uint64_t context = by->upper ? less(o->context_high, o->later) : o->context;
    const double total = (double)(truth->total ? truth->total : run->total);
    bool oom;
    *s = (struct plm_score){.judged = true};
    if (!o->done)
        return;
    oom = o->least + (cap - o->reserved) + context > run->usable;
    s->answered = true;
    s->compared = !oom && !truth->oom;
    s->estimate = (double)less(by->upper ? own.high : own.bytes, unseen);
    s->error = truth->ground ? (s->estimate - (double)truth->ground) / (double)truth->ground : 0;
    s->width = truth->ground ? (double)(own.high - own.low) / (double)truth->ground : 0;
    s->agrees = oom == truth->oom;
    s->capped_fails = !oom && !truth->oom && capped_fails(o, cap, less(truth->ground, expected));
    s->conserved = plm_score_conserved(s, oom, total);
}

/* ---- the published tools ---- */

static void score_tool(const struct plm_evaluation *e, size_t tool, size_t row, struct plm_score *s)
{
    const struct plm_truth_row *truth = plm_evaluation_row(e, row);
    const struct plm_truth_claim *claim = &truth->claim[tool];
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const double total = (double)(truth->total ? truth->total : run->total);
    *s = (struct plm_score){.answered = claim->memory > 0, .judged = claim->judged};
    s->estimate = s->answered ? claim->memory : 0;
    s->compared = s->answered && !claim->oom && !truth->oom;
    s->error = truth->ground ? (s->estimate - (double)truth->ground) / (double)truth->ground : 0;
    s->agrees = claim->oom == truth->oom;
    s->capped_fails = !claim->oom && claim->second && claim->second_oom;
    s->conserved = plm_score_conserved(s, claim->oom, total);
}

/* ---- all together ---- */

static struct plm_estimator *add_estimator(struct plm_evaluation *e, const char *name)
{
    struct plm_estimator *by = &e->estimator[e->estimators];
    by->score = calloc(e->rows ? e->rows : 1, sizeof *by->score);
    if (!by->score)
        return NULL;
    snprintf(by->name, sizeof by->name, "%s", name);
    e->estimators++;
    return by;
}

static int add_own(struct plm_evaluation *e)
{
    static const struct {
        const char *name;
        bool late, upper;
    } ways[] = {
        {"plimsoll", false, false},
        {"plimsoll, upper end", false, true},
        {"plimsoll, late sample", true, false},
        {"plimsoll, late sample, upper end", true, true},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct plm_estimator *by;
        if (ways[i].late && !e->options.late_sample)
            continue;
        by = add_estimator(e, ways[i].name);
        if (!by)
            return PLM_ENOMEM;
        by->own = true;
        by->late = ways[i].late;
        by->upper = ways[i].upper;
        for (size_t row = 0; row < e->rows; row++)
            score_own(e, by, row, &by->score[row]);
    }
    return 0;
}

static int add_tools(struct plm_evaluation *e)
{
    const struct plm_truth *truth = e->bench->truth;
    for (size_t i = 0; i < truth->tools; i++) {
        struct plm_estimator *by = add_estimator(e, truth->tool[i]);
        if (!by)
            return PLM_ENOMEM;
        for (size_t row = 0; row < e->rows; row++)
            score_tool(e, i, row, &by->score[row]);
    }
    return 0;
}

/* A family without a name stands for all. */
static bool belongs(const struct plm_evaluation *e, size_t row, const struct plm_family *family)
{
    const char *name = plm_evaluation_row(e, row)->family;
    return !family->name || (name && !strcmp(name, family->name));
}

static int measure(struct plm_evaluation *e, struct plm_family *family)
{
    struct plm_score *list = calloc(e->rows ? e->rows : 1, sizeof *list);
    int status = list ? 0 : PLM_ENOMEM;
    for (size_t i = 0; i < e->estimators && status == 0; i++) {
        size_t n = 0;
        for (size_t row = 0; row < e->rows; row++)
            if (belongs(e, row, family))
                list[n++] = e->estimator[i].score[row];
        status = plm_metrics_make(list, n, &family->metrics[i]);
    }
    free(list);
    return status;
}

/* In the order in which they come in the file. */
static int add_families(struct plm_evaluation *e)
{
    int status = 0;
    e->family = calloc(e->rows + 1, sizeof *e->family);
    if (!e->family)
        return PLM_ENOMEM;
    for (size_t row = 0; row < e->rows; row++) {
        size_t i = 0;
        while (i < e->families && !belongs(e, row, &e->family[i]))
            i++;
        if (i == e->families)
            e->family[e->families++].name = plm_evaluation_row(e, row)->family;
    }
    if (e->families > 1)
        e->families++;
    for (size_t i = 0; i < e->families && status == 0; i++)
        status = measure(e, &e->family[i]);
    return status;
}

int plm_judge(const struct plm_bench *bench, const struct plm_judge_options *options, struct plm_evaluation *e)
{
    int status = 0;
    *e = (struct plm_evaluation){.bench = bench, .options = *options};
    e->row = calloc(bench->truth->rows, sizeof *e->row);
    if (!e->row)
        return PLM_ENOMEM;
    for (size_t i = 0; i < bench->truth->rows; i++)
        if (bench->run_of_row[i] != SIZE_MAX) {
            e->row[e->rows++] = i;
            e->failed += !bench->run[bench->run_of_row[i]].outcome.done;
        }
    status = add_own(e);
    if (status == 0)
        status = add_tools(e);
    if (status == 0)
        status = add_families(e);
    if (status)
        plm_evaluation_free(e);
    return status;
}

void plm_evaluation_free(struct plm_evaluation *e)
{
    for (size_t i = 0; i < e->estimators; i++)
        free(e->estimator[i].score);
    free(e->row);
    free(e->family);
    *e = (struct plm_evaluation){0};
}
