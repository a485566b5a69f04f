/* `plimsoll evaluate memory`: the runs of a truth file or of a design, and estimates of their memory against it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "cli/evaluate.h"
#include "study/evaluate/design.h"
#include "study/evaluate/judge.h"
#include "study/methods/methods.h"

/* ---- what is asked for ---- */

enum { DRAWS = 1300, DRAWS_MOST = 100000 };

struct request {
    struct plm_cli_evaluate common;
    const char *model, *plan;
    const char *truth_text, *design_text, *anova_text, *methods_text; /* before they are understood */
    const char *levels; /* "file", "workloads" or the path of a file */
    bool keep;
    const struct plm_method
        *method[PLM_ESTIMATE_METHODS]; /* without the run on the virtual GPU, which is always there */
    size_t methods;
    struct plm_design_options design;
    struct plm_judge_options judge;
    struct plm_cli_evaluate_runs runs;
};

static const struct plm_option options[] = {
    {"method", 0, PLM_OPTION_TEXT, AT(methods_text), "NAME,...", .help = "other methods to compare, or all",
     .complete = PLM_COMPLETE_METHODS, .among = "all", .configurable = true},
    {"model", 0, PLM_OPTION_TEXT, AT(model), "FILE", .help = "a model file of `plimsoll train`; it names its method",
     .complete = PLM_COMPLETE_FILE, .configurable = true},
    {"truth", 0, PLM_OPTION_TEXT, AT(truth_text), "KIND,...",
     .help = "what was measured: allocated, reserved, device or device-less-first (default); also late-sample, "
             "disturbed, virtual (see man)",
     .among = "allocated reserved device device-less-first late-sample disturbed virtual", .configurable = true},
    {"design", 0, PLM_OPTION_TEXT, AT(design_text), "DESIGN",
     .help = "which runs: rows (default), grid[,LEVELS] or montecarlo[,N][,LEVELS]; levels are from the file, "
             "workloads or an .ini",
     .among = "rows grid montecarlo"},
    {"plan", 0, PLM_OPTION_TEXT, AT(plan), "FILE", .help = "list the runs to measure, then exit",
     .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"anova", 0, PLM_OPTION_CHOICE, AT(anova_text), "RESPONSE",
     .help = "what errors depend on: absolute (default), signed or none", .among = "absolute signed none",
     .configurable = true},
    {"keep", 0, PLM_OPTION_FLAG, AT(keep), .help = "also keep the captures in the -o folder"},
    {.include = plm_cli_evaluate_runs_options, .at = AT(runs)},
    {.include = plm_cli_evaluate_options, .at = AT(common)},
    {.include = plm_cli_option_bytes, .at = AT(common.look.bytes)},
    {"forest", 0, PLM_OPTION_TEXT, AT(model), "FILE", .instead = PLM_MODEL_INSTEAD, .configurable = true},
    {"late-sample", 0, PLM_OPTION_FLAG, AT(keep), .instead = "write --truth late-sample", .configurable = true},
    {"disturbed", 0, PLM_OPTION_FLAG, AT(keep), .instead = "write --truth disturbed"},
    {"reference", 0, PLM_OPTION_TEXT, AT(plan), "virtual", .instead = "write --truth virtual"},
    {"draws", 0, PLM_OPTION_TEXT, AT(plan), "N", .instead = "write --design montecarlo,N"},
    {"levels", 0, PLM_OPTION_TEXT, AT(plan), "FROM", .instead = "write --design grid,FROM or montecarlo,FROM"},
    {0},
};

/* The run on the virtual GPU needs no asking: its record has all that is judged. What is judged is memory. */
static int choose_methods(struct request *r, struct plm_error *error)
{
    const struct plm_method *chosen[PLM_ESTIMATE_METHODS];
    const char *methods = r->methods_text ? r->methods_text : "virtual";
    const bool all = !strcmp(methods, "all");
    int count = plm_cli_methods_choose(methods, chosen, error);
    for (int i = 0; i < count; i++) {
        const bool memory = plm_method_is_memory(chosen[i]);
        if (!memory && !all)
            return plm_fail(error, PLM_EINVAL, "%s estimates utilization, not memory", chosen[i]->name);
        if (memory && chosen[i]->paradigm != PLM_VIRTUAL)
            r->method[r->methods++] = chosen[i];
    }
    return count < 0 ? count : 0;
}

static int truth_wrong(const char *word, struct plm_error *error)
{
    const struct {
        const char *word, *side;
    } others[] = {{"step-time", "time"}, {"utilization", "time"}, {"classes", "classes"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(word, others[i].word))
            return plm_fail(error, PLM_EINVAL, "--truth %s is for `plimsoll evaluate %s`; this is `plimsoll %s`", word,
                            others[i].side, plm_cli_evaluate_memory.command.name);
    return plm_fail(error, PLM_EINVAL,
                    "--truth takes allocated, reserved, device or device-less-first, and late-sample, disturbed or "
                    "virtual with commas, not '%.40s'",
                    word);
}

/* What was measured, and what else counts as truth. */
static int truth_understand(struct request *r, struct plm_error *error)
{
    const struct {
        const char *word;
        bool *value;
    } more[] = {
        {"late-sample", &r->judge.late_sample}, {"disturbed", &r->design.disturbed}, {"virtual", &r->design.reference}};
    const char *rest = r->truth_text;
    char word[48];
    r->judge.kind = PLM_TRUTH_LESS_FIRST;
    while (plm_cli_evaluate_next(&rest, word, sizeof word)) {
        size_t i = 0;
        while (i < sizeof more / sizeof more[0] && strcmp(word, more[i].word) != 0)
            i++;
        if (i < sizeof more / sizeof more[0])
            *more[i].value = true;
        else if (plm_truth_kind_parse(word, &r->judge.kind) < 0)
            return truth_wrong(word, error);
    }
    if (r->judge.late_sample && r->judge.kind != PLM_TRUTH_LESS_FIRST)
        return plm_fail(error, PLM_EINVAL,
                        "late-sample corrects a baseline sample, which this truth does not have; use --truth "
                        "device-less-first,late-sample");
    r->design.kind = r->judge.kind;
    r->design.reference |= r->plan != NULL; /* a plan has what is still to be measured */
    return 0;
}

/* "montecarlo,500,workloads": the number if the rest begins with one, and what follows. */
static int draws_take(struct request *r, const char **rest, struct plm_error *error)
{
    const size_t digits = *rest ? strspn(*rest, "0123456789") : 0;
    unsigned long draws;
    r->design.draws = DRAWS;
    if (!digits || ((*rest)[digits] && (*rest)[digits] != ','))
        return 0;
    if (r->design.design != PLM_DESIGN_MONTECARLO)
        return plm_fail(error, PLM_EINVAL, "--design %s draws nothing; montecarlo,%.20s does",
                        plm_design_name(r->design.design), *rest);
    draws = digits < 9 ? strtoul(*rest, NULL, 10) : DRAWS_MOST + 1ul;
    if (!draws || draws > DRAWS_MOST)
        return plm_fail(error, PLM_EINVAL, "--design montecarlo,N takes from 1 to %d draws, not %.*s", DRAWS_MOST,
                        digits < 40 ? (int)digits : 40, *rest);
    r->design.draws = draws;
    *rest = (*rest)[digits] ? *rest + digits + 1 : NULL;
    return 0;
}

static int design_understand(struct request *r, struct plm_error *error)
{
    const char *rest = r->design_text;
    char word[24];
    int status;
    if (plm_cli_evaluate_next(&rest, word, sizeof word) && plm_design_parse(word, &r->design.design) < 0)
        return plm_fail(error, PLM_EINVAL, "--design takes rows, grid or montecarlo first, not '%.40s'", word);
    status = draws_take(r, &rest, error);
    if (status)
        return status;
    if (r->design.design == PLM_DESIGN_ROWS && rest)
        return plm_fail(error, PLM_EINVAL, "--design rows takes no levels; grid and montecarlo do");
    r->levels = rest ? rest : "file";
    if (!r->common.table && !strcmp(r->levels, "file"))
        return plm_cli_evaluate_no_table(error);
    r->design.seed = r->judge.seed = (uint64_t)r->common.seed;
    r->design.gpu = r->runs.gpu;
    r->design.pattern = r->runs.pattern;
    return 0;
}

static int request_understand(struct request *r, struct plm_error *error)
{
    int i = 0, status = truth_understand(r, error);
    while (i + 1 < PLM_RESPONSES && strcmp(r->anova_text, plm_response_name((enum plm_response)i)) != 0)
        i++;
    r->judge.response = (enum plm_response)i;
    if (status == 0)
        status = choose_methods(r, error);
    if (status == 0)
        status = design_understand(r, error);
    if (status == 0)
        status = plm_cli_evaluate_runs_check(&r->runs, error);
    if (status == 0 && r->keep && !r->runs.folder)
        status = plm_fail(error, PLM_EINVAL, "--keep needs -o FOLDER to keep the captures in");
    if (r->plan)
        r->runs.folder = NULL; /* nothing runs */
    return status;
}

/* ---- the runs of a design ---- */

static const struct plm_cli_evaluate_lines lines[2] = {{"results.csv", plm_results_head},
                                                       {"answers.csv", plm_answers_head}};

/* What was read before anything runs. */
struct parts {
    struct plm_cli_evaluate_parts common;
    struct plm_truth file;
    struct plm_levels levels;
    struct plm_model model;
};

static int run_bench(const struct request *r, struct plm_bench *bench, struct plm_error *error)
{
    char path[PATH_MAX];
    int status = r->runs.resume ? plm_results_read(bench, error) : 0;
    snprintf(path, sizeof path, "%.3900s/answers.csv", r->runs.folder);
    if (status == 0 && r->runs.resume)
        status = plm_answers_read(bench, path, error);
    if (status == 0)
        status = plm_bench_run(bench, isatty(STDERR_FILENO) ? plm_cli_evaluate_progress : NULL, "parts of runs", error);
    return status;
}

static int evaluate_truth(const struct request *r, struct parts *parts, const struct plm_truth *truth,
                          const struct plm_result_files *files)
{
    const struct plm_bench_settings settings = {.common = plm_cli_evaluate_common(&r->common, &r->runs, &parts->common),
                                                .keep = r->keep,
                                                .method = r->method,
                                                .methods = r->methods,
                                                .model_path = r->model,
                                                .model = r->model ? &parts->model : NULL};
    struct plm_evaluation evaluation;
    struct plm_bench bench;
    struct plm_error error;
    bool failed = false;
    int status;
    if (plm_bench_make(&settings, truth, &bench, &error) < 0)
        return plm_fault(&error);
    status = run_bench(r, &bench, &error);
    if (status == 0) {
        plm_judge(&bench, &r->judge, &evaluation);
        status = plm_cli_evaluate_show(&r->common, files, &plm_evaluation_result, &evaluation, &error);
        failed = evaluation.failed > 0;
        plm_evaluation_free(&evaluation);
    }
    plm_bench_free(&bench);
    if (status)
        return plm_fault(&error);
    return failed ? plm_complain(PLM_EXIT_COMMAND, "some workloads failed") : PLM_EXIT_OK;
}

struct plan {
    const struct plm_truth *truth;
    const struct plm_design_made *made;
};

static int plan_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct plan *plan = what;
    return plm_design_plan(out, plan->truth, plan->made) ? plm_fail(error, PLM_EIO, "the plan cannot be written") : 0;
}

/* A plan is all that is asked for: nothing runs. */
static int run_design(struct request *r, struct parts *parts, const struct plm_result_files *files)
{
    struct plm_design_made made;
    struct plm_truth truth;
    struct plm_error error;
    int status = PLM_EXIT_OK;
    if (plm_design_make(&r->design, &parts->file, &parts->levels, &truth, &made, &error) < 0)
        return plm_fault(&error);
    r->judge.design = &made;
    if (r->plan) {
        if (plm_output_write(r->plan, &files->rule, plan_write, &(struct plan){&truth, &made}, &error) < 0)
            status = plm_fault(&error);
    } else if (plm_cli_evaluate_folder_open(&r->common, &r->runs, lines, &error) < 0)
        status = plm_fault(&error);
    else
        status = evaluate_truth(r, parts, &truth, files);
    r->judge.design = NULL;
    plm_truth_free(&truth);
    return status;
}

/* ---- all together ---- */

static bool levels_are_a_file(const struct request *r)
{
    return strcmp(r->levels, "file") != 0 && strcmp(r->levels, "workloads") != 0;
}

static int read_levels(const struct request *r, struct parts *parts, struct plm_error *error)
{
    char path[PATH_MAX];
    if (r->design.design == PLM_DESIGN_ROWS)
        return 0;
    if (!strcmp(r->levels, "file"))
        return plm_levels_of_truth(&parts->file, &parts->levels)
                   ? plm_fail(error, PLM_EFORMAT, "the truth file has too many levels for a design")
                   : 0;
    if (levels_are_a_file(r))
        return plm_levels_read(r->levels, true, &parts->levels, error);
    snprintf(path, sizeof path, "%.3900s/workloads.ini", parts->common.workloads.folder);
    return plm_levels_read(path, false, &parts->levels, error);
}

static int read_parts(const struct request *r, struct parts *parts, struct plm_error *error)
{
    const enum plm_truth_need need = r->design.reference ? PLM_TRUTH_WITHOUT_GROUND : PLM_TRUTH_NEEDS_GROUND;
    int status = plm_cli_evaluate_parts_read(r->common.workloads, &parts->common, error);
    if (status == 0 && r->common.table)
        status = plm_truth_read(r->common.table, need, &parts->file, error);
    if (status == 0)
        status = read_levels(r, parts, error);
    if (status == 0 && r->model)
        status = plm_methods_model_open(r->model, &parts->model, error);
    return status;
}

static int memory_run(int argc, char **argv)
{
    static struct parts parts;
    struct request r = {.common = PLM_EVALUATE, .anova_text = "absolute", .runs = plm_cli_evaluate_runs_default()};
    struct plm_result_files files;
    struct plm_error error;
    int status;
    if (plm_cli_evaluate_parse(&plm_cli_evaluate_memory, &r, argc, argv, &error) < 0 ||
        request_understand(&r, &error) < 0 || plm_install_find(&parts.common.install, &error) < 0 ||
        plm_cli_evaluate_folder_make(&r.runs, lines, &error) < 0)
        return plm_fault(&error);
    r.design.catalogue = &parts.common.catalogue;
    files = plm_cli_evaluate_files(
        &r.common, &r.runs,
        (const char *[PLM_EVALUATE_OTHERS]){r.model, levels_are_a_file(&r) ? r.levels : NULL, r.plan});
    if ((r.plan && plm_output_check(r.plan, &files.rule, &error) < 0) ||
        plm_cli_evaluate_files_check(&files, &r.runs, &error) < 0 || read_parts(&r, &parts, &error) < 0)
        status = plm_fault(&error);
    else
        status = run_design(&r, &parts, &files);
    plm_cli_evaluate_folder_close(&r.runs);
    plm_methods_model_close(&parts.model);
    plm_levels_free(&parts.levels);
    plm_truth_free(&parts.file);
    plm_cli_evaluate_parts_free(&parts.common);
    return status;
}

const struct plm_cli_evaluate_side plm_cli_evaluate_memory = {
    .command =
        {.name = "evaluate memory",
         .line = "compare estimates of peak memory with measurements",
         .words = "[TRUTH.csv]",
         .options = options,
         .complete = PLM_COMPLETE_FILE,
         .among = "csv",
         .example = {"plimsoll evaluate memory truth.csv --python venv/bin/python -o results --truth late-sample",
                     "plimsoll evaluate memory truth.csv -o results --resume --html accuracy.html",
                     "plimsoll evaluate memory truth.csv -o results --method all --model schedtune.model",
                     "plimsoll evaluate memory truth.csv --design grid --plan to-measure.csv",
                     "plimsoll evaluate memory --design montecarlo,workloads --gpu rtx3060 --truth virtual"},
         .exit = {{PLM_EXIT_COMMAND, "a workload failed"}, {PLM_EXIT_NOTHING, "a table cannot be read or understood"}},
         .run = memory_run},
};
