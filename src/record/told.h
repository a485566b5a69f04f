/*
 * What a job tells of its cards beside what happens on them: contexts, ranges, figures of a stack file, the other end.
 * Events of their own since version 3 of the record. Versions 1 and 2 have them as text in CONFIG; told.c is the
 * compatibility reader, and the only place that knows this text. Pure; any thread.
 */
#ifndef PLM_RECORD_TOLD_H
#define PLM_RECORD_TOLD_H

#include "record/reader.h"

struct plm_told {
    enum plm_record_event_type type; /* PLM_EV_FOOTPRINT to PLM_EV_OTHER_END */
    int device;
    union {
        struct plm_ev_footprint footprint;
        struct plm_ev_library_range range;
        struct plm_ev_context_memory context;
        struct plm_ev_stack_memory stack;
        struct plm_ev_other_end other_end;
    };
    char text[176]; /* the library of a range, the source of a context; cut if it is longer */
};

/* Whether the event tells such a thing, and what. */
bool plm_record_told(const struct plm_record *record, const struct plm_record_event *event, struct plm_told *told);

#endif
