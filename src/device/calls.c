#include "device/calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/context.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/module.h"
#include "device/stream.h"
#include "record/writer.h"
#include "device/shim.h"

/* ---- what all events share ---- */

enum detail { DETAIL_UNREAD, DETAIL_LOW, DETAIL_FULL };
static _Atomic int detail;

static int read_detail(void)
{
    const char *record = getenv("PLIMSOLL_RECORD"), *level = getenv("PLIMSOLL_DETAIL");
    int found = record && *record && (!level || !strcmp(level, "full")) ? DETAIL_FULL : DETAIL_LOW;
    atomic_store_explicit(&detail, found, memory_order_relaxed); /* threads that race read the same */
    return found;
}

bool plm_call_wanted(void)
{
    int level = atomic_load_explicit(&detail, memory_order_relaxed);
    return (level ? level : read_detail()) == DETAIL_FULL;
}

/* The clock of the thread's CPU time is a system call: at every 16th event it cost more than all the rest here
   together. It is read rarely, and whenever the host waits. Its value stands in the event at which it was read, so
   that sums are right. */
enum { CPU_EVERY = 256 };
static __thread struct {
    uint64_t last;
    unsigned events;
} cpu __attribute__((tls_model("initial-exec")));

static uint32_t cpu_ns(bool now)
{
    struct timespec t;
    uint64_t at, since;
    if (cpu.events++ % CPU_EVERY && !now)
        return 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    at = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    since = cpu.last && at > cpu.last ? at - cpu.last : 0; /* the clock of a forked child starts anew */
    cpu.last = at;
    return since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
}

enum { COMMON = 2, WAITS = 1 };

static void put(enum plm_event_type type, struct plm_stream *stream, bool run, unsigned flags, uint64_t *words,
                unsigned count)
{
    words[0] = plm_record_pair(plm_context_now(), cpu_ns(flags & WAITS));
    words[1] = plm_record_pair(plm_stream_number(stream), run ? 0 : plm_capture_graph(stream));
    plm_record(type, plm_device_current(), words, count);
}

static uint32_t u32(int64_t value)
{
    return value < 0 ? 0 : value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static uint64_t u16(int64_t value)
{
    return value < 0 ? 0 : value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;
}

/* Four 16-bit and eight 8-bit numbers in one word, the first lowest. */
static uint64_t quad(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return u16(a) | u16(b) << 16 | u16(c) << 32 | u16(d) << 48;
}

static uint64_t byte(int value, int at)
{
    return (uint64_t)(uint8_t)value << 8 * at;
}

static uint64_t pair(int64_t low, int64_t high)
{
    return plm_record_pair(u32(low), u32(high));
}

/* ---- launches ---- */

void plm_call_kernel(struct plm_kernel *kernel, const struct plm_call_shape *shape, void *const *arguments,
                     struct plm_stream *stream, bool run)
{
    const uint32_t *g = shape->grid, *b = shape->block;
    uint64_t words[COMMON + 5];
    bool counted;
    if (!plm_call_wanted())
        return;
    counted = plm_arguments_read(&kernel->form, g, b, arguments, words + COMMON + 3);
    words[COMMON] = plm_record_pair(plm_record_name(&kernel->text, kernel->name), g[0]);
    words[COMMON + 1] = quad(g[1], g[2], b[0], b[1]);
    words[COMMON + 2] = quad(b[2], counted ? kernel->form.kind : PLM_COUNT_NONE, 0, 0) | (uint64_t)shape->shared << 32;
    put(PLM_EV_LAUNCH, stream, run, 0, words, COMMON + (counted ? 5 : 3));
}

void plm_call_graph(uint32_t graph, uint64_t kernels, struct plm_stream *stream, bool run)
{
    uint64_t words[COMMON + 5] = {[COMMON + 2] = (uint64_t)PLM_COUNT_GRAPH << 16, kernels, graph};
    if (plm_call_wanted())
        put(PLM_EV_LAUNCH, stream, run, 0, words, COMMON + 5);
}

/* The numbers of routines' names, by the address of the name: those are constants of the shims. */
static struct {
    _Atomic(const char *) name;
    struct plm_record_name text;
} routines[1024];
enum { ROUTINES = sizeof routines / sizeof routines[0] };

static uint32_t routine_text(const char *name)
{
    size_t at = ((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15ull >> 40;
    for (size_t i = 0; i < ROUTINES; i++, at++) {
        const char *have = atomic_load_explicit(&routines[at % ROUTINES].name, memory_order_relaxed);
        if (!have && atomic_compare_exchange_strong(&routines[at % ROUTINES].name, &have, name))
            have = name;
        if (have == name)
            return plm_record_name(&routines[at % ROUTINES].text, name);
    }
    return plm_record_text(name);
}

static void put_routine(const char *name, uint32_t stream, uint32_t graph)
{
    uint64_t words[COMMON + 3] = {plm_record_pair(plm_context_now(), cpu_ns(false)), plm_record_pair(stream, graph)};
    words[COMMON] = routine_text(name);
    words[COMMON + 2] = PLM_LAUNCH_LIBRARY << 16;
    plm_record(PLM_EV_LAUNCH, plm_device_current(), words, COMMON + 3);
}

void plm_call_routine(const char *name, struct plm_stream *stream, bool run)
{
    if (plm_call_wanted())
        put_routine(name, plm_stream_number(stream), run ? 0 : plm_capture_graph(stream));
}

void plm_call_launch(const struct plm_symbol *symbol)
{
    plm_launch(symbol->name);
    if (plm_call_wanted())
        put_routine(symbol->name, PLM_STREAM_UNKNOWN, 0);
}

/* ---- libraries ---- */

void plm_call_gemm(const struct plm_call_gemm *g, struct plm_stream *stream, bool run)
{
    uint64_t words[COMMON + 3];
    int flags = (g->transpose_a & 3) | (g->transpose_b & 3) << 2 | (int)g->how << 4;
    if (!plm_call_wanted())
        return;
    words[COMMON] = pair(g->m, g->n);
    words[COMMON + 1] = pair(g->k, g->batch);
    words[COMMON + 2] = byte(g->type_a, 0) | byte(g->type_b, 1) | byte(g->type_c, 2) | byte(g->type_d, 3) |
                        byte(g->compute, 4) | byte(flags, 5) | u16(g->epilogue) << 48;
    put(PLM_EV_GEMM, stream, run, 0, words, COMMON + 3);
}

static int64_t mebibytes(uint64_t bytes)
{
    return (int64_t)((bytes >> 20) + ((bytes & 0xfffff) != 0));
}

void plm_call_convolution(const struct plm_call_convolution *c, struct plm_stream *stream, bool run)
{
    uint64_t words[COMMON + 4 + 2 * PLM_CALL_AXES];
    uint64_t *axis = words + COMMON + 4;
    if (!plm_call_wanted() || c->axes < 1 || c->axes > PLM_CALL_AXES)
        return;
    words[COMMON] = byte(c->op, 0) | byte(c->type, 1) | byte(c->channels_last, 2) | byte(c->axes, 3) |
                    (uint64_t)u32(c->groups) << 32;
    words[COMMON + 1] = pair(c->n, c->c);
    words[COMMON + 2] = u32(c->k) | byte((int)c->source, 4) | byte(c->tf32, 5) | u16(mebibytes(c->most)) << 48;
    words[COMMON + 3] = c->workspace;
    for (int i = PLM_CALL_AXES - c->axes; i < PLM_CALL_AXES; i++) {
        *axis++ = pair(c->in[i], c->out[i]);
        *axis++ = quad(c->filter[i], c->stride[i], c->dilation[i], c->pad[i]);
    }
    put(PLM_EV_CONVOLUTION, stream, run, 0, words, (unsigned)(axis - words));
}

void plm_call_rnn(const struct plm_call_rnn *r, struct plm_stream *stream, bool run)
{
    uint64_t words[COMMON + 7];
    if (!plm_call_wanted())
        return;
    words[COMMON] = byte((int)r->op, 0) | byte(r->cell, 1) | byte(r->type, 2) | byte(r->bias, 3) |
                    u16(r->layers) << 32 | u16(r->directions) << 48;
    words[COMMON + 1] = pair(r->input, r->hidden);
    words[COMMON + 2] = pair(r->projection, r->steps);
    words[COMMON + 3] = pair(r->batch, r->rows);
    words[COMMON + 4] = r->work;
    words[COMMON + 5] = r->reserve;
    words[COMMON + 6] = r->dropout;
    put(PLM_EV_RNN, stream, run, 0, words, COMMON + 7);
}

void plm_call_attention(const struct plm_call_attention *a, struct plm_stream *stream, bool run)
{
    uint64_t words[COMMON + 5];
    if (!plm_call_wanted())
        return;
    words[COMMON] = byte((int)a->op, 0) | byte(a->type, 1) | (uint64_t)u32(a->batch) << 32;
    words[COMMON + 1] = pair(a->heads, a->heads_kv);
    words[COMMON + 2] = pair(a->query_steps, a->key_steps);
    words[COMMON + 3] = pair(a->head_size, a->value_size);
    words[COMMON + 4] = a->workspace;
    put(PLM_EV_ATTENTION, stream, run, 0, words, COMMON + 5);
}

void plm_call_collective(const struct plm_call_collective *c, struct plm_stream *stream, bool run)
{
    uint64_t words[COMMON + 3];
    if (!plm_call_wanted())
        return;
    words[COMMON] = byte((int)c->kind, 0) | byte(c->type, 1) | byte(c->op, 2) | (uint64_t)u32(c->ranks) << 32;
    words[COMMON + 1] = plm_record_pair(u32(c->rank), (uint32_t)c->root);
    words[COMMON + 2] = c->count;
    put(PLM_EV_COLLECTIVE, stream, run, 0, words, COMMON + 3);
}

/* ---- copies ---- */

static void record_copy(const void *to, uint64_t bytes, enum plm_copy_direction direction, enum plm_copy_host host,
                        bool async, struct plm_stream *stream, bool run)
{
    uint64_t words[COMMON + 3] = {0};
    words[COMMON] = bytes;
    words[COMMON + 1] = (uint64_t)to;
    words[COMMON + 2] = byte((int)direction, 0) | byte((int)host, 1) | byte(async, 2);
    put(PLM_EV_COPY, stream, run, async ? 0 : WAITS, words, COMMON + 3);
}

static enum plm_copy_host host_of(const void *address)
{
    return plm_mem_query(address).kind == PLM_MEM_NONE ? PLM_COPY_PAGEABLE : PLM_COPY_PINNED;
}

static bool in_model(void)
{
    switch (plm_context_phase()) {
    case PLM_PHASE_FORWARD:
    case PLM_PHASE_RECOMPUTE:
    case PLM_PHASE_BACKWARD:
    case PLM_PHASE_OPTIMIZER: return true;
    default: return false;
    }
}

void plm_call_copy(const void *to, const void *from, uint64_t bytes, bool async, struct plm_stream *stream, bool run)
{
    int target, source;
    enum plm_copy_direction direction;
    if (!bytes)
        return;
    target = plm_memory_device_of((uint64_t)to);
    source = plm_memory_device_of((uint64_t)from);
    if (target >= 0)
        direction = source < 0 ? PLM_COPY_HOST_TO_DEVICE : source == target ? PLM_COPY_DEVICE_TO_DEVICE : PLM_COPY_PEER;
    else
        direction = source < 0 ? PLM_COPY_HOST_TO_HOST : PLM_COPY_DEVICE_TO_HOST;
    if (direction == PLM_COPY_HOST_TO_DEVICE && run && !in_model())
        plm_call_tag(to, PLM_CATEGORY_INPUTS);
    if (!plm_call_wanted())
        return;
    record_copy(to, bytes, direction,
                source < 0   ? host_of(from)
                : target < 0 ? host_of(to)
                             : PLM_COPY_NO_HOST,
                async, stream, run);
}

void plm_call_fill(const void *to, uint64_t bytes, bool async, struct plm_stream *stream, bool run)
{
    if (bytes && plm_call_wanted())
        record_copy(to, bytes, PLM_COPY_FILL, PLM_COPY_NO_HOST, async, stream, run);
}

/* ---- synchronizations ---- */

void plm_call_sync(enum plm_sync what, struct plm_stream *stream, uint32_t other)
{
    uint64_t words[COMMON + 1];
    if (!plm_call_wanted())
        return;
    words[COMMON] = plm_record_pair((uint32_t)what, other);
    /* Only a stream can wait while it captures. */
    if (what == PLM_SYNC_STREAM_WAITS)
        put(PLM_EV_SYNC, stream, !plm_capture_graph(stream), 0, words, COMMON + 1);
    else
        put(PLM_EV_SYNC, stream, true, WAITS, words, COMMON + 1);
}

/* ---- tags ---- */

/* Workspaces that have their tag. A slot is emptied when a block is handed out at its address, since a tag
   belongs to a block and not to a place. Losing a slot to another address costs one more tag. */
static _Atomic uint64_t tagged[256];

static _Atomic uint64_t *tag_slot(uint64_t address)
{
    return &tagged[(address >> 9) * 0x9e3779b97f4a7c15ull >> 56];
}

void plm_call_tag(const void *address, enum plm_category category)
{
    uint64_t words[3] = {(uint64_t)address, plm_record_pair((uint32_t)category, 0), 0};
    int device = plm_memory_device_of(words[0]);
    if (device >= 0)
        plm_record(PLM_EV_TAG, device, words, 3);
}

void plm_call_workspace(const void *address)
{
    _Atomic uint64_t *slot = tag_slot((uint64_t)address);
    if (address && atomic_exchange_explicit(slot, (uint64_t)address, memory_order_relaxed) != (uint64_t)address)
        plm_call_tag(address, PLM_CATEGORY_WORKSPACE);
}

void plm_call_new_block(uint64_t address)
{
    _Atomic uint64_t *slot = tag_slot(address);
    if (atomic_load_explicit(slot, memory_order_relaxed) == address)
        atomic_store_explicit(slot, 0, memory_order_relaxed);
}
