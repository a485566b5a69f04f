/* `plimsoll evaluate` of step times and utilization. */
#include "cli/evaluate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/draw.h"
#include "base/error.h"
#include "study/evaluate/time_judge.h"

/* What a fit chooses if nobody says: of the host, which no data sheet describes, for utilization; of the GPU for step
   times. */
static const char *const usual_constants[PLM_TIME_KINDS] = {
    [PLM_TIME_STEP] = "memory_efficiency,tensor_efficiency,conv_efficiency",
    [PLM_TIME_UTILIZATION] = "host_factor,sample_us,occupancy_share",
};

/* ---- options ---- */

static int factor_parse(const char *text, double *factor, struct plm_error *error)
{
    char *end;
    *factor = 0;
    if (!text)
        return 0;
    *factor = strtod(text, &end);
    if (end == text || *end || !(*factor >= 0.01 && *factor <= 100))
        return plm_fail(error, PLM_EINVAL, "--host-factor takes a number from 0.01 to 100, not \"%.40s\"", text);
    return 0;
}

int plm_evaluate_time_check(const struct plm_evaluate_time *t, enum plm_time_kind kind, struct plm_error *error)
{
    struct plm_time_fit fit;
    double factor;
    int status = plm_time_fit_parse(t->constants ? t->constants : usual_constants[kind], &fit, error);
    if (status == 0)
        status = factor_parse(t->host_factor, &factor, error);
    if (status)
        return status;
    if (!t->fit && (t->constants || t->save_speeds))
        return plm_fail(error, PLM_EINVAL, "--%s needs --fit N, the rows that choose constants",
                        t->constants ? "fit-constants" : "save-speeds");
    if (!t->learn && t->save_correction)
        return plm_fail(error, PLM_EINVAL, "--save-correction needs --learn N, the rows to learn from");
    if (t->learn && t->correction)
        return plm_fail(error, PLM_EINVAL, "--learn makes a correction and --correction names one; choose one of them");
    for (size_t i = 0; t->fit && t->host_factor && i < fit.constants; i++)
        if (!strcmp(fit.constant[i]->name, "host_factor"))
            return plm_fail(error, PLM_EINVAL,
                            "--host-factor says what --fit would choose; --fit-constants can leave it out");
    return 0;
}

/* ---- what is shown ---- */

static const struct plm_evaluate_sink sink = {
    plm_time_evaluation_text,
    {plm_time_evaluation_json, plm_time_evaluation_csv, plm_time_evaluation_figures, plm_time_evaluation_html}};

/* ---- what is kept ---- */

static int speeds_write(FILE *out, const void *what, struct plm_error *error)
{
    plm_speeds_write(out, what);
    return ferror(out) ? plm_fail(error, PLM_EIO, "the constants could not be written") : 0;
}

/* The constants of the first card: those that were fitted are the same for all. */
static int speeds_save(const struct plm_evaluate_job *job, const char *path, const struct plm_time_evaluation *e,
                       const struct plm_time_model *model, struct plm_error *error)
{
    struct plm_speeds speeds = model->card[0].speeds;
    size_t used = 0;
    snprintf(speeds.name, sizeof speeds.name, "%.46s", model->card[0].card);
    used += (size_t)snprintf(speeds.source, sizeof speeds.source, "plimsoll evaluate: %zu rows chose", e->fit.rows);
    for (size_t i = 0; i < e->fit.constants && used < sizeof speeds.source; i++)
        used += (size_t)snprintf(speeds.source + used, sizeof speeds.source - used, " %s", e->fit.constant[i]->name);
    return plm_output_write(path, &job->show.rule, speeds_write, &speeds, error);
}

struct saved {
    const struct plm_time_correct *correct;
    int figure;
};

static int correction_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct saved *s = what;
    return plm_time_correct_save(out, s->correct, s->figure)
               ? plm_fail(error, PLM_EIO, "the correction could not be written")
               : 0;
}

static int correction_save(const struct plm_evaluate_job *job, const char *folder, const struct plm_time_correct *c,
                           struct plm_error *error)
{
    char path[PATH_MAX];
    int status = 0;
    for (int i = 0; i < PLM_TIME_FIGURES && status == 0; i++)
        if (c->known >> i & 1) {
            plm_time_correct_path(folder, i, path, sizeof path);
            status = plm_output_write(path, &job->show.rule, correction_write, &(struct saved){c, i}, error);
        }
    return status;
}

int plm_evaluate_time_outputs(const struct plm_evaluate_time *t, enum plm_time_kind kind,
                              const struct plm_output_rule *rule, struct plm_error *error)
{
    char path[PATH_MAX];
    int first, count = plm_time_kind_figures(kind, &first), status = 0;
    if (t->save_speeds)
        status = plm_output_check(t->save_speeds, rule, error);
    if (status || !t->save_correction)
        return status;
    if (mkdir(t->save_correction, 0777) && errno != EEXIST)
        return plm_fail(error, PLM_EINVAL, "cannot make the folder %.200s: %s", t->save_correction, strerror(errno));
    for (int i = first; i < first + count && status == 0; i++) {
        plm_time_correct_path(t->save_correction, i, path, sizeof path);
        status = plm_output_check(path, rule, error);
    }
    return status;
}

/* ---- all together ---- */

struct parts {
    struct plm_time_truth truth;
    struct plm_time_bench bench;
    struct plm_time_model model;
    struct plm_time_correct correct;
    struct plm_time_fit fit;
    double host_factor;
};

static int bench_run(const struct plm_evaluate_job *job, struct plm_time_bench *bench, struct plm_error *error)
{
    int status = job->resume ? plm_time_bench_resume(bench, error) : 0;
    if (status == 0)
        status = plm_time_bench_run(bench, isatty(STDERR_FILENO) ? plm_evaluate_progress : NULL, "rows", error);
    return status ? status : plm_time_bench_load(bench, error);
}

static int judge_and_show(const struct plm_evaluate_job *job, const struct plm_evaluate_time *t, struct parts *p,
                          bool *failed, struct plm_error *error)
{
    const struct plm_time_judge_options options = {.fit_rows = (size_t)t->fit,
                                                   .fit = &p->fit,
                                                   .learn_rows = (size_t)t->learn,
                                                   .correct = t->correction ? &p->correct : NULL,
                                                   .seed = (uint64_t)job->seed};
    struct plm_time_evaluation e;
    int status = plm_time_judge(&p->bench, &options, &p->model, &e, error);
    if (status)
        return status;
    if (t->save_speeds)
        status = speeds_save(job, t->save_speeds, &e, &p->model, error);
    if (status == 0 && t->save_correction)
        status = correction_save(job, t->save_correction, &e.correct, error);
    if (status == 0)
        status = plm_evaluate_show(&job->show, &sink, &e, error);
    *failed = e.failed > 0;
    plm_time_evaluation_free(&e);
    return status;
}

/* What can be wrong with the user's files is found before anything runs. */
static int parts_read(const struct plm_evaluate_job *job, const struct plm_evaluate_time *t,
                      const struct plm_time_settings *settings, struct parts *p, struct plm_error *error)
{
    int status = plm_time_fit_parse(t->constants ? t->constants : usual_constants[job->kind], &p->fit, error);
    if (status == 0)
        status = factor_parse(t->host_factor, &p->host_factor, error);
    if (status == 0)
        status = plm_time_truth_read(job->truth, job->kind, &p->truth, error);
    if (status == 0)
        status = plm_time_bench_make(settings, &p->truth, &p->bench, error);
    if (status == 0)
        status = plm_time_model_read(&p->bench, t->speeds, &job->catalogue->install, p->host_factor, &p->model, error);
    p->model.counted = !t->host || !strcmp(t->host, "counted");
    if (status == 0 && t->correction)
        status = plm_time_correct_load(t->correction, &p->correct, error);
    return status;
}

int plm_evaluate_time(const struct plm_evaluate_job *job, const struct plm_evaluate_time *t)
{
    const struct plm_time_settings settings = {.catalogue = job->catalogue,
                                               .workloads = job->workloads,
                                               .python = job->python,
                                               .gpu = job->gpu,
                                               .stack = job->stack,
                                               .pattern = job->pattern,
                                               .folder = job->folder,
                                               .scratch = job->scratch,
                                               .layout = t->layout,
                                               .precision = t->precision,
                                               .jobs = job->jobs};
    struct parts p = {0};
    struct plm_error error;
    bool failed = false;
    int status = PLM_EXIT_OK;
    if (parts_read(job, t, &settings, &p, &error) < 0 || bench_run(job, &p.bench, &error) < 0 ||
        judge_and_show(job, t, &p, &failed, &error) < 0)
        status = plm_fault(&error);
    else if (failed)
        status = plm_complain(PLM_EXIT_COMMAND, "some rows could not be judged");
    plm_time_correct_free(&p.correct);
    plm_time_model_free(&p.model);
    plm_time_bench_free(&p.bench);
    plm_time_truth_free(&p.truth);
    return status;
}
