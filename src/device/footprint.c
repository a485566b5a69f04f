#include "device/footprint.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/module.h"
#include "record/writer.h"

enum { RANGES = 8, RUNTIMES = 8, TEXT = 320 };

/* The range of one library's memory: now and at the most. */
struct range {
    const char *library;
    int64_t low, high, low_peak, high_peak;
};

static struct {
    pthread_mutex_t lock;
    struct state {
        struct plm_overhead now;
        uint64_t told;            /* bytes of code when the record was last told */
        int64_t nodes;
        bool dirty;
        struct range range[RANGES];
    } device[PLM_DEVICES_MAX];
    _Atomic uint64_t taken[PLM_DEVICES_MAX];
    _Atomic bool started[PLM_DEVICES_MAX];
    plm_footprint_modules *modules[RUNTIMES];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* As the driver reads it. Lazy loading is the default of all releases that are played here. */
bool plm_footprint_eager(void)
{
    const char *setting = getenv("CUDA_MODULE_LOADING");
    return setting && !strcmp(setting, "EAGER");
}

/* There may be several runtimes: of two CUDA generations, and copies that packages bring along. */
void plm_footprint_registered(plm_footprint_modules *modules)
{
    pthread_mutex_lock(&all.lock);
    for (int i = 0; i < RUNTIMES; i++) {
        if (!all.modules[i])
            all.modules[i] = modules;
        if (all.modules[i] == modules)
            break;
    }
    pthread_mutex_unlock(&all.lock);
}

/* ---- with the lock held ---- */

static void tell(int device, struct state *s)
{
    char key[32], text[TEXT];
    snprintf(key, sizeof key, "context[%d]", device);
    plm_overhead_write(&s->now, text, sizeof text);
    plm_record_config(key, text);
    s->told = s->now.code;
    s->dirty = false;
}

/* What a bounded card has less. "0" is a card without a context: for tests of what lies above it. */
static void charge(int device, const struct state *s)
{
    const char *setting = getenv("PLIMSOLL_CONTEXT");
    uint64_t bytes;
    if (!setting)
        return;
    bytes = strcmp(setting, "model") ? strtoull(setting, NULL, 10) : 0;
    if (bytes || !strcmp(setting, "model"))
        bytes = plm_overhead_bytes(&s->now, bytes);
    atomic_store_explicit(&all.taken[device], bytes, memory_order_relaxed);
}

static void load_all(int device, struct state *s)
{
    for (int i = 0; i < RUNTIMES && all.modules[i]; i++)
        s->now.code += all.modules[i](plm_device_card(device), &s->now.guessed);
}

static struct state *state_of(int device)
{
    struct state *s = &all.device[device];
    if (!atomic_load(&all.started[device])) {
        const struct plm_card *card = plm_device_card(device);
        s->now.sms = (unsigned)card->sms;
        s->now.threads = (unsigned)card->max_threads_per_sm;
        s->now.stack = PLM_STACK_DEFAULT;
        s->now.eager = plm_footprint_eager();
        if (s->now.eager)
            load_all(device, s);
        charge(device, s);
        tell(device, s);
        atomic_store(&all.started[device], true);
    }
    return s;
}

static void changed(int device, struct state *s, bool now)
{
    charge(device, s);
    s->dirty = true;
    if (now || s->now.code >= 2 * s->told + (1 << 20))
        tell(device, s);
}

/* ---- what happens ---- */

void plm_footprint_kernel(int device, struct plm_kernel *kernel)
{
    uint64_t bit = 1ull << device, bytes;
    bool guessed;
    if (atomic_load_explicit(&kernel->loaded, memory_order_relaxed) & bit ||
        atomic_fetch_or_explicit(&kernel->loaded, bit, memory_order_relaxed) & bit)
        return;
    bytes = plm_module_kernel_code(kernel->module, plm_device_card(device), &guessed);
    pthread_mutex_lock(&all.lock);
    struct state *s = state_of(device);
    s->now.kernels++;
    if (!s->now.eager || !plm_module_registered(kernel->module)) {
        s->now.code += bytes;
        s->now.guessed += guessed ? bytes : 0;
    }
    changed(device, s, false);
    pthread_mutex_unlock(&all.lock);
}

void plm_footprint_library(int device, enum plm_overhead_library library)
{
    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    pthread_mutex_lock(&all.lock);
    struct state *s = state_of(device);
    if (!(s->now.libraries & 1u << library)) {
        s->now.libraries |= 1u << library;
        changed(device, s, true);
    }
    pthread_mutex_unlock(&all.lock);
}

/* A stack that has grown is not given back. */
void plm_footprint_limit(int device, unsigned limit, uint64_t bytes)
{
    if (device < 0 || device >= PLM_DEVICES_MAX || limit > PLM_LIMIT_HEAP)
        return;
    pthread_mutex_lock(&all.lock);
    struct state *s = state_of(device);
    if (limit == PLM_LIMIT_STACK)
        s->now.stack = bytes > s->now.stack ? bytes : s->now.stack;
    else if (limit == PLM_LIMIT_PRINTF)
        s->now.printf_bytes = bytes;
    else
        s->now.heap = bytes;
    changed(device, s, true);
    pthread_mutex_unlock(&all.lock);
}

void plm_footprint_graph(int device, int64_t nodes)
{
    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    pthread_mutex_lock(&all.lock);
    struct state *s = state_of(device);
    s->nodes += nodes;
    if (s->nodes > (int64_t)s->now.graph_nodes) {
        uint64_t before = s->now.graph_nodes;
        s->now.graph_nodes = (uint64_t)s->nodes;
        changed(device, s, s->now.graph_nodes >= 2 * before);
    }
    pthread_mutex_unlock(&all.lock);
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
    char key[32], text[96];
    struct range *r;
    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    pthread_mutex_lock(&all.lock);
    r = range_of(state_of(device), library);
    if (r) {
        r->low += low;
        r->high += high;
    }
    if (r && r->high > r->high_peak) {
        r->high_peak = r->high;
        r->low_peak = r->low;
        snprintf(key, sizeof key, "range[%d]", device);
        snprintf(text, sizeof text, "%.24s %lld %lld", library, (long long)r->low, (long long)r->high);
        plm_record_config(key, text);
    }
    pthread_mutex_unlock(&all.lock);
}

uint64_t plm_footprint_taken(int device)
{
    if (!atomic_load_explicit(&all.started[device], memory_order_acquire)) {
        pthread_mutex_lock(&all.lock);
        state_of(device);
        pthread_mutex_unlock(&all.lock);
    }
    return atomic_load_explicit(&all.taken[device], memory_order_relaxed);
}

void plm_footprint_end(void)
{
    pthread_mutex_lock(&all.lock);
    for (int i = 0; i < PLM_DEVICES_MAX; i++)
        if (all.device[i].dirty)
            tell(i, &all.device[i]);
    pthread_mutex_unlock(&all.lock);
}
