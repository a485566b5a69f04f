#include "device/footprint.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/lock.h"
#include "device/module.h"
#include "record/writer.h"

enum { RANGES = 8, RUNTIMES = 8 };

/* The range of one library's memory: now and at the most. */
struct range {
    const char *library;
    int64_t low, high, low_peak, high_peak;
};

static struct {
    struct state {
        struct plm_overhead now;
        uint64_t told;            /* bytes of code when the record was last told */
        int64_t nodes;
        bool dirty;
        struct range range[RANGES];
    } device[PLM_DEVICES_MAX];
    enum { SETTING_UNREAD, SETTING_ABSENT, SETTING_BYTES, SETTING_MODEL } setting;
    uint64_t measured; /* SETTING_BYTES */
    _Atomic uint64_t taken[PLM_DEVICES_MAX];
    _Atomic bool started[PLM_DEVICES_MAX];
    _Atomic(plm_footprint_modules *) modules[RUNTIMES];
} all;
static struct plm_lock footprint_lock = PLM_LOCK_INIT(PLM_LOCK_FOOTPRINT);
PLM_LOCK_JOINS(footprint_lock)

/* As the driver reads it. Lazy loading is the default of all releases that are played here. */
bool plm_footprint_eager(void)
{
    const char *setting = getenv("CUDA_MODULE_LOADING");
    return setting && !strcmp(setting, "EAGER");
}

/* There may be several runtimes: of two CUDA generations, and copies that packages bring along. */
void plm_footprint_registered(plm_footprint_modules *modules)
{
    for (int i = 0; i < RUNTIMES; i++) {
        plm_footprint_modules *have = NULL;
        if (atomic_compare_exchange_strong(&all.modules[i], &have, modules) || have == modules)
            break;
    }
}

/* ---- with the lock held ---- */

static void tell(int device, struct state *s)
{
    plm_put_footprint(device, &(struct plm_ev_footprint){.sms = s->now.sms,
                                                         .threads = s->now.threads,
                                                         .code = s->now.code,
                                                         .kernels = s->now.kernels,
                                                         .guessed = s->now.guessed,
                                                         .stack_bytes = s->now.stack,
                                                         .printf_bytes = s->now.printf_bytes,
                                                         .heap_bytes = s->now.heap,
                                                         .graph_nodes = s->now.graph_nodes,
                                                         .libraries = s->now.libraries,
                                                         .eager = s->now.eager,
                                                         .card = plm_device_number(device)});
    s->told = s->now.code;
    s->dirty = false;
}

/* Once: the program may change its environment while its threads launch kernels. */
static void read_setting(void)
{
    const char *setting = getenv("PLIMSOLL_CONTEXT");
    if (all.setting != SETTING_UNREAD)
        return;
    all.setting = !setting ? SETTING_ABSENT : strcmp(setting, "model") ? SETTING_BYTES : SETTING_MODEL;
    all.measured = all.setting == SETTING_BYTES ? strtoull(setting, NULL, 10) : 0;
}

/* What a bounded card has less. "0" is a card without a context: for tests of what lies above it. */
static void charge(int device, const struct state *s)
{
    uint64_t bytes = 0;
    if (all.setting == SETTING_ABSENT)
        return;
    if (all.measured || all.setting == SETTING_MODEL)
        bytes = plm_overhead_bytes(&s->now, all.measured);
    atomic_store_explicit(&all.taken[device], bytes, memory_order_relaxed);
}

static void changed(int device, struct state *s, bool now)
{
    charge(device, s);
    s->dirty = true;
    if (now || s->now.code >= 2 * s->told + (1 << 20))
        tell(device, s);
}

/* ---- the context is made ---- */

static void load_all(const struct plm_card *card, struct plm_overhead *now)
{
    plm_lock_check_none();
    for (int i = 0; i < RUNTIMES; i++) {
        plm_footprint_modules *modules = atomic_load(&all.modules[i]);
        if (modules)
            now->code += modules(card, &now->guessed);
    }
}

/* Two threads may come here at once: both ask for the modules, one is heard. */
void plm_footprint_start(int device)
{
    const struct plm_card *card;
    struct plm_overhead now = {.stack = PLM_STACK_DEFAULT};
    if (atomic_load_explicit(&all.started[device], memory_order_acquire))
        return;
    card = plm_device_card(device);
    now.sms = (unsigned)card->sms;
    now.threads = (unsigned)card->max_threads_per_sm;
    now.eager = plm_footprint_eager();
    if (now.eager)
        load_all(card, &now);
    plm_lock_take(&footprint_lock);
    if (!atomic_load(&all.started[device])) {
        all.device[device].now = now;
        read_setting();
        charge(device, &all.device[device]);
        tell(device, &all.device[device]);
        atomic_store_explicit(&all.started[device], true, memory_order_release);
    }
    plm_lock_give(&footprint_lock);
}

/* Until end_change(). The card has a context from now on. */
static struct state *begin_change(int device)
{
    plm_footprint_start(device);
    plm_lock_take(&footprint_lock);
    return &all.device[device];
}

static void end_change(void)
{
    plm_lock_give(&footprint_lock);
}

/* ---- what happens ---- */

void plm_footprint_kernel(int device, struct plm_kernel *kernel)
{
    _Static_assert(PLM_DEVICES_MAX <= 64, "a bit of `loaded` for each");
    uint64_t bit = 1ull << device, bytes;
    bool guessed;
    if (atomic_load_explicit(&kernel->loaded, memory_order_relaxed) & bit ||
        atomic_fetch_or_explicit(&kernel->loaded, bit, memory_order_relaxed) & bit)
        return;
    bytes = plm_module_kernel_code(kernel->module, plm_device_card(device), &guessed);
    struct state *s = begin_change(device);
    s->now.kernels++;
    if (!s->now.eager || !plm_module_registered(kernel->module)) {
        s->now.code += bytes;
        s->now.guessed += guessed ? bytes : 0;
    }
    changed(device, s, false);
    end_change();
}

void plm_footprint_library(int device, enum plm_overhead_library library)
{
    _Static_assert(PLM_OVERHEAD_LIBRARIES <= 8 * sizeof(((struct plm_overhead *)0)->libraries), "a bit for each");
    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    struct state *s = begin_change(device);
    if (!(s->now.libraries & 1u << library)) {
        s->now.libraries |= 1u << library;
        changed(device, s, true);
    }
    end_change();
}

/* A stack that has grown is not given back. */
void plm_footprint_limit(int device, unsigned limit, uint64_t bytes)
{
    if (device < 0 || device >= PLM_DEVICES_MAX || limit > PLM_LIMIT_HEAP)
        return;
    struct state *s = begin_change(device);
    if (limit == PLM_LIMIT_STACK)
        s->now.stack = bytes > s->now.stack ? bytes : s->now.stack;
    else if (limit == PLM_LIMIT_PRINTF)
        s->now.printf_bytes = bytes;
    else
        s->now.heap = bytes;
    changed(device, s, true);
    end_change();
}

void plm_footprint_graph(int device, int64_t nodes)
{
    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    struct state *s = begin_change(device);
    s->nodes += nodes;
    if (s->nodes > (int64_t)s->now.graph_nodes) {
        uint64_t before = s->now.graph_nodes;
        s->now.graph_nodes = (uint64_t)s->nodes;
        changed(device, s, s->now.graph_nodes >= 2 * before);
    }
    end_change();
}

static struct range *range_of(struct state *s, const char *library)
{
    for (int i = 0; i < RANGES; i++) {
        struct range *r = &s->range[i];
        if (!r->library)
            r->library = library;
        if (!strcmp(r->library, library))
            return r;
    }
    return NULL;
}

void plm_footprint_range(int device, const char *library, int64_t low, int64_t high)
{
    struct range *r;
    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    r = range_of(begin_change(device), library);
    if (r) {
        r->low += low;
        r->high += high;
    }
    if (r && r->high > r->high_peak) {
        r->high_peak = r->high;
        r->low_peak = r->low;
        plm_put_library_range(device, &(struct plm_ev_library_range){.library = plm_record_text(library),
                                                                     .low = (uint64_t)r->low,
                                                                     .high = (uint64_t)r->high});
    }
    end_change();
}

uint64_t plm_footprint_taken(int device)
{
    return atomic_load_explicit(&all.taken[device], memory_order_relaxed);
}

void plm_footprint_end(void)
{
    plm_lock_take(&footprint_lock);
    for (int i = 0; i < PLM_DEVICES_MAX; i++)
        if (all.device[i].dirty)
            tell(i, &all.device[i]);
    plm_lock_give(&footprint_lock);
}
