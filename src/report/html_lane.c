#include <stdlib.h>
#include <string.h>

#include "analysis/layout.h"
#include "base/memory.h"
#include "base/search.h"
#include "report/html.h"

/* By how much a figure differs from another, in units. Figures of a damaged record may be any numbers. */
static void write_difference(struct plm_json *j, uint64_t value, uint64_t from, uint64_t unit)
{
    plm_json_signed(j, NULL, (int64_t)(value - from) / (int64_t)unit);
}

/* ---- the segments of the allocator as time goes on ---- */

struct row {
    uint64_t address, bytes;
    uint32_t kind;  /* enum plm_record_memory, or one more: not known */
    size_t entries; /* of the map that lie in it */
};
struct rows {
    const struct plm_lane *lane;
    struct plm_layout layout;
    size_t next; /* of its events that has not happened yet */
    struct row *row; /* by address */
    size_t rows, room;
};

static void rows_make(const struct plm_lane *lane, struct rows *r)
{
    *r = (struct rows){.lane = lane};
    plm_layout_make(lane, UINT32_MAX, &r->layout);
}

static void rows_free(struct rows *r)
{
    plm_layout_free(&r->layout);
    free(r->row);
}

/* The number of rows that begin before the address. */
static size_t rank_of(const struct rows *r, uint64_t address)
{
    return PLM_SEARCH(i, r->rows, r->row[i].address < address);
}

static void row_add(struct rows *r, struct row row)
{
    size_t rank = rank_of(r, row.address);
    r->row = plm_grow(r->row, r->rows, &r->room, sizeof *r->row);
    memmove(&r->row[rank + 1], &r->row[rank], (r->rows - rank) * sizeof *r->row);
    r->row[rank] = row;
    r->rows++;
}

/* Takes a range out of the rows that it overlaps; what they have before and behind it stays. */
static void range_cut(struct rows *r, uint64_t from, uint64_t to)
{
    size_t i = rank_of(r, from);
    if (i && r->row[i - 1].address + r->row[i - 1].bytes > from)
        i--;
    while (i < r->rows && r->row[i].address < to) {
        struct row old = r->row[i], behind = old;
        uint64_t end = old.address + old.bytes;
        memmove(&r->row[i], &r->row[i + 1], (--r->rows - i) * sizeof old);
        if (old.address < from) {
            old.bytes = from - old.address;
            row_add(r, old);
            i++;
        }
        if (end > to) {
            behind.address = to;
            behind.bytes = end - to;
            row_add(r, behind);
            return;
        }
    }
}

/* On to a later moment. */
static void rows_advance(struct rows *r, uint32_t moment)
{
    for (; r->next < r->layout.events && r->layout.event[r->next].at <= moment; r->next++) {
        const struct plm_layout_event *e = &r->layout.event[r->next];
        if (e->action == PLM_LAYOUT_FREE || e->action == PLM_LAYOUT_UNMAP)
            range_cut(r, e->address, e->address + e->bytes);
        else
            row_add(r, (struct row){.address = e->address,
                                    .bytes = e->bytes,
                                    .kind = e->segment == PLM_LAYOUT_MAPPED ? (uint32_t)PLM_RECORD_VMM
                                                                            : r->lane->segment[e->segment].kind});
    }
}

/* ---- the map of a snapshot ---- */

/* A block, or several small ones close to each other. */
struct entry {
    uint64_t address, span, bytes;
    uint32_t biggest, count; /* block */
    uint64_t biggest_bytes;
    size_t row;
};

struct map {
    const struct plm_lane *lane;
    struct row *row;
    size_t rows;
    uint32_t *live;
    size_t lives;
    struct entry *entry;
    size_t entries;
};

enum {
    KIND_UNKNOWN = 4, /* of a block that lies in no segment that the record knows */
    ROWS_MOST = 4000  /* more would not be told apart, and make the page large */
};

static int by_row_address(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_block_address(const void *a, const void *b, void *context)
{
    const struct plm_block *block = context;
    uint64_t x = block[*(const uint32_t *)a].address, y = block[*(const uint32_t *)b].address;
    return (x > y) - (x < y);
}

/* Mapped pieces that touch are one: that is how an expandable segment grows. */
static void join_mapped(struct map *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->rows; i++) {
        struct row *last = kept ? &m->row[kept - 1] : NULL;
        if (last && last->kind == PLM_RECORD_VMM && m->row[i].kind == PLM_RECORD_VMM &&
            last->address + last->bytes == m->row[i].address)
            last->bytes += m->row[i].bytes;
        else
            m->row[kept++] = m->row[i];
    }
    m->rows = kept;
}

/* The segments, by address, and a row for blocks outside of them. */
static void collect_rows(struct map *m, const struct rows *rows)
{
    size_t known, r = 0;
    if (rows->rows)
        memcpy(m->row, rows->row, rows->rows * sizeof *m->row);
    m->rows = rows->rows;
    join_mapped(m);
    known = m->rows;
    for (size_t i = 0; i < m->lives; i++) {
        const struct plm_block *b = &m->lane->block[m->live[i]];
        while (r < known && m->row[r].address + m->row[r].bytes <= b->address)
            r++;
        if (r < known && b->address >= m->row[r].address)
            continue;
        if (m->rows > known && m->row[m->rows - 1].address + m->row[m->rows - 1].bytes == b->address)
            m->row[m->rows - 1].bytes += b->bytes;
        else
            m->row[m->rows++] = (struct row){b->address, b->bytes, KIND_UNKNOWN, 0};
    }
    qsort(m->row, m->rows, sizeof *m->row, by_row_address);
}

/* Can the block join the entry before it? Both are smaller than `small` and near, and the entry stays short. */
static bool joins(const struct entry *e, const struct plm_block *b, size_t row, uint64_t small)
{
    return e->row == row && b->bytes < small && e->biggest_bytes < small && b->address - e->address - e->span < small &&
           b->address + b->bytes - e->address <= 8 * small;
}

/* Blocks by address become entries; those smaller than `small` are put together. Returns their number. */
static size_t make_entries(struct map *m, uint64_t small)
{
    size_t r = 0;
    m->entries = 0;
    for (size_t i = 0; i < m->lives; i++) {
        const struct plm_block *b = &m->lane->block[m->live[i]];
        struct entry *e = m->entries ? &m->entry[m->entries - 1] : NULL;
        while (r + 1 < m->rows && m->row[r + 1].address <= b->address)
            r++;
        if (e && joins(e, b, r, small)) {
            e->span = b->address + b->bytes - e->address;
            e->bytes += b->bytes;
            e->count++;
            if (b->bytes > e->biggest_bytes) {
                e->biggest = m->live[i];
                e->biggest_bytes = b->bytes;
            }
            continue;
        }
        m->entry[m->entries++] = (struct entry){b->address, b->bytes, b->bytes, m->live[i], 1, b->bytes, r};
    }
    return m->entries;
}

static void count_entries(struct map *m)
{
    for (size_t i = 0; i < m->entries; i++)
        m->row[m->entry[i].row].entries++;
}

static void write_rows(struct plm_json *j, const struct map *m, uint64_t unit)
{
    uint64_t end = 0;
    plm_json_array(j, "address");
    for (size_t i = 0; i < m->rows; i++) {
        write_difference(j, m->row[i].address, end, unit);
        end = m->row[i].address + m->row[i].bytes;
    }
    plm_json_end_array(j);
    PLM_HTML_EACH(j, "bytes", i, m->rows, m->row[i].bytes / unit);
    PLM_HTML_EACH(j, "kind", i, m->rows, m->row[i].kind);
    PLM_HTML_EACH(j, "blocks", i, m->rows, m->row[i].entries);
}

/* Free bytes before each entry, from the start of its row or the end of its neighbour. */
static void write_gaps(struct plm_json *j, const struct map *m, uint64_t unit)
{
    uint64_t end = 0;
    plm_json_array(j, "gap");
    for (size_t i = 0; i < m->entries; i++) {
        const struct entry *e = &m->entry[i];
        if (!i || e[-1].row != e->row)
            end = m->row[e->row].address;
        write_difference(j, e->address, end, unit);
        end = e->address + e->span;
    }
    plm_json_end_array(j);
}

static void write_merged(struct plm_json *j, const struct map *m, uint64_t unit)
{
    size_t last = 0;
    plm_json_array(j, "merged");
    for (size_t i = 0; i < m->entries; i++)
        if (m->entry[i].count > 1) {
            plm_json_integer(j, NULL, i - last);
            plm_json_integer(j, NULL, m->entry[i].bytes / unit);
            plm_json_integer(j, NULL, m->entry[i].count);
            last = i;
        }
    plm_json_end_array(j);
}

static void write_entries(struct plm_json *j, const struct map *m, uint64_t unit, const struct plm_html_names *names)
{
    char *category = plm_calloc(m->entries + 1, 1);
    write_gaps(j, m, unit);
    PLM_HTML_EACH(j, "span", i, m->entries, m->entry[i].span / unit);
    for (size_t i = 0; i < m->entries; i++)
        category[i] = (char)('0' + m->lane->block[m->entry[i].biggest].category);
    plm_json_string(j, "category", category);
    free(category);
    PLM_HTML_EACH(j, "module", i, m->entries, plm_html_module(names, &m->lane->block[m->entry[i].biggest]));
    PLM_HTML_EACH(j, "op", i, m->entries, names->op_of_context[m->lane->block[m->entry[i].biggest].context]);
    write_merged(j, m, unit);
}

/* `live` holds the numbers of the blocks that live then; it is sorted here. */
static void write_map(struct plm_json *json, const struct rows *rows, uint32_t *live, size_t count, uint64_t unit,
                      const struct plm_html_names *names)
{
    struct map m = {.lane = rows->lane, .live = live, .lives = count};
    qsort_r(live, count, sizeof *live, by_block_address, rows->lane->block);
    m.row = plm_calloc(rows->rows + count + 1, sizeof *m.row);
    m.entry = plm_calloc(count + 1, sizeof *m.entry);
    collect_rows(&m, rows);
    if (m.rows <= ROWS_MOST) {
        uint64_t small = unit;
        /* Ends when all blocks of a row are one entry; before, if that is few enough. */
        while (make_entries(&m, small) > PLM_HTML_MAP_ENTRIES && small < 1ull << 44)
            small *= 2;
        count_entries(&m);
        plm_json_object(json, "map");
        write_rows(json, &m, unit);
        write_entries(json, &m, unit, names);
        plm_json_end_object(json);
    }
    free(m.row);
    free(m.entry);
}

/* ---- a lane ---- */

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
    const struct plm_html_view *view;
    uint64_t *held, *written; /* per site: now, and as of the last snapshot */
    uint32_t *site;           /* per block; behind these per part of a block */
    struct rows rows;
    uint32_t *live, *place;   /* blocks that live now; where each block is in there */
    size_t lives;
};

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
        write_difference(j, value[i], last, unit);
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
        const struct plm_lane_segment *g = &s->lane->segment[i];
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
    for (size_t k = 0; k < s->view->sites->count; k++) {
        if (s->held[k] == s->written[k])
            continue;
        plm_json_integer(s->json, NULL, k - last);
        write_difference(s->json, s->held[k], s->written[k], s->moments->unit);
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
        rows_advance(&s->rows, moment);
        write_map(s->json, &s->rows, copy, s->lives, s->moments->unit, s->names);
        free(copy);
    }
    plm_json_end_object(s->json);
}

/* ---- the sweep ---- */

/* Each of the tensors that share a block has a site of its own. */
static void sites_apply(struct sample *s, uint32_t index, bool freed)
{
    const struct plm_block *b = &s->lane->block[index];
    const uint32_t stack = plm_block_stack(s->lane, b);
    uint32_t *site = b->shared ? &s->site[s->lane->blocks + plm_block_first_part(s->lane, b)] : &s->site[index];
    struct plm_block part;
    for (size_t k = 0; plm_block_part(s->lane, b, k, &part); k++) {
        if (!freed)
            site[k] = plm_html_site(s->view->sites, s->view->job, s->names, &part, stack);
        s->held[site[k]] += freed ? -part.bytes : part.bytes;
    }
}

static void block_apply(struct sample *s, uint32_t index, bool freed)
{
    sites_apply(s, index, freed);
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
        write_difference(j, value[i], last, 1);
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
    s->held = plm_calloc(plm_html_sites_most(s->names), sizeof *s->held);
    s->written = plm_calloc(plm_html_sites_most(s->names), sizeof *s->written);
    s->site = plm_calloc(s->lane->blocks + s->lane->parts, sizeof *s->site);
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
    free(s->site);
    free(s->live);
    free(s->place);
    rows_free(&s->rows);
}

void plm_html_lane(struct plm_json *json, const struct plm_html_view *view, uint64_t context)
{
    struct sample s = {.json = json, .lane = view->lane, .context = context, .view = view};
    s.moments = view->moments;
    s.names = view->names;
    rows_make(view->lane, &s.rows);
    make_room(&s);
    plm_json_integer(json, "unit", view->moments->unit);
    plm_json_array(json, "snapshots");
    plm_lane_sweep(view->lane, moment_visit, &s);
    plm_json_end_array(json);
    card_memory(&s);
    write_points(&s);
    give_back(&s);
}
