/*
 * Writes a job record that plm_record_create() has made.
 *
 *   struct plm_writer writer;                     one process's end of the record, for all its threads
 *   struct plm_pen pen = {.writer = &writer};     one thread's: it fills a chunk of its own, so nobody waits for anybody
 *   plm_writer_open(&writer, path);
 *   plm_pen_step(&pen, 0, &(struct plm_ev_step){1, 1});
 *   plm_pen_close(&pen);
 *   plm_writer_close(&writer);
 *
 * Nothing here fails, prints or allocates for an event: without a record, or when it cannot be extended, nothing is recorded;
 * the header then says why, and plm_writer_close() that. A writer takes two locks, `entering` and then that of its texts: with the first event of a
 * process and with each text, and calls nobody while it holds one. Both structures belong to the caller, who changes
 * nothing in them. A forked child goes on with plm_writer_forked().
 *
 * A program that records itself uses writer.h, which keeps one writer for the process and a pen for each thread.
 */
#ifndef PLM_RECORD_PEN_H
#define PLM_RECORD_PEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/own_file.h"
#include "record/format.h"

struct plm_writer {
    struct plm_record_header *header; /* NULL: nothing is recorded */
    struct plm_own_file file;
    uint32_t process;
    uint32_t generation;      /* a forked child is another one, and must not write to its parent's chunks */
    _Atomic uint32_t entered; /* the generation that has a place in the record */
    pthread_mutex_t entering;
    struct plm_live *live; /* this process's live figures; never NULL once it is open */
    struct plm_texts *texts;
    bool past; /* what is written happened earlier: pens have the time */
};

struct plm_pen {
    struct plm_writer *writer;
    struct plm_record_chunk *chunk;
    uint64_t base_ns;
    uint64_t past_ns; /* the time of the next event, of a writer for the past */
    uint32_t used;
    uint32_t generation;
    uint32_t thread; /* its number in the record; 0: that of the system */
};

/* 0, PLM_EIO if the file cannot be written, PLM_EVERSION if it is not a record of this version. */
int plm_writer_open(struct plm_writer *writer, const char *path);
/* Before the first event: all happened earlier, in one process. Times count from `created_ns`, which is ns since 1970; pens
   tell them, and have numbers of their own. */
void plm_writer_past(struct plm_writer *writer, uint64_t created_ns);
/* 0, or PLM_EIO if events are missing; the record tells why. Its pens are closed before. */
int plm_writer_close(struct plm_writer *writer);
/* What other processes wrote when there were already `since` chunks is no part of the record any more. They have ended. */
void plm_writer_forget(struct plm_writer *writer, uint64_t since);
/* In a forked child: it is a process of its own in the record, with texts of its own. */
void plm_writer_forked(struct plm_writer *writer);

/* The process has a place in the record, also without an event of its own. */
void plm_pen_enter(struct plm_pen *pen);
/* The time of what follows, of a writer for the past. It does not go back. */
void plm_pen_at(struct plm_pen *pen, uint64_t ns);
/* One event with a payload of `words` words, at most PLM_EVENT_WORDS_MAX - 1. */
void plm_pen_put(struct plm_pen *pen, enum plm_record_event_type type, int device, const void *payload, unsigned words);
/* The number of a text, which is copied with its first use; 0: there is no room for it. Takes a lock. */
uint32_t plm_pen_intern(struct plm_pen *pen, const char *text);
void plm_pen_setting(struct plm_pen *pen, const char *key, const char *value); /* a CONFIG */
void plm_pen_remark(struct plm_pen *pen, const char *kind, const char *value); /* a NOTE */
/* Gives the thread's chunk back. */
void plm_pen_close(struct plm_pen *pen);

/* void plm_pen_gemm(struct plm_pen *pen, int device, const struct plm_ev_gemm *event), ... */
#define EVENT(NAME, name, number, since, meaning)                                                         \
    static inline void plm_pen_##name(struct plm_pen *pen, int device, const struct plm_ev_##name *event) \
    {                                                                                                     \
        plm_pen_put(pen, PLM_EV_##NAME, device, event, (unsigned)(sizeof *event / 8));                    \
    }
#define ROW(...)
#define EVENT_END(NAME, name)
#include "record/events.def"

#endif
