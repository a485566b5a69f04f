#include <dirent.h>
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
#include "base/options.h"
#include "cli/cli.h"
#include "evaluate/judge.h"
#include "report/report.h"

struct request {
    const char *truth, *workloads, *python, *gpu, *stack, *folder, *json, *csv, *html, *kind, *pattern, *color;
    int jobs;
    bool resume, force, late_sample, bytes;
    char own_folder[64];       /* a temporary one, if none was given */
};

/* ---- what is asked for ---- */

static int parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    const struct plm_option table[] = {
        {"workloads", 0, PLM_OPTION_TEXT, &r->workloads, true},
        {"python", 0, PLM_OPTION_TEXT, &r->python, true},
        {"jobs", 'j', PLM_OPTION_NUMBER, &r->jobs, true},
        {"gpu", 0, PLM_OPTION_TEXT, &r->gpu, true},
        {"output", 'o', PLM_OPTION_TEXT, &r->folder, false},
        {"resume", 0, PLM_OPTION_FLAG, &r->resume, false},
        {"force", 'f', PLM_OPTION_FLAG, &r->force, false},
        {"json", 0, PLM_OPTION_TEXT, &r->json, false},
        {"csv", 0, PLM_OPTION_TEXT, &r->csv, false},
        {"html", 0, PLM_OPTION_TEXT, &r->html, false},
        {"truth", 0, PLM_OPTION_TEXT, &r->kind, true},
        {"match", 'k', PLM_OPTION_TEXT, &r->pattern, false},
        {"bytes", 0, PLM_OPTION_FLAG, &r->bytes, true},
        {"color", 0, PLM_OPTION_TEXT, &r->color, true},
        {"late-sample", 0, PLM_OPTION_FLAG, &r->late_sample, true},
        {"stack", 0, PLM_OPTION_TEXT, &r->stack, true},
    };
    int words, status = plm_options_among(table, sizeof table / sizeof table[0], "evaluate", argc, argv, &r->truth, 1,
                                          &words, error);
    if (status < 0)
        return status;
    if (words != 1)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll evaluate TRUTH.csv`",
                        words ? "one truth file at a time" : "no truth file given");
    if (r->jobs < 1)
        return plm_fail(error, PLM_EINVAL, "--jobs takes a number from 1");
    if (r->resume && !r->folder)
        return plm_fail(error, PLM_EINVAL, "--resume needs -o FOLDER, where the results of before are");
    if (r->resume && r->force)
        return plm_fail(error, PLM_EINVAL, "--resume keeps the results of before and -f replaces them: one of the two");
    return 0;
}

static int understand(const struct request *r, struct plm_judge_options *options, struct plm_error *error)
{
    options->late_sample = r->late_sample;
    if (plm_truth_kind_parse(r->kind, &options->kind))
        return plm_fail(error, PLM_EINVAL, "--truth %.60s: it takes allocated, reserved, device or device-less-first",
                        r->kind);
    if (r->late_sample && options->kind != PLM_TRUTH_LESS_FIRST)
        return plm_fail(error, PLM_EINVAL,
                        "--late-sample is about a first sample that was taken off: --truth device-less-first");
    return 0;
}

/* The program that runs in each child sees its own PATH; here only a sentence is made of what is missing. */
static int check_python(const char *python, struct plm_error *error)
{
    if (strchr(python, '/') && access(python, X_OK))
        return plm_fail(error, PLM_EINVAL, "--python %.200s: %s", python, strerror(errno));
    return 0;
}

/* ---- the folder of records and results ---- */

static int prepare_folder(struct request *r, struct plm_error *error)
{
    char path[PATH_MAX];
    if (!r->folder) {
        snprintf(r->own_folder, sizeof r->own_folder, "/tmp/plimsoll-evaluate-XXXXXX");
        r->folder = mkdtemp(r->own_folder);
        return r->folder ? 0 : plm_fail(error, PLM_EIO, "cannot make a folder in /tmp: %s", strerror(errno));
    }
    if (mkdir(r->folder, 0777) && errno != EEXIST)
        return plm_fail(error, PLM_EIO, "cannot make the folder %.200s: %s", r->folder, strerror(errno));
    snprintf(path, sizeof path, "%.3900s/results.csv", r->folder);
    if (r->resume || access(path, F_OK))
        return 0;
    if (!r->force)
        return plm_fail(error, PLM_EINVAL, "%.200s is there already: --resume goes on with it, -f replaces it", path);
    return unlink(path) ? plm_fail(error, PLM_EIO, "cannot remove %.200s: %s", path, strerror(errno)) : 0;
}

/* The temporary one; logs of failed workloads go with it, their last line was told. */
static void remove_folder(const struct request *r)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *folder = r->own_folder[0] && r->folder ? opendir(r->folder) : NULL;
    if (!folder)
        return;
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", r->folder, entry->d_name);
            unlink(path);
        }
    closedir(folder);
    rmdir(r->folder);
}

/* ---- progress ---- */

static void progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *context)
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
    fprintf(stderr, "\r\033[K%s%zu of %zu runs%s%s", "plimsoll: ", done, all, wrong, left);
    if (done == all)
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* ---- what comes out ---- */

static int write_text(FILE *out, const struct request *r, const struct plm_evaluation *e, struct plm_error *error)
{
    const struct plm_report_options options = {.bytes = r->bytes,
                                               .color = plm_want_color(r->color, STDOUT_FILENO),
                                               .utf8 = plm_want_utf8(),
                                               .width = plm_terminal_width(STDOUT_FILENO)};
    return plm_evaluation_text(out, e, &options, error);
}

static int write_file(const char *path, int (*write)(FILE *, const struct plm_evaluation *, struct plm_error *),
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

static int show(const struct request *r, const struct plm_evaluation *e, struct plm_error *error)
{
    const char *const files[] = {r->json, r->csv, r->html};
    bool quiet = false;
    int status;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        quiet |= files[i] && !strcmp(files[i], "-");
    status = quiet ? 0 : write_text(stdout, r, e, error);
    if (status == 0)
        status = write_file(r->json, plm_evaluation_json, e, error);
    if (status == 0)
        status = write_file(r->csv, plm_evaluation_csv, e, error);
    if (status == 0)
        status = write_file(r->html, plm_evaluation_html, e, error);
    return status;
}

/* ---- all together ---- */

static int run_bench(const struct request *r, struct plm_bench *bench, struct plm_error *error)
{
    int status = r->resume ? plm_results_read(bench, error) : 0;
    if (status == 0)
        status = plm_bench_run(bench, isatty(STDERR_FILENO) ? progress : NULL, NULL, error);
    return status;
}

static int evaluate(struct request *r, const struct plm_install *install, struct plm_catalogue *catalogue,
                    const struct plm_workloads *workloads, const struct plm_truth *truth,
                    const struct plm_judge_options *options)
{
    const struct plm_bench_settings settings = {.install = install,
                                                .catalogue = catalogue,
                                                .workloads = workloads,
                                                .python = r->python,
                                                .gpu = r->gpu,
                                                .stack = r->stack,
                                                .pattern = r->pattern,
                                                .folder = r->folder,
                                                .jobs = r->jobs};
    struct plm_evaluation evaluation;
    struct plm_bench bench;
    struct plm_error error;
    bool failed = false;
    int status;
    if (plm_bench_make(&settings, truth, &bench, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    status = run_bench(r, &bench, &error);
    if (status == 0 && plm_judge(&bench, options, &evaluation))
        status = plm_fail(&error, PLM_ENOMEM, "there is not enough memory for the figures");
    else if (status == 0) {
        status = show(r, &evaluation, &error);
        failed = evaluation.failed > 0;
        plm_evaluation_free(&evaluation);
    }
    plm_bench_free(&bench);
    if (status)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    return failed ? plm_complain(PLM_EXIT_COMMAND, "some workloads failed") : PLM_EXIT_OK;
}

int plm_cmd_evaluate(int argc, char **argv)
{
    struct request r = {
        .python = "python3", .kind = "device-less-first", .color = "auto", .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct plm_catalogue catalogue = {0};
    struct plm_judge_options options;
    struct plm_workloads workloads;
    struct plm_install install;
    struct plm_truth truth;
    struct plm_error error;
    int status;

    if (parse(&r, argc, argv, &error) < 0 || understand(&r, &options, &error) < 0 || check_python(r.python, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (plm_install_find(&install, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    if (plm_workloads_read(r.workloads, &install, &workloads, &error) < 0 ||
        plm_catalogue_load(&catalogue, &install, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (plm_truth_read(r.truth, &truth, &error) < 0) {
        plm_catalogue_free(&catalogue);
        return plm_complain(PLM_EXIT_USAGE, error.text);
    }
    status = prepare_folder(&r, &error) < 0 ? plm_complain(PLM_EXIT_USAGE, error.text) : PLM_EXIT_OK;
    if (status == PLM_EXIT_OK)
        status = evaluate(&r, &install, &catalogue, &workloads, &truth, &options);
    remove_folder(&r);
    plm_truth_free(&truth);
    plm_catalogue_free(&catalogue);
    return status;
}
