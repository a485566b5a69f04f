/* The driver: streams, capture, events. */
#include "cuda.h"

/* ---- streams ---- */

SNIPPET(cuStreamCreate)
{
    void *s = NULL;
    cu_context();
    CHECK(CU(cuStreamCreate, (void **, unsigned), (&s, 0)) == 0 && s);
    CHECK(CU(cuStreamCreate, (void **, unsigned), (&s, 99)) == INVALID_VALUE);
}

SNIPPET(cuStreamCreateWithPriority)
{
    void *s = NULL;
    int priority = 0;
    cu_context();
    CHECK(CU(cuStreamCreateWithPriority, (void **, unsigned, int), (&s, 1, -1)) == 0 && s);
    CHECK(CU(cuStreamGetPriority, (void *, int *), (s, &priority)) == 0 && priority == -1);
}

static void check_stream_alone(const char *name)
{
    CHECK(BY(name, (void *), (cu_stream())) == 0);
}
CHECKED(cuStreamDestroy, check_stream_alone)
CHECKED(cuStreamDestroy_v2, check_stream_alone)

static void check_stream_wait(const char *name)
{
    void *s = cu_stream(), *g = NULL;
    CHECK(BY(name, (void *), (s)) == 0 && BY(name, (void *), (NULL)) == 0);
    CHECK(CU(cuStreamBeginCapture_v2, (void *, int), (s, 0)) == 0);
    CHECK(BY(name, (void *), (s)) == 900);
    CHECK(CU(cuStreamEndCapture, (void *, void **), (s, &g)) == 901);
}
CHECKED(cuStreamSynchronize, check_stream_wait)
CHECKED(cuStreamSynchronize_ptsz, check_stream_wait)
CHECKED(cuStreamQuery, check_stream_wait)
CHECKED(cuStreamQuery_ptsz, check_stream_wait)

static void check_stream_flags(const char *name)
{
    unsigned flags = 99;
    CHECK(BY(name, (void *, unsigned *), (cu_stream(), &flags)) == 0 && flags == 1);
}
CHECKED(cuStreamGetFlags, check_stream_flags)
CHECKED(cuStreamGetFlags_ptsz, check_stream_flags)

static void check_stream_priority(const char *name)
{
    int priority = 99;
    CHECK(BY(name, (void *, int *), (cu_stream(), &priority)) == 0 && priority == 0);
}
CHECKED(cuStreamGetPriority, check_stream_priority)
CHECKED(cuStreamGetPriority_ptsz, check_stream_priority)
CHECKED(cuStreamGetDevice, check_stream_priority)
CHECKED(cuStreamGetDevice_ptsz, check_stream_priority)

static void check_stream_id(const char *name)
{
    uint64_t one = 0, two = 0;
    CHECK(BY(name, (void *, uint64_t *), (cu_stream(), &one)) == 0);
    CHECK(BY(name, (void *, uint64_t *), (cu_stream(), &two)) == 0);
    CHECK(one && two && one != two);
}
CHECKED(cuStreamGetId, check_stream_id)
CHECKED(cuStreamGetId_ptsz, check_stream_id)

static void check_stream_context(const char *name)
{
    void *c = NULL, *green = &c;
    CHECK(BY(name, (void *, void **, void **), (cu_stream(), &c, &green)) == 0 && c == cu_context());
    CHECK(!strstr(name, "_v2") || !green);
}
CHECKED(cuStreamGetCtx, check_stream_context)
CHECKED(cuStreamGetCtx_ptsz, check_stream_context)
CHECKED(cuStreamGetCtx_v2, check_stream_context)
CHECKED(cuStreamGetCtx_v2_ptsz, check_stream_context)

static void check_wait_event(const char *name)
{
    void *s = cu_stream(), *e = cu_event();
    CHECK(CU(cuEventRecord, (void *, void *), (e, NULL)) == 0);
    CHECK(BY(name, (void *, void *, unsigned), (s, e, 0)) == 0);
    CHECK(BY(name, (void *, void *, unsigned), (s, NULL, 0)) == INVALID_HANDLE);
}
CHECKED(cuStreamWaitEvent, check_wait_event)
CHECKED(cuStreamWaitEvent_ptsz, check_wait_event)

static void called_back(void *s, int status, void *data)
{
    (void)s;
    *(int *)data += status == 0;
}

static void check_callback(const char *name)
{
    int calls = 0;
    CHECK(BY(name, (void *, void (*)(void *, int, void *), void *, unsigned), (cu_stream(), called_back, &calls, 0)) ==
          0);
    CHECK(calls == 1);
}
CHECKED(cuStreamAddCallback, check_callback)
CHECKED(cuStreamAddCallback_ptsz, check_callback)

static void check_stream_attribute(const char *name)
{
    int value[16];
    memset(value, 0xff, sizeof value);
    CHECK(BY(name, (void *, int, void *), (cu_stream(), 3, value)) == 0 && value[0] == 1 && value[15] == 0);
}
CHECKED(cuStreamGetAttribute, check_stream_attribute)
CHECKED(cuStreamGetAttribute_ptsz, check_stream_attribute)

static void check_write_value(const char *name)
{
    address at = cu_alloc(4096);
    void *s = cu_stream();
    if (strstr(name, "64")) {
        CHECK(BY(name, (void *, address, uint64_t, unsigned), (s, at, 0x0807060504030201ull, 0)) == 0);
        cu_expect(at, "\1\2\3\4\5\6\7\10", 8);
    } else {
        CHECK(BY(name, (void *, address, uint32_t, unsigned), (s, at, 0x04030201, 0)) == 0);
        cu_expect(at, "\1\2\3\4\0\0\0\0", 8);
    }
    CHECK(BY(name, (void *, address, uint32_t, unsigned), (s, 64, 1, 0)) == INVALID_VALUE);
}
CHECKED(cuStreamWriteValue32, check_write_value)
CHECKED(cuStreamWriteValue32_v2, check_write_value)
CHECKED(cuStreamWriteValue32_ptsz, check_write_value)
CHECKED(cuStreamWriteValue32_v2_ptsz, check_write_value)
CHECKED(cuStreamWriteValue64, check_write_value)
CHECKED(cuStreamWriteValue64_v2, check_write_value)
CHECKED(cuStreamWriteValue64_ptsz, check_write_value)
CHECKED(cuStreamWriteValue64_v2_ptsz, check_write_value)

/* ---- capture ---- */

/* One kernel is captured; the graph must have one node. */
static void capture_one(void *s)
{
    void *g = NULL, *f = cu_kernel();
    size_t count = 99;
    int capturing = 9;
    CHECK(CU(cuLaunchKernel,
             (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
             (f, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL)) == 0);
    CHECK(CU(cuStreamIsCapturing, (void *, int *), (s, &capturing)) == 0 && capturing == 1);
    CHECK(CU(cuStreamEndCapture, (void *, void **), (s, &g)) == 0 && g);
    CHECK(CU(cuGraphGetNodes, (void *, void **, size_t *), (g, NULL, &count)) == 0 && count == 1);
    CHECK(CU(cuStreamIsCapturing, (void *, int *), (s, &capturing)) == 0 && capturing == 0);
}

static void check_begin(const char *name)
{
    void *s = cu_stream();
    CHECK(BY(name, (void *, int), (s, 2)) == 0);
    capture_one(s);
    CHECK(BY(name, (void *, int), ((void *)1, 2)) == 900); /* the legacy stream cannot capture */
}
CHECKED(cuStreamBeginCapture, check_begin)
CHECKED(cuStreamBeginCapture_ptsz, check_begin)
CHECKED(cuStreamBeginCapture_v2, check_begin)
CHECKED(cuStreamBeginCapture_v2_ptsz, check_begin)

static void check_begin_to_graph(const char *name)
{
    void *s = cu_stream(), *g = cu_graph(), *same = NULL;
    CHECK(BY(name, (void *, void *, void *, void *, size_t, int), (s, g, NULL, NULL, 0, 2)) == 0);
    CHECK(CU(cuStreamEndCapture, (void *, void **), (s, &same)) == 0 && same == g);
}
CHECKED(cuStreamBeginCaptureToGraph, check_begin_to_graph)
CHECKED(cuStreamBeginCaptureToGraph_ptsz, check_begin_to_graph)

static void check_end(const char *name)
{
    void *s = cu_stream(), *g = NULL;
    CHECK(CU(cuStreamBeginCapture_v2, (void *, int), (s, 2)) == 0);
    CHECK(BY(name, (void *, void **), (s, &g)) == 0 && g);
    CHECK(BY(name, (void *, void **), (s, &g)) == 401);
}
CHECKED(cuStreamEndCapture, check_end)
CHECKED(cuStreamEndCapture_ptsz, check_end)

/* All editions begin with status and id; the later ones add the graph and what it ends in. */
static void check_info(const char *name)
{
    void *s = cu_stream(), *g = NULL, *now = NULL, *last = NULL;
    const void *edges = &now;
    uint64_t id = 99;
    size_t count = 99;
    int status = 9, third = strstr(name, "_v3") != NULL, second = third || strstr(name, "_v2");
    CHECK(BY(name, (void *, int *, uint64_t *, void **, void **, void *, void *),
             (s, &status, &id, &now, &last, third ? (void *)&edges : (void *)&count, &count)) == 0);
    CHECK(status == 0);
    CHECK(CU(cuStreamBeginCapture_v2, (void *, int), (s, 2)) == 0);
    CHECK(BY(name, (void *, int *, uint64_t *, void **, void **, void *, void *),
             (s, &status, &id, &now, &last, third ? (void *)&edges : (void *)&count, &count)) == 0);
    CHECK(status == 1 && id);
    CHECK(CU(cuStreamEndCapture, (void *, void **), (s, &g)) == 0);
    CHECK(!second || (now == g && count != 99));
    CHECK(!third || !edges);
}
CHECKED(cuStreamGetCaptureInfo, check_info)
CHECKED(cuStreamGetCaptureInfo_ptsz, check_info)
CHECKED(cuStreamGetCaptureInfo_v2, check_info)
CHECKED(cuStreamGetCaptureInfo_v2_ptsz, check_info)
CHECKED(cuStreamGetCaptureInfo_v3, check_info)
CHECKED(cuStreamGetCaptureInfo_v3_ptsz, check_info)

static void check_is_capturing(const char *name)
{
    int capturing = 9;
    CHECK(BY(name, (void *, int *), (cu_stream(), &capturing)) == 0 && capturing == 0);
}
CHECKED(cuStreamIsCapturing, check_is_capturing)
CHECKED(cuStreamIsCapturing_ptsz, check_is_capturing)

SNIPPET(cuThreadExchangeStreamCaptureMode)
{
    int mode = 2;
    CHECK(CU(cuThreadExchangeStreamCaptureMode, (int *), (&mode)) == 0 && mode == 0);
    CHECK(CU(cuThreadExchangeStreamCaptureMode, (int *), (&mode)) == 0 && mode == 2);
    mode = 7;
    CHECK(CU(cuThreadExchangeStreamCaptureMode, (int *), (&mode)) == INVALID_VALUE);
}

/* ---- events ---- */

SNIPPET(cuEventCreate)
{
    void *e = NULL;
    cu_context();
    CHECK(CU(cuEventCreate, (void **, unsigned), (&e, 2)) == 0 && e);
}

static void check_event_alone(const char *name)
{
    CHECK(BY(name, (void *), (cu_event())) == 0);
    CHECK(BY(name, (void *), (NULL)) == INVALID_HANDLE);
}
CHECKED(cuEventDestroy, check_event_alone)
CHECKED(cuEventDestroy_v2, check_event_alone)
CHECKED(cuEventQuery, check_event_alone)
CHECKED(cuEventSynchronize, check_event_alone)

static void check_record(const char *name)
{
    CHECK(BY(name, (void *, void *, unsigned), (cu_event(), cu_stream(), 0)) == 0);
    CHECK(BY(name, (void *, void *, unsigned), (cu_event(), NULL, 0)) == 0);
    CHECK(BY(name, (void *, void *, unsigned), (NULL, NULL, 0)) == INVALID_HANDLE);
}
CHECKED(cuEventRecord, check_record)
CHECKED(cuEventRecord_ptsz, check_record)
CHECKED(cuEventRecordWithFlags, check_record)
CHECKED(cuEventRecordWithFlags_ptsz, check_record)

static void check_elapsed(const char *name)
{
    void *start = cu_event(), *end = cu_event();
    float ms = -1;
    CHECK(BY(name, (float *, void *, void *), (&ms, start, end)) == INVALID_HANDLE);
    CHECK(CU(cuEventRecord, (void *, void *), (start, NULL)) == 0);
    CHECK(CU(cuEventRecord, (void *, void *), (end, NULL)) == 0);
    CHECK(BY(name, (float *, void *, void *), (&ms, start, end)) == 0 && ms > 0);
}
CHECKED(cuEventElapsedTime, check_elapsed)
CHECKED(cuEventElapsedTime_v2, check_elapsed)
