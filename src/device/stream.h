/*
 * Streams, events and captured graphs of the virtual GPU: one kind of object for the runtime and the
 * driver API, whose handles are interchangeable.
 *
 * Work completes at once, so waiting never waits; what is kept is what a program can observe: flags,
 * priorities, capture state with the errors a real device gives, node counts, a clock that advances
 * with launches. Objects belong to the process and are freed by their destroy function. Any thread.
 * Functions return 0 or an enum plm_stream_status, negative.
 */
#ifndef PLM_STREAM_H
#define PLM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plm_stream_status {
    PLM_STREAM_INVALID = -1,            /* bad handle or argument */
    PLM_STREAM_UNSUPPORTED = -2,        /* cudaErrorStreamCaptureUnsupported: not permitted while capturing */
    PLM_STREAM_INVALIDATED = -3,        /* the capture was invalidated by an earlier error */
    PLM_STREAM_NOT_CAPTURING = -4,      /* cudaErrorIllegalState */
    PLM_STREAM_UNJOINED = -5,           /* cudaErrorStreamCaptureUnjoined */
    PLM_STREAM_WRONG_THREAD = -6,       /* cudaErrorStreamCaptureWrongThread */
    PLM_STREAM_IMPLICIT = -7,           /* cudaErrorStreamCaptureImplicit: legacy stream used while capturing */
    PLM_STREAM_ISOLATION = -8,          /* cudaErrorStreamCaptureIsolation: two captures would merge */
    PLM_STREAM_NOMEM = -9,
};

/* Handles with a meaning of their own, the same in both APIs. */
#define PLM_STREAM_LEGACY     ((struct plm_stream *)1)
#define PLM_STREAM_PER_THREAD ((struct plm_stream *)2)

enum plm_capture_status { PLM_CAPTURE_NONE = 0, PLM_CAPTURE_ACTIVE = 1, PLM_CAPTURE_INVALIDATED = 2 };
enum plm_capture_mode { PLM_CAPTURE_GLOBAL = 0, PLM_CAPTURE_THREAD_LOCAL = 1, PLM_CAPTURE_RELAXED = 2 };

struct plm_stream;
struct plm_event;
struct plm_graph;
struct plm_graph_exec;
struct plm_graph_node;

enum plm_node_type { /* values of cudaGraphNodeType */
                     PLM_NODE_KERNEL = 0,
                     PLM_NODE_MEMCPY = 1,
                     PLM_NODE_MEMSET = 2,
                     PLM_NODE_HOST = 3,
                     PLM_NODE_GRAPH = 4,
                     PLM_NODE_EMPTY = 5,
                     PLM_NODE_WAIT_EVENT = 6,
                     PLM_NODE_EVENT_RECORD = 7,
                     PLM_NODE_MEM_ALLOC = 10,
                     PLM_NODE_MEM_FREE = 11,
                     PLM_NODE_CONDITIONAL = 13,
                     PLM_NODE_COLLECTIVE =
                         64, /* ours, for plm_stream_enqueue(): a kernel that an event may be asked about */
};

/* ---- streams; NULL, PLM_STREAM_LEGACY and PLM_STREAM_PER_THREAD are accepted everywhere ---- */
int plm_stream_create(unsigned flags, int priority, struct plm_stream **out);
int plm_stream_destroy(struct plm_stream *stream);
int plm_stream_flags(struct plm_stream *stream, unsigned *flags);
int plm_stream_priority(struct plm_stream *stream, int *priority);
int plm_stream_device(struct plm_stream *stream, int *device);
int plm_stream_id(struct plm_stream *stream, uint64_t *id);
/* A small number for the record: 0 the legacy default stream, 1 a thread's own default stream, then those that were
   made, in order. */
uint32_t plm_stream_number(struct plm_stream *stream);
int plm_stream_wait(struct plm_stream *stream, struct plm_event *event); /* may fork a capture */
int plm_stream_synchronize(struct plm_stream *stream);                   /* fails on a capturing stream */
int plm_stream_query(struct plm_stream *stream);
/* Something is enqueued. While the stream captures, it becomes a node of that type and must not happen:
   *run is false then. */
int plm_stream_enqueue(struct plm_stream *stream, enum plm_node_type type, bool *run);
/* The same for library routines that would launch a kernel and have nothing to do here. */
int plm_stream_work(struct plm_stream *stream);

/* For calls that synchronize or allocate (cudaMalloc, cudaDeviceSynchronize, ...): fails with
   PLM_STREAM_UNSUPPORTED, and invalidates, if a capture in a mode that forbids it is under way. */
int plm_capture_unsafe_call(void);

/* ---- capture ---- */
int plm_capture_begin(struct plm_stream *stream, enum plm_capture_mode mode);
int plm_capture_begin_to_graph(struct plm_stream *stream, struct plm_graph *graph, enum plm_capture_mode mode);
int plm_capture_end(struct plm_stream *stream, struct plm_graph **out);
int plm_capture_info(struct plm_stream *stream, enum plm_capture_status *status, uint64_t *id, struct plm_graph **graph,
                     struct plm_graph_node *const **last_nodes, size_t *last_count);
/* The number of the graph that the stream captures into; 0 if it does not capture. */
uint32_t plm_capture_graph(struct plm_stream *stream);
enum plm_capture_mode plm_capture_exchange_mode(enum plm_capture_mode mode); /* of the calling thread */

/* ---- events ---- */
int plm_event_create(unsigned flags, struct plm_event **out);
int plm_event_destroy(struct plm_event *event);
unsigned plm_event_flags(const struct plm_event *event);
int plm_event_record(struct plm_event *event, struct plm_stream *stream);
int plm_event_query(struct plm_event *event);
int plm_event_synchronize(struct plm_event *event);
/* Deterministic: 5 us a launch between the two, at least 1 us. Fails unless both were recorded and time. */
int plm_event_elapsed(struct plm_event *start, struct plm_event *end, float *milliseconds);

/* ---- graphs: nodes are counted and typed, never executed ---- */
int plm_graph_create(struct plm_graph **out);
int plm_graph_clone(struct plm_graph *graph, struct plm_graph **out);
int plm_graph_destroy(struct plm_graph *graph);
uint32_t plm_graph_number(const struct plm_graph *graph); /* unique in the process, from 1 */
int plm_graph_add(struct plm_graph *graph, enum plm_node_type type, struct plm_graph_node **out);
/* nodes == NULL asks for the count; otherwise *count is capacity in, number written out. */
int plm_graph_nodes(struct plm_graph *graph, struct plm_graph_node **nodes, size_t *count);
int plm_graph_node_type(struct plm_graph_node *node, enum plm_node_type *type);
int plm_graph_instantiate(struct plm_graph *graph, struct plm_graph_exec **out);
int plm_graph_exec_destroy(struct plm_graph_exec *exec);
int plm_graph_launch(struct plm_graph_exec *exec, struct plm_stream *stream); /* counts its kernel nodes as launches */

#endif
