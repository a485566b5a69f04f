#include "shim/cuda/driver.h"

/* Stream capture. */

enum { MODES = 3 };

PLM_API int cuStreamBeginCapture_v2(struct plm_stream *stream, int mode)
{
    if (mode < 0 || mode >= MODES)
        return PLM_CU_INVALID_VALUE;
    return plm_cu_from_stream(plm_capture_begin(stream, (enum plm_capture_mode)mode));
}

/* Before CUDA 10.1 there was one mode. */
PLM_API int cuStreamBeginCapture(struct plm_stream *stream)
{
    return cuStreamBeginCapture_v2(stream, PLM_CAPTURE_GLOBAL);
}

PLM_API int cuStreamBeginCaptureToGraph(struct plm_stream *stream, struct plm_graph *graph, const void *dependencies,
                                        const void *edges, size_t count, int mode)
{
    (void)dependencies, (void)edges, (void)count;
    if (!graph || mode < 0 || mode >= MODES)
        return PLM_CU_INVALID_VALUE;
    return plm_cu_from_stream(plm_capture_begin_to_graph(stream, graph, (enum plm_capture_mode)mode));
}

PLM_API int cuStreamEndCapture(struct plm_stream *stream, struct plm_graph **out)
{
    return out ? plm_cu_from_stream(plm_capture_end(stream, out)) : PLM_CU_INVALID_VALUE;
}

struct info {
    enum plm_capture_status status;
    uint64_t id;
    struct plm_graph *graph;
    struct plm_graph_node *const *last;
    size_t count;
};

static int ask(struct plm_stream *stream, struct info *info)
{
    *info = (struct info){.status = PLM_CAPTURE_NONE};
    return plm_cu_from_stream(
        plm_capture_info(stream, &info->status, &info->id, &info->graph, &info->last, &info->count));
}

PLM_API int cuStreamIsCapturing(struct plm_stream *stream, int *capturing)
{
    struct info info;
    int status;
    if (!capturing)
        return PLM_CU_INVALID_VALUE;
    status = ask(stream, &info);
    *capturing = (int)info.status;
    return status;
}

PLM_API int cuStreamGetCaptureInfo(struct plm_stream *stream, int *capturing, uint64_t *id)
{
    struct info info;
    int status;
    if (!capturing)
        return PLM_CU_INVALID_VALUE;
    status = ask(stream, &info);
    *capturing = (int)info.status;
    if (id)
        *id = info.id;
    return status;
}

PLM_API int cuStreamGetCaptureInfo_v2(struct plm_stream *stream, int *capturing, uint64_t *id, struct plm_graph **graph,
                                      struct plm_graph_node *const **last, size_t *count)
{
    struct info info;
    int status;
    if (!capturing)
        return PLM_CU_INVALID_VALUE;
    status = ask(stream, &info);
    *capturing = (int)info.status;
    if (id)
        *id = info.id;
    if (graph)
        *graph = info.graph;
    if (last)
        *last = info.last;
    if (count)
        *count = info.count;
    return status;
}

/* Edges carry no data here. */
PLM_API int cuStreamGetCaptureInfo_v3(struct plm_stream *stream, int *capturing, uint64_t *id, struct plm_graph **graph,
                                      struct plm_graph_node *const **last, const void **edges, size_t *count)
{
    if (edges)
        *edges = NULL;
    return cuStreamGetCaptureInfo_v2(stream, capturing, id, graph, last, count);
}

PLM_API int cuThreadExchangeStreamCaptureMode(int *mode)
{
    if (!mode || *mode < 0 || *mode >= MODES)
        return PLM_CU_INVALID_VALUE;
    *mode = (int)plm_capture_exchange_mode((enum plm_capture_mode) * mode);
    return 0;
}
