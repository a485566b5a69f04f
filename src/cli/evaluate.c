#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/error.h"
#include "base/install.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/evaluate_request.h"
#include "study/estimate/forest.h"
#include "study/evaluate/design.h"
#include "study/evaluate/judge.h"
#include "base/draw.h"

/* What was read before anything runs. */
struct parts {
    struct plm_install install;
    struct plm_workloads workloads;
    struct plm_catalogue catalogue;
    struct plm_truth file;
    struct plm_levels levels;
    struct plm_forest forest;
};

/* ---- the folder of records and results ---- */

static int prepare_folder(struct plm_evaluate_request *r, struct plm_error *error)
{
    static const char *const files[] = {"results.csv", "answers.csv"};
    char path[PATH_MAX];
    if (!r->folder) {
        r->folder = r->own_folder;
        return plm_scratch_make("evaluate", r->own_folder, error);
    }
    if (mkdir(r->folder, 0777) && errno != EEXIST)
        return plm_fail(error, PLM_EIO, "cannot make the folder %.200s: %s", r->folder, strerror(errno));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%.3900s/%s", r->folder, files[i]);
        if (r->resume || access(path, F_OK))
            continue;
        if (!r->force)
            return plm_fail(error, PLM_EINVAL, "%.200s is there already: --resume goes on with it, -f replaces it",
                            path);
        if (unlink(path))
            return plm_fail(error, PLM_EIO, "cannot remove %.200s: %s", path, strerror(errno));
    }
    return 0;
}

/* ---- progress ---- */

static void evaluate_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *context)
{
    char left[48] = "", wrong[48] = "";
    (void)context;
    if (made && done < all) {
        double rest = seconds / (double)made * (double)(all - done);
        if (rest < 90)
            snprintf(left, sizeof left, ", about %.0f s left", rest);
        else
            snprintf(left, sizeof left, ", about %.0f min left", rest / 60);
    }
    if (failed)
        snprintf(wrong, sizeof wrong, ", %zu failed", failed);
    fprintf(stderr, "\r\033[Kplimsoll: %zu of %zu parts of runs%s%s", done, all, wrong, left);
    if (done == all)
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* ---- what comes out ---- */

static int write_text(FILE *out, const struct plm_evaluate_request *r, const struct plm_evaluation *e,
                      struct plm_error *error)
{
    const struct plm_page page = plm_look_page(&r->look, out);
    return plm_evaluation_text(&page, e, error);
}

static int evaluate_write_file(const char *path,
                               int (*write)(FILE *, const struct plm_evaluation *, struct plm_error *),
                               const struct plm_evaluation *e, struct plm_error *error)
{
    FILE *out;
    int status;
    if (!path)
        return 0;
    out = strcmp(path, "-") ? fopen(path, "we") : stdout;
    if (!out)
        return plm_fail(error, PLM_EIO, "%.300s cannot be written: %s", path, strerror(errno));
    status = write(out, e, error);
    if ((out == stdout ? fflush(out) : fclose(out)) && status == 0)
        status = plm_fail(error, PLM_EIO, "%.300s cannot be written: %s", path, strerror(errno));
    return status;
}

static int evaluate_show(const struct plm_evaluate_request *r, const struct plm_evaluation *e, struct plm_error *error)
{
    const char *const files[] = {r->json, r->csv, r->figures, r->html};
    bool quiet = false;
    int status;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        quiet |= files[i] && !strcmp(files[i], "-");
    status = quiet ? 0 : write_text(stdout, r, e, error);
    if (status == 0)
        status = evaluate_write_file(r->json, plm_evaluation_json, e, error);
    if (status == 0)
        status = evaluate_write_file(r->csv, plm_evaluation_csv, e, error);
    if (status == 0)
        status = evaluate_write_file(r->figures, plm_evaluation_figures, e, error);
    if (status == 0)
        status = evaluate_write_file(r->html, plm_evaluation_html, e, error);
    return status;
}

/* ---- the runs of a design ---- */

static int run_bench(const struct plm_evaluate_request *r, struct plm_bench *bench, struct plm_error *error)
{
    char path[PATH_MAX];
    int status = r->resume ? plm_results_read(bench, error) : 0;
    snprintf(path, sizeof path, "%.3900s/answers.csv", r->folder);
    if (status == 0 && r->resume)
        status = plm_answers_read(bench, path, error);
    if (status == 0)
        status = plm_bench_run(bench, isatty(STDERR_FILENO) ? evaluate_progress : NULL, NULL, error);
    return status;
}

static int evaluate_truth(struct plm_evaluate_request *r, const struct parts *parts, const struct plm_truth *truth)
{
    const struct plm_bench_settings settings = {.install = &parts->install,
                                                .catalogue = r->design.catalogue,
                                                .workloads = &parts->workloads,
                                                .python = r->python,
                                                .gpu = r->gpu,
                                                .stack = r->stack,
                                                .pattern = r->pattern,
                                                .folder = r->folder,
                                                .keep = r->keep,
                                                .method = r->method,
                                                .methods = r->methods,
                                                .forest = r->forest,
                                                .trees = r->forest ? &parts->forest : NULL,
                                                .jobs = r->jobs};
    struct plm_evaluation evaluation;
    struct plm_bench bench;
    struct plm_error error;
    bool failed = false;
    int status;
    if (plm_bench_make(&settings, truth, &bench, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    status = run_bench(r, &bench, &error);
    if (status == 0) {
        plm_judge(&bench, &r->judge, &evaluation);
        status = evaluate_show(r, &evaluation, &error);
        failed = evaluation.failed > 0;
        plm_evaluation_free(&evaluation);
    }
    plm_bench_free(&bench);
    if (status)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    return failed ? plm_complain(PLM_EXIT_COMMAND, "some workloads failed") : PLM_EXIT_OK;
}

/* A plan is all that is asked for: nothing runs. */
static int write_plan(const char *path, const struct plm_truth *truth, const struct plm_design_made *made)
{
    char text[400];
    FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
    int status = out ? plm_design_plan(out, truth, made) : PLM_EIO;
    if (out && out != stdout && fclose(out))
        status = PLM_EIO;
    if (status == 0)
        return PLM_EXIT_OK;
    snprintf(text, sizeof text, "%.300s cannot be written: %s", path, strerror(errno));
    return plm_complain(PLM_EXIT_CANNOT, text);
}

static int run_design(struct plm_evaluate_request *r, const struct parts *parts)
{
    struct plm_design_made made;
    struct plm_truth truth;
    struct plm_error error;
    int status;
    if (plm_design_make(&r->design, &parts->file, &parts->levels, &truth, &made, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    r->judge.design = &made;
    if (r->plan)
        status = write_plan(r->plan, &truth, &made);
    else if (prepare_folder(r, &error) < 0)
        status = plm_complain(PLM_EXIT_USAGE, error.text);
    else {
        status = evaluate_truth(r, parts, &truth);
        plm_scratch_remove(r->own_folder); /* logs of failed workloads go with it, their last line was told */
    }
    r->judge.design = NULL;
    plm_truth_free(&truth);
    return status;
}

/* ---- all together ---- */

static int read_levels(const struct plm_evaluate_request *r, struct parts *parts, struct plm_error *error)
{
    char path[PATH_MAX];
    if (r->design.design == PLM_DESIGN_ROWS)
        return 0;
    if (!strcmp(r->levels, "file"))
        return plm_levels_of_truth(&parts->file, &parts->levels)
                   ? plm_fail(error, PLM_EFORMAT, "the truth file has too many levels for a design")
                   : 0;
    if (strcmp(r->levels, "workloads") != 0)
        return plm_levels_read(r->levels, true, &parts->levels, error);
    snprintf(path, sizeof path, "%.3900s/workloads.ini", parts->workloads.folder);
    return plm_levels_read(path, false, &parts->levels, error);
}

static int read_parts(const struct plm_evaluate_request *r, struct parts *parts, struct plm_error *error)
{
    const enum plm_truth_need need = r->design.reference ? PLM_TRUTH_WITHOUT_GROUND : PLM_TRUTH_NEEDS_GROUND;
    int status = plm_workloads_read(r->workloads, &parts->install, &parts->workloads, error);
    if (status == 0)
        status = plm_catalogue_load(&parts->catalogue, &parts->install, error);
    if (status == 0 && r->truth)
        status = plm_truth_read(r->truth, need, &parts->file, error);
    if (status == 0)
        status = read_levels(r, parts, error);
    if (status == 0 && r->forest)
        status = plm_forest_load(r->forest, &parts->forest, error);
    return status;
}

static int evaluate_run(int argc, char **argv)
{
    static struct parts parts;
    struct plm_evaluate_request r;
    struct plm_error error;
    int status;
    if (plm_evaluate_parse(&r, argc, argv, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (plm_install_find(&parts.install, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    r.design.catalogue = &parts.catalogue;
    r.design.install = &parts.install;
    status = read_parts(&r, &parts, &error) < 0 ? plm_complain(PLM_EXIT_USAGE, error.text) : run_design(&r, &parts);
    plm_forest_free(&parts.forest);
    plm_levels_free(&parts.levels);
    plm_truth_free(&parts.file);
    plm_catalogue_free(&parts.catalogue);
    return status;
}

const struct plm_command plm_command_evaluate = {
    .name = "evaluate",
    .line = "how good the estimates are, against runs on real cards",
    .words = "TRUTH.csv",
    .options = plm_evaluate_options,
    .complete = PLM_COMPLETE_FILE,
    .among = "csv",
    .example = {"plimsoll evaluate truth.csv --python venv/bin/python -o results --late-sample",
                "plimsoll evaluate truth.csv -o results --resume --html accuracy.html",
                "plimsoll evaluate truth.csv -o results --method all --forest schedtune.forest",
                "plimsoll evaluate truth.csv --design grid --plan to-measure.csv",
                "plimsoll evaluate --design montecarlo --levels workloads --gpu rtx3060 --reference virtual"},
    .exit = {{PLM_EXIT_USAGE, "usage, or a table that cannot be understood"}, {PLM_EXIT_COMMAND, "a workload failed"}},
    .run = evaluate_run,
};
