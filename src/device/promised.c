#include "device/promised.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/internal.h"
#include "device/known.h"
#include "device/lock.h"
#include "device/values.h"

enum { OLDEST = 4 }; /* that are looked at again with each new one */

struct item {
    struct plm_promise promise; /* the first member: keep() is given it, and gives it back */
    bool busy;                  /* some thread keeps it */
    bool stale;                 /* meanwhile, something else is there */
    struct item *next;
};

static struct plm_lock promises_lock = PLM_LOCK_INIT(PLM_LOCK_PROMISES);
PLM_LOCK_JOINS(promises_lock)
static pthread_cond_t kept = PTHREAD_COND_INITIALIZER;
static struct item *first, **last = &first; /* the oldest first */
static _Atomic unsigned count;

/* Those who were keeping promises are not in the child, nor those who waited for them: whoever told them would wait for
   their answer. */
static void child_forgets(void)
{
    kept = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    first = NULL;
    last = &first;
    atomic_store(&count, 0);
}

__attribute__((constructor)) static void promises_start(void)
{
    pthread_atfork(NULL, NULL, child_forgets);
}

static void item_unlink(struct item *item)
{
    struct item **at = &first;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    if (last == &item->next)
        last = at;
    atomic_fetch_sub(&count, 1);
}

static void item_free(struct item *item)
{
    free(item->promise.context);
    free(item);
}

/* With the lock held, which it gives meanwhile. Whether the promise is gone. */
static bool item_keep(struct item *item, bool patient)
{
    bool done;
    item->busy = true;
    plm_lock_give(&promises_lock);
    done = item->promise.keep(&item->promise, patient);
    plm_lock_take(&promises_lock);
    item->busy = false;
    pthread_cond_broadcast(&kept);
    if (!done && !item->stale)
        return false;
    item_unlink(item);
    item_free(item);
    return true;
}

/* Whoever is ahead of the others is so for a moment only. */
static void keep_oldest(void)
{
    for (int i = 0; i < OLDEST && first && !first->busy; i++)
        if (!item_keep(first, false))
            return;
}

void plm_promise_add(const struct plm_promise *promise)
{
    struct item *item = calloc(1, sizeof *item);
    plm_promises_forget(promise->address, promise->bytes);
    if (!item) {
        free(promise->context);
        return;
    }
    item->promise = *promise;
    plm_lock_take(&promises_lock);
    *last = item;
    last = &item->next;
    atomic_fetch_add(&count, 1);
    keep_oldest();
    plm_lock_give(&promises_lock);
}

void plm_promise_write(const struct plm_promise *promise, uint64_t offset, const void *bytes, uint64_t size)
{
    const struct item *item = (const struct item *)promise;
    const uint64_t address = promise->address + offset;
    if (offset + size > promise->bytes)
        return;
    plm_lock_take(&promises_lock);
    if (!item->stale && plm_memory_backed(address, size)) {
        memcpy((void *)address, bytes, size);
        plm_memory_written(address, size, promise->launches);
        if (plm_values_active())
            plm_known_set(address, size);
    }
    plm_lock_give(&promises_lock);
}

/* With the lock held: the oldest that overlaps. */
static struct item *item_find(uint64_t address, uint64_t bytes)
{
    for (struct item *item = first; item; item = item->next)
        if (!item->stale && item->promise.address < address + bytes &&
            address < item->promise.address + item->promise.bytes)
            return item;
    return NULL;
}

static void wait_kept(void)
{
    plm_lock_check(&promises_lock, 0);
    pthread_cond_wait(&kept, &promises_lock.mutex);
    plm_lock_check(&promises_lock, 1);
}

static bool any(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) != 0;
}

void plm_promises_settle(uint64_t address, uint64_t bytes)
{
    if (!any())
        return;
    plm_lock_take(&promises_lock);
    for (struct item *item; (item = item_find(address, bytes));) {
        if (item->busy)
            wait_kept();
        else if (!item_keep(item, true))
            break;
    }
    plm_lock_give(&promises_lock);
}

void plm_promises_forget(uint64_t address, uint64_t bytes)
{
    if (!any())
        return;
    plm_lock_take(&promises_lock);
    for (struct item *item; (item = item_find(address, bytes));) {
        item->stale = true; /* whoever keeps it frees it */
        if (item->busy)
            continue;
        item_unlink(item);
        item_free(item);
    }
    plm_lock_give(&promises_lock);
}

static bool covers_all(uint64_t address, uint64_t bytes)
{
    bool all = true;
    plm_lock_take(&promises_lock);
    for (const struct item *i = first; i && all; i = i->next)
        if (!i->stale && i->promise.address < address + bytes && address < i->promise.address + i->promise.bytes)
            all = address <= i->promise.address && i->promise.address + i->promise.bytes <= address + bytes;
    plm_lock_give(&promises_lock);
    return all;
}

void plm_promises_overwrite(uint64_t address, uint64_t bytes)
{
    if (any() && !covers_all(address, bytes))
        plm_promises_settle(address, bytes);
    plm_promises_forget(address, bytes);
}
