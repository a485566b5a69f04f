#include "device/values_numbers.h"

#include <stdatomic.h>
#include <string.h>

#include "device/internal.h"
#include "device/values_views.h"
#include "record/writer.h"

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

bool plm_values_is_floating(const struct plm_tensors_view *v)
{
    return floating_type(v) < NUMBER_TYPES;
}

/* Its row; NUMBER_TYPES: it is no single number of floating point that memory can hold. */
static int number_type(const struct plm_tensors_view *v)
{
    int i;
    if (v->elements != 1 || !v->readable)
        return NUMBER_TYPES;
    i = floating_type(v);
    return plm_values_on_device(v) && plm_memory_backed(v->data, v->extent) ? i : NUMBER_TYPES;
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
    plm_values_each_run(v, plm_values_run_set);
    plm_values_each_run(v, plm_values_run_assume);
}

void plm_values_number_refuse(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const int type = number_type(v);
    (void)number, (void)data;
    if (type == NUMBER_TYPES ||
        (number_held(v, type) & ~(1ull << (8 * number_types[type].bytes - 1))) <= number_types[type].infinity)
        return;
    memset((void *)v->data, 0, number_types[type].bytes);
    number_assume(v, type);
}

void plm_values_number_set(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const int type = number_type(v);
    (void)number, (void)data;
    if (type < NUMBER_TYPES)
        number_assume(v, type);
}

void plm_values_number_set_negative(const struct plm_tensors_view *v, unsigned number, void *data)
{
    const int type = number_type(v);
    plm_values_number_set(v, number, data);
    if (type < NUMBER_TYPES)
        ((char *)v->data)[number_types[type].bytes - 1] |= (char)0x80; /* little-endian: the sign */
}

/* One that was written by something else, and is read as what it was, is that for what follows from it too: a scale after
   a step of the optimizer. */
bool plm_values_number_is_positive(const struct plm_tensors_view *v)
{
    const int type = number_type(v);
    if (type == NUMBER_TYPES || number_is_zero(v, type))
        return false;
    if (!plm_values_known(v) && !plm_capture_active())
        number_assume(v, type);
    return true;
}
