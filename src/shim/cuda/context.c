#include <stdatomic.h>
#include <stdlib.h>

#include "device/lock.h"
#include "shim/cuda/driver.h"

/*
 * Contexts and each thread's stack of them.
 *
 * The runtime knows only a current device. So the two are kept in step here: making a context current
 * selects its device, and when the selected device is not that of the top of the stack any more, the
 * runtime was told another one and its primary context has taken that place.
 */

enum { STACK_MAX = 64 };

static struct plm_cu_context primaries[PLM_DEVICES_MAX];
static struct plm_cu_context *made; /* by the application; never freed, so that stale handles are found dead */
static struct plm_lock made_lock = PLM_LOCK_INIT(PLM_LOCK_SHIM);
PLM_LOCK_JOINS(made_lock)
static _Atomic uint64_t next_id = PLM_DEVICES_MAX + 1;

/* initial-exec: the dynamic model may allocate on first use, inside somebody's malloc. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    struct plm_cu_context *stack[STACK_MAX];
    int depth;
    bool detached; /* the application made "no context" current */
    int detached_device;
} thread;

__attribute__((constructor)) static void name_primaries(void)
{
    for (int i = 0; i < PLM_DEVICES_MAX; i++) {
        primaries[i].device = i;
        primaries[i].primary = true;
        primaries[i].alive = true;
        primaries[i].id = (uint64_t)i + 1;
    }
}

struct plm_cu_context *plm_cu_primary(int device)
{
    return &primaries[device];
}

bool plm_cu_context_valid(const struct plm_cu_context *context)
{
    bool found = false;
    if (context >= primaries && context < primaries + plm_device_count())
        return context->alive;
    plm_lock_take(&made_lock);
    for (const struct plm_cu_context *c = made; c; c = c->next)
        found |= c == context && c->alive;
    plm_lock_give(&made_lock);
    return found;
}

struct plm_cu_context *plm_cu_current(void)
{
    int device = plm_device_current();

    if (thread.depth) {
        struct plm_cu_context **top = &thread.stack[thread.depth - 1];
        if ((*top)->device != device)
            *top = plm_cu_primary(device);
        return *top;
    }
    if (thread.detached && thread.detached_device == device)
        return NULL;
    thread.detached = false;
    /* The runtime binds a thread to its device's context on first use. */
    return plm_device_count() > 0 && plm_device_active(device) ? plm_cu_primary(device) : NULL;
}

int plm_cu_device(int *device)
{
    const struct plm_cu_context *context = plm_cu_current();
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    *device = context->device;
    return 0;
}

int plm_cu_blocking(int *device)
{
    int status = plm_cu_device(device);
    return status ? status : plm_cu_from_stream(plm_capture_unsafe_call());
}

/* ---- the stack ---- */

static void follow_top(void)
{
    if (thread.depth) {
        plm_device_select(thread.stack[thread.depth - 1]->device);
        return;
    }
    thread.detached = true;
    thread.detached_device = plm_device_current();
}

PLM_API int cuCtxPushCurrent_v2(struct plm_cu_context *context)
{
    if (!plm_cu_context_valid(context))
        return PLM_CU_INVALID_CONTEXT;
    if (!thread.depth) {
        struct plm_cu_context *implicit = plm_cu_current();
        if (implicit)
            thread.stack[thread.depth++] = implicit;
    }
    if (thread.depth == STACK_MAX)
        return PLM_CU_OUT_OF_MEMORY;
    thread.stack[thread.depth++] = context;
    follow_top();
    return 0;
}
PLM_API int cuCtxPushCurrent(struct plm_cu_context *context) __attribute__((alias("cuCtxPushCurrent_v2")));

PLM_API int cuCtxPopCurrent_v2(struct plm_cu_context **out)
{
    struct plm_cu_context *context = plm_cu_current();
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    if (thread.depth)
        thread.depth--;
    follow_top();
    if (out)
        *out = context;
    return 0;
}
PLM_API int cuCtxPopCurrent(struct plm_cu_context **out) __attribute__((alias("cuCtxPopCurrent_v2")));

PLM_API int cuCtxSetCurrent(struct plm_cu_context *context)
{
    if (!context)
        return plm_cu_current() ? cuCtxPopCurrent_v2(NULL) : 0;
    if (!plm_cu_context_valid(context))
        return PLM_CU_INVALID_CONTEXT;
    if (thread.depth)
        thread.depth--;
    thread.stack[thread.depth++] = context;
    follow_top();
    return 0;
}

PLM_API int cuCtxGetCurrent(struct plm_cu_context **out)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    *out = plm_cu_current();
    return 0;
}

PLM_API int cuCtxGetDevice(int *device)
{
    return device ? plm_cu_device(device) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuCtxGetDevice_v2(int *device, struct plm_cu_context *context)
{
    if (!device)
        return PLM_CU_INVALID_VALUE;
    if (!context)
        return plm_cu_device(device);
    if (!plm_cu_context_valid(context))
        return PLM_CU_INVALID_CONTEXT;
    *device = context->device;
    return 0;
}

/* ---- making and ending them ---- */

static int context_create(struct plm_cu_context **out, unsigned flags, int device)
{
    struct plm_cu_context *context;
    int status;

    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    context = calloc(1, sizeof *context);
    if (!context)
        return PLM_CU_OUT_OF_MEMORY;
    context->device = device;
    context->flags = flags;
    context->alive = true;
    context->id = atomic_fetch_add(&next_id, 1);
    plm_lock_take(&made_lock);
    context->next = made;
    made = context;
    plm_lock_give(&made_lock);
    plm_device_activate(device);
    status = cuCtxPushCurrent_v2(context);
    if (status)
        context->alive = false;
    else
        *out = context;
    return status;
}

PLM_API int cuCtxCreate_v2(struct plm_cu_context **out, unsigned flags, int device)
{
    return context_create(out, flags, device);
}
PLM_API int cuCtxCreate(struct plm_cu_context **out, unsigned flags, int device)
    __attribute__((alias("cuCtxCreate_v2")));

/* An execution affinity limits the number of SMs; without one this is the plain call. */
PLM_API int cuCtxCreate_v3(struct plm_cu_context **out, const void *affinity, int count, unsigned flags, int device)
{
    static const struct plm_symbol symbol = {"cuda", "cuCtxCreate_v3"};
    if (affinity && count > 0)
        return plm_cu_refuse(&symbol);
    return context_create(out, flags, device);
}

struct create_params {
    const void *affinity;
    int affinity_count;
    const void *graphics;
};

PLM_API int cuCtxCreate_v4(struct plm_cu_context **out, const struct create_params *params, unsigned flags, int device)
{
    static const struct plm_symbol symbol = {"cuda", "cuCtxCreate_v4"};
    if (params && ((params->affinity && params->affinity_count > 0) || params->graphics))
        return plm_cu_refuse(&symbol);
    return context_create(out, flags, device);
}

PLM_API int cuCtxDestroy_v2(struct plm_cu_context *context)
{
    if (!plm_cu_context_valid(context) || context->primary)
        return PLM_CU_INVALID_CONTEXT;
    if (thread.depth && thread.stack[thread.depth - 1] == context) {
        thread.depth--;
        follow_top();
    }
    context->alive = false;
    return 0;
}
PLM_API int cuCtxDestroy(struct plm_cu_context *context) __attribute__((alias("cuCtxDestroy_v2")));

/* Attach and detach are the use count of the oldest interface. */
PLM_API int cuCtxAttach(struct plm_cu_context **out, unsigned flags)
{
    if (!out || flags)
        return PLM_CU_INVALID_VALUE;
    *out = plm_cu_current();
    return *out ? 0 : PLM_CU_INVALID_CONTEXT;
}

PLM_API int cuCtxDetach(struct plm_cu_context *context)
{
    return plm_cu_context_valid(context) && context->primary ? 0 : cuCtxDestroy_v2(context);
}
