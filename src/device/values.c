#include "device/values.h"

#include <float.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "device/internal.h"
#include "device/known.h"
#include "device/values_marks.h"
#include "device/parameters.h"
#include "common/policy.h"
#include "device/promised.h"
#include "device/tensors.h"
#include "device/values_numbers.h"
#include "device/values_python.h"
#include "device/values_views.h"
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

/* ---- marks of tensors whose values are not known ---- */

enum { INDEX = 4, TRUTH = 11 }; /* c10::ScalarType of what only says which elements are meant */

static void marks_forget(const struct plm_tensors_view *v)
{
    for (unsigned mark = 0; mark < PLM_VALUES_MARKS; mark++)
        plm_values_mark_forget((enum plm_values_mark)mark, v->data);
}

static void mark_set(const struct plm_tensors_view *v, enum plm_values_mark mark)
{
    if (plm_values_on_device(v))
        plm_values_mark_set(mark, v->data);
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
    if (g->is->flags & PLM_OPERATOR_PUTS_WEIGHTS && plm_values_known(v))
        return; /* what it puts them into */
    g->open |= plm_values_on_device(v) ? !plm_values_mark_has(PLM_VALUES_MARK_BOUNDED, v->data) : host_is_negative(v);
    if (!plm_values_on_device(v))
        return;
    g->twice |= v->data == g->last;
    g->last = v->data;
}

/* On the card what was marked; of the host a single negative number, that of a program's `x * -1`. */
static bool points_back(const struct plm_tensors_view *v)
{
    if (plm_values_on_device(v))
        return plm_values_mark_has(PLM_VALUES_MARK_TURNED, v->data);
    return v->data && v->elements == 1 && host_is_negative(v);
}

/* A product points the other way if one of two does. What is added to a tensor in place leaves its direction. */
static void look_at_direction(const struct plm_tensors_view *v, bool written, struct given *g)
{
    if (g->is->flags & PLM_OPERATOR_DIRECTED)
        g->turned ^= points_back(v);
    else
        g->turned |= written && plm_values_mark_has(PLM_VALUES_MARK_TURNED, v->data);
}

/* Scores of a vocabulary, weights of an embedding. */
static bool is_wide(const struct plm_tensors_view *v)
{
    return v->elements > PLM_VALUES_PARTS && plm_values_is_floating(v);
}

/* Also scores of attention, which have a dimension for heads: nothing is chosen by them. */
static bool is_wide_in_part(const struct plm_tensors_view *v)
{
    return is_wide(v) || (v->dimensions > PLM_VALUES_PARTS_DIMENSIONS && plm_values_is_floating(v));
}

/* Also where something is not known, all of what they are given is looked at. */
enum { BY_ELEMENT = PLM_OPERATOR_PARTS | PLM_OPERATOR_EITHER | PLM_OPERATOR_CERTAIN };

static void look_at_parts(const struct plm_tensors_view *v, unsigned number, struct given *g)
{
    g->floating |= plm_values_is_floating(v);
    g->wide |= is_wide_in_part(v);
    g->undecided |= g->is->decides >> number & 1 && !(g->small && plm_values_some_known(v));
    g->same = !g->first || (g->same && v->data == g->first);
    g->first = g->first ? g->first : v->data;
}

static void look_at(const struct plm_tensors_view *v, unsigned number, void *data)
{
    struct given *g = data;
    const bool written = g->is->writes >> number & 1, needed = g->is->needs >> number & 1;
    const unsigned most = g->is->flags & PLM_OPERATOR_EACH ? EACH_MOST : LIST_MOST;
    if (plm_values_on_device(v))
        g->device = true;
    else if (v->data)
        g->host = true;
    else
        g->wrapped |= !v->readable;
    g->small = g->small && v->readable && ++g->tensors <= most && v->elements <= PLM_VALUES_ELEMENTS &&
               !(g->is->flags & PLM_OPERATOR_ROWS && is_wide(v)) &&
               (!(written || g->is->flags & BY_ELEMENT) || plm_values_can_hold(v));
    g->positive |=
        needed && g->is->flags & (PLM_OPERATOR_FOLLOWED | PLM_OPERATOR_PASSES) && plm_values_number_is_positive(v);
    g->known = g->known && g->small && (!needed || plm_values_known(v));
    if (needed && g->small && g->is->flags & (PLM_OPERATOR_PARTS | PLM_OPERATOR_EITHER | PLM_OPERATOR_CHOOSES))
        *(plm_values_some_known(v) ? &g->some : &g->lacks) = true;
    if (needed && g->is->flags & BY_ELEMENT)
        look_at_parts(v, number, g);
    if (needed && g->is->flags & (PLM_OPERATOR_KEEPS | PLM_OPERATOR_SQUARES | PLM_OPERATOR_CHOOSES))
        look_at_bound(v, g);
    if (needed && g->is->flags & (PLM_OPERATOR_DIRECTED | PLM_OPERATOR_PASSES))
        look_at_direction(v, written, g);
    g->assumed |= needed && plm_values_on_device(v) && plm_known_assumed(v->data, v->extent);
    g->elements |= needed && v->elements;
    g->nothing |= number == 2 && g->is->flags & PLM_OPERATOR_PUTS && !v->elements;
}

static void look_for_unknown(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number;
    *(bool *)data |= !plm_values_known(v);
}

static void clear_written(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const struct given *g = data;
    if (!(g->is->writes >> number & 1) || !plm_values_on_device(v))
        return;
    if (!g->host) /* a copy from there is no update */
        plm_parameter_written(v->data);
    if (!(g->host && g->is->flags & PLM_OPERATOR_COPIES)) /* of a part, that is known then: the rest is what it was */
        marks_forget(v);
    plm_values_each_run(v, plm_values_run_clear);
}

static void clear_output(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    if (!plm_values_on_device(v))
        return;
    marks_forget(v);
    plm_values_each_run(v, plm_values_run_clear);
}

static void set_zero(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    if (plm_values_on_device(v) && plm_memory_backed(v->data, v->extent))
        plm_values_each_run(v, plm_values_run_zero);
}

/* Of truth values, which are a byte each. */
static void set_true(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    if (plm_values_on_device(v) && v->element_bytes == 1 && plm_memory_backed(v->data, v->extent))
        plm_values_each_run(v, plm_values_run_true);
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

static bool choose(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    mine->busy = true;
    f->pending = plm_python_choose(&f->is, inputs, g->small && g->some, g->last && !g->open);
    mine->busy = false;
    f->assumed = f->assumed || f->pending;
    return f->pending != NULL;
}

static bool take_weights(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    return f->is.flags & PLM_OPERATOR_PUTS_WEIGHTS && g->small && g->some && g->last && !g->open &&
           !plm_capture_active() && choose(f, g, inputs);
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
static bool take_chosen(struct frame *f, const struct given *g, struct plm_ivalues inputs)
{
    return f->is.flags & PLM_OPERATOR_CHOOSES && !(f->is.flags & PLM_OPERATOR_PUTS_WEIGHTS) && !follows(&f->is, g) &&
           !plm_capture_active() && choose(f, g, inputs);
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
    *(bool *)data |= !v->readable || (v->elements && !(plm_values_on_device(v) && plm_values_can_hold(v)));
}

static void set_output(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number, (void)data;
    plm_values_mark_forget(PLM_VALUES_MARK_TURNED, v->data); /* it may be a part: the rest is as bounded as it was */
    plm_values_each_run(v, plm_values_run_set);
}

static void set_parts(const struct plm_tensors_view *v, unsigned number, void *data)
{
    (void)number;
    plm_values_mask_set(v, data);
}

static void mark_output(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const struct frame *f = data;
    (void)number;
    if (f->bounded)
        mark_set(v, PLM_VALUES_MARK_BOUNDED);
    if (f->turned)
        mark_set(v, PLM_VALUES_MARK_TURNED);
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
    plm_values_each_run(v, plm_values_run_assume);
}

/* The hook computes; what it cannot is unknown. */
static void leave_computed(const struct frame *f, struct plm_ivalues outputs)
{
    char mask[PLM_VALUES_ELEMENTS];
    bool large = false;
    int done;
    plm_values_each_tensor(outputs, count_large, &large);
    mine->busy = true;
    done = plm_python_finish(f->pending, large ? (struct plm_ivalues){NULL, 0} : outputs, mask, sizeof mask);
    mine->busy = false;
    if (done == PLM_FINISH_FAILED)
        plm_values_each_tensor(outputs, clear_output, NULL);
    else if (done == PLM_FINISH_PARTS)
        plm_values_each_tensor(outputs, set_parts, mask);
    else
        plm_values_each_tensor(outputs, set_output, NULL);
    if (done == PLM_FINISH_PARTS)
        plm_values_each_tensor(outputs, mark_output_anew, (void *)f);
    if (f->assumed && (done == PLM_FINISH_DONE || done == PLM_FINISH_PARTS))
        plm_values_each_tensor(outputs, assume_output, NULL);
    if (f->assumed || atomic_load_explicit(&size_unknown, memory_order_relaxed))
        plm_values_each_tensor(outputs, plm_values_number_refuse, NULL);
}

/* The last of its results is assumed, the others are unknown. */
static void leave_chosen(const struct frame *f, struct plm_ivalues outputs)
{
    const struct plm_ivalues others = {outputs.first, outputs.count ? outputs.count - 1 : 0};
    plm_values_each_tensor(others, clear_output, NULL);
    leave_computed(f, last_of(outputs, 1));
}

static void leave_unknown(const struct frame *f, struct plm_ivalues outputs)
{
    if (!(f->is.flags & (PLM_OPERATOR_COPIES | PLM_OPERATOR_COLLECTIVE)))
        plm_values_each_tensor(outputs, clear_output, NULL);
    if (f->bounded || f->turned)
        plm_values_each_tensor(outputs, mark_output, (void *)f);
}

static void leave_number(const struct frame *f, struct plm_ivalues outputs)
{
    leave_unknown(f, outputs);
    plm_values_each_tensor(outputs,
                           f->turned && f->is.flags & PLM_OPERATOR_POSITIVE ? plm_values_number_set_negative
                                                                            : plm_values_number_set,
                           NULL);
}

static void leave_valid(const struct frame *f, struct plm_ivalues outputs)
{
    leave_unknown(f, outputs);
    plm_values_each_tensor(outputs, set_true, NULL);
}

/* take: whether the row applies, when the operator begins; NULL: the row before it asks for it too. leave: when it ends; NULL:
   memory stays as it is. */
static const struct {
    bool (*take)(struct frame *f, const struct given *g, struct plm_ivalues inputs);
    void (*leave)(const struct frame *f, struct plm_ivalues outputs);
} leaves[PLM_LEAVES_ROWS] = {
    [PLM_LEAVES_COMPUTED] = {take_computed, leave_computed},
    [PLM_LEAVES_WEIGHTS] = {take_weights, leave_chosen},
    [PLM_LEAVES_CERTAIN] = {take_partial, leave_computed},
    [PLM_LEAVES_PARTIAL] = {NULL, NULL},
    [PLM_LEAVES_VALID] = {take_valid, leave_valid},
    [PLM_LEAVES_CHOICE] = {take_chosen, leave_chosen},
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
    plm_values_each_tensor(inputs, look_at, &given);
    given.certain = can_be_certain(&given, inputs);
    if (given.host && !given.device)
        return; /* all of it happens on the host */
    if (given.wrapped) { /* fake, or of a transform; with sparse ones, kernels are launched without an operator */
        plm_values_each_tensor(inputs, clear_written, &given);
        return;
    }
    if (mine->depth == DEPTH) { /* no program is so deep; nothing that it does goes unnoticed */
        plm_known_forget();
        return;
    }
    if (is.flags & PLM_OPERATOR_ZEROS && followed(&is, &given)) { /* COMPUTED, without the hook */
        plm_values_each_tensor(inputs, set_zero, NULL);
        return;
    }
    frame = (struct frame){.function = function,
                           .is = is,
                           .expected = -1,
                           .assumed = given.assumed,
                           .least_one = is.flags & PLM_OPERATOR_LEAST_ONE && given.elements};
    if (is.flags & PLM_OPERATOR_DRAWS)
        plm_values_each_tensor(inputs, look_for_unknown, &frame.draws);
    frame.bounded = leaves_bounded(&is, &given, inputs);
    frame.turned = given.turned != !!(is.flags & PLM_OPERATOR_TURNS);
    frame_decide(&frame, &given, inputs);
    if (!frame.pending && frame.leaves != PLM_LEAVES_UNCHANGED)
        plm_values_each_tensor(inputs, clear_written, &given);
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
