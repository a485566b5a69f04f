/* `plimsoll evaluate --truth classes`: methods of all paradigms on the rows of one table. */
#include <stdio.h>
#include <unistd.h>

#include "base/draw.h"
#include "base/error.h"
#include "cli/evaluate.h"
#include "study/evaluate/study.h"

enum { FOLDS = 5 };

/* One of each paradigm that rows suffice for, and none that needs PyTorch. */
static const char usual_methods[] = "horus,accelerate,extratrees,plimsoll-learned,virtual";

static void progress(size_t done, size_t all, const char *what)
{
    fprintf(stderr, "\r\033[K");
    if (done < all)
        fprintf(stderr, "plimsoll: %zu of %zu rounds, %s", done, all, what);
    fflush(stderr);
}

/* ---- what is shown ---- */

static const struct plm_evaluate_sink sink = {plm_study_text,
                                              {plm_study_json, plm_study_csv, plm_study_figures, plm_study_html}};

/* ---- all together ---- */

int plm_evaluate_study(const struct plm_evaluate_study *e, const char *table, const char *methods, const char *python,
                       int seed, const struct plm_workloads *workloads, const struct plm_evaluate_show *show)
{
    char scratch[PLM_SCRATCH] = "";
    struct plm_study_options options = {.path = table,
                                        .methods = methods ? methods : usual_methods,
                                        .targets = e->targets,
                                        .unseen = e->unseen,
                                        .lessons = e->lessons,
                                        .bin = e->bin,
                                        .folds = e->folds ? e->folds : FOLDS,
                                        .seed = (uint64_t)seed,
                                        .python = python,
                                        .scratch = scratch,
                                        .sample = e->sample,
                                        .workloads = workloads,
                                        .progress = isatty(STDERR_FILENO) ? progress : NULL};
    struct plm_study study = {0};
    struct plm_error error;
    int status = PLM_EXIT_OK;
    if (plm_study_open(&options, &study, &error) < 0 || plm_scratch_make("evaluate", scratch, &error) < 0)
        status = plm_fault(&error);
    else {
        plm_study_run(&study);
        if (plm_evaluate_show(show, &sink, &study, &error) < 0)
            status = plm_fault(&error);
    }
    plm_study_close(&study);
    plm_scratch_remove(scratch);
    return status;
}
