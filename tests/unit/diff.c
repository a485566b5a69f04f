/* The difference of two hand-written jobs. */
#include "report/diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "record/create.h"
#include "record/writer.h"
#include "report/report.h"
#include "unit.h"

static const char *const names[2] = {"a\033.plm", "b.plm"};

static void alloc(int device, uint64_t at, uint64_t bytes, uint32_t where)
{
    plm_put_block_alloc(device, &(struct plm_ev_block_alloc){.address = at, .bytes = bytes, .context = where});
}

static void context(uint32_t id, const char *module)
{
    plm_put_context(0, &(struct plm_ev_context){id, plm_record_text(module), plm_record_text("aten::linear"), 0,
                                                PLM_PHASE_FORWARD, 0});
}

static void card(int device, uint64_t bytes)
{
    plm_put_memory_alloc(device, &(struct plm_ev_memory_alloc){GIB, bytes, PLM_RECORD_MALLOC, 0});
    plm_put_reserved(device, &(struct plm_ev_reserved){bytes});
}

/* `fc` holds what is given, twenty layers 1 MiB each and `extra` MiB more; a parameter of 10 MiB. */
static void train(uint64_t reserved, uint64_t fc, uint64_t extra, const char *only)
{
    char name[32];
    context(1, "fc");
    context(2, only);
    card(0, reserved);
    alloc(0, 4096, 10 * MIB, 1);
    plm_put_tag(0, &(struct plm_ev_tag){4096, PLM_CATEGORY_PARAMETERS, plm_record_text("head.weight"), 0});
    alloc(0, 20 * MIB, fc, 1);
    alloc(0, 900 * MIB, 3 * MIB, 2);
    for (uint32_t i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "layer.%u", i);
        context(10 + i, name);
        alloc(0, (1000 + 50 * (uint64_t)i) * MIB, (1 + extra) * MIB, 10 + i);
    }
}

static void before(void)
{
    train(100 * MIB, 30 * MIB, 0, "old.\033[31m");
}

static void after(void)
{
    train(160 * MIB, 20 * MIB, 2, "new");
}

static void roomier(void)
{
    train(164 * MIB, 30 * MIB, 0, "old.\033[31m");
}

static void renamed(void)
{
    train(100 * MIB, 30 * MIB, 0, "new");
}

static void heavy(void)
{
    train(158 * MIB, 80 * MIB, 0, "new");
}

static void marked(void)
{
    train(100 * MIB, 30 * MIB, 0, "<b>`a|b` @you\n");
}

static void functions_only(void)
{
    plm_put_context(0, &(struct plm_ev_context){.context = 1, .module = plm_record_text("(train, a.py:3)")});
    card(0, 100 * MIB);
    alloc(0, 4096, 7 * MIB, 1);
}

static void two_devices(void)
{
    before();
    card(1, 64 * MIB);
    alloc(1, 4096, 5 * MIB, 1);
}

static void old_record(void)
{
    const struct plm_ev_block_alloc event = {.address = 4096, .bytes = 7 * MIB};
    card(0, 20 * MIB);
    plm_record(PLM_EV_BLOCK_ALLOC, 0, &event, PLM_EV_BEFORE(block_alloc, context));
}

/* What is written about the change from one job to another; the caller frees it. */
static char *written(plm_diff_write *write, void (*from)(void), void (*to)(void), struct plm_report_options options)
{
    struct plm_job *a = unit_job(from), *b = unit_job(to);
    struct plm_error error;
    struct plm_diff diff;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    plm_diff_make(a, b, options.by, &diff);
    assert_int_equal(write(out, &diff, names, &options, &error), 0);
    fclose(out);
    plm_diff_free(&diff);
    plm_job_free(a);
    plm_job_free(b);
    return text;
}

static void what_grew(void **state)
{
    char *t = written(plm_diff_text, before, after, (struct plm_report_options){.width = 80});
    (void)state;
    /* The answer first: twenty layers grew by 2 MiB each, `fc` lost 10 MiB. */
    assert_ptr_equal(strstr(t, "+60.0 MiB (+9.2 %) at the peak: activations of layer.* +40.0 MiB\nFrom a\\x1b.plm to "
                               "b.plm, at the peak of each:\n\nRank 0, device 0"),
                     t);
    assert_contains(t, "  tensors (allocated)    63.0 MiB    93.0 MiB    +30.0 MiB     +48 %\n");
    assert_contains(t, "  reserved by PyTorch   100.0 MiB   160.0 MiB    +60.0 MiB     +60 %\n");
    assert_contains(t, "  = device used         650.0 MiB   710.0 MiB    +60.0 MiB    +9.2 %\n");
    assert_contains(t, "  cached but unused      37.0 MiB    67.0 MiB    +30.0 MiB     +81 %\n");
    /* The largest change first, whatever its sign; layers that repeat are one. */
    assert_contains(t, "change\n  layer.0-19 x 20        20.0 MiB    60.0 MiB    +40.0 MiB    +200 %\n"
                       "  fc                     30.0 MiB    20.0 MiB    -10.0 MiB     -33 %\n"
                       "  new                         0 B     3.0 MiB     +3.0 MiB       new\n"
                       "  old.\\x1b[31m            3.0 MiB         0 B     -3.0 MiB      gone\n");
    assert_null(strstr(t, " more "));
    assert_null(strstr(t, "libraries"));
    assert_null(strstr(t, "parameters")); /* they did not change */
    assert_null(strstr(t, "head"));
    assert_null(strchr(t, '\033'));
    for (const char *line = t; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        assert_true(strcspn(line, "\n") <= 80);
    free(t);
}

/* Ten, and the rest added up. */
static void one_by_one(void **state)
{
    char *t = written(plm_diff_text, before, after, (struct plm_report_options){.width = 80, .unfold = true});
    (void)state;
    assert_contains(t, "change\n  fc                     30.0 MiB    20.0 MiB    -10.0 MiB     -33 %\n"
                       "  new                         0 B     3.0 MiB     +3.0 MiB       new\n"
                       "  old.\\x1b[31m            3.0 MiB         0 B     -3.0 MiB      gone\n"
                       "  layer.0                 1.0 MiB     3.0 MiB     +2.0 MiB    +200 %\n");
    assert_contains(t, "  13 more                13.0 MiB    39.0 MiB    +26.0 MiB    +200 %\n");
    free(t);
}

/* Down it is what shrank most; where only PyTorch's cache did, that. */
static void answers(void **state)
{
    char *t = written(plm_diff_text, after, before, (struct plm_report_options){.width = 80, .bytes = true});
    (void)state;
    assert_ptr_equal(strstr(t, "-62914560 (-8.5 %) at the peak: activations of layer.* -41943040\n"), t);
    free(t);
    t = written(plm_diff_text, before, roomier, (struct plm_report_options){.width = 80});
    assert_ptr_equal(strstr(t, "+64.0 MiB (+9.8 %) at the peak: cached but unused memory +64.0 MiB\n"), t);
    free(t);
    /* `fc` lost 60 MiB, which is more than the layers took, and not why the job grew. */
    t = written(plm_diff_text, heavy, after, (struct plm_report_options){.width = 80});
    assert_ptr_equal(strstr(t, "+2.0 MiB (+0.3 %) at the peak: activations of layer.* +40.0 MiB\n"), t);
    free(t);
    t = written(plm_diff_text, before, renamed, (struct plm_report_options){.width = 80});
    assert_ptr_equal(strstr(t, "Same peak: 650.0 MiB device used\nFrom "), t);
    free(t);
    t = written(plm_diff_text, functions_only, after, (struct plm_report_options){.width = 80});
    assert_ptr_equal(strstr(t, "+60.0 MiB (+9.2 %) at the peak\nFrom "), t);
    free(t);
    t = written(plm_diff_json, before, after, (struct plm_report_options){0});
    assert_contains(t, "\"text\": \"+60.0 MiB (+9.2 %) at the peak: activations of layer.* +40.0 MiB\"");
    assert_contains(t, "\"what\": \"activations of layer.*\"");
    free(t);
}

static void markdown(void **state)
{
    char *t = written(plm_diff_markdown, marked, after, (struct plm_report_options){.width = 80});
    (void)state;
    assert_ptr_equal(strstr(t, "### GPU memory: +60.0 MiB (+9.2 %) at the peak\n\nLargest change: `activations of "
                               "layer.*` +40.0 MiB\n"),
                     t);
    assert_contains(t, "\n| at the peak | before | after | change | |\n|---|---:|---:|---:|---:|\n");
    assert_contains(t, "\n| **device used** | 650.0 MiB | 710.0 MiB | +60.0 MiB | +9.2 % |\n");
    assert_contains(t, "\n| cached but unused | 37.0 MiB | 67.0 MiB | +30.0 MiB | +81 % |\n");
    /* A name is no markup. */
    assert_contains(t, "\n| `<b>'a\\|b' @you\\x0a` | 3.0 MiB | 0 B | -3.0 MiB | gone |\n");
    assert_contains(t, "\n</details>\n\nFrom `a\\x1b.plm` to `b.plm`, by `plimsoll diff`.\n");
    free(t);
    /* --bytes: 650 MiB are 681,574,400, and 60 MiB 62,914,560. */
    t = written(plm_diff_markdown, marked, after, (struct plm_report_options){.width = 80, .bytes = true});
    assert_contains(t, "\n| **device used** | 681574400 | 744488960 | +62914560 | +9.2 % |\n");
    assert_contains(t, "\n| cached but unused | 38797312 | 70254592 | +31457280 | +81 % |\n");
    assert_contains(t, "activations of layer.*` +41943040\n");
    assert_null(strstr(t, "MiB"));
    free(t);
    t = written(plm_diff_markdown, before, before, (struct plm_report_options){.width = 80});
    assert_ptr_equal(strstr(t, "### GPU memory: Same peak: 650.0 MiB device used\n\nNothing changed.\n"), t);
    free(t);
}

/* A program in a folder: its own two lines, one in a function that begins in `first`, and PyTorch's. */
static void lines_in(const char *folder, uint32_t first, uint64_t bytes)
{
    static const char *const files[] = {"train.py", "model/net.py", "../lib/python3.11/site-packages/torch/x.py"};
    static const char *const functions[] = {"<module>", "Net.forward", "relu"};
    char path[200];
    card(0, 100 * MIB);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        plm_put_source(0, &(struct plm_ev_source){.source = i + 1,
                                                  .file = plm_record_text(path),
                                                  .function = plm_record_text(functions[i]),
                                                  .line = i == 1 ? first : 1});
        plm_put_frame(0, &(struct plm_ev_frame){i + 1, i, i + 1, i == 1 ? first + 3 : 7});
    }
    plm_put_phase(0, &(struct plm_ev_phase){.phase = PLM_PHASE_FORWARD});
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = 4096, .bytes = 2 * MIB, .stack = 1});
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = 1 << 30, .bytes = bytes, .stack = 3});
}

static void lines_before(void)
{
    lines_in("/home/me/base", 10, 8 * MIB);
}

static void lines_after(void)
{
    lines_in("/home/me/proposed", 25, 12 * MIB);
}

/* In another folder, and further down in its file, a line is still the same. */
static void lines_that_moved(void **state)
{
    struct plm_report_options by_line = {.width = 80, .by = PLM_BY_LINE};
    char *t = written(plm_diff_text, lines_before, lines_after, by_line);
    (void)state;
    assert_contains(t, "Memory by line ");
    assert_contains(t, "  model/net.py Net.forward+3    8.0 MiB    12.0 MiB     +4.0 MiB     +50 %\n");
    assert_null(strstr(t, "train.py")); /* it did not change */
    free(t);
    t = written(plm_diff_json, lines_before, lines_after, by_line);
    assert_contains(t, "\"lines\": [");
    assert_contains(t, "\"name\": \"model/net.py Net.forward+3\"");
    assert_null(strstr(t, "\"modules\""));
    free(t);
}

static void nothing_changed(void **state)
{
    char *t = written(plm_diff_text, before, before, (struct plm_report_options){.width = 80});
    (void)state;
    assert_string_equal(t, "Nothing changed: 63.0 MiB allocated, 100.0 MiB reserved, 650.0 MiB device used.\n");
    free(t);
    t = written(plm_diff_text, two_devices, two_devices, (struct plm_report_options){.width = 80});
    assert_string_equal(t, "Nothing changed on 2 devices.\n");
    free(t);
    t = written(plm_diff_json, before, before, (struct plm_report_options){0});
    assert_contains(t, "\"changed\": false");
    assert_contains(t, "\"modules\": []");
    free(t);
}

static void devices(void **state)
{
    char *t = written(plm_diff_text, two_devices, after, (struct plm_report_options){.width = 80, .bytes = true});
    (void)state;
    assert_contains(t, "\nRank 0, device 0 ");
    assert_contains(t, "  = device used             681574400       744488960        +62914560    +9.2 %\n");
    assert_contains(t, "\nRank 0, device 1 is only in a\\x1b.plm: 643825664 device used.\n");
    free(t);
    t = written(plm_diff_text, before, two_devices, (struct plm_report_options){.width = 80});
    assert_contains(t, "\nRank 0, device 0: nothing changed.\n");
    assert_contains(t, "\nRank 0, device 1 is only in b.plm: 614.0 MiB device used.\n");
    free(t);
}

static void without_attribution(void **state)
{
    char *t = written(plm_diff_text, old_record, after, (struct plm_report_options){.width = 80});
    (void)state;
    assert_contains(t, "  tensors (allocated)     7.0 MiB    93.0 MiB    +86.0 MiB   13.29 x\n");
    assert_contains(t, "One of the records has no memory categories.");
    assert_null(strstr(t, "Memory by module"));
    free(t);
    t = written(plm_diff_json, old_record, after, (struct plm_report_options){0});
    assert_null(strstr(t, "modules"));
    assert_null(strstr(t, "categories"));
    free(t);
}

/* An imported snapshot has functions in place of modules, and no categories. */
static void without_categories(void **state)
{
    char *t = written(plm_diff_text, before, functions_only, (struct plm_report_options){.width = 80});
    (void)state;
    assert_contains(t, "One of the records has no memory categories.");
    assert_contains(t, "  (train, a.py:3) ");
    assert_null(strstr(t, "activations"));
    free(t);
    t = written(plm_diff_text, functions_only, functions_only, (struct plm_report_options){.width = 80});
    assert_contains(t, "650.0 MiB device used. One of the records has no memory categories.\n");
    assert_string_equal(strchr(t, '\n'), "\n");
    free(t);
    t = written(plm_diff_json, functions_only, before, (struct plm_report_options){0});
    assert_contains(t, "\"modules\"");
    assert_null(strstr(t, "categories"));
    free(t);
}

static void json(void **state)
{
    char *t = written(plm_diff_json, after, before, (struct plm_report_options){0});
    const char *modules = strstr(t, "\"modules\"");
    (void)state;
    assert_contains(t, "\"schema\": \"plimsoll.diff/1\"");
    assert_contains(t, "\"changed\": true");
    assert_contains(t, "\"change\": -62914560");
    assert_non_null(modules);
    assert_contains(modules, "\"name\": \"fc\"");
    assert_contains(modules, "\"name\": \"layer.19\""); /* all of them, not ten */
    modules = strstr(t, "\"modules_folded\"");
    assert_non_null(modules);
    assert_contains(modules, "\"name\": \"layer.0…19\",\n          \"count\": 20,\n          \"before\": 62914560,");
    assert_contains(modules, "\"layer.18\",\n            \"layer.19\"\n          ]");
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_grew),
        cmocka_unit_test(answers),
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(markdown),
        cmocka_unit_test(lines_that_moved),
        cmocka_unit_test(nothing_changed),
        cmocka_unit_test(devices),
        cmocka_unit_test(without_attribution),
        cmocka_unit_test(json),
        cmocka_unit_test(without_categories),
    };
    return RUN(tests);
}
