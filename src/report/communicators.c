#include "report/communicators.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/communicators.h"
#include "base/draw.h"
#include "base/json.h"

enum { LINES_MOST = 8 };

/* By what they held, the largest first; those that are equal as they were made. */
static int by_bytes(const void *a, const void *b)
{
    const struct plm_communicator *x = *(const struct plm_communicator *const *)a;
    const struct plm_communicator *y = *(const struct plm_communicator *const *)b;
    if (x->at_peak.bytes != y->at_peak.bytes)
        return x->at_peak.bytes < y->at_peak.bytes ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void communicator_show(const struct plm_page *p, const struct plm_communicator *c)
{
    const struct plm_communicator_memory *m = &c->at_peak;
    char text[400], bytes[32], low[32], high[32], range[80] = "";
    if (m->low < m->bytes || m->high > m->bytes)
        snprintf(range, sizeof range, " (%s to %s)", plm_page_amount(p, low, sizeof low, m->low),
                 plm_page_amount(p, high, sizeof high, m->high));
    snprintf(text, sizeof text, "communicator %s%srank%s %s: %s, %s%s", c->name, *c->name ? ", " : "",
             c->size == 1 ? "" : "s", c->ranks, m->what, plm_page_amount(p, bytes, sizeof bytes, m->bytes), range);
    plm_page_sentences(p, "      NCCL: ", text);
}

void plm_report_communicators_show(const struct plm_page *p, const struct plm_communicators *all)
{
    const struct plm_communicator **order = all->count ? calloc((size_t)all->count, sizeof *order) : NULL;
    uint64_t rest = 0;
    int count = 0;
    for (int i = 0; order && i < all->count; i++)
        if (all->item[i].at_peak.bytes)
            order[count++] = &all->item[i];
    if (count)
        qsort(order, (size_t)count, sizeof *order, by_bytes);
    for (int i = 0; i < count; i++) {
        if (i < LINES_MOST)
            communicator_show(p, order[i]);
        else
            rest += order[i]->at_peak.bytes;
    }
    if (count > LINES_MOST) {
        char bytes[32];
        fprintf(p->out, "      NCCL: and %d more, %s\n", count - LINES_MOST,
                plm_page_amount(p, bytes, sizeof bytes, rest));
    }
    free(order);
}

void plm_report_communicators_json(struct plm_json *j, const struct plm_communicators *all)
{
    if (!all->count)
        return;
    plm_json_array(j, "communicators");
    for (int i = 0; i < all->count; i++) {
        const struct plm_communicator *c = &all->item[i];
        plm_json_object(j, NULL);
        plm_json_integer(j, "number", c->number);
        if (*c->name)
            plm_json_string(j, "name", c->name);
        plm_json_string(j, "ranks", c->ranks);
        plm_json_integer(j, "size", c->size);
        plm_json_integer(j, "place", c->place);
        plm_json_string(j, "what", c->at_peak.bytes ? c->at_peak.what : c->now.what);
        plm_json_integer(j, "bytes", c->at_peak.bytes);
        plm_json_integer(j, "low", c->at_peak.low);
        plm_json_integer(j, "high", c->at_peak.high);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}
