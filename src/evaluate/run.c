#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "evaluate/bench.h"

enum { JOBS_MOST = 256, LINE = 160 };

struct slot {
    pid_t pid;  /* 0: free */
    size_t run;
};

struct pool {
    struct plm_bench *bench;
    struct slot slot[JOBS_MOST];
    int jobs, busy;
    size_t next, done, failed, made, all;
    struct timespec start;
    plm_bench_progress *progress;
    void *context;
};

static void path_of(const struct pool *p, size_t run, const char *end, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%s.%s", p->bench->settings->folder, p->bench->run[run].key, end);
}

static double since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static void show(const struct pool *p)
{
    if (p->progress)
        p->progress(p->done, p->failed, p->all, since(&p->start), p->made, p->context);
}

/* ---- a child ---- */

/* In the child: `plimsoll run` of this very program, with its output in a file of its own. */
static void become(const struct pool *p, size_t index)
{
    const struct plm_bench_run *run = &p->bench->run[index];
    const struct plm_bench_settings *s = p->bench->settings;
    char script[4096], record[4096], log[4096], batch[24], mode[12];
    const char *command[32];
    int n = 0, fd;
    snprintf(script, sizeof script, "%.3800s/%.200s", s->workloads->folder, run->workload->script);
    snprintf(batch, sizeof batch, "%llu", (unsigned long long)run->row->batch);
    snprintf(mode, sizeof mode, "%d", run->row->zero_grad);
    path_of(p, index, "plm", record, sizeof record);
    path_of(p, index, "log", log, sizeof log);
    const char *const first[] = {"plimsoll", "run", "--gpu", run->card, "--until-exit",
                                 "--detail", "low", "-f",    "-o",      record};
    const char *const then[] = {"--", s->python, script, "--model", run->row->model, "--batch", batch};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        command[n++] = first[i];
    if (s->stack) {
        command[n++] = "--stack";
        command[n++] = s->stack;
    }
    for (size_t i = 0; i < sizeof then / sizeof then[0]; i++)
        command[n++] = then[i];
    if (*run->row->optimizer) {
        command[n++] = "--optimizer";
        command[n++] = run->row->optimizer;
    }
    if (run->row->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN) {
        command[n++] = "--zero-grad";
        command[n++] = mode;
    }
    command[n] = NULL;
    fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(126);
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        dup2(fd, STDIN_FILENO);
    execv("/proc/self/exe", (char *const *)command);
    _exit(127);
}

static int begin(struct pool *p, struct plm_error *error)
{
    struct slot *slot = p->slot;
    while (slot->pid)
        slot++;
    slot->run = p->next;
    slot->pid = fork();
    if (slot->pid == 0)
        become(p, p->next);
    if (slot->pid < 0) {
        slot->pid = 0;
        return plm_fail(error, PLM_EIO, "cannot start a process: %s", strerror(errno));
    }
    p->busy++;
    return 0;
}

/* ---- its end ---- */

/* What a failed workload said last, as far as it is plain text. */
static void last_line(const char *log, char out[LINE])
{
    char line[1024];
    FILE *file = fopen(log, "re");
    out[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        char *text = line;
        line[strcspn(line, "\r\n")] = '\0';
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                *c = '?';
        if (!strncmp(text, "plimsoll: ", 10) && out[0])
            continue;
        if (*text)
            snprintf(out, LINE, "%.150s", text);
    }
    if (file)
        fclose(file);
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static int end(struct pool *p, const struct slot *slot, int wait_status, const struct rusage *usage,
               struct plm_error *error)
{
    struct plm_bench_run *run = &p->bench->run[slot->run];
    char record[4096], log[4096], line[LINE];
    struct plm_error why = {0};
    path_of(p, slot->run, "plm", record, sizeof record);
    path_of(p, slot->run, "log", log, sizeof log);
    if (WIFSIGNALED(wait_status) && (WTERMSIG(wait_status) == SIGINT || WTERMSIG(wait_status) == SIGTERM))
        return plm_fail(error, PLM_EIO, "interrupted; --resume goes on with what is there");
    if (plm_outcome_read(record, run->workload, &run->outcome, &why) < 0)
        snprintf(run->outcome.why, sizeof run->outcome.why, "%.199s", why.text);
    if (!run->outcome.done) {
        last_line(log, line);
        if (line[0])
            snprintf(run->outcome.why, sizeof run->outcome.why, "%.190s", line);
    }
    run->outcome.cpu_seconds = seconds(&usage->ru_utime) + seconds(&usage->ru_stime);
    run->known = true;
    p->done++;
    p->made++;
    p->failed += !run->outcome.done;
    unlink(record);
    if (run->outcome.done)
        unlink(log);
    return plm_results_add(p->bench, run, error);
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
                    return end(p, &p->slot[i], status, &usage, error);
                }
        if (pid == 0) {
            show(p);
            nanosleep(&pause, NULL);
        }
    }
}

/* After a failure of the bench itself nothing goes on behind its back. */
static void stop(struct pool *p)
{
    for (int i = 0; i < p->jobs; i++)
        if (p->slot[i].pid > 0)
            kill(p->slot[i].pid, SIGTERM);
    for (int i = 0; i < p->jobs; i++)
        if (p->slot[i].pid > 0)
            while (waitpid(p->slot[i].pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

int plm_bench_run(struct plm_bench *bench, plm_bench_progress *progress, void *context, struct plm_error *error)
{
    struct pool p = {.bench = bench, .progress = progress, .context = context, .all = bench->runs};
    int status = 0;
    p.jobs = bench->settings->jobs < 1 ? 1 : bench->settings->jobs > JOBS_MOST ? JOBS_MOST : bench->settings->jobs;
    clock_gettime(CLOCK_MONOTONIC, &p.start);
    for (size_t i = 0; i < bench->runs; i++) {
        p.done += bench->run[i].known;
        p.failed += bench->run[i].known && !bench->run[i].outcome.done;
    }
    while (status == 0 && (p.next < bench->runs || p.busy)) {
        while (p.next < bench->runs && bench->run[p.next].known)
            p.next++;
        if (p.next < bench->runs && p.busy < p.jobs) {
            status = begin(&p, error);
            p.next += status == 0;
        } else if (p.busy)
            status = reap(&p, error);
        show(&p);
    }
    if (status)
        stop(&p);
    return status;
}
