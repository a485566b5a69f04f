#include "base/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct crew {
    size_t tasks;
    plm_crew_work *work;
    void *context;
    atomic_size_t next, workers;
};

static void *worker_run(void *context)
{
    struct crew *c = context;
    size_t self = atomic_fetch_add(&c->workers, 1);
    for (size_t task; (task = atomic_fetch_add(&c->next, 1)) < c->tasks;)
        c->work(c->context, task, self);
    return NULL;
}

static void caller_run(struct crew *c)
{
    for (size_t task; (task = atomic_fetch_add(&c->next, 1)) < c->tasks;)
        c->work(c->context, task, 0);
}

void plm_crew_run(size_t tasks, plm_crew_work *work, void *context)
{
    struct crew c = {.tasks = tasks, .work = work, .context = context, .workers = 1};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t thread[PLM_CREW];
    size_t threads = 0;
    while ((long)threads + 1 < processors && threads + 1 < PLM_CREW && threads + 1 < tasks &&
           !pthread_create(&thread[threads], NULL, worker_run, &c))
        threads++;
    caller_run(&c);
    for (size_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}
