/* `plimsoll evaluate time`: step times and utilization of rows, as the time model says them, against what was measured. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "cli/evaluate.h"
#include "study/evaluate/time_judge.h"

/* ---- what is asked for ---- */

struct request {
    struct plm_cli_evaluate common;
    const char *truth_text, *tensors_text, *host_text, *fit_text; /* before they are understood */
    const char *speeds, *save_speeds; /* files of constants; NULL: the architecture's, none */
    const char *correction; /* folder of models: to be written if `learn` */
    int learn; /* rows */
    enum plm_timed_kind kind;
    char layout[8], precision[8]; /* of the workload; "": as the row says */
    struct plm_host_time host;
    size_t fit_rows;
    struct plm_timed_fit fit;
    struct plm_cli_evaluate_runs runs;
};

static const struct plm_option options[] = {
    {"truth", 0, PLM_OPTION_CHOICE, AT(truth_text), "KIND",
     .help = "what was measured: step-time or utilization (default: as the columns say)",
     .among = "step-time utilization", .configurable = true},
    {"tensors", 0, PLM_OPTION_TEXT, AT(tensors_text), "WORD,...",
     .help = "override the row's layout and precision: nchw or nhwc (channels last); amp, fp32, fp16 or bf16",
     .among = "nchw nhwc amp fp32 fp16 bf16"},
    {"speeds", 0, PLM_OPTION_TEXT, AT(speeds), "FILE",
     .help = "constants of the time model (default: the architecture's)", .complete = PLM_COMPLETE_FILE,
     .among = "ini"},
    {.include = plm_cli_option_host, .at = AT(host_text)},
    {"fit", 0, PLM_OPTION_TEXT, AT(fit_text), "N[:NAME,...]",
     .help = "fit up to three constants on N rows, judge on the others"},
    {"save-speeds", 0, PLM_OPTION_TEXT, AT(save_speeds), "FILE",
     .help = "write the constants, including the fitted ones", .complete = PLM_COMPLETE_FILE, .among = "ini"},
    {"learn", 0, PLM_OPTION_NUMBER, AT(learn), "N", .help = "learn a correction from N rows, judge on the others",
     .least = 1, .most = 1000000},
    {"correction", 0, PLM_OPTION_TEXT, AT(correction), "FOLDER",
     .help = "use this learned correction; with --learn, save it here", .complete = PLM_COMPLETE_FOLDER},
    {.include = plm_cli_evaluate_runs_options, .at = AT(runs)},
    {.include = plm_cli_evaluate_options, .at = AT(common)},
    {"layout", 0, PLM_OPTION_TEXT, AT(speeds), "LAYOUT", .instead = "write --tensors nhwc"},
    {"precision", 0, PLM_OPTION_TEXT, AT(speeds), "PRECISION", .instead = "write --tensors fp16"},
    {"fit-constants", 0, PLM_OPTION_TEXT, AT(speeds), "NAME,...", .instead = "write --fit N:NAME,..."},
    {"save-correction", 0, PLM_OPTION_TEXT, AT(speeds), "FOLDER", .instead = "write --learn N --correction FOLDER"},
    {0},
};

/* What a fit chooses if nobody says: of the host, which no data sheet describes, for utilization; of the GPU for step
   times. */
static const char *const usual_constants[PLM_TIMED_KINDS] = {
    [PLM_TIMED_STEP] = "memory_efficiency,tensor_efficiency,conv_efficiency",
    [PLM_TIMED_UTILIZATION] = "host_factor,sample_us,occupancy_share",
};

/* One that cannot be read is complained of later. */
static void kind_find(struct request *r)
{
    struct plm_csv table;
    if (r->truth_text)
        plm_timed_kind_parse(r->truth_text, &r->kind);
    else if (plm_csv_read(r->common.table, &table, NULL) == 0) {
        plm_timed_truth_recognize(&table, &r->kind);
        plm_csv_free(&table);
    }
}

static int tensors_understand(struct request *r, struct plm_error *error)
{
    const struct {
        const char *word;
        char *value;
    } known[] = {{"nchw", r->layout},    {"nhwc", r->layout},    {"amp", r->precision},
                 {"fp32", r->precision}, {"fp16", r->precision}, {"bf16", r->precision}};
    const char *rest = r->tensors_text;
    char word[16];
    while (plm_cli_evaluate_next(&rest, word, sizeof word)) {
        size_t i = 0;
        while (i < sizeof known / sizeof known[0] && strcmp(word, known[i].word) != 0)
            i++;
        if (i == sizeof known / sizeof known[0])
            return plm_fail(error, PLM_EINVAL, "--tensors takes nchw or nhwc, and amp, fp32, fp16 or bf16, not '%s'",
                            word);
        strcpy(known[i].value, word);
    }
    return 0;
}

/* "100:host_factor,sample_us" */
static int fit_understand(struct request *r, struct plm_error *error)
{
    const char *text = r->fit_text ? r->fit_text : "", *colon = strchr(text, ':');
    const size_t digits = strspn(text, "0123456789");
    const long rows = digits && digits < 8 ? strtol(text, NULL, 10) : 0;
    int status;
    if (r->fit_text && (!rows || rows > 1000000 || (text[digits] && colon != text + digits)))
        return plm_fail(error, PLM_EINVAL,
                        "--fit takes a number of rows from 1 to 1000000, and constants behind a colon, not '%.60s'",
                        text);
    r->fit_rows = (size_t)rows;
    status = plm_timed_fit_parse(colon ? colon + 1 : usual_constants[r->kind], &r->fit, error);
    for (size_t i = 0; status == 0 && rows && r->host.factor > 0 && i < r->fit.constants; i++)
        if (!strcmp(r->fit.constant[i]->name, "host_factor"))
            status = plm_fail(error, PLM_EINVAL,
                              "--host names the factor that --fit would choose; --fit N:NAME,... can leave it out");
    return status;
}

static int request_understand(struct request *r, struct plm_error *error)
{
    int status = r->common.table ? plm_cli_evaluate_runs_check(&r->runs, error) : plm_cli_evaluate_no_table(error);
    if (status)
        return status;
    kind_find(r);
    if ((status = tensors_understand(r, error)) || (status = plm_host_time_parse(r->host_text, &r->host, error)) ||
        (status = fit_understand(r, error)))
        return status;
    if (!r->fit_rows && r->save_speeds)
        return plm_fail(error, PLM_EINVAL, "--save-speeds needs --fit N");
    return 0;
}

/* ---- what is kept ---- */

static int speeds_write(FILE *out, const void *what, struct plm_error *error)
{
    plm_speeds_write(out, what);
    return ferror(out) ? plm_fail(error, PLM_EIO, "the constants could not be written") : 0;
}

/* The constants of the first card: those that were fitted are the same for all. */
static int speeds_save(const char *path, const struct plm_output_rule *rule, const struct plm_timed_evaluation *e,
                       const struct plm_timed_model *model, struct plm_error *error)
{
    struct plm_speeds speeds = model->card[0].speeds;
    size_t used = 0;
    snprintf(speeds.name, sizeof speeds.name, "%.46s", model->card[0].card);
    used += (size_t)snprintf(speeds.source, sizeof speeds.source, "plimsoll evaluate: %zu rows chose", e->fit.rows);
    for (size_t i = 0; i < e->fit.constants && used < sizeof speeds.source; i++)
        used += (size_t)snprintf(speeds.source + used, sizeof speeds.source - used, " %s", e->fit.constant[i]->name);
    return plm_output_write(path, rule, speeds_write, &speeds, error);
}

struct saved {
    const struct plm_timed_correct *correct;
    int figure;
};

static int correction_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct saved *s = what;
    return plm_timed_correct_save(out, s->correct, s->figure)
               ? plm_fail(error, PLM_EIO, "the correction could not be written")
               : 0;
}

static int correction_save(const char *folder, const struct plm_output_rule *rule, const struct plm_timed_correct *c,
                           struct plm_error *error)
{
    char path[PATH_MAX];
    int status = 0;
    for (int i = 0; i < PLM_TIMED_FIGURES && status == 0; i++)
        if (c->known >> i & 1) {
            plm_timed_correct_path(folder, i, path, sizeof path);
            status = plm_output_write(path, rule, correction_write, &(struct saved){c, i}, error);
        }
    return status;
}

/* Would what it keeps be refused? Makes the folder of a correction. */
static int kept_check(const struct request *r, const struct plm_output_rule *rule, struct plm_error *error)
{
    char path[PATH_MAX];
    int first, count = plm_timed_kind_figures(r->kind, &first), status = 0;
    if (r->save_speeds)
        status = plm_output_check(r->save_speeds, rule, error);
    if (status || !r->correction || !r->learn)
        return status;
    if (mkdir(r->correction, 0777) && errno != EEXIST)
        return plm_fail(error, PLM_EINVAL, "cannot make the folder %.200s: %s", r->correction, strerror(errno));
    for (int i = first; i < first + count && status == 0; i++) {
        plm_timed_correct_path(r->correction, i, path, sizeof path);
        status = plm_output_check(path, rule, error);
    }
    return status;
}

/* ---- all together ---- */

static const struct plm_cli_evaluate_lines lines[2] = {{"rows.csv", plm_timed_rows_head}, {NULL, NULL}};

struct parts {
    struct plm_cli_evaluate_parts common;
    struct plm_timed_truth truth;
    struct plm_timed_bench bench;
    struct plm_timed_model model;
    struct plm_timed_correct correct;
};

static int bench_run(const struct request *r, struct plm_timed_bench *bench, struct plm_error *error)
{
    int status = r->runs.resume ? plm_timed_bench_resume(bench, error) : 0;
    if (status == 0)
        status = plm_timed_bench_run(bench, isatty(STDERR_FILENO) ? plm_cli_evaluate_progress : NULL, "rows", error);
    return status ? status : plm_timed_bench_load(bench, error);
}

static int judge_and_show(const struct request *r, const struct plm_result_files *files, struct parts *p, bool *failed,
                          struct plm_error *error)
{
    const struct plm_timed_judge_options asked = {.fit_rows = r->fit_rows,
                                                  .fit = &r->fit,
                                                  .learn_rows = (size_t)r->learn,
                                                  .correct = r->correction && !r->learn ? &p->correct : NULL,
                                                  .seed = (uint64_t)r->common.seed};
    struct plm_timed_evaluation e;
    int status = plm_timed_judge(&p->bench, &asked, &p->model, &e, error);
    if (status)
        return status;
    if (r->save_speeds)
        status = speeds_save(r->save_speeds, &files->rule, &e, &p->model, error);
    if (status == 0 && r->correction && r->learn)
        status = correction_save(r->correction, &files->rule, &e.correct, error);
    if (status == 0)
        status = plm_cli_evaluate_show(&r->common, files, &plm_timed_evaluation_result, &e, error);
    *failed = e.failed > 0;
    plm_timed_evaluation_free(&e);
    return status;
}

/* What can be wrong with the user's files is found before anything runs. */
static int parts_read(const struct request *r, const struct plm_timed_settings *settings, struct parts *p,
                      struct plm_error *error)
{
    int status = plm_timed_truth_read(r->common.table, r->kind, &p->truth, error);
    if (status == 0)
        status = plm_timed_bench_make(settings, &p->truth, &p->bench, error);
    if (status == 0)
        status = plm_timed_model_read(&p->bench, r->speeds, &p->common.install, r->host, &p->model, error);
    if (status == 0 && r->correction && !r->learn)
        status = plm_timed_correct_load(r->correction, &p->correct, error);
    return status;
}

static int evaluate_times(const struct request *r, const struct plm_result_files *files, struct parts *p)
{
    const struct plm_timed_settings settings = {.common = plm_cli_evaluate_common(&r->common, &r->runs, &p->common),
                                                .layout = *r->layout ? r->layout : NULL,
                                                .precision = *r->precision ? r->precision : NULL};
    struct plm_error error;
    bool failed = false;
    int status = PLM_EXIT_OK;
    if (parts_read(r, &settings, p, &error) < 0 || bench_run(r, &p->bench, &error) < 0 ||
        judge_and_show(r, files, p, &failed, &error) < 0)
        status = plm_fault(&error);
    else if (failed)
        status = plm_complain(PLM_EXIT_COMMAND, "some rows could not be judged");
    plm_timed_correct_free(&p->correct);
    plm_timed_model_free(&p->model);
    plm_timed_bench_free(&p->bench);
    plm_timed_truth_free(&p->truth);
    return status;
}

static int time_run(int argc, char **argv)
{
    static struct parts parts;
    struct request r = {.common = PLM_EVALUATE, .runs = plm_cli_evaluate_runs_default()};
    struct plm_result_files files;
    struct plm_error error;
    int status;
    if (plm_cli_evaluate_parse(&plm_cli_evaluate_time, &r, argc, argv, &error) < 0 ||
        request_understand(&r, &error) < 0 || plm_install_find(&parts.common.install, &error) < 0 ||
        plm_cli_evaluate_folder_make(&r.runs, lines, &error) < 0)
        return plm_fault(&error);
    files = plm_cli_evaluate_files(&r.common, &r.runs, (const char *[PLM_EVALUATE_OTHERS]){r.speeds, r.save_speeds});
    if (plm_cli_evaluate_files_check(&files, &r.runs, &error) < 0 || kept_check(&r, &files.rule, &error) < 0 ||
        plm_cli_evaluate_parts_read(r.common.workloads, &parts.common, &error) < 0 ||
        plm_cli_evaluate_folder_open(&r.common, &r.runs, lines, &error) < 0)
        status = plm_fault(&error);
    else
        status = evaluate_times(&r, &files, &parts);
    plm_cli_evaluate_folder_close(&r.runs);
    plm_cli_evaluate_parts_free(&parts.common);
    return status;
}

static bool time_knows(const struct plm_csv *table)
{
    enum plm_timed_kind kind;
    return plm_timed_truth_recognize(table, &kind);
}

const struct plm_cli_evaluate_side plm_cli_evaluate_time = {
    .command = {.name = "evaluate time",
                .line = "compare step times and utilization with measurements",
                .words = "TIMES.csv",
                .options = options,
                .complete = PLM_COMPLETE_FILE,
                .among = "csv",
                .example = {"plimsoll evaluate time times.csv --gpu rtx3090 -o times --html times.html",
                            "plimsoll evaluate time busy.csv --gpu a100-40gb -o busy --resume --fit 100 --learn 400"},
                .exit = {{PLM_EXIT_COMMAND, "a row could not be judged"},
                         {PLM_EXIT_NOTHING, "a table cannot be read or understood"}},
                .run = time_run},
    .knows = time_knows,
};
