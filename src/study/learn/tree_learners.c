/* The two methods that were there before the table: SchedTune's forest and Horus' boosted trees. Their rows describe
   cards and jobs in their own way, so they are asked by `plimsoll estimate` alone. */
#include <inttypes.h>
#include <math.h>

#include "base/draw.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "study/estimate/boosted.h"
#include "study/estimate/forest.h"
#include "study/estimate/horus.h"
#include "study/estimate/schedtune.h"
#include "study/learn/learner.h"

/* Amounts of SchedTune are in MiB. */
#define MIB 1048576.0

static const char *squared(const struct plm_page *page)
{
    return page->utf8 ? "\xc2\xb2" : "^2";
}

static void trees_show_head(const struct plm_page *p, const char *method, const struct plm_trees *trees, uint64_t rows,
                            uint64_t seed)
{
    fprintf(p->out, "%s%s%s: %zu trees with %zu nodes learned from %" PRIu64 " rows (seed %" PRIu64 ").\n",
            plm_ink(p, PLM_INK_BOLD), method, plm_ink(p, PLM_INK_PLAIN), trees->count, trees->nodes, rows, seed);
}

static void trees_describe_head(struct plm_json *json, const struct plm_trees *trees, uint64_t rows, uint64_t seed)
{
    plm_json_integer(json, "rows", rows);
    plm_json_integer(json, "seed", seed);
    plm_json_integer(json, "trees", trees->count);
    plm_json_integer(json, "nodes", trees->nodes);
}

/* ---- schedtune ---- */

int plm_schedtune_learn(const struct plm_lesson *l, void **model, struct plm_error *error)
{
    const struct plm_forest_settings settings = {.trees = l->trees ? l->trees : 100, .seed = l->seed};
    struct plm_forest *forest = plm_calloc(1, sizeof *forest);
    *model = forest;
    return plm_schedtune_train(l->path, &settings, forest, error);
}

int plm_schedtune_load_model(const char *path, void **model, struct plm_error *error)
{
    struct plm_forest *forest = plm_calloc(1, sizeof *forest);
    int status = plm_forest_load(path, forest, error);
    *model = forest;
    return status ? status : plm_schedtune_check(path, forest, error);
}

int plm_schedtune_save_model(FILE *out, const void *model)
{
    return plm_forest_save(out, model);
}

const struct plm_tree_feature *plm_schedtune_features(const void *model, size_t *count)
{
    const struct plm_forest *f = model;
    *count = f->features;
    return f->feature;
}

void plm_schedtune_show(const void *model, const struct plm_page *p)
{
    const struct plm_forest *f = model;
    char low[32], high[32];
    trees_show_head(p, f->method, &f->trees, f->rows, f->seed);
    fprintf(p->out, "The rows took %s to %s MiB: it cannot predict above %s MiB.\n",
            plm_count_text(low, sizeof low, (uint64_t)rint(f->low)),
            plm_count_text(high, sizeof high, (uint64_t)rint(f->high)), high);
    if (f->oob_rows)
        fprintf(p->out, "On rows that a tree had not seen (%" PRIu64 "): R%s %.3f, median error %.1f %%.\n",
                f->oob_rows, squared(p), f->oob_r2, 100 * f->oob_error);
    plm_features_show(f->feature, f->features, p);
}

void plm_schedtune_describe(const void *model, struct plm_json *json)
{
    const struct plm_forest *f = model;
    trees_describe_head(json, &f->trees, f->rows, f->seed);
    plm_json_integer(json, "lowest", (uint64_t)(f->low * MIB));
    plm_json_integer(json, "highest", (uint64_t)(f->high * MIB));
    if (f->oob_rows) {
        plm_json_object(json, "out_of_bag");
        plm_json_integer(json, "rows", f->oob_rows);
        plm_json_real(json, "r2", f->oob_r2);
        plm_json_real(json, "median_relative_error", f->oob_error);
        plm_json_end_object(json);
    }
    plm_features_describe(f->feature, f->features, json);
}

void plm_schedtune_free_model(void *model)
{
    if (model)
        plm_forest_free(model);
    free(model);
}

/* ---- horus-utilization ---- */

int plm_horus_learn(const struct plm_lesson *l, void **model, struct plm_error *error)
{
    struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    struct plm_boosted *boosted = plm_calloc(1, sizeof *boosted);
    settings.trees = l->trees ? l->trees : settings.trees;
    settings.seed = l->seed;
    *model = boosted;
    return plm_horus_train(l->path, &settings, boosted, error);
}

int plm_horus_load_model(const char *path, void **model, struct plm_error *error)
{
    struct plm_boosted *boosted = plm_calloc(1, sizeof *boosted);
    int status = plm_boosted_load(path, boosted, error);
    *model = boosted;
    return status ? status : plm_horus_check(path, boosted, error);
}

int plm_horus_save_model(FILE *out, const void *model)
{
    return plm_boosted_save(out, model);
}

const struct plm_tree_feature *plm_horus_features(const void *model, size_t *count)
{
    const struct plm_boosted *b = model;
    *count = b->features;
    return b->feature;
}

void plm_horus_show(const void *model, const struct plm_page *p)
{
    const struct plm_boosted *b = model;
    trees_show_head(p, b->method, &b->trees, b->rows, b->seed);
    fprintf(p->out, "The rows kept the GPU busy for %.1f to %.1f %% of the time.\n", b->low, b->high);
    if (b->held_rows)
        fprintf(p->out, "On rows that were held out (%" PRIu64 ", five folds): R%s %.3f, median error %.1f points.\n",
                b->held_rows, squared(p), b->held_r2, b->held_error);
    plm_features_show(b->feature, b->features, p);
}

void plm_horus_describe(const void *model, struct plm_json *json)
{
    const struct plm_boosted *b = model;
    trees_describe_head(json, &b->trees, b->rows, b->seed);
    plm_json_real(json, "lowest_percent", b->low);
    plm_json_real(json, "highest_percent", b->high);
    if (b->held_rows) {
        plm_json_object(json, "held_out");
        plm_json_integer(json, "rows", b->held_rows);
        plm_json_real(json, "r2", b->held_r2);
        plm_json_real(json, "median_error_points", b->held_error);
        plm_json_end_object(json);
    }
    plm_features_describe(b->feature, b->features, json);
}

void plm_horus_free_model(void *model)
{
    if (model)
        plm_boosted_free(model);
    free(model);
}
