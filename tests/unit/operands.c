/* Sizes of tensors: located in objects that are laid out as PyTorch might, read, and told before launches without counts. */
#include <stdlib.h>

#include "device/calls.h"
#include "device/context.h"
#include "device/module.h"
#include "device/operands.h"
#include "device/tensors.h"
#include "record/writer.h"
#include "unit.h"

/* ---- objects ---- */

struct tensor {
    uint64_t table, counts, storage[3];
    uint64_t dimensions;
    union {
        int64_t *outside;
        int64_t inside[10];
    };
    int64_t offset, elements;
    uint16_t type, device;
    uint32_t flags;
    uint64_t keys;
};

enum { FLOAT = 6, HALF = 5, SHORT = 2, BOOL = 11, DOUBLE = 7, UNHEARD_OF = 40 };
enum { TENSOR_TAG = 1, INT_TAG = 5, LIST_TAG = 16 };

static struct tensor *tensor(uint16_t type, unsigned dimensions, const int64_t *size)
{
    struct tensor *t = calloc(1, sizeof *t);
    int64_t *sizes, *strides, stride = 1;
    assert_non_null(t);
    t->table = 0x7f0012345678, t->counts = 0x100000001, t->keys = 77, t->type = type, t->flags = 9;
    t->dimensions = dimensions;
    if (dimensions > 5)
        t->outside = calloc(dimensions, 16);
    sizes = dimensions > 5 ? t->outside : t->inside;
    strides = sizes + (dimensions > 5 ? dimensions : 5);
    for (unsigned i = dimensions; i-- > 0; stride *= size[i])
        sizes[i] = size[i], strides[i] = stride;
    t->elements = stride;
    return t;
}

#define TENSOR(type, ...) tensor(type, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static struct plm_tensors_sample sample(const struct tensor *t)
{
    struct plm_tensors_sample s = {.object = (uint64_t)t, .type = t->type, .dimensions = (uint32_t)t->dimensions};
    memcpy(s.size, t->dimensions > 5 ? t->outside : t->inside, 8 * t->dimensions);
    return s;
}

struct value {
    uint64_t payload;
    uint32_t tag, unused;
};

struct list {
    uint64_t table, counts;
    struct value *first, *end, *room;
};

/* A RecordFunction, with its inputs near it on the stack. */
enum { SEQUENCE_AT = 24 };
struct function {
    uint64_t words[4];
    struct value *inputs;
    uint64_t count;
    uint64_t more[8];
    struct value value[4];
};

static void give(struct function *f, unsigned count, const struct value *values)
{
    memset(f, 0, sizeof *f);
    f->inputs = f->value;
    f->count = count;
    memcpy(f->value, values, count * sizeof *values);
}

#define GIVE(function, ...) \
    give(function, sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value), (struct value[]){__VA_ARGS__})
#define OF(tensor) {(uint64_t)(tensor), TENSOR_TAG, 0}

static struct list *list_of(const struct tensor *a, const struct tensor *b)
{
    struct list *l = calloc(1, sizeof *l);
    l->first = calloc(2, sizeof *l->first);
    l->first[0] = (struct value)OF(a);
    l->first[1] = (struct value)OF(b);
    l->end = l->room = l->first + 2;
    return l;
}

/* ---- locating ---- */

static unsigned samples_make(struct plm_tensors_sample *s)
{
    s[0] = sample(TENSOR(FLOAT, 3, 5, 7, 11));
    s[1] = sample(TENSOR(SHORT, 13, 17));
    s[2] = sample(tensor(HALF, 0, NULL));
    s[3] = sample(TENSOR(BOOL, 19));
    s[4] = sample(TENSOR(DOUBLE, 2, 3, 5, 7, 11, 13));
    return 5;
}

static void nothing_is_known_by_itself(void **state)
{
    struct plm_tensors_sample s[5];
    struct function f;
    const struct tensor *a = TENSOR(FLOAT, 3, 5), *b = TENSOR(FLOAT, 3, 5);
    const uint64_t pair[] = {(uint64_t)a, (uint64_t)b};
    (void)state;
    assert_false(plm_tensors_known());
    assert_false(plm_tensors_learn_type((uint64_t)a, 4));
    GIVE(&f, OF(a), OF(b));
    assert_false(plm_tensors_locate_list(&f, pair));
    samples_make(s);
    assert_false(plm_tensors_locate(s, 4)); /* none with more than five dimensions */
    s[1].size[0] = 14;
    assert_false(plm_tensors_locate(s, 5)); /* a tensor that is not what it is said to be */
    samples_make(s);
    s[3].type = FLOAT;
    assert_false(plm_tensors_locate(s, 5));
    samples_make(s);
    ((struct tensor *)s[0].object)->inside[6] = 1; /* another stride */
    assert_false(plm_tensors_locate(s, 5));
    samples_make(s);
    for (int i = 0; i < 5; i++)
        ((struct tensor *)s[i].object)->offset = ((struct tensor *)s[i].object)->elements;
    assert_false(plm_tensors_locate(s, 5)); /* two places that may be it */
    plm_operands_start();
    assert_false(plm_operands_looking());
}

static void locating(void **state)
{
    struct plm_tensors_sample s[5];
    struct function f;
    const struct tensor *a = TENSOR(FLOAT, 3, 5), *b = TENSOR(FLOAT, 3, 5);
    const uint64_t pair[] = {(uint64_t)a, (uint64_t)b}, other[] = {(uint64_t)b, (uint64_t)a};
    (void)state;
    assert_true(plm_tensors_locate(s, samples_make(s)));
    assert_true(plm_tensors_learn_type(s[0].object, 4));
    assert_true(plm_tensors_learn_type(s[1].object, 2));
    assert_true(plm_tensors_learn_type(s[2].object, 2));
    assert_true(plm_tensors_learn_type(s[4].object, 8));
    GIVE(&f, OF(a), OF(b));
    assert_false(plm_tensors_locate_inputs(&f, SEQUENCE_AT + 8, other));
    assert_true(plm_tensors_locate_inputs(&f, SEQUENCE_AT + 8, pair));
    GIVE(&f, {(uint64_t)list_of(a, b), LIST_TAG, 0});
    assert_false(plm_tensors_locate_list(&f, other));
    assert_false(plm_tensors_known());
    assert_true(plm_tensors_locate_list(&f, pair));
    assert_true(plm_tensors_known());
}

/* ---- reading ---- */

static void adding(void **state)
{
    struct plm_ev_operands o = {0};
    struct tensor *wide = TENSOR(FLOAT, 8, 100), *odd = TENSOR(FLOAT, 4, 4);
    (void)state;
    wide->inside[5] = 0; /* expanded: one row, eight times */
    odd->elements = 15;
    plm_tensors_add((uint64_t)TENSOR(HALF, 10, 9), &o);
    plm_tensors_add((uint64_t)wide, &o);
    plm_tensors_add((uint64_t)TENSOR(DOUBLE, 2, 2, 2, 2, 2, 3), &o);
    plm_tensors_add((uint64_t)TENSOR(SHORT, 5, 20, 4), &o);
    plm_tensors_add((uint64_t)TENSOR(UNHEARD_OF, 5000), &o);
    plm_tensors_add((uint64_t)odd, &o);
    plm_tensors_add(0, &o);
    assert_int_equal(o.tensors, 4);
    assert_int_equal(o.elements, 800);
    assert_int_equal(o.element_bytes, 4);
    assert_int_equal(o.second_elements, 400);
    assert_int_equal(o.bytes, 2 * 90 + 4 * 100 + 8 * 96 + 2 * 400);
    assert_int_equal(o.first_dimensions, 2);
    assert_int_equal(o.first_element_bytes, 2);
    assert_int_equal(o.first_1, 10);
    assert_int_equal(o.first_2, 9);
    assert_int_equal(o.first_3, 0);
    assert_int_equal(o.second_2, 100);
    assert_int_equal(o.third_dimensions, 6);
    assert_int_equal(o.third_element_bytes, 8);
    assert_int_equal(o.third_4, 2);
}

static void inputs_of_all_kinds(void **state)
{
    struct plm_ev_operands o = {0};
    struct function f;
    (void)state;
    GIVE(&f, {3, INT_TAG, 0}, OF(TENSOR(FLOAT, 6)),
         {(uint64_t)list_of(TENSOR(FLOAT, 7), TENSOR(FLOAT, 8)), LIST_TAG, 0});
    plm_tensors_add_inputs(&f, &o);
    assert_int_equal(o.tensors, 3);
    assert_int_equal(o.first_1, 6);
    assert_int_equal(o.third_1, 8);
    assert_int_equal(o.bytes, 4 * 21);
}

/* ---- launches ---- */

static int take(struct unit_event **first)
{
    return unit_take(unit_path("operands.plm"), first);
}

static void launch(uint32_t blocks)
{
    static struct plm_module *module;
    struct plm_kernel *k = NULL;
    if (!module)
        assert_int_equal(plm_module_open(".version 8.0\n.target sm_50\n", &module), 0);
    assert_int_equal(plm_module_kernel(module, "softmax", &k), 0);
    plm_call_kernel(k, &(struct plm_call_shape){{blocks, 1, 1}, {128, 1, 1}, 0}, NULL, NULL, true);
}

/* An operator that launches one kernel. NULL: its inputs are not looked at. */
static void run(const struct tensor *input, uint32_t blocks)
{
    struct function f;
    GIVE(&f, OF(input));
    plm_context_enter_operator(&f, "aten::softmax");
    if (input)
        plm_operands_enter(&f);
    launch(blocks);
    plm_context_leave_operator(&f);
}

/* What one `run` leaves: a launch, and operands before it with so many elements; -1: none. */
static void expect(int64_t elements)
{
    struct unit_event *e;
    assert_int_equal(take(&e), elements < 0 ? 1 : 2);
    if (elements >= 0) {
        assert_int_equal(e->type, PLM_EV_OPERANDS);
        assert_int_equal(e->word[0] & 0xffffffff, e[1].word[0] & 0xffffffff);
        assert_int_equal(e->word[0] >> 32, elements ? 1 : 0);
        assert_int_equal(e->word[2], elements);
        e++;
    }
    assert_int_equal(e->type, PLM_EV_LAUNCH);
}

static void once_until_it_changes(void **state)
{
    struct tensor *small = TENSOR(FLOAT, 30), *large = TENSOR(FLOAT, 50);
    (void)state;
    run(small, 3);
    expect(-1); /* nothing is written before all is known */
    plm_operands_start();
    assert_true(plm_operands_looking());
    run(small, 3);
    expect(30);
    run(small, 3);
    expect(-1);
    run(large, 5);
    expect(50);
    run(NULL, 5); /* the same launch: remembered */
    expect(-1);
    run(NULL, 3);
    expect(30);
    run(NULL, 9); /* one that nobody saw: what was said does not hold for it */
    expect(0);
    run(large, 9);
    expect(50);
}

static void looking(void **state)
{
    struct tensor *x = TENSOR(FLOAT, 70);
    (void)state;
    plm_operands_pass(true);
    run(x, 7);
    expect(70);
    plm_operands_pass(false); /* something was new */
    assert_true(plm_operands_looking());
    run(x, 7);
    expect(-1);
    plm_operands_pass(false);
    assert_false(plm_operands_looking());
    run(NULL, 7);
    expect(-1);
    plm_operands_pass(true); /* the model is given something else */
    assert_true(plm_operands_looking());
    plm_operands_pass(false);
    assert_false(plm_operands_looking());
    run(NULL, 71); /* a launch that is new */
    expect(0);
    assert_true(plm_operands_looking());
    plm_operands_pass(false);
    plm_operands_pass(false);
    assert_false(plm_operands_looking());
    for (int i = 0; i < 16 && !plm_operands_looking(); i++)
        plm_operands_pass(false);
    assert_true(plm_operands_looking()); /* now and then anyway */
}

/* What only makes room works for the operator around it; what has no operator has no operands. */
static void frames(void **state)
{
    struct function outer, inner;
    struct tensor *x = TENSOR(FLOAT, 44);
    (void)state;
    GIVE(&outer, OF(x));
    GIVE(&inner, OF(TENSOR(FLOAT, 1000)));
    plm_context_enter_operator(&outer, "aten::cumsum");
    plm_operands_enter(&outer);
    plm_context_enter_operator(&inner, "aten::empty_like");
    plm_operands_enter(&inner);
    launch(44);
    expect(44);
    plm_context_leave_operator(&inner);
    launch(44);
    expect(-1);
    plm_context_leave_operator(&outer);
    launch(44);
    expect(-1);
}

static void told_by_the_hook(void **state)
{
    const uint64_t object = (uint64_t)TENSOR(FLOAT, 123);
    (void)state;
    plm_context_enter_module(plm_record_text("compiled"), 0);
    plm_operands_tell(&object, 1);
    launch(1);
    expect(123);
    run(TENSOR(FLOAT, 5), 5); /* an operator in between has its own */
    expect(5);
    launch(2);
    expect(-1);
    plm_operands_tell(NULL, 0);
    launch(1);
    expect(0);
    plm_context_leave();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_by_itself),
        cmocka_unit_test(locating),
        cmocka_unit_test(adding),
        cmocka_unit_test(inputs_of_all_kinds),
        cmocka_unit_test(once_until_it_changes),
        cmocka_unit_test(looking),
        cmocka_unit_test(frames),
        cmocka_unit_test(told_by_the_hook),
    };
    unit_record(unit_path("operands.plm"));
    return RUN(tests);
}
