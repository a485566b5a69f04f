/*
 * synth FILE [EVENTS [STEPS [PROCESSES [WORLD]]]]: writes the record of a training that never ran, for measurements and
 * tests that need one of a given size. A transformer of 24 layers: parameters, batches, activations, casts of
 * mixed precision, gradients made by a second thread, AdamW. EVENTS block events per process (default 100000) are
 * spread over STEPS steps (default 10). With WORLD the processes are ranks of a world of so many, one of each stage.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "record/create.h"
#include "record/pen.h"

#define KIB 1024ull
#define MIB (1024 * KIB)

enum { LAYERS = 24, PARTS = 9, MODULES = LAYERS * PARTS + 3, SIZES = 64, FREE_MOST = 1 << 14, OPS = 8 };

/* One kind of module in a layer: what it is called, its parameter's bytes and what it leaves for the backward. */
static const struct part {
    const char *name, *op, *node;
    uint64_t weight, output;
} parts[PARTS] = {
    {"ln_1", "aten::layer_norm", "NativeLayerNormBackward0", 8 * KIB, 8 * MIB},
    {"attn.c_attn", "aten::addmm", "AddmmBackward0", 12 * MIB, 24 * MIB},
    {"attn.core", "aten::scaled_dot_product_attention", "ScaledDotProductEfficientAttentionBackward0", 0, 8 * MIB},
    {"attn.c_proj", "aten::addmm", "AddmmBackward0", 4 * MIB, 8 * MIB},
    {"attn.dropout", "aten::native_dropout", "NativeDropoutBackward0", 0, 2 * MIB},
    {"ln_2", "aten::layer_norm", "NativeLayerNormBackward0", 8 * KIB, 8 * MIB},
    {"mlp.c_fc", "aten::addmm", "AddmmBackward0", 16 * MIB, 32 * MIB},
    {"mlp.act", "aten::gelu", "GeluBackward0", 0, 32 * MIB},
    {"mlp.c_proj", "aten::addmm", "AddmmBackward0", 16 * MIB, 8 * MIB},
};

struct module {
    char name[64], weight_name[80];
    const struct part *part;
    uint64_t weight, gradient, moment[2], activation, cast; /* addresses; 0: none now */
    uint32_t context[OPS];
};

/* Addresses as a caching allocator gives them: a freed block of the same size first, else the next place. */
struct size_class {
    uint64_t bytes, list[FREE_MOST];
    int count;
};

static struct {
    struct module module[MODULES];
    struct size_class class[SIZES];
    int classes, temporaries;
    uint64_t next, segment_end, reserved, segments_at;
    uint64_t events, live_inputs[2];
    uint32_t next_context;
    sem_t go, done;
    bool stop;
} job;

/* Of the process, and of each of its two threads. */
static struct plm_writer writer;

static struct plm_pen *pen(void)
{
    static __thread struct plm_pen mine;
    mine.writer = &writer;
    return &mine;
}

static uint32_t text(const char *s)
{
    return plm_pen_intern(pen(), s);
}

static uint32_t make_context(const char *module, const char *outer, const char *inner, enum plm_phase phase)
{
    uint32_t id = ++job.next_context;
    plm_pen_context(pen(), 0, &(struct plm_ev_context){id, text(module), text(outer), text(inner), phase, 0});
    return id;
}

static void phase(enum plm_phase which)
{
    plm_pen_phase(pen(), 0, &(struct plm_ev_phase){.phase = which});
}

static void enter(const char *module, enum plm_phase which)
{
    plm_pen_module(pen(), 0, &(struct plm_ev_module){module ? text(module) : 0, which});
}

static void tag(uint64_t address, enum plm_category category, const char *owner)
{
    plm_pen_tag(pen(), 0, &(struct plm_ev_tag){address, category, text(owner), 0});
}

static struct size_class *class_of(uint64_t bytes)
{
    for (int i = 0; i < job.classes; i++)
        if (job.class[i].bytes == bytes)
            return &job.class[i];
    if (job.classes == SIZES)
        abort();
    job.class[job.classes].bytes = bytes;
    return &job.class[job.classes++];
}

static uint64_t place(uint64_t bytes)
{
    uint64_t segment = bytes < MIB        ? 2 * MIB
                       : bytes < 10 * MIB ? 20 * MIB
                                          : (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    if (job.next + bytes > job.segment_end) {
        plm_pen_memory_alloc(pen(), 0, &(struct plm_ev_memory_alloc){job.segments_at, segment, PLM_RECORD_MALLOC, 0});
        job.next = job.segments_at;
        job.segment_end = job.segments_at += segment;
        job.reserved += segment;
        plm_pen_reserved(pen(), 0, &(struct plm_ev_reserved){job.reserved});
    }
    job.next += bytes;
    return job.next - bytes;
}

static uint64_t allocate(uint64_t bytes, uint32_t context)
{
    struct size_class *c = class_of(bytes);
    const uint64_t address = c->count ? c->list[--c->count] : place(bytes);
    plm_pen_block_alloc(pen(), 0, &(struct plm_ev_block_alloc){.address = address, .bytes = bytes, .context = context});
    job.events++;
    return address;
}

static void release(uint64_t *address, uint64_t bytes)
{
    struct size_class *c = class_of(bytes);
    if (!*address)
        return;
    if (c->count == FREE_MOST)
        abort();
    c->list[c->count++] = *address;
    plm_pen_block_free(pen(), 0, &(struct plm_ev_block_free){*address, bytes});
    job.events++;
    *address = 0;
}

/* Some sizes, some operators, always the same. */
static void temporaries(struct module *m, int first, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t bytes = 512ull << i % 14, address = allocate(bytes, m->context[first + i % 2]);
        release(&address, bytes);
    }
}

enum { FORWARD, FORWARD_TEMPORARY, CAST, BACKWARD, BACKWARD_TEMPORARY, OPTIMIZER, OPTIMIZER_TEMPORARY, LOAD };

static void make_contexts(struct module *m)
{
    const char *op = m->part->op, *node = m->part->node;
    m->context[FORWARD] = make_context(m->name, op, op, PLM_PHASE_FORWARD);
    m->context[FORWARD_TEMPORARY] = make_context(m->name, op, "aten::empty", PLM_PHASE_FORWARD);
    m->context[CAST] = make_context(m->name, op, "aten::_to_copy", PLM_PHASE_FORWARD);
    m->context[BACKWARD] = make_context(m->name, node, "aten::mm", PLM_PHASE_BACKWARD);
    m->context[BACKWARD_TEMPORARY] = make_context(m->name, node, "aten::sum", PLM_PHASE_BACKWARD);
    m->context[OPTIMIZER] = make_context("", "aten::zeros_like", "aten::empty_like", PLM_PHASE_OPTIMIZER);
    m->context[OPTIMIZER_TEMPORARY] =
        make_context("", "aten::_foreach_sqrt", "aten::_foreach_sqrt", PLM_PHASE_OPTIMIZER);
    m->context[LOAD] = make_context("", "aten::to", "aten::_to_copy", PLM_PHASE_OTHER);
}

static void build_model(void)
{
    static const struct part embedding = {"wte", "aten::embedding", "EmbeddingBackward0", 196 * MIB, 8 * MIB};
    static const struct part norm = {"ln_f", "aten::layer_norm", "NativeLayerNormBackward0", 8 * KIB, 8 * MIB};
    static const struct part head = {"lm_head", "aten::linear", "MmBackward0", 0, 394 * MIB};
    for (int i = 0; i < MODULES; i++) {
        struct module *m = &job.module[i];
        int at = i - 1;
        m->part = !i ? &embedding : i == MODULES - 2 ? &norm : i == MODULES - 1 ? &head : &parts[at % PARTS];
        if (!i || i >= MODULES - 2)
            snprintf(m->name, sizeof m->name, "%s%s", i == MODULES - 1 ? "" : "transformer.", m->part->name);
        else
            snprintf(m->name, sizeof m->name, "transformer.h.%d.%s", at / PARTS, m->part->name);
        snprintf(m->weight_name, sizeof m->weight_name, "%s.weight", m->name);
        make_contexts(m);
        if (!m->part->weight)
            continue;
        m->weight = allocate(m->part->weight, m->context[LOAD]);
        tag(m->weight, PLM_CATEGORY_PARAMETERS, m->weight_name);
    }
}

static void forward(void)
{
    phase(PLM_PHASE_FORWARD);
    enter("", PLM_PHASE_FORWARD);
    for (int i = 0; i < MODULES; i++) {
        struct module *m = &job.module[i];
        enter(m->name, PLM_PHASE_FORWARD);
        if (m->part->weight >= MIB)
            m->cast = allocate(m->part->weight / 2, m->context[CAST]);
        temporaries(m, FORWARD, job.temporaries);
        m->activation = allocate(m->part->output, m->context[FORWARD]);
        enter(NULL, PLM_PHASE_FORWARD);
    }
    enter(NULL, PLM_PHASE_FORWARD);
    phase(PLM_PHASE_OTHER);
}

static void backward(void)
{
    for (int i = MODULES; i-- > 0;) {
        struct module *m = &job.module[i];
        uint64_t passed = allocate(m->part->output, m->context[BACKWARD]);
        temporaries(m, BACKWARD, job.temporaries);
        if (m->part->weight) {
            m->gradient = allocate(m->part->weight, m->context[BACKWARD]);
            tag(m->gradient, PLM_CATEGORY_GRADIENTS, m->weight_name);
        }
        release(&m->activation, m->part->output);
        release(&m->cast, m->part->weight / 2);
        release(&passed, m->part->output);
    }
}

static void *autograd(void *unused)
{
    for (;;) {
        sem_wait(&job.go);
        if (job.stop)
            return unused;
        backward();
        sem_post(&job.done);
    }
}

static void optimize(void)
{
    phase(PLM_PHASE_OPTIMIZER);
    for (int i = 0; i < MODULES; i++) {
        struct module *m = &job.module[i];
        for (int k = 0; k < 2 && m->part->weight; k++)
            if (!m->moment[k]) {
                m->moment[k] = allocate(m->part->weight, m->context[OPTIMIZER]);
                tag(m->moment[k], PLM_CATEGORY_OPTIMIZER, m->weight_name);
            }
        if (m->part->weight)
            temporaries(m, OPTIMIZER_TEMPORARY - 1, 1);
    }
    phase(PLM_PHASE_OTHER);
}

static void zero_grad(void)
{
    phase(PLM_PHASE_ZERO_GRAD);
    for (int i = 0; i < MODULES; i++)
        release(&job.module[i].gradient, job.module[i].part->weight);
    phase(PLM_PHASE_OTHER);
}

static void step(uint32_t number, const uint32_t batch[2])
{
    uint64_t loss;
    for (int i = 0; i < 2; i++)
        job.live_inputs[i] = allocate(32 * KIB, batch[0]);
    forward();
    phase(PLM_PHASE_LOSS);
    loss = allocate(512, batch[1]);
    phase(PLM_PHASE_OTHER);
    phase(PLM_PHASE_BACKWARD);
    sem_post(&job.go);
    sem_wait(&job.done);
    phase(PLM_PHASE_OTHER);
    optimize();
    plm_pen_step(pen(), 0, &(struct plm_ev_step){number, 1});
    zero_grad();
    release(&loss, 512);
    for (int i = 0; i < 2; i++)
        release(&job.live_inputs[i], 32 * KIB);
}

/* A world whose ranks are as many stages as there are processes; each process is the first rank of one. 0: no world. */
static struct {
    int ranks, each;
} world;

static int rank_of(int process)
{
    return world.ranks ? process * world.each : process;
}

static void describe(int process)
{
    static const char *const config[][2] = {
        {"gpu", "rtx3060"},       {"gpus", "1"},         {"bounded", "no"},
        {"allocator", "default"}, {"argv[0]", "python"}, {"argv[1]", "synth.py"},
        {"torch", "2.15.0"},      {"cuda", "13.2"},      {"python", "3.11.7"},
    };
    char rank[16];
    for (size_t i = 0; i < sizeof config / sizeof config[0]; i++)
        plm_pen_setting(pen(), config[i][0], config[i][1]);
    snprintf(rank, sizeof rank, "%d", rank_of(process));
    plm_pen_setting(pen(), "rank", rank);
}

static void train(int process, uint64_t events, uint64_t steps)
{
    uint32_t batch[2];
    uint64_t fixed = 9ull * MODULES, share = events / steps;
    pthread_t thread;

    describe(process);
    job.next = job.segment_end = job.segments_at = 0x7f0000000000u;
    job.temporaries = share > fixed ? (int)((share - fixed) / (4ull * MODULES)) : 0;
    sem_init(&job.go, 0, 0);
    sem_init(&job.done, 0, 0);
    if (pthread_create(&thread, NULL, autograd, NULL))
        abort();
    batch[0] = make_context("", "aten::to", "aten::_to_copy", PLM_PHASE_DATA);
    batch[1] = make_context("(CrossEntropyLoss)", "aten::cross_entropy_loss", "aten::nll_loss_forward", PLM_PHASE_LOSS);
    build_model();
    if (world.ranks) {
        allocate((uint64_t)(process + 1) * 256 * MIB, batch[0]); /* later stages need more */
        plm_pen_shard(pen(), 0, &(struct plm_ev_shard){PLM_CATEGORY_PARAMETERS, 0, MIB, (uint64_t)world.each * MIB});
    }
    for (uint32_t i = 1; i <= steps; i++)
        step(i, batch);
    while (job.events + 1 < events)
        temporaries(&job.module[0], OPTIMIZER_TEMPORARY - 1, 1);
    job.stop = true;
    sem_post(&job.go);
    pthread_join(thread, NULL);
    plm_pen_end(pen(), 0, &(struct plm_ev_end){0});
}

static void kind_tell(int process, int processes)
{
    char ranks[32], why[32];
    snprintf(ranks, sizeof ranks, "%d-%d", rank_of(process), rank_of(process + 1) - 1);
    snprintf(why, sizeof why, "stage %d of %d", process + 1, processes);
    plm_pen_kind(pen(), 0,
                 &(struct plm_ev_kind){(uint32_t)rank_of(process), (uint32_t)world.each, plm_pen_intern(pen(), ranks),
                                       plm_pen_intern(pen(), why)});
}

static void world_tell(int processes)
{
    char number[16];
    snprintf(number, sizeof number, "%d", world.ranks);
    plm_pen_setting(pen(), "world", number);
    snprintf(number, sizeof number, "%d", world.ranks / 8);
    plm_pen_setting(pen(), "nodes", number);
    plm_pen_setting(pen(), "gpus-per-node", "8");
    for (int i = 0; i < processes; i++)
        kind_tell(i, processes);
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000,
             steps = argc > 3 ? strtoull(argv[3], NULL, 10) : 10;
    int processes = argc > 4 ? atoi(argv[4]) : 1, status, failed = 0;
    struct plm_record_file file;
    struct plm_error error;

    world.ranks = argc > 5 ? atoi(argv[5]) : 0;
    world.each = processes > 0 ? world.ranks / processes : 0;
    if (argc < 2 || !steps || processes < 1) {
        fprintf(stderr, "synth FILE [EVENTS [STEPS [PROCESSES [WORLD]]]]\n");
        return 2;
    }
    if (plm_record_create(argv[1], true, &file, &error)) {
        fprintf(stderr, "synth: %s\n", error.text);
        return 1;
    }
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            if (plm_writer_open(&writer, argv[1]))
                _exit(1);
            train(i, events, steps);
            _exit(0);
        }
    while (wait(&status) > 0)
        failed |= status;
    failed |= plm_writer_open(&writer, argv[1]);
    plm_pen_setting(pen(), "exit", "0");
    plm_pen_setting(pen(), "seconds", "1");
    if (world.ranks)
        world_tell(processes);
    plm_record_close(&file);
    return failed != 0;
}
