/*
 * What `dcgmi`, the command line of NVIDIA's Data Center GPU Manager (DCGM), prints about a card: read, not started,
 * here.
 *
 *   # Entity  GPUTL  GRACT  SMACT
 *         ID
 *      GPU 0     97  0.991  0.812
 *
 * Its documentation gives the fields by number and by these short names. Columns are found by name, so their order
 * does not matter; "N/A" and whatever is not a number is a figure that is not given. Plain values, nothing to free;
 * one thread at a time.
 */
#ifndef PLM_MEASURE_DCGM_H
#define PLM_MEASURE_DCGM_H

#include <stdbool.h>

#include "study/measure/reading.h"

enum { PLM_DCGM_COLUMNS = 16 };

struct plm_dcgm {
    int card;                      /* DCGM's number of it */
    int column[PLM_DCGM_COLUMNS];  /* the metric of each, -1: another one */
    int columns;                   /* 0: no header was seen yet */
};

/* The fields of all metrics, as `dcgmi dmon -e` takes them. */
extern const char plm_dcgm_fields[];

/* DCGM's number of a card, from what `dcgmi discovery -l` printed; -1: it has no such card. */
int plm_dcgm_card(const char *discovery, const char *uuid);

/* A line of `dcgmi dmon`. True if it tells something of the card; then it is in *reading, as fractions. */
bool plm_dcgm_line(struct plm_dcgm *dcgm, const char *line, struct plm_reading *reading);

#endif
