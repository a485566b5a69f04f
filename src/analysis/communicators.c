#include "analysis/communicators.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "record/fields.h"

enum { COMMUNICATORS_MOST = 1024 };
#define BYTES_MOST (1ull << 50) /* a damaged record may say anything */

static uint64_t bytes_at_most(uint64_t bytes)
{
    return bytes < BYTES_MOST ? bytes : BYTES_MOST;
}

/* Mostly the newest is asked for. */
static struct plm_communicator *communicator_of(struct plm_communicators *all, uint32_t number)
{
    for (int i = all->count - 1; i >= 0; i--)
        if (all->item[i].number == number)
            return &all->item[i];
    if (all->count == COMMUNICATORS_MOST)
        return NULL;
    all->item = plm_grow(all->item, (size_t)all->count, &all->room, sizeof *all->item);
    all->item[all->count] = (struct plm_communicator){.number = number};
    return &all->item[all->count++];
}

/* What it held until now was there at the peaks since then. */
static void settle(struct plm_communicator *c, uint64_t peaks)
{
    if (peaks > c->seen)
        c->at_peak = c->now;
    c->seen = peaks;
}

void plm_communicators_visit(struct plm_communicators *all, const struct plm_record *record,
                             const struct plm_record_event *event, uint64_t peaks)
{
    const struct plm_ev_communicator said = plm_get_communicator(event);
    struct plm_communicator *c = communicator_of(all, said.number);
    if (!c)
        return;
    settle(c, peaks);
    c->size = said.size;
    c->place = said.place;
    snprintf(c->name, sizeof c->name, "%s", plm_record_string(record, event->process, said.name));
    snprintf(c->ranks, sizeof c->ranks, "%s", plm_record_string(record, event->process, said.ranks));
    snprintf(c->now.what, sizeof c->now.what, "%s", plm_record_string(record, event->process, said.what));
    c->now.bytes = bytes_at_most(said.bytes);
    c->now.low = bytes_at_most(said.low);
    c->now.high = bytes_at_most(said.high);
}

void plm_communicators_finish(struct plm_communicators *all, uint64_t peaks)
{
    for (int i = 0; i < all->count; i++)
        settle(&all->item[i], peaks);
}

void plm_communicators_free(struct plm_communicators *all)
{
    free(all->item);
    *all = (struct plm_communicators){0};
}
