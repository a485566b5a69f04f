#include "device/lock.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;
static struct plm_lock *all;

/* A fork copies memory as other threads leave it at that moment, so it waits until none is in the middle of a change. */
static void before_fork(void)
{
    pthread_mutex_lock(&joining);
    for (struct plm_lock *l = all; l; l = l->next)
        pthread_mutex_lock(&l->mutex);
}

static void after_fork(void)
{
    for (struct plm_lock *l = all; l; l = l->next)
        pthread_mutex_unlock(&l->mutex);
    pthread_mutex_unlock(&joining);
}

void plm_lock_join(struct plm_lock *lock)
{
    struct plm_lock **link = &all;
    pthread_mutex_lock(&joining);
    if (!all)
        pthread_atfork(before_fork, after_fork, after_fork);
    while (*link && (*link)->rank <= lock->rank)
        link = &(*link)->next;
    lock->next = *link;
    *link = lock;
    pthread_mutex_unlock(&joining);
}

#ifdef PLM_CHECKED
/* A bit for each rank that the calling thread holds. */
static __thread uint32_t held __attribute__((tls_model("initial-exec")));
_Static_assert(PLM_LOCK_RANKS < 32, "a bit for each");

void plm_lock_check(const struct plm_lock *lock, int taken)
{
    uint32_t bit = 1u << lock->rank;
    if (taken ? held >= bit : !(held & bit))
        abort(); /* out of order, or given back without being held */
    held ^= bit;
}

void plm_lock_check_none(void)
{
    if (held)
        abort();
}
#endif
