#include "device/values_python.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "device/context.h"
#include "device/internal.h"
#include "device/python_api.h"
#include "device/values.h"
#include "device/values_views.h"

enum { BUF_WRITE = 0x200 }; /* PyBUF_WRITE */

static struct {
    struct plm_object *classify, *prepare, *choose, *finish, *unknown, *shown;
} hook;

/* ---- the lock, and errors ---- */

struct entered {
    int lock;
    int threads, mkl_threads; /* of python_compute() */
    struct plm_object *error[3];
};

static struct entered python_enter(void)
{
    struct entered e = {.lock = plm_python.lock()};
    plm_python.error_keep(&e.error[0], &e.error[1], &e.error[2]);
    return e;
}

static void python_leave(const struct entered *e)
{
    plm_python.error_restore(e->error[0], e->error[1], e->error[2]); /* what the hook raised goes */
    plm_python.unlock(e->lock);
}

/* Takes the arguments, of which none may be NULL. */
static struct plm_object *call(struct plm_object *function, struct plm_object *const *arguments, intptr_t count)
{
    struct plm_object *tuple = plm_python.new_tuple(count), *result = NULL;
    bool whole = tuple != NULL;
    for (intptr_t i = 0; i < count; i++) {
        whole &= arguments[i] != NULL;
        if (tuple && arguments[i])
            plm_python.tuple_set(tuple, i, arguments[i]);
        else if (arguments[i])
            plm_python.drop(arguments[i]);
    }
    if (whole)
        result = plm_python.call(function, tuple);
    if (tuple)
        plm_python.drop(tuple);
    return result;
}

/* ---- threads ----
 *
 * What the hook computes is small: threads that PyTorch would wake for it spin for longer than the work takes. How many OpenMP and
 * MKL take for a thread's next work are numbers of that thread. torch.set_num_threads() would change those of new threads too. */

static struct {
    int (*have)(void); /* at::get_num_threads(); sets a new thread's number as the program wants it */
    void (*set)(int);  /* omp_set_num_threads() of the library that PyTorch uses */
    int (*set_mkl)(int); /* MKL_Set_Num_Threads_Local(), which returns what was set. NULL: this PyTorch has no MKL */
} threads;

static void threads_find(void)
{
    void *torch = plm_loaded("libtorch_cpu.so");
    threads.have = (int (*)(void))plm_device_torch_function(PLM_TORCH_THREADS);
    threads.set = torch ? (void (*)(int))dlsym(torch, "omp_set_num_threads") : NULL;
    threads.set_mkl = torch ? (int (*)(int))dlsym(torch, "MKL_Set_Num_Threads_Local") : NULL;
}

/* Like python_enter(), and whatever is computed until python_computed() runs in this thread alone. */
static struct entered python_compute(void)
{
    struct entered e = python_enter();
    e.threads = threads.have && threads.set ? threads.have() : 1;
    if (e.threads > 1)
        threads.set(1);
    if (e.threads > 1 && threads.set_mkl)
        e.mkl_threads = threads.set_mkl(1);
    return e;
}

static void python_computed(const struct entered *e)
{
    if (e->threads > 1)
        threads.set(e->threads);
    if (e->threads > 1 && threads.set_mkl)
        threads.set_mkl(e->mkl_threads);
    python_leave(e);
}

/* ---- values as objects ---- */

static struct plm_object *numbers(const int64_t *values, unsigned count)
{
    struct plm_object *tuple = plm_python.new_tuple(count);
    for (unsigned i = 0; tuple && i < count; i++)
        plm_python.tuple_set(tuple, i, plm_python.new_int(values[i]));
    return tuple;
}

static struct plm_object *mask_of(const struct plm_tensors_view *v)
{
    struct plm_object *bytes = plm_python.new_bytes(NULL, (intptr_t)v->elements);
    if (bytes)
        plm_values_mask(v, plm_python.bytes(bytes));
    return bytes;
}

static struct plm_object *tensor(uint64_t object, bool parts)
{
    struct plm_tensors_view v;
    struct plm_object *tuple = plm_python.new_tuple(parts ? 5 : 4);
    plm_tensors_view(object, &v);
    if (!tuple || !v.readable) {
        if (tuple)
            plm_python.drop(tuple);
        return v.undefined ? plm_python_none() : NULL;
    }
    plm_python.tuple_set(tuple, 0,
                         v.data && v.extent ? plm_python.new_memory((char *)v.data, (intptr_t)v.extent, BUF_WRITE)
                                            : plm_python_none());
    plm_python.tuple_set(tuple, 1, plm_python.new_int(v.type));
    plm_python.tuple_set(tuple, 2, numbers(v.sizes, v.dimensions));
    plm_python.tuple_set(tuple, 3, numbers(v.strides, v.dimensions));
    if (parts)
        plm_python.tuple_set(tuple, 4, mask_of(&v));
    return tuple;
}

static struct plm_object *value_of(const struct plm_ivalue *v, bool parts);

static struct plm_object *list(struct plm_ivalues values, bool parts)
{
    struct plm_object *made = plm_python.new_list((intptr_t)values.count);
    for (uint64_t i = 0; made && i < values.count; i++) {
        struct plm_object *item = value_of(&values.first[i], parts);
        if (!item) {
            plm_python.drop(made);
            return NULL;
        }
        plm_python.list_set(made, (intptr_t)i, item);
    }
    return made;
}

static struct plm_object *floating(uint64_t payload)
{
    double value;
    memcpy(&value, &payload, sizeof value);
    return plm_python.new_double(value);
}

/* NULL: of a kind that is not followed. */
static struct plm_object *value_of(const struct plm_ivalue *v, bool parts)
{
    switch (plm_ivalue_kind(v)) {
    case PLM_IVALUE_TENSOR: return tensor(v->payload, parts);
    case PLM_IVALUE_LIST: return list(plm_ivalue_list(v), parts);
    case PLM_IVALUE_NONE:
    case PLM_IVALUE_DEVICE: return plm_python_none(); /* the hook's is the CPU */
    case PLM_IVALUE_INT: return plm_python.new_int((long long)v->payload);
    case PLM_IVALUE_DOUBLE: return floating(v->payload);
    case PLM_IVALUE_BOOL: return plm_python.new_bool((long)(v->payload & 1));
    case PLM_IVALUE_TEXT: return plm_python.new_text(plm_ivalue_text(v));
    default: return NULL;
    }
}

/* ---- calls of the hook ---- */

static uint64_t item(struct plm_object *tuple, intptr_t number)
{
    return (uint64_t)plm_python.as_int(plm_python.tuple_item(tuple, number));
}

struct plm_operator plm_python_classify(const void *function)
{
    struct plm_operator is = {
        .flags = PLM_OPERATOR_LEAF, .arguments = ~0u, .returns = ~0u, .writes = ~0ull, .needs = ~0ull};
    char name[128], overload[128];
    struct entered e;
    struct plm_object *result;
    if (!plm_observe_operator(function, name, overload, sizeof name))
        return (struct plm_operator){0}; /* a name for a profiler */
    e = python_enter();
    result = call(hook.classify, (struct plm_object *[]){plm_python.new_text(name), plm_python.new_text(overload)}, 2);
    if (result && plm_python.tuple_size(result) == 7)
        is = (struct plm_operator){.number = (uint32_t)item(result, 0),
                                   .flags = (unsigned)item(result, 1),
                                   .arguments = (unsigned)item(result, 2),
                                   .returns = (unsigned)item(result, 3),
                                   .writes = item(result, 4),
                                   .needs = item(result, 5),
                                   .decides = item(result, 6)};
    if (result)
        plm_python.drop(result);
    python_leave(&e);
    return is;
}

void *plm_python_prepare(const struct plm_operator *is, struct plm_ivalues inputs, bool parts, int64_t *expected)
{
    struct entered e = python_compute();
    struct plm_object *result =
        call(hook.prepare, (struct plm_object *[]){plm_python.new_int(is->number), list(inputs, parts)}, 2);
    struct plm_object *pending = NULL;
    if (result && plm_python.tuple_size(result) == 2) {
        pending = plm_python.tuple_item(result, 0);
        plm_python.keep(pending);
        *expected = (int64_t)item(result, 1);
    }
    if (result)
        plm_python.drop(result);
    python_computed(&e);
    return pending;
}

void *plm_python_choose(const struct plm_operator *is, struct plm_ivalues inputs, bool parts, bool bounded)
{
    struct entered e = python_compute();
    struct plm_object *pending = call(
        hook.choose,
        (struct plm_object *[]){plm_python.new_int(is->number), list(inputs, parts), plm_python.new_bool(bounded)}, 3);
    if (pending == plm_python.none) {
        plm_python.drop(pending);
        pending = NULL;
    }
    python_computed(&e);
    return pending;
}

/* The hook returns one of PLM_FINISH_..., or a mask. */
static int finished(struct plm_object *result, char *mask, size_t size)
{
    char *bytes;
    intptr_t length;
    long long code;
    if (!result)
        return PLM_FINISH_FAILED;
    if (plm_python.bytes_of(result, &bytes, &length) == 0) {
        if ((size_t)length > size)
            return PLM_FINISH_FAILED;
        memcpy(mask, bytes, (size_t)length);
        return PLM_FINISH_PARTS;
    }
    plm_python.error_clear();
    code = plm_python.as_int(result);
    return code == PLM_FINISH_DONE || code == PLM_FINISH_CERTAIN ? (int)code : PLM_FINISH_FAILED;
}

int plm_python_finish(void *pending, struct plm_ivalues outputs, char *mask, size_t size)
{
    struct entered e = python_compute();
    int done = PLM_FINISH_FAILED;
    if (outputs.count) {
        struct plm_object *result;
        plm_python.keep(pending);
        result = call(hook.finish, (struct plm_object *[]){pending, list(outputs, false)}, 2);
        done = finished(result, mask, size);
        if (result)
            plm_python.drop(result);
    }
    plm_python.drop(pending);
    python_computed(&e);
    return done;
}

int plm_python_unknown(const struct plm_values_read *read)
{
    struct entered e = python_enter();
    struct plm_object *result =
        call(hook.unknown,
             (struct plm_object *[]){plm_python.new_bool(read->truth), plm_python.new_bool(read->zero),
                                     plm_python.new_bool(read->assumed)},
             3);
    int answer = -1;
    if (result) {
        answer = result != plm_python.none ? (int)plm_python.as_int(result) : -1;
        plm_python.drop(result);
    }
    python_leave(&e);
    return answer;
}

bool plm_python_shown(void)
{
    struct entered e = python_enter();
    struct plm_object *result = call(hook.shown, NULL, 0);
    const bool is = result && plm_python.is_true(result) == 1;
    if (result)
        plm_python.drop(result);
    python_leave(&e);
    return is;
}

/* ---- start ---- */

__attribute__((visibility("default"))) int plm_hook_values(struct plm_object *classify, struct plm_object *prepare,
                                                           struct plm_object *choose, struct plm_object *finish,
                                                           struct plm_object *unknown, struct plm_object *shown);

/* The functions of the hook, which are kept; called with ctypes.PyDLL, once. False: this Python cannot. */
int plm_hook_values(struct plm_object *classify, struct plm_object *prepare, struct plm_object *choose,
                    struct plm_object *finish, struct plm_object *unknown, struct plm_object *shown)
{
    struct plm_object *const given[] = {classify, prepare, choose, finish, unknown, shown};
    if (!plm_python_find())
        return false;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        plm_python.keep(given[i]);
    hook.classify = classify;
    hook.prepare = prepare;
    hook.choose = choose;
    hook.finish = finish;
    hook.unknown = unknown;
    hook.shown = shown;
    threads_find();
    if (!plm_tensors_values_known())
        return false;
    plm_values_start();
    return true;
}
