/*
 * NCCL's communicators on a device, as the record tells of them: who is in each, what it has connected, and the memory
 * that it held when most of the card was taken. Grown while a summary is read, freed with it. One thread.
 */
#ifndef PLM_COMMUNICATORS_H
#define PLM_COMMUNICATORS_H

#include <stddef.h>
#include <stdint.h>

#include "record/reader.h"

struct plm_communicator_memory {
    uint64_t bytes, low, high;
    char what[96]; /* "ring, 24 channels" */
};

struct plm_communicator {
    uint32_t number;           /* in its process, from 1 */
    char name[64];             /* of its group; empty: not known */
    char ranks[96];            /* of the job, "0-7"; cut if it is longer */
    uint32_t size, place;      /* ranks, and which of them this is */
    struct plm_communicator_memory now, at_peak;
    uint64_t seen;             /* peaks of the device that there had been when `now` was told */
};

struct plm_communicators {
    struct plm_communicator *item;
    int count;
    size_t room;
};

/* A COMMUNICATOR event, after `peaks` new peaks of its device. What is too much for a job is left out. */
void plm_communicators_visit(struct plm_communicators *all, const struct plm_record *record,
                             const struct plm_record_event *event, uint64_t peaks);
/* After the last one: at_peak of all is right from here on. */
void plm_communicators_finish(struct plm_communicators *all, uint64_t peaks);
void plm_communicators_free(struct plm_communicators *all);

#endif
