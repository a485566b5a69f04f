/*
 * The locks of everything that runs in the user's process, and their order.
 *
 * The one rule: a thread that holds a lock takes only locks of a later row. So nobody can wait in a circle.
 *
 *   rank                 variable                  what it guards                             taken while it is held
 *   -------------------  ------------------------  -----------------------------------------  -------------------------
 *   the loader's own     (glibc)                   dlopen, dlsym, dladdr; held around the      any: constructors register
 *                                                  constructors of libraries                   kernels
 *   fork                 lock.c                    the list of all locks; a fork holds all     all of these, in this order
 *   PLM_LOCK_LIBRARIES   device/loaded.c           the walk over the loaded libraries          that of dl_iterate_phdr
 *   PLM_LOCK_STEPS       device/hook_api.c         peaks of the last step                      -
 *   PLM_LOCK_CAPTURES    device/capture.c          captures, and which streams are in one      -
 *   PLM_LOCK_POOLS       device/pool.c             stream-ordered pools                        space, record
 *   PLM_LOCK_SPACE       device/space.c, and       address ranges, owners of pages, accounts   record
 *                        memory.c, vmm.c           of cards, physical handles, mappings
 *   PLM_LOCK_PROMISES    device/promised.c         memory whose bytes will come               -
 *   PLM_LOCK_HOST        device/host.c             pinned, registered and managed ranges       -
 *   PLM_LOCK_FOOTPRINT   device/footprint.c        what the context of each card holds         record
 *   PLM_LOCK_MODULES     device/module.c           kernels of modules, by name                 -
 *   PLM_LOCK_CONTEXTS    device/context.c          numbers of contexts                         record
 *   PLM_LOCK_SHIM        cuda/context.c,           one table each; a shim calls nothing but    -
 *                        cuda/module.c,            the C library while it holds its lock, so
 *                        cudart/registration.c,    all shims share a rank
 *                        cudnn/handle.c,
 *                        cufft/plan.c,
 *                        cupti/activity.c
 *   the record           record/pen.c              `entering`, then `texts`: the last of all   -
 *
 * Further:
 * - Nobody calls out of a room while holding its lock, except down to the record: its events must stand in the order
 *   in which things happened. The record calls nobody.
 * - Nobody calls the loader (dlopen, dlsym, dladdr) while holding a lock or inside pthread_once: its lock is the first.
 *   What pthread_once runs (device.c, software.c, in_use.c, nvml/devices.c, writer.c) takes locks of the record at most, and
 *   that of the libraries.
 *   dl_iterate_phdr has a lock of its own, which the loader never holds around a constructor, and which a fork leaves as it
 *   is: only plm_libraries_each() calls it.
 * - No callback of the user's and no callback of a shim is called with a lock held.
 * - A lock joins the list of all when its library is loaded. Libraries with a lock are never unloaded (-z nodelete).
 *   Around fork() every lock is held, so a child finds what they guard whole, and the locks free.
 *   The record's two are not in the list: a child starts its record anew (writer.c, after_fork).
 *
 * Any thread. Never fails. In checked builds (PLM_CHECKED) a lock that is taken out of order ends the process at once;
 * otherwise taking one is pthread_mutex_lock and nothing more.
 */
#ifndef PLM_LOCK_H
#define PLM_LOCK_H

#include <pthread.h>

enum plm_lock_rank {
    PLM_LOCK_LIBRARIES,
    PLM_LOCK_STEPS,
    PLM_LOCK_CAPTURES,
    PLM_LOCK_POOLS,
    PLM_LOCK_SPACE,
    PLM_LOCK_PROMISES,
    PLM_LOCK_HOST,
    PLM_LOCK_FOOTPRINT,
    PLM_LOCK_MODULES,
    PLM_LOCK_CONTEXTS,
    PLM_LOCK_SHIM,
    PLM_LOCK_RANKS
};

struct plm_lock {
    pthread_mutex_t mutex;
    enum plm_lock_rank rank;
    struct plm_lock *next; /* in the list of all, by rank */
};

/* Behind the definition of a lock: `static struct plm_lock x_lock = PLM_LOCK_INIT(RANK); PLM_LOCK_JOINS(x_lock)`. */
#define PLM_LOCK_INIT(rank) {PTHREAD_MUTEX_INITIALIZER, rank, NULL}
#define PLM_LOCK_JOINS(lock)                                    \
    __attribute__((constructor)) static void lock##_joins(void) \
    {                                                           \
        plm_lock_join(&(lock));                                 \
    }

void plm_lock_join(struct plm_lock *lock);

#ifdef PLM_CHECKED
void plm_lock_check(const struct plm_lock *lock, int taken);
/* The caller is about to call out: it holds no lock. */
void plm_lock_check_none(void);
#else
static inline void plm_lock_check_none(void)
{
}
static inline void plm_lock_check(const struct plm_lock *lock, int taken)
{
    (void)lock, (void)taken;
}
#endif

static inline void plm_lock_take(struct plm_lock *lock)
{
    plm_lock_check(lock, 1);
    pthread_mutex_lock(&lock->mutex);
}

static inline void plm_lock_give(struct plm_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
    plm_lock_check(lock, 0);
}

#endif
