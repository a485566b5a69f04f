/* Jobs of some rows, run by themselves as their user would: captured on the CPU for the methods that look at more than
   the numbers of a row, and run on the virtual GPU to know how long that takes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/status.h"
#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/temporary.h"
#include "study/estimate/capture.h"
#include "study/evaluate/random.h"
#include "study/evaluate/study.h"
#include "study/evaluate/workload.h"

#define MIB 1048576.0

/* The family whose script makes one network from words, and the columns that are these words. */
static const char family[] = "mlp";
static const char *const model_columns[] = {"input", "output", "depth", "activation", "dropout", "batchnorm", "arch"};

/* ---- which rows ---- */

static bool has_job(const struct plm_study *s, size_t row)
{
    return !strcmp(plm_csv_cell(&s->table, row, plm_csv_column(&s->table, "family")), family) &&
           *plm_csv_cell(&s->table, row, plm_csv_column(&s->table, "batch")) && !isnan(s->target[0].truth[row]);
}

/* Drawn without replacement: the first of a shuffle. */
int plm_study_sample(struct plm_study *s, struct plm_error *error)
{
    size_t *place = plm_calloc(s->table.rows + 1, sizeof *place), count = 0;
    struct plm_random random;
    s->sampled = plm_calloc(s->table.rows + 1, sizeof *s->sampled);
    plm_random_start(&random, s->options.seed);
    for (size_t row = 0; row < s->table.rows; row++)
        if (has_job(s, row))
            place[count++] = row;
    for (size_t i = 0; i < count && i < (size_t)s->options.sample; i++) {
        const size_t other = i + plm_random_below(&random, count - i), row = place[other];
        place[other] = place[i];
        s->sampled[row] = true;
        s->samples++;
    }
    free(place);
    if (!s->options.sample)
        return 0;
    if (!s->samples)
        return plm_fail(error, PLM_EINVAL,
                        "--sample runs jobs of family \"%s\", and %.300s has no row of it with its arguments", family,
                        s->options.path);
    if (!plm_workloads_find(s->options.workloads, family))
        return plm_fail(error, PLM_EINVAL, "%.300s has no workload for family \"%s\", which --sample needs",
                        s->options.workloads->folder, family);
    return 0;
}

/* ---- one job ---- */

struct job {
    char model[512], script[4096], trace[4096], record[4096], log[4096];
    const char *batch, *gpu;
};

static void job_make(const struct plm_study *s, size_t row, struct job *job)
{
    const int gpu = plm_csv_column(&s->table, "gpu");
    size_t used = 0;
    for (size_t i = 0; i < sizeof model_columns / sizeof model_columns[0] && used < sizeof job->model; i++)
        used += (size_t)snprintf(job->model + used, sizeof job->model - used, "%s%.60s", i ? "," : "",
                                 plm_csv_cell(&s->table, row, plm_csv_column(&s->table, model_columns[i])));
    job->batch = plm_csv_cell(&s->table, row, plm_csv_column(&s->table, "batch"));
    job->gpu = gpu < 0 ? "a100-40gb" : plm_csv_cell(&s->table, row, gpu);
    snprintf(job->script, sizeof job->script, "%.3800s/%.128s", s->options.workloads->folder,
             plm_workloads_find(s->options.workloads, family)->script);
    snprintf(job->trace, sizeof job->trace, "%.3800s/job.trace.json.gz", s->options.scratch);
    snprintf(job->record, sizeof job->record, "%.3800s/job.plm", s->options.scratch);
    snprintf(job->log, sizeof job->log, "%.3800s/job.log", s->options.scratch);
}

static double cpu_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Seconds by the clock and of processors since the one before. */
struct spent {
    double seconds, cpu;
};

static struct spent spent_now(void)
{
    return (struct spent){plm_now(), cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN)};
}

static void spent_add(struct spent *sum, struct spent since)
{
    const struct spent now = spent_now();
    sum->seconds += now.seconds - since.seconds;
    sum->cpu += now.cpu - since.cpu;
}

/* `plimsoll WORDS... -- the job`; false: it failed, and its log says why. That it does not fit, or only just, is no failure. */
static bool job_run(const struct plm_study *s, const struct job *job, const char *const *first)
{
    const char *words[32] = {"plimsoll"};
    int n = 1, failure, status;
    pid_t pid;
    for (; *first && n < 16; first++)
        words[n++] = *first;
    for (const char *const *w = (const char *const[]){"--", s->options.python, job->script, "--model", job->model,
                                                      "--batch", job->batch, NULL};
         *w; w++)
        words[n++] = *w;
    pid = plm_child_start(&(struct plm_child){.words = words, .self = true, .log = job->log}, &failure);
    status = pid < 0 ? -1 : plm_child_wait(pid, NULL, NULL);
    return WIFEXITED(status) && (WEXITSTATUS(status) == PLM_EXIT_OK || WEXITSTATUS(status) == PLM_EXIT_NO_FIT ||
                                 WEXITSTATUS(status) == PLM_EXIT_TIGHT);
}

static void answers_take(struct plm_study *s, size_t row, const struct plm_evidence *evidence)
{
    for (size_t c = 0; c < s->contestants; c++) {
        struct plm_contestant *who = &s->contestant[c];
        const struct spent before = spent_now();
        struct spent own = {0};
        struct plm_inquiry inquiry;
        if (!who->captured)
            continue;
        inquiry = plm_inquiry_open(who->method, evidence);
        if (inquiry.answer.state != PLM_UNANSWERED)
            who->captured[row] = (double)inquiry.answer.bytes / MIB;
        else
            snprintf(who->why, sizeof who->why, "%s", inquiry.answer.note);
        plm_inquiry_close(&inquiry);
        spent_add(&own, before);
        who->seconds += own.seconds;
        who->cpu += own.cpu;
    }
}

static void job_failed(struct plm_study *s, const struct job *job, const char *said)
{
    char line[PLM_LAST_LINE];
    plm_child_last_line(fopen(job->log, "re"), true, line);
    for (size_t c = 0; c < s->contestants; c++)
        if (s->contestant[c].captured && !s->contestant[c].why[0])
            snprintf(s->contestant[c].why, sizeof s->contestant[c].why, "%.190s", *said ? said : line);
}

static bool are_captured(const struct plm_study *s)
{
    for (size_t c = 0; c < s->contestants; c++)
        if (s->contestant[c].captured)
            return true;
    return false;
}

/* One capture is for all methods: each would have needed it. */
static void job_capture(struct plm_study *s, size_t row, const struct job *job, struct spent *sum)
{
    const char *const words[] = {"trace", "--no-compute", "-f", "-o", job->trace, NULL};
    const char *const paths[] = {job->trace};
    const struct spent before = spent_now();
    struct plm_captured captured = {0};
    struct plm_error error = {0};
    if (!job_run(s, job, words) || plm_captured_read(paths, 1, &captured, &error) < 0) {
        job_failed(s, job, error.text);
    } else {
        spent_add(sum, before);
        s->captures++;
        answers_take(s, row, &captured.evidence);
    }
    plm_captured_free(&captured);
    plm_temporary_remove(job->trace);
}

/* With its report: what `plimsoll -- CMD` is. */
static bool job_record(const struct plm_study *s, const struct job *job, struct spent *sum)
{
    const char *const words[] = {"--gpu", job->gpu, "-f", "-o", job->record, NULL};
    const struct spent before = spent_now();
    const bool ran = job_run(s, job, words);
    if (ran)
        spent_add(sum, before);
    plm_temporary_remove(job->record);
    return ran;
}

/* ---- all of them ---- */

static void means_make(struct plm_study *s, struct spent captures, struct spent runs, double ran)
{
    s->run_seconds = ran > 0 ? runs.seconds / ran : 0;
    s->run_cpu = ran > 0 ? runs.cpu / ran : 0;
    for (size_t c = 0; c < s->contestants; c++) {
        struct plm_contestant *who = &s->contestant[c];
        const double count = (double)s->captures;
        who->seconds = count > 0 ? (who->seconds + captures.seconds) / count : 0;
        who->cpu = count > 0 ? (who->cpu + captures.cpu) / count : 0;
    }
}

void plm_study_jobs(struct plm_study *s)
{
    struct spent captures = {0}, runs = {0};
    double ran = 0;
    size_t done = 0;
    for (size_t row = 0; row < s->table.rows; row++) {
        struct job job;
        if (!s->sampled[row])
            continue;
        if (s->options.progress)
            s->options.progress(done++, s->samples, "jobs by themselves");
        job_make(s, row, &job);
        if (are_captured(s))
            job_capture(s, row, &job, &captures);
        ran += job_record(s, &job, &runs);
    }
    means_make(s, captures, runs, ran);
}
