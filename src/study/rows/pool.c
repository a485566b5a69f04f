#include "study/rows/pool.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/child.h"
#include "common/error.h"

enum { JOBS_MOST = 256 };

struct slot {
    pid_t pid; /* 0: free */
    size_t task;
};

struct running {
    const struct plm_rows_pool *pool;
    struct slot slot[JOBS_MOST];
    int jobs, busy;
};

static void progress_show(const struct running *r)
{
    if (r->pool->progress)
        r->pool->progress(r->pool->context);
}

static int task_start(struct running *r, size_t task, struct plm_error *error)
{
    struct slot *slot = r->slot;
    int failure;
    while (slot->pid)
        slot++;
    slot->task = task;
    slot->pid = r->pool->start(r->pool->context, task, &failure);
    if (slot->pid < 0) {
        slot->pid = 0;
        return plm_fail(error, PLM_EIO, "cannot start a process: %s", strerror(failure));
    }
    r->busy++;
    return 0;
}

static int task_end(struct running *r, size_t task, int wait_status, const struct rusage *usage,
                    struct plm_error *error)
{
    if (WIFSIGNALED(wait_status) && (WTERMSIG(wait_status) == SIGINT || WTERMSIG(wait_status) == SIGTERM))
        return plm_fail(error, PLM_EIO, "interrupted; %s", r->pool->again);
    return r->pool->end(r->pool->context, task, wait_status, usage, error);
}

static int task_reap(struct running *r, struct plm_error *error)
{
    const struct timespec pause = {0, 200 * 1000 * 1000};
    struct rusage usage;
    int status;
    for (;;) {
        pid_t pid = wait4(-1, &status, r->pool->progress ? WNOHANG : 0, &usage);
        if (pid < 0 && errno != EINTR)
            return plm_fail(error, PLM_EIO, "cannot wait for a run: %s", strerror(errno));
        if (pid > 0)
            for (int i = 0; i < r->jobs; i++)
                if (r->slot[i].pid == pid) {
                    r->slot[i].pid = 0;
                    r->busy--;
                    return task_end(r, r->slot[i].task, status, &usage, error);
                }
        if (pid == 0) {
            progress_show(r);
            nanosleep(&pause, NULL);
        }
    }
}

static void tasks_stop(struct running *r)
{
    for (int i = 0; i < r->jobs; i++)
        if (r->slot[i].pid > 0)
            kill(r->slot[i].pid, SIGTERM);
    for (int i = 0; i < r->jobs; i++)
        if (r->slot[i].pid > 0)
            plm_child_wait(r->slot[i].pid, NULL, NULL);
}

int plm_rows_pool_run(const struct plm_rows_pool *pool, struct plm_error *error)
{
    struct running r = {.pool = pool};
    int status = 0;
    size_t task;
    r.jobs = pool->jobs < 1 ? 1 : pool->jobs > JOBS_MOST ? JOBS_MOST : pool->jobs;
    while (status == 0) {
        if (r.busy < r.jobs && pool->next(pool->context, &task))
            status = task_start(&r, task, error);
        else if (r.busy)
            status = task_reap(&r, error);
        else
            break;
        progress_show(&r);
    }
    if (status)
        tasks_stop(&r);
    return status;
}
