#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "record/format.h"

void plm_progress_start(struct plm_progress *p)
{
    const char *term = getenv("TERM");
    p->active = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
    p->tick = 0;
}

/* Largest step, sums over the processes that use the GPU. */
void plm_progress_show(struct plm_progress *p, struct plm_record_header *header)
{
    static const char *const wheel[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    uint64_t launches = 0, now = 0, peak = 0;
    unsigned step = 0, processes = header->processes;
    char a[32], b[32];

    if (!p->active)
        return;
    if (processes > PLM_RECORD_SLOTS)
        processes = PLM_RECORD_SLOTS;
    for (unsigned i = 0; i < processes; i++) {
        struct plm_live *live = &header->live[i];
        launches += live->launches;
        now += live->allocated;
        peak += live->allocated_peak;
        step = live->step > step ? live->step : step;
    }
    if (!launches)
        fprintf(stderr, "\r\033[K%s plimsoll: starting", wheel[p->tick++ % 10]);
    else
        fprintf(stderr, "\r\033[K%s plimsoll: step %u, %llu launches, %s now, %s peak", wheel[p->tick++ % 10], step,
                (unsigned long long)launches, plm_size_text(a, sizeof a, now), plm_size_text(b, sizeof b, peak));
    fflush(stderr);
}

void plm_progress_stop(struct plm_progress *p)
{
    if (p->active)
        fputs("\r\033[K", stderr);
    p->active = false;
}
