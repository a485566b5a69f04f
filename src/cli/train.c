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
#include "study/estimate/boosted.h"
#include "study/estimate/forest.h"
#include "study/estimate/horus.h"
#include "study/estimate/schedtune.h"
#include "base/draw.h"

struct request {
    struct plm_look look; /* its amounts are not bytes: only the colour */
    const char *method, *data, *output;
    int seed, trees;      /* no trees: as many as the method has by itself */
    bool json, force;
};

enum { FEATURES_SHOWN = 8, NAME_COLUMNS = 12 };

/* Amounts of SchedTune are in MiB. */
#define MIB 1048576.0

static const struct plm_option options[] = {
    {"method", 0, PLM_OPTION_CHOICE, AT(method), "NAME", .help = "which method (default schedtune)",
     .among = PLM_SCHEDTUNE_METHOD " " PLM_HORUS_METHOD, .configurable = true},
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "where the trees go", .complete = PLM_COMPLETE_FILE,
     .among = "forest", .required = true},
    {.include = plm_option_force, .at = AT(force)},
    {"trees", 0, PLM_OPTION_NUMBER, AT(trees), "N", .help = "how many trees (default 100; of " PLM_HORUS_METHOD " 300)",
     .least = 1, .most = PLM_TREE_COUNT, .configurable = true},
    {"seed", 0, PLM_OPTION_NUMBER, AT(seed), "N", .help = "another draw (default 0)", .configurable = true},
    {.include = plm_option_json, .at = AT(json)},
    {.include = plm_option_color, .at = AT(look.color)},
    {0},
};

/* ---- the methods that learn ---- */

/* What a method made of the table: one of the two. */
struct learned {
    struct plm_forest forest;
    struct plm_boosted boosted;
};

/* What all of them can be asked. */
struct outline {
    const char *method;
    const struct plm_trees *trees;
    const struct plm_tree_feature *feature;
    size_t features;
    uint64_t rows, seed;
};

static int schedtune_train(const struct request *r, struct learned *learned, struct plm_error *error)
{
    const struct plm_forest_settings settings = {.trees = r->trees ? (size_t)r->trees : 100, .seed = (uint64_t)r->seed};
    return plm_schedtune_train(r->data, &settings, &learned->forest, error);
}

static int schedtune_save(FILE *out, const struct learned *learned)
{
    return plm_forest_save(out, &learned->forest);
}

static struct outline schedtune_outline(const struct learned *learned)
{
    const struct plm_forest *f = &learned->forest;
    return (struct outline){f->method, &f->trees, f->feature, f->features, f->rows, f->seed};
}

static void schedtune_show(const struct learned *learned, const char *squared)
{
    const struct plm_forest *f = &learned->forest;
    char low[32], high[32];
    printf("The rows took %s to %s MiB: it cannot predict above %s MiB.\n",
           plm_count_text(low, sizeof low, (uint64_t)rint(f->low)),
           plm_count_text(high, sizeof high, (uint64_t)rint(f->high)), high);
    if (f->oob_rows)
        printf("On rows that a tree had not seen (%llu): R%s %.3f, median error %.1f %%.\n",
               (unsigned long long)f->oob_rows, squared, f->oob_r2, 100 * f->oob_error);
}

static void schedtune_describe(const struct learned *learned, struct plm_json *json)
{
    const struct plm_forest *f = &learned->forest;
    plm_json_integer(json, "lowest", (uint64_t)(f->low * MIB));
    plm_json_integer(json, "highest", (uint64_t)(f->high * MIB));
    if (!f->oob_rows)
        return;
    plm_json_object(json, "out_of_bag");
    plm_json_integer(json, "rows", f->oob_rows);
    plm_json_real(json, "r2", f->oob_r2);
    plm_json_real(json, "median_relative_error", f->oob_error);
    plm_json_end_object(json);
}

static int horus_train(const struct request *r, struct learned *learned, struct plm_error *error)
{
    struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    settings.trees = r->trees ? (size_t)r->trees : settings.trees;
    settings.seed = (uint64_t)r->seed;
    return plm_horus_train(r->data, &settings, &learned->boosted, error);
}

static int horus_save(FILE *out, const struct learned *learned)
{
    return plm_boosted_save(out, &learned->boosted);
}

static struct outline horus_outline(const struct learned *learned)
{
    const struct plm_boosted *b = &learned->boosted;
    return (struct outline){b->method, &b->trees, b->feature, b->features, b->rows, b->seed};
}

static void horus_show(const struct learned *learned, const char *squared)
{
    const struct plm_boosted *b = &learned->boosted;
    printf("The rows kept the GPU busy for %.1f to %.1f %% of the time.\n", b->low, b->high);
    if (b->held_rows)
        printf("On rows that were held out (%llu, five folds): R%s %.3f, median error %.1f points.\n",
               (unsigned long long)b->held_rows, squared, b->held_r2, b->held_error);
}

static void horus_describe(const struct learned *learned, struct plm_json *json)
{
    const struct plm_boosted *b = &learned->boosted;
    plm_json_real(json, "lowest_percent", b->low);
    plm_json_real(json, "highest_percent", b->high);
    if (!b->held_rows)
        return;
    plm_json_object(json, "held_out");
    plm_json_integer(json, "rows", b->held_rows);
    plm_json_real(json, "r2", b->held_r2);
    plm_json_real(json, "median_error_points", b->held_error);
    plm_json_end_object(json);
}

static const struct learner {
    const char *method, *option; /* of `plimsoll estimate`, and the key in JSON */
    int (*train)(const struct request *r, struct learned *learned, struct plm_error *error);
    int (*save)(FILE *out, const struct learned *learned);
    struct outline (*outline)(const struct learned *learned);
    void (*show)(const struct learned *learned, const char *squared);
    void (*describe)(const struct learned *learned, struct plm_json *json);
} learners[] = {
    {PLM_SCHEDTUNE_METHOD, "forest", schedtune_train, schedtune_save, schedtune_outline, schedtune_show,
     schedtune_describe},
    {PLM_HORUS_METHOD, "boosted", horus_train, horus_save, horus_outline, horus_show, horus_describe},
};

/* The option takes no other name. */
static const struct learner *learner_find(const char *method)
{
    size_t i = 0;
    while (i + 1 < sizeof learners / sizeof learners[0] && strcmp(learners[i].method, method) != 0)
        i++;
    return &learners[i];
}

/* ---- what is asked for ---- */

static int train_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(options, r, "train", argc, argv, &r->data, 1, &words, error);
    if (status < 0)
        return status;
    if (words != 1)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll train --method %s DATA.csv -o FILE`",
                        words ? "one data file at a time" : "no data file given", r->method);
    if (!r->output)
        return plm_fail(error, PLM_EINVAL, "-o FILE says where the trees go");
    return 0;
}

struct writing {
    const struct learner *learner;
    const struct learned *learned;
};

static int trees_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct writing *w = what;
    return w->learner->save(out, w->learned)
               ? plm_fail(error, PLM_EIO, "the trees cannot be written: %s", strerror(errno))
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

static void train_rank(const struct outline *o, const struct plm_tree_feature *order[PLM_TREE_FEATURES])
{
    for (size_t i = 0; i < o->features; i++)
        order[i] = &o->feature[i];
    qsort(order, o->features, sizeof order[0], by_importance);
}

static void features_show(const struct plm_page *p, const struct outline *o)
{
    const struct plm_tree_feature *order[PLM_TREE_FEATURES];
    train_rank(o, order);
    plm_page_title(p, "What decides");
    for (size_t i = 0; i < o->features && i < FEATURES_SHOWN; i++) {
        const struct plm_tree_feature *one = order[i];
        fputs("  ", stdout);
        plm_page_name(p, one->name, NAME_COLUMNS, 1);
        printf(" %5.1f %%  ", 100 * one->importance);
        plm_page_bar(p, plm_page_room(p, NAME_COLUMNS + 34), 0, (uint64_t)(1000 * one->importance), 1000);
        printf("  %g to %g\n", one->low, one->high);
    }
}

static void train_show(const struct request *r, const struct learner *learner, const struct learned *learned)
{
    const struct plm_page p = plm_look_page(&r->look, stdout);
    const struct outline o = learner->outline(learned);
    printf("%s%s%s: %zu trees with %zu nodes learned from %llu rows (seed %llu).\n", plm_ink(&p, PLM_INK_BOLD),
           o.method, plm_ink(&p, PLM_INK_PLAIN), o.trees->count, o.trees->nodes, (unsigned long long)o.rows,
           (unsigned long long)o.seed);
    learner->show(learned, p.utf8 ? "\xc2\xb2" : "^2");
    features_show(&p, &o);
    printf("\nNext: plimsoll estimate --method %s --%s ", learner->method, learner->option);
    plm_page_name(&p, r->output, 0, 0);
    fputs(" DESCRIPTION.json\n", stdout);
}

static void features_describe(struct plm_json *json, const struct outline *o)
{
    const struct plm_tree_feature *order[PLM_TREE_FEATURES];
    train_rank(o, order);
    plm_json_array(json, "features");
    for (size_t i = 0; i < o->features; i++) {
        plm_json_object(json, NULL);
        plm_json_string(json, "name", order[i]->name);
        plm_json_real(json, "importance", order[i]->importance);
        plm_json_real(json, "lowest", order[i]->low);
        plm_json_real(json, "highest", order[i]->high);
        plm_json_end_object(json);
    }
    plm_json_end_array(json);
}

static void train_describe(const struct request *r, const struct learner *learner, const struct learned *learned)
{
    const struct outline o = learner->outline(learned);
    struct plm_json json;
    plm_json_document(&json, stdout, "plimsoll.training/1");
    plm_json_string(&json, "method", o.method);
    plm_json_string(&json, learner->option, r->output);
    plm_json_integer(&json, "rows", o.rows);
    plm_json_integer(&json, "seed", o.seed);
    plm_json_integer(&json, "trees", o.trees->count);
    plm_json_integer(&json, "nodes", o.trees->nodes);
    learner->describe(learned, &json);
    features_describe(&json, &o);
    plm_json_finish(&json);
}

/* ---- all together ---- */

static int train_tell(const struct request *r, const struct learner *learner, const struct learned *learned)
{
    if (r->json)
        train_describe(r, learner, learned);
    else if (strcmp(r->output, "-") != 0)
        train_show(r, learner, learned);
    return fflush(stdout) || ferror(stdout) ? plm_complain(PLM_EXIT_CANNOT, "the answer could not be written")
                                            : PLM_EXIT_OK;
}

static int train_run(int argc, char **argv)
{
    struct request r = {.method = PLM_SCHEDTUNE_METHOD, .look = PLM_LOOK};
    const struct learner *learner;
    struct learned learned = {0};
    struct plm_error error;
    struct plm_output_rule rule;
    int status;
    if (train_parse(&r, argc, argv, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    rule = (struct plm_output_rule){.force = r.force, .input = {r.data, r.json ? "-" : NULL}};
    if (plm_output_check(r.output, &rule, &error) < 0)
        return plm_not_written(&error);
    learner = learner_find(r.method);
    if (learner->train(&r, &learned, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (plm_output_write(r.output, &rule, trees_write, &(struct writing){learner, &learned}, &error) < 0)
        status = plm_not_written(&error);
    else
        status = train_tell(&r, learner, &learned);
    plm_forest_free(&learned.forest);
    plm_boosted_free(&learned.boosted);
    return status;
}

const struct plm_command plm_command_train = {
    .name = "train",
    .line = "train a method that learns, from a table of runs",
    .words = "DATA.csv",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "csv",
    .example = {"plimsoll train --method schedtune runs.csv -o schedtune.forest",
                "plimsoll train --method horus-utilization runs.csv -o horus.trees"},
    .exit = {{PLM_EXIT_OK, "the trees were written"},
             {PLM_EXIT_USAGE, "usage, or a table that cannot be learned from"},
             {PLM_EXIT_CANNOT, "the file cannot be written"}},
    .run = train_run,
};
