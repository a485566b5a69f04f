/* What was found so far, in tables, so that going on later runs and asks only what is not there. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/append.h"
#include "common/error.h"
#include "study/evaluate/bench.h"

/* ---- runs ---- */

/* The columns after those that only tell a reader what the line is about. */
struct column {
    const char *name;
    size_t at;
};
#define COLUMN(field) {#field, offsetof(struct plm_outcome, field)}
static const struct column columns[] = {
    COLUMN(allocated),
    COLUMN(reserved),
    COLUMN(outside),
    COLUMN(context),
    COLUMN(context_low),
    COLUMN(context_high),
    COLUMN(low),
    COLUMN(high),
    COLUMN(later),
    COLUMN(least),
    COLUMN(early),
    COLUMN(bounded_allocated),
    COLUMN(bounded_reserved),
    COLUMN(usable),
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static uint64_t *field(struct plm_outcome *o, const struct column *c)
{
    return (uint64_t *)(void *)((char *)o + c->at);
}

static int path_of(const struct plm_bench *bench, char *out, size_t size, struct plm_error *error)
{
    int n = snprintf(out, size, "%s/results.csv", bench->settings->common.folder);
    return n < 0 || (size_t)n >= size ? plm_fail(error, PLM_EINVAL, "the path of the results is too long") : 0;
}

const char plm_results_head[] = "key,family,model,optimizer,batch_size,zero_grad_mode,gpu,torch,done,why,confidence,";

static void head_write(FILE *out)
{
    fprintf(out, "%sseconds,cpu_seconds", plm_results_head);
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, ",%s", columns[i].name);
    fputc('\n', out);
}

static void result_write(FILE *out, bool head, const void *what)
{
    const struct plm_bench_run *run = what;
    struct plm_outcome o = run->outcome;
    struct plm_lines l = {out, false};
    if (head)
        head_write(out);
    plm_lines_cell(&l, true, "%s", run->key);
    plm_truth_row_put(&l, run->row);
    plm_truth_row_put_mode(&l, run->row);
    plm_lines_cell(&l, true, "%s", run->card);
    plm_lines_text(&l, o.torch);
    plm_lines_cell(&l, true, "%s", o.done ? "true" : "false");
    plm_lines_text(&l, o.why);
    plm_lines_cell(&l, true, "%s,%.3f,%.3f", o.confidence, o.seconds, o.cpu_seconds);
    for (int i = 0; i < COLUMNS; i++)
        plm_lines_cell(&l, true, "%" PRIu64, *field(&o, &columns[i]));
    plm_lines_end(&l);
}

int plm_results_add(const struct plm_bench *bench, const struct plm_bench_run *run, struct plm_error *error)
{
    char path[4200];
    int status = path_of(bench, path, sizeof path, error);
    return status ? status : plm_append(path, result_write, run, error);
}

static const char *cell(const struct plm_csv *t, size_t row, const char *name)
{
    return plm_csv_cell(t, row, plm_csv_column(t, name));
}

static int amount(const struct plm_csv *t, size_t row, const char *name, uint64_t *value, struct plm_error *error)
{
    const char *text = cell(t, row, name);
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (end == text || *end || errno || *text == '-')
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %s is \"%.40s\", which is not an amount", t->path,
                        t->line[row + 1], name, text);
    return 0;
}

/* "": none. */
static int seconds(const struct plm_csv *t, size_t row, const char *name, double *value, struct plm_error *error)
{
    const int column = plm_csv_column(t, name), status = plm_csv_real(t, row, column, value, error);
    return status == 0 && *value < 0 ? plm_csv_wrong(t, row, column, "a time", error) : status;
}

static int result_read(const struct plm_csv *t, size_t row, struct plm_outcome *o, struct plm_error *error)
{
    int status;
    *o = (struct plm_outcome){.done = !strcmp(cell(t, row, "done"), "true")};
    snprintf(o->why, sizeof o->why, "%s", cell(t, row, "why"));
    snprintf(o->torch, sizeof o->torch, "%s", cell(t, row, "torch"));
    snprintf(o->confidence, sizeof o->confidence, "%s", cell(t, row, "confidence"));
    status = seconds(t, row, "seconds", &o->seconds, error);
    if (status == 0)
        status = seconds(t, row, "cpu_seconds", &o->cpu_seconds, error);
    for (int i = 0; i < COLUMNS && status == 0; i++)
        status = amount(t, row, columns[i].name, field(o, &columns[i]), error);
    return status;
}

/* A line of ours cannot stand under another head. */
static int head_check(const struct plm_csv *t, struct plm_error *error)
{
    for (int i = 0; i < COLUMNS; i++)
        if (plm_csv_column(t, columns[i].name) < 0)
            return plm_fail(
                error, PLM_EFORMAT,
                "%.300s has no column %s: it is of another release; remove it, or choose another folder (-o)", t->path,
                columns[i].name);
    return 0;
}

/* Later lines replace earlier ones. A failed run is made again. */
int plm_results_read(struct plm_bench *bench, struct plm_error *error)
{
    struct plm_csv t;
    char path[4200];
    int status = path_of(bench, path, sizeof path, error);
    if (status || access(path, F_OK))
        return status;
    status = plm_csv_read(path, &t, error);
    if (status)
        return status;
    status = head_check(&t, error);
    for (size_t row = 0; row < t.rows && status == 0; row++)
        for (size_t i = 0; i < bench->runs; i++)
            if (!strcmp(bench->run[i].key, cell(&t, row, "key"))) {
                status = result_read(&t, row, &bench->run[i].outcome, error);
                bench->run[i].known = status == 0 && bench->run[i].outcome.done;
            }
    plm_csv_free(&t);
    return status;
}
/* ---- answers: a line for each run and method ---- */

static const char *const states[] = {
    [PLM_ANSWERED] = "answered", [PLM_OUTSIDE] = "outside", [PLM_UNANSWERED] = "unanswered"};
enum { STATES = sizeof states / sizeof states[0] };
static const char failed[] = "failed";

static void answer_write(FILE *out, const struct plm_bench *bench, const struct plm_bench_run *run, size_t method)
{
    const struct plm_reply *r = &run->reply[method];
    struct plm_lines l = {out, false};
    plm_lines_cell(&l, true, "%s", run->ask_key);
    plm_truth_row_put(&l, run->row);
    plm_lines_cell(&l, true, "%s,%s,%" PRIu64 ",%s,%.6f,%.3f", bench->settings->method[method]->name,
                   r->failed ? failed : states[r->answer.state], r->answer.bytes, r->answer.oom ? "true" : "false",
                   r->answer.seconds, r->capture_seconds);
    plm_lines_text(&l, r->answer.note);
    plm_lines_end(&l);
}

const char plm_answers_head[] =
    "key,family,model,optimizer,batch_size,method,state,bytes,oom,seconds,capture_seconds,note";

struct answers {
    const struct plm_bench *bench;
    size_t run;
    uint64_t only;
};

static void answers_write(FILE *out, bool head, const void *what)
{
    const struct answers *a = what;
    const struct plm_bench_run *run = &a->bench->run[a->run];
    if (head)
        fprintf(out, "%s\n", plm_answers_head);
    for (size_t i = 0; i < a->bench->settings->methods; i++)
        if (run->reply[i].known && a->only >> i & 1)
            answer_write(out, a->bench, run, i);
}

int plm_answers_add(const struct plm_bench *bench, size_t run, uint64_t only, const char *path, struct plm_error *error)
{
    return plm_append(path, answers_write, &(struct answers){bench, run, only}, error);
}

static int answer_read(const struct plm_csv *t, size_t row, struct plm_reply *reply, struct plm_error *error)
{
    const char *state = cell(t, row, "state");
    struct plm_reply r = {.known = true, .failed = !strcmp(state, failed), .answer.state = PLM_UNANSWERED};
    size_t i = 0;
    int status;
    while (i < STATES && strcmp(states[i], state) != 0)
        i++;
    if (i == STATES && !r.failed)
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: state is \"%.40s\"", t->path, t->line[row + 1], state);
    if (i < STATES)
        r.answer.state = (enum plm_answer_state)i;
    if ((status = amount(t, row, "bytes", &r.answer.bytes, error)) ||
        (status = seconds(t, row, "seconds", &r.answer.seconds, error)) ||
        (status = seconds(t, row, "capture_seconds", &r.capture_seconds, error)))
        return status;
    r.answer.oom = !strcmp(cell(t, row, "oom"), "true");
    snprintf(r.answer.note, sizeof r.answer.note, "%s", cell(t, row, "note"));
    *reply = r;
    return 0;
}

/* Later lines replace earlier ones. */
int plm_answers_read(struct plm_bench *bench, const char *path, struct plm_error *error)
{
    const struct plm_bench_settings *s = bench->settings;
    struct plm_csv t;
    int status;
    if (access(path, F_OK))
        return 0;
    status = plm_csv_read(path, &t, error);
    for (size_t row = 0; status == 0 && row < t.rows; row++)
        for (size_t i = 0; i < bench->runs && status == 0; i++) {
            struct plm_bench_run *run = &bench->run[i];
            if (strcmp(run->ask_key, cell(&t, row, "key")) != 0)
                continue;
            for (size_t k = 0; k < s->methods && status == 0; k++)
                if (!strcmp(s->method[k]->name, cell(&t, row, "method")))
                    status = answer_read(&t, row, &run->reply[k], error);
            run->asked = !plm_bench_missing(bench, i);
        }
    plm_csv_free(&t);
    return status;
}
