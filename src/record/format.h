/*
 * The job record (.plm) on disk. docs/record.md describes it for other programs; what an event holds is in events.def.
 *
 * A header, then chunks of equal size. Writers are the threads of the job's processes: each claims a
 * chunk at a time by one atomic addition in the shared header, so they never wait for each other.
 * An event becomes readable when its chunk's `used` is advanced past it; a process that is killed
 * leaves every finished event behind. Little-endian, as the machines that CUDA runs on.
 */
#ifndef PLM_RECORD_FORMAT_H
#define PLM_RECORD_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#include "record/events.h"

#define PLM_RECORD_MAGIC       "PLIMSOLL"
#define PLM_RECORD_VERSION     6u
#define PLM_RECORD_CHUNK_MAGIC 0x434d4c50u /* "PLMC" */
#define PLM_RECORD_HEADER      32768u
#define PLM_RECORD_CHUNK       262144u
#define PLM_RECORD_SLOTS       256
#define PLM_RECORD_HOLDERS     512

/* What a process shows while it runs; read by the progress line. One slot per process that uses CUDA. */
struct plm_live {
    _Atomic uint32_t pid;
    _Atomic uint32_t step;
    _Atomic uint64_t launches;
    _Atomic uint64_t allocated, allocated_peak;
    _Atomic uint64_t reserved, reserved_peak;
    _Atomic uint32_t stage;  /* enum plm_live_stage */
    _Atomic uint32_t passes; /* calls of whole models since the last backward pass */
};

/* What a process holds of a card, for those that ask how full the card is. One row per process and card. */
struct plm_held {
    _Atomic uint32_t pid; /* 0: not used, or not yet */
    uint32_t node;        /* of the world, where ranks of several nodes are simulated */
    uint32_t card;        /* of that node, from 1 */
    uint32_t reserved;
    _Atomic uint64_t bytes;
};

/* For which rank a process waits, of the same slot as its live figures. Ranks count from 1; 0: none, or not known. */
struct plm_awaited {
    _Atomic uint32_t by;   /* the process's own rank */
    _Atomic uint32_t rank; /* that it waits for */
    _Atomic uint64_t since_ns; /* CLOCK_MONOTONIC */
};

enum plm_live_stage {
    PLM_LIVE_IMPORTING, /* `import torch` is under way: a process enters the record in it */
    PLM_LIVE_IMPORTED,
    PLM_LIVE_STOPPED, /* it has made its steps and ends */
};

enum plm_record_flag {
    PLM_RECORD_FULL = 1,   /* a writer could not extend the file: events are missing, and `stopped` says why */
    PLM_RECORD_ENDED = 2,  /* the run saw the command end and closed the record */
    PLM_RECORD_HELD = 4,   /* until then it holds a lock on the first byte of the file */
};

/* What could not be done. With the number of the error it is `stopped`, as PLM_RECORD_STOPPED() has it. */
enum plm_record_stop {
    PLM_STOP_UNSAID, /* by an older plimsoll */
    PLM_STOP_REOPEN, /* the program had closed the record's descriptor */
    PLM_STOP_EXTEND,
    PLM_STOP_MAP,
};
#define PLM_RECORD_STOPPED(what, error) ((uint32_t)(what) << 16 | ((uint32_t)(error) & 0xffff))

struct plm_record_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t chunk_bytes;
    _Atomic uint32_t flags;
    uint64_t created_ns;          /* CLOCK_REALTIME */
    uint64_t monotonic_ns;        /* CLOCK_MONOTONIC at the same moment */
    _Atomic uint64_t chunks;      /* claimed so far */
    _Atomic uint32_t processes;   /* slots taken */
    uint32_t slots;
    struct plm_live live[PLM_RECORD_SLOTS];
    _Atomic uint32_t stopped;     /* of the first writer that had to; 0: none had */
    _Atomic uint32_t holders;     /* rows taken */
    struct plm_held held[PLM_RECORD_HOLDERS];
    struct plm_awaited awaited[PLM_RECORD_SLOTS];
};
_Static_assert(sizeof(struct plm_record_header) <= PLM_RECORD_HEADER, "the header has room for its tables");

struct plm_record_chunk {
    uint32_t magic;
    uint32_t pid;
    uint32_t tid;
    uint32_t process;             /* number of the process in this job, from 0 */
    uint64_t start_ns;            /* CLOCK_MONOTONIC; event times count from here */
    _Atomic uint32_t used;        /* bytes of events that are complete */
    uint32_t reserved;
};

/* Every event starts with this and is a multiple of 8 bytes long. */
struct plm_record_event_head {
    uint8_t type;
    uint8_t words;                /* length in 8-byte words, head included */
    uint16_t device;
    uint32_t dt;                  /* ns since the chunk's time base */
};

#define PLM_EVENT_WORDS_MAX 255

#endif
