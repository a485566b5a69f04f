/* How busy a card was at one moment or in the mean: each metric as a fraction, where it is given. Plain values. */
#ifndef PLM_MEASURE_READING_H
#define PLM_MEASURE_READING_H

#include <stdbool.h>

#include "time/timing.h" /* enum plm_metric: the metrics as DCGM defines them */

struct plm_reading {
    double value[PLM_METRICS]; /* 0 to 1 */
    bool given[PLM_METRICS];
};

#endif
