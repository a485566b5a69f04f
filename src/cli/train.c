#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/table.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "study/estimate/horus.h"
#include "study/estimate/schedtune.h"
#include "study/learn/learner.h"
#include "study/learn/network.h"

struct request {
    struct plm_look look; /* its amounts are not bytes: only the colour */
    const char *method, *data, *output, *target, *python, *import;
    int seed, trees, bin, folds; /* 0 but for the seed: as the method has it by itself */
    bool json, force, regression;
};

enum { FOLDS_MOST = 20, BIN_MOST = 64 };

static const struct plm_option own_options[] = {
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "where the trees or weights go",
     .complete = PLM_COMPLETE_FILE, .among = "forest", .required = true},
    {.include = plm_option_force, .at = AT(force)},
    {"trees", 0, PLM_OPTION_NUMBER, AT(trees), "N", .help = "how many trees (default 100; of " PLM_HORUS_METHOD " 300)",
     .least = 1, .most = PLM_TREE_COUNT, .configurable = true},
    {"target", 0, PLM_OPTION_TEXT, AT(target), "COLUMN", .help = "what to learn (default: the memory of the device)"},
    {"bin", 0, PLM_OPTION_NUMBER, AT(bin), "GB", .help = "width of a class of memory (default 1, of MLPs; else 8)",
     .least = 1, .most = BIN_MOST, .configurable = true},
    {"regression", 0, PLM_OPTION_FLAG, AT(regression), .help = "learn a number instead of classes"},
    {"folds", 0, PLM_OPTION_NUMBER, AT(folds), "K", .help = "also scores of K folds, each with a fresh model",
     .least = 2, .most = FOLDS_MOST, .configurable = true},
    {"seed", 0, PLM_OPTION_NUMBER, AT(seed), "N", .help = "another draw (default 0)", .configurable = true},
    {"python", 0, PLM_OPTION_TEXT, AT(python), "PROGRAM", .help = "the interpreter that has PyTorch (default python3)",
     .complete = PLM_COMPLETE_PROGRAM, .configurable = true, .own = true},
    {"import", 0, PLM_OPTION_TEXT, AT(import), "CKPT", .help = "take weights that GPUMemNet published instead",
     .complete = PLM_COMPLETE_FILE, .among = "ckpt"},
    {.include = plm_option_json, .at = AT(json)},
    {.include = plm_option_color, .at = AT(look.color)},
    {0},
};

/* Names of the methods come from their table. */
static const struct plm_option *make_options(void)
{
    static struct plm_option options[3];
    static char names[1024];
    size_t used = 0;
    for (size_t i = 0; i < plm_learner_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "", plm_learners[i].name);
    options[0] = (struct plm_option){"method",
                                     0,
                                     PLM_OPTION_CHOICE,
                                     AT(method),
                                     "NAME",
                                     .help = "which method (default schedtune)",
                                     .among = names,
                                     .configurable = true};
    options[1] = (struct plm_option){.include = own_options};
    return options;
}

/* ---- what is asked for ---- */

static int train_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(make_options(), r, "train", argc, argv, &r->data, 1, &words, error);
    if (status < 0)
        return status;
    if (r->import && words)
        return plm_fail(error, PLM_EINVAL, "--import takes weights that are trained already: no data file with it");
    if (words != 1 && !r->import)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll train --method %s DATA.csv -o FILE`",
                        words ? "one data file at a time" : "no data file given", r->method);
    if (!r->output)
        return plm_fail(error, PLM_EINVAL, "-o FILE says where the trees or weights go");
    return 0;
}

static struct plm_lesson train_lesson(const struct request *r)
{
    return (struct plm_lesson){.path = r->data,
                               .target = r->target,
                               .seed = (uint64_t)r->seed,
                               .trees = (size_t)r->trees,
                               .bin = r->bin,
                               .folds = r->folds,
                               .regression = r->regression,
                               .python = r->python};
}

/* ---- what it learned ---- */

struct writing {
    const struct plm_learner *learner;
    const void *model;
};

static int model_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct writing *w = what;
    return w->learner->save(out, w->model)
               ? plm_fail(error, PLM_EIO, "%s cannot be written: %s", w->learner->noun, strerror(errno))
               : 0;
}

static void train_show(const struct request *r, const struct plm_learner *learner, const void *model)
{
    const struct plm_page p = plm_look_page(&r->look, stdout);
    learner->show(model, &p);
    printf("\nNext: plimsoll estimate --method %s --%s ", learner->name, learner->option);
    plm_page_name(&p, r->output, 0, 0);
    fputs(" DESCRIPTION.json\n", stdout);
}

static void train_describe(const struct request *r, const struct plm_learner *learner, const void *model)
{
    struct plm_json json;
    plm_json_document(&json, stdout, "plimsoll.training/1");
    plm_json_string(&json, "method", learner->name);
    plm_json_string(&json, learner->option, r->output);
    learner->describe(model, &json);
    plm_json_finish(&json);
}

static int train_tell(const struct request *r, const struct plm_learner *learner, const void *model)
{
    if (r->json)
        train_describe(r, learner, model);
    else if (strcmp(r->output, "-") != 0)
        train_show(r, learner, model);
    return fflush(stdout) || ferror(stdout) ? plm_complain(PLM_EXIT_CANNOT, "the answer could not be written")
                                            : PLM_EXIT_OK;
}

/* ---- learning ---- */

static void lesson_tell(struct plm_progress_line *line, void *context)
{
    FILE *file = fopen(context, "re");
    if (!file || !fgets(line->what, sizeof line->what, file))
        snprintf(line->what, sizeof line->what, "starting Python");
    line->what[strcspn(line->what, "\n")] = '\0';
    if (file)
        fclose(file);
}

static int lesson_wait(pid_t child, const char *status, void *context)
{
    (void)context;
    return plm_await(child, lesson_tell, (void *)status);
}

/* What cannot be done here is another status than a table that cannot be learned from. */
static int train_failed(const struct plm_error *error)
{
    return plm_complain(error->code == PLM_EIO || error->code == PLM_ENOTFOUND ? PLM_EXIT_CANNOT : PLM_EXIT_USAGE,
                        error->text);
}

static int train_learn(const struct plm_learner *learner, struct plm_lesson lesson, void **model)
{
    char scratch[PLM_SCRATCH] = "";
    struct plm_table table = {0};
    struct plm_error error;
    int status = plm_table_read(lesson.path, &table, &error);
    if (status)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    status = learner->takes & PLM_LESSON_PYTHON ? plm_scratch_make("train", scratch, &error) : 0;
    lesson.table = &table;
    lesson.scratch = scratch;
    lesson.wait = lesson_wait;
    if (status == 0)
        status = learner->train(&lesson, model, &error);
    plm_table_free(&table);
    plm_scratch_remove(scratch);
    return status < 0 ? train_failed(&error) : 0;
}

/* A published checkpoint says itself which method it is for. */
static int train_import(const struct request *r, const struct plm_learner **learner, void **model)
{
    struct plm_network *network = plm_calloc(1, sizeof *network);
    struct plm_error error;
    if (plm_checkpoint_read(r->import, r->bin, network, &error) < 0) {
        free(network);
        return plm_complain(PLM_EXIT_USAGE, error.text);
    }
    *learner = plm_learner_find(network->method);
    *model = network;
    return 0;
}

static int train_run(int argc, char **argv)
{
    struct request r = {.method = PLM_SCHEDTUNE_METHOD, .look = PLM_LOOK};
    const struct plm_learner *learner;
    struct plm_lesson lesson;
    struct plm_error error;
    struct plm_output_rule rule;
    void *model = NULL;
    int status;
    if (train_parse(&r, argc, argv, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    learner = plm_learner_find(r.method);
    lesson = train_lesson(&r);
    if (!r.import && plm_lesson_check(learner, &lesson, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    rule = (struct plm_output_rule){.force = r.force, .input = {r.import ? r.import : r.data, r.json ? "-" : NULL}};
    if (plm_output_check(r.output, &rule, &error) < 0)
        return plm_not_written(&error);
    status = r.import ? train_import(&r, &learner, &model) : train_learn(learner, lesson, &model);
    if (status == 0 && plm_output_write(r.output, &rule, model_write, &(struct writing){learner, model}, &error) < 0)
        status = plm_not_written(&error);
    else if (status == 0)
        status = train_tell(&r, learner, model);
    learner->free(model);
    return status;
}

const struct plm_command plm_command_train = {
    .name = "train",
    .line = "train a method that learns, from a table of runs",
    .words = "DATA.csv",
    .make_options = make_options,
    .complete = PLM_COMPLETE_FILE,
    .among = "csv",
    .example = {"plimsoll train --method schedtune runs.csv -o schedtune.forest",
                "plimsoll train --method gpumemnet-mlp rows.csv -o mlp.net --folds 5",
                "plimsoll train --method horus-utilization runs.csv -o horus.trees",
                "plimsoll train --method gpumemnet-transformer rows.csv -o smact.net --target measured_smact",
                "plimsoll train --import mlp4mlp.ckpt -o published.net"},
    .exit = {{PLM_EXIT_OK, "the trees or weights were written"},
             {PLM_EXIT_USAGE, "usage, or a table that cannot be learned from"},
             {PLM_EXIT_CANNOT, "the file cannot be written, or the training cannot run here"}},
    .run = train_run,
};
