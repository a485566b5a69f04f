#include "study/evaluate/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "study/rows/key.h"

/* Everything that decides what the run comes to; what is in files stands for itself by size and time. */
static void make_key(const struct plm_bench_settings *s, struct plm_bench_run *run)
{
    const struct plm_truth_row *r = run->row;
    uint64_t key = plm_rows_key_text(plm_rows_key_text(PLM_KEY, r->model), r->optimizer);
    char text[64];
    snprintf(text, sizeof text, "%llu %d", (unsigned long long)r->batch, r->zero_grad);
    key = plm_rows_key_text(plm_rows_key_text(key, text), run->card);
    key = plm_rows_key_text(plm_rows_key_text(key, s->common.python), s->common.stack ? s->common.stack : "");
    key = plm_rows_key_file(key, s->common.workloads->folder, run->workload->script);
    key = plm_rows_key_file(key, s->common.workloads->folder, "workloads.ini");
    key = plm_rows_key_device(key, &s->common.catalogue->install);
    snprintf(run->key, sizeof run->key, "%016llx", (unsigned long long)key);
    /* The methods are in this very program. */
    key = plm_rows_key_file(plm_rows_key_file(key, "/proc/self/exe", ""), s->model_path ? s->model_path : "", "");
    snprintf(run->ask_key, sizeof run->ask_key, "%016llx", (unsigned long long)key);
}

/* "truth.csv:12: ", or what stands for a run that is in no file. */
static const char *row_place(const struct plm_truth *truth, const struct plm_truth_row *row, char *out, size_t size)
{
    if (row->line)
        snprintf(out, size, "%.200s:%u", truth->table.path, row->line);
    else
        snprintf(out, size, "the run of %.60s, %.60s in the design", row->family, row->model);
    return out;
}

static int describe(const struct plm_bench_settings *s, const struct plm_truth *truth, const struct plm_truth_row *row,
                    struct plm_bench_run *run, struct plm_error *error)
{
    const char *gpu = s->common.gpu ? s->common.gpu : row->gpu;
    const struct plm_catalogue_entry *entry;
    struct plm_error why;
    char where[256];
    *run = (struct plm_bench_run){.row = row, .workload = plm_workloads_find(s->common.workloads, row->family)};
    if (!run->workload)
        return plm_fail(error, PLM_EFORMAT, "%s: there is no workload for the family \"%.60s\" in %.100s",
                        row_place(truth, row, where, sizeof where), row->family, s->common.workloads->folder);
    if (!*gpu)
        return plm_fail(error, PLM_EFORMAT, "%s: the row has no gpu; give one with --gpu",
                        row_place(truth, row, where, sizeof where));
    if (plm_catalogue_find(s->common.catalogue, gpu, &entry, &why) < 0)
        return plm_fail(error, PLM_EFORMAT, "%s: %.200s", row_place(truth, row, where, sizeof where), why.text);
    run->device = entry->card;
    snprintf(run->card, sizeof run->card, "%s", entry->card.id);
    run->usable = entry->card.memory_usable;
    run->total = entry->card.memory_total;
    make_key(s, run);
    return 0;
}

static size_t run_find(const struct plm_bench *bench, const char *key)
{
    for (size_t i = 0; i < bench->runs; i++)
        if (!strcmp(bench->run[i].key, key))
            return i;
    return bench->runs;
}

int plm_bench_make(const struct plm_bench_settings *settings, const struct plm_truth *truth, struct plm_bench *bench,
                   struct plm_error *error)
{
    int status = 0;
    *bench = (struct plm_bench){.settings = settings, .truth = truth};
    bench->run = plm_calloc(truth->rows, sizeof *bench->run);
    bench->run_of_row = plm_calloc(truth->rows, sizeof *bench->run_of_row);
    bench->reply = plm_calloc(truth->rows, (settings->methods + 1) * sizeof *bench->reply);
    for (size_t i = 0; status == 0 && i < truth->rows; i++) {
        struct plm_bench_run run;
        bench->run_of_row[i] = SIZE_MAX;
        if (!plm_truth_row_has(&truth->row[i], settings->common.pattern))
            continue;
        status = describe(settings, truth, &truth->row[i], &run, error);
        if (status)
            break;
        bench->run_of_row[i] = run_find(bench, run.key);
        if (bench->run_of_row[i] == bench->runs) {
            run.reply = bench->reply + bench->runs * settings->methods;
            run.asked = !settings->methods;
            bench->run[bench->runs++] = run;
        }
    }
    if (status == 0 && !bench->runs)
        status = plm_fail(error, PLM_EINVAL, "no row of %.200s contains \"%.60s\"", truth->table.path,
                          settings->common.pattern ? settings->common.pattern : "");
    if (status)
        plm_bench_free(bench);
    return status;
}

void plm_bench_free(struct plm_bench *bench)
{
    free(bench->run);
    free(bench->run_of_row);
    free(bench->reply);
    *bench = (struct plm_bench){0};
}

void plm_bench_path(const struct plm_bench *bench, size_t run, const char *end, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%s.%s", bench->settings->common.scratch, bench->run[run].key, end);
}

pid_t plm_bench_start(const struct plm_bench *bench, size_t index, const char *const *first, const char *log,
                      int *failure)
{
    const struct plm_bench_settings *s = bench->settings;
    const struct plm_bench_run *run = &bench->run[index];
    char script[4096], batch[24], mode[12];
    const char *const command[] = {"--", s->common.python, script, "--model", run->row->model, "--batch", batch};
    const char *word[48];
    int n = 0;
    snprintf(script, sizeof script, "%.3800s/%.200s", s->common.workloads->folder, run->workload->script);
    snprintf(batch, sizeof batch, "%llu", (unsigned long long)run->row->batch);
    snprintf(mode, sizeof mode, "%d", run->row->zero_grad);
    while (*first)
        word[n++] = *first++;
    for (size_t i = 0; i < sizeof command / sizeof command[0]; i++)
        word[n++] = command[i];
    if (*run->row->optimizer) {
        word[n++] = "--optimizer";
        word[n++] = run->row->optimizer;
    }
    if (run->row->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN) {
        word[n++] = "--zero-grad";
        word[n++] = mode;
    }
    word[n] = NULL;
    return plm_child_start(&(struct plm_child){.words = word, .self = true, .log = log}, failure);
}

uint64_t plm_bench_missing(const struct plm_bench *bench, size_t run)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < bench->settings->methods; i++)
        if (!bench->run[run].reply[i].known || bench->run[run].reply[i].failed)
            mask |= 1ull << i;
    return mask;
}
