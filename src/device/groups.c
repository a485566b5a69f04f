#include "device/groups.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "record/writer.h"
#include "world/messages.h"

#define EXPORT __attribute__((visibility("default")))

/* Part of the contract with hook/plimsoll_hook, as hook_api.c. A group is told before it is made, and again when that is
   done, by the same thread: communicators that are made with it are its own. */
EXPORT void plm_hook_group(const char *name, const char *ranks, const uint32_t *rank, uint32_t size, uint32_t place);
EXPORT void plm_hook_group_made(uint64_t options);
EXPORT void plm_hook_barrier(void);
EXPORT uint64_t plm_hook_replayed(void);
EXPORT int plm_hook_replays(void);

_Atomic(plm_barrier_function *) plm_group_barrier;
_Atomic uint64_t plm_group_replayed;

static _Atomic(struct plm_group *) groups; /* the newest first */
static _Thread_local struct plm_group *making;

/* All in one piece: the structure, the ranks, both texts. */
static struct plm_group *group_new(const char *name, const char *ranks, const uint32_t *rank, uint32_t size)
{
    size_t name_bytes = strlen(name) + 1, ranks_bytes = strlen(ranks) + 1;
    struct plm_group *group = calloc(1, sizeof *group + (size_t)size * sizeof *rank + name_bytes + ranks_bytes);
    uint32_t *members;
    char *texts;
    if (!group)
        return NULL;
    members = (uint32_t *)(group + 1);
    texts = (char *)(members + size);
    group->rank = memcpy(members, rank, (size_t)size * sizeof *rank);
    group->name = memcpy(texts, name, name_bytes);
    group->ranks = memcpy(texts + name_bytes, ranks, ranks_bytes);
    return group;
}

static void group_publish(struct plm_group *group)
{
    group->next = atomic_load_explicit(&groups, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&groups, &group->next, group, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

void plm_hook_group(const char *name, const char *ranks, const uint32_t *rank, uint32_t size, uint32_t place)
{
    struct plm_group *group;
    plm_put_group(0, &(struct plm_ev_group){plm_record_text(name), plm_record_text(ranks), size, place});
    if (place >= size || size > INT32_MAX)
        return;
    group = group_new(name, ranks, rank, size);
    if (!group)
        return;
    group->size = (int)size;
    group->place = (int)place;
    group_publish(group);
    making = group;
}

void plm_hook_group_made(uint64_t options)
{
    if (making)
        atomic_store_explicit(&making->options, options, memory_order_relaxed);
    making = NULL;
}

void plm_hook_barrier(void)
{
    plm_barrier_function *wait = atomic_load(&plm_group_barrier);
    if (wait)
        wait();
}

const struct plm_group *plm_group_making(void)
{
    return making;
}

static const struct plm_group *group_only(uint64_t options, int size, int place)
{
    const struct plm_group *found = NULL;
    for (const struct plm_group *g = atomic_load_explicit(&groups, memory_order_acquire); g; g = g->next) {
        if (g->size != size || g->place != place || (options && g->options != options))
            continue;
        if (found)
            return NULL;
        found = g;
    }
    return found;
}

/* Some communicators connect two members of a group only: these are of another size. */
static bool is_known(uint64_t options)
{
    const struct plm_group *g = atomic_load_explicit(&groups, memory_order_acquire);
    while (g && g->options != options)
        g = g->next;
    return g != NULL;
}

const struct plm_group *plm_group_find(const void *options, int size, int place)
{
    const bool known = options && is_known((uintptr_t)options);
    return group_only(known ? (uintptr_t)options : 0, size, place);
}

uint64_t plm_hook_replayed(void)
{
    return atomic_load(&plm_group_replayed);
}

int plm_hook_replays(void)
{
    return plm_messages_any();
}
