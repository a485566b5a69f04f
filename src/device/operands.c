#include "device/operands.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "device/context.h"
#include "device/device.h"
#include "device/tensors.h"
#include "record/writer.h"

enum { REMEMBERED = 4096, NEAR = 8, WRITTEN = 1024 };
enum { LOOK_AGAIN = 16 }; /* passes: an operator may work on more from call to call and launch the same */

struct remembered {
    uint64_t launch; /* 0: free */
    uint64_t hash;   /* of the operands */
    struct plm_ev_operands operands;
};

struct written { /* what the record has last of a context */
    uint32_t context; /* + 1; 0: free */
    uint64_t hash;
};

struct thread {
    uint32_t generation;
    unsigned told_at; /* frames + 1 at that moment; 0: nothing is told */
    struct remembered told;
    struct plm_ev_operands slot[PLM_CONTEXT_FRAMES]; /* of the operators that the thread is in */
    struct remembered launch[REMEMBERED];
    struct written written[WRITTEN];
};

static __thread struct thread *mine __attribute__((tls_model("initial-exec")));
static pthread_key_t ending;

static struct {
    _Atomic bool ready;
    _Atomic bool looking;
    _Atomic bool whole;         /* looked at all of the pass that is under way */
    _Atomic uint32_t news;      /* launches in it that were new or had become others */
    _Atomic uint32_t passes;
    _Atomic uint32_t generation; /* of the process: the record of a forked child is its own */
    atomic_flag turning;
} all = {.generation = 1, .turning = ATOMIC_FLAG_INIT};

_Static_assert((REMEMBERED & (REMEMBERED - 1)) == 0 && (WRITTEN & (WRITTEN - 1)) == 0, "their slots are masked");

static void after_fork(void)
{
    atomic_fetch_add_explicit(&all.generation, 1, memory_order_relaxed);
    atomic_flag_clear(&all.turning); /* who turned the switch is not in the child */
}

static void thread_ends(void *thread)
{
    mine = NULL;
    munmap(thread, sizeof(struct thread));
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, after_fork);
    pthread_key_create(&ending, thread_ends);
}

/* NULL: no memory; then the thread has no sizes. */
static struct thread *here(void)
{
    const uint32_t generation = atomic_load_explicit(&all.generation, memory_order_relaxed);
    struct thread *t = mine;
    if (t && t->generation == generation)
        return t;
    if (t) /* of the process before a fork; to clear it, as calloc() may do, would copy its pages */
        munmap(t, sizeof *t);
    t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    t = t == MAP_FAILED ? NULL : t;
    if (t)
        t->generation = generation;
    pthread_setspecific(ending, t);
    mine = t;
    return t;
}

static bool ready(void)
{
    return atomic_load_explicit(&all.ready, memory_order_acquire);
}

/* ---- looking ---- */

/* Who comes while another turns the switch leaves it to the next occasion. */
static void look(bool on)
{
    if (atomic_load_explicit(&all.looking, memory_order_relaxed) == on || atomic_flag_test_and_set(&all.turning))
        return;
    plm_observe_looking(on);
    atomic_store_explicit(&all.looking, on, memory_order_relaxed);
    atomic_flag_clear(&all.turning);
}

void plm_operands_start(void)
{
    if (!plm_tensors_known())
        return;
    atomic_store_explicit(&all.looking, true, memory_order_relaxed);
    atomic_store_explicit(&all.ready, true, memory_order_release);
}

void plm_operands_pass(bool other)
{
    const bool quiet = !atomic_exchange_explicit(&all.news, 0, memory_order_relaxed);
    const bool whole = atomic_load_explicit(&all.whole, memory_order_relaxed);
    if (!ready())
        return;
    if (other || atomic_fetch_add_explicit(&all.passes, 1, memory_order_relaxed) % LOOK_AGAIN == 0)
        look(true);
    else if (whole && quiet)
        look(false);
    atomic_store_explicit(&all.whole, atomic_load_explicit(&all.looking, memory_order_relaxed), memory_order_relaxed);
}

bool plm_operands_looking(void)
{
    return atomic_load_explicit(&all.looking, memory_order_relaxed);
}

static void note_news(void)
{
    atomic_fetch_add_explicit(&all.news, 1, memory_order_relaxed);
}

/* ---- what launches work on ---- */

void plm_operands_enter(const void *function)
{
    struct thread *t = ready() ? here() : NULL;
    const unsigned frame = t ? plm_context_takes_operands(function) : 0;
    if (!frame)
        return;
    t->slot[frame - 1] = (struct plm_ev_operands){0};
    plm_tensors_add_inputs(function, &t->slot[frame - 1]);
}

static uint64_t hash_of(const struct plm_ev_operands *o)
{
    uint64_t word, h = 0x9e3779b97f4a7c15ull;
    for (size_t at = 0; at < sizeof *o; at += sizeof word) {
        memcpy(&word, (const char *)o + at, sizeof word);
        h = (h ^ word) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h;
}
_Static_assert(sizeof(struct plm_ev_operands) % 8 == 0, "is hashed by words");

void plm_operands_tell(const uint64_t *objects, unsigned count)
{
    struct thread *t = ready() ? here() : NULL;
    if (!t)
        return;
    t->told_at = count ? plm_context_frames() + 1 : 0;
    t->told.operands = (struct plm_ev_operands){0};
    for (unsigned i = 0; i < count; i++)
        plm_tensors_add(objects[i], &t->told.operands);
    t->told.hash = hash_of(&t->told.operands);
}

/* The place of a launch: its own, a free one, or that of another one that is forgotten. */
static struct remembered *place_of(struct thread *t, uint64_t launch)
{
    struct remembered *free_place = NULL;
    for (unsigned i = 0; i < NEAR; i++) {
        struct remembered *r = &t->launch[(launch + i) & (REMEMBERED - 1)];
        if (r->launch == launch)
            return r;
        if (!r->launch && !free_place)
            free_place = r;
    }
    return free_place ? free_place : &t->launch[launch & (REMEMBERED - 1)];
}

static void remember(struct remembered *r, uint64_t launch, const struct plm_ev_operands *now)
{
    const uint64_t hash = hash_of(now);
    if (r->launch == launch && r->hash == hash)
        return;
    note_news();
    *r = (struct remembered){launch, hash, *now};
}

static const struct remembered nothing;

/* `nothing`: no operator runs that could have any, or they are not known. */
static const struct remembered *find(struct thread *t, uint64_t launch)
{
    const int frame = plm_context_operands();
    struct remembered *r;
    if (frame < 0)
        return &nothing;
    r = place_of(t, launch);
    if (frame)
        remember(r, launch, &t->slot[frame - 1]);
    else if (r->launch != launch) {
        note_news();
        look(true);
        return &nothing;
    }
    return r;
}

/* ---- the record ---- */

static void operands_write(struct thread *t, uint32_t context, uint64_t hash, const struct plm_ev_operands *operands)
{
    struct written *w = &t->written[context & (WRITTEN - 1)];
    struct plm_ev_operands event = *operands;
    if (!event.tensors && !w->context)
        return; /* nothing was said that does not hold any more */
    *w = (struct written){context + 1, hash};
    event.context = context;
    plm_put_operands(plm_device_current(), &event);
}

void plm_operands_launch(uint32_t context, uint64_t launch)
{
    struct thread *t = ready() ? here() : NULL;
    const struct written *w;
    const struct remembered *r;
    if (!t)
        return;
    r = t->told_at && t->told_at == plm_context_frames() + 1 ? &t->told : find(t, launch | 1);
    w = &t->written[context & (WRITTEN - 1)];
    if (w->context != context + 1 || w->hash != r->hash)
        operands_write(t, context, r->hash, &r->operands);
}
