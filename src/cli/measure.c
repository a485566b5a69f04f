#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/child.h"
#include "common/error.h"
#include "base/install.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "study/measure/meter.h"
#include "study/measure/row.h"
#include "study/measure/watch.h"
#include "base/draw.h"

/* How still the card must be before and after: equal samples in a row, and for how long to wait for that. */
enum { SETTLE = 50, PATIENCE_MS = 3000, SAMPLE_US = 1000 };

struct request {
    struct plm_look look;
    const char *output, *family, *model, *run;
    int interval; /* milliseconds */
    int batch;    /* 0: as it was seen */
    char **command;
    struct plm_install install;
    struct plm_meter meter;
    struct plm_watch watch;
    uint64_t before;  /* bytes of the card in use before the command was started */
    bool still;       /* these did not move */
    char folder[PLM_SCRATCH]; /* where processes leave what they measured */
};

static const struct plm_option options[] = {
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "the truth file to append to (default truth.csv)",
     .complete = PLM_COMPLETE_FILE, .among = "csv", .configurable = true, .own = true},
    {"family", 0, PLM_OPTION_TEXT, AT(family), "NAME", .help = "the model family (default: the script's name)"},
    {"model", 0, PLM_OPTION_TEXT, AT(model), "NAME", .help = "the model (default: its class)"},
    {"run", 0, PLM_OPTION_TEXT, AT(run), "NAME", .help = "name of the row (default: model, optimizer, batch and time)"},
    {"batch", 0, PLM_OPTION_NUMBER, AT(batch), "N", .help = "the batch size, if it cannot be detected", .least = 1},
    {"interval", 0, PLM_OPTION_NUMBER, AT(interval), "MS", .help = "milliseconds between memory samples (default 1)",
     .least = 1, .most = 1000, .configurable = true},
    {.include = plm_cli_option_look, .at = AT(look)},
    {0},
};

static int measure_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int rest, status = plm_options_parse(options, r, "measure", argc, argv, &rest, error);
    if (status < 0)
        return status;
    if (rest >= argc)
        return plm_fail(error, PLM_EINVAL,
                        "no command given; write `plimsoll measure -o TRUTH.csv -- python train.py`");
    r->command = argv + rest;
    return plm_measured_check(r->output, error);
}

/* ---- the command ---- */

static void measure_prepare(void *context)
{
    const struct request *r = context;
    char number[32];
    snprintf(number, sizeof number, "%d", r->interval * 1000);
    setenv("PLIMSOLL_MEASURE", r->folder, 1);
    setenv("PLIMSOLL_MEASURE_CARD", r->meter.uuid, 1);
    setenv("PLIMSOLL_MEASURE_INTERVAL", number, 1);
    snprintf(number, sizeof number, "%d", SETTLE);
    setenv("PLIMSOLL_MEASURE_SETTLE", number, 1);
    setenv("PLIMSOLL_SAMPLER", r->install.sampler, 1);
    plm_prepend("PYTHONPATH", r->install.capture);
}

static void measure_progress(struct plm_progress_line *line, void *context)
{
    struct request *r = context;
    uint64_t used = 0;
    char text[32];
    plm_meter_used(&r->meter, &used);
    snprintf(line->what, sizeof line->what, "measuring");
    snprintf(line->detail, sizeof line->detail, "%s in use on the GPU", plm_size_text(text, sizeof text, used));
}

/* Each process that imported PyTorch left a file. Of those that used the card there should be one; *m is it, or the last that did
   not. Returns how many did. */
static int measure_collect(const struct request *r, struct plm_measured *m, int *processes, struct plm_error *error)
{
    DIR *folder = opendir(r->folder);
    struct dirent *entry;
    int watched = 0;
    *processes = 0;
    *m = (struct plm_measured){0};
    while (folder && (entry = readdir(folder))) {
        size_t length = strlen(entry->d_name);
        struct plm_measured one;
        char path[PATH_MAX];
        if (length < 4 || strcmp(entry->d_name + length - 4, ".ini") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", r->folder, entry->d_name);
        if (plm_measured_read(path, &one, error) < 0) {
            closedir(folder);
            return -1;
        }
        ++*processes;
        watched += one.watched;
        if (one.watched || !watched)
            *m = one;
    }
    if (folder)
        closedir(folder);
    return watched;
}

/* ---- what it came to ---- */

/* Why there is no row; an exit status, 0 if there is one. */
static int measure_judge(const struct request *r, int status, int watched, int processes, struct plm_measured *m,
                         struct plm_error *why)
{
    bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    m->oom = failed && m->ooms && (!*m->exception || strstr(m->exception, "OutOfMemoryError"));
    if (WIFSIGNALED(status)) {
        plm_fail(why, PLM_EINVAL, "the command was killed by signal %d (%s): no row was written", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        return PLM_EXIT_COMMAND;
    }
    if (failed && !m->oom) {
        plm_fail(why, PLM_EINVAL, "the command failed with status %d: no row was written", WEXITSTATUS(status));
        return PLM_EXIT_COMMAND;
    }
    if (watched == 1 && *m->uuid && !strstr(r->meter.uuid, m->uuid))
        plm_fail(why, PLM_EINVAL, "the command used another GPU (%.96s) than the monitored one: no row was written",
                 m->uuid);
    else if (watched == 1 && m->failed_samples)
        plm_fail(why, PLM_EINVAL, "the driver failed to answer %llu times: no row was written",
                 (unsigned long long)m->failed_samples);
    else if (watched == 1 && !m->batch && !r->batch)
        plm_fail(why, PLM_EINVAL, "the batch size could not be detected: no row was written; add --batch N");
    else if (watched == 1)
        return PLM_EXIT_OK;
    else if (watched > 1)
        plm_fail(why, PLM_EINVAL, "%d processes of the command used the GPU, but a row describes one process", watched);
    else if (!processes)
        plm_fail(why, PLM_EINVAL,
                 "no Python process of the command imported PyTorch and exited normally (python -I and -S disable the "
                 "hook)");
    else if (!strcmp(m->trouble, "cpu-only"))
        plm_fail(why, PLM_EINVAL, "the command's PyTorch (%.60s) is not a CUDA build", m->torch);
    else if (*m->trouble)
        plm_fail(why, PLM_EINVAL, "the GPU could not be monitored: %.200s", m->trouble);
    else
        plm_fail(why, PLM_EINVAL, "the command did not use the GPU: no row was written");
    return PLM_EXIT_NOTHING;
}

/* Memory that others took or gave back: before the job, or between its start and its end. */
static void look_for_others(const struct request *r, struct plm_measured *m)
{
    uint64_t after = 0;
    bool still = plm_meter_settle(&r->meter, SAMPLE_US, SETTLE, PATIENCE_MS, &after);
    m->disturbed = !r->still || !still || !m->settled || m->first != r->before || after != m->first;
}

/* How busy the card was between the first step that was timed and the last. */
static void add_activity(const struct request *r, struct plm_measured *m)
{
    if (plm_measured_timed(m))
        plm_watch_mean(&r->watch, m->steps_begin, m->steps_end, &m->activity, m->metrics_source,
                       sizeof m->metrics_source);
}

static void name_row(const struct request *r, struct plm_measured *m)
{
    char script[64];
    struct tm utc;
    time_t now = time(NULL);
    plm_cli_job_name(script, sizeof script, r->command);
    snprintf(m->family, sizeof m->family, "%s", r->family ? r->family : script);
    if (r->model)
        snprintf(m->model, sizeof m->model, "%s", r->model);
    else if (!*m->model)
        snprintf(m->model, sizeof m->model, "%s", script);
    if (r->batch)
        m->batch = (uint64_t)r->batch;
    m->interval_us = (uint64_t)r->interval * 1000;
    snprintf(m->driver, sizeof m->driver, "%s", r->meter.driver);
    strftime(m->measured, sizeof m->measured, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (r->run)
        snprintf(m->run, sizeof m->run, "%s", r->run);
    else
        snprintf(m->run, sizeof m->run, "%.40s_%.30s_%llu_%llx", m->model, m->optimizer, (unsigned long long)m->batch,
                 (unsigned long long)now);
}

/* "  SM active        62.5 %  (DCGM's SMACT)": a line for each, as for memory. */
static void activity_show(const struct plm_reading *activity, const char *source)
{
    char name[16];
    for (int i = 0; i < PLM_METRICS; i++) {
        if (!activity->given[i])
            continue;
        snprintf(name, sizeof name, "%s", plm_metric_name((enum plm_metric)i));
        for (char *at = name; *at; at++)
            *at = (char)toupper((unsigned char)*at);
        printf("  %-15s %5.1f %%  (DCGM's %s)\n", plm_metric_words((enum plm_metric)i), 100 * activity->value[i], name);
    }
    printf("Utilization during these steps, read from %s.\n", source);
}

/* The step's time and the metrics; or one sentence that says why they are not given. */
static void time_show(const struct plm_measured *m, const char *trouble)
{
    if (m->virtual) {
        puts("No step time: the virtual GPU computes nothing, so times there mean nothing.");
    } else if (!plm_measured_timed(m)) {
        puts("No step time: it needs at least three optimizer steps.");
    } else {
        printf("  %-12s %.3f ms, median of %llu steps after the warm-up; mean %.3f ms\n", "step time",
               (double)m->step_ns / 1e6, (unsigned long long)m->steps_timed, (double)m->step_mean_ns / 1e6);
        if (*m->metrics_source)
            activity_show(&m->activity, m->metrics_source);
        else
            puts("No metrics: DCGM and NVML reported none during these steps; run for a few seconds.");
        if (*trouble)
            printf("Nothing from DCGM: %s.\n", trouble);
    }
}

static void measure_show(const struct request *r, const struct plm_measured *m)
{
    const struct plm_page p = plm_look_page(&r->look, stdout);
    const struct {
        const char *name;
        uint64_t bytes;
        const char *what;
    } line[] = {
        {"allocated", m->allocated, "peak of PyTorch's tensors"},
        {"reserved", m->reserved, "peak of PyTorch's segments"},
        {"device used", plm_measured_used(m), "largest sample minus the baseline sample"},
        {"context", m->context, "part of it used before PyTorch's first allocation"},
    };
    char amount[32];
    printf("%s%s%s on ", plm_ink(&p, PLM_INK_BOLD), m->oom ? "Ran out of memory" : "Measured",
           plm_ink(&p, PLM_INK_PLAIN));
    plm_page_name(&p, m->gpu, 0, 0);
    fputs(": ", stdout);
    plm_page_name(&p, m->model, 0, 0);
    printf(", batch %llu, ", (unsigned long long)m->batch);
    plm_page_name(&p, *m->optimizer ? m->optimizer : "no optimizer", 0, 0);
    printf(", %llu steps, %llu samples.\n", (unsigned long long)m->steps, (unsigned long long)m->samples);
    for (size_t i = 0; i < sizeof line / sizeof line[0]; i++)
        printf("  %-12s %*s  %s\n", line[i].name, plm_page_amount_columns(&p),
               plm_page_amount(&p, amount, sizeof amount, line[i].bytes), line[i].what);
    time_show(m, r->watch.trouble);
    if (m->disturbed)
        printf("%sDisturbed%s: another process changed the GPU's memory; the row is marked.\n",
               plm_ink(&p, PLM_INK_YELLOW), plm_ink(&p, PLM_INK_PLAIN));
    fputs("Row added to ", stdout);
    plm_page_name(&p, r->output, 0, 0);
    fputs(".\n", stdout);
}

static int measure_finish(const struct request *r, int status)
{
    struct plm_measured m;
    struct plm_error error = {0};
    int processes, watched = measure_collect(r, &m, &processes, &error), result;
    if (watched < 0)
        return plm_fault(&error);
    result = measure_judge(r, status, watched, processes, &m, &error);
    if (result)
        return plm_complain(result, error.text);
    look_for_others(r, &m);
    add_activity(r, &m);
    name_row(r, &m);
    if (plm_measured_append(r->output, &m, &error) < 0)
        return plm_fault(&error);
    measure_show(r, &m);
    return PLM_EXIT_OK;
}

static int measure_command(struct request *r)
{
    const struct plm_child start = {.words = (const char *const *)r->command, .prepare = measure_prepare, .context = r};
    struct plm_error error = {0};
    int failure, status;
    pid_t child;
    if (plm_meter_choose(&r->meter, getenv("CUDA_VISIBLE_DEVICES"), getenv("CUDA_DEVICE_ORDER"), &error) < 0)
        return plm_fault(&error);
    r->still = plm_meter_settle(&r->meter, SAMPLE_US, SETTLE, PATIENCE_MS, &r->before);
    if (plm_scratch_make("measure", r->folder, &error) < 0)
        return plm_fault(&error);
    plm_watch_start(&r->watch, &r->meter);
    plm_child_forward_signals();
    child = plm_child_start(&start, &failure);
    status = child < 0 ? 0 : plm_await(child, measure_progress, r);
    plm_watch_stop(&r->watch);
    status = child < 0 ? plm_could_not_start(r->command, failure) : measure_finish(r, status);
    plm_watch_free(&r->watch);
    plm_scratch_remove(r->folder);
    return status;
}

static int measure_run(int argc, char **argv)
{
    struct request r = {.output = "truth.csv", .look = PLM_LOOK, .interval = 1};
    struct plm_error error;
    int status;
    if (measure_parse(&r, argc, argv, &error) < 0)
        return plm_fault(&error);
    if (plm_install_find(&r.install, &error) < 0 || plm_meter_open(&r.meter, &error) < 0)
        return plm_fault(&error);
    status = measure_command(&r);
    plm_meter_close(&r.meter);
    return status;
}

const struct plm_command plm_command_measure = {
    .name = "measure",
    .line = "on a real GPU: run a command and record its memory and time",
    .words = "-- COMMAND...",
    .options = options,
    .example = {"plimsoll measure -o truth.csv --family cnn --model resnet50 -- python train.py"},
    .exit = {{PLM_EXIT_OK, "a row was added"},
             {PLM_EXIT_USAGE, "usage, or several GPUs"},
             {PLM_EXIT_NOTHING, "the command used no GPU, or several of its processes did, or its PyTorch is not a "
                                "CUDA build, or the file has other columns"},
             {PLM_EXIT_CANNOT, "there is no NVIDIA driver, or the row cannot be written"}},
    .run = measure_run,
};
