#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "study/estimate/amount.h"
#include "study/estimate/estimators.h"
#include "study/estimate/method.h"

#define DESCRIBED PLM_NEEDS_DESCRIPTION

const struct plm_method plm_methods[] = {
    {.name = "virtual",
     .paradigm = PLM_VIRTUAL,
     .kind = PLM_ANSWER_RESERVED,
     .needs = PLM_NEEDS_JOB,
     .domain = "any job that runs on the virtual GPU",
     .leaves_out = "nothing known",
     .prepare = plm_prepare_virtual,
     .judge = plm_judge_virtual},
    {.name = "xmem",
     .paradigm = PLM_CPU_SIDE,
     .kind = PLM_ANSWER_RESERVED,
     .needs = PLM_NEEDS_TRACE,
     .domain = "fp32 training on one GPU, models made of modules",
     .leaves_out = "parents' own tensors, temporaries, workspaces",
     .prepare = plm_prepare_xmem,
     .judge = plm_judge_xmem,
     .explain = plm_explain_xmem,
     .forget = plm_forget_xmem},
    {.name = "xmem+",
     .paradigm = PLM_CPU_SIDE,
     .kind = PLM_ANSWER_RESERVED,
     .needs = PLM_NEEDS_TRACE,
     .domain = "training on one GPU",
     .leaves_out = "workspaces, what only GPU kernels keep",
     .prepare = plm_prepare_xmem_plus,
     .judge = plm_judge_xmem,
     .explain = plm_explain_xmem,
     .forget = plm_forget_xmem},
    {.name = "dnnmem",
     .shown = "dnnmem-style",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_RESERVED,
     .needs = DESCRIBED,
     .domain = "models with a static graph",
     .leaves_out = "optimizer state, workspaces",
     .estimate = plm_method_dnnmem},
    {.name = "dnnmem-x",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_RESERVED,
     .needs = DESCRIBED,
     .domain = "models of the comparison of xMem: CNNs, transformers",
     .leaves_out = "optimizer state, workspaces, ReLU tensors",
     .prepare = plm_prepare_dnnmem_x,
     .judge = plm_judge_dnnmem_x,
     .forget = plm_forget_dnnmem_x},
    {.name = "llmem",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_RESERVED,
     .needs = DESCRIBED,
     .domain = "decoders in fp16 with AdamW and gradient checkpointing",
     .leaves_out = "activations inside blocks, gradients",
     .estimate = plm_method_llmem},
    {.name = "schedtune",
     .paradigm = PLM_LEARNED,
     .kind = PLM_ANSWER_DEVICE,
     .needs = DESCRIBED | PLM_NEEDS_FOREST,
     .domain = "CNNs in float32 and cards like those of its rows",
     .leaves_out = "the optimizer, all that its rows do not vary",
     .prepare = plm_prepare_schedtune,
     .judge = plm_judge_schedtune},
    {.name = "horus",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "training in float32",
     .leaves_out = "optimizer state, workspaces, the allocator",
     .estimate = plm_method_horus},
    {.name = "horus-1000",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "training in float32",
     .leaves_out = "what exceeds its 1000 MB for the rest",
     .estimate = plm_method_horus_1000},
    {.name = "faketensor-a",
     .paradigm = PLM_CPU_SIDE,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "a forward and backward pass of the model alone",
     .leaves_out = "loss, optimizer, workspaces, the allocator",
     .estimate = plm_method_faketensor_a},
    {.name = "faketensor-b",
     .paradigm = PLM_CPU_SIDE,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "a step of any loop",
     .leaves_out = "workspaces, the allocator",
     .estimate = plm_method_faketensor_b},
    {.name = "faketensor-c",
     .paradigm = PLM_CPU_SIDE,
     .kind = PLM_ANSWER_RESERVED,
     .needs = DESCRIBED,
     .domain = "a step of any loop",
     .leaves_out = "workspaces, what only GPU kernels keep",
     .estimate = plm_method_faketensor_c},
    {.name = "deepspeed-zero2",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "mixed precision with Adam under ZeRO-2",
     .leaves_out = "activations, workspaces",
     .estimate = plm_method_deepspeed_zero2},
    {.name = "deepspeed-zero2-offload",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "the same, optimizer on the host",
     .leaves_out = "activations, workspaces",
     .estimate = plm_method_deepspeed_zero2_offload},
    {.name = "deepspeed-zero3",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "mixed precision with Adam under ZeRO-3",
     .leaves_out = "activations, workspaces",
     .estimate = plm_method_deepspeed_zero3},
    {.name = "deepspeed-zero3-offload-optimizer",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "the same, optimizer on the host",
     .leaves_out = "activations, workspaces",
     .estimate = plm_method_deepspeed_zero3_offload_optimizer},
    {.name = "deepspeed-zero3-offload",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "the same, optimizer and parameters on the host",
     .leaves_out = "activations, workspaces",
     .estimate = plm_method_deepspeed_zero3_offload},
    {.name = "accelerate",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "training all parameters with Adam",
     .leaves_out = "activations, workspaces, the allocator",
     .estimate = plm_method_accelerate},
    {.name = "activations",
     .paradigm = PLM_ANALYTICAL,
     .kind = PLM_ANSWER_ALLOCATED,
     .needs = DESCRIBED,
     .domain = "transformers in fp16 without checkpointing",
     .leaves_out = "embeddings, logits, workspaces, the allocator",
     .estimate = plm_method_activations},
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

/* ---- by name ---- */

const struct plm_method *plm_method_find(const char *name)
{
    for (size_t i = 0; i < plm_method_count; i++)
        if (!strcmp(plm_methods[i].name, name))
            return &plm_methods[i];
    return NULL;
}

/* How many letters must be changed, left out or put in; words are short. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    size_t row[LONGEST + 1], rows = strlen(a), columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST;
    for (size_t k = 0; k <= columns; k++)
        row[k] = k;
    for (size_t i = 1; i <= rows; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= columns; k++) {
            size_t least = corner + (a[i - 1] != b[k - 1]);
            corner = row[k];
            least = row[k] + 1 < least ? row[k] + 1 : least;
            least = row[k - 1] + 1 < least ? row[k - 1] + 1 : least;
            row[k] = least;
        }
    }
    return row[columns];
}

static bool is_near(const char *word, const char *name)
{
    size_t length = strlen(word);
    return (length >= 3 && (strstr(name, word) || strstr(word, name))) || distance(word, name) <= 1 + length / 4;
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
        {PLM_NEEDS_DESCRIPTION, evidence->description, "a description, which `plimsoll describe -- CMD` makes"},
        {PLM_NEEDS_FOREST, evidence->forest, "a forest, which `plimsoll train` makes: --forest FILE"},
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
    if (answer.state != PLM_UNANSWERED && !answer.judged)
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
