#include "cli/waiting.h"

#include <signal.h>
#include <unistd.h>

#include "base/child.h"
#include "cli/processes.h"
#include "record/format.h"

/* It looks once a second. A job is idle if it uses less than IDLE_SHARE of a core and none of its processes is about to run. */
#define LOOK_SECONDS  1.0
#define IDLE_SECONDS  5.0
#define IDLE_SHARE    0.03
#define GRACE_SECONDS 5.0

static bool any_stopped(const struct plm_record_header *header)
{
    const unsigned processes = header->processes < PLM_RECORD_SLOTS ? header->processes : PLM_RECORD_SLOTS;
    for (unsigned i = 0; i < processes; i++)
        if (header->live[i].stage == PLM_LIVE_STOPPED)
            return true;
    return false;
}

static bool job_idle(const struct plm_waiting *w, const struct plm_processes_one *of, int count, double now,
                     uint64_t *ticks)
{
    const double per_second = (double)sysconf(_SC_CLK_TCK);
    bool runs = false;
    *ticks = 0;
    for (int i = 0; i < count; i++) {
        *ticks += of[i].ticks;
        runs |= of[i].state == 'R' || of[i].state == 'D';
    }
    return !runs && w->idle_since > 0 && *ticks >= w->ticks && /* less: a process ended */
           (double)(*ticks - w->ticks) <= IDLE_SHARE * per_second * (now - w->idle_since + LOOK_SECONDS);
}

static void job_signal(const struct plm_processes_one *of, int count, int number)
{
    for (int i = 0; i < count; i++)
        kill(of[i].pid, number);
}

void plm_waiting_look(struct plm_waiting *w)
{
    const struct plm_processes_one *of;
    const double now = plm_now();
    uint64_t ticks;
    int count;
    if (now - w->looked < LOOK_SECONDS || !any_stopped(w->header))
        return;
    w->looked = now;
    count = plm_processes_of(w->command, &of);
    if (w->ended) {
        if (now - w->idle_since > GRACE_SECONDS)
            job_signal(of, count, SIGKILL);
    } else if (!job_idle(w, of, count, now, &ticks)) {
        w->idle_since = now;
        w->ticks = ticks;
    } else if (now - w->idle_since > IDLE_SECONDS) {
        w->ended = true;
        w->idle_since = now;
        job_signal(of, count, SIGTERM);
    }
}
