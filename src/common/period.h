/*
 * Steps that repeat: each like the one before, or in turns, as those of a GAN's two networks and of accumulated gradients.
 * Pure; any thread. Compiled into the user's process too.
 */
#ifndef PLM_COMMON_PERIOD_H
#define PLM_COMMON_PERIOD_H

#include <stdbool.h>

enum { PLM_PERIOD_MOST = 4 };

/* Whether two of the steps, counted from 0, are alike. */
typedef bool plm_steps_same(const void *steps, int one, int other);

/* How many of the last steps are like the one `period` before them. */
static inline int plm_period_repeats(const void *steps, int count, int period, plm_steps_same *same)
{
    int n = 0;
    while (n + period < count && same(steps, count - 1 - n, count - 1 - n - period))
        n++;
    return n;
}

/* The shortest turn that the last steps have made once more, or `times` more: 1 if the last two are alike. 0: none. */
static inline int plm_period(const void *steps, int count, int times, plm_steps_same *same)
{
    for (int period = 1; period <= PLM_PERIOD_MOST; period++)
        if (plm_period_repeats(steps, count, period, same) >= times * period)
            return period;
    return 0;
}

#endif
