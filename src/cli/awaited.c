#include "cli/awaited.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/child.h"
#include "cli/silent.h"

#define LOOK_SECONDS 1.0
#define LONG_SECONDS 8.0

static unsigned slots_of(const struct plm_record_header *header)
{
    return header->processes < PLM_RECORD_SLOTS ? header->processes : PLM_RECORD_SLOTS;
}

static bool lives(uint32_t pid)
{
    return pid && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* The rank that a process has waited for long; 0: none. */
static uint32_t awaited_by(const struct plm_record_header *header, unsigned slot, double now)
{
    const struct plm_awaited *a = &header->awaited[slot];
    const uint32_t rank = atomic_load(&a->rank);
    const double since = 1e-9 * (double)atomic_load(&a->since_ns);
    return rank && rank != a->by && now - since >= LONG_SECONDS && lives(header->live[slot].pid) ? rank : 0;
}

/* The process of a rank that lives; 0: it is not known. */
static uint32_t slot_of_rank(const struct plm_record_header *header, uint32_t rank)
{
    for (unsigned i = slots_of(header); i-- > 1;)
        if (header->awaited[i].by == rank && lives(header->live[i].pid))
            return i;
    return 0;
}

static bool is_told(const struct plm_cli_awaited *a, uint32_t rank)
{
    for (unsigned i = 0; i < a->tolds; i++)
        if (a->told[i] == rank)
            return true;
    return a->tolds == PLM_RECORD_SLOTS;
}

static void rank_tell(struct plm_cli_awaited *a, uint32_t rank, uint32_t by, unsigned others)
{
    const uint32_t slot = slot_of_rank(a->header, rank);
    char who[64], more[32] = "", does[256] = "has not come so far";
    snprintf(who, sizeof who, "it");
    if (slot) {
        snprintf(who, sizeof who, "process %u", (unsigned)a->header->live[slot].pid);
        plm_silent_describe((pid_t)a->header->live[slot].pid, does, sizeof does);
    }
    if (others)
        snprintf(more, sizeof more, " and %u more", others);
    fprintf(stderr, "plimsoll: rank %u%s waited %.0f s for rank %u: %s %s\n", by - 1, more, LONG_SECONDS, rank - 1, who,
            does);
    a->told[a->tolds++] = rank;
}

/* One that waits itself is not the cause: who it waits for is. */
void plm_cli_awaited_look(struct plm_cli_awaited *a)
{
    const double now = plm_now();
    uint32_t rank = 0, first = 0;
    unsigned waiting = 0;
    if (!a->header || now - a->looked < LOOK_SECONDS)
        return;
    a->looked = now;
    for (unsigned i = 1; i < slots_of(a->header) && !rank; i++) {
        const uint32_t wanted = awaited_by(a->header, i, now), slot = wanted ? slot_of_rank(a->header, wanted) : 0;
        if (wanted && !is_told(a, wanted) && !(slot && awaited_by(a->header, slot, now)))
            rank = wanted;
    }
    for (unsigned i = 1; rank && i < slots_of(a->header); i++)
        if (awaited_by(a->header, i, now) == rank) {
            first = first ? first : a->header->awaited[i].by;
            waiting++;
        }
    if (first)
        rank_tell(a, rank, first, waiting - 1);
}
