/* The methods on jobs that are small enough to add up by hand; the sums stand beside them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/job.h"
#include "common/error.h"
#include "common/card.h"
#include "study/estimate/capture.h"
#include "study/estimate/comparison.h"
#include "study/estimate/description.h"
#include "study/methods/methods.h"
#include "record/writer.h"
#include "base/draw.h"
#include "unit.h"

static const struct plm_card card = {.id = "card", .memory_usable = 8 * GIB, .sms = 10, .max_threads_per_sm = 1024};

static struct plm_description *describe(const char *text)
{
    struct plm_description *d = NULL;
    struct plm_error error = {0};
    if (plm_description_parse("job.json", text, strlen(text), &d, &error))
        fail_msg("%s", error.text);
    return d;
}

static struct plm_answer ask_one(const struct plm_method *method, const struct plm_evidence *capture,
                                 const struct plm_question *question)
{
    struct plm_inquiry inquiry;
    struct plm_answer answer;
    assert_non_null(method);
    inquiry = plm_inquiry_open(method, capture);
    answer = plm_inquiry_ask(&inquiry, question);
    plm_inquiry_close(&inquiry);
    return answer;
}

static struct plm_answer ask_on(const char *method, const struct plm_description *d, int gpus, int tensor_parallel)
{
    const struct plm_evidence capture = {
        .description = d, .gpus = gpus, .nodes = 1, .tensor_parallel = tensor_parallel};
    const struct plm_question question = {.card = &card, .usable = 8 * GIB};
    return ask_one(plm_methods_find(method), &capture, &question);
}

static struct plm_answer ask(const char *method, const char *text)
{
    struct plm_description *d = describe(text);
    struct plm_answer answer = ask_on(method, d, 1, 1);
    plm_description_free(d);
    return answer;
}

/* ---- formulas ---- */

/* A convolution of 1000 parameters, ten samples of 256 elements from it and from the activation, 5 from the last layer of 2000. */
#define SMALL(dtype, optimizer)                                                                                     \
    "{\"schema\": \"plimsoll.description/1\", \"torch\": \"2.15.0\", \"computed\": false, \"seconds\": 1.5,"        \
    " \"model\": {\"class\": \"Net\", \"dtype\": \"" dtype "\", \"parameters\": 3000, \"trainable\": 3000,"         \
    "   \"parameter_bytes\": 12000, \"buffer_bytes\": 64, \"largest_module\": 2000},"                               \
    " \"batch\": {\"size\": 10, \"inputs\": [{\"shape\": [10, 3, 8, 8], \"dtype\": \"float32\", \"bytes\": 7680}]," \
    "   \"targets\": [{\"shape\": [10], \"dtype\": \"int64\", \"bytes\": 80}]},"                                    \
    " \"optimizer\": {\"class\": \"" optimizer "\", \"state_bytes\": 24000, \"zero_grad\": \"before-forward\"},"    \
    " \"modules\": [{\"name\": \"\", \"class\": \"Net\", \"leaf\": false, \"parent\": -1},"                         \
    "   {\"name\": \"conv\", \"class\": \"Conv2d\", \"leaf\": true, \"parent\": 0, \"own_parameters\": 1000},"      \
    "   {\"name\": \"relu\", \"class\": \"ReLU\", \"leaf\": true, \"parent\": 0},"                                  \
    "   {\"name\": \"fc\", \"class\": \"Linear\", \"leaf\": true, \"parent\": 0, \"own_parameters\": 2000}],"       \
    " \"parameters\": [{\"module\": 1, \"elements\": 1000, \"bytes\": 4000, \"trainable\": true},"                  \
    "   {\"module\": 3, \"elements\": 2000, \"bytes\": 8000, \"trainable\": true}],"                                \
    " \"calls\": [{\"module\": 1, \"outputs\": [{\"shape\": [10, 4, 8, 8], \"bytes\": 10240}]},"                    \
    "   {\"module\": 2, \"outputs\": [{\"shape\": [10, 4, 8, 8], \"bytes\": 10240}]},"                              \
    "   {\"module\": 3, \"outputs\": [{\"shape\": [10, 5], \"bytes\": 200}]},"                                      \
    "   {\"module\": 0, \"outputs\": [{\"shape\": [10, 5], \"bytes\": 200}]}],"                                     \
    " \"storages\": {\"forward_backward\": [100, 200, -1, 50, -2], \"step\": [1000, 500, -2, 700, 0, -3]}}"

static void test_horus(void **state)
{
    struct plm_answer a = ask("horus", SMALL("float32", "Adam"));
    (void)state;
    /* A*b = 2560 + 2560 + 50 elements of leaf modules; P = 3000, b = 10: 4 * (5170 + 3000 + 30000) */
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 152680);
    assert_false(a.oom);
    assert_true(a.seconds >= 0 && a.seconds < 1);
    assert_int_equal(ask("horus-1000", SMALL("float32", "Adam")).bytes, 1000152680);
    a = ask("horus", SMALL("float32\", \"autocast\": \"bfloat16", "Adam"));
    assert_int_equal(a.state, PLM_OUTSIDE);
    assert_string_equal(
        a.note, "the job trains in float32 with autocast to bfloat16; the formula assumes 4 bytes for everything");
    a = ask("horus", SMALL("float16", "Adam"));
    assert_int_equal(a.state, PLM_OUTSIDE);
    assert_int_equal(a.bytes, 152680);
    assert_contains(a.note, "float16");
}

static void test_accelerate(void **state)
{
    struct plm_answer a = ask("accelerate", SMALL("float32", "AdamW"));
    (void)state;
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 4 * (12000 + 64));
    a = ask("accelerate", SMALL("float32", "SGD"));
    assert_int_equal(a.state, PLM_OUTSIDE);
    assert_contains(a.note, "SGD");
}

static void test_deepspeed(void **state)
{
    /* P = 3000, L = 2000 */
    static const struct {
        const char *method;
        uint64_t one, four; /* on so many GPUs */
    } rows[] = {
        {"deepspeed-zero2", 2 * 3000 + 18 * 3000, 2 * 3000 + 18 * 3000 / 4},
        {"deepspeed-zero2-offload", 2 * 3000, 2 * 3000},
        {"deepspeed-zero3", 4 * 2000 + 18 * 3000, 4 * 2000 + 18 * 3000 / 4},
        {"deepspeed-zero3-offload-optimizer", 4 * 2000 + 2 * 3000, 4 * 2000 + 2 * 3000 / 4},
        {"deepspeed-zero3-offload", 4 * 2000, 4 * 2000},
    };
    struct plm_description *d = describe(SMALL("bfloat16", "AdamW"));
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(ask_on(rows[i].method, d, 1, 1).bytes, rows[i].one);
        assert_int_equal(ask_on(rows[i].method, d, 4, 1).bytes, rows[i].four);
        assert_int_equal(ask_on(rows[i].method, d, 4, 1).state, PLM_ANSWERED);
    }
    /* on the host, 1.5 times: 3000 * max(4*1, 16) = 48000 */
    assert_contains(ask_on("deepspeed-zero2-offload", d, 1, 1).note, "70.3 KiB of host memory");
    plm_description_free(d);
    assert_int_equal(ask("deepspeed-zero3", SMALL("float32", "AdamW")).state, PLM_OUTSIDE);
    assert_int_equal(ask("deepspeed-zero3", SMALL("float16", "SGD")).state, PLM_OUTSIDE);
}

static void test_faketensor(void **state)
{
    (void)state;
    /* 100, 300, 200, 250, 50 live after each event */
    assert_int_equal(ask("faketensor-a", SMALL("float32", "Adam")).bytes, 300);
    /* 1000, 1500, 1000, 1700, 1700, 1000 */
    assert_int_equal(ask("faketensor-b", SMALL("float32", "Adam")).bytes, 1700);
    /* all of it in one segment of the small pool */
    assert_int_equal(ask("faketensor-c", SMALL("float32", "Adam")).bytes, 2 * MIB);
    assert_int_equal(ask("faketensor-b", "{\"schema\": \"plimsoll.description/1\", \"model\": {}}").state,
                     PLM_UNANSWERED);
}

/* ---- transformers ---- */

/* Two blocks over a width of 512 with 64 tokens, a batch of 8 and a vocabulary of 1000; `middle` is the class of the layers in the blocks. */
#define WEIGHT(module, elements) \
    "{\"module\": " #module ", \"elements\": " #elements ", \"bytes\": 1, \"trainable\": true}"
#define LAYER(name, class) "{\"name\": \"" name "\", \"class\": \"" class "\", \"leaf\": true, \"parent\": 0}"
#define OUT(module, width) "{\"module\": " #module ", \"outputs\": [{\"shape\": [8, 64, " #width "], \"bytes\": 1}]}"
#define DECODER(dtype, checkpointing, middle)                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      \
    "{\"schema\": \"plimsoll.description/1\", \"model\": {\"class\": \"LM\", \"dtype\": \"" dtype "\","                                                                                                                                                                                                                                                                                                                                                                                                                                            \
    "  \"parameters\": 5263360, \"trainable\": 5263360, \"parameter_bytes\": 10526720, "                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
    "\"checkpointing\": " checkpointing "},"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       \
    " \"transformer\": {\"layers\": 2, \"hidden\": 512, \"heads\": 8, \"vocabulary\": 1000, \"sequence\": 64,"                                                                                                                                                                                                                                                                                                                                                                                                                                     \
    "  \"decoder\": true, \"upcast_logits\": true},"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
    " \"batch\": {\"size\": 8, \"inputs\": [{\"shape\": [8, 64], \"dtype\": \"int64\", \"bytes\": 4096}]},"                                                                                                                                                                                                                                                                                                                                                                                                                                        \
    " \"optimizer\": {\"class\": \"AdamW\", \"state_bytes\": 21053440},"                                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
    " \"modules\": [{\"name\": \"\", \"class\": \"LM\", \"parent\": -1}, " LAYER("wte", "Embedding") ", " LAYER(                                                                                                                                                                                                                                                                                                                                                                                                                                   \
        "wpe", "Embedding") ", " LAYER("0", "XBlock") ", " LAYER("0.k", middle) ", " LAYER("0.c",                                                                                                                                                                                                                                                                                                                                                                                                                                                  \
                                                                                           middle) ", " LAYER("0.p",                                                                                                                                                                                                                                                                                                                                                                                                                               \
                                                                                                              middle) ", " LAYER("1", "XBlock") ", " LAYER("1.k",                                                                                                                                                                                                                                                                                                                                                                                  \
                                                                                                                                                           middle) ", " LAYER("1.c", middle) ", " LAYER("1.p", middle) ", " LAYER("head", "Linear") "],"                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                    " \"parameters\": [" WEIGHT(1, 512000) ", " WEIGHT(2, 32768) ", " WEIGHT(4, 262144) ", " WEIGHT(5, 1048576) ", " WEIGHT(6,                                                                                                                                                                     \
                                                                                                                                                                                                                                                                                                                                                                            1048576) ", " WEIGHT(8, 262144) ", " WEIGHT(9, 1048576) ", " WEIGHT(10,                                                                                                \
                                                                                                                                                                                                                                                                                                                                                                                                                                                1048576) "],"                                                                                      \
                                                                                                                                                                                                                                                                                                                                                                                                                                                         " \"calls\": [" OUT(1, 512) ", " OUT(2, 512) ", " OUT(4, 512) ", " OUT(5, 2048) ", " OUT( \
                                                                                                                                                                                                                                                                                                                                                                                                                                                             6,                                                                                    \
                                                                                                                                                                                                                                                                                                                                                                                                                                                             512) ", " OUT(8, 512) ", " OUT(9, 2048) ", " OUT(10, 512) ", " OUT(11,                \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                1000) "]}"

/*
 * Everything in multiples of 2 MiB. The model in fp16, 2 * 5263360 = 10.04 MiB: 12. Moments, twice each: wte 4 * 512000: 2; wpe: 2; k 4 * 262144: 2; c and
 * p 4 * 1048576: 4 each; so 4 + 4 + 2 * (4 + 8 + 8) = 48. The head's weight, which is tied, 2 * 512 * 1000: 2. The input: 2. Hidden tensors, 2 * 8 * 64 * 512
 * = 0.5 MiB, so 2 each: twice the embedding, the input of the second block, its output: 8. Logits, 4 bytes: 8 * 64 * 1000: 2, and twice
 * 8 * 63 * 1000: 4.
 */
static void test_llmem(void **state)
{
    struct plm_answer a = ask("llmem", DECODER("float16", "true", "Linear"));
    char larger[] = DECODER("float16", "true", "Linear"), *width = strstr(larger, "64, 1000]");
    (void)state;
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, (12 + 48 + 2 + 2 + 8 + 2 + 4) * MIB);
    assert_int_equal(ask("llmem", DECODER("float32", "true", "Linear")).state, PLM_OUTSIDE);
    a = ask("llmem", DECODER("float16", "false", "Linear"));
    assert_int_equal(a.state, PLM_OUTSIDE);
    assert_contains(a.note, "checkpointing");
    assert_int_equal(ask("llmem", SMALL("float16", "AdamW")).state, PLM_UNANSWERED);
    /* The loss does not see the last token: of a vocabulary of 1025 the logits, 4 * 8 * 64 * 1025, take 4 MiB, and two without it,
       4 * 8 * 63 * 1025, take 2 each. */
    assert_non_null(width);
    memcpy(width, "64, 1025]", 9);
    assert_int_equal(ask("llmem", larger).bytes, (12 + 48 + 2 + 2 + 8 + 4 + 2 * 2) * MIB);
}

/* Blocks without a Linear: their weights have no moments (4 + 4 are left), and the head is passed over, so its width is the hidden one and
   the last hidden tensor counts as the head: 12 + 8 + 2 + 2 + 2 * 2, and 4 * 8 * 64 * 512 = 1 MiB: 2 + 2 * 2. */
static void test_llmem_without_linear(void **state)
{
    (void)state;
    assert_int_equal(ask("llmem", DECODER("float16", "true", "Conv1D")).bytes, (12 + 8 + 2 + 2 + 4 + 6) * MIB);
}

/* On two GPUs, tensor parallel: 4s/2 is 2 MiB at most, so 4 for each of the eight tensors: 32. No chunks to gather. The backward pass gathers half of
   the second block's input: 2. On two without: each tensor also has half of its rounded 2 bytes, 1 MiB: 2, so 6 for each. */
static void test_llmem_parallel(void **state)
{
    struct plm_description *d = describe(DECODER("float16", "true", "Linear"));
    (void)state;
    assert_int_equal(ask_on("llmem", d, 2, 2).bytes, (12 + 32 + 2 + 2 + 8 + 6 + 2) * MIB);
    assert_int_equal(ask_on("llmem", d, 2, 1).bytes, (12 + 48 + 2 + 2 + 8 + 6) * MIB);
    plm_description_free(d);
}

/* s*b*h*(34 + 5*a*s/h) = 64*8*512 * (34 + 5*8*64/512) = 262144 * 39, for two layers; parameters, no gradients of 8 bytes that the list has, state. */
static void test_activations(void **state)
{
    struct plm_answer a = ask("activations", DECODER("bfloat16", "false", "Linear"));
    (void)state;
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 2 * 262144 * 39 + 10526720 + 8 + 21053440);
    assert_int_equal(ask("activations", DECODER("float32", "false", "Linear")).state, PLM_OUTSIDE);
    assert_int_equal(ask("activations", DECODER("bfloat16", "true", "Linear")).state, PLM_OUTSIDE);
    assert_int_equal(ask("activations", SMALL("bfloat16", "Adam")).state, PLM_UNANSWERED);
}

/* ---- graphs ---- */

/* x 12 MiB -> conv 30 (weight 40) -> relu in place -> fc 12 (weight 20) -> output. 41943040 = 40 MiB, 31457280 = 30, 20971520 = 20, 12582912 = 12. */
#define GRAPH                                                                                                       \
    "{\"schema\": \"plimsoll.description/1\", \"model\": {\"class\": \"Net\", \"dtype\": \"float32\"},"             \
    " \"batch\": {\"size\": 4, \"targets\": [{\"shape\": [10], \"dtype\": \"int64\", \"bytes\": 80}]},"             \
    " \"modules\": [{\"class\": \"Net\"}, {\"class\": \"Conv2d\", \"leaf\": true, \"parent\": 0},"                  \
    "   {\"class\": \"ReLU\", \"leaf\": true, \"parent\": 0}, {\"class\": \"Linear\", \"leaf\": true, \"parent\": " \
    "0}],"                                                                                                          \
    " \"parameters\": [{\"module\": 1, \"elements\": 1, \"bytes\": 41943040, \"trainable\": true},"                 \
    "   {\"module\": 3, \"elements\": 1, \"bytes\": 20971520, \"trainable\": true}],"                               \
    " \"graph\": [{\"op\": \"placeholder\", \"name\": \"x\", \"inputs\": [], \"bytes\": 12582912},"                 \
    "   {\"op\": \"call_module\", \"name\": \"conv\", \"module\": 1, \"inputs\": [0], \"bytes\": 31457280},"        \
    "   {\"op\": \"call_module\", \"name\": \"relu\", \"module\": 2, \"inputs\": [1], \"bytes\": 31457280, "        \
    "\"shares\": 1},"                                                                                               \
    "   {\"op\": \"call_module\", \"name\": \"fc\", \"module\": 3, \"inputs\": [2], \"bytes\": 12582912},"          \
    "   {\"op\": \"output\", \"name\": \"output\", \"inputs\": [3], \"bytes\": 12582912}]}"

/*
 * Segments, MiB. Weights 40 + 20, x 12, conv's output 30 (needed until relu's backward pass, at 7), fc's output 12 (gone at 4): 114. Its gradient has its
 * place, at 5. At 6 the gradients of conv's output, 30, and of fc's weight, 20: 164. At 8 that of conv's weight, 40: nothing free is as large: 204.
 */
static void test_dnnmem(void **state)
{
    struct plm_answer a = ask("dnnmem", GRAPH);
    (void)state;
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 204 * MIB);
    a = ask("dnnmem", "{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"graph_missing\": \"of a loop\"}");
    assert_int_equal(a.state, PLM_UNANSWERED);
    assert_contains(a.note, "of a loop");
}

/*
 * Two layers, the second of which needs its input in its backward pass, at 5. Weights 40 + 20, x 12, the outputs 30 and 12, of which
 * the second goes at 3: 114; its gradient has its place. At 5 the gradient of the first output, 30, while that is still there, and of
 * the second weight, 20: 164. At 6 that of the first weight, 40: 204.
 */
static void test_dnnmem_saved_inputs(void **state)
{
    struct plm_answer a = ask(
        "dnnmem", "{\"schema\": \"plimsoll.description/1\", \"model\": {\"class\": \"Net\", \"dtype\": \"float32\"},"
                  " \"batch\": {\"size\": 4}, \"modules\": [{\"class\": \"Net\"},"
                  " {\"class\": \"Linear\", \"leaf\": true, \"parent\": 0},"
                  " {\"class\": \"Linear\", \"leaf\": true, \"parent\": 0}],"
                  " \"parameters\": [{\"module\": 1, \"elements\": 1, \"bytes\": 41943040, \"trainable\": true},"
                  " {\"module\": 2, \"elements\": 1, \"bytes\": 20971520, \"trainable\": true}],"
                  " \"graph\": [{\"op\": \"placeholder\", \"name\": \"x\", \"inputs\": [], \"bytes\": 12582912},"
                  " {\"op\": \"call_module\", \"name\": \"a\", \"module\": 1, \"inputs\": [0], \"bytes\": 31457280},"
                  " {\"op\": \"call_module\", \"name\": \"b\", \"module\": 2, \"inputs\": [1], \"bytes\": 12582912},"
                  " {\"op\": \"output\", \"name\": \"output\", \"inputs\": [2], \"bytes\": 12582912}]}");
    (void)state;
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 204 * MIB);
}

/*
 * Seven nodes with the target (2 MiB, small pool) and the loss. x 12, conv's weight 40 and output 30, fc's 20 and 12: 116. Loss at 5: fc's output goes. Its
 * gradient, made at 8, has its place. At 10 fc's weight gradient, 20, and that of its input, 30, while conv's output goes only then: 166. At
 * 12 conv's weight gradient, 40: 206; the gradient of x finds 12 free. The gradient that relu makes is dropped.
 */
static void test_dnnmem_x_graph(void **state)
{
    struct plm_answer a = ask("dnnmem-x", GRAPH);
    (void)state;
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 206 * MIB);
}

/* The weight, 40, and the batch, 2, are there; 30 from 1 to 5, 12 for ever, 30 again from 6, where the first were. */
static void test_dnnmem_x_sight(void **state)
{
    (void)state;
    assert_int_equal(ask("dnnmem-x",
                         "{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"modules\": [{\"class\": \"T\"}],"
                         " \"batch\": {\"inputs\": [{\"shape\": [8], \"bytes\": 64}]},"
                         " \"parameters\": [{\"module\": 0, \"elements\": 1, \"bytes\": 41943040}],"
                         " \"sightings\": {\"moments\": 9, \"tensors\": [[31457280, 1, 5], [12582912, 2, 2],"
                         " [31457280, 6, 8]]}}")
                         .bytes,
                     84 * MIB);
}

/* ---- ours ---- */

static void train(void)
{
    const struct {
        uint64_t address, bytes;
    } rows[] = {{1 * GIB, 20 * MIB}, {2 * GIB, 100 * MIB}};
    uint64_t sum = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        sum += rows[i].bytes;
        plm_put_memory_alloc(0, &(struct plm_ev_memory_alloc){rows[i].address, rows[i].bytes, PLM_RECORD_MALLOC, 0});
        plm_put_reserved(0, &(struct plm_ev_reserved){sum});
        plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = rows[i].address, .bytes = rows[i].bytes});
    }
    plm_put_step(0, &(struct plm_ev_step){1, 1});
    plm_record_config("exit", "0");
}

static void test_virtual(void **state)
{
    struct plm_job *job = unit_job(train);
    const struct plm_evidence capture = {.job = job};
    struct plm_question question = {.card = &card, .usable = 200 * MIB, .context = 60 * MIB};
    struct plm_answer a;
    (void)state;
    a = ask_one(plm_methods_find("virtual"), &capture, &question);
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 120 * MIB);
    assert_false(a.oom);
    question.context = 90 * MIB;
    a = ask_one(plm_methods_find("virtual"), &capture, &question);
    assert_true(a.oom);
    plm_job_free(job);
}

/* ---- the page that explains how to add one ---- */

static char *source_file(const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/%s", getenv("PLM_SOURCE"), name);
    return unit_read(path, NULL);
}

/* Each piece of code in it stands in plimsoll as it does there. */
static void test_howto(void **state)
{
    const char *const files[] = {"src/study/estimate/horus.c", "src/study/estimate/horus.c", "tests/unit/methods.c"};
    char *page = source_file("docs/HOWTO_ADD_ESTIMATOR.md"), *at = page;
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        char *text = source_file(files[i]), *end;
        at = strstr(at, "```c\n");
        assert_non_null(at);
        at += 5;
        end = strstr(at, "\n```");
        assert_non_null(end);
        *end = '\0';
        assert_true(strlen(at) > 100);
        assert_contains(text, at);
        at = end + 1;
        free(text);
    }
    assert_null(strstr(at, "```c\n"));
    free(page);
}

/* Every method has its words; those of the manual come from the rows. */
static void test_documents(void **state)
{
    char *text = source_file("docs/methods.md");
    (void)state;
    for (size_t i = 0; i < PLM_METHODS; i++)
        assert_contains(text, plm_methods[i]->name);
    free(text);
}

/* ---- asking ---- */

static void test_missing(void **state)
{
    const struct plm_evidence nothing = {0};
    const struct plm_question question = {.card = &card, .usable = GIB};
    struct plm_answer a;
    (void)state;
    for (size_t i = 0; i < PLM_METHODS; i++) {
        const struct plm_method *method = plm_methods[i];
        a = ask_one(method, &nothing, &question);
        assert_int_equal(a.state, PLM_UNANSWERED);
        assert_contains(a.note, "it needs a");
        assert_true(method->domain && *method->domain && *method->leaves_out);
        assert_true(!!method->estimate != !!method->prepare && !method->learner == (method->paradigm != PLM_LEARNED));
        assert_ptr_equal(plm_methods_find(method->name), method);
    }
}

static void test_verdict(void **state)
{
    struct plm_description *d = describe(SMALL("float32", "Adam"));
    const struct plm_evidence capture = {.description = d};
    struct plm_question question = {.card = &card, .usable = 48256 + 1000, .context = 1000};
    struct plm_answer a;
    (void)state;
    a = ask_one(plm_methods_find("accelerate"), &capture, &question);
    assert_false(a.oom);
    question.context++;
    a = ask_one(plm_methods_find("accelerate"), &capture, &question);
    assert_true(a.oom);
    plm_description_free(d);
}

/* A method that counts: it analyses once for a capture, however many cards are asked about. */
static int prepared, judged, forgotten;

static void *count_prepare(const struct plm_evidence *capture, struct plm_answer *answer)
{
    (void)capture;
    prepared++;
    answer->bytes = GIB;
    return &prepared;
}

static void count_judge(void *of, const struct plm_question *question, struct plm_answer *answer)
{
    assert_ptr_equal(of, &prepared);
    judged++;
    answer->judged = true;
    answer->oom = question->usable < answer->bytes;
}

static void count_forget(void *of)
{
    assert_ptr_equal(of, &prepared);
    forgotten++;
}

static void test_once(void **state)
{
    static const struct plm_method method = {
        .name = "count", .prepare = count_prepare, .judge = count_judge, .forget = count_forget};
    static const struct plm_method *const methods[] = {&method};
    const struct plm_card cards[] = {{.id = "a", .memory_usable = 8 * GIB},
                                     {.id = "b", .memory_usable = 200 * MIB},
                                     {.id = "c", .memory_usable = GIB}};
    const struct plm_comparison_options options = {.method = methods, .methods = 1, .card = cards, .cards = 3};
    const struct plm_evidence capture = {0};
    struct plm_comparison c;
    (void)state;
    plm_compare(&capture, &options, &c);
    assert_int_equal(prepared, 1);
    assert_int_equal(judged, 3);
    assert_true(c.row[0].answer[0].oom);
    assert_false(c.row[0].answer[1].oom);
    assert_false(c.row[0].answer[2].oom);
    plm_comparison_free(&c);
    assert_int_equal(forgotten, 1);
    /* Those whose analysis takes time have theirs in the part that is done once. */
    assert_non_null(plm_methods_find("xmem")->prepare);
    assert_non_null(plm_methods_find("xmem+")->prepare);
    assert_non_null(plm_methods_find("dnnmem-x")->prepare);
    assert_non_null(plm_methods_find("virtual")->prepare);
}

static void test_nearest(void **state)
{
    char near[100];
    (void)state;
    assert_string_equal(plm_methods_nearest("hours", near, sizeof near), "horus");
    assert_contains(plm_methods_nearest("faketensor", near, sizeof near), "faketensor-a, faketensor-b");
    assert_string_equal(plm_methods_nearest("quux", near, sizeof near), "");
    assert_null(plm_methods_find("hours"));
}

static void test_compare(void **state)
{
    const struct plm_card cards[] = {
        {.id = "large", .memory_usable = 8 * GIB, .sms = 100, .max_threads_per_sm = 1024},
        {.id = "small", .memory_usable = 200 * MIB, .sms = 10, .max_threads_per_sm = 1024}};
    const struct plm_method *methods[] = {plm_methods_find("dnnmem"), plm_methods_find("virtual"),
                                          plm_methods_find("llmem")};
    struct plm_description *d = describe(GRAPH);
    const struct plm_evidence capture = {.description = d};
    const struct plm_comparison_options options = {.method = methods, .methods = 3, .card = cards, .cards = 2};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct plm_comparison c;
    struct plm_error error;
    (void)state;
    plm_compare(&capture, &options, &c);
    assert_int_equal(c.answered, 1);
    assert_int_equal(c.source, PLM_CONTEXT_MODEL);
    assert_string_equal(c.question[0].card->id, "small");
    assert_true(c.question[0].context < c.question[1].context);
    assert_true(c.row[0].answer[0].oom);
    assert_false(c.row[0].answer[1].oom);
    assert_int_equal(plm_comparison_text(&(struct plm_page){.out = out, .width = 80}, &c, &error), 0);
    fclose(out);
    assert_contains(text, "dnnmem-style estimates 204.0 MiB plus ");
    assert_contains(text, "it fits\non large.");
    assert_contains(text, "virtual: it needs a record");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    free(text);
    plm_comparison_free(&c);
    plm_description_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_horus),          cmocka_unit_test(test_accelerate),
        cmocka_unit_test(test_deepspeed),      cmocka_unit_test(test_faketensor),
        cmocka_unit_test(test_llmem),          cmocka_unit_test(test_llmem_without_linear),
        cmocka_unit_test(test_llmem_parallel), cmocka_unit_test(test_activations),
        cmocka_unit_test(test_dnnmem),         cmocka_unit_test(test_dnnmem_saved_inputs),
        cmocka_unit_test(test_dnnmem_x_graph), cmocka_unit_test(test_dnnmem_x_sight),
        cmocka_unit_test(test_virtual),        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_verdict),        cmocka_unit_test(test_once),
        cmocka_unit_test(test_nearest),        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_howto),          cmocka_unit_test(test_documents),
    };
    return RUN(tests);
}
