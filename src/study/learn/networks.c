/* The networks as methods that learn: what `train` and `estimate` ask of each. */
#include <math.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "study/learn/network.h"

const struct plm_architecture *plm_architecture_of(const struct plm_method *method)
{
    return method->learner->own;
}

/* ---- files ---- */

int plm_network_load(const struct plm_method *method, struct plm_model_file *file, void **model)
{
    struct plm_network *network = plm_calloc(1, sizeof *network);
    *model = network;
    return plm_network_read(method, file, network);
}

void plm_network_forget(void *model)
{
    if (model)
        plm_network_free(model);
    free(model);
}

/* ---- what was learned ---- */

const struct plm_tree_feature *plm_network_features(const void *model, size_t *count)
{
    const struct plm_network *n = model;
    *count = n->features;
    return n->feature;
}

static void show_scores(const struct plm_network *n, const struct plm_page *p)
{
    if (!n->scores)
        return;
    if (n->folds)
        fprintf(p->out, "Cross-validated with %llu folds:", (unsigned long long)n->folds);
    else
        fputs("On the held-out fifth of the rows:", p->out);
    for (size_t i = 0; i < n->scores; i++)
        fprintf(p->out, "%s %s %.4g", i ? "," : "", n->score[i].name, n->score[i].value);
    fputs(".\n", p->out);
}

void plm_network_show(const void *model, const struct plm_page *p)
{
    const struct plm_network *n = model;
    const char *unit = plm_learned_unit_name(plm_target_find(n->target)->unit);
    char rows[32], values[32];
    if (!n->rows)
        fprintf(p->out, "%s%s%s: %s published weights for the family %s; the range of their rows is unknown.\n",
                plm_ink(p, PLM_INK_BOLD), n->method->name, plm_ink(p, PLM_INK_PLAIN),
                plm_count_text(values, sizeof values, n->values), plm_family_name[n->family]);
    else
        fprintf(p->out, "%s%s%s: %s weights learned %s of %s rows of the family %s (seed %llu).\n",
                plm_ink(p, PLM_INK_BOLD), n->method->name, plm_ink(p, PLM_INK_PLAIN),
                plm_count_text(values, sizeof values, n->values), n->target, plm_count_text(rows, sizeof rows, n->rows),
                plm_family_name[n->family], (unsigned long long)n->seed);
    if (n->kind == PLM_NETWORK_CLASSES)
        fprintf(p->out, "%zu classes of %g %s, from %g to %g: it cannot answer above that.\n", n->outputs, n->width,
                unit, n->first, n->first + (double)n->outputs * n->width);
    show_scores(n, p);
    if (n->rows)
        plm_features_show(n->feature, n->features, p);
}

void plm_network_describe(const void *model, struct plm_json *json)
{
    static const char *const kinds[] = {"classes", "number", "number"};
    const struct plm_network *n = model;
    plm_json_integer(json, "rows", n->rows);
    plm_json_integer(json, "seed", n->seed);
    plm_json_string(json, "family", plm_family_name[n->family]);
    plm_json_string(json, "target", n->target);
    plm_json_integer(json, "weights", n->values);
    plm_json_string(json, "answer", kinds[n->kind]);
    if (n->kind == PLM_NETWORK_CLASSES) {
        plm_json_integer(json, "classes", n->outputs);
        plm_json_real(json, "first_edge", n->first);
        plm_json_real(json, "class_width", n->width);
    }
    plm_json_integer(json, "folds", n->folds);
    plm_json_object(json, "scores");
    for (size_t i = 0; i < n->scores; i++)
        plm_json_real(json, n->score[i].name, n->score[i].value);
    plm_json_end_object(json);
    plm_features_describe(n->feature, n->features, json);
}

/* ---- asking ---- */

static void network_run(const struct plm_network *n, const struct plm_view *view, struct plm_learned_answer *answer)
{
    double output[PLM_LEARNED_CLASSES] = {0};
    plm_architecture_of(n->method)->run(n, view, output);
    plm_network_answer(n, output, answer);
    plm_learned_range(n->feature, n->features, view->x, answer);
}

int plm_network_ask(const void *model, const struct plm_example *example, struct plm_learned_answer *answer,
                    struct plm_error *error)
{
    const struct plm_network *n = model;
    struct plm_view view = {0};
    int status = plm_architecture_of(n->method)->view(n->family, example, &view, error);
    if (status == 0)
        network_run(n, &view, answer);
    plm_view_free(&view);
    return status;
}

int plm_network_ask_features(const void *model, const double *x, struct plm_learned_answer *answer,
                             struct plm_error *error)
{
    const struct plm_network *n = model;
    struct plm_view view = {0};
    (void)error;
    memcpy(view.x, x, n->features * sizeof *x);
    network_run(n, &view, answer);
    return 0;
}
