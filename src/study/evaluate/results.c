#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "study/evaluate/bench.h"

/* The columns after those that only tell a reader what the line is about. */
struct column {
    const char *name;
    size_t at;
};
#define COLUMN(field) {#field, offsetof(struct plm_outcome, field)}
static const struct column columns[] = {
    COLUMN(allocated), COLUMN(reserved), COLUMN(outside), COLUMN(context), COLUMN(context_low), COLUMN(context_high),
    COLUMN(low),       COLUMN(high),     COLUMN(later),   COLUMN(least),   COLUMN(early),
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static uint64_t *field(struct plm_outcome *o, const struct column *c)
{
    return (uint64_t *)(void *)((char *)o + c->at);
}

static int path_of(const struct plm_bench *bench, char *out, size_t size, struct plm_error *error)
{
    int n = snprintf(out, size, "%s/results.csv", bench->settings->folder);
    return n < 0 || (size_t)n >= size ? plm_fail(error, PLM_EINVAL, "the path of the results is too long") : 0;
}

static void write_head(FILE *out)
{
    fputs("key,family,model,optimizer,batch_size,zero_grad_mode,gpu,torch,done,why,confidence,seconds,cpu_seconds",
          out);
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, ",%s", columns[i].name);
    fputc('\n', out);
}

static void write_line(FILE *out, const struct plm_bench_run *run)
{
    struct plm_outcome o = run->outcome;
    const char *const words[] = {run->key, run->row->family, run->row->model, run->row->optimizer};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        plm_table_put(out, words[i]);
        fputc(',', out);
    }
    fprintf(out, "%" PRIu64 ",", run->row->batch);
    if (run->row->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN)
        fprintf(out, "%d", run->row->zero_grad);
    fprintf(out, ",%s,%s,%s,", run->card, o.torch, o.done ? "true" : "false");
    plm_table_put(out, o.why);
    fprintf(out, ",%s,%.3f,%.3f", o.confidence, o.seconds, o.cpu_seconds);
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, ",%" PRIu64, *field(&o, &columns[i]));
    fputc('\n', out);
}

int plm_results_add(const struct plm_bench *bench, const struct plm_bench_run *run, struct plm_error *error)
{
    char path[4200];
    FILE *out;
    bool failed;
    int status = path_of(bench, path, sizeof path, error);
    if (status)
        return status;
    out = fopen(path, "ae");
    if (!out)
        return plm_fail(error, PLM_EIO, "cannot write %.300s: %s", path, strerror(errno));
    if (ftell(out) == 0)
        write_head(out);
    write_line(out, run);
    failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    return failed ? plm_fail(error, PLM_EIO, "cannot write %.300s: %s", path, strerror(errno)) : 0;
}

static int amount(const struct plm_table *t, size_t row, const char *name, uint64_t *value, struct plm_error *error)
{
    const char *text = plm_table_cell(t, row, plm_table_column(t, name));
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (end == text || *end || errno || *text == '-')
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %s is \"%.40s\", which is not an amount", t->path,
                        t->line[row + 1], name, text);
    return 0;
}

static int read_line(const struct plm_table *t, size_t row, struct plm_outcome *o, struct plm_error *error)
{
    *o = (struct plm_outcome){.done = !strcmp(plm_table_cell(t, row, plm_table_column(t, "done")), "true")};
    snprintf(o->why, sizeof o->why, "%s", plm_table_cell(t, row, plm_table_column(t, "why")));
    snprintf(o->torch, sizeof o->torch, "%s", plm_table_cell(t, row, plm_table_column(t, "torch")));
    snprintf(o->confidence, sizeof o->confidence, "%s", plm_table_cell(t, row, plm_table_column(t, "confidence")));
    o->seconds = strtod(plm_table_cell(t, row, plm_table_column(t, "seconds")), NULL);
    o->cpu_seconds = strtod(plm_table_cell(t, row, plm_table_column(t, "cpu_seconds")), NULL);
    for (int i = 0; i < COLUMNS; i++) {
        int status = amount(t, row, columns[i].name, field(o, &columns[i]), error);
        if (status)
            return status;
    }
    return 0;
}

/* Later lines replace earlier ones. A failed run is made again. */
int plm_results_read(struct plm_bench *bench, struct plm_error *error)
{
    struct plm_table t;
    char path[4200];
    int key, status = path_of(bench, path, sizeof path, error);
    if (status || access(path, F_OK))
        return status;
    status = plm_table_read(path, &t, error);
    if (status)
        return status;
    key = plm_table_column(&t, "key");
    for (size_t row = 0; row < t.rows && status == 0; row++)
        for (size_t i = 0; i < bench->runs; i++)
            if (!strcmp(bench->run[i].key, plm_table_cell(&t, row, key))) {
                status = read_line(&t, row, &bench->run[i].outcome, error);
                bench->run[i].known = status == 0 && bench->run[i].outcome.done;
            }
    plm_table_free(&t);
    return status;
}
