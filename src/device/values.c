#include "device/values.h"

#include <float.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "device/internal.h"
#include "device/known.h"
#include "device/marks.h"
#include "device/parameters.h"
#include "common/policy.h"
#include "device/promised.h"
#include "device/tensors.h"
#include "device/values_python.h"
#include "record/writer.h"

enum { DEPTH = 64, OPERATORS = 8192, NEAR = 16 };
enum { LIST_MOST = 256, EACH_MOST = 8192 }; /* tensors in lists */

/* What the hook said of an operator, by the name in its schema: every overload has one of its own. */
struct operator
{
    _Atomic uint64_t name; /* 0: free; written last */
    struct plm_operator is;
};
static struct operator operators[OPERATORS];
_Static_assert((OPERATORS & (OPERATORS - 1)) == 0, "its slots are masked");

struct frame {
    const void *function;
    struct plm_operator is;
    void *pending;    /* of the hook: how to compute it; NULL: it is not followed */
    int64_t expected; /* how large the result is that it will read; -1: it does not */
    bool bounded;     /* what it leaves is not negative */
    bool turned;      /* it points the other way */
    enum plm_leaves leaves;
    bool assumed;     /* something that it reads is */
    bool least_one;   /* the size that it will read is not 0 */
    bool draws;       /* random numbers, by values that are not known */
    struct plm_ivalue *each; /* of PLM_OPERATOR_EACH: what it writes. Their list is gone when it ends */
    uint64_t each_count;
};

struct thread {
    struct frame frame[DEPTH];
    unsigned depth;
    bool busy; /* the hook computes */
    bool told; /* what kernels work on that no operator launches */
    int checking;
};

static __thread struct thread *mine __attribute__((tls_model("initial-exec"))); /* room for a pointer is always there */
static pthread_key_t ending;
static _Atomic bool active;
static _Atomic bool size_unknown; /* an operator read a size that nobody knew */

static void thread_ends(void *thread)
{
    mine = NULL;
    free(thread);
}

__attribute__((constructor)) static void start(void)
{
    pthread_key_create(&ending, thread_ends);
}

/* NULL: no memory; then it is as if values were not followed, and nothing may be known. */
static struct thread *here(void)
{
    if (!mine) {
        mine = calloc(1, sizeof *mine);
        if (mine)
            pthread_setspecific(ending, mine);
        else
            plm_values_stop();
    }
    return mine;
}

bool plm_values_active(void)
{
    return atomic_load_explicit(&active, memory_order_relaxed);
}

void plm_values_start(void)
{
    atomic_store(&active, true);
}

void plm_values_stop(void)
{
    atomic_store(&active, false);
    plm_known_forget();
}

/* ---- tensors, as runs of bytes ---- */

typedef bool run_function(uint64_t address, uint64_t bytes);

static bool runs_do(const struct plm_tensors_view *v, unsigned dimension, uint64_t at, run_function *run)
{
    const bool last = dimension + 1 >= v->dimensions;
    if (!v->dimensions)
        return run(at, v->element_bytes);
    if (last && (v->strides[dimension] == 1 || v->sizes[dimension] == 1))
        return run(at, (uint64_t)v->sizes[dimension] * v->element_bytes);
    for (int64_t i = 0; i < v->sizes[dimension]; i++, at += (uint64_t)v->strides[dimension] * v->element_bytes)
        if (last ? !run(at, v->element_bytes) : !runs_do(v, dimension + 1, at, run))
            return false;
    return true;
}

/* Of memory without gaps, in whatever order, all at once. */
static bool view_do(const struct plm_tensors_view *v, run_function *run)
{
    if (!v->elements || !v->data)
        return true;
    if (v->extent == v->elements * v->element_bytes || v->elements > PLM_VALUES_ELEMENTS)
        return run(v->data, v->extent);
    return runs_do(v, 0, v->data, run);
}

static bool run_clear(uint64_t address, uint64_t bytes)
{
    plm_promises_forget(address, bytes);
    plm_known_clear(address, bytes);
    return true;
}

static bool run_set(uint64_t address, uint64_t bytes)
{
    plm_promises_forget(address, bytes);
    plm_known_set(address, bytes);
    plm_memory_written(address, bytes, plm_launch_count());
    return true;
}

static bool run_zero(uint64_t address, uint64_t bytes)
{
    memset((void *)address, 0, bytes);
    return run_set(address, bytes);
}

static bool run_assume(uint64_t address, uint64_t bytes)
{
    plm_known_assume(address, bytes);
    return true;
}

static bool run_true(uint64_t address, uint64_t bytes)
{
    memset((void *)address, 1, bytes);
    return run_set(address, bytes);
}

static bool on_device(const struct plm_tensors_view *v)
{
    return v->data && plm_memory_device_of(v->data) >= 0;
}

static bool view_is_known(const struct plm_tensors_view *v)
{
    if (!on_device(v))
        return true;
    plm_promises_settle(v->data, v->extent);
    return plm_known(v->data, v->extent) || (v->extent != v->elements * v->element_bytes && view_do(v, plm_known));
}

/* A part of a large block has no bytes behind it, however small it is. */
static bool can_hold(const struct plm_tensors_view *v)
{
    return v->elements <= PLM_VALUES_ELEMENTS && (!on_device(v) || plm_memory_backed(v->data, v->extent));
}

/* ---- tensors, element by element: which of them are known ---- */

/* A run of elements that follow each other; `known` has a byte for each, and is filled. */
static void row_mask(const struct plm_tensors_view *v, uint64_t at, uint64_t count, char *known)
{
    uint64_t done = 0;
    while (done < count) {
        bool is;
        const uint64_t from = at + done * v->element_bytes;
        const uint64_t alike = plm_known_run(from, (count - done) * v->element_bytes, &is) / v->element_bytes;
        if (alike)
            memset(known + done, is, alike);
        else
            known[done] = (char)plm_known(from, v->element_bytes);
        done += alike ? alike : 1;
    }
}

/* The same, where `known` says what is from now on. */
static void row_set(const struct plm_tensors_view *v, uint64_t at, uint64_t count, char *known)
{
    for (uint64_t done = 0, alike; done < count; done += alike) {
        const char *other = memchr(known + done, !known[done], count - done);
        alike = other ? (uint64_t)(other - (known + done)) : count - done;
        (known[done] ? run_set : run_clear)(at + done * v->element_bytes, alike * v->element_bytes);
    }
}

typedef void row_function(const struct plm_tensors_view *v, uint64_t at, uint64_t count, char *known);

/* Rows of `count` elements, in the order of the `dimensions` before them. Returns what comes after the last of them in `known`. */
static char *rows_do(const struct plm_tensors_view *v, unsigned dimension, unsigned dimensions, uint64_t at,
                     uint64_t count, char *known, row_function *row)
{
    if (dimension == dimensions) {
        row(v, at, count, known);
        return known + count;
    }
    for (int64_t i = 0; i < v->sizes[dimension]; i++, at += (uint64_t)v->strides[dimension] * v->element_bytes)
        known = rows_do(v, dimension + 1, dimensions, at, count, known, row);
    return known;
}

static void mask_do(const struct plm_tensors_view *v, char *known, row_function *row)
{
    unsigned before = v->dimensions;
    uint64_t count = 1;
    while (before && (v->sizes[before - 1] == 1 || (uint64_t)v->strides[before - 1] == count))
        count *= (uint64_t)v->sizes[--before];
    if (v->elements)
        rows_do(v, 0, before, v->data, count, known, row);
}

void plm_values_mask(const struct plm_tensors_view *v, char *known)
{
    if (!on_device(v))
        memset(known, 1, v->elements);
    else if (!plm_memory_backed(v->data, v->extent))
        memset(known, 0, v->elements);
    else
        mask_do(v, known, row_mask);
}

/* What is on the host is all known. */
static bool view_has_known(const struct plm_tensors_view *v)
{
    return !on_device(v) || plm_known_any(v->data, v->extent);
}

/* Every tensor among values and the lists of them. `number` is that of the argument. */
typedef void tensor_function(const struct plm_tensors_view *v, unsigned number, void *data);

static void each_tensor(struct plm_ivalues values, tensor_function *look, void *data)
{
    for (uint64_t i = 0; i < values.count; i++) {
        const struct plm_ivalue *v = &values.first[i];
        const enum plm_ivalue_kind kind = plm_ivalue_kind(v);
        const struct plm_ivalues list =
            kind == PLM_IVALUE_LIST ? plm_ivalue_list(v) : (struct plm_ivalues){v, kind == PLM_IVALUE_TENSOR};
        for (uint64_t k = 0; k < list.count; k++) {
            struct plm_tensors_view view;
            if (plm_ivalue_kind(&list.first[k]) != PLM_IVALUE_TENSOR)
                continue;
            plm_tensors_view(list.first[k].payload, &view);
            if (!view.undefined)
                look(&view, i < 64 ? (unsigned)i : 63, data);
        }
    }
}

/* ---- marks of tensors whose values are not known ---- */

enum { INDEX = 4, TRUTH = 11 }; /* c10::ScalarType of what only says which elements are meant */

static void marks_forget(const struct plm_tensors_view *v)
{
    for (unsigned mark = 0; mark < PLM_MARKS; mark++)
        plm_mark_forget((enum plm_mark)mark, v->data);
}

static void mark_set(const struct plm_tensors_view *v, enum plm_mark mark)
{
    if (on_device(v))
        plm_mark_set(mark, v->data);
}

/* ---- what an operator is given ---- */

struct given {
    const struct plm_operator *is;
    bool device, host; /* some tensor is there */
    bool wrapped; /* some tensor stands for others: the operator is called again with these */
    bool known; /* all that it needs is, and nothing is too large */
    bool small; /* nothing is too large */
    bool some, lacks; /* of an input that it needs something is known, or nothing */
    bool undecided; /* of an input that decides, nothing is known */
    bool floating; /* an input that it needs is */
    bool wide; /* such a one has too many elements to be computed in part */
    bool same; /* all tensors that it needs begin where the first does */
    uint64_t first; /* that is there */
    bool assumed; /* a part of that is */
    bool elements; /* a tensor that it needs has some */
    bool positive; /* a single number that it needs is not 0 */
    bool nothing; /* is what it puts somewhere */
    bool certain; /* what it leaves may be, whatever the values are */
    bool open; /* something that it needs may be negative */
    bool turned; /* what it needs, taken together, points the other way */
    bool twice; /* a tensor that it needs is the one before it */
    uint64_t last; /* that tensor, of the device */
    unsigned tensors;
};

/* ---- single numbers that nobody computed ----
 *
 * A loss is not 0: its logarithm is taken, something is divided by it. It is no large number either, which would end what
 * goes on while it is small. Where memory holds something else, the program put it there, and it stays. What such a number
 * is taken to be is in memory as if it were known, and marked: comparisons and sums follow from it, as item() does. */

static const struct {
    unsigned type, bytes; /* type: c10::ScalarType */
    uint64_t small, infinity; /* small: 2^-10; 0: no floating point */
} number_types[] = {
#define SCALAR_TYPE(name, number, bytes, small, infinity) {number, bytes, small, infinity},
#include "device/shared.def"
};
enum { NUMBER_TYPES = sizeof number_types / sizeof number_types[0] };

/* Of floating point: its row, else NUMBER_TYPES. */
static int floating_type(const struct plm_tensors_view *v)
{
    int i = 0;
    while (i < NUMBER_TYPES && (v->type != number_types[i].type || !number_types[i].small))
        i++;
    return i;
}

/* Its row; NUMBER_TYPES: it is no single number of floating point that memory can hold. */
static int number_type(const struct plm_tensors_view *v)
{
    int i;
    if (v->elements != 1 || !v->readable)
        return NUMBER_TYPES;
    i = floating_type(v);
    return on_device(v) && plm_memory_backed(v->data, v->extent) ? i : NUMBER_TYPES;
}

static uint64_t number_held(const struct plm_tensors_view *v, int type)
{
    uint64_t held = 0;
    memcpy(&held, (const void *)v->data, number_types[type].bytes);
    return held;
}

static bool number_is_zero(const struct plm_tensors_view *v, int type)
{
    return !number_held(v, type);
}

/* A loop that waits for a number to become small gets smaller ones, until the next step of the optimizer: times 2^-10 for
   each level. Level and step in one word. */
static _Atomic uint64_t number_level;
/* An optimizer that asks for the loss again within a step (L-BFGS, a line search) finds it fallen, to 4/5 to 7/8 each time: by a
   quarter of what lies between two powers of 2. That is below the 9/10 by which a line search wants the slope to fall, and it goes
   on for 50 times before all is small. Passes and step in one word. */
static _Atomic uint64_t number_passes;
enum { PASSES_BITS = 16 };

static uint64_t step_now(void)
{
    return atomic_load_explicit(&plm_record_live()->step, memory_order_relaxed);
}

static uint64_t number_first(int type)
{
    const uint64_t level = atomic_load_explicit(&number_level, memory_order_relaxed);
    const uint64_t less = (10ull << __builtin_ctzll(number_types[type].infinity)) * (level & 0xff);
    return level >> 8 == step_now() && less < number_types[type].small ? number_types[type].small - less
                                                                       : number_types[type].small;
}

uint64_t plm_values_progress(void)
{
    const uint64_t none = step_now() << PASSES_BITS,
                   passes = atomic_load_explicit(&number_passes, memory_order_relaxed);
    return passes > none ? passes : none;
}

static uint64_t number_small(int type)
{
    const uint64_t passes = plm_values_progress() & ((1u << PASSES_BITS) - 1), first = number_first(type);
    const uint64_t quarter = 1ull << (__builtin_ctzll(number_types[type].infinity) - 2);
    return passes * quarter < first ? first - passes * quarter : 1;
}

void plm_values_evaluated(void)
{
    const uint64_t now = plm_values_progress();
    if (~now & ((1u << PASSES_BITS) - 1))
        atomic_store(&number_passes, now + 1); /* of two threads that do so at once, one counts */
}

void plm_values_smaller(unsigned level)
{
    const uint64_t wanted = step_now() << 8 | (level < PLM_VALUES_LEVELS ? level : PLM_VALUES_LEVELS);
    uint64_t have = atomic_load(&number_level);
    while ((have >> 8 != wanted >> 8 || have < wanted) && !atomic_compare_exchange_weak(&number_level, &have, wanted))
        ;
}

/* What is held, or small where that is 0, is what it is from now on. */
static void number_assume(const struct plm_tensors_view *v, int type)
{
    const uint64_t small = number_small(type);
    if (number_is_zero(v, type))
        memcpy((void *)v->data, &small, number_types[type].bytes);
    view_do(v, run_set);
    view_do(v, run_assume);
}

/* 0 / 0, a mean of nothing: it follows from what was assumed, or selected as nothing, and the program may end over it. */
static void number_refuse(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const int type = number_type(v);
    (void)number, (void)data;
    if (type == NUMBER_TYPES ||
        (number_held(v, type) & ~(1ull << (8 * number_types[type].bytes - 1))) <= number_types[type].infinity)
        return;
    memset((void *)v->data, 0, number_types[type].bytes);
    number_assume(v, type);
}

static void number_set(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const int type = number_type(v);
    (void)number, (void)data;
    if (type < NUMBER_TYPES)
        number_assume(v, type);
}

/* Of a product of vectors of which one points the other way. */
static void number_set_negative(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const int type = number_type(v);
    number_set(v, number, data);
    if (type < NUMBER_TYPES)
        ((char *)v->data)[number_types[type].bytes - 1] |= (char)0x80; /* little-endian: the sign */
}

/* Whether it is a single number, and not 0. One that was written by something else, and is read as what it was, is that
   for what follows from it too: a scale after a step of the optimizer. */
static bool number_is_positive(const struct plm_tensors_view *v)
{
    const int type = number_type(v);
    if (type == NUMBER_TYPES || number_is_zero(v, type))
        return false;
    if (!view_is_known(v) && !plm_capture_active())
        number_assume(v, type);
    return true;
}

/* ---- looking ---- */

/* A single number of the host's, of any type with a sign: the number of a program's `x * 0.5`. */
static bool host_is_negative(const struct plm_tensors_view *v)
{
    return v->elements != 1 || !v->readable || ((const char *)v->data)[v->element_bytes - 1] < 0;
}

static void look_at_bound(const struct plm_tensors_view *v, struct given *g)
{
    if (!v->data || v->type == TRUTH || (v->type == INDEX && !(g->is->flags & PLM_OPERATOR_PASSES)))
        return;
    g->open |= on_device(v) ? !plm_mark_has(PLM_MARK_BOUNDED, v->data) : host_is_negative(v);
    if (!on_device(v))
        return;
    g->twice |= v->data == g->last;
    g->last = v->data;
}

/* A product points the other way if one of two does. What is added to a tensor in place leaves its direction. */
static void look_at_direction(const struct plm_tensors_view *v, bool written, struct given *g)
{
    if (g->is->flags & PLM_OPERATOR_DIRECTED)
        g->turned ^= plm_mark_has(PLM_MARK_TURNED, v->data);
    else
        g->turned |= written && plm_mark_has(PLM_MARK_TURNED, v->data);
}

/* Scores of a vocabulary, weights of an embedding. */
static bool is_wide(const struct plm_tensors_view *v)
{
    return v->elements > PLM_VALUES_PARTS && floating_type(v) < NUMBER_TYPES;
}

/* Also where something is not known, all of what they are given is looked at. */
enum { BY_ELEMENT = PLM_OPERATOR_PARTS | PLM_OPERATOR_EITHER | PLM_OPERATOR_CERTAIN };

static void look_at_parts(const struct plm_tensors_view *v, unsigned number, struct given *g)
{
    g->floating |= floating_type(v) < NUMBER_TYPES;
    g->wide |= is_wide(v);
    g->undecided |= g->is->decides >> number & 1 && !(g->small && view_has_known(v));
    g->same = !g->first || (g->same && v->data == g->first);
    g->first = g->first ? g->first : v->data;
}

static void look_at(const struct plm_tensors_view *v, unsigned number, void *data)
{
    struct given *g = data;
    const bool written = g->is->writes >> number & 1, needed = g->is->needs >> number & 1;
    const unsigned most = g->is->flags & PLM_OPERATOR_EACH ? EACH_MOST : LIST_MOST;
    if (on_device(v))
        g->device = true;
    else if (v->data)
        g->host = true;
    else
        g->wrapped |= !v->readable;
    g->small = g->small && v->readable && ++g->tensors <= most && v->elements <= PLM_VALUES_ELEMENTS &&
               !(g->is->flags & PLM_OPERATOR_ROWS && is_wide(v)) &&
               (!(written || g->is->flags & BY_ELEMENT) || can_hold(v));
    g->positive |= needed && g->is->flags & (PLM_OPERATOR_FOLLOWED | PLM_OPERATOR_PASSES) && number_is_positive(v);
    g->known = g->known && g->small && (!needed || view_is_known(v));
    if (needed && g->small && g->is->flags & (PLM_OPERATOR_PARTS | PLM_OPERATOR_EITHER | PLM_OPERATOR_CHOOSES))
        *(view_has_known(v) ? &g->some : &g->lacks) = true;
    if (needed && g->is->flags & BY_ELEMENT)
        look_at_parts(v, number, g);
    if (needed && g->is->flags & (PLM_OPERATOR_KEEPS | PLM_OPERATOR_SQUARES | PLM_OPERATOR_CHOOSES))
        look_at_bound(v, g);
    if (needed && g->is->flags & (PLM_OPERATOR_DIRECTED | PLM_OPERATOR_PASSES))
        look_at_direction(v, written, g);
    g->assumed |= needed && on_device(v) && plm_known_assumed(v->data, v->extent);
    g->elements |= needed && v->elements;
    g->nothing |= number == 2 && g->is->flags & PLM_OPERATOR_PUTS && !v->elements;
}

static void look_for_unknown(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number;
    *(bool *)data |= !view_is_known(v);
}

static void clear_written(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const struct given *g = data;
    if (!(g->is->writes >> number & 1) || !on_device(v))
        return;
    if (!g->host) /* a copy from there is no update */
        plm_parameter_written(v->data);
    if (!(g->host && g->is->flags & PLM_OPERATOR_COPIES)) /* of a part, that is known then: the rest is what it was */
        marks_forget(v);
    view_do(v, run_clear);
}

static void clear_output(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    if (!on_device(v))
        return;
    marks_forget(v);
    view_do(v, run_clear);
}

static void set_zero(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    if (on_device(v) && plm_memory_backed(v->data, v->extent))
        view_do(v, run_zero);
}

/* Of truth values, which are a byte each. */
static void set_true(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    if (on_device(v) && v->element_bytes == 1 && plm_memory_backed(v->data, v->extent))
        view_do(v, run_true);
}

/* ---- operators ---- */

static struct plm_operator operator_of(const void *function)
{
    const uint64_t name = (uint64_t)plm_observe_name(function);
    const uint64_t slot = (name >> 4) * 0x9e3779b97f4a7c15ull >> 32;
    struct plm_operator is;
    for (uint64_t i = 0; i < NEAR; i++) {
        const struct operator* o = & operators[(slot + i) & (OPERATORS - 1)];
        const uint64_t have = atomic_load_explicit(&o->name, memory_order_acquire);
        if (have == name)
            return o->is;
        if (!have)
            break;
    }
    mine->busy = true;
    is = plm_python_classify(function);
    mine->busy = false;
    for (uint64_t i = 0; i < NEAR; i++) {
        struct operator* o = & operators[(slot + i) & (OPERATORS - 1)];
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&o->name, &none, 1)) { /* taken, and nobody's yet */
            o->is = is;
            atomic_store_explicit(&o->name, name, memory_order_release);
            break;
        }
    }
    return is;
}

/* An operator that is called with a stack is shown all of it: its own are the last. */
static struct plm_ivalues last_of(struct plm_ivalues values, uint64_t count)
{
    if (values.count > count) {
        values.first += values.count - count;
        values.count = count;
    }
    return values;
}

/* A buffer that an operator fills for its own kernels is not known for long. */
static bool inside_another(void)
{
    for (unsigned i = 0; i < mine->depth; i++)
        if (!(mine->frame[i].is.flags & (PLM_OPERATOR_COPIES | PLM_OPERATOR_COLLECTIVE)))
            return true;
    return false;
}

/* Of a number among its arguments. */
typedef bool number_function(double value);

static bool is_negative(double value)
{
    return value < 0 && value >= -DBL_MAX; /* what is filled with -inf is known */
}

static bool is_no_even_power(double value)
{
    return value != 2 && value != 4;
}

static bool is_finite(double value)
{
    return value >= -DBL_MAX && value <= DBL_MAX;
}

static bool has_number(struct plm_ivalues inputs, number_function *is)
{
    for (uint64_t i = 0; i < inputs.count; i++) {
        const struct plm_ivalue *v = &inputs.first[i];
        const enum plm_ivalue_kind kind = plm_ivalue_kind(v);
        double value = (double)(int64_t)v->payload;
        if (kind == PLM_IVALUE_DOUBLE)
            memcpy(&value, &v->payload, sizeof value);
        if ((kind == PLM_IVALUE_DOUBLE || kind == PLM_IVALUE_INT) && is(value))
            return true;
    }
    return false;
}

static bool in_parts(const struct given *g)
{
    const unsigned flags = g->is->flags;
    const bool can = flags & (PLM_OPERATOR_PARTS | PLM_OPERATOR_EITHER);
    const bool either = flags & PLM_OPERATOR_EITHER && !(flags & PLM_OPERATOR_WHOLE && g->floating);
    return can && g->small && !g->wide && g->some && !g->undecided && (!g->lacks || either);
}

/* Whether a value can be certain: x == x, or x with no other number than infinity. The hook finds out whether it is. */
static bool can_be_certain(const struct given *g, struct plm_ivalues inputs)
{
    if (!(g->is->flags & PLM_OPERATOR_CERTAIN) || !g->small)
        return false;
    return g->tensors == 1 ? !has_number(inputs, is_finite) : g->same;
}

/* What an operator that draws random numbers makes of unknown ones before it draws: checks of its arguments, which hold whatever
   they are. */
static bool inside_draw(void)
{
    for (unsigned i = 0; i < mine->depth; i++)
        if (mine->frame[i].draws)
            return true;
    return false;
}

static bool followed(const struct plm_operator *is, const struct given *g)
{
    return (g->known || in_parts(g) || g->certain) && !(is->flags & PLM_OPERATOR_FILLS && inside_another()) &&
           !inside_draw() && !plm_capture_active();
}

/* Dimensions are numbers too, and may be counted from the end. */
static bool leaves_bounded(const struct plm_operator *is, const struct given *g, struct plm_ivalues inputs)
{
    const bool pointwise = is->flags & PLM_OPERATOR_PASSES;
    if (is->flags & PLM_OPERATOR_SQUARES && (g->tensors == 1 ? !has_number(inputs, is_no_even_power) : g->twice))
        return true;
    return is->flags & PLM_OPERATOR_BOUNDED ||
           (is->flags & PLM_OPERATOR_KEEPS && g->last && !g->open && !(pointwise && has_number(inputs, is_negative)));
}

/* ---- what an operator leaves: LEAVES of policy.def ---- */

static bool validates(const struct plm_operator *is)
{
    return is->flags & PLM_OPERATOR_CHECKS && mine->checking > 0;
}

/* Whether the hook is to compute it. The runtime makes copies from the host itself. */
static bool follows(const struct plm_operator *is, const struct given *g)
{
    return followed(is, g) && !(is->flags & PLM_OPERATOR_COPIES && g->host) && !(g->assumed && validates(is));
}

/* False: there is no memory. */
static bool keep_each(struct frame *f, struct plm_ivalues inputs)
{
    const struct plm_ivalues list = inputs.count ? plm_ivalue_list(&inputs.first[0]) : inputs;
    f->each = list.count ? malloc(list.count * sizeof *f->each) : NULL;
    if (!f->each)
        return false;
    memcpy(f->each, list.first, list.count * sizeof *f->each);
    f->each_count = list.count;
    return true;
}

static bool prepared(struct frame *f, bool parts, struct plm_ivalues inputs)
{
    if (f->is.flags & PLM_OPERATOR_EACH && !keep_each(f, inputs))
        return false;
    mine->busy = true;
    f->pending = plm_python_prepare(&f->is, inputs, parts, &f->expected);
    mine->busy = false;
    return f->pending != NULL;
}

/* What is certain does not follow from what was assumed. */
static bool all_known(const struct given *g)
{
    return g->known && !(g->assumed && g->is->flags & PLM_OPERATOR_CERTAIN);
}

static bool take_computed(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    return all_known(g) && follows(&f->is, g) && prepared(f, false, inputs);
}

/* CERTAIN and PARTIAL: the hook finds out which. */
static bool take_partial(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    return !all_known(g) && follows(&f->is, g) && prepared(f, true, inputs);
}

static bool take_valid(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    (void)g, (void)inputs;
    return validates(&f->is);
}

/* CHOICE, ORDER, PICK and DRAW, by the operator. */
static bool take_choice(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    if (follows(&f->is, g) || !(f->is.flags & PLM_OPERATOR_CHOOSES) || plm_capture_active())
        return false;
    mine->busy = true;
    f->pending = plm_python_choose(&f->is, inputs, g->small && g->some, g->last && !g->open);
    mine->busy = false;
    f->assumed = f->assumed || f->pending;
    return f->pending != NULL;
}

static bool take_unchanged(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    (void)f, (void)inputs;
    return g->nothing;
}

static bool take_number(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    (void)inputs;
    return f->is.flags & PLM_OPERATOR_POSITIVE || f->bounded || (f->is.flags & PLM_OPERATOR_PASSES && g->positive);
}

static bool take_copied(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    (void)g, (void)inputs;
    return f->is.flags & (PLM_OPERATOR_COPIES | PLM_OPERATOR_COLLECTIVE);
}

static bool take_unknown(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    (void)f, (void)g, (void)inputs;
    return true;
}

static void count_large(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number;
    *(bool *)data |= !v->readable || (v->elements && !(on_device(v) && can_hold(v)));
}

static void set_output(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    plm_mark_forget(PLM_MARK_TURNED, v->data); /* it may be a part: the rest is as bounded as it was */
    view_do(v, run_set);
}

static void set_parts(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number;
    mask_do(v, data, row_set);
}

static void mark_output(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const struct frame *f = data;
    (void)number;
    if (f->bounded)
        mark_set(v, PLM_MARK_BOUNDED);
    if (f->turned)
        mark_set(v, PLM_MARK_TURNED);
}

static void mark_output_anew(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number;
    marks_forget(v);
    mark_output(v, number, data);
}

static void assume_output(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    view_do(v, run_assume);
}

/* The hook computes; what it cannot is unknown. */
static void leave_computed(const struct frame *f, struct plm_ivalues outputs)
{
    char mask[PLM_VALUES_ELEMENTS];
    bool large = false;
    int done;
    each_tensor(outputs, count_large, &large);
    mine->busy = true;
    done = plm_python_finish(f->pending, large ? (struct plm_ivalues){NULL, 0} : outputs, mask, sizeof mask);
    mine->busy = false;
    if (done == PLM_FINISH_FAILED)
        each_tensor(outputs, clear_output, NULL);
    else if (done == PLM_FINISH_PARTS)
        each_tensor(outputs, set_parts, mask);
    else
        each_tensor(outputs, set_output, NULL);
    if (done == PLM_FINISH_PARTS)
        each_tensor(outputs, mark_output_anew, (void *)f);
    if (f->assumed && (done == PLM_FINISH_DONE || done == PLM_FINISH_PARTS))
        each_tensor(outputs, assume_output, NULL);
    if (f->assumed || atomic_load_explicit(&size_unknown, memory_order_relaxed))
        each_tensor(outputs, number_refuse, NULL);
}

/* The last of its results is assumed, the others are unknown. */
static void leave_chosen(const struct frame *f, struct plm_ivalues outputs)
{
    const struct plm_ivalues others = {outputs.first, outputs.count ? outputs.count - 1 : 0};
    each_tensor(others, clear_output, NULL);
    leave_computed(f, last_of(outputs, 1));
}

static void leave_unknown(const struct frame *f, struct plm_ivalues outputs)
{
    if (!(f->is.flags & (PLM_OPERATOR_COPIES | PLM_OPERATOR_COLLECTIVE)))
        each_tensor(outputs, clear_output, NULL);
    if (f->bounded || f->turned)
        each_tensor(outputs, mark_output, (void *)f);
}

static void leave_number(const struct frame *f, struct plm_ivalues outputs)
{
    leave_unknown(f, outputs);
    each_tensor(outputs, f->turned && f->is.flags & PLM_OPERATOR_POSITIVE ? number_set_negative : number_set, NULL);
}

static void leave_valid(const struct frame *f, struct plm_ivalues outputs)
{
    leave_unknown(f, outputs);
    each_tensor(outputs, set_true, NULL);
}

/* take: whether the row applies, when the operator begins; NULL: the row before it asks for it too. leave: when it ends; NULL:
   memory stays as it is. */
static const struct {
    bool (*take)(struct frame *f, const struct given *g, struct plm_ivalues inputs);
    void (*leave)(const struct frame *f, struct plm_ivalues outputs);
} leaves[PLM_LEAVES_ROWS] = {
    [PLM_LEAVES_COMPUTED] = {take_computed, leave_computed},
    [PLM_LEAVES_CERTAIN] = {take_partial, leave_computed},
    [PLM_LEAVES_PARTIAL] = {NULL, NULL},
    [PLM_LEAVES_VALID] = {take_valid, leave_valid},
    [PLM_LEAVES_CHOICE] = {take_choice, leave_chosen},
    [PLM_LEAVES_ORDER] = {NULL, NULL},
    [PLM_LEAVES_PICK] = {NULL, NULL},
    [PLM_LEAVES_DRAW] = {NULL, NULL},
    [PLM_LEAVES_UNCHANGED] = {take_unchanged, NULL},
    [PLM_LEAVES_NUMBER] = {take_number, leave_number},
    [PLM_LEAVES_COPIED] = {take_copied, NULL},
    [PLM_LEAVES_UNKNOWN] = {take_unknown, leave_unknown},
};

_Static_assert(PLM_LEAVES_UNKNOWN == PLM_LEAVES_ROWS - 1, "the last row always applies");

static void frame_decide(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    unsigned row = 0;
    while (!leaves[row].take || !leaves[row].take(f, g, inputs))
        row++;
    f->leaves = (enum plm_leaves)row;
}

void plm_values_enter(const void *function)
{
    struct plm_ivalues inputs;
    struct plm_operator is;
    struct given given = {0};
    struct frame frame;
    if (!plm_values_active() || !here() || mine->busy)
        return;
    is = operator_of(function);
    if (!(is.flags & PLM_OPERATOR_LEAF))
        return;
    inputs = last_of(plm_tensors_inputs(function), is.arguments);
    given.is = &is;
    given.known = given.small = is.flags & PLM_OPERATOR_FOLLOWED;
    each_tensor(inputs, look_at, &given);
    given.certain = can_be_certain(&given, inputs);
    if (given.host && !given.device)
        return; /* all of it happens on the host */
    if (given.wrapped) { /* fake, or of a transform; with sparse ones, kernels are launched without an operator */
        each_tensor(inputs, clear_written, &given);
        return;
    }
    if (mine->depth == DEPTH) { /* no program is so deep; nothing that it does goes unnoticed */
        plm_known_forget();
        return;
    }
    if (is.flags & PLM_OPERATOR_ZEROS && followed(&is, &given)) { /* COMPUTED, without the hook */
        each_tensor(inputs, set_zero, NULL);
        return;
    }
    frame = (struct frame){.function = function,
                           .is = is,
                           .expected = -1,
                           .assumed = given.assumed,
                           .least_one = is.flags & PLM_OPERATOR_LEAST_ONE && given.elements};
    if (is.flags & PLM_OPERATOR_DRAWS)
        each_tensor(inputs, look_for_unknown, &frame.draws);
    frame.bounded = leaves_bounded(&is, &given, inputs);
    frame.turned = given.turned != !!(is.flags & PLM_OPERATOR_TURNS);
    frame_decide(&frame, &given, inputs);
    if (!frame.pending && frame.leaves != PLM_LEAVES_UNCHANGED)
        each_tensor(inputs, clear_written, &given);
    mine->frame[mine->depth++] = frame;
}

void plm_values_leave(const void *function)
{
    struct frame f;
    if (!mine || mine->busy || !mine->depth || mine->frame[mine->depth - 1].function != function)
        return;
    f = mine->frame[--mine->depth];
    if (leaves[f.leaves].leave)
        leaves[f.leaves].leave(&f, f.each ? (struct plm_ivalues){f.each, f.each_count}
                                          : last_of(plm_tensors_outputs(function), f.is.returns));
    free(f.each);
}

/* ---- what the runtime does meanwhile ---- */

void plm_values_wrote(uint64_t address, uint64_t bytes)
{
    const unsigned flags = mine && mine->depth ? mine->frame[mine->depth - 1].is.flags : PLM_OPERATOR_COPIES;
    bool right = flags & (PLM_OPERATOR_COPIES | PLM_OPERATOR_COLLECTIVE);
    if (!plm_values_active())
        return;
    if (flags & PLM_OPERATOR_FILLS) {
        mine->depth--;
        right = !inside_another();
        mine->depth++;
    }
    (right ? plm_known_set : plm_known_clear)(address, bytes);
}

/* The operator that will read how large its result is; NULL: none that runs. */
static const struct frame *sized_frame(void)
{
    for (unsigned i = mine ? mine->depth : 0; i-- > 0;)
        if (mine->frame[i].expected >= 0)
            return &mine->frame[i];
    return NULL;
}

int64_t plm_values_expected(void)
{
    const struct frame *f = sized_frame();
    return f ? f->expected : -1;
}

bool plm_values_answer(void *to, size_t bytes, bool assumed)
{
    const struct frame *f = bytes == 1 || bytes == 4 || bytes == 8 ? sized_frame() : NULL;
    if (!f || f->assumed != assumed)
        return false;
    memcpy(to, &f->expected, bytes); /* little-endian: also a part of it */
    return true;
}

bool plm_values_answer_least(void *to, size_t bytes)
{
    const uint64_t one = 1;
    if (!mine || !mine->depth || !mine->frame[mine->depth - 1].least_one || (bytes != 4 && bytes != 8))
        return false;
    memcpy(to, &one, bytes); /* little-endian */
    return true;
}

void plm_values_checking(int more)
{
    if (plm_values_active() && here())
        mine->checking += more;
}

bool plm_values_checks_draw(void)
{
    return plm_values_active() && here() && !mine->busy && mine->depth &&
           mine->frame[mine->depth - 1].is.flags & PLM_OPERATOR_DRAWS;
}

int plm_values_unknown(const struct plm_values_read *read)
{
    int answer;
    if (!plm_values_active() || !here() || mine->busy)
        return -1;
    if (inside_another())
        atomic_store_explicit(&size_unknown, true, memory_order_relaxed);
    mine->busy = true;
    answer = plm_python_unknown(read);
    mine->busy = false;
    return answer;
}

bool plm_values_shown(void)
{
    bool is;
    if (!plm_values_active() || !here() || mine->busy)
        return false;
    mine->busy = true;
    is = plm_python_shown();
    mine->busy = false;
    return is;
}

void plm_values_launched(void)
{
    if (plm_values_active() && !(mine && (mine->depth || mine->told)))
        plm_known_forget();
}

void plm_values_told(const uint64_t *objects, unsigned count)
{
    if (!plm_values_active() || !here())
        return;
    mine->told = count != 0;
    for (unsigned i = 0; i < count; i++) {
        struct plm_tensors_view v;
        plm_tensors_view(objects[i], &v);
        clear_output(&v, 0, NULL);
    }
}
