#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/error.h"
#include "study/evaluate/bench.h"

enum { JOBS_MOST = 256 };
enum part { RECORD, ASK };

struct slot {
    pid_t pid;  /* 0: free */
    size_t run;
    enum part part;
};

struct pool {
    struct plm_bench *bench;
    struct slot slot[JOBS_MOST];
    int jobs, busy;
    size_t done, failed, made, all;
    double start;
    plm_bench_progress *progress;
    void *context;
};

static void progress_show(const struct pool *p)
{
    if (p->progress)
        p->progress(p->done, p->failed, p->all, plm_clock_now() - p->start, p->made, p->context);
}

/* ---- which part is next ---- */

static bool is_busy(const struct pool *p, size_t run)
{
    for (int i = 0; i < p->jobs; i++)
        if (p->slot[i].pid && p->slot[i].run == run)
            return true;
    return false;
}

/* Methods are asked once the record is there: the context that their verdicts need comes from it. Runs are finished
   one by one, so that what is interrupted has whole runs. */
static bool run_next(const struct pool *p, size_t *run, enum part *part)
{
    for (size_t i = 0; i < p->bench->runs; i++) {
        const struct plm_bench_run *r = &p->bench->run[i];
        if ((r->known && r->asked) || is_busy(p, i))
            continue;
        *run = i;
        *part = r->known ? ASK : RECORD;
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
    const char *const stack = bench->settings->stack;
    char record[4096], log[4096];
    const char *const words[] = {
        "plimsoll", "run", "--gpu", bench->run[run].card,     "--until-exit", "--detail", "full",
        "-f",       "-o",  record,  stack ? "--stack" : NULL, stack,          NULL};
    plm_bench_path(bench, run, "plm", record, sizeof record);
    plm_bench_path(bench, run, "log", log, sizeof log);
    return plm_bench_start(bench, run, words, log, failure);
}

static int run_begin(struct pool *p, size_t run, enum part part, struct plm_error *error)
{
    const struct plm_child ask = {.body = ask_in_child, .context = &(struct asking){p->bench, run}};
    struct slot *slot = p->slot;
    int failure;
    while (slot->pid)
        slot++;
    slot->run = run;
    slot->part = part;
    slot->pid = part == RECORD ? start_record(p->bench, run, &failure) : plm_child_start(&ask, &failure);
    if (slot->pid < 0) {
        slot->pid = 0;
        return plm_fail(error, PLM_EIO, "cannot start a process: %s", strerror(failure));
    }
    p->busy++;
    return 0;
}

/* ---- the end of a part ---- */

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static int end_record(struct pool *p, size_t index, const struct rusage *usage, struct plm_error *error)
{
    struct plm_bench_run *run = &p->bench->run[index];
    char record[4096], log[4096], line[PLM_LAST_LINE];
    struct plm_error why = {0};
    plm_bench_path(p->bench, index, "plm", record, sizeof record);
    plm_bench_path(p->bench, index, "log", log, sizeof log);
    if (plm_workload_outcome(run->workload, record, &run->device, &run->outcome, &why) < 0)
        snprintf(run->outcome.why, sizeof run->outcome.why, "%.199s", why.text);
    if (!run->outcome.done) {
        plm_child_last_line(fopen(log, "re"), false, line);
        if (line[0])
            snprintf(run->outcome.why, sizeof run->outcome.why, "%.190s", line);
    }
    run->outcome.cpu_seconds = seconds(&usage->ru_utime) + seconds(&usage->ru_stime);
    run->known = true;
    unlink(record);
    if (run->outcome.done)
        unlink(log);
    else if (!run->asked) { /* what cannot run cannot be captured */
        run->asked = true;
        p->done++;
    }
    p->failed += !run->outcome.done;
    return plm_results_add(p->bench, run, error);
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

static int end_ask(struct pool *p, size_t run, int wait_status, struct plm_error *error)
{
    const uint64_t methods = plm_bench_missing(p->bench, run);
    char file[4096], log[4096], all[4200], line[PLM_LAST_LINE];
    int status;
    plm_bench_path(p->bench, run, "answers", file, sizeof file);
    plm_bench_path(p->bench, run, "trace.log", log, sizeof log);
    snprintf(all, sizeof all, "%.4000s/answers.csv", p->bench->settings->folder);
    status = plm_answers_read(p->bench, file, error);
    if (status)
        return status;
    unlink(file);
    if (wait_status || plm_bench_missing(p->bench, run)) {
        plm_child_last_line(fopen(log, "re"), true, line);
        give_up(p->bench, run, plm_bench_missing(p->bench, run),
                line[0] ? line : "the capture failed and did not say why");
        p->failed++;
    } else
        unlink(log);
    p->bench->run[run].asked = true;
    return plm_answers_add(p->bench, run, methods, all, error);
}

static int run_end(struct pool *p, const struct slot *slot, int wait_status, const struct rusage *usage,
                   struct plm_error *error)
{
    if (WIFSIGNALED(wait_status) && (WTERMSIG(wait_status) == SIGINT || WTERMSIG(wait_status) == SIGTERM))
        return plm_fail(error, PLM_EIO, "interrupted; --resume goes on with what is there");
    p->done++;
    p->made++;
    return slot->part == RECORD ? end_record(p, slot->run, usage, error) : end_ask(p, slot->run, wait_status, error);
}

static int reap(struct pool *p, struct plm_error *error)
{
    const struct timespec pause = {0, 200 * 1000 * 1000};
    struct rusage usage;
    int status;
    for (;;) {
        pid_t pid = wait4(-1, &status, p->progress ? WNOHANG : 0, &usage);
        if (pid < 0 && errno != EINTR)
            return plm_fail(error, PLM_EIO, "cannot wait for a run: %s", strerror(errno));
        if (pid > 0)
            for (int i = 0; i < p->jobs; i++)
                if (p->slot[i].pid == pid) {
                    p->slot[i].pid = 0;
                    p->busy--;
                    return run_end(p, &p->slot[i], status, &usage, error);
                }
        if (pid == 0) {
            progress_show(p);
            nanosleep(&pause, NULL);
        }
    }
}

/* After a failure of the bench itself nothing goes on behind its back. */
static void pool_stop(struct pool *p)
{
    for (int i = 0; i < p->jobs; i++)
        if (p->slot[i].pid > 0)
            kill(p->slot[i].pid, SIGTERM);
    for (int i = 0; i < p->jobs; i++)
        if (p->slot[i].pid > 0)
            plm_child_wait(p->slot[i].pid, NULL, NULL);
}

int plm_bench_run(struct plm_bench *bench, plm_bench_progress *progress, void *context, struct plm_error *error)
{
    const bool methods = bench->settings->methods > 0;
    struct pool p = {.bench = bench, .start = plm_clock_now(), .progress = progress, .context = context};
    enum part part = RECORD;
    size_t run = 0;
    int status = 0;
    p.jobs = bench->settings->jobs < 1 ? 1 : bench->settings->jobs > JOBS_MOST ? JOBS_MOST : bench->settings->jobs;
    p.all = bench->runs * (methods ? 2 : 1);
    for (size_t i = 0; i < bench->runs; i++)
        p.done += (size_t)bench->run[i].known + (methods && bench->run[i].asked);
    for (;;) {
        if (p.busy < p.jobs && run_next(&p, &run, &part))
            status = run_begin(&p, run, part, error);
        else if (p.busy)
            status = reap(&p, error);
        else
            break;
        progress_show(&p);
        if (status)
            break;
    }
    if (status)
        pool_stop(&p);
    return status;
}
