/* `plimsoll evaluate classes`: methods of all paradigms on the rows of one table. */
#include <stdio.h>
#include <unistd.h>

#include "common/error.h"
#include "cli/evaluate.h"
#include "study/evaluate/study.h"
#include "study/learn/example.h"

enum { FOLDS = 5 };

/* One of each paradigm that rows suffice for, and none that needs PyTorch. */
static const char usual_methods[] = "horus,accelerate,extratrees,plimsoll-learned,virtual";

struct request {
    struct plm_cli_evaluate common;
    const char *methods, *targets, *unseen, *lessons; /* but for methods NULL: as the study has them by itself */
    int bin, folds, sample; /* 0: likewise */
};

static const struct plm_option options[] = {
    {"method", 0, PLM_OPTION_TEXT, AT(methods), "NAME,...",
     .help = "methods to compare, or all (default: one per paradigm)", .complete = PLM_COMPLETE_METHODS, .among = "all",
     .configurable = true},
    {"target", 0, PLM_OPTION_TEXT, AT(targets), "COLUMN,...",
     .help = "quantities to predict (default memory and gputl), or all"},
    {"bin", 0, PLM_OPTION_NUMBER, AT(bin), "GB", .help = "width of a class of memory (default 1 for MLPs, else 8)",
     .least = 1, .most = 64},
    {"folds", 0, PLM_OPTION_NUMBER, AT(folds), "K", .help = "cross-validation folds (default 5)", .least = 2,
     .most = 20},
    {"unseen", 0, PLM_OPTION_TEXT, AT(unseen), "COLUMN,...", .help = "also hold out each group of a column in turn"},
    {"lessons", 0, PLM_OPTION_TEXT, AT(lessons), "FILE", .help = "train on the rows of this table only",
     .complete = PLM_COMPLETE_FILE},
    {"sample", 0, PLM_OPTION_NUMBER, AT(sample), "N",
     .help = "also run the jobs of N rows, for methods that need a capture", .least = 1, .most = 10000},
    {"truth", 0, PLM_OPTION_TEXT, AT(methods), "KIND",
     .instead = "`plimsoll evaluate classes TABLE.csv` says what is judged"},
    {.include = plm_cli_evaluate_options, .at = AT(common)},
    {0},
};

static void progress(size_t done, size_t all, const char *what)
{
    fprintf(stderr, "\r\033[K");
    if (done < all)
        fprintf(stderr, "plimsoll: %zu of %zu rounds, %s", done, all, what);
    fflush(stderr);
}

static int study_run(const struct request *r, const struct plm_result_files *files,
                     const struct plm_workloads *workloads)
{
    char scratch[PLM_SCRATCH] = "";
    struct plm_study_options asked = {.path = r->common.table,
                                      .methods = r->methods,
                                      .targets = r->targets,
                                      .unseen = r->unseen,
                                      .lessons = r->lessons,
                                      .bin = r->bin,
                                      .folds = r->folds,
                                      .seed = (uint64_t)r->common.seed,
                                      .python = r->common.python,
                                      .scratch = scratch,
                                      .sample = r->sample,
                                      .workloads = workloads,
                                      .progress = isatty(STDERR_FILENO) ? progress : NULL};
    struct plm_study study = {0};
    struct plm_error error;
    int status = PLM_EXIT_OK;
    if (plm_study_open(&asked, &study, &error) < 0 || plm_scratch_make("evaluate", scratch, &error) < 0)
        status = plm_fault(&error);
    else {
        plm_study_run(&study);
        if (plm_cli_evaluate_show(&r->common, files, &plm_study_shown, &study, &error) < 0)
            status = plm_fault(&error);
    }
    plm_study_close(&study);
    plm_scratch_remove(scratch);
    return status;
}

/* Scripts are needed for the jobs of a sample alone. */
static int classes_run(int argc, char **argv)
{
    static struct plm_cli_evaluate_parts parts;
    struct request r = {.common = PLM_EVALUATE, .methods = usual_methods, .folds = FOLDS};
    struct plm_result_files files;
    struct plm_error error;
    if (plm_cli_evaluate_parse(&plm_cli_evaluate_classes, &r, argc, argv, &error) < 0 ||
        (!r.common.table && plm_cli_evaluate_no_table(&error) < 0) || plm_install_find(&parts.install, &error) < 0)
        return plm_fault(&error);
    files = plm_cli_evaluate_files(&r.common, NULL, (const char *[PLM_EVALUATE_OTHERS]){r.lessons});
    if (plm_result_check(&files, &error) < 0 ||
        (r.sample && plm_workloads_read(r.common.workloads, &parts.install, &parts.workloads, &error) < 0))
        return plm_fault(&error);
    return study_run(&r, &files, &parts.workloads);
}

/* A table by `plimsoll dataset`. */
static bool classes_know(const struct plm_csv *table)
{
    return plm_csv_column(table, plm_example_column[PLM_EXAMPLE_PARAMETERS]) >= 0;
}

const struct plm_cli_evaluate_side plm_cli_evaluate_classes = {
    .command = {.name = "evaluate classes",
                .line = "compare methods on the rows of one dataset",
                .words = "ROWS.csv",
                .options = options,
                .complete = PLM_COMPLETE_FILE,
                .among = "csv",
                .example = {"plimsoll evaluate classes rows.csv --method virtual,horus,extratrees --unseen arch",
                            "plimsoll evaluate classes rows.csv --lessons drawn.csv --bin 1 --html study.html"},
                .exit = {{PLM_EXIT_NOTHING, "a table cannot be read or understood"}},
                .run = classes_run},
    .knows = classes_know,
};
