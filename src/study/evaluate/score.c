/* One estimate of one run, against what the run is held against. */
#include <stdlib.h>

#include "study/estimate/method.h"
#include "study/evaluate/judge.h"

static uint64_t bytes_less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The range of device_used holds that of the context, which is not part of the other kinds. What comes after the
   first sample is, at the upper end: a process that used the card before has loaded its code already, a fresh one has
   not. */
struct plm_estimate plm_outcome_estimate(const struct plm_outcome *o, enum plm_truth_kind kind)
{
    const uint64_t beyond = bytes_less(bytes_less(o->high, o->context_high), o->reserved + o->outside);
    const uint64_t below = bytes_less(o->reserved + o->outside, bytes_less(o->low, o->context_low));
    struct plm_estimate e;
    switch (kind) {
    case PLM_TRUTH_DEVICE: return (struct plm_estimate){o->low, plm_outcome_used(o), o->high};
    case PLM_TRUTH_ALLOCATED: e.bytes = o->allocated; break;
    case PLM_TRUTH_RESERVED: e.bytes = o->reserved; break;
    default: e.bytes = o->reserved + o->outside;
    }
    e.low = bytes_less(e.bytes, below);
    e.high = e.bytes + beyond + (kind == PLM_TRUTH_LESS_FIRST ? o->later : 0);
    return e;
}

/* Does it not fit on the card, if it takes `cap` at most beside the context? */
static bool runs_out(const struct plm_bench_run *run, uint64_t cap, uint64_t context)
{
    const struct plm_outcome *o = &run->outcome;
    return o->least + bytes_less(cap, o->reserved) + context > run->usable;
}

struct plm_yardstick plm_yardstick(const struct plm_bench_run *run, const struct plm_truth_row *row,
                                   const struct plm_judge_options *options)
{
    const struct plm_outcome *o = &run->outcome;
    struct plm_yardstick y = {.bytes = row->ground[options->kind], .oom = row->oom};
    y.reference = !y.bytes && !y.oom;
    if (y.reference && o->done) {
        y.bytes = plm_outcome_estimate(o, options->kind).bytes;
        y.oom = runs_out(run, o->reserved + o->outside, o->context);
    } else if (y.bytes && options->late_sample && run->workload->first_sample == PLM_SAMPLE_LATE)
        y.bytes += o->early;
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
struct plm_score plm_score_virtual(const struct plm_evaluation *e, const struct plm_estimator *by, size_t row)
{
    const struct plm_yardstick *y = &e->yardstick[row];
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_outcome *o = &run->outcome;
    const struct plm_estimate own = plm_outcome_estimate(o, e->options.kind);
    const struct plm_estimate beside = plm_outcome_estimate(o, PLM_TRUTH_LESS_FIRST);
    const uint64_t cap = by->upper ? beside.high : beside.bytes;
    const uint64_t context = by->upper ? bytes_less(o->context_high, o->later) : o->context;
    struct plm_score s = {.judged = !y->reference};
    if (!o->done) {
        s.note = o->why;
        return s;
    }
    s.answered = true;
    s.seconds = o->seconds;
    score_compare(y, (double)(by->upper ? own.high : own.bytes), runs_out(run, cap, context), &s);
    s.width = y->bytes ? (double)(own.high - own.low) / (double)y->bytes : 0;
    if (!s.oom && !y->oom)
        score_replay(o, cap, bytes_less(y->bytes, own.bytes), &s);
    s.compared = s.compared && !y->reference;
    plm_score_conserve(&s, total_of(plm_evaluation_row(e, row), run));
    return s;
}

bool plm_same_kind(int answer_kind, enum plm_truth_kind kind)
{
    switch (kind) {
    case PLM_TRUTH_ALLOCATED: return answer_kind == PLM_ANSWER_ALLOCATED;
    case PLM_TRUTH_RESERVED: return answer_kind == PLM_ANSWER_RESERVED;
    default: return answer_kind == PLM_ANSWER_DEVICE;
    }
}

/* Answers are without the context, which is the same for all methods. */
struct plm_score plm_score_method(const struct plm_evaluation *e, size_t reply, size_t row)
{
    const struct plm_yardstick *y = &e->yardstick[row];
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_outcome *o = &run->outcome;
    const struct plm_reply *r = &run->reply[reply];
    const struct plm_answer *a = &r->answer;
    const uint64_t expected = plm_outcome_estimate(o, e->options.kind).bytes;
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
struct plm_score plm_score_tool(const struct plm_evaluation *e, size_t tool, size_t row)
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
        score_replay(o, (uint64_t)s.estimate, bytes_less(y->bytes, plm_outcome_estimate(o, e->options.kind).bytes), &s);
    s.capped_fails[PLM_CAP_TORCH] = !claim->oom && claim->second && claim->second_oom;
    s.capped_fails[PLM_CAP_DEVICE] = s.capped_fails[PLM_CAP_DEVICE] || s.capped_fails[PLM_CAP_TORCH];
    plm_score_conserve(&s, total_of(truth, run));
    return s;
}
