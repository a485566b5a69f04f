/* Reports of a hand-written job, as text on several widths and as JSON. */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fit/fit.h"
#include "fit/ladder.h"
#include "common/error.h"
#include "common/card.h"
#include "record/create.h"
#include "record/writer.h"
#include "unit.h"

static struct plm_job *job;
static const struct plm_card cards[] = {
    {.id = "small", .memory_usable = 500 * MIB},
    {.id = "just", .memory_usable = 1640 * MIB},
    {.id = "large", .memory_usable = 8 * GIB},
};

/* ---- the job ---- */

enum { IN_GRAPH = 1 }; /* the stream of a block in a graph's pool */

static uint32_t context(uint32_t id, const char *module, const char *outer, const char *inner, enum plm_phase phase)
{
    plm_put_context(0, &(struct plm_ev_context){id, plm_record_text(module), plm_record_text(outer),
                                                plm_record_text(inner), phase, 0});
    return id;
}

static void alloc(uint64_t at, uint64_t bytes, uint32_t where, uint32_t stream)
{
    plm_put_block_alloc(
        0, &(struct plm_ev_block_alloc){at, bytes, where, stream & PLM_STREAM_UNKNOWN, stream == IN_GRAPH, 0, 0, 0});
}

static void release(uint64_t at, uint64_t bytes)
{
    plm_put_block_free(0, &(struct plm_ev_block_free){at, bytes});
}

static void phase(enum plm_phase which)
{
    plm_put_phase(0, &(struct plm_ev_phase){.phase = which});
}

static void step(uint32_t number)
{
    plm_put_step(0, &(struct plm_ev_step){number, 1});
}

static void tag(uint64_t at, enum plm_category category, const char *owner)
{
    plm_put_tag(0, &(struct plm_ev_tag){at, category, plm_record_text(owner), 0});
}

static void memory(uint64_t at, uint64_t bytes, enum plm_record_memory kind)
{
    plm_put_memory_alloc(0, &(struct plm_ev_memory_alloc){at, bytes, kind, 0});
}

static void describe(void)
{
    static const char *const config[][2] = {
        {"argv[0]", "python"}, {"argv[1]", "train\xff \"it\".py"},
        {"torch", "2.15.0"},   {"cuda", "13.2"},
        {"gpu", "rtx3060"},    {"rank", "0"},
        {"exit", "0"},         {"seconds", "1.5"},
    };
    for (size_t i = 0; i < COUNT(config); i++)
        plm_record_config(config[i][0], config[i][1]);
    plm_record_note("static-runtime", "lib\033bits.so");
}

/* Three steps that need 8 MiB more each. The peak is in the third: 100 parameters, 300 + 16 activations, 50 of
   them casts, 64 temporaries. */
static void train(void)
{
    enum { LOAD = 1, LAYER, CAST, GRAD };
    describe();
    context(LOAD, "", "aten::to", "aten::_to_copy", PLM_PHASE_OTHER);
    context(LAYER, "net.\033[31mevil\n", "aten::linear", "aten::addmm", PLM_PHASE_FORWARD);
    context(CAST, "net.fc", "aten::linear", "aten::_to_copy", PLM_PHASE_FORWARD);
    context(GRAD, "net.fc", "AddmmBackward0", "aten::mm", PLM_PHASE_BACKWARD);
    memory(0, 900 * MIB, PLM_RECORD_MALLOC);
    memory(1 * GIB, 20 * MIB, PLM_RECORD_LIBRARY);
    memory(2 * GIB, 30 * MIB, PLM_RECORD_MALLOC);
    plm_put_reserved(0, &(struct plm_ev_reserved){900 * MIB});
    alloc(4096, 100 * MIB, LOAD, PLM_STREAM_UNKNOWN);
    tag(4096, PLM_CATEGORY_PARAMETERS, "net.fc.weight");
    for (uint32_t i = 0; i < 3; i++) {
        phase(PLM_PHASE_FORWARD);
        alloc(8192, (250 + 8 * i) * MIB, LAYER, IN_GRAPH);
        alloc(12288, 50 * MIB, CAST, 0);
        phase(PLM_PHASE_BACKWARD);
        alloc(16384, 64 * MIB, GRAD, 0);
        release(16384, 64 * MIB);
        release(8192, (250 + 8 * i) * MIB);
        release(12288, 50 * MIB);
        phase(PLM_PHASE_OTHER);
        step(i + 1);
    }
    alloc(8192, 512, LOAD, 0);
    plm_put_refused(0, &(struct plm_ev_refused){plm_record_text("cublas"), plm_record_text("cublasXtSgemm")});
    plm_put_launches(0, &(struct plm_ev_launches){1000});
}

static int make_job(void **state)
{
    (void)state;
    job = unit_job(train);
    return 0;
}

static int drop_job(void **state)
{
    (void)state;
    plm_job_free(job);
    return 0;
}

static bool a_screen; /* else --full */

static char *written(plm_report_write *write, const struct plm_job *of, struct plm_report_options options)
{
    struct plm_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    options.card = cards;
    options.cards = COUNT(cards);
    options.full = !a_screen;
    assert_int_equal(write(out, of, &options, &error), 0);
    fclose(out);
    return text;
}

/* ---- text ---- */

static void text(void **state)
{
    char *t = written(plm_report_text, job, (struct plm_report_options){.width = 80, .record = "it's.plm"});
    (void)state;
    assert_contains(t, "plimsoll: 3 steps, 1000 launches");
    assert_contains(t, "PyTorch 2.15.0 (CUDA 13.2)");
    assert_contains(t, "Peak: 480.0 MiB allocated, 900.0 MiB reserved   (rank 0, device 0, rtx3060)\n");
    assert_contains(t, "  in step 3, phase backward, module net.fc, operator AddmmBackward0 > aten::mm\n");
    assert_contains(t, "+ libraries            20.0 MiB");
    assert_contains(t, "+ other allocations    30.0 MiB");
    assert_contains(t, "+ context             550.0 MiB");
    assert_contains(t, "= device used           1.5 GiB");
    assert_contains(t, "Memory by category at the peak: 480.0 MiB allocated\n  activations           316.0 MiB  ####");
    assert_contains(t, "  parameters            100.0 MiB");
    assert_contains(t, "    incl. cast copies    50.0 MiB");
    assert_contains(t, "    incl. CUDA graphs   266.0 MiB");
    assert_contains(t, "  cached but unused     420.0 MiB");
    assert_contains(t, "  net.\\x1b[31mevil\\x0a  266.0 MiB  activations 100 %\n");
    assert_contains(t, "  net.fc                214.0 MiB  parameters 47 %, temporaries 30 %");
    assert_contains(t, "  1                464.0 MiB      900.0 MiB\n");
    assert_contains(t, "  3                480.0 MiB      900.0 MiB\n");
    assert_contains(t, "Does it fit? Needs 1.5 GiB\n");
    assert_contains(t, "  cublas: cublasXtSgemm  1 time\n");
    assert_contains(t, "Note: lib\\x1bbits.so has its own static CUDA runtime, which bypasses the virtual\n"
                       "      GPU;");
    assert_contains(t, "the peak still grew in the last step, by 8.0 MiB: run more steps");
    assert_contains(t, "Memory confidence: medium");
    assert_contains(t, "plimsoll report --by module 'it'\\''s.plm'\n");
    assert_null(strchr(t, '\033'));
    for (const char *c = t; *c; c++)
        assert_true((unsigned char)*c < 0x80);
    free(t);
}

/* The verdict stands at the end of the card's line. */
static void verdict(const char *t, const char *card, const char *expected)
{
    const char *at = strstr(t, card), *end = at ? strchr(at + 1, '\n') : NULL;
    assert_non_null(end);
    assert_memory_equal(end - strlen(expected), expected, strlen(expected));
}

static void fits(void **state)
{
    char *t = written(plm_report_text, job, (struct plm_report_options){.width = 80});
    struct plm_ladder l = plm_ladder(job, &job->lane[0]);
    struct plm_ladder_context context = plm_ladder_context(&job->summary, job->lane[0].summary, NULL);
    (void)state;
    verdict(t, "\n  small ", "  no");
    verdict(t, "\n  just ", "  tight");
    verdict(t, "\n  large ", "  fits");
    free(t);
    assert_int_equal(l.device_used, 1500 * MIB);
    assert_int_equal(plm_ladder_fit(&l, l.high), PLM_FITS);
    assert_int_equal(plm_ladder_fit(&l, l.high - 1), PLM_TIGHT);
    assert_int_equal(plm_ladder_fit(&l, l.low), PLM_TIGHT);
    assert_int_equal(plm_ladder_fit(&l, l.low - 1), PLM_NO_FIT);
    assert_true(context.low < context.bytes);
    assert_true(context.bytes < context.high);
}

/* ---- the answer: the first line, and the last ---- */

static bool starts_with(const char *t, const char *with)
{
    return strncmp(t, with, strlen(with)) == 0;
}

static bool ends_with(const char *t, const char *with)
{
    return strlen(t) >= strlen(with) && !strcmp(t + strlen(t) - strlen(with), with);
}

static int lines(const char *t)
{
    int n = 0;
    for (; *t; t++)
        n += *t == '\n';
    return n;
}

/* The job uses 1,500 MiB; its range is that of its context. */
static void answers(void **state)
{
    static const struct {
        uint32_t asked;
        const char *first, *last, *not;
    } rows[] = {
        {1 << 2, "FITS on large: 1.5 GiB of 8.0 GiB usable (1.0-1.6); confidence medium\n\nPeak: ",
         "\nFITS on large: 1.5 GiB of 8.0 GiB usable; confidence medium\n", "Next: "},
        {1 << 1, "TIGHT on just: 1.5 GiB of 1.6 GiB usable (1.0-1.6)\n  may run out of memory: ",
         "\nTIGHT on just: 1.5 GiB of 1.6 GiB usable; confidence medium\n", "too much"},
        {1 << 0,
         "DOES NOT FIT on small: 1.5 GiB of 500.0 MiB usable (1.0-1.6); 1.0 GiB too much\n  confidence medium\n",
         "\nDOES NOT FIT on small: 1.5 GiB of 500.0 MiB usable; confidence medium\n", "cache flushes"},
        {1 << 2 | 1, "DOES NOT FIT on small: ", "\nFITS on large: 1.5 GiB of 8.0 GiB usable; confidence medium\n",
         "TIGHT"},
        {0, "NEEDS 1.5 GiB (1.0-1.6); fits on large (8.0 GiB usable) and larger; confidence medium\n",
         "\nNEEDS 1.5 GiB; fits on large (8.0 GiB usable) and larger; confidence medium\n", " on small: "},
    };
    (void)state;
    a_screen = true;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *t = written(plm_report_text, job,
                          (struct plm_report_options){.width = 90, .asked = rows[i].asked, .record = "a.plm"});
        if (!starts_with(t, rows[i].first) || !ends_with(t, rows[i].last) || strstr(t, rows[i].not))
            fail_msg("row %zu:\n%s", i, t);
        free(t);
    }
    a_screen = false;
}

/* A table that the caller has is what every way to show the job says; nothing is replayed for it. This one says what no
   replay would. */
static void fits_given(void **state)
{
    struct plm_fit_row row[] = {{.card = &cards[2], .usable = 7 * GIB, .need = 9 * GIB}};
    const struct plm_fit_table given = {.job = job, .known = plm_fit_known(job), .row = row, .rows = 1};
    const struct plm_report_options o = {.width = 90, .fits = &given, .asked = 1 << 2};
    struct plm_fit_table own;
    char *t;
    (void)state;
    row[0].answer.verdict = PLM_NO_FIT;
    t = written(plm_report_text, job, o);
    assert_true(starts_with(t, "DOES NOT FIT on large: 9.0 GiB of 7.0 GiB usable"));
    free(t);
    t = written(plm_report_json, job, o);
    assert_contains(t, "\"need\": 9663676416");
    assert_null(strstr(t, "\"gpu\": \"small\""));
    free(t);
    assert_ptr_equal(plm_report_fits(job, &o, &own), &given);
    assert_null(own.row);
}

/* What to type next: a setting can give back what is cached, 420 MiB; more than that needs another card. */
static void next_commands(void **state)
{
    static const struct plm_card near[] = {{.id = "near", .memory_usable = 1200 * MIB},
                                           {.id = "far", .memory_usable = 900 * MIB}};
    static const char *const next[] = {"\n  Next: plimsoll tune --gpu near 'a b.plm'\n",
                                       "\n  Next: plimsoll fit 'a b.plm'\n"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct plm_report_options o = {.width = 80, .card = near, .cards = 2, .asked = 1u << i, .record = "a b.plm"};
        struct plm_error error;
        char *t = NULL;
        size_t size;
        FILE *out = open_memstream(&t, &size);
        assert_int_equal(plm_report_text(out, job, &o, &error), 0);
        fclose(out);
        assert_contains(t, next[i]);
        assert_null(strstr(t, next[!i]));
        free(t);
    }
}

/* One screen, whatever is asked and however wide; the rest is behind --full. */
static void one_screen(void **state)
{
    (void)state;
    a_screen = true;
    for (int width = 80; width <= 200; width += 40)
        for (uint32_t asked = 0; asked < 8; asked = asked ? asked << 1 : 1) {
            char *t = written(plm_report_text, job,
                              (struct plm_report_options){.width = width, .asked = asked, .record = "a.plm"});
            assert_true(lines(t) <= 24);
            assert_contains(t, "Peak: in step 3, phase backward, module net.fc, rank 0, device 0\n  tensors "
                               "(allocated)   480.0 MiB  ");
            assert_contains(t, "  + context, libraries  600.0 MiB"); /* 20 + 30 + 550 */
            assert_contains(t, "Memory by module at the peak\n  net.");
            assert_contains(t, "\nFits on large; tight on just; does not fit on small\nConfidence medium: ");
            assert_contains(t, "More: plimsoll report --full a.plm\n");
            assert_null(strstr(t, "Peak of each step"));
            assert_null(strstr(t, "Note: "));
            assert_null(strstr(t, "launches"));
            free(t);
        }
    a_screen = false;
}

static int columns(const char *line)
{
    int n = 0;
    for (; *line && *line != '\n'; line++)
        n += (*line & 0xc0) != 0x80;
    return n;
}

static void widths(void **state)
{
    static const int wide[] = {80, 100, 120, 200};
    static const enum plm_key keys[] = {PLM_BY_MODULE, PLM_BY_OP, PLM_BY_PHASE, PLM_BY_CATEGORY, PLM_BY_STACK};
    (void)state;
    for (size_t i = 0; i < COUNT(wide); i++)
        for (size_t k = 0; k <= COUNT(keys); k++) {
            char *t = written(plm_report_text, job,
                              (struct plm_report_options){
                                  .width = wide[i], .utf8 = true, .listed = k > 0, .by = keys[k ? k - 1 : 0]});
            for (const char *line = t; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
                if (columns(line) > wide[i])
                    fail_msg("%d columns instead of %d: %.*s", columns(line), wide[i], (int)strcspn(line, "\n"), line);
            free(t);
        }
}

static void narrow_and_colored(void **state)
{
    char *t = written(plm_report_text, job,
                      (struct plm_report_options){.width = 20, .bytes = true, .color = true, .utf8 = true});
    (void)state;
    assert_contains(t, "503316480 allocated");
    assert_contains(t, "\033[1m");
    assert_contains(t, "\033[31mno\033[0m");
    assert_contains(t, "█");
    assert_null(strstr(t, "\033[31mevil"));
    free(t);
}

/* ---- one moment, one key ---- */

static void listings(void **state)
{
    char *t = written(plm_report_text, job,
                      (struct plm_report_options){.width = 80, .listed = true, .by = PLM_BY_OP, .record = "x"});
    (void)state;
    assert_contains(
        t,
        "480.0 MiB allocated at the peak, by op   (rank 0, device 0)\n  most: 316.0 MiB, 66 % of it, aten::linear\n");
    assert_contains(t, "  aten::linear          316.0 MiB   66 %        2  activations 100 %\n");
    assert_contains(t, "  AddmmBackward0         64.0 MiB   13 %        1  temporaries 100 %\n");
    assert_null(strstr(t, "Confidence"));
    free(t);
    t = written(
        plm_report_text, job,
        (struct plm_report_options){.width = 80, .listed = true, .by = PLM_BY_CATEGORY, .at = {PLM_AT_STEP, 1}});
    assert_contains(t, "464.0 MiB allocated at the peak of step 1, by category");
    assert_contains(t, "  activations           300.0 MiB   65 %        2  ###");
    free(t);
    t = written(plm_report_text, job,
                (struct plm_report_options){.width = 80, .listed = true, .by = PLM_BY_STACK, .at = {PLM_AT_END, 0}});
    assert_contains(t, "100.0 MiB allocated at the end, by stack");
    assert_contains(t, "other;aten::to;aten::_to_copy  100.0 MiB  100 %        2");
    free(t);
}

static void places(void **state)
{
    const struct plm_lane *lane = &job->lane[0];
    struct plm_place p = plm_place_at(job, lane, (struct plm_at){PLM_AT_PEAK, 0});
    (void)state;
    assert_true(p.known && p.step == 3);
    assert_int_equal(p.allocated, 480 * MIB);
    assert_int_equal(p.reserved, 900 * MIB);
    assert_int_equal(plm_place_free(&p), 420 * MIB);
    assert_int_equal(p.casts, 50 * MIB);
    assert_int_equal(p.captured, 266 * MIB);
    assert_string_equal(p.context->module, "net.fc");
    p = plm_place_at(job, lane, (struct plm_at){PLM_AT_STEP, 2});
    assert_true(p.step == 2 && p.allocated == 472 * MIB);
    p = plm_place_at(job, lane, (struct plm_at){PLM_AT_END, 0});
    assert_true(p.step == 3 && p.after && p.allocated == 100 * MIB + 512);
}

/* A step that only gives back has its peak where it begins: what the table says is what --at N shows. */
static void shrink(void)
{
    plm_record_config("exit", "0");
    alloc(4096, 100 * MIB, 0, 0);
    alloc(1 * GIB, 50 * MIB, 0, 0);
    step(1);
    release(1 * GIB, 50 * MIB);
    step(2);
    step(3);
}

/* Device 1 is used from the second step on; its steps have the numbers of the job's. */
static void late_device(void)
{
    plm_record_config("exit", "0");
    alloc(4096, 100 * MIB, 0, 0);
    step(1);
    plm_put_block_alloc(1, &(struct plm_ev_block_alloc){4096, 7 * MIB, 0, 0, 0, 0, 0, 0});
    step(2);
    plm_put_block_alloc(1, &(struct plm_ev_block_alloc){1 * GIB, 9 * MIB, 0, 0, 0, 0, 0, 0});
    step(3);
}

/* The job was cut in its second step. */
static void cut(void)
{
    plm_record_config("exit", "1");
    alloc(4096, 100 * MIB, 0, 0);
    step(1);
    alloc(1 * GIB, 50 * MIB, 0, 0);
}

static void steps_agree(void **state)
{
    static void (*const jobs[])(void) = {train, shrink, late_device, cut};
    (void)state;
    for (size_t k = 0; k < COUNT(jobs); k++) {
        struct plm_job *j = unit_job(jobs[k]);
        for (size_t l = 0; l < j->lanes; l++) {
            const struct plm_summary_device *d = j->lane[l].summary;
            assert_int_equal(j->lane[l].steps, d->steps);
            for (int i = 0; i < d->steps; i++) {
                struct plm_place p = plm_place_at(j, &j->lane[l], (struct plm_at){PLM_AT_STEP, (uint32_t)i + 1});
                assert_int_equal(p.allocated, d->step[i].allocated_peak);
                assert_int_equal(p.step, i + 1);
            }
        }
        plm_job_free(j);
    }
}

static void late_devices(void **state)
{
    struct plm_job *j = unit_job(late_device);
    const struct plm_summary_device *d = j->lane[1].summary;
    (void)state;
    assert_int_equal(j->lanes, 2);
    assert_int_equal(d->steps, 3);
    assert_int_equal(d->step[0].allocated_peak, 0);
    assert_int_equal(d->step[1].allocated_peak, 7 * MIB);
    assert_int_equal(d->step[2].allocated_peak, 16 * MIB);
    assert_int_equal(plm_place_at(j, &j->lane[1], (struct plm_at){PLM_AT_PEAK, 0}).step, 3);
    plm_job_free(j);
}

static void cut_jobs(void **state)
{
    struct plm_job *j = unit_job(cut);
    struct plm_place p = plm_place_at(j, &j->lane[0], (struct plm_at){PLM_AT_END, 0});
    (void)state;
    assert_true(p.step == 2 && !p.after); /* which did not end */
    plm_job_free(j);
}

/* The shares of a moment are of the amount that its title has: together they are all of it. */
static void shares_add_up(void **state)
{
    static const struct plm_report_options kinds[] = {
        {.width = 100},
        {.width = 100, .at = {PLM_AT_STEP, 2}},
        {.width = 100, .at = {PLM_AT_END, 0}},
        {.width = 100, .listed = true, .by = PLM_BY_CATEGORY},
        {.width = 100, .listed = true, .by = PLM_BY_CATEGORY, .at = {PLM_AT_STEP, 2}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char *t = written(plm_report_text, job, kinds[i]),
             *at = strstr(t, kinds[i].listed ? "  share " : "Memory by category");
        double sum = 0;
        for (at = strchr(at, '\n') + 1; at && *at == ' '; at = strchr(at, '\n') + 1) {
            char *end = strchr(at, '\n'), *percent = memchr(at, '%', (size_t)(end - at));
            if (percent && memcmp(at, "    incl.", 9) != 0)
                sum += atof(percent - 4);
        }
        assert_true(sum >= 99 && sum <= 101);
        if (kinds[i].at.kind == PLM_AT_PEAK)
            assert_contains(t, "  66 %"); /* activations: 316 of 480 MiB */
        free(t);
    }
}

static void words(void **state)
{
    static const struct {
        const char *text;
        int status, kind;
        uint32_t step;
    } ats[] = {
        {"peak", 0, PLM_AT_PEAK, 0},   {"end", 0, PLM_AT_END, 0},       {"3", 0, PLM_AT_STEP, 3},
        {"step:3", 0, PLM_AT_STEP, 3}, {"step 12", 0, PLM_AT_STEP, 12}, {"0", PLM_EINVAL, 0, 0},
        {"", PLM_EINVAL, 0, 0},        {"step:", PLM_EINVAL, 0, 0},     {"-1", PLM_EINVAL, 0, 0},
        {"3x", PLM_EINVAL, 0, 0},      {"steps 3", PLM_EINVAL, 0, 0},   {"99999999999999999999", PLM_EINVAL, 0, 0},
    };
    struct plm_at at;
    struct plm_error error;
    enum plm_key by;
    (void)state;
    for (size_t i = 0; i < COUNT(ats); i++) {
        assert_int_equal(plm_at_parse(ats[i].text, &at), ats[i].status);
        if (!ats[i].status)
            assert_true((int)at.kind == ats[i].kind && at.step == ats[i].step);
    }
    assert_int_equal(plm_key_parse("stack", &by), 0);
    assert_int_equal(by, PLM_BY_STACK);
    assert_string_equal(plm_key_name(by), "stack");
    assert_int_equal(plm_key_parse("stacks", &by), PLM_EINVAL);
    assert_int_equal(plm_at_check(job, (struct plm_at){PLM_AT_STEP, 3}, &error), 0);
    assert_int_equal(plm_at_check(job, (struct plm_at){PLM_AT_STEP, 4}, &error), PLM_EINVAL);
    assert_contains(error.text, "no step 4: 3 were completed, and --at end shows what came after");
}

/* ---- JSON ---- */

static void assert_json(const char *t)
{
    char command[9000];
    unit_write(unit_path("report.json"), t, strlen(t));
    snprintf(command, sizeof command, "python3 -m json.tool '%s' >'%s'", unit_path("report.json"),
             unit_path("tool.json"));
    assert_int_equal(system(command), 0);
    assert_null(strstr(t, "null"));
}

static void json(void **state)
{
    char *t = written(plm_report_json, job, (struct plm_report_options){.width = 80});
    (void)state;
    assert_json(t);
    assert_contains(t, "\"schema\": \"plimsoll.report/1\"");
    assert_contains(t, "\"allocated\": 503316480");
    assert_contains(t, "\"context\": 576716800");
    assert_contains(t, "\"device_used\": 1572864000");
    assert_contains(t, "\"low\": 1101004800");
    assert_contains(t, "\"high\": 1730150400");
    assert_contains(t,
                    "\"ladder\": [\n        {\n          \"name\": \"reserved\",\n          \"group\": \"reserved\"");
    assert_contains(t, "\"name\": \"unnamed\"");
    assert_contains(t, "\"kind\": \"modelled\"");
    assert_contains(t, "\"step\": 3");
    assert_contains(t, "\"phase\": \"backward\"");
    assert_contains(t, "\"op\": \"aten::mm\"");
    assert_contains(t, "\"outer_op\": \"AddmmBackward0\"");
    assert_contains(t, "\"free_in_segments\": 440401920");
    assert_contains(t, "\"cast_copies\": 52428800");
    assert_contains(t, "\"graph_pools\": 278921216");
    assert_contains(t, "\"name\": \"net.\\u001b[31mevil\\n\"");
    assert_contains(t, "\"train\xef\xbf\xbd \\\"it\\\".py\"");
    assert_contains(t, "\"verdict\": \"tight\"");
    assert_contains(t, "\"exit\": 0");
    assert_contains(t, "\"complete\": true");
    assert_null(strstr(t, "chosen"));
    free(t);
    t = written(plm_report_json, job,
                (struct plm_report_options){.listed = true, .by = PLM_BY_PHASE, .at = {PLM_AT_STEP, 2}});
    assert_json(t);
    assert_contains(t, "\"chosen\": {\n        \"by\": \"phase\",\n        \"at\": \"step\",\n        \"place\": {\n   "
                       "       \"step\": 2");
    free(t);
}

/* ---- other jobs ---- */

/* A second run told what other values would lead to. */
static void both_ends(void)
{
    plm_record_config("rank", "0");
    memory(0, 900 * MIB, PLM_RECORD_MALLOC);
    plm_put_reserved(0, &(struct plm_ev_reserved){900 * MIB});
    alloc(4096, 50 * MIB, 0, 0);
    plm_put_readback(0, &(struct plm_ev_readback){8, plm_record_text("aten::nonzero"), 0});
    plm_put_other_end(0, &(struct plm_ev_other_end){.allocated = 200 * MIB, .reserved = 1100 * MIB});
}

static void ends(void **state)
{
    struct plm_job *other = unit_job(both_ends);
    struct plm_ladder l = plm_ladder(other, &other->lane[0]);
    char reasons[8][256];
    int n;
    (void)state;
    assert_int_equal(l.low, (900 + 100) * MIB);
    assert_int_equal(l.high, (1100 + 700) * MIB);
    assert_string_equal(plm_confidence(other, reasons, 8, &n), "medium");
    assert_string_equal(reasons[0], "the range is wide: 1000.0 MiB to 1.8 GiB, 55 % of the figure, including the "
                                    "CUDA context");
    assert_contains(reasons[1], "1 data-dependent size was assumed empty; if full, 1.1 GiB");
    plm_job_free(other);
}

static void two_devices(void)
{
    plm_record_config("rank", "0");
    for (int i = 0; i < 20; i++) {
        const uint64_t bytes = (uint64_t)(i + 1) * MIB;
        plm_put_memory_alloc(i, &(struct plm_ev_memory_alloc){0x1000, 2 * bytes, PLM_RECORD_MALLOC, 0});
        plm_put_block_alloc(i, &(struct plm_ev_block_alloc){0x1000, bytes, 0, PLM_STREAM_UNKNOWN, false, 0, 0, 0});
        plm_put_readback(i, &(struct plm_ev_readback){4, plm_record_text("aten::item"), 0});
    }
    plm_put_oom(3, &(struct plm_ev_oom){5 * GIB, GIB});
}

static void many_devices(void **state)
{
    struct plm_job *other = unit_job(two_devices);
    char *t = written(plm_report_text, other, (struct plm_report_options){.width = 80});
    (void)state;
    assert_contains(t, "Peak: 20.0 MiB allocated"); /* the one that takes most */
    assert_contains(t, "(rank 0, device 19, ?)");
    assert_contains(t, "has no memory categories");
    assert_contains(t, "\nDevices: 20, of 20 kinds\n");
    assert_contains(t, "that plimsoll did not compute:\n  aten::item  20 times\n"); /* of all at once */
    assert_null(strstr(t, "aten::item  19 times"));
    assert_contains(t, "\n  ... 4 more kinds, down to ");
    assert_contains(t, "used + 5.0 GiB requested");
    free(t);
    t = written(plm_report_json, other, (struct plm_report_options){.width = 80});
    assert_json(t);
    assert_null(strstr(t, "\"step\""));
    assert_null(strstr(t, "\"categories\""));
    free(t);
    plm_job_free(other);
}

/* Twelve layers of 1 to 12 MiB: ten are shown, the two smallest as a sum. */
static void twelve_layers(void)
{
    char name[16];
    plm_put_reserved(0, &(struct plm_ev_reserved){GIB});
    for (uint32_t i = 1; i <= 12; i++) {
        snprintf(name, sizeof name, "layer%u", i);
        alloc(i * GIB, i * MIB, context(i, name, "aten::linear", "aten::addmm", PLM_PHASE_FORWARD), 0);
    }
}

static void many_holders(void **state)
{
    struct plm_job *other = unit_job(twelve_layers);
    char *t = written(plm_report_text, other, (struct plm_report_options){.width = 80});
    (void)state;
    assert_contains(t, "\n  layer3                  3.0 MiB ");
    assert_contains(t, "\n  2 more                  3.0 MiB\n");
    assert_null(strstr(t, "layer2 "));
    free(t);
    plm_job_free(other);
}

/* What the first version wrote is read and shown without owners. */
static void version_one(void **state)
{
    struct plm_job *other;
    char command[9000], *t;
    (void)state;
    snprintf(command, sizeof command, "gzip -dc '%s/tests/golden/records/version-1.plm.gz' >'%s'", getenv("PLM_SOURCE"),
             unit_path("one.plm"));
    assert_int_equal(system(command), 0);
    assert_int_equal(plm_job_read(unit_path("one.plm"), &other, NULL), 0);
    assert_int_equal(other->lanes, 1);
    assert_false(other->attributed);
    assert_int_equal(plm_place_at(other, &other->lane[0], (struct plm_at){PLM_AT_PEAK, 0}).allocated,
                     other->lane[0].summary->allocated_peak.bytes);
    assert_int_equal(other->lane[0].steps, 3);
    t = written(plm_report_text, other, (struct plm_report_options){.width = 80, .record = "one.plm"});
    assert_contains(t, "Peak: 8.2 MiB allocated, 22.0 MiB reserved   (rank 0, device 0, rtx3060)\n  in step 2\n");
    assert_contains(t, "has no memory categories");
    assert_contains(t, "More: plimsoll report --json one.plm\n");
    free(t);
    plm_job_free(other);
}

static void nothing(void)
{
}

/* A record of a job that used no GPU. */
static void without_devices(void **state)
{
    struct plm_job *other = unit_job(nothing);
    char *t = written(plm_report_text, other, (struct plm_report_options){.width = 80});
    (void)state;
    assert_int_equal(other->lanes, 0);
    assert_ptr_equal(strstr(t, "plimsoll: 0 steps, 0 launches"), t);
    assert_int_equal(lines(t), 1);
    free(t);
    plm_job_free(other);
}

static void no_blocks(void)
{
    memory(0, 64 * MIB, PLM_RECORD_MALLOC);
    step(1);
}

static void without_blocks(void **state)
{
    struct plm_job *other = unit_job(no_blocks);
    char *t = written(plm_report_text, other, (struct plm_report_options){.width = 80});
    (void)state;
    assert_contains(t, "Peak: 64.0 MiB allocated, 64.0 MiB reserved");
    assert_null(strstr(t, "Memory by category"));
    free(t);
    t = written(plm_report_text, other, (struct plm_report_options){.width = 80, .listed = true, .by = PLM_BY_OP});
    assert_contains(t, "0 B allocated at the peak");
    assert_contains(t, "has no memory categories");
    free(t);
    t = written(plm_report_json, other, (struct plm_report_options){.listed = true});
    assert_json(t);
    free(t);
    plm_job_free(other);
}

/* Steps that go up and down: the first, the largest and the last are shown, and a curve of all. */
static void vary(void)
{
    plm_put_reserved(0, &(struct plm_ev_reserved){GIB});
    for (uint32_t i = 0; i < 40; i++) {
        uint64_t bytes = (i == 20 ? 900 : 100 + i % 7) * MIB;
        alloc(4096, bytes, 0, 0);
        release(4096, bytes);
        step(i + 1);
    }
}

static void many_steps(void **state)
{
    struct plm_job *other = unit_job(vary);
    char *t = written(plm_report_text, other, (struct plm_report_options){.width = 80, .utf8 = true});
    (void)state;
    assert_contains(t, "\n  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁\n");
    assert_contains(
        t, "\n  3                102.0 MiB        1.0 GiB\n  ...\n  21               900.0 MiB        1.0 GiB\n"
           "  ...\n  38 ");
    free(t);
    plm_job_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),           cmocka_unit_test(fits),
        cmocka_unit_test(widths),         cmocka_unit_test(answers),
        cmocka_unit_test(fits_given),     cmocka_unit_test(next_commands),
        cmocka_unit_test(one_screen),     cmocka_unit_test(listings),
        cmocka_unit_test(places),         cmocka_unit_test(narrow_and_colored),
        cmocka_unit_test(words),          cmocka_unit_test(json),
        cmocka_unit_test(many_devices),   cmocka_unit_test(without_devices),
        cmocka_unit_test(without_blocks), cmocka_unit_test(many_steps),
        cmocka_unit_test(ends),           cmocka_unit_test(version_one),
        cmocka_unit_test(steps_agree),    cmocka_unit_test(late_devices),
        cmocka_unit_test(cut_jobs),       cmocka_unit_test(shares_add_up),
        cmocka_unit_test(many_holders),
    };
    return cmocka_run_group_tests(tests, make_job, drop_job);
}
