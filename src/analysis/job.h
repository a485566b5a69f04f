/*
 * A job with every block of memory it used: lifetimes, owners, categories, and what lived at any moment.
 *
 * plm_job_read() reads a record once and keeps it all; about 60 bytes a block. Whoever reads it frees it
 * with plm_job_free(). Strings belong to the job. Read-only after plm_job_read, so any thread may look; only what a lane
 * points to as `kept` is written later, with its lock held.
 *
 * Time in a lane is counted in moments: moment m, from 0, is the state after the m-th event of the lane's
 * caching allocator (lane->order[m]). A block lives at m if alloc_at <= m < free_at.
 */
#ifndef PLM_JOB_H
#define PLM_JOB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "record/format.h"

struct plm_error;
struct plm_record;
struct plm_record_event;

/* Where in the program something happened. Unknown strings are "". */
struct plm_site {
    const char *module;        /* "layer1.0.conv2"; "(CrossEntropyLoss)" for one outside the model */
    const char *outer, *inner; /* operators: "aten::linear", "aten::_to_copy"; in backward outer is the node */
    enum plm_phase phase;
};

#define PLM_MOMENT_NEVER UINT32_MAX

struct plm_block {
    uint64_t address, bytes;
    uint64_t asked;              /* for how much the program asked; 0: not known */
    uint64_t alloc_ns, free_ns;  /* since the record was made; free_ns UINT64_MAX: never freed */
    uint32_t alloc_at, free_at;  /* moments; free_at PLM_MOMENT_NEVER: never freed */
    uint32_t context;            /* index into job->context; 0 is "nothing known" */
    uint32_t owner;              /* index into job->owner: the tag's name ("fc.weight"); 0 is none */
    uint32_t stream;             /* PLM_STREAM_UNKNOWN */
    uint8_t category;            /* enum plm_category, one for the whole life */
    bool captured;               /* in the private pool of a CUDA graph */
    bool shared;                 /* by several tensors with names; plm_block_part() has each */
};

/* Where in a block another named tensor begins: a bucket of gradients has many. */
struct plm_job_part {
    uint64_t from;               /* bytes from the start of the block */
    uint32_t block, owner;       /* indexes into lane->block and job->owner */
    uint32_t category;
};

/* Memory of the card that the caching allocator took (or a library, see kind). Whole life, as blocks. */
struct plm_lane_segment {
    uint64_t address, bytes;
    uint64_t alloc_ns, free_ns;
    uint32_t alloc_at, free_at;  /* moments of the lane at which it appeared and went */
    uint32_t kind;               /* enum plm_record_memory */
    uint32_t owner;              /* index into job->owner */
};

struct plm_mark {                /* a phase that began, or a step that ended */
    uint64_t ns;
    uint32_t at;                 /* the first moment after it; lane->moments if nothing followed */
    uint32_t value;              /* phase; or the number of the step, from 1 */
};

struct plm_lane_level {               /* what the caching allocator holds, from this moment on */
    uint64_t ns, bytes;
    uint32_t at;
};

/* Convolutions that have a workspace, or whose workspace a formula gave: which blocks these are, how large they may be
   in truth, and which share a plan. fit/ladder.h tells what their size does to the peak, fit/replay.h what the plan is
   for. */
#define PLM_CONV_NO_BLOCK UINT32_MAX
struct plm_job_conv_mark {
    uint32_t at;                 /* moments of the lane that had passed */
    uint32_t block;              /* its workspace; PLM_CONV_NO_BLOCK: it had none */
    uint64_t most;               /* guessed: bytes that it may be in truth */
    uint32_t shape;              /* from 0: PyTorch keeps one plan for all of a shape and direction in a thread */
    bool guessed;                /* by a formula; otherwise it was measured */
    bool forward;                /* the convolution itself, not one of its gradients */
};
struct plm_job_conv_marks {
    struct plm_job_conv_mark *mark;
    size_t count, room, guessed;
    uint32_t shapes;
};
struct plm_job_conv_kept {           /* what fit/conv_range.c finds of them, when somebody first asks */
    pthread_mutex_t lock;
    bool weighed;
    uint64_t low, high;
};

/* Source lines, of a record that has Python stacks. */
enum plm_job_whose {
    PLM_JOB_OWN,
    PLM_JOB_PACKAGE,
    PLM_JOB_FRAMEWORK
}; /* the user's; installed; PyTorch's or Python's */
struct plm_job_line {
    const char *file, *function;
    uint32_t line;
    uint32_t first;              /* line that the function begins in */
    enum plm_job_whose whose;
    uint64_t bytes, modified;    /* of the file then, ns since 1970; 0: there was none */
};
struct plm_job_call {            /* a stack: its innermost call, and the one that made it */
    uint32_t caller;             /* index into job->call, less than its own; 0: none */
    uint32_t line;               /* index into job->line */
    uint32_t own; /* the innermost call in the user's own files; if there is none, in an installed package */
};

/* One device of one process. */
struct plm_lane {
    const struct plm_summary_device *summary; /* peaks, steps, read-backs */
    uint32_t process;
    struct plm_block *block; /* in the order of their allocation */
    size_t blocks;
    uint32_t *stack; /* per block: index into job->call, 0: not known; NULL: the record has no stacks */
    struct plm_job_part *part; /* of blocks that are shared, by block and place */
    size_t parts;
    uint32_t *order; /* per moment: block index << 1 | 1 if it is freed */
    size_t moments;
    struct plm_lane_segment *segment;
    size_t segments;
    struct plm_mark *phase, *step; /* when an inner phase ends, the outer one begins again */
    size_t phases, steps;
    struct plm_lane_level *reserved;
    size_t reserveds;
    const struct plm_job_conv_marks *convolutions; /* with a workspace; NULL: none */
    struct plm_job_conv_kept *kept; /* of them; NULL: there are none */
    uint64_t together; /* the most that this and other processes held of its card at a time, without contexts;
                                    0: no other used the card while it did */
};

struct plm_job {
    struct plm_summary summary;
    struct plm_lane *lane; /* as summary.device: by rank, then device */
    size_t lanes;
    struct plm_site *context;
    size_t contexts;
    const char **owner; /* all names of the record, [0] is "" */
    size_t owners;
    struct plm_job_line *line; /* [0] and call[0] are "not known" */
    size_t lines;
    struct plm_job_call *call; /* none: the record has no stacks */
    size_t calls;
    bool attributed; /* the record says where blocks come from; older ones do not */
};

int plm_job_read(const char *path, struct plm_job **job, struct plm_error *error);
/* The same of a record that is open; it stays the caller's, and the job needs it no more. `name` is for sentences. */
int plm_job_read_record(struct plm_record *record, const char *name, struct plm_job **job, struct plm_error *error);
/* Who goes through the same reading: `open` before the first event, `visit` with each; what that returns, if not 0, ends
   the reading and is returned. */
struct plm_job_guest {
    void (*open)(struct plm_record *record, void *context);
    int (*visit)(const struct plm_record_event *event, void *context);
    void *context;
};
int plm_job_read_along(const char *path, const struct plm_job_guest *guest, struct plm_job **job,
                       struct plm_error *error);
void plm_job_free(struct plm_job *job); /* nothing for NULL */
/* The device whose memory decides: the one that takes most of its card. The job must have one. */
const struct plm_lane *plm_job_largest(const struct plm_job *job);

/* share.c: whether two processes used one card at the same time. */
bool plm_lanes_share(const struct plm_lane *a, const struct plm_lane *b);
/* Finds `together` of all lanes; plm_job_read() has done so. */
void plm_job_share(struct plm_job *job);

const char *plm_phase_name(enum plm_phase phase); /* "zero_grad" */
const char *plm_category_name(enum plm_category category); /* "parameters" */

/* Whether a parameter's name says whose the block is. */
static inline bool plm_block_named(const struct plm_block *block)
{
    return block->owner && block->category <= PLM_CATEGORY_BUFFERS;
}

/* The module that a block belongs to: its parameter's owner if it is tagged with a name, else where it
   was allocated. A block that parameters of several modules share, taken as a whole, belongs to what these have in
   common, "(several modules)" if nothing. Written to `buffer`; "" if nothing is known. */
const char *plm_block_module(const struct plm_job *job, const struct plm_block *block, char *buffer, size_t size);

/* What one of a block's tensors has of it, from 0 on: the block with the owner, address and size of that part; false if
   there is none. A block that is not shared is its own only part. */
bool plm_block_part(const struct plm_lane *lane, const struct plm_block *block, size_t number, struct plm_block *part);
/* Of a block that is shared: the index of its first part in lane->part. */
size_t plm_block_first_part(const struct plm_lane *lane, const struct plm_block *block);

/* Goes through the moments of a lane in order. `allocated` has the bytes of each category after the
   event; their sum is what PyTorch calls allocated. Returns what `visit` returned last (non-zero stops). */
typedef int plm_moment_visit(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context);
int plm_lane_sweep(const struct plm_lane *lane, plm_moment_visit *visit, void *context);

/* The first moment of [from, to) at which allocated is largest; `from` if there is none. */
uint32_t plm_lane_peak(const struct plm_lane *lane, uint32_t from, uint32_t to);
uint64_t plm_lane_reserved(const struct plm_lane *lane, uint32_t moment);
/* The moments of a step, counted from 1; one more than there are is what came after the last. */
void plm_lane_step(const struct plm_lane *lane, size_t step, uint32_t *from, uint32_t *to);

/* Bytes that live at a moment, added up by a key. */
enum plm_key { PLM_BY_MODULE, PLM_BY_OP, PLM_BY_PHASE, PLM_BY_CATEGORY, PLM_BY_STACK, PLM_BY_LINE, PLM_KEYS };
struct plm_holder {
    char *name; /* BY_STACK: "phase;module;outer;inner", without unknown parts; of a record that has Python stacks, the
                   calls in the user's own files, the outermost first. BY_LINE: "file:line" */
    const struct plm_job_line *line; /* BY_LINE; NULL: not known */
    uint64_t bytes;
    uint64_t category[PLM_CATEGORIES];
    uint32_t blocks;
};
struct plm_holders {
    struct plm_holder *item; /* largest first */
    size_t count;
};
struct plm_holders plm_holders_at(const struct plm_job *job, const struct plm_lane *lane, uint32_t moment,
                                  enum plm_key key);
void plm_holders_free(struct plm_holders *holders);
/* Adds what another one holds; the name stays. */
void plm_holder_add(struct plm_holder *to, const struct plm_holder *from);
/* By operator, what a module holds at a moment; its name as plm_block_module() has it. */
struct plm_holders plm_holders_of(const struct plm_job *job, const struct plm_lane *lane, uint32_t moment,
                                  const char *module);

/* ---- a moment that a question names, and what a device held then ---- */

/* Which moment of each device is looked at. */
struct plm_at {
    enum { PLM_AT_PEAK, PLM_AT_STEP, PLM_AT_END } kind;
    uint32_t step; /* from 1; its own peak is meant */
};

/* The moment of a lane that has some. In a step it is the first of its peak, which may be what the step before it left: as
   the table of steps has it. */
uint32_t plm_lane_moment(const struct plm_lane *lane, struct plm_at at);

/* "peak", "end", "3", "step 3", "step:3"; "module", "op", ... PLM_EINVAL for anything else. */
int plm_at_parse(const char *text, struct plm_at *at);
int plm_key_parse(const char *text, enum plm_key *key);
const char *plm_key_name(enum plm_key key);
/* PLM_EFORMAT with a sentence if the record does not have what the key asks for; `name` is the record's. */
int plm_key_check(const struct plm_job *job, enum plm_key key, const char *name, struct plm_error *error);
/* The Python stack of a block, an index into job->call; 0: not known. */
static inline uint32_t plm_block_stack(const struct plm_lane *lane, const struct plm_block *block)
{
    return lane->stack ? lane->stack[block - lane->block] : 0;
}
/* The calls of a stack, the innermost first; returns how many there are in `call`. */
size_t plm_job_stack(const struct plm_job *job, uint32_t stack, uint32_t *call, size_t most);
/* PLM_EINVAL with a sentence if no device of the job has that step. */
int plm_at_check(const struct plm_job *job, struct plm_at at, struct plm_error *error);

/* A moment of a lane, and what is known of it. */
struct plm_place {
    bool known; /* blocks were seen at all */
    uint32_t moment;
    uint32_t step; /* from 1, as in the table of steps; 0: no step ended */
    bool after; /* not in that step but after it, which was the last */
    const struct plm_site *context; /* of the allocation that made this moment; NULL: none, or not known */
    uint64_t allocated, reserved;
    uint64_t category[PLM_CATEGORIES];
    uint64_t casts; /* activations and temporaries that are copies in another precision */
    uint64_t captured; /* in private pools of CUDA graphs */
};
struct plm_place plm_place_at(const struct plm_job *job, const struct plm_lane *lane, struct plm_at at);
/* What the allocator holds beyond the blocks. */
uint64_t plm_place_free(const struct plm_place *place);

/* For qsort of a list of pointers to blocks. */
int plm_block_by_address(const void *block, const void *other);

#endif
