#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "study/estimate/forest.h"
#include "study/estimate/schedtune.h"
#include "base/draw.h"

struct request {
    struct plm_look look; /* its amounts are not bytes: only the colour */
    const char *method, *data, *output;
    int seed, trees;
    bool json, force;
};

enum { FEATURES_SHOWN = 6, NAME_COLUMNS = 12 };

/* Amounts of the method that learns are in MiB. */
#define MIB 1048576.0

static const struct plm_option options[] = {
    {"method", 0, PLM_OPTION_CHOICE, AT(method), "NAME", .help = "which method; schedtune is the one that learns",
     .among = PLM_SCHEDTUNE_METHOD, .configurable = true},
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "where the forest goes", .complete = PLM_COMPLETE_FILE,
     .among = "forest", .required = true},
    {.include = plm_option_force, .at = AT(force)},
    {"trees", 0, PLM_OPTION_NUMBER, AT(trees), "N", .help = "how many trees (default 100)", .least = 1,
     .most = PLM_TREE_COUNT, .configurable = true},
    {"seed", 0, PLM_OPTION_NUMBER, AT(seed), "N", .help = "another draw (default 0)", .configurable = true},
    {.include = plm_option_json, .at = AT(json)},
    {.include = plm_option_color, .at = AT(look.color)},
    {0},
};

static int train_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(options, r, "train", argc, argv, &r->data, 1, &words, error);
    if (status < 0)
        return status;
    if (words != 1)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll train --method schedtune DATA.csv -o FILE`",
                        words ? "one data file at a time" : "no data file given");
    if (!r->output)
        return plm_fail(error, PLM_EINVAL, "-o FILE says where the forest goes");
    return 0;
}

static int train_method(const struct request *r, struct plm_forest *forest, struct plm_error *error)
{
    const struct plm_forest_settings settings = {.trees = (size_t)r->trees, .seed = (uint64_t)r->seed};
    return plm_schedtune_train(r->data, &settings, forest, error);
}

static int forest_write(FILE *out, const void *what, struct plm_error *error)
{
    return plm_forest_save(out, what) ? plm_fail(error, PLM_EIO, "the forest cannot be written: %s", strerror(errno))
                                      : 0;
}

/* ---- what it learned ---- */

static int by_importance(const void *a, const void *b)
{
    const struct plm_tree_feature *const *p = a, *const *q = b;
    double d = (*q)->importance - (*p)->importance;
    if (d != 0)
        return d > 0 ? 1 : -1;
    return *p < *q ? -1 : *p > *q;
}

static size_t train_rank(const struct plm_forest *f, const struct plm_tree_feature *order[PLM_TREE_FEATURES])
{
    for (size_t i = 0; i < f->features; i++)
        order[i] = &f->feature[i];
    qsort(order, f->features, sizeof order[0], by_importance);
    return f->features;
}

static void train_show(const struct request *r, const struct plm_forest *f)
{
    const struct plm_page p = plm_look_page(&r->look, stdout);
    const struct plm_tree_feature *order[PLM_TREE_FEATURES];
    size_t features = train_rank(f, order);
    char low[32], high[32];
    printf("%s%s%s: %zu trees with %zu nodes learned from %llu rows (seed %llu).\n", plm_ink(&p, PLM_INK_BOLD),
           f->method, plm_ink(&p, PLM_INK_PLAIN), f->trees.count, f->trees.nodes, (unsigned long long)f->rows,
           (unsigned long long)f->seed);
    printf("The rows took %s to %s MiB: it cannot predict above %s MiB.\n",
           plm_count_text(low, sizeof low, (uint64_t)rint(f->low)),
           plm_count_text(high, sizeof high, (uint64_t)rint(f->high)), high);
    if (f->oob_rows)
        printf("On rows that a tree had not seen (%llu): R%s %.3f, median error %.1f %%.\n",
               (unsigned long long)f->oob_rows, p.utf8 ? "\xc2\xb2" : "^2", f->oob_r2, 100 * f->oob_error);
    plm_page_title(&p, "What decides");
    for (size_t i = 0; i < features && i < FEATURES_SHOWN; i++) {
        const struct plm_tree_feature *one = order[i];
        fputs("  ", stdout);
        plm_page_name(&p, one->name, NAME_COLUMNS, 1);
        printf(" %5.1f %%  ", 100 * one->importance);
        plm_page_bar(&p, plm_page_room(&p, NAME_COLUMNS + 34), 0, (uint64_t)(1000 * one->importance), 1000);
        printf("  %g to %g\n", one->low, one->high);
    }
    fputs("\nNext: plimsoll estimate --method schedtune --forest ", stdout);
    plm_page_name(&p, r->output, 0, 0);
    fputs(" DESCRIPTION.json\n", stdout);
}

static void train_describe(const struct request *r, const struct plm_forest *f)
{
    const struct plm_tree_feature *order[PLM_TREE_FEATURES];
    size_t features = train_rank(f, order);
    struct plm_json json;
    plm_json_document(&json, stdout, "plimsoll.training/1");
    plm_json_string(&json, "method", f->method);
    plm_json_string(&json, "forest", r->output);
    plm_json_integer(&json, "rows", f->rows);
    plm_json_integer(&json, "seed", f->seed);
    plm_json_integer(&json, "trees", f->trees.count);
    plm_json_integer(&json, "nodes", f->trees.nodes);
    plm_json_integer(&json, "lowest", (uint64_t)(f->low * MIB));
    plm_json_integer(&json, "highest", (uint64_t)(f->high * MIB));
    if (f->oob_rows) {
        plm_json_object(&json, "out_of_bag");
        plm_json_integer(&json, "rows", f->oob_rows);
        plm_json_real(&json, "r2", f->oob_r2);
        plm_json_real(&json, "median_relative_error", f->oob_error);
        plm_json_end_object(&json);
    }
    plm_json_array(&json, "features");
    for (size_t i = 0; i < features; i++) {
        plm_json_object(&json, NULL);
        plm_json_string(&json, "name", order[i]->name);
        plm_json_real(&json, "importance", order[i]->importance);
        plm_json_real(&json, "lowest", order[i]->low);
        plm_json_real(&json, "highest", order[i]->high);
        plm_json_end_object(&json);
    }
    plm_json_end_array(&json);
    plm_json_finish(&json);
}

static int train_run(int argc, char **argv)
{
    struct request r = {.method = PLM_SCHEDTUNE_METHOD, .look = PLM_LOOK, .trees = 100};
    struct plm_forest forest = {0};
    struct plm_error error;
    struct plm_output_rule rule;
    int status;
    if (train_parse(&r, argc, argv, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    rule = (struct plm_output_rule){.force = r.force, .input = {r.data, r.json ? "-" : NULL}};
    if (plm_output_check(r.output, &rule, &error) < 0)
        return plm_not_written(&error);
    if (train_method(&r, &forest, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    status =
        plm_output_write(r.output, &rule, forest_write, &forest, &error) < 0 ? plm_not_written(&error) : PLM_EXIT_OK;
    if (status == PLM_EXIT_OK && r.json)
        train_describe(&r, &forest);
    else if (status == PLM_EXIT_OK && strcmp(r.output, "-") != 0)
        train_show(&r, &forest);
    plm_forest_free(&forest);
    if (status == PLM_EXIT_OK && (fflush(stdout) || ferror(stdout)))
        return plm_complain(PLM_EXIT_CANNOT, "the answer could not be written");
    return status;
}

const struct plm_command plm_command_train = {
    .name = "train",
    .line = "train a method that learns, from a table of runs",
    .words = "DATA.csv",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "csv",
    .example = {"plimsoll train --method schedtune runs.csv -o schedtune.forest"},
    .exit = {{PLM_EXIT_OK, "the forest was written"},
             {PLM_EXIT_USAGE, "usage, or a table that cannot be learned from"},
             {PLM_EXIT_CANNOT, "the file cannot be written"}},
    .run = train_run,
};
