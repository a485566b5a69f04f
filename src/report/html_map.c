#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "report/html.h"

void plm_html_rows_make(const struct plm_lane *lane, struct plm_html_rows *r)
{
    *r = (struct plm_html_rows){.lane = lane};
    plm_layout_make(lane, UINT32_MAX, &r->layout);
}

void plm_html_rows_free(struct plm_html_rows *r)
{
    plm_layout_free(&r->layout);
    free(r->row);
}

/* The number of rows that begin before the address. */
static size_t rank_of(const struct plm_html_rows *r, uint64_t address)
{
    return PLM_SEARCH(i, r->rows, r->row[i].address < address);
}

static void row_add(struct plm_html_rows *r, struct plm_html_row row)
{
    size_t rank = rank_of(r, row.address);
    r->row = plm_grow(r->row, r->rows, &r->room, sizeof *r->row);
    memmove(&r->row[rank + 1], &r->row[rank], (r->rows - rank) * sizeof *r->row);
    r->row[rank] = row;
    r->rows++;
}

/* Takes a range out of the rows that it overlaps; what they have before and behind it stays. */
static void range_cut(struct plm_html_rows *r, uint64_t from, uint64_t to)
{
    size_t i = rank_of(r, from);
    if (i && r->row[i - 1].address + r->row[i - 1].bytes > from)
        i--;
    while (i < r->rows && r->row[i].address < to) {
        struct plm_html_row old = r->row[i], behind = old;
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

void plm_html_rows_advance(struct plm_html_rows *r, uint32_t moment)
{
    for (; r->next < r->layout.events && r->layout.event[r->next].at <= moment; r->next++) {
        const struct plm_layout_event *e = &r->layout.event[r->next];
        if (e->action == PLM_LAYOUT_FREE || e->action == PLM_LAYOUT_UNMAP)
            range_cut(r, e->address, e->address + e->bytes);
        else
            row_add(r,
                    (struct plm_html_row){.address = e->address,
                                          .bytes = e->bytes,
                                          .kind = e->segment == PLM_LAYOUT_MAPPED ? (uint32_t)PLM_RECORD_VMM
                                                                                  : r->lane->segment[e->segment].kind});
    }
}

/* A block, or several small ones close to each other. */
struct entry {
    uint64_t address, span, bytes;
    uint32_t biggest, count; /* block */
    uint64_t biggest_bytes;
    size_t row;
};

struct map {
    const struct plm_lane *lane;
    struct plm_html_row *row;
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

static int by_address(const void *a, const void *b)
{
    const struct plm_html_row *x = a, *y = b;
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
        struct plm_html_row *last = kept ? &m->row[kept - 1] : NULL;
        if (last && last->kind == PLM_RECORD_VMM && m->row[i].kind == PLM_RECORD_VMM &&
            last->address + last->bytes == m->row[i].address)
            last->bytes += m->row[i].bytes;
        else
            m->row[kept++] = m->row[i];
    }
    m->rows = kept;
}

/* The segments, by address, and a row for blocks outside of them. */
static void collect_rows(struct map *m, const struct plm_html_rows *rows)
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
            m->row[m->rows++] = (struct plm_html_row){b->address, b->bytes, KIND_UNKNOWN, 0};
    }
    qsort(m->row, m->rows, sizeof *m->row, by_address);
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

/* ---- writing ---- */

static void write_rows(struct plm_json *j, const struct map *m, uint64_t unit)
{
    uint64_t end = 0;
    plm_json_array(j, "address");
    for (size_t i = 0; i < m->rows; i++) {
        plm_html_difference(j, m->row[i].address, end, unit);
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
        plm_html_difference(j, e->address, end, unit);
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

void plm_html_map(struct plm_json *json, const struct plm_html_rows *rows, uint32_t *live, size_t count, uint64_t unit,
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
