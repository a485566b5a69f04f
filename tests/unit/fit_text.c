/* What `fit` and `tune` print of tables that are made by hand: amounts, the order of rows, which rows are left out, and
   where columns end. The words around them are the concern of tests/groups. */
#include <stdio.h>
#include <stdlib.h>

#include "common/card.h"
#include "common/error.h"
#include "fit/fit.h"
#include "fit/tune.h"
#include "record/writer.h"
#include "report/report.h"
#include "report/time.h"
#include "unit.h"

static struct plm_job *job;

/* Of one rank, on a card that has a name. */
static void small_job(void)
{
    plm_record_config("torch", "2.15.0");
    plm_record_config("gpu", "played");
    plm_record_config("rank", "0");
    plm_put_reserved(0, &(struct plm_ev_reserved){GIB});
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = 4096, .bytes = 100 * MIB});
}

static int make_job(void **state)
{
    (void)state;
    job = unit_job(small_job);
    return 0;
}

static int drop_job(void **state)
{
    (void)state;
    plm_job_free(job);
    return 0;
}

/* ---- looking at text ---- */

/* The line that begins with a name in the first column of a table; "" if there is none. In a buffer of its own. */
static const char *line_of(const char *text, const char *name)
{
    static char line[512];
    char begin[64];
    const char *at;
    snprintf(begin, sizeof begin, "\n  %s ", name);
    at = strstr(text, begin);
    snprintf(line, sizeof line, "%.*s", at ? (int)strcspn(at + 1, "\n") : 0, at ? at + 1 : "");
    return line;
}

/* A cell of that line ends in a column, and a blank stands before it. */
static void ends_at(const char *line, const char *cell, size_t column)
{
    const size_t length = strlen(cell);
    if (strlen(line) < column || memcmp(line + column - length, cell, length) != 0 || line[column - length - 1] != ' ')
        fail_msg("not \"%s\" before column %zu: %s", cell, column, line);
}

static void begins_at(const char *line, const char *cell, size_t column)
{
    if (strlen(line) < column || strncmp(line + column, cell, strlen(cell)) != 0 || line[column - 1] != ' ')
        fail_msg("not \"%s\" from column %zu on: %s", cell, column, line);
}

/* All parts are in the text, each behind the one before it. The list ends with NULL. */
static void in_order(const char *text, const char *const *part)
{
    for (const char *at = text; *part; part++) {
        const char *found = strstr(at, *part);
        if (!found)
            fail_msg("no \"%s\" behind what stands before it in: %s", *part, text);
        at = found + strlen(*part);
    }
}

/* ---- fit ---- */

enum { CARDS = 20, FIRST_SHOWN = 6, LAST_SHOWN = 12 };

/* The job needs 10 GiB, runs in 8, at most 12: a quarter below the 8 and above the 12 is near, all else is far. */
static const struct {
    const char *id;
    uint64_t usable;
    enum plm_verdict verdict;
} rows[CARDS] = {
    {"c1", 1 * GIB, PLM_NO_FIT},     {"c2", 2 * GIB, PLM_NO_FIT},       {"c3", 3 * GIB, PLM_NO_FIT},
    {"c4", 4 * GIB, PLM_NO_FIT},     {"c5", 5 * GIB, PLM_NO_FIT},       {"below", 6 * GIB - 1, PLM_NO_FIT},
    {"six", 6 * GIB, PLM_NO_FIT},    {"flushes", 8 * GIB, PLM_TIGHT},   {"range", 10 * GIB, PLM_TIGHT},
    {"lacking", 11 * GIB, PLM_FITS}, {"chosen", 11918 * MIB, PLM_FITS}, /* 11.64 GiB */
    {"slice", 14 * GIB, PLM_FITS},   {"fifteen", 15 * GIB, PLM_FITS},   {"above", 15 * GIB + 1, PLM_FITS},
    {"c16", 16 * GIB, PLM_FITS},     {"c24", 24 * GIB, PLM_FITS},       {"c40", 40 * GIB, PLM_FITS},
    {"c48", 48 * GIB, PLM_FITS},     {"c80", 80 * GIB, PLM_FITS},       {"c141", 141 * GIB, PLM_FITS},
};
static struct plm_card cards[CARDS];
static struct plm_fit_row made[CARDS];

static struct plm_fit_table table_make(const struct plm_fit *fit)
{
    for (size_t i = 0; i < CARDS; i++) {
        cards[i] = (struct plm_card){.memory_usable = rows[i].usable, .mig = !strcmp(rows[i].id, "slice")};
        snprintf(cards[i].id, sizeof cards[i].id, "%s", rows[i].id);
        made[i] = (struct plm_fit_row){.card = &cards[i],
                                       .usable = rows[i].usable,
                                       .need = 10 * GIB,
                                       .lacks = !strcmp(rows[i].id, "lacking"),
                                       .answer = {.verdict = rows[i].verdict,
                                                  .retries = !strcmp(rows[i].id, "flushes") ? 3 : 0,
                                                  .in_range = !strcmp(rows[i].id, "range")}};
    }
    return (struct plm_fit_table){
        .job = job,
        .fit = fit,
        .need = {.reserved = 9 * GIB, .need = 10 * GIB, .low = 19 * GIB / 2, .high = 12 * GIB},
        .minimum = 8 * GIB,
        .row = made,
        .rows = CARDS};
}

static char *fit_text(const struct plm_fit_table *table, struct plm_report_options options, bool all)
{
    struct plm_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    options.width = options.width ? options.width : 120;
    assert_int_equal(plm_report_fit_text(out, table, &options, all, &error), 0);
    fclose(out);
    return text;
}

/* How many cards it fits on and the smallest; what is needed, its range, what PyTorch has of it, what the rest is, and what
   suffices. */
static void amounts(void **state)
{
    const struct plm_fit fit = {.job = job};
    struct plm_fit_table table = table_make(&fit);
    char *t = fit_text(&table, (struct plm_report_options){0}, false);
    (void)state;
    in_order(t, (const char *[]){"FITS on 11 of 20 cards\n", "chosen", "11.6 GiB", "slice", "14.0 GiB", "10.0 GiB",
                                 "played", "9.5 GiB", "12.0 GiB", "9.0 GiB", "1.0 GiB", "8.0 GiB", NULL});
    assert_null(strstr(t, "a little less"));
    free(t);
    table.minimum = 10 * GIB - MIB; /* reads as 10.0 GiB too */
    t = fit_text(&table, (struct plm_report_options){0}, false);
    in_order(t, (const char *[]){"a little less than 10.0 GiB", NULL});
    free(t);
    table.minimum = 10 * GIB; /* with less it does not run: there is no amount to say */
    t = fit_text(&table, (struct plm_report_options){.bytes = true}, false);
    in_order(t, (const char *[]){"chosen", "12496928768", "slice", "15032385536", "10737418240", "10200547328",
                                 "12884901888", "9663676416", "1073741824", NULL});
    assert_null(strstr(t, "flushes (slower)"));
    free(t);
}

/* Six far cards below, seven above. Those at the very end of what is near are shown. */
static void far_cards(void **state)
{
    const struct plm_fit fit = {.job = job};
    struct plm_fit_table table = table_make(&fit);
    char *t = fit_text(&table, (struct plm_report_options){0}, false);
    (void)state;
    for (size_t i = 0; i < CARDS; i++)
        assert_int_equal(*line_of(t, rows[i].id) != '\0', i >= FIRST_SHOWN && i <= LAST_SHOWN);
    in_order(t, (const char *[]){"\n  6 smaller cards ", "\n  six ", "\n  flushes ", "\n  range ", "\n  lacking ",
                                 "\n  chosen ", "\n  slice ", "\n  fifteen ", "\n  7 larger cards ", NULL});
    free(t);
    t = fit_text(&table, (struct plm_report_options){0}, true);
    for (size_t i = 0; i < CARDS; i++)
        assert_true(*line_of(t, rows[i].id));
    assert_null(strstr(t, "er card"));
    free(t);
    table.rows = PLM_REPORT_CARDS; /* so few are all shown */
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_true(*line_of(t, "c1"));
    free(t);
    table.rows = PLM_REPORT_CARDS + 1;
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_string_equal(line_of(t, "c1"), "");
    free(t);
}

/* A card that is recommended is shown however large it is, and ends those that are left out. */
static void recommended_far_away(void **state)
{
    const struct plm_fit fit = {.job = job};
    struct plm_fit_table table = table_make(&fit);
    char *t;
    (void)state;
    for (size_t i = 0; i < CARDS - 2; i++)
        made[i].answer.verdict = PLM_NO_FIT;
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_true(*line_of(t, "c80"));
    in_order(t, (const char *[]){"\n  c80 ", "\n  1 larger card ", NULL});
    free(t);
    for (size_t i = 0; i < CARDS; i++)
        made[i].answer.verdict = PLM_NO_FIT;
    table.need = (struct plm_need){0}; /* nothing is near what is not known: one line for all */
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_contains(t, "\n  all 20 cards ");
    for (size_t i = 0; i < CARDS; i++)
        assert_string_equal(line_of(t, rows[i].id), "");
    free(t);
}

/* A name takes 22 columns, amounts 6 (14 as bytes), the headroom two more. A line adds up as it stands
   there: 11.64 GiB without 10.06 are 1.58, but 11.6 without 10.1 are 1.5. */
static void columns(void **state)
{
    const struct plm_fit fit = {.job = job};
    struct plm_fit_table table = table_make(&fit);
    const char *line;
    char *t;
    (void)state;
    made[10].need = 10301 * MIB; /* 10.06 GiB */
    made[6].need = 0; /* not known */
    made[12].assumed = true;
    t = fit_text(&table, (struct plm_report_options){0}, false);
    line = line_of(t, "chosen");
    ends_at(line, "11.6", 31);
    ends_at(line, "10.1", 39);
    ends_at(line, "+1.5", 48);
    begins_at(line, "fits", 50);
    line = line_of(t, "flushes");
    ends_at(line, "8.0", 31);
    ends_at(line, "10.0", 39);
    ends_at(line, "-2.0", 48);
    begins_at(line, "tight", 50);
    begins_at(line, "flushes the cache 3 times", 59);
    line = line_of(t, "six");
    ends_at(line, "-", 39);
    ends_at(line, "-", 48);
    begins_at(line, "no", 50);
    assert_contains(line_of(t, "fifteen"), "  15.0~ ");
    assert_contains(t, "\n  in GiB; ~ ");
    free(t);
    t = fit_text(&table, (struct plm_report_options){.bytes = true}, false);
    line = line_of(t, "chosen");
    ends_at(line, "12496928768", 39);
    ends_at(line, "10801381376", 55);
    ends_at(line, "+1695547392", 72);
    assert_contains(t, "\n  in bytes; ~ ");
    free(t);
    made[12].assumed = false;
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_null(strchr(t, '~'));
    free(t);
}

/* Remarks: what else there is to say of a card, one behind the other. */
static void remarks(void **state)
{
    const struct plm_fit fit = {.job = job};
    struct plm_fit_table table = table_make(&fit);
    const char *line;
    char *t;
    (void)state;
    made[7].answer.retries = 1;
    strcpy(made[8].better, "setting:1");
    made[8].then.verdict = PLM_FITS;
    cards[12].shared_memory = true;
    made[12].lacks = 1;
    made[10].answer.takes = 9 * GIB; /* of 10 that it would: visible */
    t = fit_text(&table, (struct plm_report_options){.width = 200}, false);
    line = line_of(t, "flushes");
    assert_true(line[strlen(line) - 1] == 'e'); /* one time */
    line = line_of(t, "range");
    in_order(line, (const char *[]){"tight    within the range; fits with setting:1", NULL});
    line = line_of(t, "fifteen");
    in_order(line, (const char *[]){"fits     has no ", "; shares memory", NULL});
    assert_contains(line_of(t, "chosen"), "9.0 GiB");
    assert_string_equal(strstr(line_of(t, "slice"), "fits"), "fits"); /* and no blanks behind it */
    free(t);
}

/* A step's time has a column of 7 when times are known of any card; a card without has a dash and the reason below. */
static void steps(void **state)
{
    const struct plm_fit fit = {.job = job};
    struct plm_fit_table table = table_make(&fit);
    struct plm_time_row times[] = {
        {.card = &cards[7], .known = true, .timing = {.step = 12.5e6}},
        {.card = &cards[8], .why = "a reason of its own"},
        {.card = &cards[10], .known = true, .timing = {.step = 1.5e9}},
        {.card = &cards[0], .why = "of a card that is not shown"},
    };
    const struct plm_time_table time = {.row = times, .rows = COUNT(times)};
    char *t = fit_text(&table, (struct plm_report_options){.time = &time}, false);
    (void)state;
    ends_at(line_of(t, "flushes"), "12.5 ms", 56);
    begins_at(line_of(t, "flushes"), "tight", 58);
    ends_at(line_of(t, "chosen"), "1.50 s", 56);
    ends_at(line_of(t, "range"), "-", 56);
    assert_contains(t, "a reason of its own");
    assert_null(strstr(t, "of a card that is not shown"));
    free(t);
    times[1].known = true;
    times[1].timing.step = 1e6;
    t = fit_text(&table, (struct plm_report_options){.time = &time}, false);
    assert_null(strstr(t, "-: "));
    free(t);
    t = fit_text(&table, (struct plm_report_options){.no_time = "why there is none"}, false);
    assert_contains(t, "why there is none.");
    begins_at(line_of(t, "flushes"), "tight", 50);
    free(t);
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_null(strstr(t, "step"));
    free(t);
}

/* The next command is named if a verdict is doubtful and the record has a path; nothing else is said of one card. */
static void ends(void **state)
{
    struct plm_fit fit = {.job = job};
    struct plm_fit_table table = table_make(&fit);
    char *t = fit_text(&table, (struct plm_report_options){.record = "a.plm"}, false);
    (void)state;
    assert_contains(t, "a.plm\n");
    assert_null(strstr(t, "Note: "));
    free(t);
    for (size_t i = 0; i < CARDS; i++)
        made[i].answer.verdict = PLM_FITS;
    strcpy(fit.doubt, "of a doubt");
    t = fit_text(&table, (struct plm_report_options){.record = "a.plm"}, false);
    assert_null(strstr(t, "a.plm"));
    assert_contains(t, "\nNote: of a doubt\n");
    free(t);
    table.rows = 1;
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_null(strstr(t, "smallest"));
    free(t);
    for (size_t i = 0; i < CARDS; i++)
        cards[i].shared_memory = true;
    table.rows = CARDS;
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_contains(t, "fits only on cards with a remark");
    free(t);
    for (size_t i = 0; i < CARDS; i++)
        made[i].answer.verdict = PLM_TIGHT;
    t = fit_text(&table, (struct plm_report_options){0}, false);
    assert_ptr_equal(strstr(t, "TIGHT on 20 of 20 cards\n"), t);
    free(t);
}

/* ---- tune ---- */

enum { TUNED = 14 };

static struct plm_tune_row tuned[TUNED];

/* Own: 8 GiB. Settings that reserve 4.0, 4.5, ... 10.5 GiB. */
static struct plm_tune tune_make(const struct plm_fit *fit)
{
    for (size_t i = 0; i < TUNED; i++) {
        tuned[i] = (struct plm_tune_row){
            .need = {.reserved = 4 * GIB + i * GIB / 2, .calls = 100 + i},
            .answer = {.verdict = i < 3 ? PLM_FITS : PLM_NO_FIT},
        };
        snprintf(tuned[i].candidate.text, sizeof tuned[i].candidate.text, "key:%c", (char)('a' + i));
        tuned[i].candidate.settings.max_split_size = UINT64_MAX;
    }
    return (struct plm_tune){
        .fit = fit, .own = {.need = {.reserved = 8 * GIB}}, .row = tuned, .rows = TUNED, .advice = &tuned[0]};
}

static char *tune_text(const struct plm_tune *tune, struct plm_report_options options, bool all)
{
    struct plm_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    options.width = options.width ? options.width : 120;
    assert_int_equal(plm_report_tune_text(out, tune, &options, all, &error), 0);
    fclose(out);
    return text;
}

static void tunes(void **state)
{
    const struct plm_fit fit = {.job = job, .least = 3 * GIB};
    const struct plm_card card = {.id = "target"};
    struct plm_tune tune = tune_make(&fit);
    const char *line;
    char *t = tune_text(&tune, (struct plm_report_options){0}, false);
    (void)state;
    in_order(t, (const char *[]){"default", "8.0 GiB", "3.0 GiB", "key:a", "4.0 GiB (50.0 %)", "4.0 GiB", "setting",
                                 "\n  key:a ", "\n  key:b ", "\n  key:l ", "\n  2 more ", NULL});
    assert_string_equal(line_of(t, "key:m"), "");
    /* A name takes 7 columns at least, then amount, change and calls. */
    line = line_of(t, "key:b");
    ends_at(line, "4.5 GiB", 20);
    ends_at(line, "-43.8 %", 31); /* 4.5 of 8 */
    ends_at(line, "101", 40);
    assert_int_equal(strlen(line), 40);
    ends_at(line_of(t, "key:k"), "+12.5 %", 31); /* 9 of 8 */
    free(t);
    tuned[1].candidate.modelled = true;
    strcpy(tuned[2].candidate.text, "a-longer-setting:1");
    tune.card = &card;
    t = tune_text(&tune, (struct plm_report_options){0}, true);
    assert_true(*line_of(t, "key:n"));
    assert_null(strstr(t, " more "));
    line = line_of(t, "key:b"); /* 18 columns for names now */
    ends_at(line, "4.5 GiB", 31);
    begins_at(line, "fits", 53);
    assert_string_equal(line + 57, "  modelled");
    begins_at(line_of(t, "key:d"), "no", 53);
    assert_contains(t, "On target: fits.");
    free(t);
    tune.rows = 12; /* exactly as many as are shown */
    t = tune_text(&tune, (struct plm_report_options){0}, false);
    assert_true(*line_of(t, "key:l"));
    assert_null(strstr(t, " more "));
    free(t);
}

/* Nothing helps: the best is told of those whose replay is exact. One that costs memory but makes the job fit. */
static void tunes_without_gain(void **state)
{
    const struct plm_fit fit = {.job = job, .least = 3 * GIB};
    struct plm_tune tune = tune_make(&fit);
    char *t;
    (void)state;
    tune.advice = NULL;
    tuned[0].candidate.modelled = true;
    t = tune_text(&tune, (struct plm_report_options){0}, false);
    assert_contains(t, " 14 tried saves 43.8 %");
    free(t);
    tune.advice = &tuned[10];
    t = tune_text(&tune, (struct plm_report_options){0}, false);
    in_order(t, (const char *[]){"=key:k\n", "9.0 GiB", "setting", NULL});
    assert_null(strstr(t, "saves"));
    free(t);
    /* The width of the page limits that of names: 10 for amounts and 30 for the rest are left. */
    memset(tuned[0].candidate.text, 'x', 100);
    t = tune_text(&tune, (struct plm_report_options){.width = 80}, false);
    ends_at(line_of(t, "key:b"), "4.5 GiB", 2 + 40 + 1 + 10);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts), cmocka_unit_test(far_cards), cmocka_unit_test(recommended_far_away),
        cmocka_unit_test(columns), cmocka_unit_test(remarks),   cmocka_unit_test(steps),
        cmocka_unit_test(ends),    cmocka_unit_test(tunes),     cmocka_unit_test(tunes_without_gain),
    };
    return cmocka_run_group_tests(tests, make_job, drop_job);
}
