/* What a child of the bench is made of: the workload's command, `plimsoll run` of it. */
#include <stdio.h>

#include "base/child.h"
#include "study/evaluate/bench.h"

void plm_bench_command(const struct plm_bench *bench, size_t index, struct plm_bench_command *c)
{
    const struct plm_bench_settings *s = bench->settings;
    const struct plm_bench_run *run = &bench->run[index];
    int n = 0;
    snprintf(c->script, sizeof c->script, "%.3800s/%.200s", s->workloads->folder, run->workload->script);
    snprintf(c->batch, sizeof c->batch, "%llu", (unsigned long long)run->row->batch);
    snprintf(c->mode, sizeof c->mode, "%d", run->row->zero_grad);
    const char *const words[] = {s->python, c->script, "--model", run->row->model, "--batch", c->batch};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        c->word[n++] = words[i];
    if (*run->row->optimizer) {
        c->word[n++] = "--optimizer";
        c->word[n++] = run->row->optimizer;
    }
    if (run->row->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN) {
        c->word[n++] = "--zero-grad";
        c->word[n++] = c->mode;
    }
    c->word[n] = NULL;
}

pid_t plm_bench_start_record(const struct plm_bench *bench, size_t run, int *failure)
{
    char record[4096], log[4096];
    struct plm_bench_command command;
    const char *word[48];
    int n = 0;
    plm_bench_path(bench, run, "plm", record, sizeof record);
    plm_bench_path(bench, run, "log", log, sizeof log);
    plm_bench_command(bench, run, &command);
    const char *const first[] = {"plimsoll", "run", "--gpu", bench->run[run].card, "--until-exit", "--detail", "low",
                                 "-f",       "-o",  record};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        word[n++] = first[i];
    if (bench->settings->stack) {
        word[n++] = "--stack";
        word[n++] = bench->settings->stack;
    }
    word[n++] = "--";
    for (int i = 0; command.word[i]; i++)
        word[n++] = command.word[i];
    word[n] = NULL;
    return plm_child_start(&(struct plm_child){.words = word, .self = true, .log = log}, failure);
}
