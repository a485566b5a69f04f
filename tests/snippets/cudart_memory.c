/* The runtime: memory of the device and the host, pools, copies and fills. */
#include "cudart.h"

#include <stdlib.h>

enum { MIB = 1 << 20 };

static size_t free_bytes(void)
{
    size_t available = 0, total = 0;
    CHECK(RT(cudaMemGetInfo, (size_t *, size_t *), (&available, &total)) == 0 && available <= total);
    return available;
}

SNIPPET(cudaMemGetInfo)
{
    size_t before = free_bytes(), total = 0;
    void *at = rt_malloc(64 * MIB);
    CHECK(before - free_bytes() == 64 * MIB);
    rt_free(at);
    CHECK(free_bytes() == before);
    CHECK(RT(cudaMemGetInfo, (size_t *, size_t *), (NULL, &total)) == INVALID_VALUE);
}

SNIPPET(cudaMalloc)
{
    char *one = rt_malloc(100), *two = rt_malloc(100);
    void *at = one;
    CHECK(one != two && (uintptr_t)one % 256 == 0 && (uintptr_t)two % 256 == 0);
    rt_free(one);
    rt_free(two);
    CHECK(RT(cudaMalloc, (void **, size_t), (&at, 0)) == 0 && !at);
    CHECK(RT(cudaMalloc, (void **, size_t), (&at, SIZE_MAX)) == OUT_OF_MEMORY);
    CHECK(RT(cudaMalloc, (void **, size_t), (NULL, 1)) == INVALID_VALUE);
}

SNIPPET(cudaFree)
{
    void *at = rt_malloc(4 * MIB);
    rt_free(at);
    CHECK(RT(cudaFree, (void *), (NULL)) == 0);
    CHECK(RT(cudaFree, (void *), (at)) == INVALID_VALUE);
}

SNIPPET(cudaMallocManaged)
{
    int *at = NULL;
    CHECK(RT(cudaMallocManaged, (int **, size_t, unsigned), (&at, 4096, 1)) == 0 && at);
    at[7] = 42; /* the host may touch it */
    CHECK(at[7] == 42);
    rt_free(at);
    CHECK(RT(cudaMallocManaged, (int **, size_t, unsigned), (&at, 0, 1)) == INVALID_VALUE);
}

SNIPPET(cudaMallocPitch)
{
    void *at = NULL;
    size_t pitch = 0;
    CHECK(RT(cudaMallocPitch, (void **, size_t *, size_t, size_t), (&at, &pitch, 1000, 10)) == 0 && at);
    CHECK(pitch == 1024);
    rt_free(at);
    CHECK(RT(cudaMallocPitch, (void **, size_t *, size_t, size_t), (&at, NULL, 1000, 10)) == INVALID_VALUE);
    CHECK(RT(cudaMallocPitch, (void **, size_t *, size_t, size_t), (&at, &pitch, 1ull << 33, 1ull << 31)) ==
          OUT_OF_MEMORY);
    CHECK(RT(cudaMallocPitch, (void **, size_t *, size_t, size_t), (&at, &pitch, SIZE_MAX, 1)) == OUT_OF_MEMORY);
}

struct extent {
    size_t width, height, depth;
};

SNIPPET(cudaMalloc3D)
{
    struct {
        void *at;
        size_t pitch, width, height;
    } out = {0};
    CHECK(RT(cudaMalloc3D, (void *, struct extent), (&out, (struct extent){1000, 10, 3})) == 0);
    CHECK(out.at && out.pitch == 1024 && out.width == 1000 && out.height == 10);
    rt_free(out.at);
    CHECK(RT(cudaMalloc3D, (void *, struct extent), (&out, (struct extent){1ull << 33, 1ull << 31, 1})) ==
          OUT_OF_MEMORY);
    CHECK(RT(cudaMalloc3D, (void *, struct extent), (&out, (struct extent){512, 1ull << 33, 1ull << 31})) ==
          OUT_OF_MEMORY);
    CHECK(RT(cudaMalloc3D, (void *, struct extent), (&out, (struct extent){SIZE_MAX, 1, 1})) == OUT_OF_MEMORY);
}

/* ---- the host's memory ---- */

SNIPPET(cudaHostAlloc)
{
    char *at = NULL;
    CHECK(RT(cudaHostAlloc, (char **, size_t, unsigned), (&at, 5000, 2)) == 0 && at);
    at[4999] = 1;
    CHECK(RT(cudaFreeHost, (void *), (at)) == 0);
    CHECK(RT(cudaHostAlloc, (char **, size_t, unsigned), (&at, 0, 0)) == 0 && !at);
    CHECK(RT(cudaHostAlloc, (char **, size_t, unsigned), (NULL, 1, 0)) == INVALID_VALUE);
}

SNIPPET(cudaMallocHost)
{
    char *at = NULL;
    CHECK(RT(cudaMallocHost, (char **, size_t), (&at, 100)) == 0 && at);
    at[99] = 1;
    CHECK(RT(cudaFreeHost, (void *), (at)) == 0);
}

SNIPPET(cudaFreeHost)
{
    char mine;
    CHECK(RT(cudaFreeHost, (void *), (NULL)) == 0);
    CHECK(RT(cudaFreeHost, (void *), (&mine)) == INVALID_VALUE);
}

SNIPPET(cudaHostRegister)
{
    static char page[8192];
    CHECK(RT(cudaHostRegister, (void *, size_t, unsigned), (page, sizeof page, 0)) == 0);
    CHECK(RT(cudaHostRegister, (void *, size_t, unsigned), (page + 16, 16, 0)) == 712);
    CHECK(RT(cudaHostUnregister, (void *), (page)) == 0);
    CHECK(RT(cudaHostRegister, (void *, size_t, unsigned), (NULL, 16, 0)) == INVALID_VALUE);
}

SNIPPET(cudaHostUnregister)
{
    static char page[64];
    CHECK(RT(cudaHostUnregister, (void *), (page)) == 713);
}

SNIPPET(cudaHostGetDevicePointer)
{
    void *host = NULL, *device = NULL;
    char mine;
    CHECK(RT(cudaMallocHost, (void **, size_t), (&host, 100)) == 0);
    CHECK(RT(cudaHostGetDevicePointer, (void **, void *, unsigned), (&device, host, 0)) == 0 && device == host);
    CHECK(RT(cudaHostGetDevicePointer, (void **, void *, unsigned), (&device, &mine, 0)) == INVALID_VALUE);
    RT(cudaFreeHost, (void *), (host));
}

SNIPPET(cudaHostGetFlags)
{
    void *host = NULL;
    unsigned flags = 99;
    CHECK(RT(cudaHostAlloc, (void **, size_t, unsigned), (&host, 100, 3)) == 0);
    CHECK(RT(cudaHostGetFlags, (unsigned *, void *), (&flags, host)) == 0 && flags == 3);
    CHECK(RT(cudaHostGetFlags, (unsigned *, void *), (&flags, &flags)) == INVALID_VALUE);
    RT(cudaFreeHost, (void *), (host));
}

SNIPPET(cudaPointerGetAttributes)
{
    struct {
        int type, device;
        void *on_device, *on_host;
        long unused[8];
        long behind[4];
    } out;
    const size_t size = snippet_cuda() == 12 ? 24 : 88;
    void *device = rt_malloc(100), *host = NULL;
    memset(&out, 0xa5, sizeof out);
    CHECK(RT(cudaPointerGetAttributes, (void *, const void *), (&out, device)) == 0);
    CHECK(out.type == 2 && out.device == 0 && out.on_device == device && !out.on_host);
    for (size_t i = size; i < sizeof out; i++)
        CHECK(((unsigned char *)&out)[i] == 0xa5);
    CHECK(RT(cudaMallocHost, (void **, size_t), (&host, 100)) == 0);
    CHECK(RT(cudaPointerGetAttributes, (void *, const void *), (&out, (char *)host + 50)) == 0);
    CHECK(out.type == 1 && out.on_host == (char *)host + 50);
    CHECK(RT(cudaPointerGetAttributes, (void *, const void *), (&out, &out)) == 0);
    CHECK(out.type == 0 && out.on_host == &out);
    CHECK(RT(cudaPointerGetAttributes, (void *, const void *), (NULL, device)) == INVALID_VALUE);
    RT(cudaFreeHost, (void *), (host));
    rt_free(device);
}

/* ---- pools ---- */

static void *pool(void)
{
    int properties[24] = {1, 0, 1, 0}; /* pinned device memory of device 0 */
    void *p = NULL;
    CHECK(RT(cudaMemPoolCreate, (void **, const void *), (&p, properties)) == 0 && p);
    return p;
}

static void drop_pool(void *p)
{
    CHECK(RT(cudaMemPoolDestroy, (void *), (p)) == 0);
}

static uint64_t pool_attribute(void *p, int number)
{
    uint64_t value = 99;
    CHECK(RT(cudaMemPoolGetAttribute, (void *, int, void *), (p, number, &value)) == 0);
    return value;
}

enum { RELEASE_THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

SNIPPET(cudaMemPoolCreate)
{
    int properties[24] = {1, 0, 1, 99};
    void *p = NULL;
    drop_pool(pool());
    CHECK(RT(cudaMemPoolCreate, (void **, const void *), (&p, properties)) == INVALID_VALUE);
    CHECK(RT(cudaMemPoolCreate, (void **, const void *), (NULL, properties)) == INVALID_VALUE);
}

SNIPPET(cudaMemPoolDestroy)
{
    void *standard = NULL;
    drop_pool(pool());
    CHECK(RT(cudaDeviceGetDefaultMemPool, (void **, int), (&standard, 0)) == 0);
    CHECK(RT(cudaMemPoolDestroy, (void *), (standard)) == INVALID_VALUE);
    CHECK(RT(cudaMemPoolDestroy, (void *), (NULL)) == INVALID_VALUE);
}

SNIPPET(cudaDeviceGetDefaultMemPool)
{
    void *one = NULL, *two = NULL;
    CHECK(RT(cudaDeviceGetDefaultMemPool, (void **, int), (&one, 0)) == 0 && one);
    CHECK(RT(cudaDeviceGetDefaultMemPool, (void **, int), (&two, 0)) == 0 && one == two);
    CHECK(RT(cudaDeviceGetDefaultMemPool, (void **, int), (&two, 99)) == INVALID_DEVICE);
}

SNIPPET(cudaDeviceGetMemPool)
{
    void *standard = NULL, *current = NULL;
    CHECK(RT(cudaDeviceGetDefaultMemPool, (void **, int), (&standard, 0)) == 0);
    CHECK(RT(cudaDeviceGetMemPool, (void **, int), (&current, 0)) == 0 && current == standard);
    CHECK(RT(cudaDeviceGetMemPool, (void **, int), (&current, 99)) == INVALID_DEVICE);
}

SNIPPET(cudaDeviceSetMemPool)
{
    void *mine = pool(), *current = NULL;
    CHECK(RT(cudaDeviceSetMemPool, (int, void *), (0, mine)) == 0);
    CHECK(RT(cudaDeviceGetMemPool, (void **, int), (&current, 0)) == 0 && current == mine);
    CHECK(RT(cudaDeviceSetMemPool, (int, void *), (99, mine)) == INVALID_VALUE);
    drop_pool(mine); /* the default one takes its place */
    CHECK(RT(cudaDeviceGetMemPool, (void **, int), (&current, 0)) == 0 && current != mine);
}

SNIPPET(cudaMallocAsync)
{
    void *stream = rt_stream(), *at = NULL;
    CHECK(RT(cudaMallocAsync, (void **, size_t, void *), (&at, MIB, stream)) == 0 && at);
    CHECK(RT(cudaFreeAsync, (void *, void *), (at, stream)) == 0);
    CHECK(RT(cudaMallocAsync, (void **, size_t, void *), (NULL, MIB, stream)) == INVALID_VALUE);
    CHECK(RT(cudaMallocAsync, (void **, size_t, void *), (&at, SIZE_MAX - 1023, stream)) == OUT_OF_MEMORY);
    rt_stream_destroy(stream);
}

SNIPPET(cudaMallocFromPoolAsync)
{
    void *p = pool(), *at = NULL;
    CHECK(RT(cudaMallocFromPoolAsync, (void **, size_t, void *, void *), (&at, MIB, p, NULL)) == 0 && at);
    CHECK(pool_attribute(p, USED) == MIB && pool_attribute(p, RESERVED) == 32 * MIB);
    CHECK(RT(cudaFreeAsync, (void *, void *), (at, NULL)) == 0);
    CHECK(RT(cudaMallocFromPoolAsync, (void **, size_t, void *, void *), (&at, MIB, NULL, NULL)) == INVALID_VALUE);
    drop_pool(p);
}

SNIPPET(cudaFreeAsync)
{
    void *at = rt_malloc(100);
    CHECK(RT(cudaFreeAsync, (void *, void *), (at, NULL)) == 0); /* any device memory */
    CHECK(RT(cudaFreeAsync, (void *, void *), (at, NULL)) == INVALID_VALUE);
}

SNIPPET(cudaMemPoolTrimTo)
{
    void *p = pool(), *at = NULL;
    CHECK(RT(cudaMallocFromPoolAsync, (void **, size_t, void *, void *), (&at, MIB, p, NULL)) == 0);
    CHECK(RT(cudaMemPoolTrimTo, (void *, size_t), (p, 0)) == 0);
    CHECK(pool_attribute(p, RESERVED) == 32 * MIB); /* in use */
    CHECK(RT(cudaFreeAsync, (void *, void *), (at, NULL)) == 0);
    CHECK(RT(cudaMemPoolTrimTo, (void *, size_t), (p, 0)) == 0);
    CHECK(pool_attribute(p, RESERVED) == 0);
    CHECK(RT(cudaMemPoolTrimTo, (void *, size_t), (NULL, 0)) == INVALID_VALUE);
    drop_pool(p);
}

SNIPPET(cudaMemPoolGetAttribute)
{
    void *p = pool();
    uint64_t value;
    CHECK(pool_attribute(p, RELEASE_THRESHOLD) == 0 && pool_attribute(p, USED) == 0);
    CHECK(RT(cudaMemPoolGetAttribute, (void *, int, void *), (p, 99, &value)) == INVALID_VALUE);
    drop_pool(p);
}

SNIPPET(cudaMemPoolSetAttribute)
{
    void *p = pool();
    uint64_t value = 5 * MIB;
    CHECK(RT(cudaMemPoolSetAttribute, (void *, int, void *), (p, RELEASE_THRESHOLD, &value)) == 0);
    CHECK(pool_attribute(p, RELEASE_THRESHOLD) == 5 * MIB);
    CHECK(RT(cudaMemPoolSetAttribute, (void *, int, void *), (p, USED, &value)) == INVALID_VALUE);
    drop_pool(p);
}

SNIPPET(cudaMemPoolGetAccess)
{
    void *p = pool();
    int flags = -1, location[2] = {1, 0};
    CHECK(RT(cudaMemPoolGetAccess, (int *, void *, const void *), (&flags, p, location)) == 0 && flags == 3);
    CHECK(RT(cudaMemPoolGetAccess, (int *, void *, const void *), (NULL, p, location)) == INVALID_VALUE);
    drop_pool(p);
}

SNIPPET(cudaDeviceGetGraphMemAttribute)
{
    uint64_t value = 99;
    CHECK(RT(cudaDeviceGetGraphMemAttribute, (int, int, void *), (0, 0, &value)) == 0 && value == 0);
    CHECK(RT(cudaDeviceGetGraphMemAttribute, (int, int, void *), (99, 0, &value)) == INVALID_VALUE);
}

/* ---- copies: what the host wrote comes back ---- */

enum { KIND_DEFAULT = 4 };

SNIPPET(cudaMemcpy)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0};
    void *one = rt_malloc(sizeof in), *two = rt_malloc(sizeof in);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (one, in, sizeof in, 1)) == 0);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (two, one, sizeof in, 3)) == 0);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (out, two, sizeof in, 2)) == 0);
    CHECK(!memcmp(in, out, sizeof in));
    rt_free(one);
    rt_free(two);
}

SNIPPET(cudaMemcpyAsync)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0};
    void *at = rt_malloc(sizeof in), *stream = rt_stream();
    CHECK(RT(cudaMemcpyAsync, (void *, const void *, size_t, int, void *), (at, in, sizeof in, 1, stream)) == 0);
    CHECK(RT(cudaMemcpyAsync, (void *, const void *, size_t, int, void *), (out, at, sizeof in, 2, stream)) == 0);
    CHECK(!memcmp(in, out, sizeof in));
    rt_stream_destroy(stream);
    rt_free(at);
}

SNIPPET(cudaMemcpyPeer)
{
    int in = 42, out = 0, other = snippet_gpus() - 1;
    void *one = rt_malloc(sizeof in), *two;
    RT(cudaSetDevice, (int), (other));
    two = rt_malloc(sizeof in);
    RT(cudaSetDevice, (int), (0));
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (one, &in, sizeof in, 1)) == 0);
    CHECK(RT(cudaMemcpyPeer, (void *, int, const void *, int, size_t), (two, other, one, 0, sizeof in)) == 0);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (&out, two, sizeof in, 2)) == 0 && out == 42);
    rt_free(one);
    rt_free(two);
}

SNIPPET(cudaMemcpyPeerAsync)
{
    int in = 43, out = 0;
    void *one = rt_malloc(sizeof in), *two = rt_malloc(sizeof in);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (one, &in, sizeof in, 1)) == 0);
    CHECK(RT(cudaMemcpyPeerAsync, (void *, int, const void *, int, size_t, void *),
             (two, 0, one, 0, sizeof in, NULL)) == 0);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (&out, two, sizeof in, 2)) == 0 && out == 43);
    rt_free(one);
    rt_free(two);
}

static const char rows[] = "abcd....efgh....ijkl....";

SNIPPET(cudaMemcpy2D)
{
    char out[12];
    void *at = rt_malloc(12);
    CHECK(RT(cudaMemcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, int), (at, 4, rows, 8, 4, 3, 1)) ==
          0);
    CHECK(RT(cudaMemcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, int),
             (at, 1ull << 33, rows, 1ull << 33, 1ull << 33, 1ull << 31, 1)) == INVALID_VALUE);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (out, at, sizeof out, 2)) == 0);
    CHECK(!memcmp(out, "abcdefghijkl", 12));
    rt_free(at);
}

SNIPPET(cudaMemcpy2DAsync)
{
    char out[12];
    void *at = rt_malloc(12);
    CHECK(RT(cudaMemcpy2DAsync, (void *, size_t, const void *, size_t, size_t, size_t, int, void *),
             (at, 4, rows, 8, 4, 3, 1, NULL)) == 0);
    CHECK(RT(cudaMemcpy2DAsync, (void *, size_t, const void *, size_t, size_t, size_t, int, void *),
             (at, 1ull << 33, rows, 1ull << 33, 1ull << 33, 1ull << 31, 1, NULL)) == INVALID_VALUE);
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (out, at, sizeof out, 2)) == 0);
    CHECK(!memcmp(out, "abcdefghijkl", 12));
    rt_free(at);
}

SNIPPET(cudaMemcpyBatchAsync)
{
    int in[2] = {5, 6}, out[2] = {0};
    void *one = rt_malloc(4), *two = rt_malloc(4);
    void *dsts[4] = {one, two, &out[0], &out[1]}, *srcs[4] = {&in[0], &in[1], one, two};
    size_t sizes[4] = {4, 4, 4, 4};
    CHECK(RT(cudaMemcpyBatchAsync, (void **, void **, size_t *, size_t, void *, size_t *, size_t, size_t *, void *),
             (dsts, srcs, sizes, 4, NULL, NULL, 0, NULL, NULL)) == 0);
    CHECK(out[0] == 5 && out[1] == 6);
    rt_free(one);
    rt_free(two);
}

/* ---- fills ---- */

static void check_bytes(const void *at, const char *expected)
{
    char out[64] = "";
    CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (out, at, strlen(expected), 2)) == 0);
    CHECK(!strcmp(out, expected));
}

SNIPPET(cudaMemset)
{
    void *at = rt_malloc(16);
    CHECK(RT(cudaMemset, (void *, int, size_t), (at, 'x', 8)) == 0);
    check_bytes(at, "xxxxxxxx");
    rt_free(at);
}

SNIPPET(cudaMemsetAsync)
{
    void *at = rt_malloc(16);
    CHECK(RT(cudaMemsetAsync, (void *, int, size_t, void *), (at, 'y', 4, NULL)) == 0);
    check_bytes(at, "yyyy");
    rt_free(at);
}

SNIPPET(cudaMemset2D)
{
    void *at = rt_malloc(16);
    CHECK(RT(cudaMemset, (void *, int, size_t), (at, '.', 8)) == 0);
    CHECK(RT(cudaMemset2D, (void *, size_t, int, size_t, size_t), (at, 4, 'z', 2, 2)) == 0);
    CHECK(RT(cudaMemset2D, (void *, size_t, int, size_t, size_t), (at, 4, 'z', 1ull << 33, 1ull << 31)) ==
          INVALID_VALUE);
    check_bytes(at, "zz..zz..");
    rt_free(at);
}

SNIPPET(cudaMemset2DAsync)
{
    void *at = rt_malloc(16);
    CHECK(RT(cudaMemset, (void *, int, size_t), (at, '.', 8)) == 0);
    CHECK(RT(cudaMemset2DAsync, (void *, size_t, int, size_t, size_t, void *), (at, 4, 'z', 3, 2, NULL)) == 0);
    CHECK(RT(cudaMemset2DAsync, (void *, size_t, int, size_t, size_t, void *),
             (at, 4, 'z', 1ull << 33, 1ull << 31, NULL)) == INVALID_VALUE);
    check_bytes(at, "zzz.zzz.");
    rt_free(at);
}
