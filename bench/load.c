/*
 * load FILE [KEY=NUMBER...]: writes the record of a job of any size in which everything happens that a large one has:
 * many threads on several devices, launches with and without counts, products, convolutions, operands, copies, waits,
 * modules, tags, emptied caches, steps. The same words give the same record, to the byte. Prints how many events it has.
 *
 *   events      of all processes together, about (1000000)
 *   threads     of each process (16); thread i uses device i % devices
 *   devices     of each process (4)
 *   processes   ranks (1)
 *   steps       of each process (100)
 *   modules     that a pass goes through again and again until its share of the events is there (48)
 *   texts       names of kernels (200)
 *   sizes       that the work of a module has in turn (1)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "record/create.h"
#include "record/pen.h"

#define KIB 1024ull
#define MIB (1024 * KIB)

enum {
    BLOCK = 8 << 20,
    ROOM = 4,
    BUCKET_VIEWS = 4
}; /* a module's blocks lie side by side: ROOM places of BLOCK bytes */
enum { WEIGHT, OUTPUT, SCRATCH, GRADIENT };
_Static_assert(GRADIENT + 1 == ROOM, "each block of a module has its place");

static struct {
    const char *name;
    uint64_t value;
} settings[] = {{"events", 1000000}, {"threads", 16}, {"devices", 4}, {"processes", 1},
                {"steps", 100},      {"modules", 48}, {"texts", 200}, {"sizes", 1}};
enum setting { EVENTS, THREADS, DEVICES, PROCESSES, STEPS, MODULES, TEXTS, SIZES };

#define SETTING(key) settings[key].value

struct worker {
    struct plm_pen pen;
    int device;
    uint64_t base, calls;
    bool *output, *gradient; /* of each module: whether it lives */
};

static struct plm_writer writer;
static struct worker *worker;
static uint32_t *text, *module;
static uint64_t clock_ns, events;

/* One event of a worker, each later than the one before. */
#define PUT(w, kind, ...)                                                             \
    do {                                                                              \
        plm_pen_at(&(w)->pen, clock_ns += 500);                                       \
        plm_pen_##kind(&(w)->pen, (w)->device, &(struct plm_ev_##kind){__VA_ARGS__}); \
        events++;                                                                     \
    } while (0)

static uint32_t intern(const char *format, unsigned long number)
{
    char name[200];
    snprintf(name, sizeof name, format, number);
    return plm_pen_intern(&worker[0].pen, name);
}

static uint64_t place(const struct worker *w, uint64_t at, unsigned which)
{
    return w->base + (at * ROOM + which) * BLOCK;
}

static uint32_t context_of(uint64_t at, bool backward)
{
    return (uint32_t)(2 * at + backward + 1);
}

/* The CPU time is read now and then only, by some threads never. */
static struct plm_ev_call call_of(struct worker *w, uint64_t at, bool backward)
{
    const bool read = ++w->calls % 16 == 0 && w->device % 2 == 0;
    return (struct plm_ev_call){.context = context_of(at, backward), .cpu_ns = read ? 4000 : 0};
}

static void block_take(struct worker *w, uint64_t at, unsigned which, uint64_t bytes, bool backward)
{
    PUT(w, block_alloc, .address = place(w, at, which), .bytes = (bytes + 511) / 512 * 512,
        .context = context_of(at, backward), .asked = bytes);
}

static void block_give(struct worker *w, uint64_t at, unsigned which, uint64_t bytes)
{
    PUT(w, block_free, place(w, at, which), (bytes + 511) / 512 * 512);
}

static uint64_t bytes_of(uint64_t at, unsigned which)
{
    return 3000 + (at * 791919 + which * 1047290) % (BLOCK - 4096);
}

static void launches(struct worker *w, uint64_t at, bool backward)
{
    const uint32_t other = (uint32_t)(events % SETTING(SIZES)), elements = (uint32_t)(bytes_of(at, OUTPUT) / 4) + other;
    const uint32_t name = text[w->calls % SETTING(TEXTS)];
    PUT(w, launch, .call = call_of(w, at, backward), .name = name, .grid_x = elements / 512 + 1, .grid_y = 1,
        .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1, .counts = PLM_COUNT_ELEMENTS, .count = elements);
    for (int i = 0; i < 2; i++) /* of a slice each */
        PUT(w, launch, .call = call_of(w, at, backward), .name = text[at % SETTING(TEXTS)], .grid_x = 64, .grid_y = 1,
            .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1);
    PUT(w, gemm, .call = call_of(w, at, backward), .m = 1024, .n = 512 + (uint32_t)at + other, .k = 768, .batch = 1,
        .type_a = 2, .type_b = 2, .type_c = 2, .type_d = 2, .compute = 68, .epilogue = 1);
}

static void operands(struct worker *w, uint64_t at, bool backward)
{
    PUT(w, operands, .context = context_of(at, backward), .tensors = 2, .element_bytes = 2, .first_element_bytes = 2,
        .first_dimensions = 2, .elements = bytes_of(at, OUTPUT) / 2, .bytes = 2 * bytes_of(at, OUTPUT));
}

static void convolution(struct worker *w, uint64_t at)
{
    block_take(w, at, SCRATCH, MIB, false);
    PUT(w, convolution, .call = call_of(w, at, false), .data_type = 2, .axes = 1, .groups = 1, .batch = 8,
        .in_channels = 64, .out_channels = 64 + (uint32_t)at, .workspace_source = PLM_CONV_SOURCE_FORMULA,
        .workspace_most_mib = 4, .workspace = MIB, .axis = {{256, 256, 3, 1, 1, 1}});
    block_give(w, at, SCRATCH, MIB);
}

/* A module of a pass. The first time of a step its output stays, or the gradient comes that the optimizer uses. */
static void module_pass(struct worker *w, uint64_t at, bool backward)
{
    if (!backward)
        PUT(w, module, module[at], PLM_PHASE_FORWARD);
    operands(w, at, backward);
    block_take(w, at, SCRATCH, bytes_of(at, SCRATCH), backward);
    launches(w, at, backward);
    block_give(w, at, SCRATCH, bytes_of(at, SCRATCH));
    if (!backward && !w->output[at]) {
        block_take(w, at, OUTPUT, bytes_of(at, OUTPUT), false);
        w->output[at] = true;
    } else if (backward && w->output[at]) {
        block_take(w, at, GRADIENT, bytes_of(at, WEIGHT), true);
        for (uint64_t i = 0; i < BUCKET_VIEWS; i++)
            PUT(w, tag, place(w, at, GRADIENT) + i * 512, PLM_CATEGORY_GRADIENTS, module[at], 0);
        block_give(w, at, OUTPUT, bytes_of(at, OUTPUT));
        w->output[at] = false;
        w->gradient[at] = true;
    }
    if (!backward && at % 16 == 0)
        convolution(w, at);
    if (!backward)
        PUT(w, module, 0, PLM_PHASE_FORWARD);
}

static void phase(enum plm_phase now)
{
    PUT(&worker[0], phase, .phase = now);
}

/* All threads go through the modules side by side until the events are there; `from` tells how many the forward pass
   went through. */
static uint64_t pass(bool backward, uint64_t from, uint64_t until)
{
    const uint64_t modules = SETTING(MODULES), last = from + modules - 1;
    uint64_t i;
    phase(backward ? PLM_PHASE_BACKWARD : PLM_PHASE_FORWARD);
    for (i = 0; !i || events < until; i++)
        for (uint64_t t = 0; t < SETTING(THREADS); t++)
            module_pass(&worker[t], (backward ? last - i % modules : i) % modules, backward);
    phase(PLM_PHASE_OTHER);
    return i;
}

static void gradients_drop(struct worker *w)
{
    for (uint64_t i = 0; i < SETTING(MODULES); i++)
        if (w->gradient[i]) {
            block_give(w, i, GRADIENT, bytes_of(i, WEIGHT));
            w->gradient[i] = false;
        }
}

/* The cache is emptied and fills again; the host waits and reads the loss. */
static void step_end(uint64_t reserved)
{
    for (uint64_t t = 0; t < SETTING(THREADS); t++) {
        struct worker *w = &worker[t];
        const uint64_t cached = w->base + SETTING(MODULES) * ROOM * BLOCK;
        gradients_drop(w);
        PUT(w, copy, .call = call_of(w, 0, false), .bytes = 4, .operation = PLM_COPY_DEVICE_TO_HOST,
            .host = PLM_COPY_PAGEABLE);
        PUT(w, sync, .call = call_of(w, 0, false), .operation = PLM_SYNC_STREAM);
        PUT(w, memory_alloc, cached, 2 * MIB, PLM_RECORD_MALLOC, 0);
        PUT(w, reserved, reserved + 2 * MIB);
        PUT(w, memory_free, cached, 2 * MIB, PLM_RECORD_MALLOC, 0);
        PUT(w, reserved, reserved);
    }
}

static void contexts_tell(void)
{
    static const char *const settled[][2] = {{"gpu", "a100-80gb"},  {"bounded", "no"},      {"allocator", "default"},
                                             {"argv[0]", "python"}, {"argv[1]", "load.py"}, {"torch", "2.15.0"}};
    for (size_t i = 0; i < sizeof settled / sizeof settled[0]; i++)
        plm_pen_setting(&worker[0].pen, settled[i][0], settled[i][1]);
    for (uint64_t i = 0; i < SETTING(TEXTS); i++)
        text[i] = intern("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15FillFunctor%luIfEE", i);
    for (uint64_t i = 0; i < SETTING(MODULES); i++) {
        const uint32_t forward = intern("aten::linear", 0), backward = intern("AddmmBackward0", 0);
        module[i] = intern("transformer.h.%lu.mlp", i);
        PUT(&worker[0], context, context_of(i, false), module[i], forward, forward, PLM_PHASE_FORWARD, 0);
        PUT(&worker[0], context, context_of(i, true), module[i], backward, forward, PLM_PHASE_BACKWARD, 0);
    }
}

/* Each thread has a segment of its own. */
static uint64_t workers_begin(unsigned rank)
{
    const uint64_t bytes = SETTING(MODULES) * ROOM * BLOCK, sharing = SETTING(THREADS) / SETTING(DEVICES);
    char number[16];
    for (uint64_t t = 0; t < SETTING(THREADS); t++) {
        struct worker *w = &worker[t];
        w->pen = (struct plm_pen){.writer = &writer, .thread = (uint32_t)t + 1};
        w->device = (int)(t % SETTING(DEVICES));
        w->base = 0x7f0000000000u + t * 2 * bytes;
        w->calls = 0;
    }
    snprintf(number, sizeof number, "%u", rank);
    plm_pen_setting(&worker[0].pen, "rank", number);
    contexts_tell();
    for (uint64_t t = 0; t < SETTING(THREADS); t++) {
        PUT(&worker[t], memory_alloc, worker[t].base, bytes, PLM_RECORD_MALLOC, 0);
        PUT(&worker[t], reserved, bytes * (t / SETTING(DEVICES) + 1));
        for (uint64_t i = 0; i < SETTING(MODULES); i++) {
            block_take(&worker[t], i, WEIGHT, bytes_of(i, WEIGHT), false);
            PUT(&worker[t], tag, place(&worker[t], i, WEIGHT), PLM_CATEGORY_PARAMETERS, module[i], 0);
        }
    }
    return bytes * sharing;
}

static void rank_write(unsigned rank)
{
    const uint64_t share = SETTING(EVENTS) / SETTING(PROCESSES), first = events;
    uint64_t reserved;
    clock_ns = 1000 + rank;
    reserved = workers_begin(rank);
    for (uint64_t i = 0; i < SETTING(STEPS); i++) {
        const uint64_t begun = first + share * i / SETTING(STEPS), ends = first + share * (i + 1) / SETTING(STEPS);
        PUT(&worker[0], pass, module[0], 32);
        pass(true, pass(false, 0, begun + (ends - begun) / 2), ends);
        phase(PLM_PHASE_OPTIMIZER);
        PUT(&worker[0], step, (uint32_t)i + 1, 1);
        phase(PLM_PHASE_OTHER);
        step_end(reserved);
    }
    PUT(&worker[0], launches, worker[0].calls);
    PUT(&worker[0], end, 0);
    for (uint64_t t = 0; t < SETTING(THREADS); t++)
        plm_pen_close(&worker[t].pen);
}

static bool settings_read(int count, char **words)
{
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        bool found = false;
        for (size_t k = 0; equals && k < sizeof settings / sizeof settings[0]; k++)
            if (!strncmp(words[i], settings[k].name, (size_t)(equals - words[i])) &&
                !settings[k].name[equals - words[i]]) {
                settings[k].value = strtoull(equals + 1, NULL, 10);
                found = settings[k].value > 0;
            }
        if (!found)
            return false;
    }
    return SETTING(THREADS) >= SETTING(DEVICES);
}

int main(int argc, char **argv)
{
    struct plm_record_file file;
    struct plm_error error;
    if (argc < 2 || !settings_read(argc - 2, argv + 2)) {
        fprintf(
            stderr,
            "load FILE [events=N] [threads=N] [devices=N] [processes=N] [steps=N] [modules=N] [texts=N] [sizes=N]\n");
        return 2;
    }
    if (plm_record_create(argv[1], true, &file, &error) || plm_writer_open(&writer, argv[1])) {
        fprintf(stderr, "load: %s cannot be written\n", argv[1]);
        return 1;
    }
    worker = plm_calloc(SETTING(THREADS), sizeof *worker);
    text = plm_calloc(SETTING(TEXTS), sizeof *text);
    module = plm_calloc(SETTING(MODULES), sizeof *module);
    for (uint64_t t = 0; t < SETTING(THREADS); t++) {
        worker[t].output = plm_calloc(SETTING(MODULES), sizeof *worker[t].output);
        worker[t].gradient = plm_calloc(SETTING(MODULES), sizeof *worker[t].gradient);
    }
    plm_writer_past(&writer, 1);
    for (unsigned i = 0; i < SETTING(PROCESSES); i++) {
        if (i)
            plm_writer_forked(&writer); /* another process in the record, with texts of its own */
        rank_write(i);
    }
    printf("%llu\n", (unsigned long long)events);
    plm_record_close(&file);
    return plm_writer_close(&writer) != 0;
}
