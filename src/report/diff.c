#include "report/diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/ladder.h"
#include "base/memory.h"
#include "report/report.h"

uint64_t plm_change_size(const struct plm_change *c)
{
    return c->after > c->before ? c->after - c->before : c->before - c->after;
}

static bool changed(const struct plm_change *c)
{
    return c->after != c->before;
}

/* Largest change first; names decide between equal ones, so that the order is always the same. */
static int compare_changes(const void *a, const void *b)
{
    const struct plm_change *x = a, *y = b;
    uint64_t of_x = plm_change_size(x), of_y = plm_change_size(y);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct plm_holder *)a)->name, ((const struct plm_holder *)b)->name);
}

/* ---- one device ---- */

static void set_rungs(const struct plm_diff *diff, struct plm_diff_lane *d)
{
    static const char *const names[PLM_RUNGS] = {"allocated", "reserved", "libraries", "other", "device_used"};
    const struct plm_ladder a = d->before ? plm_ladder(diff->before, d->before) : (struct plm_ladder){0};
    const struct plm_ladder b = d->after ? plm_ladder(diff->after, d->after) : (struct plm_ladder){0};
    const uint64_t before[PLM_RUNGS] = {a.allocated, a.reserved, a.libraries, a.other, a.device_used};
    const uint64_t after[PLM_RUNGS] = {b.allocated, b.reserved, b.libraries, b.other, b.device_used};
    for (int i = 0; i < PLM_RUNGS; i++) {
        d->rung[i] = (struct plm_change){names[i], before[i], after[i]};
        d->changed |= changed(&d->rung[i]);
    }
}

static void set_categories(struct plm_diff_lane *d, const struct plm_place *before, const struct plm_place *after)
{
    d->categories = PLM_CATEGORIES + 1;
    for (int i = 0; i < PLM_CATEGORIES; i++)
        d->category[i] =
            (struct plm_change){plm_category_name((enum plm_category)i), before->category[i], after->category[i]};
    d->category[PLM_CATEGORIES] =
        (struct plm_change){"free_in_segments", plm_place_free(before), plm_place_free(after)};
    for (size_t i = 0; i < d->categories; i++)
        d->changed |= changed(&d->category[i]);
    qsort(d->category, d->categories, sizeof d->category[0], compare_changes);
}

static void module_add(struct plm_diff_lane *d, const char *name, uint64_t before, uint64_t after)
{
    if (before != after)
        d->module[d->modules++] = (struct plm_change){name, before, after};
}

/* Both lists by name, side by side. */
static void merge_modules(struct plm_diff_lane *d)
{
    const struct plm_holders *a = &d->holders[0], *b = &d->holders[1];
    size_t i = 0, k = 0;
    qsort(a->item, a->count, sizeof a->item[0], compare_names);
    qsort(b->item, b->count, sizeof b->item[0], compare_names);
    d->module = plm_calloc(a->count + b->count, sizeof d->module[0]);
    while (i < a->count || k < b->count) {
        int order = i == a->count ? 1 : k == b->count ? -1 : strcmp(a->item[i].name, b->item[k].name);
        module_add(d, order <= 0 ? a->item[i].name : b->item[k].name, order <= 0 ? a->item[i].bytes : 0,
                   order >= 0 ? b->item[k].bytes : 0);
        i += order <= 0;
        k += order >= 0;
    }
    qsort(d->module, d->modules, sizeof d->module[0], compare_changes);
    d->changed |= d->modules > 0;
}

/* How much of their paths all files of the program have in common: whole folders. */
static size_t common_folder(const struct plm_job *job)
{
    const char *first = NULL;
    size_t common = 0;
    for (size_t i = 1; i < job->lines; i++) {
        const char *file = job->line[i].file, *slash = strrchr(file, '/');
        size_t same = 0, most;
        if (job->line[i].whose != PLM_JOB_OWN || !slash)
            continue;
        most = (size_t)(slash - file) + 1;
        if (!first)
            common = most;
        first = first ? first : file;
        for (size_t k = 0; k < common && k < most && file[k] == first[k]; k++)
            if (file[k] == '/')
                same = k + 1;
        common = same;
    }
    return common;
}

static char *line_name(const struct plm_job_line *line, size_t folder)
{
    const char *file = line->file + (line->whose == PLM_JOB_OWN && strlen(line->file) > folder ? folder : 0);
    const size_t size = strlen(file) + strlen(line->function) + 16;
    char *name = plm_calloc(1, size);
    if (!strcmp(line->function, "<module>"))
        snprintf(name, size, "%s:%u", file, line->line);
    else
        snprintf(name, size, "%s %s+%u", file, line->function, line->line > line->first ? line->line - line->first : 0);
    return name;
}

/* Two functions of a name, as lambdas are, become one. */
static struct plm_holders lines_at(const struct plm_job *job, const struct plm_lane *lane, uint32_t moment)
{
    struct plm_holders h = plm_holders_at(job, lane, moment, PLM_BY_LINE);
    const size_t folder = common_folder(job);
    size_t kept = 0;
    for (size_t i = 0; i < h.count; i++)
        if (h.item[i].line) {
            free(h.item[i].name);
            h.item[i].name = line_name(h.item[i].line, folder);
        }
    qsort(h.item, h.count, sizeof h.item[0], compare_names);
    for (size_t i = 0; i < h.count; i++)
        if (kept && !strcmp(h.item[kept - 1].name, h.item[i].name)) {
            h.item[kept - 1].bytes += h.item[i].bytes;
            free(h.item[i].name);
        } else
            h.item[kept++] = h.item[i];
    h.count = kept;
    return h;
}

static struct plm_holders changed_at(const struct plm_diff *diff, const struct plm_job *job,
                                     const struct plm_lane *lane, uint32_t moment)
{
    return diff->by == PLM_BY_LINE ? lines_at(job, lane, moment) : plm_holders_at(job, lane, moment, diff->by);
}

static void set_holders(const struct plm_diff *diff, struct plm_diff_lane *d)
{
    const struct plm_at at = {PLM_AT_PEAK, 0};
    struct plm_place before, after;
    if (!d->before || !d->after || !diff->before->attributed || !diff->after->attributed)
        return;
    before = plm_place_at(diff->before, d->before, at);
    after = plm_place_at(diff->after, d->after, at);
    if (!before.known || !after.known)
        return;
    d->attributed = true;
    /* Of an imported snapshot nothing is known but functions. */
    if (before.category[PLM_CATEGORY_OTHER] < before.allocated && after.category[PLM_CATEGORY_OTHER] < after.allocated)
        set_categories(d, &before, &after);
    d->holders[0] = changed_at(diff, diff->before, d->before, before.moment);
    d->holders[1] = changed_at(diff, diff->after, d->after, after.moment);
    merge_modules(d);
}

/* ---- layers that repeat ---- */

/* Alike: before and after. */
static struct plm_repeats fold_modules(const struct plm_diff_lane *d, bool single, bool ascii)
{
    const char **name = plm_calloc(d->modules, sizeof *name);
    double *shape = plm_calloc(2 * d->modules, sizeof *shape);
    struct plm_repeats folds;
    for (size_t i = 0; i < d->modules; i++) {
        name[i] = d->module[i].name;
        shape[2 * i] = (double)d->module[i].before;
        shape[2 * i + 1] = (double)d->module[i].after;
    }
    folds = plm_repeats_make(&(struct plm_repeat_input){name, shape, d->modules, 2, ascii, single});
    free(name);
    free(shape);
    return folds;
}

static int compare_rows(const void *a, const void *b)
{
    return compare_changes(&((const struct plm_diff_row *)a)->change, &((const struct plm_diff_row *)b)->change);
}

struct plm_diff_rows plm_diff_rows(const struct plm_diff_lane *d, bool single, bool ascii)
{
    struct plm_diff_rows rows = {.folds = fold_modules(d, single, ascii)};
    rows.item = plm_calloc(rows.folds.count, sizeof *rows.item);
    for (rows.count = 0; rows.count < rows.folds.count; rows.count++) {
        struct plm_diff_row *row = &rows.item[rows.count];
        row->fold = &rows.folds.item[rows.count];
        row->change.name = plm_repeat_label(row->fold);
        for (size_t k = 0; k < row->fold->count; k++) {
            const struct plm_change *one = &d->module[rows.folds.member[row->fold->first + k]];
            row->change.before += one->before;
            row->change.after += one->after;
        }
    }
    qsort(rows.item, rows.count, sizeof *rows.item, compare_rows);
    return rows;
}

void plm_diff_rows_free(struct plm_diff_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free((char *)rows->item[i].change.name);
    free(rows->item);
    plm_repeats_free(&rows->folds);
    *rows = (struct plm_diff_rows){0};
}

/* ---- all devices ---- */

/* Several processes may have the same rank and device; the first is matched with the first. */
static const struct plm_lane *lane_match(const struct plm_diff *diff, const struct plm_lane *lane)
{
    for (size_t i = 0; i < diff->after->lanes; i++) {
        const struct plm_lane *other = &diff->after->lane[i];
        bool taken = false;
        for (size_t k = 0; k < diff->lanes; k++)
            taken |= diff->lane[k].after == other;
        if (!taken && other->summary->rank == lane->summary->rank && other->summary->device == lane->summary->device)
            return other;
    }
    return NULL;
}

static bool is_matched(const struct plm_diff *diff, size_t known, const struct plm_lane *lane)
{
    for (size_t i = 0; i < known; i++)
        if (diff->lane[i].after == lane)
            return true;
    return false;
}

static void lanes_pair(struct plm_diff *diff)
{
    size_t matched;
    for (size_t i = 0; i < diff->before->lanes; i++) {
        const struct plm_lane *other = lane_match(diff, &diff->before->lane[i]);
        diff->lane[diff->lanes++] = (struct plm_diff_lane){.before = &diff->before->lane[i], .after = other};
    }
    matched = diff->lanes;
    for (size_t i = 0; i < diff->after->lanes; i++)
        if (!is_matched(diff, matched, &diff->after->lane[i]))
            diff->lane[diff->lanes++] = (struct plm_diff_lane){.after = &diff->after->lane[i]};
}

/* ---- all kinds of ranks, of different worlds ---- */

static bool worlds_differ(const struct plm_diff *diff)
{
    const struct plm_job_kinds *a = &diff->ranks[0], *b = &diff->ranks[1];
    const bool ranks =
        a->kinds && b->kinds && a->kind[0].lane && b->kind[0].lane && !a->kind[0].devices && !b->kind[0].devices;
    return ranks && (a->told || b->told || a->count != b->count);
}

/* Kinds that have no match yet, the largest first. */
struct unmatched {
    const struct plm_job_kind **kind;
    size_t count;
};

static struct unmatched unmatched_make(const struct plm_job_kinds *r)
{
    struct unmatched u = {plm_calloc(r->kinds, sizeof *u.kind), 0};
    for (size_t k = 0; k < r->kinds; k++)
        if (r->kind[k].lane)
            u.kind[u.count++] = &r->kind[k];
    return u;
}

static const struct plm_job_kind *unmatched_take(struct unmatched *u, size_t at)
{
    const struct plm_job_kind *kind = u->kind[at];
    u->count--;
    memmove(&u->kind[at], &u->kind[at + 1], (u->count - at) * sizeof *u->kind);
    return kind;
}

static int by_rank(const void *a, const void *b)
{
    const struct plm_job_kind *x = *(const struct plm_job_kind *const *)a, *y = *(const struct plm_job_kind *const *)b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void kinds_add(struct plm_diff *diff, const struct plm_job_kind *before, const struct plm_job_kind *after)
{
    diff->lane[diff->lanes++] = (struct plm_diff_lane){
        .kind = {before, after}, .before = before ? before->lane : NULL, .after = after ? after->lane : NULL};
}

/* Those of the same ranks of equally large worlds. */
static void kinds_pair_equal(struct plm_diff *diff, struct unmatched *a, struct unmatched *b)
{
    for (size_t i = 0; i < a->count;) {
        size_t k = 0;
        while (k < b->count && strcmp(a->kind[i]->ranks, b->kind[k]->ranks) != 0)
            k++;
        if (k < b->count)
            kinds_add(diff, unmatched_take(a, i), unmatched_take(b, k));
        else
            i++;
    }
}

static void kinds_pair(struct plm_diff *diff)
{
    struct unmatched a = unmatched_make(&diff->ranks[0]), b = unmatched_make(&diff->ranks[1]);
    if (diff->ranks[0].count == diff->ranks[1].count)
        kinds_pair_equal(diff, &a, &b);
    if (a.count && b.count) /* the largest */
        kinds_add(diff, unmatched_take(&a, 0), unmatched_take(&b, 0));
    qsort(a.kind, a.count, sizeof *a.kind, by_rank);
    qsort(b.kind, b.count, sizeof *b.kind, by_rank);
    if (a.count && b.count) /* the first */
        kinds_add(diff, unmatched_take(&a, 0), unmatched_take(&b, 0));
    if (a.count && b.count) /* the last */
        kinds_add(diff, unmatched_take(&a, a.count - 1), unmatched_take(&b, b.count - 1));
    while (a.count || b.count)
        kinds_add(diff, a.count ? unmatched_take(&a, 0) : NULL, b.count ? unmatched_take(&b, 0) : NULL);
    free(a.kind);
    free(b.kind);
}

void plm_diff_make(const struct plm_job *before, const struct plm_job *after, enum plm_key by, struct plm_diff *diff)
{
    *diff = (struct plm_diff){
        .before = before, .after = after, .by = by, .ranks = {plm_job_kinds_make(before), plm_job_kinds_make(after)}};
    diff->by_kind = worlds_differ(diff);
    diff->lane = plm_calloc(before->lanes + after->lanes, sizeof diff->lane[0]);
    (diff->by_kind ? kinds_pair : lanes_pair)(diff);
    for (size_t i = 0; i < diff->lanes; i++) {
        set_rungs(diff, &diff->lane[i]);
        set_holders(diff, &diff->lane[i]);
        diff->changed |= diff->lane[i].changed;
    }
}

void plm_diff_free(struct plm_diff *diff)
{
    for (size_t i = 0; i < diff->lanes; i++) {
        free(diff->lane[i].module);
        plm_holders_free(&diff->lane[i].holders[0]);
        plm_holders_free(&diff->lane[i].holders[1]);
    }
    plm_job_kinds_free(&diff->ranks[0]);
    plm_job_kinds_free(&diff->ranks[1]);
    free(diff->lane);
    *diff = (struct plm_diff){0};
}
