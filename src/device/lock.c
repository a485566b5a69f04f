#include "device/lock.h"

#include <stdatomic.h>
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

#define PLM_LOCK_ROW(rank, files, guards, taken) \
    _Static_assert(((taken) & (2 * PLM_LOCK_BIT(rank) - 1)) == 0, #rank " is held only before those of later rows");
#include "device/locks.def"
_Static_assert(PLM_LOCK_RANKS < 32, "a bit for each");

#ifdef PLM_CHECKED
static const uint32_t allowed[PLM_LOCK_RANKS] = {
#define PLM_LOCK_ROW(rank, files, guards, taken) [PLM_LOCK_##rank] = (taken),
#include "device/locks.def"
};
static _Atomic uint32_t seen[PLM_LOCK_RANKS];
/* A bit for each rank that the calling thread holds. */
static __thread uint32_t held __attribute__((tls_model("initial-exec")));

void plm_lock_check(const struct plm_lock *lock, int taken)
{
    const uint32_t bit = 1u << lock->rank;
    if (!taken && !(held & bit))
        abort(); /* given back without being held */
    for (int i = 0; taken && i < PLM_LOCK_RANKS; i++) {
        if (!(held & 1u << i))
            continue;
        if (!(allowed[i] & bit))
            abort();
        atomic_fetch_or_explicit(&seen[i], bit, memory_order_relaxed);
    }
    held ^= bit;
}

void plm_lock_check_none(void)
{
    if (held)
        abort();
}

uint32_t plm_lock_allowed(enum plm_lock_rank rank)
{
    return allowed[rank];
}

uint32_t plm_lock_seen(enum plm_lock_rank rank)
{
    return atomic_load_explicit(&seen[rank], memory_order_relaxed);
}
#endif
