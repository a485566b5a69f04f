#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/words.h"
#include "study/estimate/amount.h"
#include "study/estimate/estimators.h"
#include "study/estimate/horus.h"
#include "study/estimate/method.h"

#define DESCRIBED PLM_NEEDS_DESCRIPTION
/* Methods that learn from tables of `plimsoll dataset`; src/study/learn has them. */
#define LEARNED(name, made_for, without, prepare_it)                                                      \
    {name,    PLM_LEARNED,           PLM_ANSWER_DEVICE,          DESCRIBED | PLM_NEEDS_MODEL,   made_for, \
     without, .prepare = prepare_it, .judge = plm_judge_learned, .explain = plm_explain_learned}

/* Name, paradigm, kind and needs; what it was made for; what it leaves out; its functions. */
const struct plm_method plm_methods[] = {
    {"virtual", PLM_VIRTUAL, PLM_ANSWER_RESERVED, PLM_NEEDS_JOB, "any job that runs on the virtual GPU",
     "nothing known", .prepare = plm_prepare_virtual, .judge = plm_judge_virtual},
    {"xmem", PLM_CPU_SIDE, PLM_ANSWER_RESERVED, PLM_NEEDS_TRACE, "fp32 training on one GPU, models made of modules",
     "parents' own tensors, temporaries, workspaces", .prepare = plm_prepare_xmem, .judge = plm_judge_xmem,
     .explain = plm_explain_xmem, .forget = plm_forget_xmem},
    {"xmem+", PLM_CPU_SIDE, PLM_ANSWER_RESERVED, PLM_NEEDS_TRACE, "training on one GPU",
     "workspaces, what only GPU kernels keep", .prepare = plm_prepare_xmem_plus, .judge = plm_judge_xmem,
     .explain = plm_explain_xmem, .forget = plm_forget_xmem},
    {"dnnmem", PLM_ANALYTICAL, PLM_ANSWER_RESERVED, DESCRIBED, "models with a static graph",
     "optimizer state, workspaces", .shown = "dnnmem-style", .estimate = plm_method_dnnmem},
    {"dnnmem-x", PLM_ANALYTICAL, PLM_ANSWER_RESERVED, DESCRIBED, "models of the comparison of xMem: CNNs, transformers",
     "optimizer state, workspaces, ReLU tensors", .prepare = plm_prepare_dnnmem_x, .judge = plm_judge_dnnmem_x,
     .forget = plm_forget_dnnmem_x},
    {"llmem", PLM_ANALYTICAL, PLM_ANSWER_RESERVED, DESCRIBED, "decoders in fp16 with AdamW and gradient checkpointing",
     "activations inside blocks, gradients", .estimate = plm_method_llmem},
    {"schedtune", PLM_LEARNED, PLM_ANSWER_DEVICE, DESCRIBED | PLM_NEEDS_FOREST,
     "CNNs in float32 and cards like those of its rows", "the optimizer, all that its rows do not vary",
     .prepare = plm_prepare_schedtune, .judge = plm_judge_schedtune},
    {"horus", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED, "training in float32",
     "optimizer state, workspaces, the allocator", .estimate = plm_method_horus},
    {"horus-1000", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED, "training in float32",
     "what exceeds its 1000 MB for the rest", .estimate = plm_method_horus_1000},
    {PLM_HORUS_METHOD, PLM_LEARNED, PLM_ANSWER_UTILIZATION, DESCRIBED | PLM_NEEDS_BOOSTED,
     "networks like those of its rows, on their card", "the card, the optimizer, the host",
     .estimate = plm_method_horus_utilization},
    LEARNED("gpumemnet-mlp", "networks of the family of its rows, on their card", "the optimizer, shapes of layers",
            plm_prepare_gpumemnet_mlp),
    LEARNED("gpumemnet-transformer", "networks of the family of its rows, on their card", "the optimizer",
            plm_prepare_gpumemnet_transformer),
    {"dnnperf", PLM_LEARNED, PLM_ANSWER_DEVICE, DESCRIBED | PLM_NEEDS_MODEL, "networks like those of its rows",
     "the optimizer, the card", .shown = "dnnperf-style", .prepare = plm_prepare_dnnperf, .judge = plm_judge_learned,
     .explain = plm_explain_learned},
    LEARNED("extratrees", "networks like those of its rows, on their card", "the optimizer, kinds and shapes of layers",
            plm_prepare_extratrees),
    LEARNED("extratrees+", "networks like those of its rows, on their card", "shapes of layers",
            plm_prepare_extratrees_all),
    {"plimsoll-learned", PLM_LEARNED, PLM_ANSWER_DEVICE, PLM_NEEDS_JOB | DESCRIBED | PLM_NEEDS_MODEL,
     "jobs that run on the virtual GPU, on the stack of its rows", "nothing known",
     .prepare = plm_prepare_plimsoll_learned, .judge = plm_judge_learned, .explain = plm_explain_learned},
    {"faketensor-a", PLM_CPU_SIDE, PLM_ANSWER_ALLOCATED, DESCRIBED, "a forward and backward pass of the model alone",
     "loss, optimizer, workspaces, the allocator", .estimate = plm_method_faketensor_a},
    {"faketensor-b", PLM_CPU_SIDE, PLM_ANSWER_ALLOCATED, DESCRIBED, "a step of any loop", "workspaces, the allocator",
     .estimate = plm_method_faketensor_b},
    {"faketensor-c", PLM_CPU_SIDE, PLM_ANSWER_RESERVED, DESCRIBED, "a step of any loop",
     "workspaces, what only GPU kernels keep", .estimate = plm_method_faketensor_c},
    {"deepspeed-zero2", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED, "mixed precision with Adam under ZeRO-2",
     "activations, workspaces", .estimate = plm_method_deepspeed_zero2},
    {"deepspeed-zero2-offload", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED, "the same, optimizer on the host",
     "activations, workspaces", .estimate = plm_method_deepspeed_zero2_offload},
    {"deepspeed-zero3", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED, "mixed precision with Adam under ZeRO-3",
     "activations, workspaces", .estimate = plm_method_deepspeed_zero3},
    {"deepspeed-zero3-offload-optimizer", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED,
     "the same, optimizer on the host", "activations, workspaces",
     .estimate = plm_method_deepspeed_zero3_offload_optimizer},
    {"deepspeed-zero3-offload", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED,
     "the same, optimizer and parameters on the host", "activations, workspaces",
     .estimate = plm_method_deepspeed_zero3_offload},
    {"accelerate", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED, "training all parameters with Adam",
     "activations, workspaces, the allocator", .estimate = plm_method_accelerate},
    {"activations", PLM_ANALYTICAL, PLM_ANSWER_ALLOCATED, DESCRIBED, "transformers in fp16 without checkpointing",
     "embeddings, logits, workspaces, the allocator", .estimate = plm_method_activations},
};
const size_t plm_method_count = sizeof plm_methods / sizeof plm_methods[0];

const char *plm_paradigm_name(enum plm_paradigm paradigm)
{
    static const char *const names[] = {[PLM_ANALYTICAL] = "analytical",
                                        [PLM_CPU_SIDE] = "CPU-side",
                                        [PLM_LEARNED] = "learned",
                                        [PLM_VIRTUAL] = "virtual"};
    return names[paradigm];
}

bool plm_method_is_memory(const struct plm_method *method)
{
    return method->kind != PLM_ANSWER_UTILIZATION;
}

/* ---- by name ---- */

const struct plm_method *plm_method_find(const char *name)
{
    for (size_t i = 0; i < plm_method_count; i++)
        if (!strcmp(plm_methods[i].name, name))
            return &plm_methods[i];
    return NULL;
}

static bool is_near(const char *word, const char *name)
{
    size_t length = strlen(word);
    return (length >= 3 && (strcasestr(name, word) || strcasestr(word, name))) ||
           plm_word_distance(word, name) <= 1 + length / 4;
}

const char *plm_method_nearest(const char *word, char *buffer, size_t size)
{
    size_t used = 0;
    int shown = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < plm_method_count && shown < 4; i++)
        if (is_near(word, plm_methods[i].name) && used < size) {
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", shown ? ", " : "", plm_methods[i].name);
            shown++;
        }
    return buffer;
}

/* ---- asking ---- */

void plm_answer_outside(struct plm_answer *answer, const char *format, ...)
{
    va_list list;
    if (answer->state != PLM_ANSWERED)
        return;
    answer->state = PLM_OUTSIDE;
    va_start(list, format);
    vsnprintf(answer->note, sizeof answer->note, format, list);
    va_end(list);
}

void plm_answer_none(struct plm_answer *answer, const char *format, ...)
{
    va_list list;
    answer->state = PLM_UNANSWERED;
    answer->bytes = 0;
    answer->percent = 0;
    va_start(list, format);
    vsnprintf(answer->note, sizeof answer->note, format, list);
    va_end(list);
}

static bool is_missing(const struct plm_method *method, const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct {
        unsigned part;
        const void *have;
        const char *what;
    } parts[] = {
        {PLM_NEEDS_JOB, evidence->job, "a record, which `plimsoll run -- CMD` makes"},
        {PLM_NEEDS_TRACE, evidence->trace, "a trace, which `plimsoll trace -- CMD` makes"},
        {PLM_NEEDS_DESCRIPTION, evidence->features ? (const void *)evidence->features : evidence->description,
         "a description, which `plimsoll describe -- CMD` makes"},
        {PLM_NEEDS_FOREST, evidence->forest, "a forest, which `plimsoll train` makes: --forest FILE"},
        {PLM_NEEDS_BOOSTED, evidence->boosted,
         "boosted trees, which `plimsoll train --method " PLM_HORUS_METHOD " TRUTH.csv` makes: --boosted FILE"},
        {PLM_NEEDS_MODEL, evidence->model, "a model, which `plimsoll train` makes: --model FILE"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if ((method->needs & parts[i].part) && !parts[i].have) {
            plm_answer_none(answer, "it needs %s", parts[i].what);
            return true;
        }
    return false;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start->tv_sec) + 1e-9 * (double)(end.tv_nsec - start->tv_nsec);
}

struct plm_inquiry plm_inquiry_open(const struct plm_method *method, const struct plm_evidence *evidence)
{
    struct plm_inquiry inquiry = {.method = method};
    struct timespec start;
    if (is_missing(method, evidence, &inquiry.answer))
        return inquiry;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (method->prepare)
        inquiry.prepared = method->prepare(evidence, &inquiry.answer);
    else
        method->estimate(evidence, &inquiry.answer);
    inquiry.answer.seconds = seconds_since(&start);
    return inquiry;
}

struct plm_answer plm_inquiry_ask(const struct plm_inquiry *inquiry, const struct plm_question *question)
{
    struct plm_answer answer = inquiry->answer;
    struct timespec start;
    if (answer.state == PLM_UNANSWERED)
        return answer;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (inquiry->method->judge)
        inquiry->method->judge(inquiry->prepared, question, &answer);
    answer.seconds += seconds_since(&start);
    if (answer.state != PLM_UNANSWERED && !answer.judged && plm_method_is_memory(inquiry->method))
        answer.oom |= plm_plus(answer.bytes, question->context) > question->usable;
    return answer;
}

void plm_inquiry_close(struct plm_inquiry *inquiry)
{
    if (inquiry->prepared && inquiry->method->forget)
        inquiry->method->forget(inquiry->prepared);
    else
        free(inquiry->prepared);
    inquiry->prepared = NULL;
}
