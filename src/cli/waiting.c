#include "cli/waiting.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "record/format.h"

/* It looks once a second. A job is idle if it uses less than IDLE_SHARE of a core and none of its processes is about to run. */
#define LOOK_SECONDS  1.0
#define IDLE_SECONDS  5.0
#define IDLE_SHARE    0.03
#define GRACE_SECONDS 5.0
enum { PROCESSES = 1024 };

struct process {
    pid_t pid, parent;
    char state;
    bool of_job;
    uint64_t ticks;
};

/* The name in it may hold anything, so fields are counted from its last parenthesis on: proc(5). */
static bool process_read(const char *pid, struct process *p)
{
    unsigned long long user, kernel;
    char path[64], text[1024];
    const char *rest;
    FILE *file;
    size_t n;
    int parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    rest = strrchr(text, ')');
    if (!rest ||
        sscanf(rest, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &p->state, &parent, &user, &kernel) != 4)
        return false;
    p->pid = (pid_t)strtol(pid, NULL, 10);
    p->parent = (pid_t)parent;
    p->ticks = user + kernel;
    return true;
}

static int processes_read(struct process *of)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    int count = 0;
    while (folder && count < PROCESSES && (entry = readdir(folder)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && process_read(entry->d_name, &of[count]))
            of[count++].of_job = false;
    if (folder)
        closedir(folder);
    return count;
}

/* The command and what descends from it. */
static void processes_mark(struct process *of, int count, pid_t command)
{
    bool more = true;
    while (more) {
        more = false;
        for (int i = 0; i < count; i++) {
            bool ours = of[i].pid == command;
            for (int k = 0; k < count && !ours; k++)
                ours = of[k].of_job && of[k].pid == of[i].parent;
            more |= ours && !of[i].of_job;
            of[i].of_job = of[i].of_job || ours;
        }
    }
}

static bool any_stopped(const struct plm_record_header *header)
{
    const unsigned processes = header->processes < PLM_RECORD_SLOTS ? header->processes : PLM_RECORD_SLOTS;
    for (unsigned i = 0; i < processes; i++)
        if (header->live[i].stage == PLM_LIVE_STOPPED)
            return true;
    return false;
}

static bool job_idle(const struct plm_waiting *w, const struct process *of, int count, double now, uint64_t *ticks)
{
    const double per_second = (double)sysconf(_SC_CLK_TCK);
    bool runs = false;
    *ticks = 0;
    for (int i = 0; i < count; i++)
        if (of[i].of_job) {
            *ticks += of[i].ticks;
            runs |= of[i].state == 'R' || of[i].state == 'D';
        }
    return !runs && w->idle_since > 0 && *ticks >= w->ticks && /* less: a process ended */
           (double)(*ticks - w->ticks) <= IDLE_SHARE * per_second * (now - w->idle_since + LOOK_SECONDS);
}

static void job_signal(const struct process *of, int count, int number)
{
    for (int i = 0; i < count; i++)
        if (of[i].of_job)
            kill(of[i].pid, number);
}

void plm_waiting_look(struct plm_waiting *w)
{
    static struct process of[PROCESSES];
    const double now = plm_now();
    uint64_t ticks;
    int count;
    if (now - w->looked < LOOK_SECONDS || !any_stopped(w->header))
        return;
    w->looked = now;
    count = processes_read(of);
    processes_mark(of, count, w->command);
    if (w->ended) {
        if (now - w->idle_since > GRACE_SECONDS)
            job_signal(of, count, SIGKILL);
    } else if (!job_idle(w, of, count, now, &ticks)) {
        w->idle_since = now;
        w->ticks = ticks;
    } else if (now - w->idle_since > IDLE_SECONDS) {
        w->ended = true;
        w->idle_since = now;
        job_signal(of, count, SIGTERM);
    }
}
