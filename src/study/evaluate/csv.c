/* An evaluation row by row, for spreadsheets. */
#include <inttypes.h>

#include "base/error.h"
#include "study/evaluate/judge.h"

static void write_head(FILE *out, const struct plm_evaluation *e)
{
    static const char *const parts[] = {"bytes",           "error",   "verdict_right", "accurate",
                                        "accurate_device", "seconds", "state"};
    fputs("line,run,family,model,optimizer,batch_size,gpu,zero_grad_mode,truth,truth_is,real_oom,allocated,reserved,"
          "outside,least,early,low,high,why",
          out);
    for (size_t i = 0; i < e->estimators; i++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            char name[80];
            snprintf(name, sizeof name, "%s: %s", e->estimator[i].name, parts[k]);
            fputc(',', out);
            plm_table_put(out, name);
        }
    fputc('\n', out);
}

static void write_own(FILE *out, const struct plm_evaluation *e, const struct plm_outcome *o)
{
    const struct plm_estimate estimate = plm_outcome_estimate(o, e->options.kind);
    if (o->done)
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                o->allocated, o->reserved, o->outside, o->least, o->early, estimate.low, estimate.high);
    else {
        fputs(",,,,,,,,", out);
        plm_table_put(out, o->why);
    }
}

static void write_score(FILE *out, const struct plm_score *s)
{
    fputc(',', out);
    if (s->answered)
        fprintf(out, "%.0f", s->estimate);
    fputc(',', out);
    if (s->compared)
        fprintf(out, "%.8f", s->error);
    if (s->judged)
        fprintf(out, ",%s,%s,%s,", s->agrees ? "true" : "false", plm_score_fails(s, PLM_CAP_TORCH) ? "false" : "true",
                plm_score_fails(s, PLM_CAP_DEVICE) ? "false" : "true");
    else
        fputs(",,,,", out);
    if (s->seconds > 0)
        fprintf(out, "%.3f", s->seconds);
    fprintf(out, ",%s", !s->answered ? "" : s->outside ? "outside" : "answered");
}

static void write_row(FILE *out, const struct plm_evaluation *e, size_t row)
{
    const struct plm_truth_row *t = plm_evaluation_row(e, row);
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_yardstick *y = &e->yardstick[row];
    const char *const words[] = {t->run, t->family, t->model, t->optimizer};
    if (t->line)
        fprintf(out, "%u", t->line);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        fputc(',', out);
        plm_table_put(out, words[i]);
    }
    fprintf(out, ",%" PRIu64 ",%s,", t->batch, run->card);
    if (t->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN)
        fprintf(out, "%d", t->zero_grad);
    fprintf(out, ",%" PRIu64 ",%s,%s", y->bytes, y->reference ? "virtual" : "measured", y->oom ? "true" : "false");
    write_own(out, e, &run->outcome);
    for (size_t i = 0; i < e->estimators; i++)
        write_score(out, &e->estimator[i].score[row]);
    fputc('\n', out);
}

int plm_evaluation_csv(FILE *out, const struct plm_evaluation *e, struct plm_error *error)
{
    write_head(out, e);
    for (size_t i = 0; i < e->rows; i++)
        write_row(out, e, i);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the table could not be written") : 0;
}
