/* What methods said about the runs, as a table: a line for each run and method, so that going on later asks only what was not asked. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "study/evaluate/bench.h"

static const char *const states[] = {
    [PLM_ANSWERED] = "answered", [PLM_OUTSIDE] = "outside", [PLM_UNANSWERED] = "unanswered"};
enum { STATES = sizeof states / sizeof states[0] };
static const char failed[] = "failed";

static void write_line(FILE *out, const struct plm_bench *bench, const struct plm_bench_run *run, size_t method)
{
    const struct plm_reply *r = &run->reply[method];
    const char *const words[] = {run->row->family, run->row->model, run->row->optimizer};
    fputs(run->ask_key, out);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        fputc(',', out);
        plm_table_put(out, words[i]);
    }
    fprintf(out, ",%" PRIu64 ",%s,%s,%" PRIu64 ",%s,%.6f,%.3f,", run->row->batch, bench->settings->method[method]->name,
            r->failed ? failed : states[r->answer.state], r->answer.bytes, r->answer.oom ? "true" : "false",
            r->answer.seconds, r->capture_seconds);
    plm_table_put(out, r->answer.note);
    fputc('\n', out);
}

int plm_answers_add(const struct plm_bench *bench, size_t run, uint64_t only, const char *path, struct plm_error *error)
{
    FILE *out = fopen(path, "ae");
    bool wrong;
    if (!out)
        return plm_fail(error, PLM_EIO, "cannot write %.300s: %s", path, strerror(errno));
    if (ftell(out) == 0)
        fputs("key,family,model,optimizer,batch_size,method,state,bytes,oom,seconds,capture_seconds,note\n", out);
    for (size_t i = 0; i < bench->settings->methods; i++)
        if (bench->run[run].reply[i].known && only >> i & 1)
            write_line(out, bench, &bench->run[run], i);
    wrong = ferror(out) != 0;
    wrong |= fclose(out) != 0;
    return wrong ? plm_fail(error, PLM_EIO, "cannot write %.300s: %s", path, strerror(errno)) : 0;
}

static const char *answer_cell(const struct plm_table *t, size_t row, const char *name)
{
    return plm_table_cell(t, row, plm_table_column(t, name));
}

static int read_line(const struct plm_table *t, size_t row, struct plm_reply *reply, struct plm_error *error)
{
    const char *state = answer_cell(t, row, "state"), *bytes = answer_cell(t, row, "bytes");
    struct plm_reply r = {.known = true, .failed = !strcmp(state, failed), .answer.state = PLM_UNANSWERED};
    char *end;
    size_t i = 0;
    while (i < STATES && strcmp(states[i], state) != 0)
        i++;
    if (i == STATES && !r.failed)
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: state is \"%.40s\"", t->path, t->line[row + 1], state);
    if (i < STATES)
        r.answer.state = (enum plm_answer_state)i;
    errno = 0;
    r.answer.bytes = strtoull(bytes, &end, 10);
    if (end == bytes || *end || errno || *bytes == '-')
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: bytes is \"%.40s\", which is not an amount", t->path,
                        t->line[row + 1], bytes);
    r.answer.oom = !strcmp(answer_cell(t, row, "oom"), "true");
    r.answer.seconds = strtod(answer_cell(t, row, "seconds"), NULL);
    r.capture_seconds = strtod(answer_cell(t, row, "capture_seconds"), NULL);
    snprintf(r.answer.note, sizeof r.answer.note, "%s", answer_cell(t, row, "note"));
    *reply = r;
    return 0;
}

static bool has_all(const struct plm_bench *bench, const struct plm_bench_run *run)
{
    for (size_t i = 0; i < bench->settings->methods; i++)
        if (!run->reply[i].known || run->reply[i].failed)
            return false;
    return true;
}

/* Later lines replace earlier ones. */
int plm_answers_read(struct plm_bench *bench, const char *path, struct plm_error *error)
{
    const struct plm_bench_settings *s = bench->settings;
    struct plm_table t;
    int status;
    if (access(path, F_OK))
        return 0;
    status = plm_table_read(path, &t, error);
    for (size_t row = 0; status == 0 && row < t.rows; row++)
        for (size_t i = 0; i < bench->runs && status == 0; i++) {
            struct plm_bench_run *run = &bench->run[i];
            if (strcmp(run->ask_key, answer_cell(&t, row, "key")) != 0)
                continue;
            for (size_t k = 0; k < s->methods && status == 0; k++)
                if (!strcmp(s->method[k]->name, answer_cell(&t, row, "method")))
                    status = read_line(&t, row, &run->reply[k], error);
            run->asked = has_all(bench, run);
        }
    plm_table_free(&t);
    return status;
}
