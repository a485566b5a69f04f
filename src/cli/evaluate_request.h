/* What `plimsoll evaluate` is asked for. Strings belong to the command line and the environment. */
#ifndef PLM_CLI_EVALUATE_REQUEST_H
#define PLM_CLI_EVALUATE_REQUEST_H

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/estimate.h"
#include "study/evaluate/judge.h"

/* What some options are before they are understood. */
struct plm_evaluate_words {
    const char *kind, *design, *reference, *anova, *methods;
    int draws, seed;
    bool late_sample, disturbed;
};

struct plm_evaluate_request {
    struct plm_evaluate_words words;
    const char *truth; /* NULL: none, for a design that has its levels from elsewhere */
    const char *workloads, *python, *gpu, *stack, *folder, *json, *csv, *figures, *html, *pattern, *plan;
    const char *levels; /* "file", "workloads" or the path of a file */
    int jobs;
    bool resume, force, keep;
    struct plm_look look;
    const char *forest;
    const struct plm_method
        *method[PLM_ESTIMATE_METHODS]; /* without the run on the virtual GPU, which is always there */
    size_t methods;
    struct plm_design_options design;
    struct plm_judge_options judge;
    char own_folder[PLM_SCRATCH]; /* a temporary one, if none was given */
};

extern const struct plm_option plm_evaluate_options[];
/* Options, checked. PLM_EINVAL with a sentence. */
int plm_evaluate_parse(struct plm_evaluate_request *request, int argc, char **argv, struct plm_error *error);

#endif
