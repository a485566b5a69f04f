#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/error.h"
#include "base/install.h"
#include "base/output.h"
#include "base/temporary.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "study/evaluate/design.h"
#include "study/evaluate/judge.h"
#include "study/evaluate/time_bench.h"
#include "study/learn/example.h"
#include "study/methods/methods.h"
#include "base/draw.h"

/* ---- what is asked for ---- */

/* What some options are before they are understood. */
struct words {
    const char *kind, *design, *reference, *anova, *methods;
    int draws, seed;
};

/* Strings belong to the command line and the environment. */
struct request {
    struct words words;
    const char *truth; /* NULL: none, for a design that has its levels from elsewhere */
    const char *workloads, *python, *stack, *folder, *json, *csv, *figures, *html, *plan;
    const char *levels; /* "file", "workloads" or the path of a file */
    int jobs;
    bool resume, force, keep, made; /* made: the folder was not there */
    struct plm_look look;
    const char *model;
    const struct plm_method
        *method[PLM_ESTIMATE_METHODS]; /* without the run on the virtual GPU, which is always there */
    size_t methods;
    struct plm_design_options design;
    struct plm_judge_options judge;
    bool studied; /* the truth is a table of rows, for methods that learn */
    struct plm_evaluate_study study;
    bool timed; /* the truth is about time: step times or utilization */
    enum plm_time_kind time_kind;
    struct plm_evaluate_time time;
    char scratch[PLM_SCRATCH]; /* a temporary folder; that of the results as well, if none was given */
    char lines[2][PATH_MAX];   /* of a folder that was given: what runs add to; "": none */
};

static const struct plm_option options[] = {
    {"method", 0, PLM_OPTION_TEXT, AT(words.methods), "NAME,...", .help = "methods to ask beside plimsoll, or all",
     .complete = PLM_COMPLETE_METHODS, .among = "all", .configurable = true},
    {"model", 0, PLM_OPTION_TEXT, AT(model), "FILE",
     .help = "what `plimsoll train` made, for the method that it is for", .complete = PLM_COMPLETE_FILE,
     .configurable = true},
    {"forest", 0, PLM_OPTION_TEXT, AT(model), "FILE", .instead = PLM_MODEL_INSTEAD, .configurable = true},
    {"workloads", 0, PLM_OPTION_TEXT, AT(workloads), "FOLDER", .help = "scripts of the families, with a workloads.ini",
     .complete = PLM_COMPLETE_FOLDER, .configurable = true, .own = true},
    {"python", 0, PLM_OPTION_TEXT, AT(python), "PROGRAM", .help = "the interpreter that has PyTorch (default python3)",
     .complete = PLM_COMPLETE_PROGRAM, .configurable = true, .own = true},
    {"jobs", 'j', PLM_OPTION_NUMBER, AT(jobs), "N", .help = "processes at the same time (default: the processors)",
     .least = 1, .most = 4096, .configurable = true},
    {"gpu", 0, PLM_OPTION_TEXT, AT(design.gpu), "NAME", .help = "the card to play instead of each row's own",
     .complete = PLM_COMPLETE_CARD, .configurable = true},
    {"stack", 0, PLM_OPTION_TEXT, AT(stack), "NAME", .help = "the stack file of the runs, as in run",
     .complete = PLM_COMPLETE_STACK, .among = "auto none", .configurable = true},
    {"truth", 0, PLM_OPTION_CHOICE, AT(words.kind), "KIND",
     .help = "what was measured: a kind of memory (default device-less-first), step-time, utilization, or classes: "
             "rows of `plimsoll dataset`",
     .among = "allocated reserved device device-less-first step-time utilization classes", .configurable = true},
    {"target", 0, PLM_OPTION_TEXT, AT(study.targets), "COLUMN,...",
     .help = "of classes: what is asked (default memory and gputl; all)"},
    {"bin", 0, PLM_OPTION_NUMBER, AT(study.bin), "GB",
     .help = "width of a class of memory (default 1 for MLPs, else 8)", .least = 1, .most = 64},
    {"folds", 0, PLM_OPTION_NUMBER, AT(study.folds), "K", .help = "parts that are held out in turn (default 5)",
     .least = 2, .most = 20},
    {"unseen", 0, PLM_OPTION_TEXT, AT(study.unseen), "COLUMN,...",
     .help = "also leave out every group of a column in turn"},
    {"lessons", 0, PLM_OPTION_TEXT, AT(study.lessons), "FILE", .help = "learn from the rows of this table alone",
     .complete = PLM_COMPLETE_FILE},
    {"sample", 0, PLM_OPTION_NUMBER, AT(study.sample), "N",
     .help = "also run the jobs of N rows by themselves, for methods that need a capture", .least = 1, .most = 10000},
    {"layout", 0, PLM_OPTION_CHOICE, AT(time.layout), "LAYOUT",
     .help = "of images: nchw (default) or nhwc, channels last", .among = "nchw nhwc"},
    {"precision", 0, PLM_OPTION_CHOICE, AT(time.precision), "PRECISION",
     .help = "of networks: amp (default), fp32, fp16 or bf16", .among = "amp fp32 fp16 bf16"},
    {"speeds", 0, PLM_OPTION_TEXT, AT(time.speeds), "FILE",
     .help = "constants of the time model (default: the architecture's)", .complete = PLM_COMPLETE_FILE,
     .among = "ini"},
    {"host-factor", 0, PLM_OPTION_TEXT, AT(time.host_factor), "F",
     .help = "host time there for each second measured here"},
    {"host", 0, PLM_OPTION_CHOICE, AT(time.host), "HOW",
     .help = "the host's time: counted by its calls (default), or measured while the rows ran here",
     .among = "measured counted"},
    {"fit", 0, PLM_OPTION_NUMBER, AT(time.fit), "N", .help = "let N rows choose constants, and judge by the others",
     .least = 1, .most = 1000000},
    {"fit-constants", 0, PLM_OPTION_TEXT, AT(time.constants), "NAME,...", .help = "which ones, at most three"},
    {"save-speeds", 0, PLM_OPTION_TEXT, AT(time.save_speeds), "FILE",
     .help = "write the constants with those that were chosen", .complete = PLM_COMPLETE_FILE, .among = "ini"},
    {"learn", 0, PLM_OPTION_NUMBER, AT(time.learn), "N",
     .help = "learn a correction from N rows, and judge by the others", .least = 1, .most = 1000000},
    {"correction", 0, PLM_OPTION_TEXT, AT(time.correction), "FOLDER",
     .help = "use a correction that was learned before", .complete = PLM_COMPLETE_FOLDER},
    {"save-correction", 0, PLM_OPTION_TEXT, AT(time.save_correction), "FOLDER", .help = "keep the correction there",
     .complete = PLM_COMPLETE_FOLDER},
    {"late-sample", 0, PLM_OPTION_FLAG, AT(judge.late_sample),
     .help = "give back to the truth what a first sample that came late took off", .configurable = true},
    {"design", 0, PLM_OPTION_CHOICE, AT(words.design), "DESIGN",
     .help = "which runs: rows (default), grid or montecarlo", .among = "rows grid montecarlo"},
    {"draws", 0, PLM_OPTION_NUMBER, AT(words.draws), "N", .help = "how many to draw (default 1300)", .least = 1,
     .most = 100000},
    {"seed", 0, PLM_OPTION_NUMBER, AT(words.seed), "N", .help = "of the draws and the bootstrap (default 1)",
     .configurable = true},
    {"levels", 0, PLM_OPTION_TEXT, AT(levels), "FROM",
     .help = "what a design takes its levels from: file (default), workloads or an .ini", .complete = PLM_COMPLETE_FILE,
     .among = "ini"},
    {"reference", 0, PLM_OPTION_CHOICE, AT(words.reference), "virtual",
     .help = "hold runs without truth against the virtual GPU", .among = "virtual"},
    {"plan", 0, PLM_OPTION_TEXT, AT(plan), "FILE", .help = "write the runs down to be measured, and run nothing",
     .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"disturbed", 0, PLM_OPTION_FLAG, AT(design.disturbed),
     .help = "use rows that say that something else moved the card's memory"},
    {"anova", 0, PLM_OPTION_CHOICE, AT(words.anova), "RESPONSE",
     .help = "what errors depend on: absolute (default), signed or none", .among = "absolute signed none",
     .configurable = true},
    {"match", 'k', PLM_OPTION_TEXT, AT(design.pattern), "TEXT",
     .help = "only rows whose run, family, model or optimizer contains it"},
    {"output", 'o', PLM_OPTION_TEXT, AT(folder), "FOLDER", .help = "keep the results there",
     .complete = PLM_COMPLETE_FOLDER},
    {"resume", 0, PLM_OPTION_FLAG, AT(resume), .help = "go on with the results that are there"},
    {.include = plm_option_force, .at = AT(force)},
    {"keep", 0, PLM_OPTION_FLAG, AT(keep), .help = "leave the captures there as well"},
    {.include = plm_option_json_file, .at = AT(json)},
    {"csv", 0, PLM_OPTION_TEXT, AT(csv), "FILE", .help = "also write a line for each run",
     .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"figures", 0, PLM_OPTION_TEXT, AT(figures), "FILE", .help = "also write a line for each family and estimator",
     .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"html", 0, PLM_OPTION_TEXT, AT(html), "FILE", .help = "also write a page with plots",
     .complete = PLM_COMPLETE_FILE, .among = "html"},
    {.include = plm_option_look, .at = AT(look)},
    {0},
};

static int parse_words(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(options, r, "evaluate", argc, argv, &r->truth, 1, &words, error);
    if (status < 0)
        return status;
    if (words > 1 || (!words && !r->levels))
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll evaluate TRUTH.csv`",
                        words ? "one truth file at a time" : "no truth file given");
    if (!words)
        r->truth = NULL;
    return 0;
}

/* The run on the virtual GPU needs no asking: its record has all that is judged. What is judged is memory. */
static int choose_methods(struct request *r, struct plm_error *error)
{
    const struct plm_method *chosen[PLM_ESTIMATE_METHODS];
    const char *methods = r->words.methods ? r->words.methods : "virtual";
    const bool all = !strcmp(methods, "all");
    int count = plm_methods_choose(methods, chosen, error);
    for (int i = 0; i < count; i++) {
        const bool memory = plm_method_is_memory(chosen[i]);
        if (!memory && !all)
            return plm_fail(error, PLM_EINVAL, "%s answers with utilization, and what is compared here is memory",
                            chosen[i]->name);
        if (memory && chosen[i]->paradigm != PLM_VIRTUAL)
            r->method[r->methods++] = chosen[i];
    }
    return count < 0 ? count : 0;
}

static int understand_design(struct request *r, struct plm_error *error)
{
    const struct words *w = &r->words;
    plm_design_parse(w->design, &r->design.design);
    if (r->design.design == PLM_DESIGN_ROWS && r->levels)
        return plm_fail(error, PLM_EINVAL, "--levels is for --design grid or montecarlo");
    if (!r->levels)
        r->levels = "file";
    if (!r->truth && !strcmp(r->levels, "file"))
        return plm_fail(error, PLM_EINVAL, "no truth file given to take the levels from");
    r->design.draws = (size_t)w->draws;
    r->design.seed = r->judge.seed = (uint64_t)w->seed;
    r->design.kind = r->judge.kind;
    r->design.reference = w->reference || r->plan; /* a plan has what is still to be measured */
    return 0;
}

/* Without --truth the columns of the table say what it is about; one that cannot be read is complained of later. */
static void recognize_truth(struct request *r)
{
    struct plm_table table;
    if (r->words.kind) {
        r->studied = !strcmp(r->words.kind, "classes");
        r->timed = plm_time_kind_parse(r->words.kind, &r->time_kind) == 0;
    } else if (r->truth && plm_table_read(r->truth, &table, NULL) == 0) {
        r->studied = plm_table_column(&table, plm_example_column[PLM_EXAMPLE_PARAMETERS]) >= 0;
        r->timed = !r->studied && plm_time_truth_recognize(&table, &r->time_kind);
        plm_table_free(&table);
    }
    if (!r->words.kind)
        r->words.kind = "device-less-first";
}

enum side { MEMORY = 1, TIME = 2, STUDY = 4, SIDES = 8 };
static const char *const side_names[SIDES] = {
    [MEMORY] = "memory",
    [TIME] = "time (--truth step-time or utilization)",
    [STUDY] = "rows of `plimsoll dataset` (--truth classes)",
    [MEMORY | TIME] = "memory or time",
    [MEMORY | STUDY] = "memory",
};

/* Options of one side mean nothing to the others, and are not passed over in silence. */
static int sides_check(const struct request *r, struct plm_error *error)
{
    const struct words *w = &r->words;
    const struct plm_evaluate_time *t = &r->time;
    const struct {
        bool given;
        const char *name;
        unsigned sides;
    } options_of_sides[] = {
        {w->methods != NULL, "method", MEMORY | STUDY},
        {r->model != NULL, "model", MEMORY},
        {strcmp(w->design, "rows") != 0, "design", MEMORY},
        {r->levels != NULL, "levels", MEMORY},
        {w->reference != NULL, "reference", MEMORY},
        {r->plan != NULL, "plan", MEMORY},
        {r->design.disturbed, "disturbed", MEMORY},
        {r->judge.late_sample, "late-sample", MEMORY},
        {r->keep, "keep", MEMORY},
        {r->folder != NULL, "output", MEMORY | TIME},
        {r->design.pattern != NULL, "match", MEMORY | TIME},
        {t->layout != NULL, "layout", TIME},
        {t->precision != NULL, "precision", TIME},
        {t->speeds != NULL, "speeds", TIME},
        {t->host_factor != NULL, "host-factor", TIME},
        {t->host != NULL, "host", TIME},
        {t->fit > 0, "fit", TIME},
        {t->constants != NULL, "fit-constants", TIME},
        {t->save_speeds != NULL, "save-speeds", TIME},
        {t->learn > 0, "learn", TIME},
        {t->correction != NULL, "correction", TIME},
        {t->save_correction != NULL, "save-correction", TIME},
        {r->study.targets != NULL, "target", STUDY},
        {r->study.bin > 0, "bin", STUDY},
        {r->study.folds > 0, "folds", STUDY},
        {r->study.unseen != NULL, "unseen", STUDY},
        {r->study.lessons != NULL, "lessons", STUDY},
        {r->study.sample > 0, "sample", STUDY},
    };
    const unsigned side = r->studied ? STUDY : r->timed ? TIME : MEMORY;
    for (size_t i = 0; i < sizeof options_of_sides / sizeof options_of_sides[0]; i++)
        if (options_of_sides[i].given && !(options_of_sides[i].sides & side))
            return plm_fail(error, PLM_EINVAL, "--%s is for truth about %s, and this is about %s",
                            options_of_sides[i].name, side_names[options_of_sides[i].sides], side_names[side]);
    return 0;
}

static int request_understand(struct request *r, struct plm_error *error)
{
    const struct words *w = &r->words;
    int i = 0;
    recognize_truth(r);
    i = sides_check(r, error);
    if (i)
        return i;
    if (r->studied)
        return r->truth ? 0 : plm_fail(error, PLM_EINVAL, "no table of rows given");
    if (r->timed)
        return r->truth ? plm_evaluate_time_check(&r->time, r->time_kind, error)
                        : plm_fail(error, PLM_EINVAL, "no truth file given");
    plm_truth_kind_parse(w->kind, &r->judge.kind);
    if (r->judge.late_sample && r->judge.kind != PLM_TRUTH_LESS_FIRST)
        return plm_fail(error, PLM_EINVAL,
                        "--late-sample is about a first sample that was taken off: --truth device-less-first");
    while (i + 1 < PLM_RESPONSES && strcmp(w->anova, plm_response_name((enum plm_response)i)) != 0)
        i++;
    r->judge.response = (enum plm_response)i;
    i = choose_methods(r, error);
    return i ? i : understand_design(r, error);
}

/* The program that runs in each child sees its own PATH; here only a sentence is made of what is missing. */
static int request_check(const struct request *r, struct plm_error *error)
{
    if (r->folder && !strcmp(r->folder, "-"))
        return plm_fail(error, PLM_EINVAL, "-o names a folder; --csv - writes a line for each run to standard output");
    if (r->resume && !r->folder)
        return plm_fail(error, PLM_EINVAL, "--resume needs -o FOLDER, where the results of before are");
    if (r->keep && !r->folder)
        return plm_fail(error, PLM_EINVAL, "--keep needs -o FOLDER, where the captures stay");
    if (strchr(r->python, '/') && access(r->python, X_OK))
        return plm_fail(error, PLM_EINVAL, "--python %.200s: %s", r->python, strerror(errno));
    return 0;
}

static int evaluate_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int status;
    *r = (struct request){.words = {.design = "rows", .anova = "absolute", .draws = 1300, .seed = 1},
                          .python = "python3",
                          .look = PLM_LOOK,
                          .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    status = parse_words(r, argc, argv, error);
    if (status == 0)
        status = request_understand(r, error);
    return status ? status : request_check(r, error);
}

/* ---- the folder of records and results ---- */

/* What was read before anything runs. */
struct parts {
    struct plm_install install;
    struct plm_workloads workloads;
    struct plm_catalogue catalogue;
    struct plm_truth file;
    struct plm_levels levels;
    struct plm_learned model;
};

/* What runs add to, and how it begins. */
static const struct {
    const char *name, *head;
} line_files[2][2] = {
    {{"results.csv", plm_results_head}, {"answers.csv", plm_answers_head}},
    {{"rows.csv", plm_time_rows_head}, {NULL, NULL}},
};

/* Another table of that name is neither added to nor replaced: the user has named the folder, and not the file. */
static int lines_check(const struct request *r, const char *path, const char *head, struct plm_error *error)
{
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char start[256] = "";
    ssize_t n;
    int status = 0;
    if (file < 0)
        return plm_fail(error, PLM_EIO, "cannot use %.200s: %s", path,
                        errno == ELOOP ? "it is a link" : strerror(errno));
    n = pread(file, start, strlen(head), 0);
    if (n && strncmp(start, head, strlen(head)) != 0)
        status =
            plm_fail(error, PLM_EINVAL,
                     "%.200s is not a table of `plimsoll evaluate`; rename it, or name another folder with -o", path);
    else if (!r->resume && !r->force)
        status = plm_fail(error, PLM_EINVAL, "%.200s is there already: --resume goes on with it, -f replaces it", path);
    else if (!r->resume && plm_own_remove(path, file))
        status = plm_fail(error, PLM_EIO, "cannot remove %.200s: %s", path, strerror(errno));
    close(file);
    return status;
}

static int prepare_folder(struct request *r, struct plm_error *error)
{
    int status = 0;
    for (size_t i = 0; i < sizeof r->lines / sizeof r->lines[0] && status == 0; i++)
        if (*r->lines[i] && access(r->lines[i], F_OK) == 0)
            status = lines_check(r, r->lines[i], line_files[r->timed][i].head, error);
    if (status == 0)
        status = plm_scratch_make("evaluate", r->scratch, error);
    if (!r->folder)
        r->folder = r->scratch;
    return status;
}

/* ---- progress ---- */

void plm_evaluate_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *what)
{
    char left[48] = "", wrong[48] = "";
    if (made && done < all) {
        double rest = seconds / (double)made * (double)(all - done);
        if (rest < 90)
            snprintf(left, sizeof left, ", about %.0f s left", rest);
        else
            snprintf(left, sizeof left, ", about %.0f min left", rest / 60);
    }
    if (failed)
        snprintf(wrong, sizeof wrong, ", %zu failed", failed);
    fprintf(stderr, "\r\033[Kplimsoll: %zu of %zu %s%s%s", done, all, (const char *)what, wrong, left);
    if (done == all)
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* ---- what comes out ---- */

static const struct plm_evaluate_sink sink = {
    plm_evaluation_text, {plm_evaluation_json, plm_evaluation_csv, plm_evaluation_figures, plm_evaluation_html}};

static struct plm_output_rule output_rule(const struct request *r)
{
    const bool file = r->levels && strcmp(r->levels, "file") && strcmp(r->levels, "workloads");
    struct plm_output_rule rule = {.force = r->force,
                                   .input = {r->truth, r->model, file ? r->levels : NULL, r->plan, r->json, r->csv,
                                             r->figures, r->html, *r->lines[0] ? r->lines[0] : NULL,
                                             *r->lines[1] ? r->lines[1] : NULL}};
    if (r->timed) { /* in the places of what it has no use for */
        rule.input[1] = r->time.speeds;
        rule.input[3] = r->time.save_speeds;
    }
    return rule;
}

static struct plm_evaluate_show show_of(const struct request *r)
{
    return (struct plm_evaluate_show){
        .path = {r->json, r->csv, r->figures, r->html}, .look = r->look, .rule = output_rule(r)};
}

/* Before anything runs: what would be refused when all is done? The folder is made, for the files that shall be in it. */
static int outputs_check(struct request *r, struct plm_error *error)
{
    const char *const path[] = {r->json, r->csv, r->figures, r->html};
    struct plm_output_rule rule;
    int status;
    r->made = r->folder && !r->plan && mkdir(r->folder, 0777) == 0;
    if (r->folder && !r->plan && !r->made && errno != EEXIST)
        return plm_fail(error, PLM_EINVAL, "cannot make the folder %.200s: %s", r->folder, strerror(errno));
    for (size_t i = 0; i < sizeof r->lines / sizeof r->lines[0] && r->folder; i++)
        if (line_files[r->timed][i].name)
            snprintf(r->lines[i], sizeof r->lines[i], "%.3900s/%s", r->folder, line_files[r->timed][i].name);
    rule = output_rule(r);
    status = r->plan ? plm_output_check(r->plan, &rule, error) : 0;
    rule.force = true; /* of these, prepare_folder() decides */
    for (size_t i = 0; i < sizeof r->lines / sizeof r->lines[0] && *r->lines[i] && status == 0; i++)
        status = plm_output_check(r->lines[i], &rule, error);
    rule.force = r->force;
    for (size_t i = 0; i < sizeof path / sizeof path[0] && status == 0; i++)
        if (path[i])
            status = plm_output_check(path[i], &rule, error);
    if (status == 0 && r->timed)
        status = plm_evaluate_time_outputs(&r->time, r->time_kind, &rule, error);
    return status;
}

int plm_evaluate_show(const struct plm_evaluate_show *show, const struct plm_evaluate_sink *out, const void *what,
                      struct plm_error *error)
{
    const struct plm_page page = plm_look_page(&show->look, stdout);
    struct plm_output_part file[PLM_EVALUATE_FILES];
    bool quiet = false;
    int status;
    for (int i = 0; i < PLM_EVALUATE_FILES; i++) {
        file[i] = (struct plm_output_part){show->path[i], out->write[i], what, show->rule};
        quiet |= show->path[i] && !strcmp(show->path[i], "-");
    }
    status = plm_output_write_all(file, PLM_EVALUATE_FILES, error);
    return status || quiet ? status : out->text(&page, what, error);
}

/* ---- the runs of a design ---- */

static int run_bench(const struct request *r, struct plm_bench *bench, struct plm_error *error)
{
    char path[PATH_MAX];
    int status = r->resume ? plm_results_read(bench, error) : 0;
    snprintf(path, sizeof path, "%.3900s/answers.csv", r->folder);
    if (status == 0 && r->resume)
        status = plm_answers_read(bench, path, error);
    if (status == 0)
        status = plm_bench_run(bench, isatty(STDERR_FILENO) ? plm_evaluate_progress : NULL, "parts of runs", error);
    return status;
}

static int evaluate_truth(struct request *r, const struct parts *parts, const struct plm_truth *truth)
{
    const struct plm_bench_settings settings = {.catalogue = r->design.catalogue,
                                                .workloads = &parts->workloads,
                                                .python = r->python,
                                                .gpu = r->design.gpu,
                                                .stack = r->stack,
                                                .pattern = r->design.pattern,
                                                .folder = r->folder,
                                                .scratch = r->scratch,
                                                .keep = r->keep,
                                                .method = r->method,
                                                .methods = r->methods,
                                                .model_path = r->model,
                                                .model = r->model ? &parts->model : NULL,
                                                .jobs = r->jobs};
    struct plm_evaluation evaluation;
    struct plm_bench bench;
    struct plm_error error;
    bool failed = false;
    int status;
    if (plm_bench_make(&settings, truth, &bench, &error) < 0)
        return plm_fault(&error);
    status = run_bench(r, &bench, &error);
    if (status == 0) {
        const struct plm_evaluate_show show = show_of(r);
        plm_judge(&bench, &r->judge, &evaluation);
        status = plm_evaluate_show(&show, &sink, &evaluation, &error);
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
static int write_plan(const struct request *r, const struct plm_truth *truth, const struct plm_design_made *made)
{
    const struct plm_output_rule rule = output_rule(r);
    struct plm_error error;
    if (plm_output_write(r->plan, &rule, plan_write, &(struct plan){truth, made}, &error) == 0)
        return PLM_EXIT_OK;
    return plm_fault(&error);
}

static int run_design(struct request *r, const struct parts *parts)
{
    struct plm_design_made made;
    struct plm_truth truth;
    struct plm_error error;
    int status;
    if (plm_design_make(&r->design, &parts->file, &parts->levels, &truth, &made, &error) < 0)
        return plm_fault(&error);
    r->judge.design = &made;
    if (r->plan)
        status = write_plan(r, &truth, &made);
    else if (prepare_folder(r, &error) < 0)
        status = plm_fault(&error);
    else {
        status = evaluate_truth(r, parts, &truth);
        plm_scratch_remove(r->scratch); /* without -o, logs of failed workloads go with it: their last line was told */
    }
    r->judge.design = NULL;
    plm_truth_free(&truth);
    return status;
}

/* ---- truth about time ---- */

static int run_timed(struct request *r, const struct parts *parts)
{
    struct plm_evaluate_job job = {.catalogue = r->design.catalogue,
                                   .workloads = &parts->workloads,
                                   .truth = r->truth,
                                   .python = r->python,
                                   .gpu = r->design.gpu,
                                   .stack = r->stack,
                                   .pattern = r->design.pattern,
                                   .kind = r->time_kind,
                                   .jobs = r->jobs,
                                   .seed = r->words.seed,
                                   .resume = r->resume,
                                   .show = show_of(r)};
    struct plm_error error;
    int status;
    if (prepare_folder(r, &error) < 0)
        return plm_fault(&error);
    job.folder = r->folder;
    job.scratch = r->scratch;
    status = plm_evaluate_time(&job, &r->time);
    plm_scratch_remove(r->scratch);
    return status;
}

/* ---- a table of rows ---- */

/* Scripts are needed for the jobs of a sample alone. */
static int run_study(const struct request *r, struct parts *parts)
{
    const struct plm_evaluate_show show = show_of(r);
    struct plm_error error;
    if (r->study.sample && plm_workloads_read(r->workloads, &parts->install, &parts->workloads, &error) < 0)
        return plm_fault(&error);
    return plm_evaluate_study(&r->study, r->truth, r->words.methods, r->python, r->words.seed, &parts->workloads,
                              &show);
}

/* ---- all together ---- */

static int read_levels(const struct request *r, struct parts *parts, struct plm_error *error)
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

static int read_parts(const struct request *r, struct parts *parts, struct plm_error *error)
{
    const enum plm_truth_need need = r->design.reference ? PLM_TRUTH_WITHOUT_GROUND : PLM_TRUTH_NEEDS_GROUND;
    int status = plm_workloads_read(r->workloads, &parts->install, &parts->workloads, error);
    if (status == 0)
        status = plm_catalogue_load(&parts->catalogue, &parts->install, error);
    if (status == 0 && r->truth && !r->timed)
        status = plm_truth_read(r->truth, need, &parts->file, error);
    if (status == 0 && !r->timed)
        status = read_levels(r, parts, error);
    if (status == 0 && r->model)
        status = plm_learned_open(r->model, &parts->model, error);
    return status;
}

static int evaluate_run(int argc, char **argv)
{
    static struct parts parts;
    struct request r;
    struct plm_error error;
    int status;
    if (evaluate_parse(&r, argc, argv, &error) < 0)
        return plm_fault(&error);
    if (plm_install_find(&parts.install, &error) < 0)
        return plm_fault(&error);
    r.design.catalogue = &parts.catalogue;
    if (outputs_check(&r, &error) < 0 || (!r.studied && read_parts(&r, &parts, &error) < 0))
        status = plm_fault(&error);
    else if (r.studied)
        status = run_study(&r, &parts);
    else
        status = r.timed ? run_timed(&r, &parts) : run_design(&r, &parts);
    if (r.made)
        rmdir(r.folder); /* where nothing came of it */
    plm_learned_close(&parts.model);
    plm_levels_free(&parts.levels);
    plm_truth_free(&parts.file);
    plm_catalogue_free(&parts.catalogue);
    return status;
}

const struct plm_command plm_command_evaluate = {
    .name = "evaluate",
    .line = "how good the estimates are, against runs on real cards",
    .words = "TRUTH.csv",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "csv",
    .example = {"plimsoll evaluate truth.csv --python venv/bin/python -o results --late-sample",
                "plimsoll evaluate truth.csv -o results --resume --html accuracy.html",
                "plimsoll evaluate truth.csv -o results --method all --model schedtune.model",
                "plimsoll evaluate truth.csv --design grid --plan to-measure.csv",
                "plimsoll evaluate --design montecarlo --levels workloads --gpu rtx3060 --reference virtual",
                "plimsoll evaluate times.csv --gpu rtx3090 -o times --html times.html",
                "plimsoll evaluate busy.csv --gpu a100-40gb -o busy --resume --fit 100 --learn 400",
                "plimsoll evaluate --truth classes rows.csv --method virtual,horus,extratrees --unseen arch"},
    .exit = {{PLM_EXIT_COMMAND, "a workload failed"}, {PLM_EXIT_NOTHING, "a table cannot be read or understood"}},
    .run = evaluate_run,
};
