#include "device/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/lock.h"
#include "device/python_stack.h"
#include "record/writer.h"

enum { FRAMES = PLM_CONTEXT_FRAMES, NAMES = 512, CACHED = 512, CONTEXTS = 1 << 16 };

enum kind { KIND_MODULE, KIND_PHASE, KIND_OPERATOR, KIND_NODE, KIND_ENGINE };

/* A frame holds the whole answer for what happens in it, so that nothing has to be searched for. */
struct frame {
    const void *key;
    uint32_t module, outer, inner; /* texts */
    uint32_t context;              /* 0: not looked up yet */
    uint8_t kind, phase;
    uint8_t before;                /* phase that a module or phase took the place of */
    bool named;                    /* outer is set */
    bool in_module;
    bool all;
    bool lent;                     /* it only makes room: what runs in it works for the operator around it */
    uint16_t operands;             /* frame whose operands these are, from 1; 0: not known */
    uint32_t stack;                /* Python stack that this works for; 0: the thread's own is all of it */
    unsigned calls;                /* of the thread's own that are part of it: those that started the backward pass */
};

/* Per-thread memory of names and contexts: what repeats, and almost everything does, takes no lock. */
struct name {
    uint64_t hash;
    uint32_t text;
    bool allocates, all;
};

struct where {
    uint32_t module, outer, inner, phase;
    uint32_t id;
};

struct thread {
    unsigned depth;      /* frames pushed; those beyond FRAMES are only counted */
    unsigned program;    /* modules and phases among them */
    unsigned nested;     /* backward passes that were started from inside one, on this thread */
    int64_t traced;      /* autograd nodes before this number have their Python stack in the journal */
    uint32_t generation;
    struct frame frame[FRAMES];
    struct name name[NAMES];
    struct where cached[CACHED];
};

/* Too large for thread-local storage: programs make threads with small stacks, which hold that too. */
static __thread struct thread *mine __attribute__((tls_model("initial-exec")));
static pthread_key_t ending;

static struct {
    uint32_t generation;                    /* of the process: a forked child numbers anew */
    uint32_t count;
    struct where slot[CONTEXTS];
    _Atomic uint32_t ambient;               /* phase outside all frames */
    _Atomic uint32_t marked;                /* phase that the record says the process is in */
    _Atomic uint32_t loss;                  /* text "(loss)", once there is one */
    _Atomic(struct plm_journal *) backward; /* of the thread that started the backward pass */
    _Atomic uint32_t started;               /* Python stack that did */
} all = {.generation = 1};
static struct plm_lock contexts_lock = PLM_LOCK_INIT(PLM_LOCK_CONTEXTS);
PLM_LOCK_JOINS(contexts_lock)

_Static_assert((NAMES & (NAMES - 1)) == 0 && (CACHED & (CACHED - 1)) == 0, "powers of two: their slots are masked");

static void after_fork(void)
{
    all.generation++;
    all.loss = 0;
    all.started = 0;
    all.marked = PLM_PHASE_OTHER; /* its record begins there */
    for (unsigned i = 0; all.count && i < CONTEXTS; i++) /* none: so many pages need not be looked at */
        if (all.slot[i].id)
            all.slot[i].id = 0;
    all.count = 0;
}

static void thread_ends(void *thread)
{
    mine = NULL;
    free(thread);
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, after_fork);
    pthread_key_create(&ending, thread_ends);
}

/* NULL: no memory; then nothing is known about this thread. */
static struct thread *here(void)
{
    struct thread *t = mine;
    if (t && t->generation == all.generation)
        return t;
    free(t); /* of the process before a fork; to clear it would copy its pages */
    t = calloc(1, sizeof *t);
    if (t)
        t->generation = all.generation;
    pthread_setspecific(ending, t);
    mine = t;
    return t;
}

/* ---- names ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t h = 14695981039346656037ull;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211ull;
    return h | 1;
}

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Operators that only make room say nothing about what the room is for. */
static bool allocates(const char *name)
{
    return starts(name, "aten::empty") || starts(name, "aten::new_empty") || starts(name, "aten::resize_");
}

/* Names of nodes are built for the call, so their address says nothing. */
static const struct name *name_of(struct thread *t, const char *text)
{
    uint64_t h = hash_of(text);
    struct name *n = &t->name[h >> 32 & (NAMES - 1)];
    if (n->hash != h)
        *n = (struct name){h, plm_record_text(text), allocates(text), !strcmp(text, "aten::all")};
    return n;
}

/* ---- contexts ---- */

/* Not base/map: nothing is allocated in the user's process for a context. */
static uint32_t mix(const struct where *w)
{
    uint64_t h = (w->module * 0x9e3779b97f4a7c15ull) ^ (w->outer * 0xc2b2ae3d27d4eb4full) ^
                 (w->inner * 0x165667b19e3779f9ull) ^ (w->phase * 0x27d4eb2f165667c5ull);
    return (uint32_t)(h >> 32 ^ h);
}

static bool same(const struct where *a, const struct where *b)
{
    return a->module == b->module && a->outer == b->outer && a->inner == b->inner && a->phase == b->phase;
}

static void describe(const struct where *w)
{
    plm_put_context(0, &(struct plm_ev_context){w->id, w->module, w->outer, w->inner, w->phase, 0});
}

static uint32_t intern(const struct where *w)
{
    uint32_t id = 0;

    plm_lock_take(&contexts_lock);
    for (uint32_t at = mix(w);; at++) {
        struct where *slot = &all.slot[at % CONTEXTS];
        if (!slot->id && all.count < CONTEXTS / 2) {
            *slot = *w;
            slot->id = ++all.count;
            describe(slot);
        }
        if (slot->id && !same(slot, w))
            continue;
        id = slot->id; /* 0 when there is no room: the record does not say where */
        break;
    }
    plm_lock_give(&contexts_lock);
    return id;
}

static uint32_t number_of(struct thread *t, struct where w)
{
    struct where *cached = &t->cached[mix(&w) % CACHED];
    if (cached->id && same(cached, &w))
        return cached->id;
    w.id = intern(&w);
    *cached = w;
    return w.id;
}

static enum plm_phase ambient(void)
{
    return (enum plm_phase)atomic_load_explicit(&all.ambient, memory_order_relaxed);
}

/* What a program computes between model and backward pass without a module has a name too. */
static uint32_t ambient_module(void)
{
    return ambient() == PLM_PHASE_LOSS ? atomic_load_explicit(&all.loss, memory_order_relaxed) : 0;
}

static struct frame *top(struct thread *t)
{
    if (!t || !t->depth)
        return NULL;
    return &t->frame[(t->depth < FRAMES ? t->depth : FRAMES) - 1];
}

uint32_t plm_context_now(void)
{
    struct thread *t = here();
    struct frame *f = top(t);
    if (!f) {
        enum plm_phase phase = ambient();
        return t && phase ? number_of(t, (struct where){.module = ambient_module(), .phase = phase}) : 0;
    }
    if (!f->context)
        f->context = number_of(t, (struct where){f->module, f->outer, f->inner, f->phase, 0});
    return f->context;
}

enum plm_phase plm_context_phase(void)
{
    struct frame *f = top(here());
    return f ? (enum plm_phase)f->phase : ambient();
}

uint32_t plm_context_operator(void)
{
    struct frame *f = top(here());
    return f ? f->inner : 0;
}

bool plm_context_in_all(void)
{
    struct frame *f = top(here());
    return f && f->all;
}

unsigned plm_context_depth(void)
{
    struct thread *t = here();
    return t ? t->program : 0;
}

unsigned plm_context_frames(void)
{
    struct thread *t = here();
    return t ? t->depth : 0;
}

unsigned plm_context_takes_operands(const void *key)
{
    struct thread *t = here();
    struct frame *f = top(t);
    if (!f || t->depth > FRAMES || f->key != key || f->kind != KIND_OPERATOR || f->lent)
        return 0;
    f->operands = (uint16_t)t->depth;
    return t->depth;
}

int plm_context_operands(void)
{
    struct thread *t = here();
    const struct frame *f = top(t);
    return f && t->depth <= FRAMES && f->kind == KIND_OPERATOR ? f->operands : -1;
}

/* ---- frames ---- */

static struct frame *frame_push(struct thread *t, enum kind kind, const void *key)
{
    struct frame *below = top(t), *f;
    if (t->depth++ >= FRAMES)
        return NULL;
    f = &t->frame[t->depth - 1];
    if (below)
        *f = *below;
    else
        *f = (struct frame){.module = ambient_module(), .phase = (uint8_t)ambient()};
    f->before = f->phase;
    f->kind = (uint8_t)kind;
    f->key = key;
    f->context = 0;
    f->operands = 0;
    f->lent = false;
    return f;
}

static struct frame *push_program(struct thread *t, enum kind kind)
{
    struct frame *f = frame_push(t, kind, NULL);
    t->program++;
    if (f) {
        f->outer = f->inner = 0;
        f->named = f->all = false;
    }
    return f;
}

/* The record is told when the process as a whole passes into another phase. */
static void mark(enum plm_phase phase)
{
    if (atomic_exchange_explicit(&all.marked, (uint32_t)phase, memory_order_relaxed) != (uint32_t)phase)
        plm_put_phase(0, &(struct plm_ev_phase){.phase = (uint32_t)phase});
}

static bool in_backward(unsigned phase)
{
    return phase == PLM_PHASE_BACKWARD || phase == PLM_PHASE_RECOMPUTE;
}

static void note_module(uint32_t module)
{
    struct plm_journal *journal = plm_journal_of_thread();
    int64_t sequence = plm_observe_sequence();
    if (journal && sequence >= 0)
        plm_journal_note(journal, PLM_JOURNAL_MODULES, sequence, module);
}

uint32_t plm_context_stack(void)
{
    struct thread *t = plm_python_stack_wanted() ? here() : NULL;
    const struct frame *f = top(t);
    uint32_t stack;
    int64_t sequence;
    if (!t)
        return 0;
    stack = plm_python_stack(f ? f->stack : 0, f ? f->calls : 0, NULL);
    sequence = plm_observe_sequence();
    if (sequence > t->traced) { /* what is running has made the nodes since */
        struct plm_journal *journal = plm_journal_of_thread();
        if (journal)
            plm_journal_note(journal, PLM_JOURNAL_STACKS, t->traced, stack);
        t->traced = sequence;
    }
    return stack;
}

static uint32_t loss_module(void)
{
    uint32_t text = atomic_load_explicit(&all.loss, memory_order_relaxed);
    if (!text) {
        text = plm_record_text("(loss)");
        atomic_store_explicit(&all.loss, text, memory_order_relaxed);
    }
    return text;
}

static void record_module(uint32_t text, unsigned phase)
{
    plm_put_module(0, &(struct plm_ev_module){text, phase});
}

/* A module inside the backward pass runs again what a checkpoint did not keep. One without parameters,
   outside any model, is a loss or a transform of the data: it belongs to the phase around it. */
static enum plm_phase phase_of_module(enum plm_phase before, unsigned flags, bool outermost)
{
    if (flags & PLM_MODULE_KEEP_PHASE)
        return before;
    if (in_backward(before))
        return PLM_PHASE_RECOMPUTE;
    if (outermost ? flags & PLM_MODULE_NO_PARAMETERS : before == PLM_PHASE_LOSS)
        return before;
    return PLM_PHASE_FORWARD;
}

void plm_context_enter_module(uint32_t text, unsigned flags)
{
    struct thread *t = here();
    struct frame *f = t ? push_program(t, KIND_MODULE) : NULL;
    bool outermost = f && !f->in_module;
    if (!f)
        return;
    f->module = text;
    f->in_module = true;
    f->phase = (uint8_t)phase_of_module(f->before, flags, outermost);
    if (outermost && !in_backward(f->before))
        mark(f->phase);
    note_module(text);
    record_module(text, f->phase);
}

void plm_context_enter_phase(enum plm_phase phase)
{
    struct thread *t = here();
    struct frame *f = t ? push_program(t, KIND_PHASE) : NULL;
    if (!f)
        return;
    f->phase = (uint8_t)phase;
    f->module = 0;
    f->in_module = false;
    /* Which journal the nodes are looked up in: that of the thread that started the pass, which ran the
       forward pass too; under reentrant checkpointing, this thread's own. */
    if (phase == PLM_PHASE_BACKWARD)
        f->stack = plm_python_stack(f->stack, f->calls, &f->calls);
    if (phase == PLM_PHASE_BACKWARD && in_backward(f->before))
        t->nested++;
    else if (phase == PLM_PHASE_BACKWARD) {
        atomic_store_explicit(&all.started, f->stack, memory_order_relaxed);
        atomic_store_explicit(&all.backward, plm_journal_of_thread(), memory_order_release);
    }
    if (in_backward(f->before))
        return;
    mark(phase);
    if (t->program == 1)
        atomic_store_explicit(&all.ambient, (uint32_t)phase, memory_order_relaxed);
}

/* What a program does between the parts that can be seen: after the model ran, the loss; after the
   optimizer, the data of the next step. */
static enum plm_phase after(unsigned left, unsigned before)
{
    static const uint8_t next[PLM_PHASES] = {
        [PLM_PHASE_OTHER] = PLM_PHASE_OTHER,    [PLM_PHASE_DATA] = PLM_PHASE_DATA,
        [PLM_PHASE_FORWARD] = PLM_PHASE_LOSS,   [PLM_PHASE_LOSS] = PLM_PHASE_LOSS,
        [PLM_PHASE_BACKWARD] = PLM_PHASE_OTHER, [PLM_PHASE_OPTIMIZER] = PLM_PHASE_DATA,
        [PLM_PHASE_ZERO_GRAD] = PLM_PHASE_DATA,
    };
    return left == PLM_PHASE_ZERO_GRAD && before == PLM_PHASE_LOSS ? PLM_PHASE_LOSS : (enum plm_phase)next[left];
}

/* `around` is NULL, or the optimizer's frame: some programs run the whole step inside of it. */
static void pass_on(const struct frame *left, struct frame *around)
{
    enum plm_phase now = after(left->phase, left->before);
    if (in_backward(left->before))
        return; /* on a thread of the engine, or a checkpoint */
    if (around) {
        around->phase = (uint8_t)(now == PLM_PHASE_LOSS ? PLM_PHASE_LOSS : PLM_PHASE_OPTIMIZER);
        around->module = now == PLM_PHASE_LOSS ? loss_module() : 0;
        around->context = 0;
        now = (enum plm_phase)around->phase;
    } else
        atomic_store_explicit(&all.ambient, (uint32_t)now, memory_order_relaxed);
    mark(now);
}

/* Leaves the innermost module or phase; operators above it that never ended go with it. */
void plm_context_leave(void)
{
    struct thread *t = here();
    struct frame left, *f = top(t);
    if (!f || !t->program)
        return;
    t->program--;
    if (t->depth > FRAMES) {
        t->depth--;
        return;
    }
    for (; t->depth > 1 && f->kind > KIND_PHASE; f--)
        t->depth--;
    left = *f;
    t->depth--;
    f = top(t);
    if (left.kind == KIND_MODULE)
        record_module(0, left.phase);
    else if (left.phase == PLM_PHASE_BACKWARD && in_backward(left.before) && t->nested)
        t->nested--;
    if (!t->program)
        pass_on(&left, NULL);
    else if (f && f->kind == KIND_PHASE && (f->phase == PLM_PHASE_OPTIMIZER || f->phase == PLM_PHASE_LOSS))
        pass_on(&left, f);
    else if (left.kind == KIND_PHASE && !in_backward(left.before))
        mark((enum plm_phase)left.before);
    if (left.kind == KIND_MODULE)
        note_module(f ? f->module : loss_module());
}

/* The engine's own bracket around a node, with what it adds up after it. */
static void enter_engine(struct thread *t, const void *key)
{
    struct frame *f = frame_push(t, KIND_ENGINE, key);
    if (f && !in_backward(f->phase))
        f->phase = PLM_PHASE_BACKWARD;
    if (f && t->depth == 1) /* a thread of the engine's: it works for who started the pass */
        f->stack = atomic_load_explicit(&all.started, memory_order_relaxed);
}

void plm_context_enter_operator(const void *key, const char *text)
{
    struct thread *t = here();
    const struct name *n;
    struct frame *f;
    if (!t)
        return;
    if (starts(text, "autograd::engine::")) {
        enter_engine(t, key);
        return;
    }
    f = frame_push(t, KIND_OPERATOR, key);
    if (!f)
        return;
    n = name_of(t, text);
    if (!f->named) {
        f->outer = f->inner = n->text;
        f->named = true;
    } else if (!n->allocates)
        f->inner = n->text;
    else if (t->depth > 1) {
        f->lent = true;
        f->operands = t->frame[t->depth - 2].operands;
    }
    f->all |= n->all;
}

void plm_context_enter_node(const void *key, const char *text, int64_t sequence)
{
    struct thread *t = here();
    struct frame *f = t ? frame_push(t, KIND_NODE, key) : NULL;
    const struct plm_journal *journal;
    if (!f)
        return;
    journal = t->nested ? plm_journal_of_thread() : atomic_load_explicit(&all.backward, memory_order_acquire);
    f->phase = PLM_PHASE_BACKWARD;
    f->outer = f->inner = name_of(t, text)->text;
    f->named = true;
    f->all = false;
    if (journal && sequence >= 0) {
        plm_journal_find(journal, PLM_JOURNAL_MODULES, sequence, &f->module);
        plm_journal_find(journal, PLM_JOURNAL_STACKS, sequence, &f->stack);
    }
}

/* A view makes an autograd node and takes no memory: its stack is noted when it ends. */
static void trace_nodes(const struct thread *t)
{
    const struct frame *f = &t->frame[t->depth - 1];
    const bool outermost = t->depth == 1 || t->frame[t->depth - 2].kind != KIND_OPERATOR;
    if (f->kind == KIND_OPERATOR && outermost && plm_python_stack_wanted() && plm_observe_sequence() > t->traced)
        plm_context_stack();
}

void plm_context_leave_operator(const void *key)
{
    struct thread *t = here();
    if (!t || !t->depth)
        return;
    if (t->depth > FRAMES) {
        t->depth--;
        return;
    }
    trace_nodes(t);
    for (unsigned depth = t->depth; depth && t->frame[depth - 1].kind > KIND_PHASE; depth--) {
        const struct frame *left = &t->frame[depth - 1];
        struct frame *below = depth > 1 ? &t->frame[depth - 2] : NULL;
        const void *engine = below ? below->key : NULL;
        if (left->key != key)
            continue;
        t->depth = depth - 1;
        if (left->kind == KIND_NODE && below && below->kind == KIND_ENGINE) {
            *below = *left; /* what the engine adds up after a node belongs to the node */
            below->kind = KIND_ENGINE;
            below->key = engine;
            below->context = 0;
        }
        return;
    }
}
