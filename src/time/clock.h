/*
 * Inside the room: the clocks of the host and of the streams run through the steps of a lane. Pure; any thread.
 */
#ifndef PLM_TIME_CLOCK_H
#define PLM_TIME_CLOCK_H

#include "time/timing.h"
#include "time/works.h"

struct plm_cost;
struct plm_speeds;

struct plm_clock {
    const struct plm_works *works;
    const struct plm_work_lane *lane;
    const struct plm_speeds *speeds;
    const struct plm_cost *cost;      /* of each work */
    double host_factor, gpu_factor;
    double slowdown;                  /* of kernels at a lower clock, from 1 on */
    bool measured;                    /* the host's time is the recorded one, not that of the counted calls */
    plm_host_visit *host; /* gets each call of the last step, and the context of the visit; NULL: nobody */
};

/* ns, of all steps of the lane together. */
struct plm_clock_result {
    double wall, busy, host;
    double active; /* of the compute engine, which counts as active for a moment after a kernel */
    double copied; /* beside that, in which the engines of copies are */
};

/* Each span in the order of the calls; `last`: of the last step, whose beginning its times count from. */
typedef void plm_clock_visit(const struct plm_span *span, bool last, void *context);
/* `visit` may be NULL. */
struct plm_clock_result plm_clock_run(const struct plm_clock *clock, plm_clock_visit *visit, void *context);

#endif
