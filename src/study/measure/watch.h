/*
 * How busy the card was while a command ran, from plimsoll's own process: NVML is asked ten times a second, and `dcgmi
 * dmon`, where it is installed, prints a line a second. Both by a thread, which notes the time of each reading;
 * nothing runs in the command's process.
 *
 *   plm_watch_start(&watch, &meter);
 *   ... the command runs ...
 *   plm_watch_stop(&watch);
 *   plm_watch_mean(&watch, begin_ns, end_ns, &mean, source, sizeof source);
 *   plm_watch_free(&watch);
 *
 * The meter must outlive the watch until it is stopped. Nothing fails: what nobody tells is not given, and `trouble`
 * says why DCGM told nothing although it is installed. One thread calls. Times are nanoseconds of the monotonic clock.
 */
#ifndef PLM_MEASURE_WATCH_H
#define PLM_MEASURE_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "study/measure/activity.h"
#include "study/measure/dcgm.h"

struct plm_meter;

enum plm_watch_source { PLM_WATCH_DCGM, PLM_WATCH_NVML, PLM_WATCH_SOURCES }; /* the first that gives a metric counts */

/* A reading of the time from `begin` to `end`. */
struct plm_watch_reading {
    uint64_t begin, end;
    struct plm_reading reading;
};

struct plm_watch_readings {
    struct plm_watch_reading *item;
    size_t count, room;
};

struct plm_watch {
    struct plm_watch_readings of[PLM_WATCH_SOURCES];
    char trouble[200];
    /* Of the thread while it runs. */
    struct plm_activity activity;
    struct plm_dcgm dcgm;
    int pipe; /* what dcgmi prints; -1: it does not run */
    pid_t child; /* dcgmi; 0: none */
    char line[512]; /* the beginning of one that has not ended yet */
    size_t length;
    pthread_t thread;
    bool started;
    atomic_bool running;
};

void plm_watch_start(struct plm_watch *watch, const struct plm_meter *meter);
void plm_watch_stop(struct plm_watch *watch);
void plm_watch_free(struct plm_watch *watch);

/* Adds one; what the thread does. */
void plm_watch_add(struct plm_watch *watch, enum plm_watch_source source, const struct plm_watch_reading *reading);
/* Means over the readings that lie in this time altogether. Returns how many of them there were; `source` says who
   gave something: "dcgm", "nvml", "dcgm+nvml" or "". */
size_t plm_watch_mean(const struct plm_watch *watch, uint64_t begin, uint64_t end, struct plm_reading *mean,
                      char *source, size_t size);

#endif
