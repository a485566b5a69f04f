/*
 * Horus (Yeung et al., IEEE TPDS 2022), its model of utilization: boosted trees over what is known of a network before
 * it runs: operations of a forward pass, parameters, activations, batch, how many convolutions, linear layers and batch
 * normalizations, depth. By the text of the paper, which says neither how large the trees are nor how they are
 * regularized: ours are small with small steps (PLM_BOOSTED_SETTINGS). Nothing of the card is among the features, so
 * the answer holds for the card of the rows.
 */
#include "study/estimate/horus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "study/estimate/boosted.h"
#include "study/estimate/description.h"
#include "study/estimate/estimators.h"
#include "study/estimate/learn.h"

#define MOST_PERCENT 100

static const char target[] = "gputl";
enum { FOLDS = 5 };

/* ---- learning ---- */

/* The numbers of the table: x has room for all features of all rows, y for all targets. */
static int read_numbers(const struct plm_table *table, double *x, double *y, struct plm_error *error)
{
    const struct plm_learn_target answer = {.column = target, .most = MOST_PERCENT};
    return plm_learn_numbers(table, plm_described_features, PLM_FEATURES, &answer, x, y, error);
}

/* How good it is on rows that it has not seen, if there are enough of them to leave some out. */
static int rows_hold_out(const struct plm_tree_data *data, const struct plm_boosted_settings *settings,
                         struct plm_boosted *boosted, struct plm_error *error)
{
    double *answer;
    int status;
    if (data->rows - data->rows / FOLDS - 1 < PLM_TREE_ROWS_LEAST)
        return 0;
    answer = plm_calloc(data->rows, sizeof *answer);
    status = plm_boosted_cross(data, settings, FOLDS, answer, error);
    if (status == 0)
        plm_boosted_judge(data, answer, boosted);
    free(answer);
    return status;
}

static int trees_learn(const struct plm_table *table, const struct plm_boosted_settings *settings,
                       struct plm_boosted *boosted, struct plm_error *error)
{
    double *x = plm_calloc(table->rows, PLM_FEATURES * sizeof *x);
    double *y = plm_calloc(table->rows, sizeof *y);
    const struct plm_tree_data data = {x, y, table->rows, PLM_FEATURES};
    struct plm_error why = {0};
    int status = read_numbers(table, x, y, error);
    if (status == 0) {
        status = plm_boosted_train(&data, settings, boosted, &why);
        if (status == 0)
            status = rows_hold_out(&data, settings, boosted, &why);
        if (status) {
            plm_boosted_free(boosted);
            plm_fail(error, status, "%.200s: %.250s", table->path, why.text);
        }
    }
    free(x);
    free(y);
    return status;
}

int plm_horus_train(const char *path, const struct plm_boosted_settings *settings, struct plm_boosted *boosted,
                    struct plm_error *error)
{
    struct plm_table table;
    int status = plm_table_read(path, &table, error);
    *boosted = (struct plm_boosted){0};
    if (status)
        return status;
    status = trees_learn(&table, settings, boosted, error);
    plm_table_free(&table);
    if (status)
        return status;
    snprintf(boosted->method, sizeof boosted->method, PLM_HORUS_METHOD);
    snprintf(boosted->target, sizeof boosted->target, "gputl-percent");
    for (size_t i = 0; i < PLM_FEATURES; i++)
        snprintf(boosted->feature[i].name, sizeof boosted->feature[i].name, "%s", plm_described_features[i]);
    return 0;
}

int plm_horus_check(const char *path, const struct plm_boosted *boosted, struct plm_error *error)
{
    if (strcmp(boosted->method, PLM_HORUS_METHOD) != 0)
        return plm_fail(error, PLM_EFORMAT, "%.300s has trees for %s, not for " PLM_HORUS_METHOD, path,
                        boosted->method);
    if (boosted->low < 0 || boosted->high > MOST_PERCENT)
        return plm_fail(error, PLM_EFORMAT, "%.300s: the trees answer from %g to %g, which is not per cent", path,
                        boosted->low, boosted->high);
    for (size_t i = 0; i < PLM_FEATURES; i++)
        if (boosted->features != PLM_FEATURES || strcmp(boosted->feature[i].name, plm_described_features[i]) != 0)
            return plm_fail(error, PLM_EFORMAT, "%.300s: the trees have other features than " PLM_HORUS_METHOD, path);
    return 0;
}

/* ---- asking ---- */

/* The first feature that lies outside is told. */
static void check_domain(const struct plm_boosted *boosted, const double x[PLM_FEATURES], struct plm_answer *answer)
{
    for (size_t i = 0; i < PLM_FEATURES; i++) {
        const struct plm_tree_feature *known = &boosted->feature[i];
        if (x[i] < known->low || x[i] > known->high)
            plm_answer_outside(answer, "its rows have %s from %.6g to %.6g, and this job %.6g", known->name, known->low,
                               known->high, x[i]);
    }
}

void plm_method_horus_utilization(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const double *x = evidence->description->feature;
    struct plm_error error;
    if (plm_horus_check("the file of --boosted", evidence->boosted, &error)) {
        plm_answer_none(answer, "%.190s", error.text);
        return;
    }
    for (size_t i = 0; i < PLM_FEATURES; i++)
        if (x[i] < 0) {
            plm_answer_none(answer,
                            "the description has no feature \"%s\": `plimsoll describe` of this version gives it",
                            plm_described_features[i]);
            return;
        }
    /* Steps may lead a little beyond the rows; a share of time cannot. */
    answer->percent =
        fmin(fmax(plm_boosted_predict(evidence->boosted, x), evidence->boosted->low), evidence->boosted->high);
    check_domain(evidence->boosted, x, answer);
}
