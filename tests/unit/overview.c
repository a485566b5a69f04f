/* The parts of a report by themselves: which rows stand there, in which order, with which amounts, and how far bars go.
   Jobs are made by hand, so that each figure can be worked out; the words are the concern of unit-report. */
#include <stdio.h>
#include <stdlib.h>

#include "common/card.h"
#include "common/error.h"
#include "record/writer.h"
#include "report/report.h"
#include "unit.h"

static void alloc(uint64_t at, uint64_t bytes, uint32_t where)
{
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = at, .bytes = bytes, .context = where});
}

static void release(uint64_t at, uint64_t bytes)
{
    plm_put_block_free(0, &(struct plm_ev_block_free){at, bytes});
}

static void context(uint32_t id, const char *module, const char *outer, const char *inner)
{
    plm_put_context(0, &(struct plm_ev_context){id, plm_record_text(module), plm_record_text(outer),
                                                plm_record_text(inner), PLM_PHASE_FORWARD, 0});
}

static void memory(uint64_t at, uint64_t bytes, enum plm_record_memory kind, const char *owner)
{
    plm_put_memory_alloc(0, &(struct plm_ev_memory_alloc){at, bytes, kind, *owner ? plm_record_text(owner) : 0});
}

static char *shown(void (*body)(void), struct plm_report_options options)
{
    struct plm_job *job = unit_job(body);
    struct plm_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(plm_report_text(out, job, &options, &error), 0);
    fclose(out);
    plm_job_free(job);
    return text;
}

static int lines(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

/* ---- steps ---- */

static const unsigned *peaks; /* MiB of each step, to the first 0 */

static void steps(void)
{
    plm_put_reserved(0, &(struct plm_ev_reserved){GIB});
    for (uint32_t i = 0; peaks[i]; i++) {
        alloc(4096, peaks[i] * MIB, 0);
        release(4096, peaks[i] * MIB);
        plm_put_step(0, &(struct plm_ev_step){i + 1, 1});
    }
}

static char *table_in(const unsigned *of, bool utf8, int width)
{
    char *text, *at, *end;
    peaks = of;
    text = shown(steps, (struct plm_report_options){.full = true, .unfold = true, .width = width, .utf8 = utf8});
    at = strstr(text, "Peak of each step\n");
    assert_non_null(at);
    at = strchr(at, '\n') + 1;
    end = strstr(at, "\n\n");
    at = strndup(at, end ? (size_t)(end - at) + 1 : strlen(at));
    free(text);
    return at;
}

static char *table_of(const unsigned *of, bool utf8)
{
    return table_in(of, utf8, 80);
}

#define HEADING "  step             allocated       reserved\n"

static void test_steps(void **state)
{
    char *t;
    (void)state;
    t = table_of((const unsigned[]){100, 100, 200, 200, 200, 100, 0}, true);
    assert_string_equal(t, HEADING "  1-2              100.0 MiB        1.0 GiB\n"
                                   "  3-5              200.0 MiB        1.0 GiB\n"
                                   "  6                100.0 MiB        1.0 GiB\n");
    free(t);
    t = table_of((const unsigned[]){1, 2, 3, 4, 5, 6, 7, 8, 0}, true); /* eight rows are all shown */
    assert_int_equal(lines(t, "\n"), 9);
    assert_null(strstr(t, "..."));
    free(t);
    t = table_of((const unsigned[]){1, 2, 3, 4, 9, 5, 6, 7, 8, 10, 7, 0},
                 true); /* eleven: the last one is the largest but one */
    assert_string_equal(t, HEADING "  1                  1.0 MiB        1.0 GiB\n"
                                   "  2                  2.0 MiB        1.0 GiB\n"
                                   "  3                  3.0 MiB        1.0 GiB\n"
                                   "  ...\n"
                                   "  10                10.0 MiB        1.0 GiB\n"
                                   "  11                 7.0 MiB        1.0 GiB\n");
    free(t);
}

/* Eighths of the largest, rounded up: 100 of 800 is one, 101 is two. Twelve steps have a curve, eleven have none. */
static void test_curve(void **state)
{
    char *t;
    (void)state;
    t = table_of((const unsigned[]){100, 200, 300, 400, 500, 600, 700, 800, 700, 101, 100, 50, 0}, true);
    assert_memory_equal(t, "  ▁▂▃▄▅▆▇█▇▂▁▁\n" HEADING, strlen("  ▁▂▃▄▅▆▇█▇▂▁▁\n" HEADING));
    free(t);
    t = table_of((const unsigned[]){100, 200, 300, 400, 500, 600, 700, 800, 700, 101, 100, 50, 0}, false);
    assert_memory_equal(t, HEADING, strlen(HEADING));
    free(t);
    t = table_of((const unsigned[]){100, 200, 300, 400, 500, 600, 700, 800, 700, 101, 100, 0}, true);
    assert_memory_equal(t, HEADING, strlen(HEADING));
    free(t);
    t = table_in((const unsigned[]){100, 200, 300, 400, 500, 600, 700, 800, 700, 101, 100, 50, 0}, true, 15);
    assert_memory_equal(t, HEADING, strlen(HEADING)); /* eleven columns are too few */
    free(t);
}

/* 152 steps in 76 columns: of two, the larger counts. */
static void test_long_curve(void **state)
{
    unsigned many[153] = {0};
    char expected[300] = "  ", *t;
    (void)state;
    for (int i = 0; i < 152; i++)
        many[i] = i % 2 ? 10 + (unsigned)i % 3 : 80;
    many[151] = 160;
    for (int i = 0; i < 75; i++)
        strcat(expected, "▄");
    strcat(expected, "█\n");
    t = table_of(many, true);
    assert_memory_equal(t, expected, strlen(expected));
    free(t);
}

/* ---- categories and holders ---- */

static unsigned casts; /* MiB of 1000 */

/* 1000 MiB of activations, of which some are copies in another precision. */
static void converted(void)
{
    plm_put_reserved(0, &(struct plm_ev_reserved){GIB});
    context(1, "net", "aten::linear", "aten::_to_copy");
    context(2, "net", "aten::linear", "aten::addmm");
    alloc(1 * GIB, casts * MIB, 1);
    alloc(2 * GIB, (990 - casts) * MIB, 2);
    alloc(3 * GIB, 6 * MIB, 2);
    plm_put_tag(0, &(struct plm_ev_tag){3 * GIB, PLM_CATEGORY_PARAMETERS, plm_record_text("net.weight"), 0});
    alloc(4 * GIB, 4 * MIB, 2);
    plm_put_tag(0, &(struct plm_ev_tag){4 * GIB, PLM_CATEGORY_BUFFERS, plm_record_text("net.buffer"), 0});
}

/* A share of 0.6 % is 1 %, one of 0.4 % is less than 1 %. Casts are worth a line from a half per cent on. */
static void test_shares(void **state)
{
    char *t;
    (void)state;
    casts = 5;
    t = shown(converted, (struct plm_report_options){.full = true, .unfold = true, .width = 80});
    assert_contains(t, ": 1000.0 MiB allocated\n  activations           990.0 MiB  ");
    assert_contains(t, "   99 %\n  parameters              6.0 MiB  ");
    assert_contains(t, "    1 %\n  buffers                 4.0 MiB  ");
    assert_contains(t, "   <1 %\n    incl. cast copies     5.0 MiB  ");
    assert_contains(t, "  cached but unused      24.0 MiB  (");
    assert_contains(t,
                    "\n  net                  1000.0 MiB  activations 99 %, parameters 1 %\n"); /* 0.4 % are too few */
    free(t);
    casts = 4;
    t = shown(converted, (struct plm_report_options){.full = true, .unfold = true, .width = 80});
    assert_null(strstr(t, "cast copies"));
    free(t);
    t = shown(converted, (struct plm_report_options){
                             .full = true, .unfold = true, .width = 80, .listed = true, .by = PLM_BY_CATEGORY});
    assert_contains(
        t, "\n  category                   size  share   blocks\n  activations           990.0 MiB   99 %        2  ");
    assert_contains(t, "\n  parameters              6.0 MiB    1 %        1  ");
    assert_contains(t, "\n  buffers                 4.0 MiB   <1 %        1  ");
    free(t);
}

static unsigned holders;

static void modules(void)
{
    char name[32];
    plm_put_reserved(0, &(struct plm_ev_reserved){4 * GIB});
    for (uint32_t i = 1; i <= holders; i++) {
        snprintf(name, sizeof name, "layer%u", i);
        context(i, name, "aten::linear", "aten::addmm");
        alloc(i * GIB, i * MIB, i);
    }
}

/* Sixty are listed, largest first; ten in the overview, and the rest as a sum. */
static void test_listed(void **state)
{
    char *t;
    (void)state;
    holders = 60;
    t = shown(modules, (struct plm_report_options){
                           .full = true, .unfold = true, .width = 80, .listed = true, .by = PLM_BY_MODULE});
    assert_int_equal(lines(t, "\n  layer"), 60);
    assert_null(strstr(t, " more"));
    free(t);
    holders = 62;
    t = shown(modules, (struct plm_report_options){
                           .full = true, .unfold = true, .width = 80, .listed = true, .by = PLM_BY_MODULE});
    assert_int_equal(lines(t, "\n  layer"), 60);
    assert_contains(t, "\n  layer62                62.0 MiB    3 %        1  "); /* of 62 * 63 / 2 */
    assert_contains(t, "\n  layer3                  3.0 MiB   <1 %        1  ");
    assert_contains(t, "\n  ... 2 more; ");
    free(t);
    t = shown(modules, (struct plm_report_options){.full = true, .unfold = true, .width = 80});
    assert_contains(t, "\n  layer53                53.0 MiB  ");
    assert_contains(t, "\n  52 more                 1.3 GiB\n"); /* 52 * 53 / 2 MiB */
    free(t);
    holders = 10;
    t = shown(modules, (struct plm_report_options){.full = true, .unfold = true, .width = 80});
    assert_contains(t, "\n  layer1                  1.0 MiB  ");
    assert_null(strstr(t, "0 more"));
    free(t);
}

/* ---- the ladder ---- */

/* 450 MiB of PyTorch's, of which 300 are tensors; 60 + 5 of libraries, 35 of the program's own. */
static void ladder(void)
{
    plm_record_config("gpu", "rtx3060");
    memory(0, 450 * MIB, PLM_RECORD_MALLOC, "");
    memory(1 * GIB, 60 * MIB, PLM_RECORD_LIBRARY, "large");
    memory(2 * GIB, 5 * MIB, PLM_RECORD_LIBRARY, "small");
    memory(3 * GIB, 35 * MIB, PLM_RECORD_MALLOC, "");
    plm_put_reserved(0, &(struct plm_ev_reserved){450 * MIB});
    alloc(4096, 300 * MIB, 0);
}

/* The bar of a line that begins with a label and an amount: from and to which share of its columns it goes, rounded. */
static void bar(const char *text, const char *line, int columns, double from, double to)
{
    char begin[64];
    const char *at;
    int first, last;
    snprintf(begin, sizeof begin, "\n  %s  ", line);
    at = strstr(text, begin);
    if (!at)
        fail_msg("no line \"%s\" in: %s", line, text);
    at += strlen(begin);
    first = (int)strspn(at, " ");
    last = first + (int)strspn(at + first, "#");
    if (abs(first - (int)(from * columns + 0.5)) > 1 || abs(last - (int)(to * columns + 0.5)) > 1)
        fail_msg("%s: from %d to %d, not from %g to %g", line, first, last, from * columns, to * columns);
}

/* Each rung begins where those below it end: of 1100 MiB, in the 35 columns that 80 leave beside label, amount and remark. */
static void test_ladder(void **state)
{
    static const struct plm_card cards[] = {{.id = "half", .memory_usable = 550 * MIB},
                                            {.id = "twice", .memory_usable = 2200 * MIB}};
    const double whole = 1100;
    const char *at;
    char *t = shown(ladder, (struct plm_report_options){
                                .full = true, .unfold = true, .width = 80, .card = cards, .cards = COUNT(cards)});
    (void)state;
    bar(t, "tensors (allocated)   300.0 MiB", 35, 0, 300 / whole);
    bar(t, "reserved by PyTorch   450.0 MiB", 35, 0, 450 / whole);
    bar(t, "+ libraries            65.0 MiB", 35, 450 / whole, 515 / whole);
    bar(t, "    large              60.0 MiB", 35, 450 / whole, 510 / whole);
    bar(t, "+ other allocations    35.0 MiB", 35, 515 / whole, 550 / whole);
    bar(t, "+ context             550.0 MiB", 35, 550 / whole, 1);
    bar(t, "= device used           1.1 GiB", 35, 0, 1);
    assert_null(strstr(t, "small")); /* less than a hundredth */
    at = strstr(t, "between 650.0 MiB and 1.2 GiB");
    assert_non_null(at);
    assert_contains(at, "100.0 MiB to 700.0 MiB");
    bar(t, "half                  550.0 MiB", 35, 0, 1); /* it needs all of it, and more */
    bar(t, "twice                   2.1 GiB", 35, 0, 0.5);
    assert_true(strstr(t, "\n  half ") < strstr(t, "\n  twice "));
    free(t);
}

/* On a narrow page the operator has a line of its own; at most a half of it is for a name. */
static void far_away(void)
{
    plm_put_reserved(0, &(struct plm_ev_reserved){GIB});
    context(1, "net.layer", "aten::linear", "aten::addmm");
    context(2, "", "aten::alone", "");
    alloc(4096, MIB, 2);
    plm_put_step(0, &(struct plm_ev_step){1, 1});
    alloc(8192, MIB, 1);
    plm_put_step(0, &(struct plm_ev_step){2, 1});
}

/* "  in step 2, phase forward, module net.layer, operator aten::linear > aten::addmm" has 80 columns; two are kept free
   for a step of three digits. */
static void test_where(void **state)
{
    char *t;
    (void)state;
    t = shown(far_away, (struct plm_report_options){.full = true, .unfold = true, .width = 100});
    assert_contains(t, "\n  in step 2, phase forward, module net.layer, operator aten::linear > aten::addmm\n");
    free(t);
    t = shown(far_away, (struct plm_report_options){.full = true, .unfold = true, .width = 81});
    assert_contains(t, "\n  in step 2, phase forward, module net.layer,\n  operator aten::linear > aten::addmm\n");
    free(t);
    t = shown(far_away,
              (struct plm_report_options){
                  .full = true, .unfold = true, .width = 80, .listed = true, .by = PLM_BY_OP, .at = {PLM_AT_STEP, 1}});
    assert_contains(t, "\n  in step 1, phase forward, operator aten::alone\n");
    free(t);
}

/* ---- what was refused ---- */

static int refusals;

static void refuse(void)
{
    char name[32];
    plm_put_reserved(0, &(struct plm_ev_reserved){GIB});
    alloc(4096, MIB, 0);
    for (int i = 0; i < refusals; i++)
        for (int k = 0; k <= i % 2; k++) {
            snprintf(name, sizeof name, "symbol%02d", i);
            plm_put_refused(0, &(struct plm_ev_refused){plm_record_text("lib"), plm_record_text(name)});
        }
    for (int i = 0; i < refusals - 5; i++) {
        snprintf(name, sizeof name, "aten::read%d", i);
        plm_put_readback(0, &(struct plm_ev_readback){8, plm_record_text(name), 0});
    }
}

/* Ten, and how many there are beside them; of operators whose results were read, five. */
static void test_refused(void **state)
{
    char *t;
    (void)state;
    refusals = 13;
    t = shown(refuse, (struct plm_report_options){.full = true, .unfold = true, .width = 80});
    assert_int_equal(lines(t, "\n  lib: symbol"), 10);
    assert_contains(t, "\n  lib: symbol01  2 times\n");
    assert_contains(t, "\n  lib: symbol00  1 time\n");
    assert_contains(t, "\n  ... and 3 more\n");
    assert_int_equal(lines(t, "\n  aten::read"), 5);
    assert_int_equal(lines(t, "\n  ... and 3 more\n"), 2); /* of eight */
    free(t);
    refusals = 10;
    t = shown(refuse, (struct plm_report_options){.full = true, .unfold = true, .width = 80});
    assert_int_equal(lines(t, "\n  lib: symbol"), 10);
    assert_int_equal(lines(t, "\n  aten::read"), 5);
    assert_null(strstr(t, " more\n"));
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),  cmocka_unit_test(test_curve),   cmocka_unit_test(test_long_curve),
        cmocka_unit_test(test_shares), cmocka_unit_test(test_listed),  cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_where),  cmocka_unit_test(test_refused),
    };
    return RUN(tests);
}
