#include "cli/evaluate_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"

/* What options are before they are understood. */
struct words {
    const char *kind, *design, *reference, *anova, *methods;
    int draws, seed;
    bool late_sample, disturbed;
};

static int parse_words(struct plm_evaluate_request *r, struct words *w, int argc, char **argv, struct plm_error *error)
{
    const struct plm_option table[] = {
        {"workloads", 0, PLM_OPTION_TEXT, &r->workloads, true},
        {"python", 0, PLM_OPTION_TEXT, &r->python, true},
        {"jobs", 'j', PLM_OPTION_NUMBER, &r->jobs, true},
        {"gpu", 0, PLM_OPTION_TEXT, &r->gpu, true},
        {"output", 'o', PLM_OPTION_TEXT, &r->folder, false},
        {"resume", 0, PLM_OPTION_FLAG, &r->resume, false},
        {"force", 'f', PLM_OPTION_FLAG, &r->force, false},
        {"keep", 0, PLM_OPTION_FLAG, &r->keep, false},
        {"json", 0, PLM_OPTION_TEXT, &r->json, false},
        {"csv", 0, PLM_OPTION_TEXT, &r->csv, false},
        {"figures", 0, PLM_OPTION_TEXT, &r->figures, false},
        {"html", 0, PLM_OPTION_TEXT, &r->html, false},
        {"truth", 0, PLM_OPTION_TEXT, &w->kind, true},
        {"match", 'k', PLM_OPTION_TEXT, &r->pattern, false},
        {"bytes", 0, PLM_OPTION_FLAG, &r->bytes, true},
        {"color", 0, PLM_OPTION_TEXT, &r->color, true},
        {"late-sample", 0, PLM_OPTION_FLAG, &w->late_sample, true},
        {"stack", 0, PLM_OPTION_TEXT, &r->stack, true},
        {"design", 0, PLM_OPTION_TEXT, &w->design, false},
        {"draws", 0, PLM_OPTION_NUMBER, &w->draws, false},
        {"seed", 0, PLM_OPTION_NUMBER, &w->seed, true},
        {"levels", 0, PLM_OPTION_TEXT, &r->levels, false},
        {"reference", 0, PLM_OPTION_TEXT, &w->reference, false},
        {"disturbed", 0, PLM_OPTION_FLAG, &w->disturbed, false},
        {"plan", 0, PLM_OPTION_TEXT, &r->plan, false},
        {"anova", 0, PLM_OPTION_TEXT, &w->anova, true},
        {"method", 0, PLM_OPTION_TEXT, &w->methods, true},
        {"forest", 0, PLM_OPTION_TEXT, &r->forest, true},
    };
    int words, status = plm_options_among(table, sizeof table / sizeof table[0], "evaluate", argc, argv, &r->truth, 1,
                                          &words, error);
    if (status < 0)
        return status;
    if (words > 1 || (!words && !r->levels))
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll evaluate TRUTH.csv`",
                        words ? "one truth file at a time" : "no truth file given");
    if (!words)
        r->truth = NULL;
    return 0;
}

/* The run on the virtual GPU needs no asking: its record has all that is judged. */
static void add_method(struct plm_evaluate_request *r, const struct plm_method *method)
{
    for (size_t i = 0; i < r->methods; i++)
        if (r->method[i] == method)
            return;
    if (method->paradigm != PLM_VIRTUAL && r->methods < PLM_EVALUATE_METHODS)
        r->method[r->methods++] = method;
}

static int unknown_method(const char *name, struct plm_error *error)
{
    char near[200];
    plm_method_nearest(name, near, sizeof near);
    return plm_fail(error, PLM_EINVAL, "there is no method '%.60s'; %s%s", name,
                    *near ? "near to it: " : "--method all", *near ? near : " has them all");
}

static int choose_methods(struct plm_evaluate_request *r, const char *list, struct plm_error *error)
{
    char *names, *rest;
    int status = 0;
    if (!strcmp(list, "all")) {
        for (size_t i = 0; i < plm_method_count; i++)
            add_method(r, &plm_methods[i]);
        return 0;
    }
    names = rest = strdup(list);
    if (!names)
        return plm_fail(error, PLM_ENOMEM, "there is not enough memory for the methods");
    for (char *name; status == 0 && (name = strsep(&rest, ","));) {
        const struct plm_method *method = plm_method_find(name);
        if (method)
            add_method(r, method);
        else
            status = unknown_method(name, error);
    }
    free(names);
    return status;
}

static int understand_design(struct plm_evaluate_request *r, const struct words *w, struct plm_error *error)
{
    if (plm_design_parse(w->design, &r->design.design))
        return plm_fail(error, PLM_EINVAL, "--design %.60s: it takes rows, grid or montecarlo", w->design);
    if (r->design.design == PLM_DESIGN_ROWS && r->levels)
        return plm_fail(error, PLM_EINVAL, "--levels is for --design grid or montecarlo");
    if (!r->levels)
        r->levels = "file";
    if (!r->truth && !strcmp(r->levels, "file"))
        return plm_fail(error, PLM_EINVAL, "no truth file given to take the levels from");
    if (w->draws < 1 || w->draws > 100000)
        return plm_fail(error, PLM_EINVAL, "--draws takes a number from 1 to 100,000");
    if (w->reference && strcmp(w->reference, "virtual") != 0)
        return plm_fail(error, PLM_EINVAL, "--reference %.60s: it takes virtual", w->reference);
    r->design.draws = (size_t)w->draws;
    r->design.seed = r->judge.seed = (uint64_t)w->seed;
    r->design.kind = r->judge.kind;
    r->design.reference = w->reference || r->plan; /* a plan has what is still to be measured */
    r->design.disturbed = w->disturbed;
    r->design.gpu = r->gpu;
    r->design.pattern = r->pattern;
    return 0;
}

static int understand(struct plm_evaluate_request *r, const struct words *w, struct plm_error *error)
{
    int i = 0;
    r->judge.late_sample = w->late_sample;
    if (plm_truth_kind_parse(w->kind, &r->judge.kind))
        return plm_fail(error, PLM_EINVAL, "--truth %.60s: it takes allocated, reserved, device or device-less-first",
                        w->kind);
    if (w->late_sample && r->judge.kind != PLM_TRUTH_LESS_FIRST)
        return plm_fail(error, PLM_EINVAL,
                        "--late-sample is about a first sample that was taken off: --truth device-less-first");
    while (i < PLM_RESPONSES && strcmp(w->anova, plm_response_name((enum plm_response)i)) != 0)
        i++;
    if (i == PLM_RESPONSES)
        return plm_fail(error, PLM_EINVAL, "--anova %.60s: it takes absolute, signed or none", w->anova);
    r->judge.response = (enum plm_response)i;
    i = choose_methods(r, w->methods, error);
    return i ? i : understand_design(r, w, error);
}

/* The program that runs in each child sees its own PATH; here only a sentence is made of what is missing. */
static int check(const struct plm_evaluate_request *r, struct plm_error *error)
{
    if (r->jobs < 1)
        return plm_fail(error, PLM_EINVAL, "--jobs takes a number from 1");
    if (r->resume && !r->folder)
        return plm_fail(error, PLM_EINVAL, "--resume needs -o FOLDER, where the results of before are");
    if (r->resume && r->force)
        return plm_fail(error, PLM_EINVAL, "--resume keeps the results of before and -f replaces them: one of the two");
    if (r->keep && !r->folder)
        return plm_fail(error, PLM_EINVAL, "--keep needs -o FOLDER, where the captures stay");
    if (strchr(r->python, '/') && access(r->python, X_OK))
        return plm_fail(error, PLM_EINVAL, "--python %.200s: %s", r->python, strerror(errno));
    return 0;
}

int plm_evaluate_parse(struct plm_evaluate_request *r, int argc, char **argv, struct plm_error *error)
{
    struct words w = {.kind = "device-less-first",
                      .design = "rows",
                      .anova = "absolute",
                      .methods = "virtual",
                      .draws = 1300,
                      .seed = 1};
    int status;
    *r =
        (struct plm_evaluate_request){.python = "python3", .color = "auto", .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    status = parse_words(r, &w, argc, argv, error);
    if (status == 0)
        status = understand(r, &w, error);
    return status ? status : check(r, error);
}
