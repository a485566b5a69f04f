#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/lock.h"
#include "shim/cudart/runtime.h"

/*
 * What nvcc's host code registers when a library is loaded: fat binaries, kernels, variables.
 *
 * PyTorch registers tens of thousands of kernels on import, so a registration is one insertion into a
 * hash table; images are looked at when a kernel of theirs is first launched, which keeps hundreds of
 * megabytes of code on disk. Look-ups take no lock: a table that has grown replaces the old one, which
 * is left to the readers that may still use it. What is opened or allocated on first use is done so without the lock
 * too, by every thread that needs it; the first to be ready is heard, the others give theirs back.
 */

struct binary {
    const void *image;
    _Atomic(struct plm_module *) module; /* opened on first use */
    _Atomic unsigned kernels;
    struct binary *next;
};

struct entry {
    const void *host;          /* address of the host stub or shadow variable; NULL = free */
    const char *name;
    struct binary *binary;
    size_t size;               /* variables only */
    _Atomic(struct plm_kernel *) kernel;
    _Atomic uint64_t address;  /* variables only */
};

struct table {
    size_t mask, count;
    struct entry *entries[];
};

static struct plm_lock registration_lock = PLM_LOCK_INIT(PLM_LOCK_SHIM);
PLM_LOCK_JOINS(registration_lock)
static _Atomic(struct table *) table;
static _Atomic(struct binary *) binaries; /* the latest first; none is ever removed */

static size_t slot(const struct table *t, const void *host)
{
    return ((uintptr_t)host >> 4) * 0x9e3779b97f4a7c15ull >> 20 & t->mask;
}

static struct entry *entry_find(const void *host)
{
    struct table *t = atomic_load_explicit(&table, memory_order_acquire);
    if (!t)
        return NULL;
    for (size_t i = slot(t, host);; i = (i + 1) & t->mask) {
        struct entry *e = __atomic_load_n(&t->entries[i], __ATOMIC_ACQUIRE);
        if (!e || e->host == host)
            return e;
    }
}

static void entry_put(struct table *t, struct entry *e)
{
    size_t i = slot(t, e->host);
    while (t->entries[i] && t->entries[i]->host != e->host)
        i = (i + 1) & t->mask;
    t->count += !t->entries[i];
    __atomic_store_n(&t->entries[i], e, __ATOMIC_RELEASE);
}

static struct table *grow(struct table *old)
{
    size_t slots = old ? 2 * (old->mask + 1) : 1 << 17;
    struct table *t = calloc(1, sizeof *t + slots * sizeof t->entries[0]);
    if (!t)
        return NULL;
    t->mask = slots - 1;
    for (size_t i = 0; old && i <= old->mask; i++)
        if (old->entries[i])
            entry_put(t, old->entries[i]);
    atomic_store_explicit(&table, t, memory_order_release);
    return t;
}

/* Entries come from blocks: one allocation per registration would show in the import time. */
static struct entry *new_entry(void)
{
    enum { BLOCK = 1024 };
    static struct entry *block;
    static unsigned used = BLOCK;
    if (used == BLOCK) {
        block = calloc(BLOCK, sizeof *block);
        used = 0;
    }
    return block ? &block[used++] : NULL;
}

static void entry_add(struct binary *binary, const void *host, const char *name, size_t size)
{
    struct table *t;
    struct entry *e;
    plm_lock_take(&registration_lock);
    t = atomic_load(&table);
    if (!t || t->count * 2 > t->mask)
        t = grow(t);
    e = t ? new_entry() : NULL;
    if (e) {
        e->host = host;
        e->name = name;
        e->binary = binary;
        e->size = size;
        entry_put(t, e);
    }
    plm_lock_give(&registration_lock);
}

/* NULL: not an image. */
static struct plm_module *open_module(struct binary *b)
{
    struct plm_module *have = atomic_load_explicit(&b->module, memory_order_acquire), *module;
    if (have || plm_module_open(b->image, &module))
        return have;
    plm_module_expect(module, atomic_load(&b->kernels), true);
    if (atomic_compare_exchange_strong(&b->module, &have, module))
        return module;
    plm_module_close(module);
    return have;
}

/* The code of everything that is registered, for a context that loads it all at once. */
static uint64_t registered_code(const struct plm_card *card, uint64_t *guessed)
{
    uint64_t sum = 0;
    for (struct binary *b = atomic_load(&binaries); b; b = b->next) {
        struct plm_module *module = open_module(b);
        bool portable = false;
        uint64_t bytes = module ? plm_module_code(module, card, &portable) : 0;
        sum += bytes;
        *guessed += portable ? bytes : 0;
    }
    return sum;
}

/* ---- the entry points that nvcc's host code calls ---- */

PLM_API void **__cudaRegisterFatBinary(void *image)
{
    struct binary *b = calloc(1, sizeof *b);
    plm_inject_hook();
    if (!b)
        return NULL;
    b->image = image;
    b->next = atomic_load(&binaries);
    while (!atomic_compare_exchange_weak(&binaries, &b->next, b))
        ;
    if (!b->next)
        plm_footprint_registered(registered_code);
    return (void **)b;
}

PLM_API void __cudaRegisterFatBinaryEnd(void **binary)
{
    (void)binary;
}

PLM_API void __cudaUnregisterFatBinary(void **binary)
{
    (void)binary; /* libraries are unloaded at exit only; their entries may still be looked up */
}

PLM_API char __cudaInitModule(void **binary)
{
    (void)binary;
    return 1;
}

PLM_API void __cudaRegisterFunction(void **binary, const char *host, char *device_function, const char *name, int limit,
                                    void *tid, void *bid, void *block, void *grid, int *warp)
{
    (void)device_function, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    entry_add((struct binary *)binary, host, name, 0);
    if (binary)
        atomic_fetch_add_explicit(&((struct binary *)binary)->kernels, 1, memory_order_relaxed);
}

PLM_API void __cudaRegisterVar(void **binary, char *host, char *address, const char *name, int external, size_t size,
                               int constant, int global)
{
    (void)address, (void)external, (void)constant, (void)global;
    entry_add((struct binary *)binary, host, name, size);
}

PLM_API void __cudaRegisterManagedVar(void **binary, void **host, char *address, const char *name, int external,
                                      size_t size, int constant, int global)
{
    (void)address, (void)external, (void)constant, (void)global;
    entry_add((struct binary *)binary, host, name, size);
}

PLM_API void __cudaRegisterTexture(void **binary, const void *host, const void **address, const char *name, int dim,
                                   int norm, int external)
{
    (void)address, (void)dim, (void)norm, (void)external;
    entry_add((struct binary *)binary, host, name, 0);
}

PLM_API void __cudaRegisterSurface(void **binary, const void *host, const void **address, const char *name, int dim,
                                   int external)
{
    (void)address, (void)dim, (void)external;
    entry_add((struct binary *)binary, host, name, 0);
}

/* ---- look-ups ---- */

static struct plm_kernel *open_kernel(struct entry *e)
{
    struct plm_kernel *kernel = NULL;
    struct plm_module *module = e->binary ? open_module(e->binary) : NULL;
    if (module)
        plm_module_kernel(module, e->name, &kernel);
    atomic_store(&e->kernel, kernel); /* of one name there is one kernel, whoever asks */
    return kernel;
}

struct plm_kernel *plm_rt_kernel(const void *function)
{
    struct entry *e = entry_find(function);
    struct plm_kernel *kernel;
    if (!e)
        return (struct plm_kernel *)function; /* a kernel or driver function handle, which is one of ours */
    kernel = atomic_load_explicit(&e->kernel, memory_order_acquire);
    return kernel ? kernel : open_kernel(e);
}

int plm_rt_symbol(const void *symbol, uint64_t *address, size_t *size)
{
    struct entry *e = entry_find(symbol);
    uint64_t have, at = 0;
    if (!e || !e->size)
        return PLM_RT_INVALID_SYMBOL;
    have = atomic_load(&e->address);
    if (!have) {
        if (plm_mem_alloc(plm_device_current(), e->size, &at))
            return PLM_RT_MEMORY_ALLOCATION;
        if (atomic_compare_exchange_strong(&e->address, &have, at))
            have = at;
        else
            plm_mem_free(at);
    }
    *address = have;
    *size = e->size;
    return PLM_RT_OK;
}

static int get_kernel(struct plm_kernel **kernel, const void *function)
{
    if (!kernel)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *kernel = entry_find(function) ? plm_rt_kernel(function) : NULL;
    return *kernel ? PLM_RT_OK : plm_rt(PLM_RT_INVALID_DEVICE_FUNCTION);
}

PLM_API int __cudaGetKernel(struct plm_kernel **kernel, const void *function)
{
    return get_kernel(kernel, function);
}

PLM_API int cudaGetKernel(struct plm_kernel **kernel, const void *function)
{
    return get_kernel(kernel, function);
}

PLM_API int cudaGetFuncBySymbol(struct plm_kernel **kernel, const void *function)
{
    return get_kernel(kernel, function);
}

PLM_API int cudaFuncGetName(const char **name, const void *function)
{
    struct entry *e = entry_find(function);
    if (!name || !e)
        return plm_rt(PLM_RT_INVALID_DEVICE_FUNCTION);
    *name = e->name;
    return PLM_RT_OK;
}
