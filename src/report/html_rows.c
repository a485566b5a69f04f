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
