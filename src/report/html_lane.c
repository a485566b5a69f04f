#include <string.h>

#include "base/memory.h"
#include "report/html.h"

/* Figures of each point, column by column. */
struct columns {
    uint64_t *category[PLM_CATEGORIES], *reserved, *used, *ns;
    char *phase;
};

struct sample {
    struct plm_json *json;
    const struct plm_lane *lane;
    uint64_t context;
    const struct plm_html_moments *moments;
    const struct plm_html_names *names;
    struct columns c;
    size_t point, snapshot, phase;
    uint64_t *held, *written; /* per module and category: now, and as of the last snapshot */
    size_t keys;
    struct plm_html_rows rows;
    uint32_t *live, *place;   /* blocks that live now; where each block is in there */
    size_t lives;
};

void plm_html_difference(struct plm_json *j, uint64_t value, uint64_t from, uint64_t unit)
{
    plm_json_signed(j, NULL, (int64_t)(value - from) / (int64_t)unit);
}

/* Pairs of "how many did not change" and "by how much the next did". */
static void write_column(struct plm_json *j, const char *key, const uint64_t *value, size_t count, uint64_t unit)
{
    uint64_t last = 0, same = 0;
    plm_json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        if (value[i] == last) {
            same++;
            continue;
        }
        plm_json_integer(j, NULL, same);
        plm_html_difference(j, value[i], last, unit);
        last = value[i];
        same = 0;
    }
    plm_json_end_array(j);
}

/* ---- memory of the card, from the segments ---- */

struct change {
    uint32_t at;
    uint64_t bytes; /* taken; what is given back is written as its complement */
};

static int by_moment(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void card_memory(struct sample *s)
{
    size_t count = 0, k = 0;
    uint64_t used = s->context;
    struct change *change = plm_calloc(2 * s->lane->segments, sizeof *change);
    for (size_t i = 0; i < s->lane->segments; i++) {
        const struct plm_segment *g = &s->lane->segment[i];
        change[count++] = (struct change){g->alloc_at, g->bytes};
        if (g->free_at != PLM_MOMENT_NEVER)
            change[count++] = (struct change){g->free_at, -g->bytes};
    }
    qsort(change, count, sizeof *change, by_moment);
    for (size_t i = 0; i < s->moments->points; i++) {
        while (k < count && change[k].at <= s->moments->point[i])
            used += change[k++].bytes;
        s->c.used[i] = used;
    }
    free(change);
}

/* ---- snapshots ---- */

static void write_holders(struct sample *s)
{
    size_t last = 0;
    plm_json_array(s->json, "holders");
    for (size_t k = 0; k < s->keys; k++) {
        if (s->held[k] == s->written[k])
            continue;
        plm_json_integer(s->json, NULL, k - last);
        plm_html_difference(s->json, s->held[k], s->written[k], s->moments->unit);
        s->written[k] = s->held[k];
        last = k;
    }
    plm_json_end_array(s->json);
}

static void write_snapshot(struct sample *s, uint32_t moment)
{
    plm_json_object(s->json, NULL);
    plm_json_integer(s->json, "point", s->point);
    write_holders(s);
    if (s->moments->mapped[s->snapshot]) {
        uint32_t *copy = plm_calloc(s->lives, sizeof *copy);
        memcpy(copy, s->live, s->lives * sizeof *copy);
        plm_html_rows_advance(&s->rows, moment);
        plm_html_map(s->json, &s->rows, copy, s->lives, s->moments->unit, s->names);
        free(copy);
    }
    plm_json_end_object(s->json);
}

/* ---- the sweep ---- */

static void block_apply(struct sample *s, uint32_t index, bool freed)
{
    const struct plm_block *b = &s->lane->block[index];
    size_t key = (size_t)plm_html_module(s->names, b) * PLM_CATEGORIES + b->category;
    s->held[key] += freed ? -b->bytes : b->bytes;
    if (!freed) {
        s->place[index] = (uint32_t)s->lives;
        s->live[s->lives++] = index;
    } else {
        uint32_t hole = s->place[index], last = s->live[--s->lives];
        s->live[hole] = last;
        s->place[last] = hole;
    }
}

static void take_point(struct sample *s, uint32_t moment, uint64_t ns, const uint64_t bytes[PLM_CATEGORIES])
{
    while (s->phase < s->lane->phases && s->lane->phase[s->phase].at <= moment)
        s->phase++;
    for (int c = 0; c < PLM_CATEGORIES; c++)
        s->c.category[c][s->point] = bytes[c];
    s->c.reserved[s->point] = plm_lane_reserved(s->lane, moment);
    s->c.ns[s->point] = ns;
    s->c.phase[s->point] = (char)('0' + (s->phase ? s->lane->phase[s->phase - 1].value % PLM_PHASES : 0));
}

static int moment_visit(uint32_t moment, uint64_t ns, const uint64_t bytes[PLM_CATEGORIES], void *context)
{
    struct sample *s = context;
    const struct plm_html_moments *m = s->moments;
    block_apply(s, s->lane->order[moment] >> 1, s->lane->order[moment] & 1);
    if (s->point >= m->points || m->point[s->point] != moment)
        return 0;
    take_point(s, moment, ns, bytes);
    if (s->snapshot < m->snapshots && m->snapshot[s->snapshot] == moment) {
        write_snapshot(s, moment);
        s->snapshot++;
    }
    s->point++;
    return 0;
}

/* ---- the document ---- */

static void write_deltas(struct plm_json *j, const char *key, const uint64_t *value, size_t count)
{
    uint64_t last = 0;
    plm_json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        plm_html_difference(j, value[i], last, 1);
        last = value[i];
    }
    plm_json_end_array(j);
}

static void write_points(struct sample *s)
{
    size_t count = s->moments->points;
    uint64_t *number = s->c.ns; /* each column is written once, so its place can be reused */
    plm_json_object(s->json, "points");
    for (size_t i = 0; i < count; i++)
        s->c.ns[i] /= 1000;
    write_deltas(s->json, "us", s->c.ns, count);
    for (size_t i = 0; i < count; i++)
        number[i] = s->moments->point[i];
    write_deltas(s->json, "at", number, count);
    plm_json_string(s->json, "phase", s->c.phase);
    plm_json_array(s->json, "categories");
    for (int c = 0; c < PLM_CATEGORIES; c++)
        write_column(s->json, NULL, s->c.category[c], count, s->moments->unit);
    plm_json_end_array(s->json);
    write_column(s->json, "reserved", s->c.reserved, count, s->moments->unit);
    write_column(s->json, "used", s->c.used, count, s->moments->unit);
    plm_json_end_object(s->json);
}

static void make_room(struct sample *s)
{
    size_t count = s->moments->points + 1;
    for (int c = 0; c < PLM_CATEGORIES; c++)
        s->c.category[c] = plm_calloc(count, sizeof(uint64_t));
    s->c.reserved = plm_calloc(count, sizeof(uint64_t));
    s->c.used = plm_calloc(count, sizeof(uint64_t));
    s->c.ns = plm_calloc(count, sizeof(uint64_t));
    s->c.phase = plm_calloc(count, 1);
    s->keys = s->names->modules.count * PLM_CATEGORIES;
    s->held = plm_calloc(s->keys, sizeof *s->held);
    s->written = plm_calloc(s->keys, sizeof *s->written);
    s->live = plm_calloc(s->lane->blocks, sizeof *s->live);
    s->place = plm_calloc(s->lane->blocks, sizeof *s->place);
}

static void give_back(struct sample *s)
{
    for (int c = 0; c < PLM_CATEGORIES; c++)
        free(s->c.category[c]);
    free(s->c.reserved);
    free(s->c.used);
    free(s->c.ns);
    free(s->c.phase);
    free(s->held);
    free(s->written);
    free(s->live);
    free(s->place);
    plm_html_rows_free(&s->rows);
}

void plm_html_lane(struct plm_json *json, const struct plm_lane *lane, uint64_t context,
                   const struct plm_html_moments *moments, const struct plm_html_names *names)
{
    struct sample s = {.json = json, .lane = lane, .context = context, .moments = moments, .names = names};
    plm_html_rows_make(lane, &s.rows);
    make_room(&s);
    plm_json_integer(json, "unit", moments->unit);
    plm_json_array(json, "snapshots");
    plm_lane_sweep(lane, moment_visit, &s);
    plm_json_end_array(json);
    card_memory(&s);
    write_points(&s);
    give_back(&s);
}
