#include "cli/evaluate_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/estimate.h"

#define AT(field) offsetof(struct plm_evaluate_request, field)
const struct plm_option plm_evaluate_options[] = {
    {"method", 0, PLM_OPTION_TEXT, AT(words.methods), .argument = "NAME,...",
     .help = "methods to ask beside plimsoll, or all", .complete = PLM_COMPLETE_METHODS, .among = "all",
     .configurable = true},
    {"forest", 0, PLM_OPTION_TEXT, AT(forest), .argument = "FILE",
     .help = "what `plimsoll train` made, for the methods that learn", .complete = PLM_COMPLETE_FILE, .among = "forest",
     .configurable = true},
    {"workloads", 0, PLM_OPTION_TEXT, AT(workloads), .argument = "FOLDER",
     .help = "scripts of the families, with a workloads.ini", .complete = PLM_COMPLETE_FOLDER, .configurable = true},
    {"python", 0, PLM_OPTION_TEXT, AT(python), .argument = "PROGRAM",
     .help = "the interpreter that has PyTorch (default python3)", .complete = PLM_COMPLETE_PROGRAM,
     .configurable = true},
    {"jobs", 'j', PLM_OPTION_NUMBER, AT(jobs), .argument = "N",
     .help = "processes at the same time (default: the processors)", .configurable = true},
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), .argument = "NAME", .help = "the card to play instead of each row's own",
     .complete = PLM_COMPLETE_CARD, .configurable = true},
    {"stack", 0, PLM_OPTION_TEXT, AT(stack), .argument = "NAME", .help = "the stack file of the runs, as in run",
     .complete = PLM_COMPLETE_STACK, .among = "auto none", .configurable = true},
    {"truth", 0, PLM_OPTION_TEXT, AT(words.kind), .argument = "KIND",
     .help = "what was measured: allocated, reserved, device or device-less-first (default)",
     .complete = PLM_COMPLETE_CHOICE, .among = "allocated reserved device device-less-first", .configurable = true},
    {"late-sample", 0, PLM_OPTION_FLAG, AT(words.late_sample),
     .help = "give back to the truth what a first sample that came late took off", .configurable = true},
    {"design", 0, PLM_OPTION_TEXT, AT(words.design), .argument = "DESIGN",
     .help = "which runs: rows (default), grid or montecarlo", .complete = PLM_COMPLETE_CHOICE,
     .among = "rows grid montecarlo"},
    {"draws", 0, PLM_OPTION_NUMBER, AT(words.draws), .argument = "N", .help = "how many to draw (default 1300)"},
    {"seed", 0, PLM_OPTION_NUMBER, AT(words.seed), .argument = "N",
     .help = "of the draws and the bootstrap (default 1)", .configurable = true},
    {"levels", 0, PLM_OPTION_TEXT, AT(levels), .argument = "FROM",
     .help = "what a design takes its levels from: file (default), workloads or an .ini", .complete = PLM_COMPLETE_FILE,
     .among = "ini"},
    {"reference", 0, PLM_OPTION_TEXT, AT(words.reference), .argument = "virtual",
     .help = "hold runs without truth against the virtual GPU", .complete = PLM_COMPLETE_CHOICE, .among = "virtual"},
    {"plan", 0, PLM_OPTION_TEXT, AT(plan), .argument = "FILE",
     .help = "write the runs down to be measured, and run nothing", .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"disturbed", 0, PLM_OPTION_FLAG, AT(words.disturbed),
     .help = "use rows that say that something else moved the card's memory"},
    {"anova", 0, PLM_OPTION_TEXT, AT(words.anova), .argument = "RESPONSE",
     .help = "what errors depend on: absolute (default), signed or none", .complete = PLM_COMPLETE_CHOICE,
     .among = "absolute signed none", .configurable = true},
    {"match", 'k', PLM_OPTION_TEXT, AT(pattern), .argument = "TEXT",
     .help = "only rows whose run, family, model or optimizer contains it"},
    {"output", 'o', PLM_OPTION_TEXT, AT(folder), .argument = "FOLDER", .help = "keep the results there",
     .complete = PLM_COMPLETE_FOLDER},
    {"resume", 0, PLM_OPTION_FLAG, AT(resume), .help = "go on with the results that are there"},
    {.include = plm_option_force, .at = AT(force)},
    {"keep", 0, PLM_OPTION_FLAG, AT(keep), .help = "leave the captures there as well"},
    {"json", 0, PLM_OPTION_TEXT, AT(json), .argument = "FILE", .help = "also write all figures as JSON",
     .complete = PLM_COMPLETE_FILE, .among = "json"},
    {"csv", 0, PLM_OPTION_TEXT, AT(csv), .argument = "FILE", .help = "also write a line for each run",
     .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"figures", 0, PLM_OPTION_TEXT, AT(figures), .argument = "FILE",
     .help = "also write a line for each family and estimator", .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"html", 0, PLM_OPTION_TEXT, AT(html), .argument = "FILE", .help = "also write a page with plots",
     .complete = PLM_COMPLETE_FILE, .among = "html"},
    {.include = plm_option_look, .at = AT(look)},
    {0},
};

static int parse_words(struct plm_evaluate_request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(plm_evaluate_options, r, "evaluate", argc, argv, &r->truth, 1, &words, error);
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
static int choose_methods(struct plm_evaluate_request *r, struct plm_error *error)
{
    const struct plm_method *chosen[PLM_ESTIMATE_METHODS];
    int count = plm_methods_choose(r->words.methods, chosen, error);
    for (int i = 0; i < count; i++)
        if (chosen[i]->paradigm != PLM_VIRTUAL)
            r->method[r->methods++] = chosen[i];
    return count < 0 ? count : 0;
}

static int understand_design(struct plm_evaluate_request *r, struct plm_error *error)
{
    const struct plm_evaluate_words *w = &r->words;
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

static int request_understand(struct plm_evaluate_request *r, struct plm_error *error)
{
    const struct plm_evaluate_words *w = &r->words;
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
    i = choose_methods(r, error);
    return i ? i : understand_design(r, error);
}

/* The program that runs in each child sees its own PATH; here only a sentence is made of what is missing. */
static int request_check(const struct plm_evaluate_request *r, struct plm_error *error)
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
    int status;
    *r = (struct plm_evaluate_request){.words = {.kind = "device-less-first",
                                                 .design = "rows",
                                                 .anova = "absolute",
                                                 .methods = "virtual",
                                                 .draws = 1300,
                                                 .seed = 1},
                                       .python = "python3",
                                       .look = PLM_LOOK,
                                       .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    status = parse_words(r, argc, argv, error);
    if (status == 0)
        status = request_understand(r, error);
    return status ? status : request_check(r, error);
}
