/*
 * Appends events to the job record from inside the user's process: one writer of pen.h, a pen for each thread.
 *
 * The record is the file named by PLIMSOLL_RECORD, made by `plimsoll run`. Without it, or when it
 * cannot be extended, every function here does nothing: recording never disturbs the job. Any thread;
 * each has a chunk of its own, so there is no lock and no allocation per event. Forked children start
 * chunks of their own.
 */
#ifndef PLM_RECORD_WRITER_H
#define PLM_RECORD_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "record/pen.h"

/* One event with a payload of `words` words, at most PLM_EVENT_WORDS_MAX - 1. */
void plm_record(enum plm_record_event_type type, int device, const void *payload, unsigned words);

/* void plm_put_gemm(int device, const struct plm_ev_gemm *event), ... */
#define EVENT(NAME, name, number, since, meaning)                                    \
    static inline void plm_put_##name(int device, const struct plm_ev_##name *event) \
    {                                                                                \
        plm_record(PLM_EV_##NAME, device, event, (unsigned)(sizeof *event / 8));     \
    }
#define ROW(...)
#define EVENT_END(NAME, name)
#include "record/events.def"

/* The id of a string, interned on first use. `text` is copied. Takes a lock: not for hot paths. */
uint32_t plm_record_text(const char *text);
/* The same for hot paths: the number is kept in a slot that starts as zeros and belongs to the text. A forked
   child, whose numbers are its own, interns it again. No lock once it is known. */
struct plm_record_name {
    _Atomic uint64_t slot; /* generation of the process << 32 | number */
};
uint32_t plm_record_name(struct plm_record_name *name, const char *text);
void plm_record_config(const char *key, const char *value);
void plm_record_note(const char *kind, const char *value);

/* This process's live figures; never NULL. */
struct plm_live *plm_record_live(void);

/* For whom this process waits; never NULL. */
struct plm_awaited *plm_record_awaited(void);

/* The header that all processes of the job share; NULL without a record. Asking does not enter the process into it. */
struct plm_record_header *plm_record_shared(void);

/* Did the run that made the record die without closing it? */
bool plm_record_abandoned(void);

/* In a forked child, while it has one thread and before it records: what follows goes into another record. */
void plm_record_switch(const char *path);

/* Called at exit: the launches so far and that the process left normally. */
void plm_record_end(int status);

#endif
