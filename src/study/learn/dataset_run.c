/*
 * Running the rows of a dataset: chunks of networks, and scripts one by one. Each is a child of ours that starts
 * `plimsoll run`, waits, reads the record and writes the lines of its rows; the parent only gathers them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/temporary.h"
#include "study/estimate/description.h"
#include "study/learn/dataset_parts.h"
#include "study/learn/example.h"
#include "study/learn/label.h"
#include "study/rows/chunk.h"
#include "study/rows/pool.h"

/* So many rows share an import; what is interrupted loses no more of them. Small networks take much less than it. */
static const size_t chunk_most[PLM_FAMILIES] = {
    [PLM_FAMILY_MLP] = 750, [PLM_FAMILY_CNN] = 25, [PLM_FAMILY_TRANSFORMER] = 25};
enum { CHUNK_ROWS = 750, LINES_FAILED = 2 };

struct task {
    size_t row[CHUNK_ROWS];
    size_t rows;
    char name[24];
};

struct work {
    struct plm_dataset *dataset;
    struct task *task;
    size_t tasks, room, next;
    size_t done, failed, made;
    double start;
    plm_dataset_progress *progress;
    void *context;
};

/* ---- which rows go together ---- */

static bool row_joins(const struct plm_dataset *d, const struct task *task, size_t row, size_t most)
{
    return task->rows < most && !d->row[row].script &&
           d->row[task->row[0]].network.family == d->row[row].network.family;
}

static void tasks_make(struct work *w)
{
    const struct plm_dataset *d = w->dataset;
    size_t waiting[PLM_FAMILIES] = {0};
    for (size_t i = 0; i < d->rows; i++)
        waiting[d->row[i].network.family] += !d->row[i].line;
    for (size_t i = 0; i < d->rows; i++) {
        const enum plm_family family = d->row[i].network.family;
        const size_t most = plm_chunk_rows(waiting[family], d->settings->jobs, chunk_most[family]);
        struct task *last = w->tasks ? &w->task[w->tasks - 1] : NULL;
        if (d->row[i].line)
            continue;
        if (!last || !row_joins(d, last, i, most)) {
            w->task = plm_grow(w->task, w->tasks, &w->room, sizeof *w->task);
            last = &w->task[w->tasks];
            last->rows = 0;
            snprintf(last->name, sizeof last->name, "chunk%zu", w->tasks++);
        }
        last->row[last->rows++] = i;
    }
}

static bool task_next(void *context, size_t *task)
{
    struct work *w = context;
    *task = w->next;
    w->next += w->next < w->tasks;
    return *task < w->tasks;
}

static void task_path(const struct work *w, const struct task *task, const char *end, char *out, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", task->name, end);
    plm_dataset_path(w->dataset, name, out, size);
}

static void description_path(const struct work *w, const struct task *task, size_t line, char *out, size_t size)
{
    char end[32];
    snprintf(end, sizeof end, "%zu.json", line);
    task_path(w, task, end, out, size);
}

/* ---- a chunk of networks ---- */

struct writing {
    const struct work *work;
    const struct task *task;
};

static void steps_put(FILE *out, const struct plm_generated *network)
{
    const struct plm_plan plan = plm_generated_plan(network);
    for (size_t i = 0; i < plan.steps; i++)
        fprintf(out, "%s%u", i ? " " : "", (unsigned)plan.step[i]);
}

static void rows_put(FILE *out, void *context)
{
    const struct writing *w = context;
    char path[4096];
    fputs("family", out);
    for (int i = 0; i < PLM_ARGUMENT_COUNT; i++)
        fprintf(out, ",%s", plm_argument_column[i]);
    fputs(",steps,description\n", out);
    for (size_t i = 0; i < w->task->rows; i++) {
        const struct plm_generated *network = &w->work->dataset->row[w->task->row[i]].network;
        fputs(plm_family_name[network->family], out);
        for (int k = 0; k < PLM_ARGUMENT_COUNT; k++) {
            fputc(',', out);
            plm_csv_put_exact(out, network->cell[k]);
        }
        fputc(',', out);
        steps_put(out, network);
        fputc(',', out);
        description_path(w->work, w->task, i, path, sizeof path);
        plm_csv_put_exact(out, path);
        fputc('\n', out);
    }
}

/* What was found out about a row. */
static void row_answer(FILE *out, const struct work *w, size_t row, const char *description,
                       const struct plm_dataset_answer *found)
{
    struct plm_dataset_answer answer = *found;
    struct plm_description *d = NULL;
    struct plm_example example = {0};
    if (plm_description_read(description, &d, NULL) == 0 && plm_example_describe(d, &example, NULL) == 0)
        answer.example = &example;
    fprintf(out, "%zu %d ", row, strcmp(answer.status, "ok") != 0);
    plm_dataset_put(out, w->dataset, &w->dataset->row[row], &answer);
    plm_example_free(&example);
    plm_description_free(d);
}

static void row_label(FILE *out, const struct work *w, const struct task *task, size_t line,
                      const struct plm_labeller *labeller, struct plm_chunk_end *end)
{
    const struct plm_plan plan = plm_generated_plan(&w->dataset->row[task->row[line]].network);
    struct plm_dataset_answer answer = {.torch = labeller->torch, .stack = labeller->stack, .status = "ok"};
    struct plm_labels labels;
    struct plm_error why;
    char path[4096];
    if (!end->why[0] && plm_label_process(labeller, end->pid, &plan, &labels, &why))
        snprintf(end->why, sizeof end->why, "%.190s", why.text);
    if (end->why[0])
        answer.status = end->why;
    else
        answer.labels = &labels;
    description_path(w, task, line, path, sizeof path);
    row_answer(out, w, task->row[line], path, &answer);
}

static bool none_ran(const struct plm_chunk_end *end, size_t rows)
{
    while (rows--)
        if (end[rows].pid)
            return false;
    return true;
}

/* If not even the first row was begun, something is wrong with all of them. */
static int chunk_read(FILE *out, const struct work *w, const struct task *task, const struct plm_chunk *chunk)
{
    const struct plm_dataset_settings *s = w->dataset->settings;
    struct plm_chunk_end *end = plm_calloc(task->rows, sizeof *end);
    struct plm_labeller labeller;
    struct plm_error error;
    int status = 0;
    plm_chunk_ends(chunk, end, task->rows);
    if (none_ran(end, task->rows)) {
        fprintf(out, "%s\n", end[0].why);
        status = LINES_FAILED;
    } else if (plm_labeller_open(&labeller, chunk->record, s->card, s->speeds, &error)) {
        fprintf(out, "%s\n", error.text);
        status = LINES_FAILED;
    } else {
        for (size_t i = 0; i < task->rows; i++)
            row_label(out, w, task, i, &labeller, &end[i]);
        plm_labeller_close(&labeller);
    }
    free(end);
    return status;
}

static int chunk_run(FILE *out, const struct work *w, const struct task *task)
{
    const struct plm_dataset_settings *s = w->dataset->settings;
    char record[4096];
    const struct plm_chunk chunk = {.folder = s->folder,
                                    .name = task->name,
                                    .record = record,
                                    .gpu = s->card->id,
                                    .stack = s->stack,
                                    .python = s->python,
                                    .script = s->script,
                                    .arguments = (const char *const[]){"--workloads", s->workloads, NULL}};
    int failure = 0;
    pid_t pid;
    task_path(w, task, "plm", record, sizeof record);
    pid = plm_chunk_start(&chunk, rows_put, &(struct writing){w, task}, &failure);
    if (pid < 0) {
        fprintf(out, "cannot start a process: %s\n", strerror(failure));
        return LINES_FAILED;
    }
    plm_child_wait(pid, NULL, NULL);
    return chunk_read(out, w, task, &chunk);
}

/* ---- a script of the user's ---- */

static int words_run(const char *const *words, const char *log)
{
    int failure;
    pid_t pid = plm_child_start(&(struct plm_child){.words = words, .self = true, .log = log}, &failure);
    return pid < 0 ? -1 : plm_child_wait(pid, NULL, NULL);
}

static int script_label(const struct work *w, const char *record, struct plm_labeller *labeller,
                        struct plm_labels *labels, struct plm_error *error)
{
    const struct plm_dataset_settings *s = w->dataset->settings;
    int status = plm_labeller_open(labeller, record, s->card, s->speeds, error);
    return status ? status : plm_label_job(labeller, labels, error);
}

static int script_run(FILE *out, const struct work *w, const struct task *task)
{
    const struct plm_dataset_settings *s = w->dataset->settings;
    struct plm_labeller labeller = {.stack = "none"};
    struct plm_dataset_answer answer = {.torch = labeller.torch, .stack = labeller.stack, .status = "ok"};
    struct plm_labels labels;
    struct plm_error error = {0};
    char record[4096], log[4096], description[4096], script[4096], line[PLM_LAST_LINE];
    const char *const run[] = {"plimsoll",
                               "run",
                               "--gpu",
                               s->card->id,
                               "--detail",
                               "full",
                               "-f",
                               "-o",
                               record,
                               "--stack",
                               s->stack ? s->stack : "auto",
                               "--",
                               s->python,
                               script,
                               NULL};
    const char *const describe[] = {"plimsoll", "describe", "-f", "-o", description, "--", s->python, script, NULL};
    snprintf(script, sizeof script, "%.3800s/%.250s", s->from, w->dataset->row[task->row[0]].script);
    task_path(w, task, "plm", record, sizeof record);
    task_path(w, task, "log", log, sizeof log);
    description_path(w, task, 0, description, sizeof description);
    words_run(run, log);
    if (script_label(w, record, &labeller, &labels, &error) == 0)
        answer.labels = &labels;
    else {
        plm_child_last_line(fopen(log, "re"), false, line);
        answer.status = line[0] ? line : error.text;
    }
    words_run(describe, log);
    row_answer(out, w, task->row[0], description, &answer);
    if (labeller.job)
        plm_labeller_close(&labeller);
    return 0;
}

/* ---- a task ---- */

struct doing {
    const struct work *work;
    const struct task *task;
};

static int task_do(void *context)
{
    const struct doing *d = context;
    const struct work *w = d->work;
    char path[4096];
    bool failed;
    int status;
    FILE *out;
    setenv("OMP_NUM_THREADS", "1", 0); /* nothing is computed that would gain by more */
    task_path(w, d->task, "lines", path, sizeof path);
    out = fopen(path, "we");
    if (!out)
        return EXIT_FAILURE;
    status = w->dataset->row[d->task->row[0]].script ? script_run(out, w, d->task) : chunk_run(out, w, d->task);
    failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    return failed ? EXIT_FAILURE : status;
}

static pid_t task_start(void *context, size_t task, int *failure)
{
    struct work *w = context;
    struct doing doing = {w, &w->task[task]};
    return plm_child_start(&(struct plm_child){.body = task_do, .context = &doing}, failure);
}

static void task_clear(const struct work *w, const struct task *task)
{
    static const char *const ends[] = {"plm", "csv", "csv.done", "csv.errors", "log", "lines"};
    char path[4096];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        task_path(w, task, ends[i], path, sizeof path);
        plm_temporary_remove(path);
    }
    for (size_t i = 0; i < task->rows; i++) {
        description_path(w, task, i, path, sizeof path);
        plm_temporary_remove(path);
    }
}

static int task_take(struct work *w, const struct task *task, char *text, struct plm_error *error)
{
    int status = plm_dataset_keep(w->dataset, text, error);
    if (status)
        return status;
    plm_dataset_take(w->dataset, text);
    for (size_t i = 0; i < task->rows; i++) {
        const struct plm_dataset_row *row = &w->dataset->row[task->row[i]];
        if (!row->line)
            return plm_fail(error, PLM_EIO, "the lines of some rows are missing");
        w->failed += row->failed;
    }
    w->done += task->rows;
    w->made += task->rows;
    return 0;
}

static int task_end(void *context, size_t index, int wait_status, const struct rusage *usage, struct plm_error *error)
{
    struct work *w = context;
    const struct task *task = &w->task[index];
    char path[4096], *text;
    int status;
    (void)usage;
    task_path(w, task, "lines", path, sizeof path);
    text = plm_dataset_text(fopen(path, "re"));
    if (text && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
        status = task_take(w, task, text, error);
    else if (text && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == LINES_FAILED)
        status = plm_fail(error, PLM_EIO, "the rows could not be run: %.*s", (int)strcspn(text, "\n"), text);
    else
        status = plm_fail(error, PLM_EIO, "a process that runs rows failed; run the same command to continue");
    free(text);
    task_clear(w, task);
    return status;
}

static void progress_show(void *context)
{
    const struct work *w = context;
    w->progress(w->done, w->failed, w->dataset->rows, plm_now() - w->start, w->made, w->context);
}

int plm_dataset_run(struct plm_dataset *dataset, plm_dataset_progress *progress, void *context, struct plm_error *error)
{
    struct work w = {.dataset = dataset, .start = plm_now(), .progress = progress, .context = context};
    const struct plm_rows_pool pool = {.jobs = dataset->settings->jobs,
                                       .context = &w,
                                       .next = task_next,
                                       .start = task_start,
                                       .end = task_end,
                                       .again = "run the same command to continue with the rows so far",
                                       .progress = progress ? progress_show : NULL};
    int status;
    tasks_make(&w);
    for (size_t i = 0; i < dataset->rows; i++) {
        w.done += dataset->row[i].line != NULL;
        w.failed += dataset->row[i].failed;
    }
    status = plm_rows_pool_run(&pool, error);
    free(w.task);
    return status;
}
