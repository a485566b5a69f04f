#include "cli/silent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/child.h"
#include "cli/processes.h"
#include "record/format.h"

#define PATIENCE_SECONDS 60.0
#define SAMPLE_SECONDS   5.0
#define IDLE_SHARE       0.03 /* of a core */

/* What all processes of the record show; the first slot is plimsoll's own. */
struct shown {
    unsigned step, passes;
    uint64_t launches;
    bool imported;
    pid_t pid; /* the first that uses the GPU; 0: none yet */
};

static struct shown shown_by(const struct plm_record_header *header)
{
    const unsigned processes = header->processes < PLM_RECORD_SLOTS ? header->processes : PLM_RECORD_SLOTS;
    struct shown s = {0};
    for (unsigned i = 1; i < processes; i++) {
        const struct plm_live *live = &header->live[i];
        s.step = live->step > s.step ? live->step : s.step;
        s.passes = live->passes > s.passes ? live->passes : s.passes;
        s.launches += live->launches;
        s.imported |= live->stage >= PLM_LIVE_IMPORTED;
        if (!s.pid)
            s.pid = (pid_t)live->pid;
    }
    return s;
}

/* ---- what a process waits for ---- */

#define END_IT " Ctrl-C ends it, and its traceback shows where"

static const struct {
    long number;
    const char *does, *advice;
} calls[] = {
    {SYS_futex, "waits for a lock or another thread", END_IT},
    {SYS_wait4, "waits for a process that it started", END_IT},
    {SYS_waitid, "waits for a process that it started", END_IT},
    {SYS_nanosleep, "sleeps", END_IT},
    {SYS_clock_nanosleep, "sleeps", END_IT},
    {SYS_accept, "waits for a connection", " `--world N` simulates a rank without the others"},
    {SYS_accept4, "waits for a connection", " `--world N` simulates a rank without the others"},
    {SYS_connect, "waits for a connection", " `--world N` simulates a rank without the others"},
    {SYS_recvfrom, "waits for data of a socket", " `--world N` simulates a rank without the others"},
    {SYS_recvmsg, "waits for data of a socket", " `--world N` simulates a rank without the others"},
    {SYS_poll, "waits for another process or a socket", END_IT},
    {SYS_ppoll, "waits for another process or a socket", END_IT},
    {SYS_select, "waits for another process or a socket", END_IT},
    {SYS_pselect6, "waits for another process or a socket", END_IT},
    {SYS_epoll_wait, "waits for another process or a socket", END_IT},
};

static const struct {
    const char *start, *does, *advice;
} files[] = {
    {"pipe:", "reads from a pipe", " give it its input, or `</dev/null`"},
    {"/dev/pts/", "reads from the terminal", " type what it asks for, or give it `</dev/null`"},
    {"/dev/tty", "reads from the terminal", " type what it asks for, or give it `</dev/null`"},
    {"socket:", "waits for data of a socket", " `--world N` simulates a rank without the others"},
    {"", "reads from a file", END_IT},
};

/* The system call that the main thread is in, and its first argument; false: it runs, or nobody may know. */
static bool call_read(pid_t pid, long *number, unsigned long *first)
{
    char path[64];
    FILE *file;
    bool found;
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    found = fscanf(file, "%ld %lx", number, first) == 2;
    fclose(file);
    return found;
}

static void read_tell(pid_t pid, unsigned long fd, char *out, size_t size)
{
    char path[64], target[256] = "";
    size_t i = 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%lu", (int)pid, fd);
    if (readlink(path, target, sizeof target - 1) < 0)
        target[0] = '\0';
    while (strncmp(target, files[i].start, strlen(files[i].start)) != 0)
        i++;
    snprintf(out, size, "%s;%s", files[i].does, files[i].advice);
}

static void wait_tell(pid_t pid, char *out, size_t size)
{
    unsigned long first;
    long number;
    if (!call_read(pid, &number, &first)) {
        snprintf(out, size, "waits;" END_IT);
        return;
    }
    if (number == SYS_read) {
        read_tell(pid, first, out, size);
        return;
    }
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i].number == number) {
            snprintf(out, size, "%s;%s", calls[i].does, calls[i].advice);
            return;
        }
    snprintf(out, size, "waits in system call %ld;" END_IT, number);
}

void plm_silent_describe(pid_t pid, char *out, size_t size)
{
    unsigned long first;
    long number;
    if (!call_read(pid, &number, &first))
        snprintf(out, size, "runs");
    else
        wait_tell(pid, out, size);
    out[strcspn(out, ";")] = '\0'; /* without the advice */
}

/* ---- the job ---- */

static uint64_t ticks_of(const struct plm_processes_one *of, int count)
{
    uint64_t ticks = 0;
    for (int i = 0; i < count; i++)
        ticks += of[i].ticks;
    return ticks;
}

/* The process to look at: one that uses the GPU, else the one that was started last. */
static pid_t process_choose(const struct plm_processes_one *of, int count, const struct shown *s, pid_t command)
{
    pid_t last = command;
    for (int i = 0; i < count; i++) {
        if (of[i].pid == s->pid)
            return s->pid;
        last = of[i].pid > last ? of[i].pid : last;
    }
    return last;
}

static void job_tell(const struct plm_silent *w, const struct shown *s, bool idle, pid_t pid)
{
    char what[256];
    if (idle)
        wait_tell(pid, what, sizeof what);
    else if (s->passes >= PLM_SILENT_EVALUATES)
        snprintf(what, sizeof what,
                 "made %u forward passes without an optimizer step; if it does not train, run it with --until-exit",
                 s->passes);
    else if (s->launches > w->launches)
        snprintf(what, sizeof what,
                 "launches kernels, but no optimizer steps; if it does not train, run it with --until-exit");
    else
        snprintf(what, sizeof what, "computes on the CPU;" END_IT);
    fprintf(stderr, "plimsoll: no optimizer step for %.0f s: process %d %s\n", PATIENCE_SECONDS, (int)pid, what);
}

/* An import of torch that takes long on a busy machine is no silence: the time counts from its end. */
void plm_silent_look(struct plm_silent *w)
{
    const double now = plm_now(), span = now - w->sampled;
    const struct plm_processes_one *of;
    struct shown s;
    uint64_t ticks;
    bool idle;
    int count;
    if (w->told || span < SAMPLE_SECONDS)
        return;
    s = shown_by(w->header);
    count = plm_processes_of(w->command, &of);
    ticks = ticks_of(of, count);
    idle = ticks >= w->ticks && (double)(ticks - w->ticks) <= IDLE_SHARE * span * (double)sysconf(_SC_CLK_TCK);
    if (s.step)
        w->told = true; /* it trains */
    else if (w->sampled <= 0 || s.imported != w->imported || (!s.imported && !idle))
        w->since = now;
    else if (now - w->since >= PATIENCE_SECONDS) {
        job_tell(w, &s, idle && s.launches == w->launches, process_choose(of, count, &s, w->command));
        w->told = true;
    }
    w->imported = s.imported;
    w->sampled = now;
    w->ticks = ticks;
    w->launches = s.launches;
}
