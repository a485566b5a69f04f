/*
 * The job record (.plm) on disk, version 2 (version 1 has the types up to END). docs/record.md describes it for other programs.
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

#define PLM_RECORD_MAGIC       "PLIMSOLL"
#define PLM_RECORD_VERSION     2u
#define PLM_RECORD_CHUNK_MAGIC 0x434d4c50u /* "PLMC" */
#define PLM_RECORD_HEADER      32768u
#define PLM_RECORD_CHUNK       262144u
#define PLM_RECORD_SLOTS       256

/* What a process shows while it runs; read by the progress line. One slot per process that uses CUDA. */
struct plm_live {
    _Atomic uint32_t pid;
    _Atomic uint32_t step;
    _Atomic uint64_t launches;
    _Atomic uint64_t allocated, allocated_peak;
    _Atomic uint64_t reserved, reserved_peak;
    _Atomic uint64_t unused;
};

enum plm_record_flag {
    PLM_RECORD_FULL = 1,   /* a writer could not extend the file: events are missing */
    PLM_RECORD_ENDED = 2,  /* the run saw the command end and closed the record */
};

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
};

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
struct plm_event_head {
    uint8_t type;
    uint8_t words;                /* length in 8-byte words, head included */
    uint16_t device;
    uint32_t dt;                  /* ns since the chunk's time base */
};

enum plm_event_type {
    PLM_EV_PROCESS = 1,   /* u64 pid, u64 parent pid */
    PLM_EV_TEXT,          /* u32 id, u32 length, bytes padded to 8: a string that other events name by id */
    PLM_EV_CONFIG,        /* u32 key text, u32 value text */
    PLM_EV_TIME,          /* u64 CLOCK_MONOTONIC ns: new time base */
    PLM_EV_BLOCK_ALLOC, /* u64 address, u64 bytes of the block, u32 context, u32 stream, u64 bytes that were asked for
                             (0: not known): the caching allocator hands a block out. Version 1 has the first two
                             words only */
    PLM_EV_BLOCK_FREE, /* u64 address, u64 bytes */
    PLM_EV_RESERVED, /* u64 bytes: what the caching allocator holds now */
    PLM_EV_MEMORY_ALLOC, /* u64 address, u64 bytes, u32 kind, u32 owner text: the card's memory is taken */
    PLM_EV_MEMORY_FREE, /* u64 address, u64 bytes, u32 kind, u32 owner text */
    PLM_EV_STEP, /* u32 step that ended, from 1; u32 optimizers seen so far */
    PLM_EV_REFUSED, /* u32 library text, u32 symbol text */
    PLM_EV_READBACK, /* u64 bytes, u32 operator text, u32 0: the host read what a kernel may have written */
    PLM_EV_NOTE, /* u32 kind text, u32 value text: something the report must say */
    PLM_EV_OOM, /* u64 bytes asked, u64 bytes in use */
    PLM_EV_LAUNCHES, /* u64 launches so far in this process */
    PLM_EV_END, /* the process left normally */
    /* since version 2 */
    PLM_EV_CONTEXT, /* u32 id, u32 module text; u32 outermost operator text, u32 innermost; u32 phase, u32 0:
                             where in the program something happened; other events of the process name it by id */
    PLM_EV_PHASE, /* u32 phase, u32 0: the process passes into it */
    PLM_EV_MODULE, /* u32 module text (0: leaves the innermost), u32 phase */
    PLM_EV_TAG, /* u64 address, u32 category, u32 owner text (a parameter's full name), u64 bytes that
                             were asked for (0: not known): what the block that holds the address is for */
    PLM_EV_LAUNCH, /* see docs/record.md for this and the following */
    PLM_EV_GEMM,
    PLM_EV_CONVOLUTION,
    PLM_EV_RNN,
    PLM_EV_ATTENTION,
    PLM_EV_COLLECTIVE,
    PLM_EV_COPY,
    PLM_EV_SYNC,
    PLM_EV_TYPES
};

enum plm_record_memory { PLM_RECORD_MALLOC = 0, PLM_RECORD_VMM = 1, PLM_RECORD_POOL = 2, PLM_RECORD_LIBRARY = 3 };

/* What the program was doing. Order and names are part of the format and of the JSON report. */
enum plm_phase {
    PLM_PHASE_OTHER,
    PLM_PHASE_DATA,
    PLM_PHASE_FORWARD,
    PLM_PHASE_RECOMPUTE,
    PLM_PHASE_LOSS,
    PLM_PHASE_BACKWARD,
    PLM_PHASE_OPTIMIZER,
    PLM_PHASE_ZERO_GRAD,
    PLM_PHASES
};

/* What a block is for. A block that is tagged more than once belongs to the first of these. */
enum plm_category {
    PLM_CATEGORY_PARAMETERS,
    PLM_CATEGORY_GRADIENTS,
    PLM_CATEGORY_OPTIMIZER,
    PLM_CATEGORY_BUFFERS,
    PLM_CATEGORY_COMMUNICATION,
    PLM_CATEGORY_WORKSPACE,
    PLM_CATEGORY_INPUTS,
    PLM_CATEGORY_ACTIVATIONS, /* from here on by lifetime, never tagged */
    PLM_CATEGORY_TEMPORARIES,
    PLM_CATEGORY_OTHER,
    PLM_CATEGORIES
};

/* ---- what the calls of version 2 hold; docs/record.md has the payloads ---- */

/* The element counts of a LAUNCH: what its two last words are. */
enum plm_launch_count {
    PLM_COUNT_NONE, /* there are none */
    PLM_COUNT_ELEMENTS, /* elements; 0 */
    PLM_COUNT_TENSORS, /* elements of all tensors; tensors | lists << 32 */
    PLM_COUNT_REDUCTION, /* elements that are reduced; results */
    PLM_COUNT_GRAPH, /* kernels of the graph; its number */
};
#define PLM_LAUNCH_LIBRARY \
    0x100u /* flag: the name is a library's routine; its kernels, grid and stream are not known */

enum plm_gemm_batch { PLM_GEMM_ONE, PLM_GEMM_STRIDED, PLM_GEMM_POINTERS };

/* Where the workspace of a CONVOLUTION comes from. */
enum plm_conv_source {
    PLM_CONV_SOURCE_UNKNOWN, /* older records */
    PLM_CONV_SOURCE_TABLE,   /* a row of the stack file */
    PLM_CONV_SOURCE_FORMULA,
    PLM_CONV_SOURCE_OFF,     /* the user wanted none */
};

enum plm_rnn_call { PLM_RNN_INFERENCE, PLM_RNN_TRAINING, PLM_RNN_BACKWARD_DATA, PLM_RNN_BACKWARD_WEIGHTS };

enum plm_attention_call { PLM_ATTENTION_FORWARD, PLM_ATTENTION_BACKWARD };

enum plm_collective {
    PLM_COLLECTIVE_ALL_REDUCE,
    PLM_COLLECTIVE_REDUCE,
    PLM_COLLECTIVE_REDUCE_SCATTER,
    PLM_COLLECTIVE_ALL_GATHER,
    PLM_COLLECTIVE_BROADCAST,
    PLM_COLLECTIVE_ALL_TO_ALL,
    PLM_COLLECTIVE_GATHER,
    PLM_COLLECTIVE_SCATTER,
    PLM_COLLECTIVE_SEND,
    PLM_COLLECTIVE_RECEIVE,
};

enum plm_copy_direction {
    PLM_COPY_HOST_TO_HOST,
    PLM_COPY_HOST_TO_DEVICE,
    PLM_COPY_DEVICE_TO_HOST,
    PLM_COPY_DEVICE_TO_DEVICE,
    PLM_COPY_PEER, /* between two devices */
    PLM_COPY_FILL, /* a memset: there is no source */
};
enum plm_copy_host { PLM_COPY_NO_HOST, PLM_COPY_PAGEABLE, PLM_COPY_PINNED };

enum plm_sync { PLM_SYNC_DEVICE, PLM_SYNC_STREAM, PLM_SYNC_EVENT, PLM_SYNC_STREAM_WAITS };

#define PLM_STREAM_UNKNOWN  0x7fffffffu
#define PLM_STREAM_CAPTURED 0x80000000u /* set: the block belongs to the private pool of a CUDA graph */

#define PLM_EVENT_WORDS_MAX 255

#endif
