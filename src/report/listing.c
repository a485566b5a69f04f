/* `report --by`: everyone who holds memory at a moment, largest first. */
#include <string.h>

#include "report/overview.h"

enum { ROWS = 60 };

static void holder_show(const struct plm_page *p, enum plm_key by, const struct plm_holder *h, uint64_t whole, int name)
{
    int amount = plm_page_amount_columns(p), left = p->width - name - amount - 21;
    char text[32];
    fputs("  ", p->out);
    plm_page_name(p, plm_overview_holder_name(h, by), name, 1);
    fprintf(p->out, " %*s %4.0f %% %8u  ", amount, plm_page_amount(p, text, sizeof text, h->bytes),
            whole ? 100 * (double)h->bytes / (double)whole : 0.0, h->blocks);
    if (by == PLM_BY_CATEGORY)
        plm_page_bar(p, plm_page_room(p, p->width - left), 0, h->bytes, whole);
    else
        plm_overview_shares(p, h, left);
    fputc('\n', p->out);
}

static void heading(const struct plm_page *p, const struct plm_report_options *o, const struct plm_lane *lane,
                    const struct plm_place *place)
{
    char when[48], text[32];
    fprintf(p->out, "\n%s%s allocated at %s, by %s%s   (rank %d, device %d)\n", plm_ink(p, PLM_INK_BOLD),
            plm_page_amount(p, text, sizeof text, place->allocated), plm_overview_when(o->at, when, sizeof when),
            plm_key_name(o->by), plm_ink(p, PLM_INK_PLAIN), lane->summary->rank, lane->summary->device);
    plm_overview_where(p, place);
}

void plm_listing(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                 const struct plm_report_options *o)
{
    struct plm_place place = plm_place_at(job, lane, o->at);
    const enum plm_key by = o->by;
    /* Stacks are long; their line may do without the categories. */
    int most = by == PLM_BY_STACK ? p->width - plm_page_amount_columns(p) - 21 : p->width * 2 / 5, name;
    struct plm_holders h = {0};
    size_t rows;
    heading(p, o, lane, &place);
    if (!job->attributed) {
        fputs("\nThis record does not tell what the memory is for.\n", p->out);
        return;
    }
    if (place.known)
        h = plm_holders_at(job, lane, place.moment, by);
    rows = h.count > ROWS ? ROWS : h.count;
    name = plm_overview_name_columns(p, &h, rows, by, most < 12 ? 12 : most);
    fprintf(p->out, "\n  %s%-*s %*s  share   blocks%s\n", plm_ink(p, PLM_INK_DIM), name, plm_key_name(by),
            plm_page_amount_columns(p), "size", plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < rows; i++)
        holder_show(p, by, &h.item[i], place.allocated, name);
    if (rows < h.count)
        fprintf(p->out, "  ... %zu more; --json has them all\n", h.count - rows);
    plm_holders_free(&h);
}
