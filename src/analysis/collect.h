/*
 * Inside the analysis: what is kept while the events of a record are gone through, and the rules that turn
 * it into categories. job.c owns it; one thread.
 */
#ifndef PLM_COLLECT_H
#define PLM_COLLECT_H

#include "analysis/job.h"
#include "base/names.h"
#include "base/map.h"
#include "record/reader.h"

/* Which rule decides about an untagged block; follows from its context. */
enum plm_rule {
    PLM_RULE_OTHER,
    PLM_RULE_COMMUNICATION,
    PLM_RULE_FORWARD,
    PLM_RULE_RECOMPUTE,
    PLM_RULE_STEP,
    PLM_RULE_INPUT
};

/* Between events: not decided yet, and decided only when it is known whether a backward ever ran. */
enum { PLM_CATEGORY_OPEN = PLM_CATEGORIES, PLM_CATEGORY_UNLESS_BACKWARD };

/* One process: how often what decides about blocks has happened. */
struct plm_process {
    uint32_t number;
    uint32_t forwards, backwards, steps;
    uint8_t phase; /* that it is in */
    uint32_t phase_context[PLM_PHASES]; /* for blocks without one; 0: not made yet */
};

/* One thread. Its scope is counted up whenever it leaves the outermost module. */
struct plm_thread {
    uint32_t process; /* index; UINT32_MAX: not seen yet */
    uint32_t modules; /* that it is in */
    uint32_t scope;
    uint32_t device, lane; /* of its last allocator event */
};

/* A live block, with the counts at its allocation. */
struct plm_life {
    uint32_t block; /* in the lane; in a free entry, the next free one */
    uint32_t thread, scope;
    uint32_t forwards, backwards, steps;
};

struct plm_lane_work {
    struct plm_lane lane; /* becomes the job's */
    int device;
    uint32_t process; /* index */
    uint64_t allocated;
    size_t stack_room, part_room, block_room, order_room, segment_room, phase_room, step_room, reserved_room;
    struct plm_map live;     /* address to entry of life */
    struct plm_map segments; /* address and kind to segment */
    struct plm_map cells;    /* where live blocks begin to entry of life; see around.c */
    uint64_t levels;         /* of `cells`, a bit each; 0: nobody asked yet */
    struct plm_map tagged;   /* address to the block that it was last found in (upper half) and its name */
    struct plm_life *life;
    size_t lives, life_room;
    uint32_t free_life;
    struct plm_job_conv_marks convolutions;
    struct plm_map shapes;   /* hash of a convolution to its number */
    bool undecided; /* has blocks that are PLM_CATEGORY_UNLESS_BACKWARD */
};

/* source_lines.c: the stacks of all processes, each of which numbers its own. */
struct plm_collect_source { /* a function */
    uint32_t file; /* name of the collection */
    struct plm_job_line line;
};
struct plm_collect_lines {
    struct plm_map source_of; /* process and number to an index of `source` */
    struct plm_map line_of;   /* source and line to line */
    struct plm_map call_of;   /* process and number to call */
    struct plm_map call_key;  /* caller and line to call */
    struct plm_collect_source *source;
    struct plm_job_line *line; /* this and `call` become the job's */
    struct plm_job_call *call;
    size_t sources, source_room, lines, line_room, calls, call_room;
};

struct plm_collect {
    struct plm_record *record;
    struct plm_collect_lines lines;
    struct plm_names names;
    struct plm_map name_of;     /* process and text to name */
    struct plm_map context_of;  /* process and id to context */
    struct plm_map context_key; /* what a context says to context */
    struct plm_map joined;      /* two owners to what they have in common */
    struct plm_site *context;
    uint8_t *rule; /* enum plm_rule of each context */
    size_t contexts, context_room, rule_room;
    struct plm_process *process;
    size_t processes, process_room;
    struct plm_thread *thread;
    size_t threads;
    struct plm_lane_work *lane;
    size_t lanes, lane_room;
    size_t steps; /* that ended, of all processes */
    struct plm_summary_level level; /* of the lane that the last event of a device concerned */
    bool attributed;
};

void plm_collect_begin(struct plm_collect *collect, struct plm_record *record);
/* 0, or PLM_EFORMAT if there are more blocks than can be counted. */
int plm_collect_visit(struct plm_collect *collect, const struct plm_record_event *event);
/* The record ended: decides about what still lives. */
void plm_collect_end(struct plm_collect *collect);
void plm_collect_free(struct plm_collect *collect);
/* The arrays of a lane, but not its convolutions. */
void plm_lane_free(struct plm_lane *lane);

/* parts.c */
/* A named tensor was found in a block. */
void plm_parts_add(struct plm_lane_work *work, struct plm_job_part part);
/* After the last one: keeps those that share a block, in their order. */
void plm_parts_sort(struct plm_lane *lane);

/* source_lines.c */
/* A SOURCE; `source` has its names. */
void plm_collect_lines_add(struct plm_collect_lines *lines, const struct plm_record_event *event,
                           struct plm_collect_source source);
void plm_collect_lines_frame(struct plm_collect_lines *lines, const struct plm_record_event *event);
/* The call that a process knows by a number; 0: none. */
uint32_t plm_collect_lines_call(const struct plm_collect_lines *lines, uint32_t process, uint32_t number);
void plm_collect_lines_free(struct plm_collect_lines *lines);

/* around.c: the live block that an address lies in; NULL if there is none. Most jobs never ask: from the first time on,
   what comes and goes is kept in order. */
struct plm_block *plm_around_find(struct plm_lane_work *work, uint64_t address);
void plm_around_add(struct plm_lane_work *work, uint32_t life);
void plm_around_remove(struct plm_lane_work *work, uint32_t life);

/* category.c */
enum plm_rule plm_category_rule(const struct plm_site *context);
/* The category of an untagged block that is freed now, or that is left at the end. */
uint8_t plm_category_decide(enum plm_rule rule, const struct plm_life *life, const struct plm_process *process,
                            const struct plm_thread *thread, bool freed);

#endif
