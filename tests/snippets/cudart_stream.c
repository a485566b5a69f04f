/* The runtime: streams and events. */
#include "cudart.h"

static void check_created(void *stream, unsigned flags, int priority)
{
    unsigned have_flags = 99;
    int have_priority = 99;
    CHECK(stream != NULL);
    CHECK(RT(cudaStreamGetFlags, (void *, unsigned *), (stream, &have_flags)) == 0 && have_flags == flags);
    CHECK(RT(cudaStreamGetPriority, (void *, int *), (stream, &have_priority)) == 0 && have_priority == priority);
    rt_stream_destroy(stream);
}

SNIPPET(cudaStreamCreate)
{
    void *stream = NULL;
    CHECK(RT(cudaStreamCreate, (void **), (&stream)) == 0);
    check_created(stream, 0, 0);
    CHECK(RT(cudaStreamCreate, (void **), (NULL)) != 0);
}

SNIPPET(cudaStreamCreateWithFlags)
{
    void *stream = NULL;
    CHECK(RT(cudaStreamCreateWithFlags, (void **, unsigned), (&stream, 1)) == 0);
    check_created(stream, 1, 0);
}

SNIPPET(cudaStreamCreateWithPriority)
{
    void *stream = NULL;
    CHECK(RT(cudaStreamCreateWithPriority, (void **, unsigned, int), (&stream, 1, -3)) == 0);
    check_created(stream, 1, -3);
}

SNIPPET(cudaStreamDestroy)
{
    rt_stream_destroy(rt_stream());
    CHECK(RT(cudaStreamDestroy, (void *), (NULL)) == INVALID_HANDLE);
}

SNIPPET(cudaStreamGetFlags)
{
    unsigned flags = 99;
    CHECK(RT(cudaStreamGetFlags, (void *, unsigned *), (NULL, &flags)) == 0 && flags == 0);
    CHECK(RT(cudaStreamGetFlags, (void *, unsigned *), (NULL, NULL)) == INVALID_VALUE);
}

SNIPPET(cudaStreamGetPriority)
{
    int priority = 99;
    CHECK(RT(cudaStreamGetPriority, (void *, int *), (NULL, &priority)) == 0 && priority == 0);
    CHECK(RT(cudaStreamGetPriority, (void *, int *), (NULL, NULL)) == INVALID_VALUE);
}

SNIPPET(cudaStreamGetDevice)
{
    int device = -1, last = snippet_gpus() - 1;
    void *stream;
    RT(cudaSetDevice, (int), (last));
    stream = rt_stream();
    RT(cudaSetDevice, (int), (0));
    CHECK(RT(cudaStreamGetDevice, (void *, int *), (stream, &device)) == 0 && device == last);
    CHECK(RT(cudaStreamGetDevice, (void *, int *), (NULL, &device)) == 0 && device == 0);
    rt_stream_destroy(stream);
}

SNIPPET(cudaStreamGetId)
{
    void *one = rt_stream(), *two = rt_stream();
    unsigned long long first = 0, second = 0;
    CHECK(RT(cudaStreamGetId, (void *, unsigned long long *), (one, &first)) == 0 && first);
    CHECK(RT(cudaStreamGetId, (void *, unsigned long long *), (two, &second)) == 0 && second != first);
    CHECK(RT(cudaStreamGetId, (void *, unsigned long long *), (two, NULL)) == INVALID_VALUE);
    rt_stream_destroy(one);
    rt_stream_destroy(two);
}

SNIPPET(cudaStreamGetAttribute)
{
    unsigned char value[96];
    memset(value, 0xa5, sizeof value);
    CHECK(RT(cudaStreamGetAttribute, (void *, int, void *), (NULL, 1, value)) == 0);
    for (size_t i = 0; i < sizeof value; i++)
        CHECK(value[i] == (i < 64 ? 0 : 0xa5));
    CHECK(RT(cudaStreamGetAttribute, (void *, int, void *), (NULL, 1, NULL)) == INVALID_VALUE);
}

SNIPPET(cudaStreamSynchronize)
{
    void *stream = rt_stream();
    CHECK(RT(cudaStreamSynchronize, (void *), (NULL)) == 0);
    CHECK(RT(cudaStreamSynchronize, (void *), (stream)) == 0);
    rt_stream_destroy(stream);
}

SNIPPET(cudaStreamQuery)
{
    CHECK(RT(cudaStreamQuery, (void *), (NULL)) == 0); /* always done */
}

static void called(void *stream, int status, void *data)
{
    (void)stream;
    *(int *)data = status == 0 ? 7 : -1;
}

SNIPPET(cudaStreamAddCallback)
{
    int seen = 0;
    CHECK(RT(cudaStreamAddCallback, (void *, void (*)(void *, int, void *), void *, unsigned),
             (NULL, called, &seen, 0)) == 0);
    CHECK(seen == 7);
    CHECK(RT(cudaStreamAddCallback, (void *, void *, void *, unsigned), (NULL, NULL, &seen, 0)) == INVALID_VALUE);
}

/* ---- events ---- */

static void *event(unsigned flags)
{
    void *e = NULL;
    CHECK(RT(cudaEventCreateWithFlags, (void **, unsigned), (&e, flags)) == 0 && e);
    return e;
}

static void drop(void *e)
{
    CHECK(RT(cudaEventDestroy, (void *), (e)) == 0);
}

SNIPPET(cudaStreamWaitEvent)
{
    void *stream = rt_stream(), *e = event(0);
    CHECK(RT(cudaEventRecord, (void *, void *), (e, NULL)) == 0);
    CHECK(RT(cudaStreamWaitEvent, (void *, void *, unsigned), (stream, e, 0)) == 0);
    CHECK(RT(cudaStreamWaitEvent, (void *, void *, unsigned), (stream, NULL, 0)) == INVALID_HANDLE);
    drop(e);
    rt_stream_destroy(stream);
}

SNIPPET(cudaEventCreate)
{
    void *e = NULL;
    CHECK(RT(cudaEventCreate, (void **), (&e)) == 0 && e);
    drop(e);
    CHECK(RT(cudaEventCreate, (void **), (NULL)) != 0);
}

SNIPPET(cudaEventCreateWithFlags)
{
    drop(event(2));
}

SNIPPET(cudaEventDestroy)
{
    drop(event(0));
    CHECK(RT(cudaEventDestroy, (void *), (NULL)) == INVALID_HANDLE);
}

SNIPPET(cudaEventRecord)
{
    void *e = event(0);
    CHECK(RT(cudaEventRecord, (void *, void *), (e, NULL)) == 0);
    CHECK(RT(cudaEventRecord, (void *, void *), (NULL, NULL)) == INVALID_HANDLE);
    drop(e);
}

SNIPPET(cudaEventRecordWithFlags)
{
    void *e = event(0);
    CHECK(RT(cudaEventRecordWithFlags, (void *, void *, unsigned), (e, NULL, 0)) == 0);
    drop(e);
}

SNIPPET(cudaEventQuery)
{
    void *e = event(0);
    CHECK(RT(cudaEventQuery, (void *), (e)) == 0);
    CHECK(RT(cudaEventQuery, (void *), (NULL)) == INVALID_HANDLE);
    drop(e);
}

SNIPPET(cudaEventSynchronize)
{
    void *e = event(0);
    CHECK(RT(cudaEventSynchronize, (void *), (e)) == 0);
    CHECK(RT(cudaEventSynchronize, (void *), (NULL)) == INVALID_HANDLE);
    drop(e);
}

static void check_elapsed(const char *name)
{
    void *start = event(0), *end = event(0), *untimed = event(2), *never = event(0);
    float ms = -1;
    CHECK(RT(cudaEventRecord, (void *, void *), (start, NULL)) == 0);
    CHECK(rt_launch(NULL) == 0 && rt_launch(NULL) == 0);
    CHECK(RT(cudaEventRecord, (void *, void *), (end, NULL)) == 0);
    CHECK(RT(cudaEventRecord, (void *, void *), (untimed, NULL)) == 0);
    CHECK(BY(name, (float *, void *, void *), (&ms, start, end)) == 0 && ms > 0.0099f && ms < 0.0101f);
    CHECK(BY(name, (float *, void *, void *), (&ms, start, start)) == 0 && ms > 0);
    CHECK(BY(name, (float *, void *, void *), (&ms, end, start)) == 0 && ms < 1); /* the wrong way round */
    CHECK(BY(name, (float *, void *, void *), (&ms, start, untimed)) == INVALID_HANDLE);
    CHECK(BY(name, (float *, void *, void *), (&ms, start, never)) == INVALID_HANDLE);
    drop(start);
    drop(end);
    drop(untimed);
    drop(never);
}

SNIPPET(cudaEventElapsedTime)
{
    check_elapsed("cudaEventElapsedTime");
}

SNIPPET(cudaEventElapsedTime_v2)
{
    check_elapsed("cudaEventElapsedTime_v2");
}
