#include "device/calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/context.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/module.h"
#include "device/operands.h"
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
   together. It is read rarely, whenever the host waits, and when the calls pass from one thread to another, as they do to
   the backward pass and back. Its value stands in the event at which it was read, so that sums are right. */
enum { CPU_EVERY = 256, CPU_LEAST = 8 }; /* the least: of threads that take turns at every call */
static __thread struct {
    uint64_t last;
    unsigned events; /* since it was read */
} cpu __attribute__((tls_model("initial-exec")));
static _Atomic(const void *) cpu_thread; /* that called last */

static bool cpu_passed(void)
{
    if (atomic_load_explicit(&cpu_thread, memory_order_relaxed) == &cpu)
        return false;
    atomic_store_explicit(&cpu_thread, &cpu, memory_order_relaxed);
    return true;
}

static uint32_t cpu_ns(bool now)
{
    struct timespec t;
    uint64_t at, since;
    const bool passed = cpu_passed();
    if (cpu.last && !now && ++cpu.events < CPU_EVERY && !(passed && cpu.events >= CPU_LEAST))
        return 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    at = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    since = cpu.last && at > cpu.last ? at - cpu.last : 0; /* the clock of a forked child starts anew */
    cpu.last = at;
    cpu.events = 0;
    return since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
}

/* What every call has first. `waits`: the host does. */
static struct plm_ev_call call_now(struct plm_stream *stream, bool run, bool waits)
{
    const uint32_t context = plm_context_now();
    return (struct plm_ev_call){context, cpu_ns(waits), plm_stream_number(stream), run ? 0 : plm_capture_graph(stream)};
}

/* ---- launches ---- */

/* Tells a launch apart from others of its context: the kernel and how it is spread out. */
static uint64_t launch_key(const struct plm_ev_launch *e)
{
    const uint64_t grid = (uint64_t)e->grid_x << 32 ^ (uint64_t)e->grid_y << 16 ^ e->grid_z;
    const uint64_t block = (uint64_t)e->block_x << 48 ^ (uint64_t)e->block_y << 32 ^ (uint64_t)e->block_z << 16;
    uint64_t key = ((uint64_t)e->call.context << 32 ^ e->name) * 0x9e3779b97f4a7c15ull;
    key = (key ^ key >> 29 ^ grid) * 0xbf58476d1ce4e5b9ull;
    key = (key ^ key >> 32 ^ block ^ e->shared_bytes) * 0x94d049bb133111ebull;
    return key ^ key >> 31;
}

static void put_launch(const struct plm_ev_launch *e)
{
    if (e->counts) {
        plm_put_launch(plm_device_current(), e);
        return;
    }
    plm_operands_launch(e->call.context, launch_key(e));
    plm_record(PLM_EV_LAUNCH, plm_device_current(), e, PLM_EV_BEFORE(launch, count));
}

void plm_call_kernel(struct plm_kernel *kernel, const struct plm_call_shape *shape, void *const *arguments,
                     struct plm_stream *stream, bool run)
{
    const uint32_t *g = shape->grid, *b = shape->block;
    struct plm_ev_launch e;
    uint64_t count[2] = {0, 0};
    bool counted;
    if (!plm_call_wanted())
        return;
    counted = plm_arguments_read(&kernel->form, g, b, arguments, count);
    e = (struct plm_ev_launch){.call = call_now(stream, run, false),
                               .name = plm_record_name(&kernel->text, kernel->name),
                               .grid_x = g[0],
                               .grid_y = plm_ev_u16(g[1]),
                               .grid_z = plm_ev_u16(g[2]),
                               .block_x = plm_ev_u16(b[0]),
                               .block_y = plm_ev_u16(b[1]),
                               .block_z = plm_ev_u16(b[2]),
                               .counts = (uint8_t)(counted ? kernel->form.kind : PLM_COUNT_NONE),
                               .shared_bytes = shape->shared,
                               .count = count[0],
                               .count_2 = count[1]};
    put_launch(&e);
}

void plm_call_graph(uint32_t graph, uint64_t kernels, struct plm_stream *stream, bool run)
{
    if (plm_call_wanted())
        put_launch(&(struct plm_ev_launch){
            .call = call_now(stream, run, false), .counts = PLM_COUNT_GRAPH, .count = kernels, .count_2 = graph});
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
    const uint32_t context = plm_context_now();
    put_launch(&(struct plm_ev_launch){
        .call = {context, cpu_ns(false), stream, graph}, .name = routine_text(name), .routine = true});
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
    if (!plm_call_wanted())
        return;
    plm_put_gemm(plm_device_current(), &(struct plm_ev_gemm){.call = call_now(stream, run, false),
                                                             .m = plm_ev_u32(g->m),
                                                             .n = plm_ev_u32(g->n),
                                                             .k = plm_ev_u32(g->k),
                                                             .batch = plm_ev_u32(g->batch),
                                                             .type_a = (uint8_t)g->type_a,
                                                             .type_b = (uint8_t)g->type_b,
                                                             .type_c = (uint8_t)g->type_c,
                                                             .type_d = (uint8_t)g->type_d,
                                                             .compute = (uint8_t)g->compute,
                                                             .transpose_a = (unsigned)g->transpose_a & 3,
                                                             .transpose_b = (unsigned)g->transpose_b & 3,
                                                             .batch_kind = (unsigned)g->how & 3,
                                                             .epilogue = plm_ev_u16(g->epilogue)});
}

static int64_t mebibytes(uint64_t bytes)
{
    return (int64_t)((bytes >> 20) + ((bytes & 0xfffff) != 0));
}

void plm_call_convolution(const struct plm_call_convolution *c, struct plm_stream *stream, bool run)
{
    struct plm_ev_convolution e;
    if (!plm_call_wanted() || c->axes < 1 || c->axes > PLM_CALL_AXES)
        return;
    e = (struct plm_ev_convolution){.call = call_now(stream, run, false),
                                    .operation = (uint8_t)c->op,
                                    .data_type = (uint8_t)c->type,
                                    .channels_last = c->channels_last,
                                    .axes = (uint8_t)c->axes,
                                    .groups = plm_ev_u32(c->groups),
                                    .batch = plm_ev_u32(c->n),
                                    .in_channels = plm_ev_u32(c->c),
                                    .out_channels = plm_ev_u32(c->k),
                                    .workspace_source = (uint8_t)c->source,
                                    .tf32 = c->tf32,
                                    .workspace_most_mib = plm_ev_u16(mebibytes(c->most)),
                                    .workspace = c->workspace};
    for (int i = 0, from = PLM_CALL_AXES - c->axes; i < c->axes; i++, from++)
        e.axis[i] = (struct plm_ev_axis){plm_ev_u32(c->in[from]),       plm_ev_u32(c->out[from]),
                                         plm_ev_u16(c->filter[from]),   plm_ev_u16(c->stride[from]),
                                         plm_ev_u16(c->dilation[from]), plm_ev_u16(c->pad[from])};
    plm_record(PLM_EV_CONVOLUTION, plm_device_current(), &e, plm_ev_convolution_words(c->axes));
}

void plm_call_rnn(const struct plm_call_rnn *r, struct plm_stream *stream, bool run)
{
    if (!plm_call_wanted())
        return;
    plm_put_rnn(plm_device_current(), &(struct plm_ev_rnn){.call = call_now(stream, run, false),
                                                           .operation = (uint8_t)r->op,
                                                           .mode = (uint8_t)r->cell,
                                                           .data_type = (uint8_t)r->type,
                                                           .bias = (uint8_t)r->bias,
                                                           .layers = plm_ev_u16(r->layers),
                                                           .directions = plm_ev_u16(r->directions),
                                                           .input_size = plm_ev_u32(r->input),
                                                           .hidden_size = plm_ev_u32(r->hidden),
                                                           .output_size = plm_ev_u32(r->projection),
                                                           .steps = plm_ev_u32(r->steps),
                                                           .batch = plm_ev_u32(r->batch),
                                                           .rows = plm_ev_u32(r->rows),
                                                           .workspace = r->work,
                                                           .reserve = r->reserve,
                                                           .dropout = r->dropout});
}

void plm_call_attention(const struct plm_call_attention *a, struct plm_stream *stream, bool run)
{
    if (!plm_call_wanted())
        return;
    plm_put_attention(plm_device_current(), &(struct plm_ev_attention){.call = call_now(stream, run, false),
                                                                       .operation = (uint8_t)a->op,
                                                                       .data_type = (uint8_t)a->type,
                                                                       .batch = plm_ev_u32(a->batch),
                                                                       .heads = plm_ev_u32(a->heads),
                                                                       .key_heads = plm_ev_u32(a->heads_kv),
                                                                       .queries = plm_ev_u32(a->query_steps),
                                                                       .keys = plm_ev_u32(a->key_steps),
                                                                       .head_size = plm_ev_u32(a->head_size),
                                                                       .value_size = plm_ev_u32(a->value_size),
                                                                       .workspace = a->workspace});
}

void plm_call_collective(const struct plm_call_collective *c, struct plm_stream *stream, bool run)
{
    if (!plm_call_wanted())
        return;
    plm_put_collective(plm_device_current(), &(struct plm_ev_collective){.call = call_now(stream, run, false),
                                                                         .operation = (uint8_t)c->kind,
                                                                         .data_type = (uint8_t)c->type,
                                                                         .reduction = (uint8_t)c->op,
                                                                         .ranks = plm_ev_u32(c->ranks),
                                                                         .rank = plm_ev_u32(c->rank),
                                                                         .root = (uint32_t)c->root,
                                                                         .count = c->count});
}

/* ---- copies ---- */

static void record_copy(const void *to, uint64_t bytes, enum plm_copy_direction direction, enum plm_copy_host host,
                        bool async, struct plm_stream *stream, bool run)
{
    plm_put_copy(plm_device_current(), &(struct plm_ev_copy){.call = call_now(stream, run, !async),
                                                             .bytes = bytes,
                                                             .address = (uint64_t)to,
                                                             .operation = (uint8_t)direction,
                                                             .host = (uint8_t)host,
                                                             .async = async});
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
    const bool stream_waits = what == PLM_SYNC_STREAM_WAITS; /* only a stream can wait while it captures */
    if (plm_call_wanted())
        plm_put_sync(
            plm_device_current(),
            &(struct plm_ev_sync){.call = call_now(stream, !stream_waits || !plm_capture_graph(stream), !stream_waits),
                                  .operation = (uint32_t)what,
                                  .event_stream = other});
}

/* ---- tags ---- */

/* Blocks that somebody tags once, each with the number of its life. A slot is emptied when a block is handed out at its
   address, since a tag belongs to a block and not to a place. Losing a slot to another address costs one more tag. */
enum { LIVES_BITS = 15 };
static struct life {
    _Atomic uint64_t address, number;
} lives[1 << LIVES_BITS];

static struct life *life_slot(uint64_t address)
{
    return &lives[(address >> 9) * 0x9e3779b97f4a7c15ull >> (64 - LIVES_BITS)];
}

/* True if nobody has asked about this life of the address. */
static bool life_begins(uint64_t address, uint64_t *number)
{
    static _Atomic uint64_t last;
    struct life *life = life_slot(address);
    const bool begins = atomic_exchange_explicit(&life->address, address, memory_order_relaxed) != address;
    if (begins)
        atomic_store_explicit(&life->number, atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    *number = atomic_load_explicit(&life->number, memory_order_relaxed);
    return begins;
}

uint64_t plm_call_life(uint64_t address)
{
    uint64_t number = 0;
    if (address)
        life_begins(address, &number);
    return number;
}

void plm_call_tag(const void *address, enum plm_category category)
{
    int device = plm_memory_device_of((uint64_t)address);
    if (device >= 0)
        plm_put_tag(device, &(struct plm_ev_tag){.address = (uint64_t)address, .category = (uint32_t)category});
}

void plm_call_workspace(const void *address)
{
    uint64_t number;
    if (address && life_begins((uint64_t)address, &number))
        plm_call_tag(address, PLM_CATEGORY_WORKSPACE);
}

void plm_call_new_block(uint64_t address)
{
    struct life *life = life_slot(address);
    if (atomic_load_explicit(&life->address, memory_order_relaxed) == address)
        atomic_store_explicit(&life->address, 0, memory_order_relaxed);
}
