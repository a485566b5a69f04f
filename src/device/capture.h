/*
 * Stream capture, as stream.c and graph.c share it. Not for the shims.
 *
 * A capture is one object that every stream taking part points to. All functions take streams that
 * plm_stream_resolve() returned, and enum plm_stream_status codes come back.
 */
#ifndef PLM_CAPTURE_H
#define PLM_CAPTURE_H

#include "device/stream.h"

struct plm_capture_state;

struct plm_stream {
    unsigned flags;
    int priority, device;
    uint64_t id;
    struct plm_capture_state *capture;
    bool collective; /* of a capture: the last node is one */
};

struct plm_stream *plm_stream_resolve(struct plm_stream *stream);
bool plm_stream_is_legacy(const struct plm_stream *stream);

/* Something is enqueued: a node while the stream captures, else *run is true. */
int plm_capture_node(struct plm_stream *stream, enum plm_node_type type, bool *run);
int plm_capture_refuse_sync(struct plm_stream *stream);
/* An event is recorded on the stream: the number of the capture it belongs to; 0 if none. *collective: right behind one. */
uint64_t plm_capture_mark(struct plm_stream *stream, bool *collective);
/* The stream waits for an event of that capture: it joins it. */
int plm_capture_fork(struct plm_stream *stream, uint64_t id);
int plm_capture_refuse_event(uint64_t id);
void plm_capture_forget(struct plm_stream *stream);

/* graph.c */
void plm_graph_count(struct plm_graph *graph, enum plm_node_type type);

#endif
