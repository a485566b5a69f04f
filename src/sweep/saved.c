/* A sweep that was saved: its document, read again and checked. What follows from the points is not read. */
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "base/json_tree.h"
#include "base/memory.h"
#include "sweep/sweep.h"

enum { CARDS_MOST = 1024, WORDS_MOST = 4096 };

struct read {
    const struct plm_json_tree *tree;
    struct plm_sweep *sweep;
    struct plm_error *error;
};
typedef const struct plm_json_node node;

/* A text of an object, into an array; "" if it is absent. */
static int text_read(struct read *r, node *object, const char *key, char *out, size_t size)
{
    const char *text = "";
    const int status = plm_json_tree_get_text(r->tree, object, key, &text, r->error);
    if (status == 0 && strlen(text) >= size)
        return plm_json_tree_fail(r->tree, plm_json_tree_find(r->tree, object, key), r->error, "is too long");
    snprintf(out, size, "%s", text);
    return status;
}

static int list_read(struct read *r, node *object, const char *key, node **first, size_t most)
{
    node *list = NULL;
    int status = plm_json_tree_need(r->tree, object, key, &list, r->error);
    if (status == 0)
        status = plm_json_tree_is(r->tree, list, PLM_JSON_ARRAY, r->error);
    if (status == 0 && plm_json_tree_count(list) > most)
        status = plm_json_tree_fail(r->tree, list, r->error, "has too many items");
    *first = status == 0 ? plm_json_tree_first(list) : NULL;
    return status;
}

static int item_text(struct read *r, node *item, char out[PLM_SWEEP_TEXT])
{
    const char *text;
    const int status = plm_json_tree_text(r->tree, item, &text, r->error);
    if (status == 0 && strlen(text) >= PLM_SWEEP_TEXT)
        return plm_json_tree_fail(r->tree, item, r->error, "is too long");
    if (status == 0)
        memcpy(out, text, strlen(text) + 1);
    return status;
}

/* ---- parameters ---- */

static int place_read(struct read *r, node *object, struct plm_sweep_parameter *p)
{
    char place[16];
    int status = text_read(r, object, "in", place, sizeof place);
    p->where = !strcmp(place, "config")        ? PLM_SWEEP_CONFIG
               : !strcmp(place, "environment") ? PLM_SWEEP_ENVIRONMENT
                                               : PLM_SWEEP_WORD;
    return status;
}

static int parameter_read(struct read *r, node *object, struct plm_sweep_parameter *p)
{
    node *item;
    int status = plm_json_tree_is(r->tree, object, PLM_JSON_OBJECT, r->error);
    status = status ? status : text_read(r, object, "name", p->name, sizeof p->name);
    status = status ? status : text_read(r, object, "file", p->file, sizeof p->file);
    status = status ? status : place_read(r, object, p);
    status = status ? status : plm_json_tree_get_bool(r->tree, object, "stepped", &p->stepped, r->error);
    status = status ? status : plm_json_tree_get_unsigned(r->tree, object, "low", &p->low, r->error);
    status = status ? status : plm_json_tree_get_unsigned(r->tree, object, "high", &p->high, r->error);
    p->range = plm_json_tree_find(r->tree, object, "low") != NULL;
    if (status == 0 && p->range && p->high < p->low)
        return plm_json_tree_fail(r->tree, object, r->error, "is an empty range");
    status = status ? status : list_read(r, object, "values", &item, PLM_SWEEP_VALUES);
    for (; status == 0 && item; item = plm_json_tree_next(r->tree, item)) {
        p->value = plm_realloc(p->value, p->values + 1, sizeof *p->value);
        status = item_text(r, item, p->value[p->values]);
        p->values += status == 0;
    }
    if (status == 0 && !p->values)
        return plm_json_tree_fail(r->tree, object, r->error, "has no values");
    return status;
}

static int parameters_read(struct read *r, node *root)
{
    struct plm_sweep_parameters *all = &r->sweep->parameters;
    node *item;
    int status = list_read(r, root, "parameters", &item, PLM_SWEEP_PARAMETERS);
    for (; status == 0 && item; item = plm_json_tree_next(r->tree, item))
        status = parameter_read(r, item, &all->item[all->count++]);
    if (status == 0 && !all->count)
        return plm_json_tree_fail(r->tree, root, r->error, "has no parameters");
    return status;
}

/* ---- cards ---- */

static int cards_read(struct read *r, node *root)
{
    struct plm_sweep *s = r->sweep;
    node *item;
    int status = list_read(r, root, "cards", &item, CARDS_MOST);
    for (; status == 0 && item; item = plm_json_tree_next(r->tree, item)) {
        struct plm_sweep_card *card;
        s->card = plm_realloc(s->card, s->cards + 1, sizeof *s->card);
        card = &s->card[s->cards++];
        *card = (struct plm_sweep_card){0};
        status = plm_json_tree_is(r->tree, item, PLM_JSON_OBJECT, r->error);
        status = status ? status : text_read(r, item, "gpu", card->id, sizeof card->id);
        status = status ? status : plm_json_tree_get_unsigned(r->tree, item, "usable", &card->usable, r->error);
        status = status ? status : plm_json_tree_get_real(r->tree, item, "price", &card->price, r->error);
    }
    if (status == 0 && !s->cards)
        return plm_json_tree_fail(r->tree, root, r->error, "has no cards");
    return status;
}

/* ---- runs ---- */

static enum plm_verdict verdict_of(const char *name)
{
    int verdict = PLM_FITS;
    while (verdict < PLM_UNKNOWN && strcmp(plm_verdict_name((enum plm_verdict)verdict), name) != 0)
        verdict++;
    return (enum plm_verdict)verdict;
}

static int cell_read(struct read *r, node *object, struct plm_sweep_cell *cell)
{
    char verdict[16] = "";
    int status = plm_json_tree_is(r->tree, object, PLM_JSON_OBJECT, r->error);
    status = status ? status : text_read(r, object, "verdict", verdict, sizeof verdict);
    status = status ? status : plm_json_tree_get_unsigned(r->tree, object, "need", &cell->need, r->error);
    status = status ? status : plm_json_tree_get_unsigned(r->tree, object, "high", &cell->high, r->error);
    status = status ? status : plm_json_tree_get_real(r->tree, object, "step", &cell->step, r->error);
    status = status ? status : plm_json_tree_get_real(r->tree, object, "samples_per_second", &cell->samples, r->error);
    cell->verdict = verdict_of(verdict);
    return status;
}

static int cells_read(struct read *r, node *object, struct plm_sweep_point *point)
{
    node *item;
    size_t at = 0;
    int status = list_read(r, object, "cards", &item, r->sweep->cards);
    for (; status == 0 && item; item = plm_json_tree_next(r->tree, item))
        status = cell_read(r, item, &point->cell[at++]);
    if (status == 0 && at != r->sweep->cards)
        return plm_json_tree_fail(r->tree, object, r->error, "does not have all cards");
    return status;
}

static int values_read(struct read *r, node *object, struct plm_sweep_point *point)
{
    node *item;
    size_t at = 0;
    int status = list_read(r, object, "values", &item, r->sweep->parameters.count);
    for (; status == 0 && item; item = plm_json_tree_next(r->tree, item))
        status = item_text(r, item, point->value[at++]);
    if (status == 0 && at != r->sweep->parameters.count)
        return plm_json_tree_fail(r->tree, object, r->error, "does not have a value of each parameter");
    return status;
}

static int run_read(struct read *r, node *object)
{
    struct plm_sweep_point *point = plm_sweep_add(r->sweep);
    uint64_t gpus = 1;
    int status = plm_json_tree_is(r->tree, object, PLM_JSON_OBJECT, r->error);
    status = status ? status : values_read(r, object, point);
    status = status ? status : plm_json_tree_get_real(r->tree, object, "seconds", &point->seconds, r->error);
    status = status ? status : plm_json_tree_get_bool(r->tree, object, "forked", &point->forked, r->error);
    status = status ? status : text_read(r, object, "failed", point->why, sizeof point->why);
    point->state = plm_json_tree_find(r->tree, object, "failed") ? PLM_SWEEP_FAILED : PLM_SWEEP_DONE;
    if (status || point->state == PLM_SWEEP_FAILED)
        return status;
    status = plm_json_tree_get_unsigned(r->tree, object, "gpus", &gpus, r->error);
    status = status ? status : plm_json_tree_get_unsigned(r->tree, object, "allocated", &point->allocated, r->error);
    status = status ? status : plm_json_tree_get_unsigned(r->tree, object, "reserved", &point->reserved, r->error);
    point->gpus = gpus && gpus < 1u << 24 ? (unsigned)gpus : 1;
    return status ? status : cells_read(r, object, point);
}

static int runs_read(struct read *r, node *root)
{
    node *item;
    int status = list_read(r, root, "runs", &item, 4 * PLM_SWEEP_VALUES);
    for (; status == 0 && item; item = plm_json_tree_next(r->tree, item))
        status = run_read(r, item);
    return status;
}

/* ---- the document ---- */

static int command_read(struct read *r, node *root)
{
    char **words = r->sweep->command = plm_calloc(WORDS_MOST + 1, sizeof *words);
    const char *text;
    node *item;
    int status = list_read(r, root, "command", &item, WORDS_MOST);
    for (; status == 0 && item; item = plm_json_tree_next(r->tree, item)) {
        status = plm_json_tree_text(r->tree, item, &text, r->error);
        if (status == 0)
            *words++ = plm_strdup(text);
    }
    return status;
}

static int searched_read(struct read *r, node *root)
{
    const struct plm_sweep_parameters *all = &r->sweep->parameters;
    node *at = plm_json_tree_find(r->tree, root, "searched");
    uint64_t searched = 0, number;
    int status = plm_json_tree_get_unsigned(r->tree, root, "searched", &searched, r->error);
    r->sweep->largest = -1;
    if (status || !at)
        return status;
    if (searched >= all->count)
        return plm_json_tree_fail(r->tree, at, r->error, "is no parameter");
    for (size_t i = 0; i < all->item[searched].values; i++)
        if (!plm_sweep_whole(all->item[searched].value[i], &number))
            return plm_json_tree_fail(r->tree, at, r->error, "is a parameter without numbers");
    r->sweep->largest = (int)searched;
    return 0;
}

static int document_read(struct read *r, node *root)
{
    struct plm_sweep *s = r->sweep;
    char schema[32] = "";
    int status = plm_json_tree_is(r->tree, root, PLM_JSON_OBJECT, r->error);
    status = status ? status : text_read(r, root, "schema", schema, sizeof schema);
    if (status == 0 && strcmp(schema, "plimsoll.sweep/1") != 0)
        return plm_json_tree_fail(r->tree, root, r->error, "is not a sweep that plimsoll saved");
    status = status ? status : command_read(r, root);
    status = status ? status : text_read(r, root, "simulated", s->simulated, sizeof s->simulated);
    status = status ? status : text_read(r, root, "margin", s->margin, sizeof s->margin);
    status = status ? status : text_read(r, root, "cold", s->cold, sizeof s->cold);
    status = status ? status : plm_json_tree_get_bool(r->tree, root, "zip", &s->parameters.zip, r->error);
    status = status ? status : plm_json_tree_get_bool(r->tree, root, "allow_tight", &s->allow_tight, r->error);
    status = status ? status : parameters_read(r, root);
    status = status ? status : searched_read(r, root);
    status = status ? status : cards_read(r, root);
    return status ? status : runs_read(r, root);
}

int plm_sweep_read(const char *path, struct plm_sweep *sweep, struct plm_error *error)
{
    struct plm_json_tree *tree;
    struct read r = {.sweep = sweep, .error = error};
    int status;
    *sweep = (struct plm_sweep){.largest = -1};
    status = plm_json_tree_read(path, &tree, error);
    if (status)
        return status;
    r.tree = tree;
    status = document_read(&r, plm_json_tree_root(tree));
    plm_json_tree_free(tree);
    if (status)
        plm_sweep_free(sweep);
    return status;
}
