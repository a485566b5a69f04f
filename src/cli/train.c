#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/csv.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "study/learn/network.h"
#include "study/methods/methods.h"

struct request {
    struct plm_look look; /* its amounts are not bytes: only the colour */
    const char *method, *data, *output, *target, *python, *import;
    int seed, trees, bin, folds; /* 0 but for the seed: as the method has it by itself */
    bool json, force, regression;
};

enum { FOLDS_MOST = 20, BIN_MOST = 64 };

static const struct plm_option own_options[] = {
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "the model file to write",
     .complete = PLM_COMPLETE_FILE, .required = true},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"trees", 0, PLM_OPTION_NUMBER, AT(trees), "N", .help = "number of trees (default 100; horus-utilization 300)",
     .least = 1, .most = PLM_TREE_COUNT, .configurable = true},
    {"target", 0, PLM_OPTION_TEXT, AT(target), "COLUMN", .help = "the column to learn (default: device memory)"},
    {"bin", 0, PLM_OPTION_NUMBER, AT(bin), "GB", .help = "width of a memory class (default 1 for MLPs, else 8)",
     .least = 1, .most = BIN_MOST, .configurable = true},
    {"regression", 0, PLM_OPTION_FLAG, AT(regression), .help = "learn a number instead of classes"},
    {"folds", 0, PLM_OPTION_NUMBER, AT(folds), "K", .help = "also cross-validate with K folds", .least = 2,
     .most = FOLDS_MOST, .configurable = true},
    {"seed", 0, PLM_OPTION_NUMBER, AT(seed), "N", .help = "random seed (default 0)", .configurable = true},
    {"python", 0, PLM_OPTION_TEXT, AT(python), "PROGRAM", .help = "the interpreter with PyTorch (default python3)",
     .complete = PLM_COMPLETE_PROGRAM, .configurable = true, .own = true},
    {"import", 0, PLM_OPTION_TEXT, AT(import), "CKPT", .help = "import published GPUMemNet weights instead",
     .complete = PLM_COMPLETE_FILE, .among = "ckpt"},
    {.include = plm_cli_option_json, .at = AT(json)},
    {.include = plm_cli_option_color, .at = AT(look.color)},
    {0},
};

/* Names of the methods come from their table. */
static const struct plm_option *make_options(void)
{
    static struct plm_option options[3];
    static char names[1024];
    size_t used = 0;
    for (size_t i = 0; i < PLM_METHODS && used < sizeof names; i++)
        if (plm_methods[i]->learner)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "", plm_methods[i]->name);
    options[0] = (struct plm_option){"method",
                                     0,
                                     PLM_OPTION_CHOICE,
                                     AT(method),
                                     "NAME",
                                     .help = "the method to train (default schedtune)",
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
        return plm_fail(error, PLM_EINVAL, "--import takes no data file: its weights are already trained");
    if (words != 1 && !r->import)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll train --method %s DATA.csv -o FILE`",
                        words ? "one data file at a time" : "no data file given", r->method);
    if (!r->output)
        return plm_fail(error, PLM_EINVAL, "no output file given; add -o FILE");
    return 0;
}

static struct plm_lesson train_lesson(const struct request *r)
{
    return (struct plm_lesson){.method = plm_methods_find_learner(r->method),
                               .path = r->data,
                               .target = r->target,
                               .seed = (uint64_t)r->seed,
                               .trees = (size_t)r->trees,
                               .bin = r->bin,
                               .folds = r->folds,
                               .regression = r->regression,
                               .python = r->python};
}

/* ---- what it learned ---- */

static int model_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_model *learned = what;
    return plm_methods_model_save(out, learned)
               ? plm_fail(error, PLM_EIO, "%s cannot be written: %s", learned->method->learner->noun, strerror(errno))
               : 0;
}

static void train_show(const struct request *r, const struct plm_model *learned)
{
    const struct plm_page p = plm_look_page(&r->look, stdout);
    learned->method->learner->show(learned->model, &p);
    fputs("\nNext: plimsoll estimate --model ", stdout);
    plm_page_name(&p, r->output, 0, 0);
    fputs(" DESCRIPTION.json\n", stdout);
}

static void train_describe(const struct request *r, const struct plm_model *learned)
{
    struct plm_json json;
    plm_json_document(&json, stdout, "plimsoll.training/1");
    plm_json_string(&json, "method", learned->method->name);
    plm_json_string(&json, "model", r->output);
    learned->method->learner->describe(learned->model, &json);
    plm_json_finish(&json);
}

static int train_tell(const struct request *r, const struct plm_model *learned)
{
    if (r->json)
        train_describe(r, learned);
    else if (strcmp(r->output, "-") != 0)
        train_show(r, learned);
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

static int train_learn(struct plm_lesson lesson, struct plm_model *learned)
{
    char scratch[PLM_SCRATCH] = "";
    struct plm_csv table = {0};
    struct plm_error error;
    int status = plm_csv_read(lesson.path, &table, &error);
    if (status)
        return plm_fault(&error);
    learned->method = lesson.method;
    status = lesson.method->learner->takes & PLM_LESSON_PYTHON ? plm_scratch_make("train", scratch, &error) : 0;
    lesson.table = &table;
    lesson.scratch = scratch;
    lesson.wait = lesson_wait;
    if (status == 0)
        status = lesson.method->learner->train(&lesson, &learned->model, &error);
    plm_csv_free(&table);
    plm_scratch_remove(scratch);
    return status < 0 ? plm_fault(&error) : 0;
}

/* A published checkpoint says itself which method it is for. */
static int train_import(const struct request *r, struct plm_model *learned)
{
    struct plm_network *network = plm_calloc(1, sizeof *network);
    struct plm_error error;
    if (plm_checkpoint_read(r->import, r->bin, network, &error) < 0) {
        free(network);
        return plm_fault(&error);
    }
    *learned = (struct plm_model){network->method, network};
    return 0;
}

static int train_run(int argc, char **argv)
{
    struct request r = {.method = "schedtune", .look = PLM_LOOK};
    struct plm_model learned = {0};
    struct plm_lesson lesson;
    struct plm_error error;
    struct plm_output_rule rule;
    int status;
    if (train_parse(&r, argc, argv, &error) < 0)
        return plm_fault(&error);
    lesson = train_lesson(&r);
    if (!r.import && plm_lesson_check(&lesson, &error) < 0)
        return plm_fault(&error);
    rule = (struct plm_output_rule){.force = r.force, .input = {r.import ? r.import : r.data, r.json ? "-" : NULL}};
    if (plm_output_check(r.output, &rule, &error) < 0)
        return plm_fault(&error);
    status = r.import ? train_import(&r, &learned) : train_learn(lesson, &learned);
    if (status == 0 && plm_output_write(r.output, &rule, model_write, &learned, &error) < 0)
        status = plm_fault(&error);
    else if (status == 0)
        status = train_tell(&r, &learned);
    plm_methods_model_close(&learned);
    return status;
}

const struct plm_command plm_command_train = {
    .name = "train",
    .line = "train a learned method on a table of runs",
    .words = "DATA.csv",
    .make_options = make_options,
    .complete = PLM_COMPLETE_FILE,
    .among = "csv",
    .example = {"plimsoll train --method schedtune runs.csv -o schedtune.model",
                "plimsoll train --method gpumemnet-mlp rows.csv -o mlp.model --folds 5",
                "plimsoll train --method horus-utilization runs.csv -o horus.model",
                "plimsoll train --method gpumemnet-transformer rows.csv -o smact.model --target measured_smact",
                "plimsoll train --import mlp4mlp.ckpt -o published.model"},
    .exit = {{PLM_EXIT_OK, "the model was written"},
             {PLM_EXIT_NOTHING, "the table or checkpoint cannot be read or learned from"},
             {PLM_EXIT_CANNOT, "the file cannot be written, or the training cannot run here"}},
    .run = train_run,
};
