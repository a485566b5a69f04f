/*
 * What every command that reads a job record says of it: report, fit, check, diff, time, the formats of export, tune
 * and calibrate, as text and as documents. The first byte of the input chooses among them. Documents are valid, whatever the names.
 */
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "base/json_tree.h"
#include "export/export.h"
#include "export/out.h"
#include "fit/fit.h"
#include "fit/tune.h"
#include "fuzz.h"
#include "record_input.h"
#include "report/check.h"
#include "report/diff.h"
#include "report/report.h"
#include "report/time.h"
#include "stack/rows.h"
#include "time/speeds.h"

static const struct plm_card cards[] = {
    {.id = "small", .name = "small", .memory_total = 1 << 21, .memory_usable = 1 << 20, .sms = 1},
    {.id = "large", .name = "large", .memory_total = 3ull << 33, .memory_usable = 3ull << 33, .sms = 80},
};
static const struct plm_report_options plain = {.width = 80, .record = "fuzz.plm", .card = cards, .cards = 2};
static const struct plm_report_options rich = {.width = 20,
                                               .bytes = true,
                                               .color = true,
                                               .utf8 = true,
                                               .listed = true,
                                               .by = PLM_BY_STACK,
                                               .at = {PLM_AT_STEP, 1}};

/* ---- what is written ---- */

static char *text;
static size_t length;

/* With colours: our own escapes are in it. */
static void wrote_coloured(FILE *out)
{
    MUST(!ferror(out) && !fclose(out));
    free(text);
}

static void wrote_text(FILE *out)
{
    MUST(!ferror(out) && !fclose(out));
    fuzz_plain(text, length);
    free(text);
}

static void wrote_document(FILE *out)
{
    struct plm_json_tree *tree;
    MUST(!ferror(out) && !fclose(out));
    MUST(plm_json_tree_read_memory("output", text, length, &tree, NULL) == 0);
    plm_json_tree_free(tree);
    free(text);
}

static FILE *writing(void)
{
    FILE *out = open_memstream(&text, &length);
    MUST(out);
    return out;
}

/* ---- the commands ---- */

static void show_text(const struct plm_job *job)
{
    struct plm_error error = {0};
    FILE *out = writing();
    if (plm_report_text(out, job, &plain, &error))
        fuzz_sentence(&error);
    wrote_text(out);
    out = writing();
    if (plm_report_text(out, job, &rich, &error))
        fuzz_sentence(&error);
    wrote_coloured(out);
}

static void show_json(const struct plm_job *job)
{
    struct plm_error error = {0};
    FILE *out = writing();
    MUST(plm_report_json(out, job, &plain, &error) == 0);
    wrote_document(out);
    out = writing();
    MUST(plm_report_json(out, job, &rich, &error) == 0);
    wrote_document(out);
}

static const struct plm_margin margin = {.bytes = 1 << 10};

static bool fit_open(const struct plm_job *job, struct plm_fit *f)
{
    struct plm_error error = {0};
    *f = (struct plm_fit){0};
    if (plm_fit_open(job, f, &error) == 0)
        return true;
    fuzz_sentence(&error);
    plm_fit_close(f);
    return false;
}

static void show_fit(const struct plm_job *job)
{
    struct plm_error error = {0};
    struct plm_fit_table table;
    struct plm_fit f;
    if (!fit_open(job, &f))
        return;
    if (plm_fit_table(&f, cards, 2, &margin, &table, &error))
        fuzz_sentence(&error);
    else {
        FILE *out = writing();
        MUST(plm_report_fit_text(out, &table, &plain, true, &error) == 0);
        wrote_text(out);
        out = writing();
        MUST(plm_report_fit_json(out, &table, &plain, true, &error) == 0);
        wrote_document(out);
        plm_fit_table_free(&table);
    }
    plm_fit_close(&f);
}

static void show_tune(const struct plm_job *job)
{
    struct plm_error error = {0};
    struct plm_tune t;
    struct plm_fit f;
    if (!fit_open(job, &f))
        return;
    if (plm_tune(&f, &cards[0], &margin, NULL, NULL, &t, &error))
        fuzz_sentence(&error);
    else {
        FILE *out = writing();
        MUST(plm_report_tune_text(out, &t, &plain, true, &error) == 0);
        wrote_text(out);
        out = writing();
        MUST(plm_report_tune_json(out, &t, &plain, true, &error) == 0);
        wrote_document(out);
        plm_tune_free(&t);
    }
    plm_fit_close(&f);
}

/* A file of constants, which every card takes. */
static const char *some_speeds(void)
{
    static char *file;
    static size_t size;
    struct plm_speeds speeds = {.name = "fuzzed", .source = "a fuzz target"};
    FILE *out;
    if (file)
        return "speeds.ini";
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&speeds, &plm_speed[i], fmin(fmax(1, plm_speed[i].least), plm_speed[i].most));
    out = open_memstream(&file, &size);
    MUST(out);
    plm_speeds_write(out, &speeds);
    MUST(!fclose(out));
    fuzz_ini("speeds.ini", file, size);
    return "speeds.ini";
}

static void show_times(const struct plm_job *job, const struct plm_time_table *table)
{
    struct plm_report_options shown = plain;
    struct plm_report_time_look look = {.options = &shown};
    struct plm_error error = {0};
    shown.time = table;
    for (int many = 0; many < 2; many++) {
        FILE *out = writing();
        look.many = many;
        MUST(plm_report_time_text(out, table, &look, &error) == 0);
        wrote_text(out);
        out = writing();
        MUST(plm_report_time_json(out, table, &look, &error) == 0);
        wrote_document(out);
    }
    if (job->lanes) {
        FILE *out = writing();
        MUST(plm_report_text(out, job, &shown, &error) == 0);
        wrote_text(out);
    }
}

static void show_time(const struct fuzz_record *r)
{
    static const struct plm_card timed[] = {
        {.id = "timed", .sms = 80, .bandwidth_gbs = 900, .fp32_tflops = 15, .fp16_tflops = 100, .tensor_cores = 640},
        {.id = "unknown", .sms = 80}};
    const struct plm_time_question question = {.speeds = some_speeds(), .shares = true};
    struct plm_error error = {0};
    struct plm_time_table table;
    struct plm_works works;
    if (plm_works_read_record(r->record, "fuzz.plm", &works, &error)) {
        fuzz_sentence(&error);
        return;
    }
    MUST(plm_time_table_make(&works, plm_works_main(&works), timed, 2, &question, &table, &error) == 0);
    MUST(table.row[0].known && !table.row[1].known);
    show_times(r->job, &table);
    plm_time_table_free(&table);
    plm_works_free(&works);
}

static void show_used(const struct fuzz_record *r)
{
    struct plm_stack_used rows;
    FILE *out = writing();
    MUST(plm_stack_used_record(r->record, out, &rows, NULL) == 0);
    wrote_text(out);
}

static void show_check(const struct plm_job *job)
{
    FILE *out = writing();
    for (int what = PLM_CHECK_USED; what <= PLM_CHECK_ALLOCATED; what++) {
        const struct plm_limit limit = {
            .what = (enum plm_check_what)what, .pessimistic = what == PLM_CHECK_USED, .max = 1 << 20};
        const struct plm_check c =
            job->lanes ? plm_check_job(job, &limit, NULL, true) : plm_check_error(job, &limit, "nothing");
        MUST(c.sentence[0] && !strchr(c.sentence, '\n'));
        plm_check_junit(out, &c);
        plm_check_github(out, &c);
    }
    wrote_text(out);
}

static void show_diff(const struct plm_job *before, const struct plm_job *after)
{
    static const char *const names[2] = {"before.plm", "after.plm"};
    struct plm_error error = {0};
    struct plm_diff d;
    FILE *out;
    if (!before->lanes || !after->lanes)
        return;
    plm_diff_make(before, after, PLM_BY_LINE, &d);
    MUST(before != after || !d.changed);
    out = writing();
    MUST(plm_diff_text(out, &d, names, &plain, &error) == 0);
    wrote_text(out);
    out = writing();
    MUST(plm_diff_json(out, &d, names, &plain, &error) == 0);
    wrote_document(out);
    plm_diff_free(&d);
}

/* Ends without an error, whatever is in a record that can be read. */
static void show_export(const struct fuzz_record *r, const struct plm_export_format *format)
{
    static int nowhere = -1;
    struct plm_out out;
    struct plm_export export = {.path = "fuzz.plm", .record = r->record, .job = r->job, .out = &out};
    const int last = format->flags & PLM_EXPORT_MOMENT ? PLM_AT_END : PLM_AT_PEAK;
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    plm_out_open(&out, nowhere);
    for (int at = PLM_AT_PEAK; at <= last; at++) {
        export.at.kind = at;
        export.at.step = 1;
        MUST(format->write(&export, NULL) == 0);
    }
    MUST(plm_out_close(&out) == 0);
}

/* With itself, and with what the record was before its last events: both ways. */
static void show_diffs(struct fuzz_record *r, const uint8_t *data, size_t size)
{
    struct fuzz_record earlier;
    show_diff(r->job, r->job);
    plm_record_free(r->record); /* one record at a time */
    r->record = NULL;
    if (fuzz_record_open(data, size / 2, &earlier)) {
        show_diff(earlier.job, r->job);
        show_diff(r->job, earlier.job);
        fuzz_record_close(&earlier);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { TEXT, JSON, FIT, CHECK, DIFF, TUNE, USED, EXPORT };
    struct fuzz_record r;
    size_t which = size ? *data % (EXPORT + plm_export_format_count) : 0;
    if (!size || !fuzz_record_open(data + 1, size - 1, &r))
        return 0;
    switch (which) {
    case TEXT: show_text(r.job); break;
    case JSON:
        show_json(r.job);
        show_time(&r);
        break;
    case FIT: show_fit(r.job); break;
    case CHECK: show_check(r.job); break;
    case DIFF: show_diffs(&r, data + 1, size - 1); break;
    case TUNE: show_tune(r.job); break;
    case USED: show_used(&r); break;
    default: show_export(&r, &plm_export_formats[which - EXPORT]);
    }
    fuzz_record_close(&r);
    return 0;
}
