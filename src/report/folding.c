#include "report/folding.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/json.h"
#include "base/memory.h"
#include "time/timing.h"

enum {
    LEAST = 3,      /* that are folded */
    DEEPEST = 8,    /* numbers of a name that are looked at */
    ANCHORS = 8,    /* different shapes that a member is compared with: the last ones */
    DIGITS_MOST = 9 /* of a number */
};
static const double ALIKE = 0.1;

#define NOBODY SIZE_MAX

/* What is one row so far: a module, or some that were folded. */
struct group {
    char *name;
    double *shape; /* sums over its members */
    size_t head, tail, count; /* members, as a list */
    /* While a position is folded: */
    char *key; /* the name without the number at that position; NULL: it has none there */
    uint32_t number;
    size_t anchor; /* the first group that it is like: a place in the list of groups */
    size_t last; /* of an anchor: the group that was added last */
    size_t alike; /* of an anchor: how many there are */
    size_t next; /* the next one with this anchor */
};

struct work {
    const struct plm_repeat_input *input;
    struct group *group;
    size_t groups;
    size_t *next; /* of each name, in the list of its group */
    double *shapes;
};

/* ---- names ---- */

/* "0…11", "0-11", "0…10/2" count as numbers too, so that positions stay what they are. */
static bool is_place(const char *part, size_t length)
{
    size_t digits = strspn(part, "0123456789");
    return digits && (digits >= length || strncmp(part + digits, "…", strlen("…")) == 0 || part[digits] == '-');
}

static bool is_number(const char *part, size_t length)
{
    return length && length <= DIGITS_MOST && strspn(part, "0123456789") >= length && (length == 1 || *part != '0');
}

/* The n-th number of a name; NULL: it has none. Names in parentheses are no paths. */
static const char *number_find(const char *name, size_t n, size_t *length)
{
    for (const char *at = *name == '(' ? "" : name; *at; at += *length + (at[*length] == '.')) {
        *length = strcspn(at, ".");
        if (is_place(at, *length) && n-- == 0)
            return is_number(at, *length) ? at : NULL;
    }
    return NULL;
}

/* The name with something else in a place of it. */
static char *name_with(const char *name, const char *at, size_t length, const char *instead)
{
    return plm_asprintf("%.*s%s%s", (int)(at - name), name, instead, at + length);
}

static void group_key(struct group *g, size_t position)
{
    size_t length;
    const char *at = number_find(g->name, position, &length);
    g->key = at ? name_with(g->name, at, length, "*") : NULL;
    g->number = at ? (uint32_t)strtoul(at, NULL, 10) : 0;
    g->anchor = g->next = NOBODY;
    g->alike = 0;
}

/* ---- which are alike ---- */

static bool groups_alike(const struct work *w, const struct group *a, const struct group *b)
{
    double differ = 0, most_a = 0, most_b = 0;
    for (size_t i = 0; i < w->input->figures; i++) {
        const double x = a->shape[i] / (double)a->count, y = b->shape[i] / (double)b->count;
        differ += fabs(x - y);
        most_a += x;
        most_b += y;
    }
    return differ <= ALIKE * fmax(most_a, most_b);
}

static int by_key(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order;
    if (!x->key || !y->key)
        return !x->key - !y->key;
    order = strcmp(x->key, y->key);
    if (order)
        return order;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Gives each of a run of one key an anchor: the first that it is like. */
static void run_sort_out(struct work *w, size_t from, size_t to)
{
    size_t anchor[ANCHORS], anchors = 0;
    for (size_t i = from; i < to; i++) {
        struct group *g = &w->group[i];
        const size_t known = anchors < ANCHORS ? anchors : ANCHORS;
        for (size_t k = 0; k < known && g->anchor == NOBODY; k++)
            if (groups_alike(w, &w->group[anchor[k]], g))
                g->anchor = anchor[k];
        if (g->anchor == NOBODY) {
            g->anchor = i;
            anchor[anchors++ % ANCHORS] = i;
        } else
            w->group[w->group[g->anchor].last].next = i;
        w->group[g->anchor].last = i;
        w->group[g->anchor].alike++;
    }
}

/* ---- folding ---- */

/* "0…11" of those with this anchor. */
static void range_text(const struct work *w, const struct group *first, char *out, size_t size)
{
    const struct group *second = &w->group[first->next], *last = &w->group[first->last];
    const uint32_t stride = second->number - first->number;
    const char *through = w->input->ascii ? "-" : "…";
    bool regular = true;
    int used;
    for (const struct group *g = first; g->next != NOBODY; g = &w->group[g->next])
        regular &= w->group[g->next].number - g->number == stride;
    used = snprintf(out, size, "%u%s%u", first->number, through, last->number);
    if (regular && stride > 1)
        snprintf(out + used, size - (size_t)used, "/%u", stride);
}

/* Puts all with this anchor into it. */
static void groups_fold(struct work *w, struct group *first, size_t position)
{
    char range[48], *name;
    size_t length;
    const char *at = number_find(first->name, position, &length);
    range_text(w, first, range, sizeof range);
    name = name_with(first->name, at, length, range);
    free(first->name);
    first->name = name;
    for (size_t i = first->next; i != NOBODY; i = w->group[i].next) {
        struct group *g = &w->group[i];
        w->next[first->tail] = g->head;
        first->tail = g->tail;
        first->count += g->count;
        for (size_t k = 0; k < w->input->figures; k++)
            first->shape[k] += g->shape[k];
        free(g->name);
        g->name = NULL;
    }
}

/* Drops what was put into others. */
static void groups_close_up(struct work *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->groups; i++) {
        free(w->group[i].key);
        if (w->group[i].name)
            w->group[kept++] = w->group[i];
    }
    w->groups = kept;
}

/* False once no name has a number there. */
static bool position_fold(struct work *w, size_t position)
{
    bool any = false;
    for (size_t i = 0; i < w->groups; i++) {
        group_key(&w->group[i], position);
        any |= w->group[i].key != NULL;
    }
    qsort(w->group, any ? w->groups : 0, sizeof w->group[0], by_key);
    for (size_t from = 0, to; from < w->groups && w->group[from].key; from = to) {
        for (to = from + 1; to < w->groups && w->group[to].key && !strcmp(w->group[from].key, w->group[to].key);)
            to++;
        run_sort_out(w, from, to);
        for (size_t i = from; i < to; i++)
            if (w->group[i].anchor == i && w->group[i].alike >= LEAST)
                groups_fold(w, &w->group[i], position);
    }
    groups_close_up(w);
    return any;
}

/* ---- in and out ---- */

static void work_begin(struct work *w, const struct plm_repeat_input *input)
{
    const size_t figures = input->figures;
    *w = (struct work){.input = input, .groups = input->count};
    w->group = plm_calloc(input->count, sizeof *w->group);
    w->next = plm_calloc(input->count, sizeof *w->next);
    w->shapes = plm_calloc(input->count * figures, sizeof *w->shapes);
    for (size_t i = 0; i < input->count; i++) {
        memcpy(&w->shapes[i * figures], &input->shape[i * figures], figures * sizeof *w->shapes);
        w->group[i] = (struct group){
            .name = plm_strdup(input->name[i]), .shape = &w->shapes[i * figures], .head = i, .tail = i, .count = 1};
        w->next[i] = NOBODY;
    }
}

/* A fold that is to be, with what decides about its place. */
struct place {
    struct group *group;
    size_t earliest;
    double sum;
};

static int by_sum(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->sum < y->sum || x->sum > y->sum)
        return x->sum < y->sum ? 1 : -1;
    return x->earliest < y->earliest ? -1 : x->earliest > y->earliest;
}

/* The first member in the order of the input; the list is by numbers. */
static size_t group_earliest(const struct work *w, const struct group *g)
{
    size_t earliest = g->head;
    for (size_t i = g->head; i != NOBODY; i = w->next[i])
        earliest = i < earliest ? i : earliest;
    return earliest;
}

static struct place *places_make(const struct work *w)
{
    struct place *place = plm_calloc(w->groups, sizeof *place);
    for (size_t i = 0; i < w->groups; i++) {
        place[i] = (struct place){.group = &w->group[i], .earliest = group_earliest(w, &w->group[i])};
        for (size_t k = 0; k < w->input->figures; k++)
            place[i].sum += w->group[i].shape[k];
    }
    qsort(place, w->groups, sizeof *place, by_sum);
    return place;
}

struct plm_repeats plm_repeats_make(const struct plm_repeat_input *input)
{
    struct plm_repeats folds = {0};
    struct place *place;
    struct work w;
    size_t used = 0;
    work_begin(&w, input);
    for (size_t position = 0; !input->single && position < DEEPEST && position_fold(&w, position);)
        position++;
    place = places_make(&w);
    folds.item = plm_calloc(w.groups, sizeof *folds.item);
    folds.member = plm_calloc(input->count, sizeof *folds.member);
    for (; folds.count < w.groups; folds.count++) {
        const struct group *g = place[folds.count].group;
        folds.item[folds.count] = (struct plm_repeat){g->name, used, g->count};
        for (size_t at = g->head; at != NOBODY; at = w.next[at])
            folds.member[used++] = at;
    }
    free(place);
    free(w.group);
    free(w.next);
    free(w.shapes);
    return folds;
}

void plm_repeats_free(struct plm_repeats *folds)
{
    for (size_t i = 0; i < folds->count; i++)
        free(folds->item[i].name);
    free(folds->item);
    free(folds->member);
    *folds = (struct plm_repeats){0};
}

char *plm_repeat_label(const struct plm_repeat *fold)
{
    return fold->count > 1 ? plm_asprintf("%s x %zu", fold->name, fold->count) : plm_strdup(fold->name);
}

/* ---- holders of memory ---- */

struct plm_repeats plm_repeats_of_holders(const struct plm_holders *h, bool ascii)
{
    const char **name = plm_calloc(h->count, sizeof *name);
    double *shape = plm_calloc(h->count * PLM_CATEGORIES, sizeof *shape);
    struct plm_repeats folds;
    for (size_t i = 0; i < h->count; i++) {
        name[i] = h->item[i].name;
        for (size_t c = 0; c < PLM_CATEGORIES; c++)
            shape[i * PLM_CATEGORIES + c] = (double)h->item[i].category[c];
    }
    folds = plm_repeats_make(&(struct plm_repeat_input){name, shape, h->count, PLM_CATEGORIES, ascii, false});
    free(name);
    free(shape);
    return folds;
}

void plm_repeats_merge_holders(struct plm_holders *h, bool ascii)
{
    struct plm_repeats folds = plm_repeats_of_holders(h, ascii);
    struct plm_holders merged = {plm_calloc(folds.count, sizeof *merged.item), folds.count};
    for (size_t i = 0; i < folds.count; i++) {
        struct plm_holder *to = &merged.item[i];
        to->name = plm_repeat_label(&folds.item[i]);
        for (size_t k = 0; k < folds.item[i].count; k++)
            plm_holder_add(to, &h->item[folds.member[folds.item[i].first + k]]);
    }
    plm_repeats_free(&folds);
    plm_holders_free(h);
    *h = merged;
}

/* ---- in documents ---- */

void plm_repeat_json_begin(struct plm_json *j, const struct plm_repeat *fold)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "name", fold->name);
    plm_json_integer(j, "count", fold->count);
}

void plm_repeat_json_end(struct plm_json *j, const struct plm_repeats *folds, const struct plm_repeat *fold,
                         const void *rows, size_t size)
{
    plm_json_array(j, "modules");
    for (size_t k = 0; k < fold->count; k++) {
        const char *name;
        memcpy(&name, (const char *)rows + size * folds->member[fold->first + k], sizeof name);
        plm_json_string(j, NULL, name);
    }
    plm_json_end_array(j);
    plm_json_end_object(j);
}

/* ---- shares of time ---- */

struct plm_repeats plm_repeats_of_shares(const struct plm_time_shares *s, bool ascii, bool single)
{
    const char **name = plm_calloc(s->count, sizeof *name);
    double *shape = plm_calloc(s->count * PLM_BOUNDS, sizeof *shape);
    struct plm_repeats folds;
    for (size_t i = 0; i < s->count; i++) {
        name[i] = s->item[i].name;
        memcpy(&shape[i * PLM_BOUNDS], s->item[i].bound, sizeof s->item[i].bound);
    }
    folds = plm_repeats_make(&(struct plm_repeat_input){name, shape, s->count, PLM_BOUNDS, ascii, single});
    free(name);
    free(shape);
    return folds;
}

struct plm_time_shares plm_repeats_merge_shares(const struct plm_time_shares *s, bool ascii, bool single)
{
    struct plm_repeats folds = plm_repeats_of_shares(s, ascii, single);
    struct plm_time_shares merged = {.item = plm_calloc(folds.count, sizeof *merged.item), .count = folds.count};
    for (size_t i = 0; i < folds.count; i++) {
        struct plm_time_share *to = &merged.item[i];
        to->name = plm_repeat_label(&folds.item[i]);
        for (size_t k = 0; k < folds.item[i].count; k++)
            plm_time_share_add(to, &s->item[folds.member[folds.item[i].first + k]]);
    }
    plm_repeats_free(&folds);
    return merged;
}

void plm_repeats_free_shares(struct plm_time_shares *folded)
{
    for (size_t i = 0; i < folded->count; i++)
        free((char *)folded->item[i].name);
    free(folded->item);
    *folded = (struct plm_time_shares){0};
}
