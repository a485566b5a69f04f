/* Jobs that are made by hand, on a card whose figures are round: what their times must come to can be worked out. */
#ifndef PLM_UNIT_TIME_COMMON_H
#define PLM_UNIT_TIME_COMMON_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/card.h"
#include "common/error.h"
#include "base/install.h"
#include "record/create.h"
#include "record/pen.h"
#include "time/cost.h"
#include "time/kernels.h"
#include "time/speeds.h"
#include "time/table.h"
#include "time/timing.h"
#include "round_card.h"
#include "unit.h"

#define US 1000.0
#define MS 1000000.0

/* ---- the constants ---- */

/* Nothing is lost, and nothing takes time that is not asked for; kernels take at least 1 us. */
struct plm_speeds plain_speeds(void);

/* ---- writing ---- */

extern struct plm_pen pen;

void record_begin(const char *path);
void record_end(void);

/* The host does something else for so long. */
void pause_us(double us);
void step(uint32_t number);
struct plm_ev_call call_on(uint32_t stream);
void kernel_in(struct plm_ev_call call, double us);
void kernel_us(double us, uint32_t stream);
void copy(enum plm_copy_host host, uint64_t bytes);
void wait_for(enum plm_sync what, uint32_t stream, uint32_t other);

/* ---- asking ---- */

extern const struct plm_card *played;
extern struct plm_works works;
extern struct plm_timing timing;

void ask_as(const struct plm_card *card, const struct plm_speeds *speeds, const struct plm_timing_options *options);
/* With the host's time as it was recorded: the bodies pause for it. */
void ask(const struct plm_card *card, const struct plm_speeds *speeds, double host_factor);

/* The times of four equal steps, of which the first does not count. */
void time_steps(void (*body)(void), const struct plm_speeds *speeds);
void forget(void);

#define assert_near(a, b, share) assert_true(fabs((a) - (b)) <= (share) * fabs((double)(b)))

/* ---- who waits for whom ---- */

void slow_gpu(void);
void two_streams(void);

/* ---- products ---- */

/* Half precision on tensor cores: ten times as fast here, and the tensor cores are what is active. */
void half(void);

#endif
