#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "device/calls.h"
#include "device/context.h"
#include "device/operands.h"
#include "record/writer.h"

/*
 * Functions for the Python hook that are called often: for every module and every tensor that is tagged.
 * Built-in functions cost a tenth of a call through ctypes. Only the stable part of Python's C API is
 * used, found at run time, so that the library needs no Python to build or load.
 */

struct object; /* PyObject */
typedef struct object *fast_function(struct object *self, struct object *const *arguments, intptr_t count);

struct method { /* PyMethodDef */
    const char *name;
    fast_function *function;
    int flags;
    const char *doc;
};
enum { METH_FASTCALL = 0x0080 };

static struct {
    unsigned long long (*number)(struct object *);
    struct object *(*new_number)(unsigned long long);
    struct object *(*new_function)(struct method *, struct object *, struct object *);
    struct object *(*new_tuple)(intptr_t);
    int (*set_item)(struct object *, intptr_t, struct object *);
    void (*keep)(struct object *);
    void (*forget_error)(void);
    struct object *none;
} python;

static const struct {
    const char *symbol;
    void **slot;
} wanted[] = {
    {"PyLong_AsUnsignedLongLongMask", (void **)&python.number},
    {"PyLong_FromUnsignedLongLong", (void **)&python.new_number},
    {"PyCFunction_NewEx", (void **)&python.new_function},
    {"PyTuple_New", (void **)&python.new_tuple},
    {"PyTuple_SetItem", (void **)&python.set_item},
    {"Py_IncRef", (void **)&python.keep},
    {"PyErr_Clear", (void **)&python.forget_error},
    {"_Py_NoneStruct", (void **)&python.none},
};

static struct object *nothing(void)
{
    python.keep(python.none);
    return python.none;
}

/* A missing or unfit argument counts as 0: the hook must not raise into the user's program. */
static unsigned long long argument(struct object *const *arguments, intptr_t count, intptr_t index)
{
    unsigned long long value = index < count ? python.number(arguments[index]) : 0;
    if (value == ~0ull)
        python.forget_error();
    return value;
}

static struct object *enter(struct object *self, struct object *const *a, intptr_t n)
{
    (void)self;
    plm_context_enter_module((uint32_t)argument(a, n, 0), (unsigned)argument(a, n, 1));
    return nothing();
}

static struct object *phase(struct object *self, struct object *const *a, intptr_t n)
{
    unsigned long long value = argument(a, n, 0);
    (void)self;
    plm_context_enter_phase(value < PLM_PHASES ? (enum plm_phase)value : PLM_PHASE_OTHER);
    return nothing();
}

static struct object *leave(struct object *self, struct object *const *a, intptr_t n)
{
    (void)self, (void)a, (void)n;
    plm_context_leave();
    return nothing();
}

static struct object *depth(struct object *self, struct object *const *a, intptr_t n)
{
    (void)self, (void)a, (void)n;
    return python.new_number(plm_context_depth());
}

/* tag(address, category, owner, bytes, device) */
static struct object *tag(struct object *self, struct object *const *a, intptr_t n)
{
    const struct plm_ev_tag event = {argument(a, n, 0), (uint32_t)argument(a, n, 1), (uint32_t)argument(a, n, 2),
                                     argument(a, n, 3)};
    (void)self;
    if (event.address)
        plm_put_tag((int)argument(a, n, 4), &event);
    return nothing();
}

/* life(address) */
static struct object *life(struct object *self, struct object *const *a, intptr_t n)
{
    (void)self;
    return python.new_number(plm_call_life(argument(a, n, 0)));
}

/* pass(module, samples, other). What a checkpoint runs again in the backward pass is none. */
static struct object *pass(struct object *self, struct object *const *a, intptr_t n)
{
    const struct plm_ev_pass event = {(uint32_t)argument(a, n, 0), (uint32_t)argument(a, n, 1)};
    const enum plm_phase now = plm_context_phase();
    (void)self;
    if (now != PLM_PHASE_BACKWARD && now != PLM_PHASE_RECOMPUTE) {
        plm_put_pass(0, &event);
        plm_operands_pass(argument(a, n, 2) != 0);
    }
    return nothing();
}

/* operands(object, ...) */
static struct object *operands(struct object *self, struct object *const *a, intptr_t n)
{
    enum { MOST = 64 };
    uint64_t objects[MOST];
    unsigned count = 0;
    (void)self;
    for (; count < n && count < MOST; count++)
        objects[count] = argument(a, n, count);
    plm_operands_tell(objects, count);
    return nothing();
}

static struct method methods[] = {
    {"enter", enter, METH_FASTCALL, "enter(text, flags): a module begins"},
    {"phase", phase, METH_FASTCALL, "phase(number): a phase begins"},
    {"leave", leave, METH_FASTCALL, "leave(): the innermost module or phase ends"},
    {"depth", depth, METH_FASTCALL, "depth(): modules and phases that this thread is in"},
    {"tag", tag, METH_FASTCALL, "tag(address, category, owner, bytes, device): what a block is for"},
    {"life", life, METH_FASTCALL, "life(address): a number that only the block that is there now has"},
    {"pass", pass, METH_FASTCALL,
     "pass(module, samples, other): an outermost module is called; other: with other sizes"},
    {"operands", operands, METH_FASTCALL, "operands(tensor, ...): a kernel is launched with these; none: that is over"},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

__attribute__((visibility("default"))) struct object *plm_hook_functions(void);

/* The functions above as a tuple, in this order. Called with ctypes.PyDLL, which holds Python's lock. */
struct object *plm_hook_functions(void)
{
    struct object *tuple;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].slot = dlsym(RTLD_DEFAULT, wanted[i].symbol);
        if (!*wanted[i].slot)
            return NULL;
    }
    tuple = python.new_tuple(METHODS);
    for (int i = 0; tuple && i < METHODS; i++)
        python.set_item(tuple, i, python.new_function(&methods[i], NULL, NULL));
    return tuple;
}
