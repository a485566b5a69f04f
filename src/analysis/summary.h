/*
 * What happened in a job, added up from its record: per process and device the peaks, per step the
 * peaks, what was refused and what was read back. Owned by the caller, freed by plm_summary_free.
 */
#ifndef PLM_SUMMARY_H
#define PLM_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/communicators.h"
#include "base/map.h"
#include "base/names.h"
#include "common/overhead.h"
#include "record/reader.h"

struct plm_card;
struct plm_error;
struct plm_stack_file;

struct plm_step {
    uint64_t allocated_peak, reserved_peak;
    uint64_t used_peak;    /* of the card's memory, whoever took it */
};

/* A name and how often it was seen: refused symbols, operators that read values back, notes. */
struct plm_summary_count {
    char *name, *detail;
    uint64_t calls, bytes;
};

struct plm_counts {
    struct plm_summary_count *item;
    int count, room;
    struct plm_names seen; /* name and detail in one; the number of each is one more than its place */
};

/* A library that took memory of the card outside the caching allocator. */
enum { PLM_TAKERS = 8 };
struct plm_taker {
    char name[24];
    uint64_t now, at_peak; /* at_peak: when most of the card was taken */
    uint64_t low, high;    /* how certain that is; 0: nothing was said */
};

/* Types of numbers that not every card has. The record tells them of matrix products, convolutions and attention of
   NVIDIA's libraries, at the full detail. */
enum plm_type { PLM_TYPE_BF16, PLM_TYPE_FP8, PLM_TYPES };

/* The most that was allocated, and where: whoever shows either reads it here. */
struct plm_summary_peak {
    uint64_t bytes;
    uint32_t moment; /* the first of it, in the device's lane (job.h); no meaning without a lane, or without blocks */
    uint32_t step;   /* from 0: that ran then */
};

struct plm_summary_device {
    uint32_t process;
    int rank, device;
    uint32_t card; /* of the machine: the same for processes that share it; 0: not told */
    bool solo;     /* ranks of a world were run one by one: other ranks are not on this card, whatever its number */
    uint64_t first_ns, last_ns; /* when it was used, or its process ended */
    int status;                 /* that its process exited with; 0 also if that is not told */
    uint64_t allocated, reserved, used, libraries; /* now, while reading; at the end after */
    struct plm_summary_peak allocated_peak;
    uint64_t reserved_peak, used_peak, libraries_peak;
    struct plm_step *step;
    int steps, step_room;
    struct plm_step current;                       /* since the last step ended */
    struct plm_counts readbacks;
    bool out_of_memory;
    uint64_t oom_asked;
    int oom_steps;         /* that had ended when the card was last full */
    bool oom_open;         /* nothing was allocated since then: it may have failed for that */
    struct plm_taker taker[PLM_TAKERS];
    int takers;
    struct plm_communicators communicators; /* of NCCL */
    uint64_t peaks;        /* how often more of the card was taken than ever before */
    struct plm_overhead overhead; /* what the process makes the card hold beside its allocations; zeros: not told */
    uint64_t
        other_end; /* what a second run reserved, with every result full that decides the size of tensors; 0: none */
    bool caching; /* blocks of an allocator were seen; else the card's memory stands for them */
};

/* KIND: ranks of the job that need what one of them, which was run, needs. */
struct plm_summary_kind {
    uint32_t rank, count;
    char *ranks, *why; /* "1-57/8"; a sentence for people */
};

/* SHARD: how much of the tensors of a category a process holds. */
struct plm_shard {
    uint32_t process;
    enum plm_category category;
    uint64_t local, whole; /* bytes; local <= whole, whole > 0 */
};

/* What a stack file says of the context on the card that was played. */
struct plm_summary_context {
    bool known;
    uint64_t bytes, low, high;
    char source[176];
};

struct plm_summary {
    uint64_t created_ns;
    double seconds;
    int steps;
    int step_events; /* of all processes */
    bool ended;
    struct plm_record_missing missing;
    int processes;
    uint64_t groups; /* process groups of PyTorch that were made */
    uint32_t group_ranks; /* of the largest of them */
    uint64_t launches, blocks;
    unsigned types;        /* enum plm_type, a bit for each that library calls were seen to compute with */
    struct plm_summary_device *device;
    int devices, device_room;
    struct plm_counts unmodelled, notes, config;
    struct plm_map words; /* of the command: number -> place in config */
    struct plm_summary_context context;
    uint64_t stack_usable; /* what the stack file says can be taken of the card; 0: nothing */
    struct plm_summary_kind *kind; /* as they were told */
    size_t kinds, kind_room;
    struct plm_shard *shard; /* as they were told: the last of a process and category counts */
    size_t shards, shard_room;
};

/* The events of a record one by one, for whoever goes through them anyway: begin, visit each, finish.
   finish must be called in any case. Whoever keeps blocks tells what the event's device holds after it; NULL: the sizes
   that the record tells are added up, which a record with missing events makes wrong. */
struct plm_summary_work {
    struct plm_summary *summary;
    struct plm_record *record;
    uint64_t last_ns;
    int last_device; /* events come in runs of one device */
    struct plm_summary_rank {
        uint32_t process;
        int rank;
    } *rank;
    int ranks, rank_room;
    struct plm_summary_end {
        uint32_t rank;
        int device;
        uint64_t reserved;
    } *end;
    size_t ends, end_room;
};
struct plm_summary_level {
    uint64_t allocated;
    uint32_t moment; /* the last of its lane */
};
void plm_summary_begin(struct plm_summary_work *work, struct plm_summary *summary, struct plm_record *record);
void plm_summary_visit(struct plm_summary_work *work, const struct plm_record_event *event,
                       const struct plm_summary_level *level);
void plm_summary_finish(struct plm_summary_work *work);

/* All of it at once. */
int plm_summary_read(const char *path, struct plm_summary *summary, struct plm_error *error);
void plm_summary_free(struct plm_summary *summary);

/* The value of a configuration key; NULL if the record has none. */
const char *plm_summary_config(const struct plm_summary *summary, const char *key);
/* The i-th word of the command, from 0; NULL after the last. */
const char *plm_summary_word(const struct plm_summary *summary, int i);
/* That the command ran, else that the record covers. */
double plm_summary_seconds(const struct plm_summary *summary);
/* How many notes of the kind there are, and the first; without one that stays as it was. */
int plm_summary_notes(const struct plm_summary *summary, const char *kind, const char **first);
bool plm_summary_has_note(const struct plm_summary *summary, const char *kind);

/* match.c: does a stack file go with a job? Versions of PyTorch, CUDA, cuDNN and NCCL as the job's record has them. What
   one side does not say is not compared. Pure; any thread. */
enum { PLM_STACK_WHY = 200 };

/* True if a version differs; `why` is then "PyTorch 2.6.0 instead of 2.15.0, ...". */
bool plm_summary_stack_differs(const struct plm_stack_file *stack, const struct plm_summary *job,
                               char why[PLM_STACK_WHY]);

/* The same for the stack that a job ran with, from its record alone; the card counts too. */
bool plm_summary_own_stack_differs(const struct plm_summary *job, char why[PLM_STACK_WHY]);

/* Usable memory of a card: as the job's stack file has it, if that was made on this card, else as the catalogue has
   it. */
uint64_t plm_summary_usable(const struct plm_summary *job, const struct plm_card *card, bool *assumed);

#endif
