/* The runtime: errors, versions, devices. */
#include "cudart.h"

#include <stdio.h>

void *rt_malloc(size_t bytes)
{
    void *at = NULL;
    CHECK(RT(cudaMalloc, (void **, size_t), (&at, bytes)) == 0 && at);
    return at;
}

void rt_free(void *pointer)
{
    CHECK(RT(cudaFree, (void *), (pointer)) == 0);
}

void *rt_stream(void)
{
    void *stream = NULL;
    CHECK(RT(cudaStreamCreateWithFlags, (void **, unsigned), (&stream, 1)) == 0 && stream);
    return stream;
}

void rt_stream_destroy(void *stream)
{
    CHECK(RT(cudaStreamDestroy, (void *), (stream)) == 0);
}

/* ---- errors ---- */

SNIPPET(cudaGetLastError)
{
    RT(cudaGetLastError, (void), ());
    CHECK(RT(cudaSetDevice, (int), (99)) == INVALID_DEVICE);
    CHECK(RT(cudaGetLastError, (void), ()) == INVALID_DEVICE);
    CHECK(RT(cudaGetLastError, (void), ()) == 0);
}

SNIPPET(cudaPeekAtLastError)
{
    CHECK(RT(cudaSetDevice, (int), (99)) == INVALID_DEVICE);
    CHECK(RT(cudaPeekAtLastError, (void), ()) == INVALID_DEVICE);
    CHECK(RT(cudaPeekAtLastError, (void), ()) == INVALID_DEVICE);
    RT(cudaGetLastError, (void), ());
    CHECK(RT(cudaPeekAtLastError, (void), ()) == 0);
}

SNIPPET(cudaGetErrorName)
{
    CHECK(!strcmp(CALL(const char *, cudaGetErrorName, (int), (0)), "cudaSuccess"));
    CHECK(!strcmp(CALL(const char *, cudaGetErrorName, (int), (2)), "cudaErrorMemoryAllocation"));
    CHECK(!strcmp(CALL(const char *, cudaGetErrorName, (int), (12345)), "unrecognized error code"));
}

SNIPPET(cudaGetErrorString)
{
    CHECK(!strcmp(CALL(const char *, cudaGetErrorString, (int), (0)), "no error"));
    CHECK(!strcmp(CALL(const char *, cudaGetErrorString, (int), (2)), "out of memory"));
    CHECK(!strcmp(CALL(const char *, cudaGetErrorString, (int), (12345)), "unrecognized error code"));
}

/* ---- versions and entry points ---- */

SNIPPET(cudaDriverGetVersion)
{
    int version = 0;
    CHECK(RT(cudaDriverGetVersion, (int *), (&version)) == 0 && version >= 1000 * snippet_cuda());
    CHECK(RT(cudaDriverGetVersion, (int *), (NULL)) == INVALID_VALUE);
}

SNIPPET(cudaRuntimeGetVersion)
{
    int version = 0;
    CHECK(RT(cudaRuntimeGetVersion, (int *), (&version)) == 0 && version / 1000 == snippet_cuda());
    CHECK(RT(cudaRuntimeGetVersion, (int *), (NULL)) == INVALID_VALUE);
}

static void check_entry_point(const char *name)
{
    void *init = NULL, *none = &none;
    int result = -1;
    CHECK(BY(name, (const char *, void **, uint64_t, int *), ("cuInit", &init, 0, &result)) == 0);
    CHECK(init && result == 0 && ((int (*)(unsigned))init)(0) == 0);
    CHECK(BY(name, (const char *, void **, uint64_t, int *), ("cuNoSuchThing", &none, 0, &result)) == 0);
    CHECK(!none && result == 1);
    CHECK(BY(name, (const char *, void **, uint64_t, int *), (NULL, &none, 0, &result)) == INVALID_VALUE);
}

SNIPPET(cudaCreateChannelDesc)
{
    struct channel {
        int x, y, z, w, kind;
    } made = CALL(struct channel, cudaCreateChannelDesc, (int, int, int, int, int), (8, 16, 32, 4, 2));
    CHECK(made.x == 8 && made.y == 16 && made.z == 32 && made.w == 4 && made.kind == 2);
}

SNIPPET(cudaGetDriverEntryPoint)
{
    check_entry_point("cudaGetDriverEntryPoint");
}

SNIPPET(cudaGetDriverEntryPoint_ptsz)
{
    check_entry_point("cudaGetDriverEntryPoint_ptsz");
}

static void check_entry_point_by_version(const char *name)
{
    void *old = NULL, *new = NULL, *none = &none;
    int result = -1;
    CHECK(BY(name, (const char *, void **, unsigned, uint64_t, int *),
             ("cuGraphInstantiate", &old, 11000, 0, &result)) == 0);
    CHECK(old && result == 0);
    CHECK(BY(name, (const char *, void **, unsigned, uint64_t, int *),
             ("cuGraphInstantiate", &new, 12000, 0, &result)) == 0);
    CHECK(new && new != old);
    CHECK(BY(name, (const char *, void **, unsigned, uint64_t, int *), ("cuNoSuchThing", &none, 12000, 0, &result)) ==
          0);
    CHECK(!none && result == 1);
    CHECK(BY(name, (const char *, void **, unsigned, uint64_t, int *), ("cuInit", NULL, 12000, 0, &result)) ==
          INVALID_VALUE);
}

SNIPPET(cudaGetDriverEntryPointByVersion)
{
    check_entry_point_by_version("cudaGetDriverEntryPointByVersion");
}

SNIPPET(cudaGetDriverEntryPointByVersion_ptsz)
{
    check_entry_point_by_version("cudaGetDriverEntryPointByVersion_ptsz");
}

/* ---- which device ---- */

SNIPPET(cudaGetDeviceCount)
{
    int count = -1;
    CHECK(RT(cudaGetDeviceCount, (int *), (&count)) == 0 && count == snippet_gpus());
    CHECK(RT(cudaGetDeviceCount, (int *), (NULL)) == INVALID_VALUE);
}

SNIPPET(cudaGetDevice)
{
    int device = -1;
    CHECK(RT(cudaGetDevice, (int *), (&device)) == 0 && device == 0);
    CHECK(RT(cudaGetDevice, (int *), (NULL)) == INVALID_VALUE);
}

SNIPPET(cudaSetDevice)
{
    int device = -1, last = snippet_gpus() - 1;
    CHECK(RT(cudaSetDevice, (int), (last)) == 0);
    CHECK(RT(cudaGetDevice, (int *), (&device)) == 0 && device == last);
    CHECK(RT(cudaSetDevice, (int), (last + 1)) == INVALID_DEVICE);
    CHECK(RT(cudaSetDevice, (int), (-1)) == INVALID_DEVICE);
    CHECK(RT(cudaGetDevice, (int *), (&device)) == 0 && device == last);
    CHECK(RT(cudaSetDevice, (int), (0)) == 0);
}

SNIPPET(cudaInitDevice)
{
    CHECK(RT(cudaInitDevice, (int, unsigned, unsigned), (0, 0, 0)) == 0);
    CHECK(RT(cudaInitDevice, (int, unsigned, unsigned), (99, 0, 0)) == INVALID_DEVICE);
}

SNIPPET(cudaSetValidDevices)
{
    int devices[] = {0, 1}, device = -1;
    CHECK(RT(cudaSetValidDevices, (int *, int), (devices, 1)) == 0);
    CHECK(RT(cudaGetDevice, (int *), (&device)) == 0 && device == 0);
    CHECK(RT(cudaSetValidDevices, (int *, int), (NULL, 0)) == 0);
}

SNIPPET(cudaChooseDevice)
{
    char properties[1032] = "";
    int device = -1;
    CHECK(RT(cudaChooseDevice, (int *, const void *), (&device, properties)) == 0 && device == 0);
}

SNIPPET(cudaGetDeviceFlags)
{
    unsigned flags = 99;
    CHECK(RT(cudaSetDeviceFlags, (unsigned), (4)) == 0);
    CHECK(RT(cudaGetDeviceFlags, (unsigned *), (&flags)) == 0 && flags == 4);
    CHECK(RT(cudaGetDeviceFlags, (unsigned *), (NULL)) == INVALID_VALUE);
}

SNIPPET(cudaSetDeviceFlags)
{
    unsigned flags = 99;
    CHECK(RT(cudaSetDeviceFlags, (unsigned), (0)) == 0);
    CHECK(RT(cudaGetDeviceFlags, (unsigned *), (&flags)) == 0 && flags == 0);
}

SNIPPET(cudaDeviceSynchronize)
{
    CHECK(RT(cudaDeviceSynchronize, (void), ()) == 0);
}

SNIPPET(cudaDeviceReset)
{
    CHECK(RT(cudaDeviceReset, (void), ()) == 0);
}

/* ---- what a device is ---- */

static int attribute(int number)
{
    int value = -99;
    CHECK(RT(cudaDeviceGetAttribute, (int *, int, int), (&value, number, 0)) == 0);
    return value;
}

SNIPPET(cudaDeviceGetAttribute)
{
    int value = 7;
    CHECK(attribute(1) == 1024 && attribute(10) == 32);
    CHECK(attribute(16) == 28 && attribute(75) == 8 && attribute(76) == 6); /* the SMs and capability of the card */
    CHECK(RT(cudaDeviceGetAttribute, (int *, int, int), (&value, 16, 99)) == INVALID_DEVICE);
    CHECK(RT(cudaDeviceGetAttribute, (int *, int, int), (&value, 9999, 0)) == INVALID_VALUE);
    CHECK(RT(cudaDeviceGetAttribute, (int *, int, int), (NULL, 16, 0)) == INVALID_VALUE);
}

/* The structure's size and the places of some figures, by generation. */
static void check_properties(const char *name)
{
    const bool old = snippet_cuda() == 12;
    const size_t size = old ? 1032 : 1008, sms_at = old ? 388 : 384;
    unsigned char all[1032 + 64];
    int sms, capability[2];
    size_t memory;
    memset(all, 0xa5, sizeof all);
    CHECK(BY(name, (void *, int), (all, 0)) == 0);
    for (size_t i = size; i < sizeof all; i++)
        CHECK(all[i] == 0xa5);
    CHECK(!strcmp((const char *)all, "NVIDIA GeForce RTX 3060"));
    memcpy(&memory, all + 288, sizeof memory);
    memcpy(capability, all + 360, sizeof capability);
    memcpy(&sms, all + sms_at, sizeof sms);
    CHECK(memory > 11ull << 30 && memory < 13ull << 30);
    CHECK(capability[0] == 8 && capability[1] == 6);
    CHECK(sms == 28);
    CHECK(BY(name, (void *, int), (all, 99)) == INVALID_DEVICE);
    CHECK(BY(name, (void *, int), (NULL, 0)) == INVALID_VALUE);
}

SNIPPET(cudaGetDeviceProperties)
{
    check_properties("cudaGetDeviceProperties");
}

SNIPPET(cudaGetDeviceProperties_v2)
{
    check_properties("cudaGetDeviceProperties_v2");
}

SNIPPET(cudaDeviceGetPCIBusId)
{
    char text[16] = "", small[8];
    CHECK(RT(cudaDeviceGetPCIBusId, (char *, int, int), (text, sizeof text, 0)) == 0);
    CHECK(!strcmp(text, "0000:01:00.0"));
    CHECK(RT(cudaDeviceGetPCIBusId, (char *, int, int), (small, sizeof small, 0)) == INVALID_VALUE);
    CHECK(RT(cudaDeviceGetPCIBusId, (char *, int, int), (text, sizeof text, 99)) == INVALID_DEVICE);
}

SNIPPET(cudaDeviceGetByPCIBusId)
{
    char text[16] = "";
    int device = -1, last = snippet_gpus() - 1;
    CHECK(RT(cudaDeviceGetPCIBusId, (char *, int, int), (text, sizeof text, last)) == 0);
    CHECK(RT(cudaDeviceGetByPCIBusId, (int *, const char *), (&device, text)) == 0 && device == last);
    CHECK(RT(cudaDeviceGetByPCIBusId, (int *, const char *), (&device, "0000:ee:00.0")) == INVALID_DEVICE);
    CHECK(RT(cudaDeviceGetByPCIBusId, (int *, const char *), (NULL, text)) == INVALID_VALUE);
}

SNIPPET(cudaDeviceGetStreamPriorityRange)
{
    int least = 9, greatest = 9;
    CHECK(RT(cudaDeviceGetStreamPriorityRange, (int *, int *), (&least, &greatest)) == 0);
    CHECK(least == 0 && greatest == -5);
    CHECK(RT(cudaDeviceGetStreamPriorityRange, (int *, int *), (NULL, NULL)) == 0);
}

SNIPPET(cudaThreadGetLimit)
{
    size_t value = 1, same = 2;
    CHECK(RT(cudaThreadGetLimit, (size_t *, unsigned), (&value, 2)) == 0);
    CHECK(RT(cudaDeviceGetLimit, (size_t *, unsigned), (&same, 2)) == 0 && value == same);
    CHECK(RT(cudaThreadGetLimit, (size_t *, unsigned), (&value, 99)) == INVALID_VALUE);
}

SNIPPET(cudaDeviceGetLimit)
{
    size_t value = 0;
    CHECK(RT(cudaDeviceGetLimit, (size_t *, unsigned), (&value, 2)) == 0 && value == 8 << 20);
    CHECK(RT(cudaDeviceGetLimit, (size_t *, unsigned), (&value, 99)) == INVALID_VALUE);
    CHECK(RT(cudaDeviceGetLimit, (size_t *, unsigned), (&value, 6)) ==
          0); /* cudaLimitPersistingL2CacheSize, the last */
    CHECK(RT(cudaDeviceGetLimit, (size_t *, unsigned), (&value, 7)) == INVALID_VALUE);
    CHECK(RT(cudaDeviceSetLimit, (unsigned, size_t), (7, 1)) == INVALID_VALUE);
    CHECK(RT(cudaDeviceGetLimit, (size_t *, unsigned), (NULL, 2)) == INVALID_VALUE);
}

SNIPPET(cudaDeviceSetLimit)
{
    size_t value = 0;
    CHECK(RT(cudaDeviceSetLimit, (unsigned, size_t), (0, 4096)) == 0);
    CHECK(RT(cudaDeviceGetLimit, (size_t *, unsigned), (&value, 0)) == 0 && value == 4096);
    CHECK(RT(cudaDeviceSetLimit, (unsigned, size_t), (99, 1)) == INVALID_VALUE);
}

/* ---- peers ---- */

SNIPPET(cudaDeviceCanAccessPeer)
{
    int can = -1;
    CHECK(RT(cudaDeviceCanAccessPeer, (int *, int, int), (&can, 0, 0)) == 0 && can == 0);
    CHECK(RT(cudaDeviceCanAccessPeer, (int *, int, int), (&can, 0, 99)) == INVALID_DEVICE);
    if (snippet_gpus() > 1)
        CHECK(RT(cudaDeviceCanAccessPeer, (int *, int, int), (&can, 0, 1)) == 0 && can == 1);
}

SNIPPET(cudaDeviceGetP2PAttribute)
{
    int value = -1;
    CHECK(RT(cudaDeviceGetP2PAttribute, (int *, int, int, int), (&value, 2, 0, 0)) == INVALID_VALUE);
    if (snippet_gpus() < 2)
        return;
    CHECK(RT(cudaDeviceGetP2PAttribute, (int *, int, int, int), (&value, 2, 0, 1)) == 0 && value == 1);
    CHECK(RT(cudaDeviceGetP2PAttribute, (int *, int, int, int), (&value, 3, 0, 1)) == 0 && value == 0);
}

SNIPPET(cudaDeviceEnablePeerAccess)
{
    CHECK(RT(cudaDeviceEnablePeerAccess, (int, unsigned), (0, 0)) == INVALID_DEVICE);
    if (snippet_gpus() < 2)
        return;
    CHECK(RT(cudaDeviceEnablePeerAccess, (int, unsigned), (1, 0)) == 0);
    CHECK(RT(cudaDeviceEnablePeerAccess, (int, unsigned), (1, 0)) == 704);
    CHECK(RT(cudaDeviceDisablePeerAccess, (int), (1)) == 0);
}

SNIPPET(cudaDeviceDisablePeerAccess)
{
    CHECK(RT(cudaDeviceDisablePeerAccess, (int), (99)) == INVALID_DEVICE);
    CHECK(RT(cudaDeviceDisablePeerAccess, (int), (snippet_gpus() - 1)) == 705);
}
