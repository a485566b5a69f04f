/*
 * What an earlier run of `evaluate` or `dataset` left in its folder, and --resume takes up: results, answers of methods, rows
 * of a truth about time, rows of a dataset. Keys are taken from the input itself, so that its rows are found.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/catalogue.h"
#include "common/error.h"
#include "study/evaluate/bench.h"
#include "study/evaluate/time_bench.h"
#include "study/learn/dataset.h"
#include "study/methods/methods.h"
#include "fuzz.h"

#define FOLDER "."
#define KEPT   "./rows.partial"
enum { RUNS = 3, METHODS = 2, ROWS = 3 };

static bool is_ended(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool is_time(double seconds)
{
    return isfinite(seconds) && seconds >= 0;
}

static const char *key_in(const struct plm_csv *t, size_t row)
{
    return row < t->rows ? plm_csv_cell(t, row, plm_csv_column(t, "key")) : "";
}

/* ---- results and answers ---- */

static void outcome_check(const struct plm_outcome *o)
{
    MUST(is_ended(o->why, sizeof o->why) && is_ended(o->torch, sizeof o->torch));
    MUST(is_time(o->seconds) && is_time(o->cpu_seconds));
}

static void results_read(const struct plm_csv *t, const uint8_t *data, size_t size)
{
    const struct plm_method *method[METHODS] = {plm_methods_find("horus"), plm_methods_find("xmem")};
    const struct plm_bench_settings settings = {.common.folder = FOLDER, .method = method, .methods = METHODS};
    struct plm_bench_run run[RUNS] = {0};
    struct plm_reply reply[RUNS * METHODS] = {0};
    struct plm_bench bench = {.settings = &settings, .run = run, .runs = RUNS, .reply = reply};
    struct plm_error error = {0};
    for (size_t i = 0; i < RUNS; i++) {
        run[i].reply = &reply[i * METHODS];
        snprintf(run[i].key, sizeof run[i].key, "%.60s", key_in(t, i));
        snprintf(run[i].ask_key, sizeof run[i].ask_key, "%.60s", key_in(t, i));
    }
    if (plm_results_read(&bench, &error))
        fuzz_sentence(&error);
    else
        for (size_t i = 0; i < RUNS; i++)
            outcome_check(&run[i].outcome);
    if (plm_answers_read(&bench, fuzz_file(data, size), &error)) {
        fuzz_sentence(&error);
        return;
    }
    for (size_t i = 0; i < RUNS; i++)
        MUST(run[i].asked == (plm_bench_missing(&bench, i) == 0) || !run[i].asked);
    for (size_t i = 0; i < RUNS * METHODS; i++)
        MUST(is_time(reply[i].answer.seconds) && is_time(reply[i].capture_seconds));
}

/* ---- rows of a truth about time ---- */

static void times_read(const struct plm_csv *t)
{
    const struct plm_timed_settings settings = {.common.folder = FOLDER};
    struct plm_timed_run run[RUNS] = {0};
    struct plm_timed_bench bench = {.settings = &settings, .run = run, .runs = RUNS};
    struct plm_error error = {0};
    for (size_t i = 0; i < RUNS; i++)
        snprintf(run[i].key, sizeof run[i].key, "%.20s", key_in(t, i));
    if (plm_timed_bench_resume(&bench, &error)) {
        fuzz_sentence(&error);
        return;
    }
    for (size_t i = 0; i < RUNS; i++) {
        MUST(!strpbrk(run[i].record, "/.")); /* nothing leads out of the folder */
        if (!run[i].known)
            snprintf(run[i].why, sizeof run[i].why, "it is not there");
    }
    MUST(plm_timed_bench_load(&bench, &error) == 0);
    for (size_t i = 0; i < RUNS; i++)
        MUST(run[i].why[0] || run[i].lane);
    for (size_t i = 0; i < bench.records; i++)
        plm_works_free(&bench.record[i].works);
    free(bench.record);
}

/* ---- rows of a dataset ---- */

static struct plm_card card = {.id = "rtx3060"};
static struct plm_install install;
static const struct plm_dataset_settings settings = {.install = &install,
                                                     .card = &card,
                                                     .python = "python3",
                                                     .script = "nowhere/training.py",
                                                     .workloads = "nowhere",
                                                     .folder = FOLDER,
                                                     .kept = KEPT,
                                                     .family = {PLM_FAMILY_MLP},
                                                     .families = 1,
                                                     .rows = ROWS,
                                                     .seed = 1};

static void table_write(const struct plm_dataset *d)
{
    struct plm_csv table;
    struct plm_error error = {0};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < d->rows; i++)
        if (!d->row[i].line) { /* it would be made now */
            fclose(out);
            free(text);
            return;
        }
    MUST(plm_dataset_write(out, d, NULL, &error) == 0 && !fclose(out));
    MUST(plm_csv_take("dataset", text, size, &table, &error) == 0 && table.rows == ROWS);
    plm_csv_free(&table);
}

/* `before`: the file that was left; what is in its place afterwards is read again. */
static void dataset_read(const void *before, size_t size, bool anew)
{
    struct plm_dataset d;
    struct plm_error error = {0};
    MUST(plm_dataset_make(&settings, &d, &error) == 0);
    fuzz_place(KEPT, before, size);
    if (plm_dataset_resume(&d, anew, &error))
        fuzz_sentence(&error);
    else
        table_write(&d);
    plm_dataset_free(&d);
}

/* The line that a file of these settings begins with, and the input behind it. */
static char *with_settings(const uint8_t *data, size_t size, size_t *whole)
{
    static char head[2048];
    char *text;
    if (!head[0]) {
        FILE *in;
        dataset_read("", 0, true);
        in = fopen(KEPT, "re");
        MUST(in && fgets(head, sizeof head, in));
        fclose(in);
    }
    *whole = strlen(head) + size;
    text = malloc(*whole);
    MUST(text);
    memcpy(text, head, strlen(head));
    memcpy(text + strlen(head), data, size);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_csv table = {0};
    size_t whole;
    char *text = with_settings(data, size, &whole);
    dataset_read(data, size, false);
    dataset_read(text, whole, false);
    free(text);
    if (plm_csv_read(fuzz_file(data, size), &table, NULL))
        return 0;
    fuzz_place(FOLDER "/results.csv", data, size);
    fuzz_place(FOLDER "/record.plm", "", 0);
    results_read(&table, data, size);
    fuzz_place(FOLDER "/rows.csv", data, size);
    times_read(&table);
    plm_csv_free(&table);
    return 0;
}
