#include "study/evaluate/time_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/append.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/search.h"
#include "study/rows/key.h"

/* ---- a row, as its workload gets it ---- */

static const char *const own_columns[] = {"mode", "batch_size", "image_size", "layout", "precision"};
enum { OWN = sizeof own_columns / sizeof own_columns[0] };

static bool column_passed(const char *name)
{
    for (int i = 0; i < OWN; i++)
        if (!strcmp(name, own_columns[i]))
            return false;
    return !plm_timed_truth_measured(name);
}

void plm_timed_run_put_head(FILE *out, const struct plm_timed_bench *bench)
{
    const struct plm_csv *t = &bench->truth->table;
    for (size_t i = 0; i < t->columns; i++)
        if (column_passed(plm_csv_name(t, i))) {
            plm_csv_put_exact(out, plm_csv_name(t, i));
            fputc(',', out);
        }
    for (int i = 0; i < OWN; i++)
        fprintf(out, "%s%c", own_columns[i], i + 1 < OWN ? ',' : '\n');
}

/* Options of the command come before the row. */
static void own_cells(const struct plm_timed_settings *s, const struct plm_timed_row *row, char cell[OWN][32])
{
    snprintf(cell[0], sizeof cell[0], "%s", row->mode);
    snprintf(cell[1], sizeof cell[1], row->batch ? "%llu" : "", (unsigned long long)row->batch);
    snprintf(cell[2], sizeof cell[2], row->image ? "%llu" : "", (unsigned long long)row->image);
    snprintf(cell[3], sizeof cell[3], "%s", s->layout ? s->layout : row->layout);
    snprintf(cell[4], sizeof cell[4], "%s", s->precision ? s->precision : row->precision);
}

void plm_timed_run_put(FILE *out, const struct plm_timed_bench *bench, const struct plm_timed_run *run)
{
    const struct plm_csv *t = &bench->truth->table;
    char cell[OWN][32];
    for (size_t i = 0; i < t->columns; i++)
        if (column_passed(plm_csv_name(t, i))) {
            plm_csv_put_exact(out, plm_csv_cell(t, run->row->at, (int)i));
            fputc(',', out);
        }
    own_cells(bench->settings, run->row, cell);
    for (int i = 0; i < OWN; i++) {
        plm_csv_put_exact(out, cell[i]);
        fputc(i + 1 < OWN ? ',' : '\n', out);
    }
}

/* ---- which rows ---- */

static void key_make(const struct plm_timed_bench *bench, struct plm_timed_run *run)
{
    const struct plm_timed_settings *s = bench->settings;
    const struct plm_csv *t = &bench->truth->table;
    uint64_t key = plm_rows_key_text(PLM_KEY, run->card.id);
    char cell[OWN][32];
    for (size_t i = 0; i < t->columns; i++)
        if (column_passed(plm_csv_name(t, i)))
            key = plm_rows_key_text(plm_rows_key_text(key, plm_csv_name(t, i)), plm_csv_cell(t, run->row->at, (int)i));
    own_cells(s, run->row, cell);
    for (int i = 0; i < OWN; i++)
        key = plm_rows_key_text(key, cell[i]);
    key = plm_rows_key_text(plm_rows_key_text(key, s->common.python), s->common.stack ? s->common.stack : "");
    key = plm_rows_key_file(key, s->common.workloads->folder, run->workload->script);
    key = plm_rows_key_device(key, &s->common.catalogue->install);
    snprintf(run->key, sizeof run->key, "%016llx", (unsigned long long)key);
}

static int run_make(const struct plm_timed_bench *bench, const struct plm_timed_row *row, struct plm_timed_run *run,
                    struct plm_error *error)
{
    const struct plm_timed_settings *s = bench->settings;
    const char *gpu = s->common.gpu ? s->common.gpu : row->gpu, *path = bench->truth->table.path;
    const struct plm_catalogue_entry *entry;
    struct plm_error why;
    *run = (struct plm_timed_run){.row = row, .workload = plm_workloads_find(s->common.workloads, row->family)};
    if (!run->workload || !run->workload->rows)
        return plm_fail(error, PLM_EFORMAT,
                        "%.200s:%u: there is no workload for the family \"%.60s\" in %.100s that takes rows", path,
                        row->line, row->family, s->common.workloads->folder);
    if (!*gpu)
        return plm_fail(error, PLM_EFORMAT, "%.200s:%u: the row has no gpu; give one with --gpu", path, row->line);
    if (plm_catalogue_find(s->common.catalogue, gpu, &entry, &why) < 0)
        return plm_fail(error, PLM_EFORMAT, "%.200s:%u: %.200s", path, row->line, why.text);
    run->card = entry->card;
    key_make(bench, run);
    return 0;
}

int plm_timed_bench_make(const struct plm_timed_settings *settings, const struct plm_timed_truth *truth,
                         struct plm_timed_bench *bench, struct plm_error *error)
{
    int status = 0;
    *bench = (struct plm_timed_bench){.settings = settings, .truth = truth};
    bench->run = plm_calloc(truth->rows, sizeof *bench->run);
    for (size_t i = 0; i < truth->rows && status == 0; i++)
        if (plm_timed_row_has(truth, &truth->row[i], settings->common.pattern)) {
            status = run_make(bench, &truth->row[i], &bench->run[bench->runs], error);
            bench->runs += status == 0;
        }
    if (status == 0 && !bench->runs)
        status = plm_fail(error, PLM_EINVAL, "no row of %.200s contains \"%.60s\"", truth->table.path,
                          settings->common.pattern ? settings->common.pattern : "");
    if (status)
        plm_timed_bench_free(bench);
    return status;
}

void plm_timed_bench_free(struct plm_timed_bench *bench)
{
    for (size_t i = 0; i < bench->records; i++)
        plm_works_free(&bench->record[i].works);
    free(bench->record);
    free(bench->run);
    *bench = (struct plm_timed_bench){0};
}

/* ---- what the folder has ---- */

static void index_path(const struct plm_timed_bench *bench, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/rows.csv", bench->settings->common.folder);
}

void plm_timed_record_path(const struct plm_timed_bench *bench, const char *record, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%s.plm", bench->settings->common.folder, record);
}

const char plm_timed_rows_head[] = "key,record,pid,family,model,gpu,why";

struct notes {
    const struct plm_timed_bench *bench;
    const size_t *run;
    size_t runs;
};

static void notes_write(FILE *out, bool head, const void *what)
{
    const struct notes *n = what;
    if (head)
        fprintf(out, "%s\n", plm_timed_rows_head);
    for (size_t i = 0; i < n->runs; i++) {
        const struct plm_timed_run *r = &n->bench->run[n->run[i]];
        struct plm_lines l = {out, false};
        plm_lines_cell(&l, true, "%s,%s,%llu", r->key, r->record, (unsigned long long)r->pid);
        plm_lines_text(&l, r->row->family);
        plm_lines_text(&l, r->row->model);
        plm_lines_cell(&l, true, "%s", r->card.id);
        plm_lines_text(&l, r->why);
        plm_lines_end(&l);
    }
}

int plm_timed_bench_note(const struct plm_timed_bench *bench, const size_t *run, size_t runs, struct plm_error *error)
{
    char path[4096];
    index_path(bench, path, sizeof path);
    return plm_append(path, notes_write, &(struct notes){bench, run, runs}, error);
}

/* A name of ours: nothing of a file that somebody changed leads out of the folder. */
static bool record_name_valid(const char *name)
{
    return *name && strlen(name) < sizeof((struct plm_timed_run *)0)->record && !strpbrk(name, "/.");
}

static void run_resume(const struct plm_timed_bench *bench, const struct plm_csv *t, size_t row,
                       struct plm_timed_run *run)
{
    const char *record = plm_csv_cell(t, row, plm_csv_column(t, "record"));
    char path[4096];
    if (!record_name_valid(record))
        return;
    plm_timed_record_path(bench, record, path, sizeof path);
    run->known = !*plm_csv_cell(t, row, plm_csv_column(t, "why")) && access(path, R_OK) == 0;
    strcpy(run->record, record);
    run->pid = strtoull(plm_csv_cell(t, row, plm_csv_column(t, "pid")), NULL, 10);
}

static int key_order(const void *a, const void *b)
{
    return strcmp((*(struct plm_timed_run *const *)a)->key, (*(struct plm_timed_run *const *)b)->key);
}

/* Later lines replace earlier ones; what failed is run again. */
int plm_timed_bench_resume(struct plm_timed_bench *bench, struct plm_error *error)
{
    struct plm_timed_run **sorted;
    struct plm_csv t;
    char path[4096];
    int status, column;
    index_path(bench, path, sizeof path);
    if (access(path, F_OK))
        return 0;
    status = plm_csv_read(path, &t, error);
    if (status)
        return status;
    column = plm_csv_column(&t, "key");
    sorted = plm_calloc(bench->runs, sizeof(struct plm_timed_run *));
    for (size_t i = 0; i < bench->runs; i++)
        sorted[i] = &bench->run[i];
    qsort(sorted, bench->runs, sizeof(struct plm_timed_run *), key_order);
    for (size_t row = 0; row < t.rows; row++) {
        const char *key = plm_csv_cell(&t, row, column);
        size_t at = PLM_SEARCH(i, bench->runs, strcmp(sorted[i]->key, key) < 0);
        for (; at < bench->runs && !strcmp(sorted[at]->key, key); at++)
            run_resume(bench, &t, row, sorted[at]);
    }
    free(sorted);
    plm_csv_free(&t);
    return 0;
}

/* ---- records ---- */

static int record_load(struct plm_timed_bench *bench, const char *name, size_t *at, struct plm_error *error)
{
    struct plm_timed_record record = {0};
    char path[4096];
    int status;
    for (*at = 0; *at < bench->records; ++*at)
        if (!strcmp(bench->record[*at].name, name))
            return 0;
    plm_timed_record_path(bench, name, path, sizeof path);
    status = plm_works_read(path, &record.works, error);
    if (status)
        return status;
    strcpy(record.name, name);
    bench->record = plm_grow(bench->record, bench->records, &bench->record_room, sizeof *bench->record);
    bench->record[bench->records++] = record;
    return 0;
}

static const struct plm_work_lane *lane_of(const struct plm_works *works, uint64_t pid)
{
    const struct plm_work_lane *most = NULL;
    for (size_t i = 0; i < works->lanes; i++)
        if (works->lane[i].pid == pid && (!most || works->lane[i].calls > most->calls))
            most = &works->lane[i];
    return most;
}

/* A record that cannot be read is said of each of its rows. The array moves while it grows, so rows are led to it
   afterwards. */
int plm_timed_bench_load(struct plm_timed_bench *bench, struct plm_error *error)
{
    size_t *record = plm_calloc(bench->runs, sizeof *record);
    struct plm_error why;
    (void)error;
    for (size_t i = 0; i < bench->runs; i++) {
        struct plm_timed_run *run = &bench->run[i];
        if (!run->why[0] && record_load(bench, run->record, &record[i], &why) < 0)
            snprintf(run->why, sizeof run->why, "%.190s", why.text);
    }
    for (size_t i = 0; i < bench->runs; i++) {
        struct plm_timed_run *run = &bench->run[i];
        if (run->why[0])
            continue;
        run->works = &bench->record[record[i]].works;
        run->lane = lane_of(run->works, run->pid);
        if (!run->lane)
            snprintf(run->why, sizeof run->why, "did not use the GPU");
    }
    free(record);
    return 0;
}
