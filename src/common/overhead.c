#include "common/overhead.h"

#include <stdio.h>
#include <string.h>

#define KIB 1024ull
#define MIB (1024 * KIB)

/*
 * The empty context. Public readings of nvidia-smi on cards of 80 to 142 multiprocessors are 2 KiB for each thread
 * that can be resident on the card, within 10 MiB: a Titan V takes 320 MiB, an RTX 3090 256, an RTX 6000 Ada 426.
 */
#define CONTEXT_PER_THREAD (2 * KIB)
#define CONTEXT_MORE       (64 * MIB) /* other drivers, display servers, profilers */
/* Where nothing is known of the card or of what was loaded: an A100 with the usual libraries, and from there down to
   small cards. */
#define CONTEXT_UNKNOWN      (550 * MIB)
#define CONTEXT_UNKNOWN_LOW  (100 * MIB)
#define CONTEXT_UNKNOWN_HIGH (700 * MIB)

/* One node of an executable graph: 64 KiB with CUDA 11.2; releases since then pack straight lines of kernels. */
#define NODE_LOW  (1 * KIB)
#define NODE      (16 * KIB)
#define NODE_HIGH (64 * KIB)

static const char *const kinds[] = {
    [PLM_LINE_MEASURED] = "measured",
    [PLM_LINE_COUNTED] = "counted",
    [PLM_LINE_MODELLED] = "modelled",
    [PLM_LINE_ASSUMED] = "assumed",
};

/* MiB of code and handles that a library brings to the card as it is used, and with all of its code for one architecture.
   Published runs on a small card show that it may be next to nothing, those on an A100 that it may be 100 and more. */
static const struct library {
    const char *name;
    uint16_t low, lazy, high;
    uint16_t eager_low, eager, eager_high;
} libraries[PLM_OVERHEAD_LIBRARIES] = {
    [PLM_LIBRARY_CUBLAS] = {"cublas", 0, 16, 120, 80, 250, 500},
    [PLM_LIBRARY_CUDNN] = {"cudnn", 0, 40, 250, 100, 250, 500},
    [PLM_LIBRARY_CUFFT] = {"cufft", 0, 8, 64, 16, 64, 256},
    [PLM_LIBRARY_CUSOLVER] = {"cusolver", 0, 16, 96, 16, 96, 256},
    [PLM_LIBRARY_CUSPARSE] = {"cusparse", 0, 16, 96, 32, 128, 300},
    [PLM_LIBRARY_NCCL] = {"nccl", 0, 16, 96, 16, 64, 160},
};

struct list {
    struct plm_line *line;
    int count;
};

const char *plm_line_kind_name(enum plm_line_kind kind)
{
    return kinds[kind];
}

const char *plm_overhead_library_name(enum plm_overhead_library library)
{
    return libraries[library].name;
}

static struct plm_line *line_add(struct list *l, const char *name, uint64_t low, uint64_t bytes, uint64_t high,
                                 enum plm_line_kind kind)
{
    struct plm_line *line = &l->line[l->count++];
    *line = (struct plm_line){.group = "context", .bytes = bytes, .low = low, .high = high, .kind = kind};
    snprintf(line->name, sizeof line->name, "%s", name);
    return line;
}

#define REASON(line, ...) ((void)snprintf((line)->reason, sizeof(line)->reason, __VA_ARGS__))

static uint64_t resident(const struct plm_overhead *o)
{
    return (uint64_t)o->sms * o->threads;
}

static void context(struct list *l, const struct plm_overhead *o)
{
    uint64_t bytes = resident(o) * CONTEXT_PER_THREAD;
    struct plm_line *line;
    if (!bytes) {
        line =
            line_add(l, "base context", CONTEXT_UNKNOWN_LOW, CONTEXT_UNKNOWN, CONTEXT_UNKNOWN_HIGH, PLM_LINE_ASSUMED);
        REASON(line, "driver, runtime and loaded code; the record has no details of the GPU");
        return;
    }
    line = line_add(l, "base context", bytes / 8 * 7, bytes, bytes / 8 * 9 + CONTEXT_MORE, PLM_LINE_ASSUMED);
    REASON(line, "driver and runtime: 2 KiB for each of the %u x %u resident threads of the GPU", o->sms, o->threads);
}

static void code(struct list *l, const struct plm_overhead *o)
{
    uint64_t known = o->code - (o->guessed < o->code ? o->guessed : o->code);
    struct plm_line *line;
    if (!o->code)
        return;
    /* A single kernel is taken to be as large as the average of its module; one may be a tenth or ten times that. */
    if (o->eager) {
        line = line_add(l, "loaded code", known / 8 * 7, o->code, known / 8 * 9 + 4 * o->guessed, PLM_LINE_COUNTED);
        REASON(line, "all code of the registered modules for this GPU (CUDA_MODULE_LOADING=EAGER)");
    } else {
        line = line_add(l, "loaded code", known / 2, o->code, 2 * known + 4 * o->guessed + 8 * MIB, PLM_LINE_COUNTED);
        REASON(line, "%llu kernels, loaded at their first launch, at the average size of their module",
               (unsigned long long)o->kernels);
    }
}

static void library_code(struct list *l, const struct plm_overhead *o)
{
    uint64_t low = 0, bytes = 0, high = 0;
    char names[80] = "";
    struct plm_line *line;
    for (int i = 0; i < PLM_OVERHEAD_LIBRARIES; i++) {
        const struct library *lib = &libraries[i];
        size_t used = strlen(names);
        if (!(o->libraries & 1u << i))
            continue;
        low += MIB * (o->eager ? lib->eager_low : lib->low);
        bytes += MIB * (o->eager ? lib->eager : lib->lazy);
        high += MIB * (o->eager ? lib->eager_high : lib->high);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", lib->name);
    }
    if (!bytes)
        return;
    line = line_add(l, "library code", low, bytes, high, PLM_LINE_ASSUMED);
    REASON(line, "code and handles of %s, which plimsoll does not load", names);
}

/* The driver keeps as much stack as all threads of the card can need at once, and never takes it back. */
static void stack(struct list *l, const struct plm_overhead *o)
{
    uint64_t more = o->stack > PLM_STACK_DEFAULT ? (o->stack - PLM_STACK_DEFAULT) * resident(o) : 0;
    if (more)
        REASON(line_add(l, "stacks", more / 2, more, more, PLM_LINE_MODELLED),
               "%llu bytes of stack for each resident thread instead of 1024", (unsigned long long)o->stack);
}

/* Both are taken only if a kernel that uses them is loaded, which is not known. */
static void buffers(struct list *l, const struct plm_overhead *o)
{
    uint64_t fifo = o->printf_bytes > PLM_PRINTF_DEFAULT ? o->printf_bytes - PLM_PRINTF_DEFAULT : 0;
    if (fifo)
        REASON(line_add(l, "printf buffer", 0, fifo, fifo, PLM_LINE_MODELLED),
               "set by the program beyond the default; allocated if a kernel prints");
    if (o->heap && o->heap != PLM_HEAP_DEFAULT)
        REASON(line_add(l, "malloc heap", 0, o->heap, o->heap, PLM_LINE_MODELLED),
               "set by the program; allocated if a kernel calls malloc");
}

static void graphs(struct list *l, const struct plm_overhead *o)
{
    uint64_t n = o->graph_nodes;
    if (n)
        REASON(line_add(l, "CUDA graphs", n * NODE_LOW, n * NODE, n * NODE_HIGH, PLM_LINE_ASSUMED),
               "%llu nodes of executable graphs, 1 to 64 KiB each", (unsigned long long)n);
}

int plm_overhead_lines(const struct plm_overhead *o, struct plm_line line[PLM_OVERHEAD_LINES])
{
    struct list l = {line, 0};
    context(&l, o);
    code(&l, o);
    library_code(&l, o);
    for (int i = 0; i < l.count; i++)
        line[i].usual = true;
    stack(&l, o);
    buffers(&l, o);
    graphs(&l, o);
    return l.count;
}

uint64_t plm_overhead_bytes(const struct plm_overhead *o, uint64_t measured)
{
    struct plm_line line[PLM_OVERHEAD_LINES];
    uint64_t sum = measured;
    int n = plm_overhead_lines(o, line);
    for (int i = 0; i < n; i++)
        if (!measured || !line[i].usual)
            sum += line[i].bytes;
    return sum;
}
