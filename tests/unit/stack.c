/* Stack files: what they say, what is refused, and which one is chosen. */
#include "stack/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/error.h"
#include "base/install.h"
#include "common/card.h"
#include "record/writer.h"
#include "stack/rows.h"
#include "unit.h"

#define HEAD "[stack]\nname = x\nmade = measured\n"
#define CONV "forward 8x64x56x56 128x64x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp32 tf32 nchw"

static struct plm_stack_file *read_text(const char *text, struct plm_error *error)
{
    struct plm_stack_file *stack = NULL;
    const char *path = unit_path("some.ini");
    unit_write(path, text, strlen(text));
    if (plm_stack_file_read(path, &stack, error) < 0)
        assert_null(stack);
    return stack;
}

static void all_of_a_file(void **state)
{
    static const char text[] =
        "# made up\n[stack]\nname = RTX 3060 with PyTorch 2.6\nmade = measured\ndate = 2026-11-16\ntorch = 2.6.0\n"
        "cuda = 12.4\ndriver = 550.54.15\ncudnn = 9.1.0\ncublas = 12.4.5\nnccl = 2.21.5\n"
        "gpu = NVIDIA GeForce RTX 3060\ncompute_capability = 8.6\nsms = 28\n"
        "[memory]\nusable = 12457082880\ncontext = 500000000 to 600000001\nafter_cudnn = 0\n"
        "[convolution]\n" CONV " = 8519681, 134217729*, 0\n"
        "backward-filter 2x3x9 4x3x3 stride 2 pad 1 dilation 1 groups 1 bf16 nhwc = 7\n"
        "[rnn]\ngru layers 2 directions 2 input 3 hidden 5 output 5 steps 7 batch 11 fp16 training dropout = 13, 17\n"
        "[fft]\nr2c 30x50 batch 3 fp64 = 19\n";
    struct plm_conv_shape conv;
    struct plm_rnn_shape rnn = {3, 2, true, true, true, 2, 2, 3, 5, 5, 7, 11};
    struct plm_fft_shape fft = {PLM_FFT_R2C, 2, {30, 50}, 3, 16};
    struct plm_stack_row_key key;
    struct plm_stack_sizes sizes;
    struct plm_stack_file *s = read_text(text, NULL);
    (void)state;
    assert_non_null(s);
    assert_string_equal(s->id, "some");
    assert_string_equal(s->driver, "550.54.15");
    assert_true(s->major == 8 && s->minor == 6 && s->sms == 28 && s->made == PLM_STACK_MEASURED);
    assert_int_equal(s->memory[PLM_STACK_USABLE].high, 12457082880);
    assert_int_equal(s->memory[PLM_STACK_CONTEXT].low, 500000000);
    assert_int_equal(s->memory[PLM_STACK_CONTEXT].high, 600000001);
    assert_true(s->memory[PLM_STACK_AFTER_CUDNN].known && !s->memory[PLM_STACK_AFTER_NCCL].known);
    assert_true(s->convolutions == 2 && s->rnns == 1 && s->ffts == 1);

    assert_true(plm_conv_parse(CONV, &conv));
    key = plm_conv_key(&conv);
    sizes = plm_stack_file_find(s, &key);
    assert_int_equal(sizes.count, 3);
    assert_int_equal(sizes.fastest, 1);
    assert_int_equal(sizes.bytes[0], 8519681);
    assert_int_equal(sizes.bytes[1], 134217729);
    conv.tf32 = false;
    key = plm_conv_key(&conv);
    assert_int_equal(plm_stack_file_find(s, &key).count, 0);
    key = plm_rnn_key(&rnn);
    sizes = plm_stack_file_find(s, &key);
    assert_true(sizes.count == 2 && sizes.bytes[0] == 13 && sizes.bytes[1] == 17);
    key = plm_fft_key(&fft);
    sizes = plm_stack_file_find(s, &key);
    assert_true(sizes.count == 1 && sizes.bytes[0] == 19);
    assert_int_equal(plm_stack_file_find(NULL, &key).count, 0);
    plm_stack_file_free(s);
}

/* Every text leads to the same text again. */
static void texts(void **state)
{
    static const char *const convolutions[] = {
        CONV, "backward-data 1x6x4x5x6 9x2x1x2x3 stride 1x2x3 pad 0x1x2 dilation 2x1x1 groups 3 fp16 nhwc",
        "backward-filter 2x3x9 4x3x3 stride 2 pad 1 dilation 1 groups 1 fp64 nchw"};
    static const char *const rnns[] = {
        "lstm layers 4 directions 1 input 123 hidden 320 output 160 steps 250 batch 100 fp32 training",
        "tanh layers 1 directions 2 input 1 hidden 2 output 2 steps 3 batch 4 bf16 inference dropout no-bias"};
    static const char *const ffts[] = {"c2c 1024 batch 7 fp32", "c2r 3x4x5 batch 1 fp16"};
    struct plm_conv_shape conv;
    struct plm_rnn_shape rnn;
    struct plm_fft_shape fft;
    char text[PLM_ROW_TEXT];
    (void)state;
    for (size_t i = 0; i < COUNT(convolutions); i++) {
        assert_true(plm_conv_parse(convolutions[i], &conv) && plm_conv_text(&conv, text, sizeof text));
        assert_string_equal(text, convolutions[i]);
        assert_false(plm_conv_text(&conv, text, 20));
    }
    for (size_t i = 0; i < COUNT(rnns); i++) {
        assert_true(plm_rnn_parse(rnns[i], &rnn) && plm_rnn_text(&rnn, text, sizeof text));
        assert_string_equal(text, rnns[i]);
    }
    for (size_t i = 0; i < COUNT(ffts); i++) {
        assert_true(plm_fft_parse(ffts[i], &fft) && plm_fft_text(&fft, text, sizeof text));
        assert_string_equal(text, ffts[i]);
    }
    assert_true(plm_conv_parse(convolutions[1], &conv));
    assert_true(conv.out[0] == 4 && conv.out[1] == 3 && conv.out[2] == 3 && conv.c == 6 && conv.k == 9);
}

static void refused(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "name is missing"},
        {"[stack]\nname = x\n", "made is missing"},
        {"[stack]\nname = x\nmade = guessed\n", "some.ini:3: made = guessed: use 'measured' or 'written'"},
        {"[stack]\nname = x\nmade = written\n", "needs a source"},
        {HEAD "colour = red\n", "some.ini:4: unknown key colour in [stack]"},
        {HEAD "name = y\n", "some.ini:4: name is given twice"},
        {HEAD "sms = many\n", "some.ini:4: sms = many"},
        {HEAD "compute_capability = 86\n", "some.ini:4: compute_capability = 86"},
        {HEAD "[memory]\ncontext = 5 MiB\n", "some.ini:5: context = 5 MiB"},
        {HEAD "[memory]\ncontext = 6 to 5\n", "some.ini:5: context = 6 to 5"},
        {HEAD "[memory]\nusable = -1\n", "some.ini:5: usable = -1"},
        {HEAD "[memory]\nheap = 1\n", "some.ini:5: unknown key heap in [memory]"},
        {HEAD "[colours]\nx = 1\n", "some.ini:5: unknown section [colours]"},
        {HEAD "[convolution]\nforward 8x64 = 1\n", "some.ini:5: 'forward 8x64' is not a row of [convolution]"},
        {HEAD "[convolution]\n" CONV " = 1,\n", "some.ini:5: '1,' is not a value of [convolution]"},
        {HEAD "[convolution]\n" CONV " = 1*, 2*\n", "some.ini:5: '1*, 2*' is not"},
        {HEAD "[convolution]\n" CONV " = 99999999999999999999\n", "some.ini:5: "},
        {HEAD "[convolution]\n" CONV " = 1\n" CONV " = 2\n", "some.ini:6: "},
        {HEAD "[rnn]\nlstm layers 1 = 1, 2\n", "some.ini:5: 'lstm layers 1' is not a row of [rnn]"},
        {HEAD "[fft]\nc2c 8 batch 1 fp32 = 1, 2\n", "some.ini:5: '1, 2' is not a value of [fft]"},
        {HEAD "[fft]\nc2c 8 batch 1 fp32 = 1*\n", "some.ini:5: '1*' is not"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plm_error error = {0};
        assert_null(read_text(cases[i].text, &error));
        assert_contains(error.text, cases[i].sentence);
    }
}

static void many_rows(void **state)
{
    enum { ROWS = 2000 };
    static char text[ROWS * 40 + 200];
    size_t n = (size_t)snprintf(text, sizeof text, HEAD "[fft]\n");
    struct plm_stack_file *s;
    (void)state;
    for (int i = 1; i <= ROWS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "c2c %d batch %d fp32 = %d\n", i, i % 7 + 1, 3 * i);
    s = read_text(text, NULL);
    assert_non_null(s);
    for (int i = 1; i <= ROWS; i++) {
        struct plm_fft_shape fft = {PLM_FFT_C2C, 1, {i}, i % 7 + 1, 8};
        struct plm_stack_row_key key = plm_fft_key(&fft);
        struct plm_stack_sizes sizes = plm_stack_file_find(s, &key);
        assert_true(sizes.count == 1 && sizes.bytes[0] == (uint64_t)(3 * i));
    }
    plm_stack_file_free(s);
}

static void write_own(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "plimsoll/stacks/%s", name);
    unit_write(unit_path(path), text, strlen(text));
}

static void chosen(void **state)
{
    struct plm_card card = {.id = "rtx3060", .name = "NVIDIA GeForce RTX 3060", .major = 8, .minor = 6, .sms = 28};
    struct plm_stack_list list;
    struct plm_install install = {0};
    struct plm_error error = {0};
    const struct plm_stack_entry *entry;
    (void)state;
    snprintf(install.stacks, sizeof install.stacks, "%s/data/stacks", getenv("PLM_SOURCE"));
    setenv("XDG_CONFIG_HOME", unit_folder(), 1);
    mkdir(unit_path("plimsoll"), 0777);
    mkdir(unit_path("plimsoll/stacks"), 0777);
    write_own("old.ini", HEAD "date = 2025-01-01\ngpu = NVIDIA GeForce RTX 3060\nsms = 28\n");
    write_own("new.ini", HEAD "date = 2026-01-01\ngpu = NVIDIA GeForce RTX 3060\nsms = 28\n");
    write_own("other.ini", HEAD "date = 2026-02-01\ngpu = NVIDIA GeForce RTX 4060\nsms = 24\n");
    write_own("lazy.ini", HEAD "date = 2026-03-01\n");
    assert_int_equal(plm_stack_list_load(&list, &install, &error), 0);
    entry = plm_stack_list_for(&list, &card);
    assert_non_null(entry);
    assert_string_equal(entry->stack->id, "new");
    card.sms = 30;
    assert_null(plm_stack_list_for(&list, &card));
    plm_stack_list_free(&list);

    /* Without a measured one: none. What was written down is not taken by itself, whoever wrote it. */
    unlink(unit_path("plimsoll/stacks/old.ini"));
    unlink(unit_path("plimsoll/stacks/new.ini"));
    write_own("mine.ini", "[stack]\nname = x\nmade = written\nsource = y\ndate = 2027-01-01\ncudnn = 9.1.0\n"
                          "gpu = NVIDIA GeForce RTX 3060\n");
    card.sms = 28;
    assert_int_equal(plm_stack_list_load(&list, &install, &error), 0);
    assert_null(plm_stack_list_for(&list, &card));
    for (int i = 0; i < list.count; i++) /* those that come with plimsoll */
        if (!list.entry[i].own)
            assert_true(list.entry[i].stack->made == PLM_STACK_MEASURED || !list.entry[i].stack->gpu[0]);
    write_own("old.ini", HEAD "date = 2025-01-01\ngpu = NVIDIA GeForce RTX 3060\nsms = 28\n");
    assert_int_equal(plm_stack_list_find(&list, "lazy", &entry, &error), 0);
    assert_true(entry->own); /* in place of the one that comes with plimsoll */
    assert_int_equal(plm_stack_list_find(&list, "a100-eager", &entry, &error), 0);
    assert_false(entry->own);
    assert_int_equal(plm_stack_list_find(&list, unit_path("plimsoll/stacks/old.ini"), &entry, &error), 0);
    assert_string_equal(entry->stack->id, "old");
    assert_int_equal(plm_stack_list_find(&list, "nope", &entry, &error), PLM_EINVAL);
    plm_stack_list_free(&list);
}

/* A record that names the same transform twice asks for it once. */
static void write_ffts(void)
{
    plm_record_config("fft", "c2c 1024 batch 7 fp32");
    plm_record_config("fft", "c2r 3x4x5 batch 1 fp16");
    plm_record_config("fft", "c2c 1024 batch 7 fp32");
    plm_record_config("fft", "no transform");
}

static void used_once(void **state)
{
    struct plm_stack_used used;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct plm_error error;
    (void)state;
    plm_job_free(unit_job(write_ffts));
    assert_int_equal(plm_stack_used(unit_path("job.plm"), out, &used, &error), 0);
    fclose(out);
    assert_string_equal(text, "fft\tc2c 1024 batch 7 fp32\nfft\tc2r 3x4x5 batch 1 fp16\n");
    assert_true(used.ffts == 2 && used.unnamed == 1);
    free(text);
}

/* cudnnGetVersion says 90100 for 9.1.0 and 91900 for 9.19.0, ncclGetVersion 22105 for 2.21.5. */
static void versions(void **state)
{
    static const struct {
        const char *cudnn, *nccl, *why;
    } cases[] = {
        {"9.1.0", "2.21.5", ""},
        {"9.1.0", "", ""},
        {"9.19.0", "2.21.5", "cuDNN 9.19.0 instead of 9.1.0"},
        {"8.9.2", "2.20.5", "cuDNN 8.9.2 instead of 9.1.0, NCCL 2.20.5 instead of 2.21.5"},
    };
    struct plm_summary_count said[] = {{.name = (char *)"cudnn", .detail = (char *)"90100"},
                                       {.name = (char *)"nccl", .detail = (char *)"22105"}};
    const struct plm_summary job = {.config = {said, COUNT(said), COUNT(said)}};
    char why[PLM_STACK_WHY];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plm_stack_file stack = {0};
        strcpy(stack.cudnn, cases[i].cudnn);
        strcpy(stack.nccl, cases[i].nccl);
        assert_int_equal(plm_summary_stack_differs(&stack, &job, why), *cases[i].why != '\0');
        assert_string_equal(why, cases[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_file), cmocka_unit_test(texts),  cmocka_unit_test(refused),
        cmocka_unit_test(many_rows),     cmocka_unit_test(chosen), cmocka_unit_test(used_once),
        cmocka_unit_test(versions),
    };
    return RUN(tests);
}
