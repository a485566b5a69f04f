/*
 * One event of a torch.profiler trace: what the trace's reader wants to know of it, whatever the order of its keys.
 *
 * plm_trace_event_read() fills an event of the caller's, which serves for all; one thread at a time. Refused with a
 * sentence that names the file and the event (PLM_EFORMAT): a key that torch.profiler writes with another type, or a
 * number out of range. Of equal keys the last counts.
 */
#ifndef PLM_TRACE_EVENT_H
#define PLM_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/trace/trace.h"

struct plm_error;
struct plm_json_reader;
struct plm_json_value;

enum { PLM_TRACE_NAME = 256 }; /* bytes kept of a name, with its end */

enum plm_trace_category {
    PLM_TRACE_OTHER,
    PLM_TRACE_OP,
    PLM_TRACE_PYTHON,
    PLM_TRACE_INSTANT,
    PLM_TRACE_ANNOTATION,
    PLM_TRACE_GPU, /* only GPUs have such events */
};

/* Which of the numbers an event had. */
enum plm_trace_has {
    PLM_HAS_START = 1,
    PLM_HAS_DURATION = 2,
    PLM_HAS_PYTHON_ID = 4,
    PLM_HAS_PARENT_ID = 8,
    PLM_HAS_SEQUENCE = 16,
    PLM_HAS_BYTES = 32,
    PLM_HAS_ADDRESS = 64,
    PLM_HAS_DEVICE_TYPE = 128,
    PLM_HAS_INPUTS = 256, /* Concrete Inputs or Input Dims */
};

struct plm_trace_event {
    size_t number; /* the caller's, for sentences */
    enum plm_trace_category category;
    char phase;  /* 'X', 'i', ... */
    unsigned has;
    int64_t start, duration; /* nanoseconds */
    uint64_t process, thread; /* hashes of pid and tid */
    int64_t python_id, parent_id, sequence, bytes, address, device_type;
    bool zero_grad;     /* the name is that of a Python function zero_grad */
    bool cross_entropy; /* likewise */
    struct plm_trace_to to;
    char name[PLM_TRACE_NAME]; /* its beginning */
};

/* The object that was just entered. */
int plm_trace_event_read(struct plm_json_reader *reader, const char *file, struct plm_trace_event *event,
                         struct plm_error *error);

/* Decimal microseconds as whole nanoseconds; what is finer is cut off. False if it is not a number in range. */
bool plm_trace_nanoseconds(const char *text, int64_t *out);

#endif
