#include "device/python_stack.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/python_api.h"
#include "device/source.h"

enum { DEPTH = PLM_PYTHON_STACK_DEPTH, RECENT = 1 << 12, NUMBER_BITS = 24 };

/* Python's functions; those that a release lacks are NULL, and who needs them does without. */
static struct {
    int (*running)(void);                                               /* Py_IsInitialized: false once it ends */
    int (*held)(void);                                                                    /* PyGILState_Check */
    void *(*thread)(void); /* PyGILState_GetThisThreadState */
    struct plm_object *(*now)(void); /* PyEval_GetFrame: lent */
    struct plm_object *(*back)(struct plm_object *); /* PyFrame_GetBack */
    struct plm_object *(*code)(struct plm_object *); /* PyFrame_GetCode */
    int (*line)(struct plm_object *); /* PyFrame_GetLineNumber */
    struct plm_object *(*attribute)(struct plm_object *, const char *); /* PyObject_GetAttrString */
    const char *(*text)(struct plm_object *, intptr_t *); /* PyUnicode_AsUTF8AndSize */
    int (*place)(struct plm_object *); /* PyFrame_GetLasti, from 3.11 on */
    int (*place_line)(const void *, int); /* PyCode_Addr2Line */
    int (*collect_off)(void), (*collect_on)(void); /* PyGC_Disable, from 3.10 on */
} api;

static const struct {
    const char *symbol;
    void **slot;
    bool needed;
} wanted[] = {
    {"Py_IsInitialized", (void **)&api.running, true},
    {"PyGILState_Check", (void **)&api.held, true},
    {"PyGILState_GetThisThreadState", (void **)&api.thread, true},
    {"PyEval_GetFrame", (void **)&api.now, true},
    {"PyFrame_GetBack", (void **)&api.back, true},
    {"PyFrame_GetCode", (void **)&api.code, true},
    {"PyFrame_GetLineNumber", (void **)&api.line, true},
    {"PyObject_GetAttrString", (void **)&api.attribute, true},
    {"PyUnicode_AsUTF8AndSize", (void **)&api.text, true},
    {"PyFrame_GetLasti", (void **)&api.place, false},
    {"PyCode_Addr2Line", (void **)&api.place_line, false},
    {"PyGC_Disable", (void **)&api.collect_off, false},
    {"PyGC_Enable", (void **)&api.collect_on, false},
};

static _Atomic bool started;

bool plm_python_stack_wanted(void)
{
    return atomic_load_explicit(&started, memory_order_acquire);
}

bool plm_python_stack_start(void)
{
    const char *said = getenv("PLIMSOLL_STACKS");
    if (!said || strcmp(said, "yes") != 0)
        return true;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].slot = dlsym(RTLD_DEFAULT, wanted[i].symbol);
        if (wanted[i].needed && !*wanted[i].slot)
            return false;
    }
    if (!plm_python_find())
        return false;
    atomic_store_explicit(&started, true, memory_order_release);
    return true;
}

/* ---- the walk: where each call is, in words that cost little to get ---- */

struct call {
    struct plm_object *code; /* lent by the call, which goes on while its thread is here */
    int at; /* place in the code if Python tells it, else the line */
};

struct walk {
    unsigned depth; /* calls of the thread; those beyond DEPTH are counted only if they matter */
    unsigned kept;
    struct call call[DEPTH]; /* the innermost first */
};

static void call_read(struct walk *w, struct plm_object *frame)
{
    struct plm_object *code = api.code(frame);
    w->call[w->kept++] = (struct call){code, api.place ? api.place(frame) : api.line(frame)};
    plm_python.drop(code);
}

static void stack_walk(struct walk *w, bool all)
{
    struct plm_object *frame = api.now();
    if (frame)
        plm_python.keep(frame);
    while (frame && (all || w->kept < DEPTH)) {
        struct plm_object *caller;
        if (w->kept < DEPTH)
            call_read(w, frame);
        w->depth++;
        caller = api.back(frame);
        plm_python.drop(frame);
        frame = caller;
    }
    if (frame)
        plm_python.drop(frame);
}

/* ---- the numbers of stacks that were seen lately, each in one word: what is left of its hash, and the number ---- */

static _Atomic uint64_t recent[RECENT];

static uint64_t walk_hash(const struct walk *w, uint32_t caller)
{
    uint64_t hash = ((uint64_t)plm_source_generation() << 32 | caller) ^ 0x27d4eb2f165667c5ull;
    for (unsigned i = 0; i < w->kept; i++) {
        hash = (hash ^ (uintptr_t)w->call[i].code) * 0x9e3779b97f4a7c15ull;
        hash = (hash ^ hash >> 29 ^ (uint64_t)(unsigned)w->call[i].at) * 0xc2b2ae3d27d4eb4full;
    }
    return hash ^ hash >> 32;
}

/* ---- what the record needs to be told ---- */

static uint32_t number_of(struct plm_object *number)
{
    const long long value = number ? plm_python.as_int(number) : 0;
    return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

static const char *text_of(struct plm_object *text)
{
    const char *said = text ? api.text(text, NULL) : NULL;
    return said ? said : "";
}

/* The code object is kept: its address is its name from here on. */
static uint32_t source_of(struct plm_object *code)
{
    const uint32_t known = plm_source_find(code);
    struct plm_object *part[4], *error[3];
    uint32_t number;
    if (known)
        return known;
    plm_python.error_keep(&error[0], &error[1], &error[2]);
    part[0] = api.attribute(code, "co_filename");
    part[1] = api.attribute(code, "co_qualname"); /* from 3.11 on */
    part[2] = api.attribute(code, "co_name");
    part[3] = api.attribute(code, "co_firstlineno");
    plm_python.keep(code);
    number = plm_source_add(code, text_of(part[0]), text_of(part[1] ? part[1] : part[2]), number_of(part[3]));
    for (int i = 0; i < 4; i++)
        if (part[i])
            plm_python.drop(part[i]);
    plm_python.error_clear();
    plm_python.error_restore(error[0], error[1], error[2]);
    return number;
}

static uint32_t line_of(const struct call *call)
{
    const int line = api.place && api.place_line ? api.place_line(call->code, call->at) : call->at;
    return line > 0 ? (uint32_t)line : 0;
}

static uint32_t stack_tell(const struct walk *w, uint32_t caller)
{
    for (unsigned i = w->kept; i-- > 0;) {
        const uint32_t source = source_of(w->call[i].code);
        const uint32_t number = source ? plm_source_frame(caller, source, line_of(&w->call[i])) : 0;
        caller = number ? number : caller; /* no room: the call is left out */
    }
    return caller;
}

static uint32_t stack_number(const struct walk *w, uint32_t caller)
{
    const uint64_t hash = walk_hash(w, caller), low = (1u << NUMBER_BITS) - 1;
    _Atomic uint64_t *slot = &recent[hash % RECENT];
    const uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    uint32_t number;
    if (known & low && (known ^ hash) >> NUMBER_BITS == 0)
        return (uint32_t)(known & low);
    number = stack_tell(w, caller);
    atomic_store_explicit(slot, (hash & ~low) | (number & low), memory_order_relaxed);
    return number;
}

/* Walking makes objects, and must not be what makes Python collect garbage: tensors would be freed earlier than without. */
static uint32_t stack_held(uint32_t caller, unsigned skip, unsigned *depth)
{
    const int collects = api.collect_off ? api.collect_off() : 0;
    struct walk w = {0};
    uint32_t number;
    stack_walk(&w, skip || depth);
    if (depth)
        *depth = w.depth;
    if (skip && w.depth - w.kept < skip)
        w.kept = w.depth > skip ? w.depth - skip : 0;
    number = w.kept ? stack_number(&w, caller) : caller;
    if (collects)
        api.collect_on();
    return number;
}

uint32_t plm_python_stack(uint32_t caller, unsigned skip, unsigned *depth)
{
    uint32_t number;
    int state;
    if (depth)
        *depth = 0;
    if (!plm_python_stack_wanted() || !api.running() || !api.thread())
        return caller;
    if (api.held())
        return stack_held(caller, skip, depth);
    state = plm_python.lock();
    number = stack_held(caller, skip, depth);
    plm_python.unlock(state);
    return number;
}
