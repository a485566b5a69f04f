/* The section "Ranks" of the text report. */
#include <stdio.h>
#include <string.h>

#include "report/overview.h"
#include "report/ranks.h"

enum { KINDS = 16, DIFFERENCES = 2, LABEL_LEAST = 6, LABEL_MOST = 24 };

/* "0-7"; "0, devices 1-3" where a process has several. */
static const char *kind_label(const struct plm_job_kind *kind, char *out, size_t size)
{
    snprintf(out, size, kind->devices ? "%s, device %s" : "%s", kind->ranks, kind->devices);
    return out;
}

static int label_columns(const struct plm_page *p, const struct plm_job_kinds *r)
{
    int columns = LABEL_LEAST;
    char label[256];
    for (size_t k = 0; k < r->kinds && k < KINDS; k++) {
        const int wanted = plm_page_columns(p, kind_label(&r->kind[k], label, sizeof label));
        columns = wanted > columns ? wanted : columns;
    }
    return columns < LABEL_MOST ? columns : LABEL_MOST;
}

/* The category by which a rank differs most from the largest, of those that were not told yet; -1: by no hundredth. */
static int differs_next(const struct plm_place *largest, const struct plm_place *place, bool told[PLM_CATEGORIES])
{
    uint64_t most = largest->allocated / 100;
    int next = -1;
    for (int i = 0; i < PLM_CATEGORIES; i++) {
        const uint64_t a = largest->category[i], b = place->category[i], by = a > b ? a - b : b - a;
        if (told[i] || by <= most)
            continue;
        most = by;
        next = i;
    }
    if (next >= 0)
        told[next] = true;
    return next;
}

/* "parameters -1.2 GiB, activations +3.0 GiB" against the largest kind. */
static void differs_text(const struct plm_page *p, const struct plm_job *job, const struct plm_job_kinds *r, size_t k,
                         char *out, size_t size)
{
    const struct plm_at peak = {PLM_AT_PEAK, 0};
    struct plm_place largest, place;
    bool told[PLM_CATEGORIES] = {false};
    size_t used = 0;
    out[0] = '\0';
    if (!job->attributed || !r->kind[0].lane || !r->kind[k].lane)
        return;
    largest = plm_place_at(job, r->kind[0].lane, peak);
    place = plm_place_at(job, r->kind[k].lane, peak);
    for (int i, n = 0; n < DIFFERENCES && used < size && (i = differs_next(&largest, &place, told)) >= 0; n++) {
        const uint64_t a = largest.category[i], b = place.category[i];
        char amount[32];
        used += (size_t)snprintf(out + used, size - used, "%s%s %s%s", n ? ", " : "",
                                 plm_category_name((enum plm_category)i), a > b ? "-" : "+",
                                 plm_page_amount(p, amount, sizeof amount, a > b ? a - b : b - a));
    }
}

static void show_kind(const struct plm_page *p, const struct plm_report_kinds *t, size_t k, int columns)
{
    const struct plm_job_kind *kind = &t->ranks.kind[k];
    const struct plm_ladder *l = &t->ladder[k];
    char label[256], a[32] = "-", r[32] = "-", u[32] = "-", differs[160], text[512];
    const int amount = plm_page_amount_columns(p);
    if (kind->lane) {
        plm_page_amount(p, a, sizeof a, l->allocated);
        plm_page_amount(p, r, sizeof r, l->reserved);
        plm_page_amount(p, u, sizeof u, l->device_used);
    }
    fputs("  ", p->out);
    plm_page_name(p, kind_label(kind, label, sizeof label), columns, 1);
    fprintf(p->out, " %6llu  %*s  %*s  %*s\n", (unsigned long long)kind->count, amount, a, amount, r, amount + 2, u);
    differs_text(p, t->job, &t->ranks, k, differs, sizeof differs);
    snprintf(text, sizeof text, "%.300s%s%s", kind->lane ? kind->why : "used no GPU",
             *kind->why && *differs ? "; " : "", differs);
    if (!*text)
        return;
    fputs(plm_ink(p, PLM_INK_DIM), p->out);
    plm_page_sentences(p, "      ", text);
    fputs(plm_ink(p, PLM_INK_PLAIN), p->out);
}

static void show_title(const struct plm_page *p, const struct plm_report_kinds *t)
{
    const struct plm_job_kinds *r = &t->ranks;
    const char *what = r->kind[0].devices ? "Devices" : "Ranks";
    char title[160], world[64];
    size_t used;
    if (r->count < 2)
        used = (size_t)snprintf(title, sizeof title, "%s: only %u was run", what, r->kind[0].rank);
    else
        used =
            (size_t)snprintf(title, sizeof title, r->kinds > 1 ? "%s: %llu, of %zu kinds" : "%s: %llu, all identical",
                             what, (unsigned long long)r->count, r->kinds);
    if (*plm_report_world_text(world, &t->world))
        snprintf(title + used, sizeof title - used, " (a job of %s)", world);
    plm_page_title(p, title);
}

static void show_table(const struct plm_page *p, const struct plm_report_kinds *t)
{
    const struct plm_job_kinds *r = &t->ranks;
    const int amount = plm_page_amount_columns(p), columns = label_columns(p, r);
    char least[32];
    fprintf(p->out, "  %s%-*s %6s  %*s  %*s  %*s%s\n", plm_ink(p, PLM_INK_DIM), columns, "ranks", "count", amount,
            "allocated", amount, "reserved", amount + 2, "device used", plm_ink(p, PLM_INK_PLAIN));
    for (size_t k = 0; k < r->kinds && k < KINDS; k++)
        show_kind(p, t, k, columns);
    if (r->kinds > KINDS)
        fprintf(p->out, "  ... %zu more kinds, down to %s; --json has them all\n", r->kinds - KINDS,
                plm_page_amount(p, least, sizeof least, t->ladder[r->kinds - 1].device_used));
}

static void show_imbalance(const struct plm_page *p, const struct plm_report_kinds *t)
{
    char largest[32], mean[32];
    if (t->ranks.kinds < 2)
        return;
    plm_page_say(p,
                 "The largest kind uses %.2f times the mean: %s against %s. The rest of this report shows its rank %u.",
                 t->used.ratio, plm_page_amount(p, largest, sizeof largest, t->used.largest),
                 plm_page_amount(p, mean, sizeof mean, t->used.mean), t->ranks.kind[0].rank);
}

/* "parameters 1/64, optimizer 1/64, activations whole" */
static void show_shards(const struct plm_page *p, const struct plm_report_kinds *t)
{
    const struct plm_job_kind *kind = &t->ranks.kind[0];
    char text[400], part[24];
    size_t used = 0;
    for (int i = 0; kind->lane && i < PLM_CATEGORIES && used < sizeof text; i++) {
        const struct plm_shard *shard = plm_lane_shard(t->job, kind->lane, (enum plm_category)i);
        if (shard)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "",
                                     plm_category_name((enum plm_category)i), plm_report_shard_text(part, shard));
    }
    if (used)
        plm_page_say(p, "Rank %u's share of tensors: %s.", kind->rank, text);
}

/* "  rank 4 needs most: 17.2 GiB; the mean is 12.3 GiB" */
static void show_largest(const struct plm_page *p, const struct plm_report_kinds *t)
{
    const struct plm_job_kind *kind = &t->ranks.kind[0];
    char largest[32], mean[32];
    if (t->ranks.kinds < 2)
        return;
    fputs(kind->count == 1 ? "  rank " : "  ranks ", p->out);
    plm_page_name(p, kind->ranks, LABEL_MOST, 0);
    fprintf(p->out, " need%s most: %s; the mean is %s\n", kind->count == 1 ? "s" : "",
            plm_page_amount(p, largest, sizeof largest, t->used.largest),
            plm_page_amount(p, mean, sizeof mean, t->used.mean));
}

void plm_overview_ranks(const struct plm_page *p, const struct plm_job *job, bool full)
{
    struct plm_report_kinds t = plm_report_kinds_make(job);
    if (t.worth && t.ranks.kinds && !full) {
        show_title(p, &t);
        show_largest(p, &t);
    } else if (t.worth && t.ranks.kinds) {
        show_title(p, &t);
        show_table(p, &t);
        show_imbalance(p, &t);
        show_shards(p, &t);
    }
    plm_report_kinds_free(&t);
}
