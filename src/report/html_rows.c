#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"
#include "report/html.h"

int plm_html_rows_make(const struct plm_lane *lane, struct plm_html_rows *r)
{
    *r = (struct plm_html_rows){.lane = lane};
    return plm_layout_make(lane, UINT32_MAX, &r->layout);
}

void plm_html_rows_free(struct plm_html_rows *r)
{
    plm_layout_free(&r->layout);
    free(r->row);
}

/* The number of rows that begin before the address. */
static size_t rank_of(const struct plm_html_rows *r, uint64_t address)
{
    size_t low = 0, high = r->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->row[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add(struct plm_html_rows *r, struct plm_html_row row)
{
    size_t rank = rank_of(r, row.address);
    struct plm_html_row *more = plm_grow(r->row, r->rows, &r->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    r->row = more;
    memmove(&more[rank + 1], &more[rank], (r->rows - rank) * sizeof *more);
    more[rank] = row;
    r->rows++;
    return 0;
}

/* Takes a range out of the rows that it overlaps; what they have before and behind it stays. */
static int cut(struct plm_html_rows *r, uint64_t from, uint64_t to)
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
            if (add(r, old))
                return PLM_ENOMEM;
            i++;
        }
        if (end > to) {
            behind.address = to;
            behind.bytes = end - to;
            return add(r, behind);
        }
    }
    return 0;
}

int plm_html_rows_advance(struct plm_html_rows *r, uint32_t moment)
{
    int status = 0;
    for (; status == 0 && r->next < r->layout.events && r->layout.event[r->next].at <= moment; r->next++) {
        const struct plm_layout_event *e = &r->layout.event[r->next];
        if (e->action == PLM_SEGMENT_FREE || e->action == PLM_SEGMENT_UNMAP)
            status = cut(r, e->address, e->address + e->bytes);
        else
            status = add(r, (struct plm_html_row){.address = e->address,
                                                  .bytes = e->bytes,
                                                  .kind = e->segment == PLM_LAYOUT_MAPPED
                                                              ? (uint32_t)PLM_RECORD_VMM
                                                              : r->lane->segment[e->segment].kind});
    }
    return status;
}
