#include "analysis/takers.h"

#include <stdio.h>
#include <string.h>

#include "analysis/summary.h"
#include "record/events.h"

/* Bounds that no card passes, so that a damaged record cannot make sums overflow. */
#define BYTES_MOST (1ull << 44)

struct plm_taker *plm_taker_of(struct plm_device_summary *d, const char *name)
{
    struct plm_taker *t;
    name = *name ? name : "unnamed";
    for (int i = 0; i < d->takers; i++)
        if (!strncmp(d->taker[i].name, name, sizeof d->taker[i].name - 1))
            return &d->taker[i];
    if (d->takers == PLM_TAKERS)
        return &d->taker[PLM_TAKERS - 1];
    t = &d->taker[d->takers++];
    snprintf(t->name, sizeof t->name, "%s", d->takers == PLM_TAKERS ? "others" : name);
    return t;
}

void plm_takers_at_peak(struct plm_device_summary *d)
{
    for (int i = 0; i < d->takers; i++)
        d->taker[i].at_peak = d->taker[i].now;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

void plm_taker_range(struct plm_device_summary *d, const char *name, uint64_t low, uint64_t high)
{
    struct plm_taker *t;
    if (!*name)
        return;
    t = plm_taker_of(d, name);
    t->low = at_most(low, BYTES_MOST);
    t->high = at_most(high, BYTES_MOST);
}

void plm_taker_footprint(struct plm_device_summary *d, const struct plm_ev_footprint *f)
{
    d->overhead = (struct plm_overhead){.sms = (unsigned)at_most(f->sms, 4096),
                                        .threads = (unsigned)at_most(f->threads, 65536),
                                        .eager = f->eager != 0,
                                        .code = at_most(f->code, BYTES_MOST),
                                        .kernels = at_most(f->kernels, BYTES_MOST),
                                        .guessed = at_most(f->guessed, BYTES_MOST),
                                        .stack = at_most(f->stack_bytes, 1u << 20),
                                        .printf_bytes = at_most(f->printf_bytes, BYTES_MOST),
                                        .heap = at_most(f->heap_bytes, BYTES_MOST),
                                        .graph_nodes = at_most(f->graph_nodes, 1u << 30),
                                        .libraries = f->libraries};
}
