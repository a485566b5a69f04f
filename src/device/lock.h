/*
 * The locks of everything that runs in the user's process. locks.def has them in their order: what each guards, and
 * which others a thread may take while it holds it.
 *
 * - The loader's own lock (dlopen, dlsym, dladdr) comes before all: it is held around the constructors of libraries,
 *   which register kernels. So nobody calls the loader while holding a lock or inside pthread_once. dl_iterate_phdr
 *   has a lock of its own, which the loader never holds around a constructor, and which a fork leaves as it is: only
 *   plm_libraries_each() calls it.
 * - The record's locks come after all: its events must stand in the order in which things happened, so they are
 *   written with a lock held. The record calls nobody. Nobody calls out of a room otherwise while holding its lock.
 * - No callback of the user's and no callback of a shim is called with a lock held.
 * - A lock joins the list of all when its library is loaded. Libraries with a lock are never unloaded (-z nodelete).
 *   Around fork() every lock is held, so a child finds what they guard whole, and the locks free. What else can be
 *   waited for is made anew in the child: its record (writer.c), and who keeps a promise (promised.c).
 *
 * Any thread. Never fails. In checked builds (PLM_CHECKED) a lock that is taken while one is held whose row does not
 * name it ends the process at once; otherwise taking one is pthread_mutex_lock and nothing more.
 */
#ifndef PLM_LOCK_H
#define PLM_LOCK_H

#include <pthread.h>
#include <stdint.h>

enum plm_lock_rank {
#define PLM_LOCK_ROW(rank, files, guards, taken) PLM_LOCK_##rank,
#include "device/locks.def"
    PLM_LOCK_RANKS
};
#define PLM_LOCK_BIT(rank) (1u << PLM_LOCK_##rank)

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
/* Which ranks may be taken under this one, and which were in this process: a bit for each. */
uint32_t plm_lock_allowed(enum plm_lock_rank rank);
uint32_t plm_lock_seen(enum plm_lock_rank rank);
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
