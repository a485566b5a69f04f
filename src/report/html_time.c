#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/html.h"
#include "report/report.h"
#include "time/table.h"
#include "time/timeline.h"

enum { NAME_BYTES = 160 }; /* more of a name is not shown */

/* ---- kinds: what spans have in common ---- */

struct plm_html_kind {
    uint32_t name, module, kernel; /* in the names */
    uint8_t class, bound;
};

static uint32_t name_add(struct plm_html_time *t, const char *text)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s", text);
    return plm_names_add(&t->names, name);
}

static struct plm_html_kind kind_make(struct plm_html_time *t, uint32_t work, uint32_t site, uint8_t bound)
{
    const struct plm_works *works = &t->timeline->works;
    const struct plm_work *w = &works->work[work];
    struct plm_html_kind kind = {.class = w->class, .bound = bound};
    char text[NAME_BYTES];
    kind.name = name_add(t, plm_span_name(t->timeline, work, site, text, sizeof text));
    kind.module = name_add(t, works->site[site].module);
    kind.kernel = name_add(t, w->name ? plm_time_kernel_short(works->names.text[w->name], text, sizeof text) : "");
    return kind;
}

_Static_assert(PLM_HTML_KINDS * 3 < 1 << 16, "three numbers of names fit beside class and bound in a key");

static uint32_t kind_add(struct plm_html_time *t, const struct plm_html_kind *kind)
{
    const uint64_t key = (uint64_t)kind->name << 48 | (uint64_t)kind->module << 32 | (uint64_t)kind->kernel << 16 |
                         (uint64_t)kind->class << 8 | kind->bound;
    const uint64_t known = plm_map_get(&t->by_key, key);
    if (known != PLM_MAP_NONE)
        return (uint32_t)known;
    t->kind = plm_grow(t->kind, t->kinds, &t->kind_room, sizeof *kind);
    t->kind[t->kinds] = *kind;
    plm_map_put(&t->by_key, key, t->kinds);
    return (uint32_t)t->kinds++;
}

/* Kind 0 is what has no room. A work has one bound on a card; the host's calls have a table of their own. */
static uint32_t kind_of(struct plm_html_time *t, uint32_t work, uint32_t site, uint8_t bound)
{
    struct plm_map *pairs = &t->by_pair[bound == PLM_BOUND_HOST];
    const uint64_t key = (uint64_t)work << 32 | site, known = plm_map_get(pairs, key);
    uint32_t number = 0;
    if (known != PLM_MAP_NONE)
        return (uint32_t)known;
    if (t->kinds < PLM_HTML_KINDS) {
        const struct plm_html_kind kind = kind_make(t, work, site, bound);
        number = kind_add(t, &kind);
    }
    plm_map_put(pairs, key, number);
    return number;
}

void plm_html_time_start(struct plm_html_time *t, const struct plm_report_step *time)
{
    memset(t, 0, sizeof *t);
    t->timeline = time->timeline;
    t->why = time->why;
    plm_names_add(&t->names, "");
    kind_add(t, &(struct plm_html_kind){.class = PLM_WORK_OTHER, .bound = PLM_BOUND_HOST});
}

void plm_html_time_free(struct plm_html_time *t)
{
    plm_names_free(&t->names);
    plm_map_free(&t->by_key);
    plm_map_free(&t->by_pair[0]);
    plm_map_free(&t->by_pair[1]);
    free(t->kind);
}

/* ---- tracks ---- */

/* A span, or several that are too short to be told apart: then `kind` and `us` are those of the longest. */
struct piece {
    uint64_t begin, end; /* ns from the first of the lane */
    uint64_t us;         /* of the call, in the recording */
    uint64_t busy, longest, wait;
    uint32_t kind, count;
};

struct track {
    uint32_t stream;
    struct piece *piece;
    size_t pieces, room;
};

struct tracks {
    const struct plm_timeline_lane *lane;
    struct plm_html_time *time;
    uint64_t small; /* what lies together within so many ns is one piece; 0: they are few */
    struct track host, *stream;
    size_t streams, stream_room;
};

static void piece_join(struct piece *piece, const struct piece *next)
{
    piece->end = next->end;
    piece->busy += next->busy;
    piece->wait += next->wait;
    piece->count += next->count;
    if (next->longest > piece->longest) {
        piece->longest = next->longest;
        piece->kind = next->kind;
        piece->us = next->us;
    }
}

static bool pieces_together(const struct piece *piece, const struct piece *next, uint64_t small)
{
    return next->end - piece->begin <= small;
}

static void piece_add(struct tracks *all, struct track *track, double begin, double end, struct piece piece)
{
    piece.begin = (uint64_t)(begin - all->lane->begin);
    piece.end = (uint64_t)(end - all->lane->begin);
    piece.busy = piece.longest = piece.end - piece.begin;
    piece.count = 1;
    if (all->small && track->pieces && pieces_together(&track->piece[track->pieces - 1], &piece, all->small)) {
        piece_join(&track->piece[track->pieces - 1], &piece);
        return;
    }
    track->piece = plm_grow(track->piece, track->pieces, &track->room, sizeof piece);
    track->piece[track->pieces++] = piece;
}

static struct track *track_of(struct tracks *all, uint32_t stream)
{
    for (size_t i = 0; i < all->streams; i++)
        if (all->stream[i].stream == stream)
            return &all->stream[i];
    all->stream = plm_grow(all->stream, all->streams, &all->stream_room, sizeof *all->stream);
    all->stream[all->streams] = (struct track){.stream = stream};
    return &all->stream[all->streams++];
}

static void host_visit(const struct plm_host_span *s, void *context)
{
    struct tracks *all = context;
    const struct plm_work_call *c = &all->lane->work->call[s->call];
    piece_add(all, &all->host, s->begin, s->end,
              (struct piece){.us = c->at_ns / 1000,
                             .wait = (uint64_t)s->wait,
                             .kind = kind_of(all->time, c->work, c->site, PLM_BOUND_HOST)});
}

static void span_visit(const struct plm_span *s, void *context)
{
    struct tracks *all = context;
    piece_add(all, track_of(all, s->stream), s->begin, s->end,
              (struct piece){.us = all->lane->work->call[s->launch].at_ns / 1000,
                             .kind = kind_of(all->time, s->work, s->site, s->bound)});
}

/* One after the other: kinds are numbered as they are seen. */
static void tracks_make(struct tracks *all)
{
    plm_timeline_each(all->time->timeline, all->lane, host_visit, NULL, all);
    plm_timeline_each(all->time->timeline, all->lane, NULL, span_visit, all);
}

static void tracks_free(struct tracks *all)
{
    for (size_t i = 0; i < all->streams; i++)
        free(all->stream[i].piece);
    free(all->stream);
    free(all->host.piece);
}

/* ---- few enough of them ---- */

/* What lies together within `small` ns becomes one. */
static size_t track_join(struct track *track, uint64_t small)
{
    size_t kept = 0;
    for (size_t i = 0; i < track->pieces; i++) {
        struct piece *last = kept ? &track->piece[kept - 1] : NULL;
        if (last && pieces_together(last, &track->piece[i], small))
            piece_join(last, &track->piece[i]);
        else
            track->piece[kept++] = track->piece[i];
    }
    track->pieces = kept;
    return kept;
}

/* Of more than `most` no more are made than can be told apart at eight times that. */
static uint64_t small_first(const struct plm_timeline_lane *lane, size_t most)
{
    return lane->timing.spans + lane->calls > most ? (uint64_t)(lane->end - lane->begin) / (8 * most) + 1 : 0;
}

/* Ends when every track is one piece; there are at most as many tracks as the clock has. */
static void tracks_join(struct tracks *all, size_t most)
{
    size_t count = all->host.pieces;
    for (size_t i = 0; i < all->streams; i++)
        count += all->stream[i].pieces;
    while (count > most && all->small < 1ull << 62) {
        all->small *= 2;
        count = track_join(&all->host, all->small);
        for (size_t i = 0; i < all->streams; i++)
            count += track_join(&all->stream[i], all->small);
    }
}

/* ---- as JSON ---- */

static void write_merged(struct plm_json *j, const struct track *track)
{
    size_t last = 0;
    plm_json_array(j, "merged");
    for (size_t i = 0; i < track->pieces; i++) {
        if (track->piece[i].count == 1)
            continue;
        plm_json_integer(j, NULL, i - last);
        plm_json_integer(j, NULL, track->piece[i].count);
        plm_json_integer(j, NULL, track->piece[i].busy);
        last = i;
    }
    plm_json_end_array(j);
}

static void write_waits(struct plm_json *j, const struct track *track)
{
    size_t last = 0;
    plm_json_array(j, "waits");
    for (size_t i = 0; i < track->pieces; i++) {
        if (!track->piece[i].wait)
            continue;
        plm_json_integer(j, NULL, i - last);
        plm_json_integer(j, NULL, track->piece[i].wait);
        last = i;
    }
    plm_json_end_array(j);
}

static void write_track(struct plm_json *j, const struct track *track)
{
    const struct piece *p = track->piece;
    int64_t us = 0;
    PLM_HTML_EACH(j, "gap", i, track->pieces, p[i].begin - (i ? p[i - 1].end : 0));
    PLM_HTML_EACH(j, "ns", i, track->pieces, p[i].end - p[i].begin);
    PLM_HTML_EACH(j, "kind", i, track->pieces, p[i].kind);
    plm_json_array(j, "us");
    for (size_t i = 0; i < track->pieces; i++) {
        plm_json_signed(j, NULL, (int64_t)p[i].us - us);
        us = (int64_t)p[i].us;
    }
    plm_json_end_array(j);
    write_merged(j, track);
}

static void write_figures(struct plm_json *j, const struct plm_timing *t)
{
    plm_json_integer(j, "step", (uint64_t)t->step);
    plm_json_integer(j, "low", (uint64_t)t->low);
    plm_json_integer(j, "high", (uint64_t)t->high);
    plm_json_integer(j, "busy", (uint64_t)t->busy);
    plm_json_integer(j, "host", (uint64_t)t->host);
    plm_json_object(j, "bound");
    for (int i = 0; i < PLM_BOUNDS; i++)
        plm_json_integer(j, plm_bound_name((enum plm_bound)i), (uint64_t)t->bound[i]);
    plm_json_end_object(j);
    plm_json_object(j, "metrics");
    for (int i = 0; i < PLM_METRICS; i++)
        plm_json_real(j, plm_metric_name((enum plm_metric)i), t->metric[i]);
    plm_json_end_object(j);
    if (t->mfu > 0)
        plm_json_real(j, "mfu", t->mfu);
    if (t->samples_per_second > 0)
        plm_json_real(j, "samples_per_second", t->samples_per_second);
    plm_json_integer(j, "unsized", (uint64_t)t->unsized);
    plm_json_integer(j, "averaged", t->steps);
}

void plm_html_time_lane(struct plm_json *j, struct plm_html_time *t, uint32_t process, int device, size_t lanes)
{
    struct tracks all = {.lane = t->timeline ? plm_timeline_find(t->timeline, process, device) : NULL, .time = t};
    const size_t most = PLM_HTML_SPANS / (lanes ? lanes : 1);
    static const char *const unit[] = {[PLM_STEP_OPTIMIZER] = "optimizer",
                                       [PLM_STEP_BACKWARD] = "backward",
                                       [PLM_STEP_PASS] = "pass",
                                       [PLM_STEP_WHOLE] = "whole"};
    if (!all.lane)
        return;
    all.small = small_first(all.lane, most);
    tracks_make(&all);
    tracks_join(&all, most);
    plm_json_object(j, "time");
    write_figures(j, &all.lane->timing);
    plm_json_string(j, "unit", unit[all.lane->work->unit]);
    plm_json_bool(j, "main", all.lane->work == plm_works_main(&t->timeline->works));
    plm_json_integer(j, "spans", all.lane->timing.spans);
    plm_json_integer(j, "calls", all.lane->calls);
    if (all.small)
        plm_json_integer(j, "merged_below", all.small);
    plm_json_integer(j, "ahead", (uint64_t)-all.lane->begin);
    plm_json_integer(j, "length", (uint64_t)(all.lane->end - all.lane->begin));
    plm_json_integer(j, "from_us", all.lane->from_ns / 1000);
    plm_json_integer(j, "to_us", all.lane->to_ns / 1000);
    plm_json_object(j, "calls_of_host");
    write_track(j, &all.host);
    write_waits(j, &all.host);
    plm_json_end_object(j);
    plm_json_array(j, "streams");
    for (size_t i = 0; i < all.streams; i++) {
        plm_json_object(j, NULL);
        plm_json_integer(j, "stream", all.stream[i].stream);
        write_track(j, &all.stream[i]);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_end_object(j);
    tracks_free(&all);
}

static void write_together(struct plm_json *j, const struct plm_timeline *timeline,
                           const struct plm_timeline_lane *lane)
{
    const double rate = plm_time_together(&timeline->works, lane->work, lane->timing.step);
    if (rate > 0)
        plm_json_real(j, "samples_per_second", rate);
}

/* What `plimsoll time` and the report call the job's step: that of the lane with the most calls. The page may show
   another one. */
static void write_main(struct plm_json *j, const struct plm_timeline *timeline)
{
    const struct plm_work_lane *main = plm_works_main(&timeline->works);
    for (size_t i = 0; i < timeline->lanes; i++)
        if (timeline->lane[i].work == main) {
            plm_json_integer(j, "step", (uint64_t)timeline->lane[i].timing.step);
            plm_json_integer(j, "rank", (uint64_t)(main->rank < 0 ? 0 : main->rank));
            plm_json_integer(j, "device", (uint64_t)(main->device < 0 ? 0 : main->device));
            plm_json_integer(j, "gpus", plm_time_gpus(&timeline->works, main));
            write_together(j, timeline, &timeline->lane[i]);
        }
}

void plm_html_time_write(struct plm_json *j, const struct plm_html_time *t)
{
    plm_json_object(j, "time");
    plm_json_text(j, "why", t->why);
    if (t->timeline) {
        plm_json_string(j, "card", t->timeline->card.id);
        plm_json_string(j, "name", t->timeline->card.name);
        write_main(j, t->timeline);
        plm_json_array(j, "classes");
        for (int i = 0; i < PLM_WORK_CLASSES; i++)
            plm_json_string(j, NULL, plm_work_class_name((enum plm_work_class)i));
        plm_json_end_array(j);
        plm_json_array(j, "bounds");
        for (int i = 0; i < PLM_BOUNDS; i++)
            plm_json_string(j, NULL, plm_bound_name((enum plm_bound)i));
        plm_json_end_array(j);
        plm_json_array(j, "names");
        for (size_t i = 0; i < t->names.count; i++)
            plm_json_string(j, NULL, t->names.text[i]);
        plm_json_end_array(j);
        plm_json_object(j, "kinds");
        PLM_HTML_EACH(j, "name", i, t->kinds, t->kind[i].name);
        PLM_HTML_EACH(j, "module", i, t->kinds, t->kind[i].module);
        PLM_HTML_EACH(j, "kernel", i, t->kinds, t->kind[i].kernel);
        PLM_HTML_EACH(j, "class", i, t->kinds, t->kind[i].class);
        PLM_HTML_EACH(j, "bound", i, t->kinds, t->kind[i].bound);
        plm_json_end_object(j);
    }
    plm_json_end_object(j);
}
