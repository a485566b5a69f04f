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

struct plm_error;
struct plm_job;
struct plm_lane;
struct plm_out;
struct plm_record;

/* The moment that is shown, where a format shows one. */
enum plm_export_moment { PLM_AT_PEAK, PLM_AT_END, PLM_AT_STEP };

struct plm_export {
    const char *path;              /* of the record */
    struct plm_record *record;
    const struct plm_job *job;     /* NULL unless the format needs it */
    enum plm_export_moment at;
    uint32_t step;                 /* from 1, with PLM_AT_STEP: the peak of that step */
    struct plm_out *out;
};

typedef int plm_export_write(const struct plm_export *export, struct plm_error *error);

struct plm_export_format {
    const char *name;              /* "csv" for --csv */
    plm_export_write *write;
    const char *extension;
    const char *summary;
    bool binary;                   /* not for a terminal */
    bool needs_job;
    bool has_moment;               /* --at has a meaning */
    enum plm_export_moment at;     /* without --at */
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
