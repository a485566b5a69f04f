/*
 * A stack file: what one software stack takes on one card, as plain text with its provenance. docs/workspaces.md has
 * the format. data/stacks comes with plimsoll; `plimsoll calibrate` writes one on a machine with a GPU.
 *
 * plm_stack_file_read() makes it, plm_stack_file_free() ends it. It is read-only in between: any thread may look rows
 * up, which takes no memory. Functions that can fail return 0 or a negative PLM_E code and a sentence with the line.
 */
#ifndef PLM_STACK_FILE_H
#define PLM_STACK_FILE_H

#include "record/events.h"
#include "stack/rows.h"

struct plm_error;

enum plm_stack_made { PLM_STACK_MADE_UNKNOWN, PLM_STACK_WRITTEN, PLM_STACK_MEASURED };

/* Memory of the card in bytes, by enum plm_stack_memory. `high` is `low` where one figure is given. */
struct plm_stack_range {
    bool known;
    uint64_t low, high;
};

/* A row's sizes. Of a convolution: the workspaces of the plans that cuDNN's heuristics offer, best first; of a
   recurrent network: work and reserve space; of a transform: work space. They belong to the stack file. */
struct plm_stack_sizes {
    const uint64_t *bytes;
    int count;   /* 0: there is no such row */
    int fastest; /* of the plans, the one that a benchmark finds fastest; -1: not said */
};

struct plm_stack_row {
    struct plm_stack_row_key key;
    uint32_t first;
    int16_t count, fastest;
};

enum { PLM_STACK_PLANS = 16 }; /* of one convolution, at most */

struct plm_stack_file {
    char id[64];              /* its file's name without .ini */
    char name[128], date[32], source[256];
    enum plm_stack_made made;
    char torch[48], cuda[32], driver[32], cudnn[32], cublas[32], nccl[32]; /* versions; empty: not said */
    char gpu[96];             /* as the driver calls it */
    int major, minor, sms;    /* 0: not said */
    struct plm_stack_range memory[PLM_STACK_MEMORIES];
    int convolutions, rnns, ffts; /* how many rows of each */
    struct plm_stack_row *row;    /* a hash table; rows without sizes are free */
    size_t rows, slots;
    uint64_t *size;
    size_t sizes, size_room;
};

int plm_stack_file_read(const char *path, struct plm_stack_file **out, struct plm_error *error);
void plm_stack_file_free(struct plm_stack_file *stack);

/* NULL as a stack is one without rows. */
struct plm_stack_sizes plm_stack_file_find(const struct plm_stack_file *stack, const struct plm_stack_row_key *key);

const char *plm_stack_made_name(enum plm_stack_made made);      /* "measured" */

/* The stack file of this job, for the shims: the one that PLIMSOLL_STACK names. Read once, at the first call; any
   thread. NULL if there is none; `plimsoll run` has complained by then if it cannot be read. */
const struct plm_stack_file *plm_stack_in_use(void);

#endif
