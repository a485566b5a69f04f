/*
 * Tasks in child processes, several at a time. The caller numbers the tasks; what a task is, how it is started and what
 * is made of its end are functions of the caller. One thread. After a failure nothing goes on: what still runs is
 * ended.
 */
#ifndef PLM_ROWS_POOL_H
#define PLM_ROWS_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct plm_error;
struct rusage;

struct plm_rows_pool {
    int jobs; /* at the same time */
    void *context;
    /* A task that can be started now; false: none. One that was given is not given again. */
    bool (*next)(void *context, size_t *task);
    /* As plm_child_start(). */
    pid_t (*start)(void *context, size_t task, int *failure);
    int (*end)(void *context, size_t task, int wait_status, const struct rusage *usage, struct plm_error *error);
    const char *again; /* for the sentence about an interruption: how to go on */
    void (*progress)(void *context); /* after each change, and five times a second; NULL: nobody looks */
};

int plm_rows_pool_run(const struct plm_rows_pool *pool, struct plm_error *error);

#endif
