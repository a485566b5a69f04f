#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "study/estimate/capture.h"
#include "study/estimate/comparison.h"
#include "study/learn/label.h"
#include "study/methods/methods.h"
#include "time/speeds.h"
#include "base/draw.h"
#include "report/report.h"

enum { FILES = 4 };
#define CONTEXT_UNKNOWN UINT64_MAX

struct request {
    struct plm_look look;
    const char *methods, *gpu, *model, *features;
    uint64_t context;
    int gpus, nodes, tensor_parallel;
    bool json;
    const char *file[FILES];
    int files;
    char **command; /* NULL: files were given */
};

/* ---- what is asked for ---- */

static const struct plm_option options[] = {
    {"method", 0, PLM_OPTION_TEXT, AT(methods), "NAME,...", .help = "only these methods (default all)",
     .complete = PLM_COMPLETE_METHODS, .among = "all", .configurable = true},
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME,...", .help = "the cards to check (default: common ones)",
     .complete = PLM_COMPLETE_CARDS, .configurable = true},
    {"gpus", 0, PLM_OPTION_NUMBER, AT(gpus), "N", .help = "number of GPUs", .least = 1, .most = 1 << 20,
     .configurable = true},
    {"nodes", 0, PLM_OPTION_NUMBER, AT(nodes), "N", .help = "number of nodes", .least = 1, .most = 1 << 20,
     .configurable = true},
    {"tensor-parallel", 0, PLM_OPTION_NUMBER, AT(tensor_parallel), "N", .help = "tensor-parallel degree", .least = 1,
     .most = 1 << 20, .configurable = true},
    {"model", 0, PLM_OPTION_TEXT, AT(model), "FILE", .help = "a model from `plimsoll train`; only its method is asked",
     .complete = PLM_COMPLETE_FILE, .configurable = true},
    {"forest", 0, PLM_OPTION_TEXT, AT(model), "FILE", .instead = PLM_MODEL_INSTEAD, .configurable = true},
    {"boosted", 0, PLM_OPTION_TEXT, AT(model), "FILE", .instead = PLM_MODEL_INSTEAD, .configurable = true},
    {"features", 0, PLM_OPTION_TEXT, AT(features), "NAME=N,...",
     .help = "ask --model about these numbers instead of a job"},
    {"context", 0, PLM_OPTION_SIZE, AT(context), "SIZE",
     .help = "memory of the process outside its allocations: 500MiB", .configurable = true},
    {.include = plm_cli_option_json, .at = AT(json)},
    {.include = plm_cli_option_look, .at = AT(look)},
    {0},
};

static int estimate_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int before = 0, status;
    while (before < argc && strcmp(argv[before], "--") != 0)
        before++;
    if (before < argc)
        r->command = argv + before + 1;
    status = plm_options_among(options, r, "estimate", before, argv, r->file, FILES, &r->files, error);
    if (status < 0)
        return status;
    if (r->features && (r->files || r->command))
        return plm_fail(error, PLM_EINVAL, "--features replaces the job: give no files and no command");
    if (r->features)
        return r->model ? 0 : plm_fail(error, PLM_EINVAL, "--features needs --model FILE");
    if (r->files && r->command)
        return plm_fail(error, PLM_EINVAL, "give either files or a command, not both");
    if (r->command && !r->command[0])
        return plm_fail(error, PLM_EINVAL, "no command after --");
    if (!r->files && !r->command)
        return plm_fail(error, PLM_EINVAL,
                        "no file given; write `plimsoll estimate FILE...` or `plimsoll estimate -- python train.py`");
    if (r->files >= FILES)
        return plm_fail(error, PLM_EINVAL, "give at most three files: a record, a trace and a description of one job");
    return 0;
}

static int estimate_understand(struct request *r, struct plm_error *error)
{
    if (r->gpus % r->nodes)
        return plm_fail(error, PLM_EINVAL, "%d GPUs cannot be spread evenly over %d nodes", r->gpus, r->nodes);
    return 0;
}

static int method_unknown(const char *name, struct plm_error *error)
{
    char near[200];
    plm_methods_nearest(name, near, sizeof near);
    return plm_fail(error, PLM_EINVAL, "unknown method '%.60s'; %s%s%s", name,
                    *near ? "did you mean " : "--method all runs them all", near, *near ? "?" : "");
}

static int method_add(const struct plm_method *method, const struct plm_method *chosen[], int count)
{
    for (int i = 0; i < count; i++)
        if (chosen[i] == method)
            return count;
    if (count < PLM_ESTIMATE_METHODS)
        chosen[count++] = method;
    return count;
}

int plm_cli_methods_choose(const char *list, const struct plm_method *chosen[PLM_ESTIMATE_METHODS],
                           struct plm_error *error)
{
    char *names = plm_strdup(list), *rest = names;
    const bool all = !strcmp(list, "all");
    int count = 0, status = 0;
    for (size_t i = 0; all && i < PLM_METHODS; i++)
        count = method_add(plm_methods[i], chosen, count);
    for (char *name; !all && status == 0 && (name = strsep(&rest, ","));) {
        const struct plm_method *m = plm_methods_find(name);
        if (m)
            count = method_add(m, chosen, count);
        else
            status = method_unknown(name, error);
    }
    free(names);
    return status ? status : count;
}

/* ---- captures of a command: it is run once for each, as a child `plimsoll run` or `plimsoll trace` of this very program, with its
   output in a file of its own ---- */

enum { CAPTURES = 3 };
struct captures {
    char folder[PLM_SCRATCH];
    char path[CAPTURES][PLM_SCRATCH + 64];
    const char *file[CAPTURES]; /* those that are there, first */
    int files;
    int status; /* that the last of them ended with */
    char why[CAPTURES][256]; /* by part, in the order of enum plm_evidence_part; "": it went well */
};

enum { LEADING = 12 };

/* How each part comes about. A description is in every trace, so it is made alone only where no trace is wanted. */
static const struct way {
    enum plm_evidence_part part, instead;
    const char *file, *what;
    const char *word[LEADING];
} ways[CAPTURES] = {
    {PLM_NEEDS_JOB, 0, "job.plm", "the run on the virtual GPU", {"plimsoll", "run", "-f", "-o"}},
    {PLM_NEEDS_TRACE, 0, "trace.json", "the trace", {"plimsoll", "trace", "--no-compute", "-f", "-o"}},
    {PLM_NEEDS_DESCRIPTION,
     PLM_NEEDS_TRACE,
     "description.json",
     "the description",
     {"plimsoll", "describe", "-f", "-o"}},
};

struct capturing {
    const char *gpu; /* to play; NULL: the usual one */
    bool timed; /* the record has to tell times too */
};

static pid_t capture_start(const struct way *way, const char *path, const char *log, const struct capturing *how,
                           char **command, int *failure)
{
    size_t words = 0, n = 0;
    const char **all;
    pid_t pid;
    while (command[words])
        words++;
    all = plm_calloc(LEADING + words + 8, sizeof *all);
    for (int i = 0; i < LEADING && way->word[i]; i++)
        all[n++] = way->word[i];
    all[n++] = path;
    if (way->part == PLM_NEEDS_JOB) {
        all[n++] = "--detail";
        all[n++] = how->timed ? "full" : "low";
    }
    if (how->gpu && way->part == PLM_NEEDS_JOB) {
        all[n++] = "--gpu";
        all[n++] = how->gpu;
    }
    all[n++] = "--";
    for (size_t i = 0; i < words; i++)
        all[n++] = command[i];
    pid = plm_child_start(&(struct plm_child){.words = all, .self = true, .log = log}, failure);
    free(all);
    return pid;
}

static void capture_tell(struct plm_progress_line *line, void *context)
{
    const struct way *way = context;
    snprintf(line->what, sizeof line->what, "%s", way->what);
}

static int capture_make(const struct way *way, const struct capturing *how, char **command, struct captures *c, int at,
                        struct plm_error *error)
{
    char folder[PLM_SCRATCH], log[PLM_SCRATCH + 8], line[PLM_LAST_LINE];
    int status, failure;
    pid_t pid;
    memcpy(folder, c->folder, sizeof folder);
    snprintf(c->path[at], sizeof c->path[at], "%s/%s", folder, way->file);
    snprintf(log, sizeof log, "%s/log", folder);
    pid = capture_start(way, c->path[at], log, how, command, &failure);
    if (pid < 0)
        return plm_fail(error, PLM_EIO, "cannot start a process: %s", strerror(failure));
    status = plm_await(pid, capture_tell, (void *)way);
    c->status = WIFEXITED(status) ? WEXITSTATUS(status) : PLM_EXIT_COMMAND;
    /* Of a job that does not fit on the card, or made no step, there is all of the record. */
    if (c->status != PLM_EXIT_COMMAND && access(c->path[at], R_OK) == 0) {
        c->file[c->files++] = c->path[at];
        return 0;
    }
    plm_child_last_line(fopen(log, "re"), true, line);
    snprintf(c->why[at], sizeof c->why[at], "%s failed: %s", way->what, line[0] ? line : "no message");
    return 0;
}

/* `needs`: enum plm_evidence_part. 0, or a negative PLM_E code if none of the captures came about. */
static int capture_all(unsigned needs, const struct capturing *how, char **command, struct captures *c,
                       struct plm_error *error)
{
    int status = 0;
    const char *why = "";
    status = plm_scratch_make("estimate", c->folder, error);
    if (status)
        return status;
    for (int i = 0; i < CAPTURES && status == 0; i++)
        if ((needs & ways[i].part) && !(needs & ways[i].instead))
            status = capture_make(&ways[i], how, command, c, i, error);
    for (int i = 0; i < CAPTURES; i++)
        why = c->why[i][0] ? c->why[i] : why;
    if (status == 0 && !c->files && *why)
        status = plm_fail(error, PLM_EINVAL, "%s", why);
    return status;
}

/* ---- answering ---- */

struct question {
    struct plm_catalogue catalogue;
    struct plm_card card[PLM_REPORT_CARDS];
    int cards;
    const struct plm_method *method[PLM_ESTIMATE_METHODS];
    int methods;
    struct captures made;
    struct plm_captured captured;
    struct plm_model learned;
    struct plm_labels labels;
    double features[PLM_TREE_FEATURES];
};

/* Whether a model is asked that corrects what the virtual GPU says. */
static bool corrects(const struct question *q)
{
    return q->learned.method && q->learned.method->learner->ask_beside;
}

static unsigned estimate_needs(const struct question *q)
{
    unsigned all = 0;
    for (int i = 0; i < q->methods; i++)
        all |= q->method[i]->needs;
    return all;
}

/* 0, or the exit status after a complaint. */
static int estimate_open(const struct request *r, struct question *q)
{
    struct plm_error error;
    if (plm_catalogue_open(&q->catalogue, &error) < 0)
        return plm_fault(&error);
    /* A model that is named is asked, unless methods are named too. */
    q->methods = plm_cli_methods_choose(r->methods          ? r->methods
                                        : q->learned.method ? q->learned.method->name
                                                            : "all",
                                        q->method, &error);
    if (q->methods < 0)
        return plm_fault(&error);
    q->cards = plm_cards_choose(&q->catalogue, r->gpu, NULL, q->card, &error);
    if (q->cards < 0)
        return plm_fault(&error);
    if (q->cards == 0)
        return plm_complain(PLM_EXIT_CANNOT, "there are no cards to check: the folder of GPU files is empty");
    return 0;
}

/* On the first card that is asked about, else on that of the record. */
static int labels_make(const struct request *r, struct question *q, struct plm_labeller *l, struct plm_error *error)
{
    const struct plm_catalogue_entry *own;
    struct plm_speeds speeds;
    int status = r->gpu ? 0 : plm_catalogue_find(&q->catalogue, l->works.card, &own, error);
    if (status == 0) {
        l->card = r->gpu ? &q->card[0] : &own->card;
        l->speeds = &speeds;
        status = plm_speeds_read(NULL, &q->catalogue.install, l->card, &speeds, error);
    }
    if (status == 0)
        status = plm_label_job(l, &q->labels, error);
    l->speeds = NULL; /* they were ours */
    return status;
}

/* What the record says of time, for a model that corrects it. Without it, a model of memory answers all the same. */
static void times_read(const struct request *r, struct question *q)
{
    struct plm_labeller labeller;
    if (!corrects(q) || !q->captured.job_path || plm_labeller_open(&labeller, q->captured.job_path, NULL, NULL, NULL))
        return;
    if (labeller.timed && labels_make(r, q, &labeller, NULL) == 0)
        q->captured.evidence.labels = &q->labels;
    plm_labeller_close(&labeller);
}

static int open_capture(const struct request *r, struct question *q)
{
    const struct capturing how = {.gpu = r->gpu ? q->card[0].id : NULL, .timed = corrects(q)};
    const char *const *file = r->file;
    int files = r->files, status;
    struct plm_error error;
    if (r->command) {
        if (capture_all(estimate_needs(q), &how, r->command, &q->made, &error) < 0)
            return error.code == PLM_EINVAL ? plm_complain(q->made.status, error.text) : plm_fault(&error);
        for (int i = 0; i < CAPTURES; i++)
            if (q->made.why[i][0])
                plm_complain(0, q->made.why[i]);
        file = q->made.file;
        files = q->made.files;
    }
    status = r->features ? 0 : plm_captured_read(file, files, &q->captured, &error);
    if (status < 0)
        return plm_fault(&error);
    if (r->model)
        q->captured.evidence.model = &q->learned;
    times_read(r, q);
    if (r->features)
        q->captured.evidence.features = q->features;
    return 0;
}

/* Before anything is run: a file that is none should not cost a capture. Where one method is named, it is for that. */
static int open_model(const struct request *r, struct question *q)
{
    const struct plm_method *only = r->methods ? plm_methods_find(r->methods) : NULL;
    struct plm_error error;
    if (!r->model)
        return 0;
    if (only && !only->learner)
        return plm_complain_of(PLM_EXIT_USAGE, "%s does not accept --model", only->name);
    if (plm_methods_model_open(r->model, &q->learned, &error) < 0)
        return plm_fault(&error);
    if (only && only != q->learned.method)
        return plm_complain_of(PLM_EXIT_NOTHING, "%.300s was trained for %s, not for %s", r->model,
                               q->learned.method->name, only->name);
    if (r->features && corrects(q))
        return plm_complain_of(PLM_EXIT_USAGE, "%s corrects a run on the virtual GPU: --features alone are not enough",
                               q->learned.method->name);
    if (r->features && plm_features_parse(&q->learned, r->features, q->features, &error) < 0)
        return plm_fault(&error);
    return 0;
}

/* For one method and one card the exit status is the verdict. */
static int estimate_verdict(const struct plm_comparison *c)
{
    if (!c->answered)
        return PLM_EXIT_NOTHING;
    return c->rows == 1 && c->cards == 1 && c->row[0].answer[0].oom ? PLM_EXIT_NO_FIT : PLM_EXIT_OK;
}

static int estimate_answer(const struct request *r, const struct question *q)
{
    const struct plm_page page = plm_look_page(&r->look, stdout);
    const struct plm_comparison_options question = {.method = q->method,
                                                    .methods = (size_t)q->methods,
                                                    .card = q->card,
                                                    .cards = (size_t)q->cards,
                                                    .gpus = r->gpus,
                                                    .nodes = r->nodes,
                                                    .tensor_parallel = r->tensor_parallel,
                                                    .context_given = r->context != CONTEXT_UNKNOWN,
                                                    .context = r->context};
    struct plm_comparison comparison;
    struct plm_error error;
    int status, result;
    plm_compare(&q->captured.evidence, &question, &comparison);
    result = estimate_verdict(&comparison);
    if (!comparison.answered && comparison.rows == 1 && !r->json) {
        result = plm_complain_of(PLM_EXIT_NOTHING, "%s has no answer: %s", comparison.row[0].method->name,
                                 comparison.row[0].answer[0].note);
        status = 0;
    } else
        status = r->json ? plm_comparison_json(stdout, &comparison, &error)
                         : plm_comparison_text(&page, &comparison, &error);
    plm_comparison_free(&comparison);
    return status < 0 ? plm_fault(&error) : result;
}

/* Numbers alone have a number as their answer, at once: cards are read and judged only for --gpu. */
static bool is_bare(const struct request *r, const struct question *q)
{
    return q->learned.method && r->features && !r->gpu && (!r->methods || plm_methods_find_learner(r->methods));
}

/* A model of time or utilization, asked alone: there is no card to judge and nothing to compare with. */
static bool is_other_target(const struct question *q, struct plm_learned_answer *answer, struct plm_error *error)
{
    return q->learned.method && q->methods == 1 && q->method[0] == q->learned.method &&
           plm_learner_answers(q->learned.method->learner) &&
           plm_learned_ask(&q->learned, &q->captured.evidence, answer, error) == 0 &&
           answer->unit != PLM_LEARNED_MEMORY;
}

static int estimate_other(const struct request *r, const struct question *q, const struct plm_learned_answer *answer)
{
    const struct plm_page page = plm_look_page(&r->look, stdout);
    struct plm_json json;
    if (r->json) {
        plm_json_document(&json, stdout, "plimsoll.learned/1");
        plm_json_string(&json, "method", q->learned.method->name);
        plm_learned_describe(answer, &json);
        plm_json_finish(&json);
    } else
        plm_learned_show(answer, &page);
    return fflush(stdout) || ferror(stdout) ? plm_complain(PLM_EXIT_CANNOT, "the answer could not be written")
                                            : PLM_EXIT_OK;
}

static int estimate_bare(const struct request *r, const struct question *q)
{
    const struct plm_evidence evidence = {.model = &q->learned, .features = q->features};
    struct plm_learned_answer answer = {0};
    struct plm_error error;
    if (plm_learned_ask(&q->learned, &evidence, &answer, &error) < 0)
        return plm_fault(&error);
    return estimate_other(r, q, &answer);
}

/* The capture, the methods and the cards. */
static int estimate_whole(const struct request *r, struct question *q)
{
    struct plm_learned_answer other = {0};
    struct plm_error error;
    int status = estimate_open(r, q);
    if (status == 0)
        status = open_capture(r, q);
    if (status)
        return status;
    return is_other_target(q, &other, &error) ? estimate_other(r, q, &other) : estimate_answer(r, q);
}

static int estimate_run(int argc, char **argv)
{
    struct request r = {.look = PLM_LOOK, .context = CONTEXT_UNKNOWN, .gpus = 1, .nodes = 1, .tensor_parallel = 1};
    struct question q = {0};
    struct plm_error error;
    int status;
    if (estimate_parse(&r, argc, argv, &error) < 0 || estimate_understand(&r, &error) < 0)
        return plm_fault(&error);
    status = open_model(&r, &q);
    if (status == 0)
        status = is_bare(&r, &q) ? estimate_bare(&r, &q) : estimate_whole(&r, &q);
    plm_captured_free(&q.captured);
    plm_methods_model_close(&q.learned);
    plm_scratch_remove(q.made.folder);
    plm_catalogue_free(&q.catalogue);
    return status;
}

const struct plm_command plm_command_estimate = {
    .name = "estimate",
    .line = "compare published methods with plimsoll on one job",
    .words = "FILE... | -- COMMAND...",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .example = {"plimsoll estimate -- python train.py", "plimsoll estimate --gpu rtx3060,rtx4090 job.plm trace.json",
                "plimsoll estimate --method virtual,xmem,horus --json -- python train.py --batch 64",
                "plimsoll estimate --model mlp.model --features layers=4,batch=64,parameters=7e6,activations=9e3,"
                "batchnorms=0,dropouts=3,activation=relu"},
    .exit = {{PLM_EXIT_OK, "at least one method answered"},
             {PLM_EXIT_NO_FIT, "one method and one card were given, and the job does not fit"},
             {PLM_EXIT_NOTHING,
              "no method has an answer, or a file cannot be read, is truncated or is of another kind"}},
    .run = estimate_run,
};
