#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/temporary.h"
#include "study/evaluate/bench.h"
#include "study/rows/chunk.h"
#include "study/rows/pool.h"

/* A run's parts are tasks 2 * run and 2 * run + 1. */
enum part { RECORD, ASK, PARTS };

struct work {
    struct plm_bench *bench;
    bool *busy; /* per run */
    size_t done, failed, made, all;
    double start;
    plm_bench_progress *progress;
    void *context;
};

static void progress_show(void *context)
{
    const struct work *w = context;
    w->progress(w->done, w->failed, w->all, plm_now() - w->start, w->made, w->context);
}

/* ---- which part is next ---- */

/* Methods are asked once the record is there: the context that their verdicts need comes from it. Runs are finished
   one by one, so that what is interrupted has whole runs. */
static bool part_next(void *context, size_t *task)
{
    const struct work *w = context;
    for (size_t i = 0; i < w->bench->runs; i++) {
        const struct plm_bench_run *r = &w->bench->run[i];
        if ((r->known && r->asked) || w->busy[i])
            continue;
        *task = PARTS * i + (size_t)(r->known ? ASK : RECORD);
        w->busy[i] = true;
        return true;
    }
    return false;
}

struct asking {
    const struct plm_bench *bench;
    size_t run;
};

static int ask_in_child(void *context)
{
    const struct asking *a = context;
    return plm_bench_ask(a->bench, a->run);
}

static pid_t start_record(const struct plm_bench *bench, size_t run, int *failure)
{
    const char *const stack = bench->settings->common.stack;
    char record[4096], log[4096];
    const char *const words[] = {
        "plimsoll", "run", "--gpu", bench->run[run].card,     "--until-exit", "--detail", "full", "--keep",
        "-f",       "-o",  record,  stack ? "--stack" : NULL, stack,          NULL};
    plm_bench_path(bench, run, "plm", record, sizeof record);
    plm_bench_path(bench, run, "log", log, sizeof log);
    return plm_bench_start(bench, run, words, log, failure);
}

static pid_t part_start(void *context, size_t task, int *failure)
{
    const struct work *w = context;
    const struct plm_child ask = {.body = ask_in_child, .context = &(struct asking){w->bench, task / PARTS}};
    return task % PARTS == RECORD ? start_record(w->bench, task / PARTS, failure) : plm_child_start(&ask, failure);
}

/* ---- the end of a part ---- */

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static int end_record(struct work *p, size_t index, const struct rusage *usage, struct plm_error *error)
{
    struct plm_bench_run *run = &p->bench->run[index];
    char record[4096], log[4096], line[PLM_LAST_LINE];
    struct plm_error why = {0};
    int status = 0;
    plm_bench_path(p->bench, index, "plm", record, sizeof record);
    plm_bench_path(p->bench, index, "log", log, sizeof log);
    if (plm_workload_outcome(run->workload, record, &run->device, &run->outcome, &why) < 0)
        snprintf(run->outcome.why, sizeof run->outcome.why, "%.199s", why.text);
    if (!run->outcome.done) {
        plm_child_last_line(fopen(log, "re"), false, line);
        if (line[0])
            snprintf(run->outcome.why, sizeof run->outcome.why, "%.190s", line);
        status =
            plm_log_keep(p->bench->settings->common.scratch, p->bench->settings->common.folder, run->key, "log", error);
    }
    run->outcome.cpu_seconds = seconds(&usage->ru_utime) + seconds(&usage->ru_stime);
    run->known = true;
    plm_temporary_remove(record);
    plm_temporary_remove(log);
    if (!run->outcome.done && !run->asked) { /* what cannot run cannot be captured */
        run->asked = true;
        p->done++;
    }
    p->failed += !run->outcome.done;
    return status ? status : plm_results_add(p->bench, run, error);
}

static void give_up(struct plm_bench *bench, size_t run, uint64_t methods, const char *why)
{
    for (size_t i = 0; i < bench->settings->methods; i++)
        if (methods >> i & 1) {
            struct plm_reply *r = &bench->run[run].reply[i];
            *r = (struct plm_reply){.known = true, .failed = true, .answer.state = PLM_UNANSWERED};
            snprintf(r->answer.note, sizeof r->answer.note, "%s", why);
        }
}

static int end_ask(struct work *p, size_t run, int wait_status, struct plm_error *error)
{
    const uint64_t methods = plm_bench_missing(p->bench, run);
    char file[4096], log[4096], all[4200], line[PLM_LAST_LINE];
    int status;
    plm_bench_path(p->bench, run, "answers", file, sizeof file);
    plm_bench_path(p->bench, run, "trace.log", log, sizeof log);
    snprintf(all, sizeof all, "%.4000s/answers.csv", p->bench->settings->common.folder);
    status = plm_answers_read(p->bench, file, error);
    if (status)
        return status;
    plm_temporary_remove(file);
    if (wait_status || plm_bench_missing(p->bench, run)) {
        plm_child_last_line(fopen(log, "re"), true, line);
        give_up(p->bench, run, plm_bench_missing(p->bench, run),
                line[0] ? line : "the capture failed and did not say why");
        p->failed++;
        status = plm_log_keep(p->bench->settings->common.scratch, p->bench->settings->common.folder,
                              p->bench->run[run].key, "trace.log", error);
    }
    plm_temporary_remove(log);
    p->bench->run[run].asked = true;
    return status ? status : plm_answers_add(p->bench, run, methods, all, error);
}

static int part_end(void *context, size_t task, int wait_status, const struct rusage *usage, struct plm_error *error)
{
    struct work *w = context;
    w->busy[task / PARTS] = false;
    w->done++;
    w->made++;
    return task % PARTS == RECORD ? end_record(w, task / PARTS, usage, error)
                                  : end_ask(w, task / PARTS, wait_status, error);
}

int plm_bench_run(struct plm_bench *bench, plm_bench_progress *progress, void *context, struct plm_error *error)
{
    const bool methods = bench->settings->methods > 0;
    struct work w = {.bench = bench, .start = plm_now(), .progress = progress, .context = context};
    const struct plm_rows_pool pool = {.jobs = bench->settings->common.jobs,
                                       .context = &w,
                                       .next = part_next,
                                       .start = part_start,
                                       .end = part_end,
                                       .again = "use --resume to continue",
                                       .progress = progress ? progress_show : NULL};
    int status;
    w.busy = plm_calloc(bench->runs, sizeof *w.busy);
    w.all = bench->runs * (methods ? PARTS : 1);
    for (size_t i = 0; i < bench->runs; i++)
        w.done += (size_t)bench->run[i].known + (methods && bench->run[i].asked);
    status = plm_rows_pool_run(&pool, error);
    free(w.busy);
    return status;
}
