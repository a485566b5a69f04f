#include <stddef.h>
#include <stdint.h>

#include "device/calls.h"
#include "device/context.h"
#include "device/groups.h"
#include "device/operands.h"
#include "device/parameters.h"
#include "common/policy.h"
#include "device/python_api.h"
#include "device/tensors.h"
#include "device/values_python.h"
#include "record/writer.h"
#include "world/messages.h"

/*
 * Functions for the Python hook that are called often: for every module and every tensor that is tagged.
 * Built-in functions cost a tenth of a call through ctypes.
 */

enum { METH_FASTCALL = 0x0080 };

/* A missing or unfit argument counts as 0: the hook must not raise into the user's program. */
static unsigned long long argument(struct plm_object *const *arguments, intptr_t count, intptr_t index)
{
    unsigned long long value = index < count ? plm_python.as_number(arguments[index]) : 0;
    if (value == ~0ull)
        plm_python.error_clear();
    return value;
}

static struct plm_object *enter(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    (void)self;
    plm_context_enter_module((uint32_t)argument(a, n, 0), (unsigned)argument(a, n, 1));
    return plm_python_none();
}

static struct plm_object *phase(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    unsigned long long value = argument(a, n, 0);
    (void)self;
    if (value == PLM_PHASE_BACKWARD)
        atomic_store_explicit(&plm_record_live()->passes, 0, memory_order_relaxed);
    plm_context_enter_phase(value < PLM_PHASES ? (enum plm_phase)value : PLM_PHASE_OTHER);
    return plm_python_none();
}

static struct plm_object *leave(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    (void)self, (void)a, (void)n;
    plm_context_leave();
    return plm_python_none();
}

static struct plm_object *depth(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    (void)self, (void)a, (void)n;
    return plm_python.new_number(plm_context_depth());
}

/* tag(address, category, owner, bytes, device) */
static struct plm_object *tag(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    const struct plm_ev_tag event = {argument(a, n, 0), (uint32_t)argument(a, n, 1), (uint32_t)argument(a, n, 2),
                                     argument(a, n, 3)};
    (void)self;
    if (event.address)
        plm_put_tag((int)argument(a, n, 4), &event);
    if (event.address && event.category == PLM_CATEGORY_PARAMETERS)
        plm_parameter_is(event.address);
    return plm_python_none();
}

/* life(address) */
static struct plm_object *life(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    (void)self;
    return plm_python.new_number(plm_call_life(argument(a, n, 0)));
}

/* pass(module, samples, other). What a checkpoint runs again in the backward pass is none. */
static struct plm_object *pass(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    const struct plm_ev_pass event = {(uint32_t)argument(a, n, 0), (uint32_t)argument(a, n, 1)};
    const enum plm_phase now = plm_context_phase();
    (void)self;
    if (now != PLM_PHASE_BACKWARD && now != PLM_PHASE_RECOMPUTE) {
        plm_put_pass(0, &event);
        atomic_fetch_add_explicit(&plm_record_live()->passes, 1, memory_order_relaxed);
        plm_operands_pass(argument(a, n, 2) != 0);
    }
    return plm_python_none();
}

/* operands(object, ...) */
static struct plm_object *operands(struct plm_object *self, struct plm_object *const *a, intptr_t n)
{
    enum { MOST = 64 };
    uint64_t objects[MOST];
    unsigned count = 0;
    (void)self;
    for (; count < n && count < MOST; count++)
        objects[count] = argument(a, n, count);
    plm_operands_tell(objects, count);
    plm_values_told(objects, count);
    return plm_python_none();
}

static struct plm_python_method methods[] = {
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

__attribute__((visibility("default"))) struct plm_object *plm_hook_functions(void);

/* The functions above as a tuple, in this order. Called with ctypes.PyDLL, which holds Python's lock. */
struct plm_object *plm_hook_functions(void)
{
    struct plm_object *tuple;
    if (!plm_python_find())
        return NULL;
    tuple = plm_python.new_tuple(METHODS);
    for (int i = 0; tuple && i < METHODS; i++)
        plm_python.tuple_set(tuple, i, plm_python.new_function(&methods[i], NULL, NULL));
    return tuple;
}

/* ---- constants ---- */

static const struct {
    const char *name;
    long long value;
    const char *text; /* NULL: it is a number */
} constants[] = {
#define SHARED(name, constant)                            {#name, constant, NULL},
#define SCALAR_TYPE(name, number, bytes, small, infinity) {"torch." #name, number, NULL},
#include "device/shared.def"
#define LEAVES(name, tells, situation, answer, confidence)            {"leaves." #name, 0, tells},
#define READS(name, tells, situation, answer, doubt, both_ends, when) {"reads." #name, 0, tells},
#include "common/policy.def"
};
enum { CONSTANTS = sizeof constants / sizeof constants[0] };

__attribute__((visibility("default"))) struct plm_object *plm_hook_constants(void);

/* What shared.def has, and the rows of policy.def with what they tell, in their order: a tuple of (name, value). Called like
   the above. */
struct plm_object *plm_hook_constants(void)
{
    struct plm_object *tuple;
    if (!plm_python_find())
        return NULL;
    tuple = plm_python.new_tuple(CONSTANTS);
    for (int i = 0; tuple && i < CONSTANTS; i++) {
        struct plm_object *pair = plm_python.new_tuple(2);
        if (!pair) {
            plm_python.drop(tuple);
            return NULL;
        }
        plm_python.tuple_set(pair, 0, plm_python.new_text(constants[i].name));
        plm_python.tuple_set(pair, 1,
                             constants[i].text ? plm_python.new_text(constants[i].text)
                                               : plm_python.new_int(constants[i].value));
        plm_python.tuple_set(tuple, i, pair);
    }
    return tuple;
}
