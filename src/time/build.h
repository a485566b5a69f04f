/*
 * Inside the room: what is kept while a record is read into works. works.c owns it; one thread.
 */
#ifndef PLM_TIME_BUILD_H
#define PLM_TIME_BUILD_H

#include "record/reader.h"
#include "time/kernels.h"
#include "time/works.h"

/* A moment that steps are counted by. */
struct plm_build_mark {
    uint64_t ns;
    uint32_t name, samples;
    uint32_t parts; /* of a pass: modules that were entered */
};

struct plm_marks {
    struct plm_build_mark *item;
    size_t count, room;
};

struct plm_build_process {
    uint64_t pid;
    int rank;
    size_t lane;             /* of its last event */
    uint32_t samples;        /* of its passes since the last step */
    bool backward;           /* steps are backward passes */
    struct plm_marks steps;
    struct plm_marks passes;    /* of models, as PASS events tell them */
    struct plm_marks outermost; /* of any module that is called on its own: for records that have no PASS */
};

/* A call whose share of the host's time is not known yet. */
struct plm_build_open {
    uint32_t lane, call;
};

/* What an operator of this thread allocated since it last launched: the results of what it launches next. */
struct plm_build_thread {
    uint32_t modules;        /* that it is in */
    uint32_t context;
    bool launched;
    uint64_t largest;
    size_t lane, first;      /* of launches in a row of the same kernel: where the first one is */
    uint32_t series, work;   /* how many, and of what */
    struct plm_build_open *open; /* its calls since its CPU time was read */
    size_t opens, open_room;
};

struct plm_build_graph {
    uint32_t first, calls;   /* nodes of its lane */
};

struct plm_build_group {
    uint32_t process, size;
    uint32_t name, ranks; /* in the works' names */
};

struct plm_build {
    struct plm_works *works;
    struct plm_record *record;
    struct plm_build_process *process;
    size_t processes, process_room;
    struct plm_build_thread *thread;
    size_t threads;
    struct plm_build_graph *graph;
    size_t graphs, graph_room;
    struct plm_build_group *group; /* as the first process that has any tells them */
    size_t groups, group_room;
    struct plm_time_kernel_form *form; /* by number of the name */
    size_t forms, form_room;
    struct plm_ev_operands *operands;
    size_t operand_count, operand_room;
    struct plm_map operands_of;   /* process and context to what was last said of its operands */
    struct plm_map site_of;       /* process and context to site */
    struct plm_map name_of;       /* process and text to name */
    struct plm_map by_hash;       /* of a work to the work */
    struct plm_map graph_of;      /* process and graph to graph */
    uint64_t calls;               /* that were no copies and no waits */
};

/* What a process numbers for itself, as the key of a map. */
static inline uint64_t plm_build_key(uint32_t process, uint32_t number)
{
    return (uint64_t)process << 32 | number;
}

/* The name of a text of a process, in the works' names. */
uint32_t plm_build_name(struct plm_build *build, uint32_t process, uint32_t text);
/* Works are compared byte by byte: begin with memset(). */
uint32_t plm_build_work(struct plm_build *build, const struct plm_work *work);
void plm_build_call(struct plm_build *build, const struct plm_record_event *event, const struct plm_ev_call *call,
                    const struct plm_work *work, uint32_t other);

/* launches.c */
void plm_build_operands(struct plm_build *build, const struct plm_record_event *event);
void plm_build_output(struct plm_build *build, const struct plm_record_event *event);
void plm_build_launch(struct plm_build *build, const struct plm_record_event *event,
                      const struct plm_ev_launch *launch);
/* replicas.c: a GROUP; after the last event, the works' world */
void plm_build_group(struct plm_build *build, const struct plm_record_event *event);
void plm_build_world(struct plm_build *build);
/* libraries.c */
void plm_build_library(struct plm_build *build, const struct plm_record_event *event);

#endif
