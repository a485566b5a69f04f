/*
 * How busy a card is, as NVIDIA's management library (NVML) tells it: its utilization on every card, and on Hopper and
 * later what it calls GPU performance monitoring (GPM). The declarations are our own, from NVML's documentation.
 *
 * plm_activity_open() looks at what the library has, plm_activity_read() asks, plm_activity_close() ends it. The meter
 * must be open, have a card, and outlive it. One thread at a time. Nothing fails: what the driver does not tell is not
 * given.
 */
#ifndef PLM_MEASURE_ACTIVITY_H
#define PLM_MEASURE_ACTIVITY_H

#include "study/measure/reading.h"

struct plm_meter;

struct plm_activity {
    void *card;
    int (*get_rates)(void *card, void *out);       /* NULL: the library has none */
    int (*get_sample)(void *card, void *sample);   /* NULL: the card has no GPM */
    int (*get_metrics)(void *request);
    int (*free_sample)(void *sample);
    void *sample[2]; /* the one before, and room for the next */
    bool before;     /* there is one before */
};

void plm_activity_open(struct plm_activity *activity, const struct plm_meter *meter);
/* GPM tells of the time since the last call. False: nothing is given. */
bool plm_activity_read(struct plm_activity *activity, struct plm_reading *reading);
void plm_activity_close(struct plm_activity *activity);

#endif
