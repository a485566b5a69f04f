/*
 * What a job record can be turned into for other programs. One file per format; formats.c lists them,
 * and docs/HOWTO_ADD_FORMAT.md tells how to add one.
 *
 * A writer gets the opened record and, if it asks for it, the job that was read from it, and writes
 * to `out`. It holds no more in memory than it must: a record may have ten million events. It returns 0 or
 * a negative PLM_E with a sentence; errors of the output are kept in `out`. One thread.
 */
#ifndef PLM_EXPORT_H
#define PLM_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/job.h"

struct plm_out;
struct plm_record;
struct plm_timeline;

struct plm_export {
    const char *path;              /* of the record */
    struct plm_record *record;
    const struct plm_job *job;     /* NULL unless the format needs it */
    const struct plm_timeline *time; /* NULL unless the format shows it and times are known */
    struct plm_at at;       /* the moment that is shown, where a format shows one */
    bool calls;             /* stacks are those of Python, where a format shows stacks */
    struct plm_out *out;
};

typedef int plm_export_write(const struct plm_export *export, struct plm_error *error);

enum plm_export_flag {
    PLM_EXPORT_JOB = 1,    /* needs the job */
    PLM_EXPORT_MOMENT = 2, /* shows one moment: --at has a meaning */
    PLM_EXPORT_BINARY = 4, /* not for a terminal */
    PLM_EXPORT_TIME = 8,   /* shows a step in time: --gpu has a meaning */
    PLM_EXPORT_STACKS = 16, /* shows stacks: --by has a meaning */
};

struct plm_export_format {
    const char *name;      /* "csv" for --csv */
    plm_export_write *write;
    const char *extension;
    unsigned flags;
    int at;                /* the kind of moment without --at */
    const char *summary;
};

extern const struct plm_export_format plm_export_formats[];
extern const size_t plm_export_format_count;

/* The moment of a lane that `export` asks for. False: there is none, because the lane has no events or no such step. */
bool plm_export_at(const struct plm_export *export, const struct plm_lane *lane, uint32_t *moment);
/* What distinguishes a lane of the job: "rank 0 device 1". Returns buffer. */
const char *plm_export_lane_name(const struct plm_lane *lane, char *buffer, size_t size);

plm_export_write plm_export_csv, plm_export_jsonl, plm_export_snapshot, plm_export_perfetto, plm_export_speedscope,
    plm_export_folded;

#endif
