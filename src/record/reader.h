/*
 * Reads a job record. The file is mapped and checked as it is read: whatever is in it, the reader
 * answers with events or with an error, and never reads beyond what the file holds.
 *
 *   struct plm_record *record;
 *   if (plm_record_open(path, &record, &error) == 0) {
 *       plm_record_each(record, visit, context, &error);
 *       plm_record_free(record);
 *   }
 *
 * One thread per record. Strings and events belong to the record.
 */
#ifndef PLM_RECORD_READER_H
#define PLM_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/format.h"

struct plm_error;
struct plm_record;

struct plm_record_event {
    enum plm_record_event_type type;
    uint32_t process, tid; /* which process of the job, from 0; thread id */
    uint32_t thread;       /* the same thread as a number in this record, from 0 */
    uint16_t device;
    uint64_t time_ns;      /* since the record was made */
    const uint64_t *words; /* payload; plm_get_... below take it apart */
    unsigned count;
};

/* struct plm_ev_gemm plm_get_gemm(const struct plm_record_event *event), ... Fields that the payload does not reach are 0; a
   stream is unknown. */
#define PLM_ABSENT_NUMBER    0
#define PLM_ABSENT_OPTIONAL  0
#define PLM_ABSENT_ADDRESS   0
#define PLM_ABSENT_FLAG      0
#define PLM_ABSENT_TEXT      0
#define PLM_ABSENT_TEXT_ID   0
#define PLM_ABSENT_NAME(set) 0
#define PLM_ABSENT_STREAM    PLM_STREAM_UNKNOWN
#define PLM_ABSENT_CONTEXT   0
#define PLM_ABSENT_HIDDEN    0
#define EVENT(NAME, name, number, since, meaning)                                           \
    static inline struct plm_ev_##name plm_get_##name(const struct plm_record_event *event) \
    {                                                                                       \
        struct plm_ev_##name e;                                                             \
        if (event->count + 1 > sizeof e / 8) {                                              \
            memcpy(&e, event->words, sizeof e);                                             \
            return e;                                                                       \
        }                                                                                   \
        memset(&e, 0, sizeof e);
#define CALL(event)
#define AXES(event)
#define ROW(event, place, must, type, name, kind, meaning) e.name = PLM_ABSENT_##kind;
#define EVENT_END(NAME, name)                                  \
    memcpy(&e, event->words, event->count * sizeof(uint64_t)); \
    return e;                                                  \
    }
#include "record/events.def"

struct plm_record_info {
    uint32_t version;
    uint64_t created_ns; /* CLOCK_REALTIME */
    uint32_t processes;
    bool ended; /* the run closed it; otherwise it was cut */
    uint64_t launches; /* as the processes showed while they ran: of those that were killed there is nothing else */
};

/* Why events are missing, and what would help: both are parts of a sentence. */
struct plm_record_missing {
    char why[128]; /* "": none are */
    const char *help;
};

/* Returns 0 to go on, anything else to stop; plm_record_each returns it. */
typedef int plm_record_visit(const struct plm_record_event *event, void *context);

int plm_record_open(const char *path, struct plm_record **out, struct plm_error *error);
/* The same of bytes that are in memory already, and stay the caller's: aligned to 8, there until plm_record_free(). */
int plm_record_open_memory(const char *name, const void *data, size_t size, struct plm_record **out,
                           struct plm_error *error);
void plm_record_free(struct plm_record *record);
struct plm_record_info plm_record_info(const struct plm_record *record);
struct plm_record_missing plm_record_missing(const struct plm_record *record);
/* All events in the order of their times. */
int plm_record_each(struct plm_record *record, plm_record_visit *visit, void *context, struct plm_error *error);
/* Threads that wrote to the record. */
size_t plm_record_threads(const struct plm_record *record);
/* A string that a process of the job interned; "" for an unknown id. */
const char *plm_record_string(const struct plm_record *record, uint32_t process, uint32_t id);

#endif
