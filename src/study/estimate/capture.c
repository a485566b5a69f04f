#include "study/estimate/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/error.h"
#include "common/input.h"
#include "base/json_read.h"
#include "study/estimate/description.h"
#include "record/format.h"

enum kind { UNKNOWN, RECORD, TRACE, DESCRIPTION };

/* ---- which of them it is ---- */

enum { MAGIC = sizeof PLM_RECORD_MAGIC - 1 };

static int start_read(const char *path, char start[MAGIC], struct plm_error *error)
{
    int file = plm_input_open(path, NULL, error);
    ssize_t got;
    if (file < 0)
        return file;
    memset(start, 0, MAGIC);
    got = read(file, start, MAGIC);
    if (got < 0)
        plm_fail(error, PLM_EREAD, "cannot read %.300s: %s", path, strerror(errno));
    close(file);
    return got < 0 ? PLM_EREAD : 0;
}

/* By the first key that decides; what stands before it is passed over. */
static int kind_of_object(struct plm_json_reader *reader, enum kind *kind, struct plm_error *error)
{
    struct plm_json_value value;
    int status = 0;
    while (status == 0 && *kind == UNKNOWN) {
        status = plm_json_next(reader, &value, error);
        if (status || value.token != PLM_JSON_KEY)
            break;
        if (!strcmp(value.text, "traceEvents")) {
            *kind = TRACE;
        } else if (!strcmp(value.text, "schema")) {
            status = plm_json_next(reader, &value, error);
            if (status == 0 && value.token == PLM_JSON_STRING && !strncmp(value.text, "plimsoll.description/", 21))
                *kind = DESCRIPTION;
            if (status == 0 && value.token != PLM_JSON_STRING)
                break;
        } else
            status = plm_json_skip(reader, error);
    }
    return status;
}

static int kind_of(const char *path, enum kind *kind, struct plm_error *error)
{
    struct plm_json_reader *reader;
    struct plm_json_value value;
    char start[MAGIC];
    int status = start_read(path, start, error);
    *kind = status == 0 && !memcmp(start, PLM_RECORD_MAGIC, MAGIC) ? RECORD : UNKNOWN;
    if (status || *kind == RECORD)
        return status;
    if (start[0] == '\x80')
        return plm_input_foreign(path, start, MAGIC, "a job record, a profiler trace or a description", error);
    status = plm_json_open(path, &reader, error);
    if (status)
        return status;
    plm_json_tolerate(reader);
    status = plm_json_next(reader, &value, error);
    if (status == 0 && value.token == PLM_JSON_ARRAY)
        *kind = TRACE; /* events alone; the reader of traces has the last word */
    else if (status == 0 && value.token == PLM_JSON_OBJECT)
        status = kind_of_object(reader, kind, error);
    plm_json_close(reader);
    if ((status == PLM_EFORMAT || *kind == UNKNOWN) && plm_input_is_program(path))
        return plm_fail(error, PLM_EFORMAT, "%.200s is a program: `plimsoll estimate -- python %.200s` runs it", path,
                        path);
    if (status == PLM_EFORMAT || (status == 0 && *kind == UNKNOWN))
        return plm_fail(error, PLM_EFORMAT, "%.300s is neither a job record nor a profiler trace nor a description",
                        path);
    return status;
}

/* ---- reading ---- */

static int only_one(const char **slot, const char *path, const char *what, struct plm_error *error)
{
    if (*slot)
        return plm_fail(error, PLM_EINVAL, "%.200s and %.200s are both %s: give one of each kind, of one job", *slot,
                        path, what);
    *slot = path;
    return 0;
}

static int read_one(struct plm_captured *c, const char *path, struct plm_error *error)
{
    enum kind kind;
    int status = kind_of(path, &kind, error);
    if (status)
        return status;
    switch (kind) {
    case RECORD:
        status = only_one(&c->job_path, path, "job records", error);
        return status ? status : plm_job_read(path, &c->job, error);
    case TRACE:
        status = only_one(&c->trace_path, path, "traces", error);
        if (status == 0)
            status = plm_trace_read(path, &c->trace, error);
        if (status)
            c->trace = (struct plm_trace){0};
        return status;
    default:
        status = only_one(&c->description_path, path, "descriptions", error);
        return status ? status : plm_description_read(path, &c->description, error);
    }
}

/* The description inside the trace says how long that capture took. */
static int look_into_trace(struct plm_captured *c, struct plm_error *error)
{
    struct plm_description *inside = NULL;
    int status;
    if (!c->trace_path || !c->trace.description)
        return 0;
    status = plm_description_parse(c->trace_path, c->trace.description, c->trace.description_size, &inside, error);
    if (status)
        return status;
    c->evidence.trace_seconds = inside->seconds;
    if (c->description)
        plm_description_free(inside);
    else
        c->description = inside;
    return 0;
}

int plm_captured_read(const char *const *paths, int count, struct plm_captured *c, struct plm_error *error)
{
    int status = 0;
    *c = (struct plm_captured){0};
    for (int i = 0; i < count && status == 0; i++)
        status = read_one(c, paths[i], error);
    if (status == 0)
        status = look_into_trace(c, error);
    if (status)
        return status;
    c->evidence.job = c->job;
    c->evidence.trace = c->trace_path ? &c->trace : NULL;
    c->evidence.description = c->description;
    c->evidence.job_seconds = c->job ? plm_summary_seconds(&c->job->summary) : 0;
    c->evidence.description_seconds = c->description_path ? c->description->seconds : 0;
    return 0;
}

void plm_captured_free(struct plm_captured *c)
{
    plm_job_free(c->job);
    if (c->trace_path)
        plm_trace_free(&c->trace);
    plm_description_free(c->description);
    *c = (struct plm_captured){0};
}
