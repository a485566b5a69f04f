#include "snippet.h"

#include <stdlib.h>

struct id {
    char bytes[128];
};

enum { FLOAT32 = 7, SUM = 0 };

static void *world(int size, int rank)
{
    struct id id;
    void *comm = NULL;
    CHECK(CALL(int, ncclGetUniqueId, (struct id *), (&id)) == 0);
    CHECK(CALL(int, ncclCommInitRank, (void **, int, struct id, int), (&comm, size, id, rank)) == 0);
    CHECK(comm != NULL);
    return comm;
}

static void destroy(void *comm)
{
    CHECK(CALL(int, ncclCommDestroy, (void *), (comm)) == 0);
}

static int size_of(void *comm)
{
    int n = 0;
    CHECK(CALL(int, ncclCommCount, (void *, int *), (comm, &n)) == 0);
    return n;
}

static int rank_of(void *comm)
{
    int n = -1;
    CHECK(CALL(int, ncclCommUserRank, (void *, int *), (comm, &n)) == 0);
    return n;
}

static uint64_t memory_of(void *comm)
{
    uint64_t bytes = 1;
    CHECK(CALL(int, ncclCommMemStats, (void *, int, uint64_t *), (comm, 3, &bytes)) == 0);
    return bytes;
}

static void all_reduce(void *comm)
{
    float from[2] = {1, 2}, to[2] = {0};
    CHECK(CALL(int, ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, 2, FLOAT32, SUM, comm, NULL)) == 0);
}

SNIPPET(ncclGetVersion)
{
    int version = 0;
    CHECK(CALL(int, ncclGetVersion, (int *), (&version)) == 0);
    CHECK(version >= 20000 && version < 40000);
}

SNIPPET(ncclGetUniqueId)
{
    struct id a, b;
    CHECK(CALL(int, ncclGetUniqueId, (struct id *), (&a)) == 0);
    CHECK(CALL(int, ncclGetUniqueId, (struct id *), (&b)) == 0);
    CHECK(memcmp(&a, &b, sizeof a));
}

SNIPPET(ncclCommInitRank)
{
    struct id id = {{0}};
    void *comm = world(8, 3), *none = NULL;
    CHECK(size_of(comm) == 8 && rank_of(comm) == 3);
    all_reduce(comm); /* connects it, if its making has not */
    CHECK(memory_of(comm) > 0);
    destroy(comm);
    CHECK(CALL(int, ncclCommInitRank, (void **, int, struct id, int), (&none, 2, id, 2)) == 4);
    comm = world(1, 0);
    all_reduce(comm);
    CHECK(memory_of(comm) == (64 * 3 + 2) * 2ull << 20); /* nobody to connect with: its books only */
    destroy(comm);
}

SNIPPET(ncclCommInitAll)
{
    int devices[1] = {0};
    void *comm[1] = {NULL};
    CHECK(CALL(int, ncclCommInitAll, (void **, int, const int *), (comm, 1, devices)) == 0);
    CHECK(size_of(comm[0]) == 1);
    destroy(comm[0]);
    devices[0] = 1000;
    CHECK(CALL(int, ncclCommInitAll, (void **, int, const int *), (comm, 1, devices)) == 4);
}

SNIPPET(ncclCommInitRankConfig)
{
    struct id id = {{0}};
    void *comm = NULL;
    CHECK(CALL(int, ncclCommInitRankConfig, (void **, int, struct id, int, void *), (&comm, 4, id, 1, NULL)) == 0);
    CHECK(size_of(comm) == 4 && rank_of(comm) == 1);
    destroy(comm);
}

SNIPPET(ncclCommInitRankScalable)
{
    struct id ids[2];
    void *comm = NULL;
    CHECK(CALL(int, ncclCommInitRankScalable, (void **, int, int, int, struct id *, void *),
               (&comm, 4, 2, 2, ids, NULL)) == 0);
    CHECK(size_of(comm) == 4 && rank_of(comm) == 2);
    destroy(comm);
}

static void *split(void *parent, int color, int key)
{
    void *child = parent;
    CHECK(CALL(int, ncclCommSplit, (void *, int, int, void **, void *), (parent, color, key, &child, NULL)) == 0);
    return child;
}

/* As the hook does around the making of a group; without members, at its end. */
static void tell_group(const uint32_t *rank, uint32_t size, uint32_t place)
{
    if (size)
        CALL(void, plm_hook_group, (const char *, const char *, const uint32_t *, uint32_t, uint32_t),
             ("group", "", rank, size, place));
    else
        CALL(void, plm_hook_group_made, (uint64_t), (0));
}

/* Colours as torch.distributed computes them: abs(hash((1, 3, 5, 7))) % 2**31, and the fold of
   ProcessGroupNCCL::split over (2, 3). */
SNIPPET(ncclCommSplit)
{
    void *parent = world(8, 3), *child = split(parent, -1, 0);
    CHECK(child == NULL);
    child = split(parent, 2023921969, 1);
    CHECK(size_of(child) == 4 && rank_of(child) == 1);
    destroy(child);
    child = split(parent, 1301594018, 1);
    CHECK(size_of(child) == 2 && rank_of(child) == 1);
    destroy(child);
    tell_group((const uint32_t[]){0, 3, 4}, 3, 1); /* the hook's word goes first */
    child = split(parent, 0, 1);
    CHECK(size_of(child) == 3 && rank_of(child) == 1);
    destroy(child);
    tell_group(NULL, 0, 0);
    child = split(parent, 12345, 3); /* not PyTorch's: the size of the parent */
    CHECK(size_of(child) == 8 && rank_of(child) == 3);
    destroy(child);
    destroy(parent);
}

SNIPPET(ncclCommShrink)
{
    int excluded[2] = {0, 5};
    void *parent = world(8, 3), *child = NULL;
    CHECK(CALL(int, ncclCommShrink, (void *, int *, int, void **, void *, int),
               (parent, excluded, 2, &child, NULL, 0)) == 0);
    CHECK(size_of(child) == 6 && rank_of(child) == 2);
    destroy(child);
    destroy(parent);
}

SNIPPET(ncclCommGrow)
{
    struct id id = {{0}};
    void *parent = world(2, 1), *child = NULL;
    CHECK(CALL(int, ncclCommGrow, (void *, int, const struct id *, int, void **, void *),
               (parent, 4, NULL, -1, &child, NULL)) == 0);
    CHECK(size_of(child) == 4 && rank_of(child) == 1);
    destroy(child);
    CHECK(CALL(int, ncclCommGrow, (void *, int, const struct id *, int, void **, void *),
               (NULL, 4, &id, 3, &child, NULL)) == 0);
    CHECK(rank_of(child) == 3);
    destroy(child);
    destroy(parent);
}

SNIPPET(ncclCommGetUniqueId)
{
    struct id id = {{0}}, zero = {{0}};
    void *comm = world(2, 0);
    CHECK(CALL(int, ncclCommGetUniqueId, (void *, struct id *), (comm, &id)) == 0);
    CHECK(memcmp(&id, &zero, sizeof id));
    destroy(comm);
}

SNIPPET(ncclCommDestroy)
{
    destroy(world(2, 0));
    CHECK(CALL(int, ncclCommDestroy, (void *), (NULL)) == 0);
}

SNIPPET(ncclCommAbort)
{
    CHECK(CALL(int, ncclCommAbort, (void *), (world(2, 0))) == 0);
}

SNIPPET(ncclCommSuspend)
{
    uint64_t suspended = 9;
    void *comm = world(2, 0);
    CHECK(CALL(int, ncclCommSuspend, (void *, int), (comm, 1)) == 0);
    CHECK(CALL(int, ncclCommMemStats, (void *, int, uint64_t *), (comm, 1, &suspended)) == 0);
    CHECK(suspended == 1);
    destroy(comm);
}

SNIPPET(ncclCommResume)
{
    uint64_t suspended = 9;
    void *comm = world(2, 0);
    CHECK(CALL(int, ncclCommSuspend, (void *, int), (comm, 1)) == 0);
    CHECK(CALL(int, ncclCommResume, (void *), (comm)) == 0);
    CHECK(CALL(int, ncclCommMemStats, (void *, int, uint64_t *), (comm, 1, &suspended)) == 0);
    CHECK(suspended == 0);
    destroy(comm);
}

SNIPPET(ncclCommMemStats)
{
    void *comm = world(2, 0);
    uint64_t ring;
    all_reduce(comm);
    ring = memory_of(comm);
    CHECK(ring > 1 << 20);
    all_reduce(comm); /* is connected once */
    CHECK(memory_of(comm) == ring);
    CHECK(CALL(int, ncclSend, (const void *, size_t, int, int, void *, void *), (&ring, 1, FLOAT32, 1, comm, NULL)) ==
          0);
    CHECK(memory_of(comm) > ring); /* with a peer it has connections of its own */
    CHECK(CALL(int, ncclCommMemStats, (void *, int, uint64_t *), (comm, 17, NULL)) == 4);
    destroy(comm);
}

SNIPPET(ncclCommCount)
{
    int n = 0;
    CHECK(CALL(int, ncclCommCount, (void *, int *), (NULL, &n)) == 4);
}

SNIPPET(ncclCommCuDevice)
{
    int device = -1;
    void *comm = world(2, 0);
    CHECK(CALL(int, ncclCommCuDevice, (void *, int *), (comm, &device)) == 0);
    CHECK(device == 0);
    destroy(comm);
}

SNIPPET(ncclCommUserRank)
{
    int n = 0;
    CHECK(CALL(int, ncclCommUserRank, (void *, int *), (NULL, &n)) == 4);
}

SNIPPET(ncclGetErrorString)
{
    CHECK(!strcmp(CALL(const char *, ncclGetErrorString, (int), (0)), "no error"));
    CHECK(CALL(const char *, ncclGetErrorString, (int), (77)) != NULL);
}

SNIPPET(ncclGetLastError)
{
    CHECK(CALL(const char *, ncclGetLastError, (void *), (NULL)) != NULL);
}

SNIPPET(ncclMemAlloc)
{
    void *address = NULL;
    CHECK(CALL(int, ncclMemAlloc, (void **, size_t), (&address, 4096)) == 0);
    CHECK(address != NULL);
    CHECK(CALL(int, ncclMemFree, (void *), (address)) == 0);
}

SNIPPET(ncclMemFree)
{
    int here = 0;
    CHECK(CALL(int, ncclMemFree, (void *), (&here)) == 4);
}

SNIPPET(ncclCommWindowRegister)
{
    int here = 0;
    void *comm = world(2, 0), *window = NULL, *user = NULL;
    CHECK(CALL(int, ncclCommWindowRegister, (void *, void *, size_t, void **, int),
               (comm, &here, sizeof here, &window, 0)) == 0);
    CHECK(CALL(int, ncclWinGetUserPtr, (void *, void *, void **), (comm, window, &user)) == 0);
    CHECK(user == &here);
    CHECK(CALL(int, ncclCommWindowDeregister, (void *, void *), (comm, window)) == 0);
    destroy(comm);
}

SNIPPET(ncclCommWindowDeregister)
{
    CHECK(CALL(int, ncclCommWindowDeregister, (void *, void *), (NULL, NULL)) == 0);
}

SNIPPET(ncclWinGetUserPtr)
{
    CHECK(CALL(int, ncclWinGetUserPtr, (void *, void *, void **), (NULL, NULL, NULL)) == 4);
}

static void start(void)
{
    CHECK(CALL(int, ncclGroupStart, (void), ()) == 0);
}

static void end(void)
{
    CHECK(CALL(int, ncclGroupEnd, (void), ()) == 0);
}

SNIPPET(ncclGroupStart)
{
    start();
    start();
    end();
    end();
}

/* An all-gather made of broadcasts, and an all-to-all made of sends and receives. */
SNIPPET(ncclGroupEnd)
{
    float own[2] = {7, 8}, to[4] = {0};
    void *comm = world(4, 2);
    CHECK(CALL(int, ncclGroupEnd, (void), ()) == 5);
    start();
    for (int root = 0; root < 4; root++)
        CHECK(CALL(int, ncclBroadcast, (const void *, void *, size_t, int, int, void *, void *),
                   (root == 2 ? own : to + root, to + root, 1, FLOAT32, root, comm, NULL)) == 0);
    end();
    CHECK(to[0] == 7 && to[1] == 7 && to[2] == 7 && to[3] == 7);
    start();
    for (int peer = 0; peer < 4; peer++) {
        CHECK(CALL(int, ncclRecv, (void *, size_t, int, int, void *, void *),
                   (to + peer, 1, FLOAT32, peer, comm, NULL)) == 0);
        CHECK(CALL(int, ncclSend, (const void *, size_t, int, int, void *, void *),
                   (own + (peer == 2), 1, FLOAT32, peer, comm, NULL)) == 0);
    }
    end();
    CHECK(to[0] == 8 && to[3] == 8);
    destroy(comm);
}

SNIPPET(ncclGroupSimulateEnd)
{
    struct {
        size_t size;
        unsigned magic, version;
        float time;
    } info = {24, 0, 0, 5};
    start();
    CHECK(CALL(int, ncclGroupSimulateEnd, (void *), (&info)) == 0);
    CHECK(info.time >= 0 && info.time < 5);
}

SNIPPET(ncclRedOpCreatePreMulSum)
{
    int a = 0, b = 0;
    float scale = 2;
    CHECK(CALL(int, ncclRedOpCreatePreMulSum, (int *, void *, int, int, void *), (&a, &scale, FLOAT32, 1, NULL)) == 0);
    CHECK(CALL(int, ncclRedOpCreatePreMulSum, (int *, void *, int, int, void *), (&b, &scale, FLOAT32, 1, NULL)) == 0);
    CHECK(a > 4 && b > 4 && a != b);
}

/* Host memory stands for device memory here: a copy does not mind. */
SNIPPET(ncclAllReduce)
{
    float from[2] = {1, 2}, to[2] = {0};
    void *comm = world(4, 1);
    CHECK(CALL(int, ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, 2, FLOAT32, SUM, comm, NULL)) == 0);
    CHECK(!memcmp(from, to, sizeof to));
    CHECK(CALL(int, ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, 2, 99, SUM, comm, NULL)) == 4);
    CHECK(CALL(int, ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, SIZE_MAX, FLOAT32, SUM, comm, NULL)) == 4);
    destroy(comm);
}

SNIPPET(ncclReduce)
{
    float from[1] = {3}, to[1] = {0};
    void *comm = world(4, 1);
    CHECK(CALL(int, ncclReduce, (const void *, void *, size_t, int, int, int, void *, void *),
               (from, to, 1, FLOAT32, SUM, 0, comm, NULL)) == 0);
    CHECK(to[0] == 0);
    CHECK(CALL(int, ncclReduce, (const void *, void *, size_t, int, int, int, void *, void *),
               (from, to, 1, FLOAT32, SUM, 1, comm, NULL)) == 0);
    CHECK(to[0] == 3);
    destroy(comm);
}

SNIPPET(ncclReduceScatter)
{
    float from[4] = {1, 2, 3, 4}, to[1] = {0};
    void *comm = world(4, 2);
    CHECK(CALL(int, ncclReduceScatter, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, 1, FLOAT32, SUM, comm, NULL)) == 0);
    CHECK(to[0] == 3);
    destroy(comm);
}

SNIPPET(ncclAllGather)
{
    float from[1] = {7}, to[5] = {0};
    void *comm = world(4, 2), *child;
    CHECK(CALL(int, ncclAllGather, (const void *, void *, size_t, int, void *, void *),
               (from, to, 1, FLOAT32, comm, NULL)) == 0);
    CHECK(to[0] == 7 && to[3] == 7 && to[4] == 0);
    /* A group of unknown size: nothing is written beyond this rank's slot. */
    memset(to, 0, sizeof to);
    child = split(comm, 99, 1);
    CHECK(CALL(int, ncclAllGather, (const void *, void *, size_t, int, void *, void *),
               (from, to, 1, FLOAT32, child, NULL)) == 0);
    CHECK(to[0] == 7 && to[1] == 7 && to[2] == 0);
    destroy(child);
    destroy(comm);
}

SNIPPET(ncclBroadcast)
{
    float from[1] = {7}, to[1] = {0};
    void *comm = world(2, 0);
    CHECK(CALL(int, ncclBroadcast, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, 1, FLOAT32, 0, comm, NULL)) == 0);
    CHECK(to[0] == 7);
    destroy(comm);
}

SNIPPET(ncclBcast)
{
    float data[1] = {7};
    void *comm = world(2, 0);
    CHECK(CALL(int, ncclBcast, (void *, size_t, int, int, void *, void *), (data, 1, FLOAT32, 0, comm, NULL)) == 0);
    CHECK(data[0] == 7);
    destroy(comm);
}

SNIPPET(ncclAlltoAll)
{
    float from[2] = {1, 2}, to[2] = {0};
    void *comm = world(2, 1);
    CHECK(CALL(int, ncclAlltoAll, (const void *, void *, size_t, int, void *, void *),
               (from, to, 1, FLOAT32, comm, NULL)) == 0);
    CHECK(to[0] == 2 && to[1] == 2);
    destroy(comm);
}

SNIPPET(ncclGather)
{
    float from[1] = {5}, to[2] = {0};
    void *comm = world(2, 1);
    CHECK(CALL(int, ncclGather, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, 1, FLOAT32, 1, comm, NULL)) == 0);
    CHECK(to[0] == 5 && to[1] == 5);
    destroy(comm);
}

SNIPPET(ncclScatter)
{
    float from[2] = {5, 6}, to[1] = {0};
    void *comm = world(2, 1);
    CHECK(CALL(int, ncclScatter, (const void *, void *, size_t, int, int, void *, void *),
               (from, to, 1, FLOAT32, 1, comm, NULL)) == 0);
    CHECK(to[0] == 6);
    destroy(comm);
}

SNIPPET(ncclSend)
{
    float data[1] = {5};
    void *comm = world(2, 1);
    CHECK(CALL(int, ncclSend, (const void *, size_t, int, int, void *, void *), (data, 1, FLOAT32, 0, comm, NULL)) ==
          0);
    destroy(comm);
}

SNIPPET(ncclRecv)
{
    float data[1] = {5};
    void *comm = world(2, 1);
    CHECK(CALL(int, ncclRecv, (void *, size_t, int, int, void *, void *), (data, 1, FLOAT32, 0, comm, NULL)) == 0);
    CHECK(data[0] == 5);
    destroy(comm);
}
