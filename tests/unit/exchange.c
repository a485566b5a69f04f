/* Collectives of the NCCL shim between processes: what every rank reads afterwards is what NCCL's documentation says. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"
#include "unit.h"
#include "world/messages.h"

enum { RANKS = 3, MOST = 16 };
enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, HALF, FLOAT, DOUBLE, BFLOAT };
enum { SUM, PRODUCT, MAX, MIN, MEAN };
#define NEED(condition) \
    if (!(condition))   \
    _exit(__LINE__ % 255 + 1)

struct id {
    char bytes[128];
};

/* ---- one rank ---- */

static void *library, *comm;
static int rank_here;
#define CALL(name, parameters, arguments) ((int(*) parameters)dlsym(library, #name)) arguments
#define GATHER_LIKE                       (const void *, void *, size_t, int, void *, void *)
#define REDUCE_LIKE                       (const void *, void *, size_t, int, int, void *, void *)
#define ROOT_LIKE                         (const void *, void *, size_t, int, int, void *, void *)

static void *device_new(const void *bytes, size_t size)
{
    uint64_t at = 0;
    NEED(!plm_mem_alloc(0, size, &at));
    if (bytes)
        plm_copy((void *)at, bytes, size);
    return (void *)at;
}

static void read_is(const void *device, const int64_t *want, size_t count)
{
    int64_t got[MOST * 2];
    plm_copy(got, device, count * sizeof *got);
    NEED(!memcmp(got, want, count * sizeof *got));
}

static void world(void)
{
    static const struct id id = {"the same for all"};
    NEED(!CALL(ncclCommInitRank, (void **, int, struct id, int), (&comm, RANKS, id, rank_here)));
}

/* ---- the ranks ---- */

static void ranks_run(int count, void (*body)(void))
{
    pid_t pid[RANKS];
    char path[PATH_MAX];
    const int board = plm_messages_create();
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), board);
    setenv("PLIMSOLL_MESSAGES", path, 1);
    for (int i = 0; i < count; i++) {
        pid[i] = fork();
        if (pid[i])
            continue;
        rank_here = i;
        snprintf(path, sizeof path, "%s/libnccl.so.2", getenv("PLM_SHIMS"));
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        NEED(library);
        world();
        body();
        _exit(0);
    }
    for (int i = 0; i < count; i++) {
        int status;
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), 0);
    }
    close(board);
}

static void gathers(void)
{
    const int64_t own[] = {rank_here, 10 * rank_here};
    void *from = device_new(own, sizeof own), *to = device_new(NULL, 6 * sizeof *own);
    NEED(!CALL(ncclAllGather, GATHER_LIKE, (from, to, 2, INT64, comm, NULL)));
    read_is(to, (const int64_t[]){0, 0, 1, 10, 2, 20}, 6);
    from = device_new(own, sizeof own);
    to = device_new(NULL, 6 * sizeof *own);
    NEED(!CALL(ncclGather, ROOT_LIKE, (from, to, 2, INT64, 1, comm, NULL)));
    if (rank_here == 1)
        read_is(to, (const int64_t[]){0, 0, 1, 10, 2, 20}, 6);
}

static void scatters(void)
{
    const int64_t own[] = {100 * rank_here, 100 * rank_here + 1, 100 * rank_here + 2};
    void *from = device_new(own, sizeof own), *to = device_new(NULL, sizeof own);
    NEED(!CALL(ncclScatter, ROOT_LIKE, (from, to, 1, INT64, 2, comm, NULL)));
    read_is(to, (const int64_t[]){200 + rank_here}, 1);
    from = device_new(own, sizeof own);
    to = device_new(NULL, sizeof own);
    NEED(!CALL(ncclAlltoAll, GATHER_LIKE, (from, to, 1, INT64, comm, NULL)));
    read_is(to, (const int64_t[]){rank_here, 100 + rank_here, 200 + rank_here}, 3);
}

static void broadcasts(void)
{
    const int64_t own[] = {7 + rank_here};
    void *at = device_new(own, sizeof own), *to = device_new(NULL, sizeof own);
    NEED(!CALL(ncclBroadcast, ROOT_LIKE, (at, to, 1, INT64, 2, comm, NULL)));
    read_is(to, (const int64_t[]){9}, 1);
    at = device_new(own, sizeof own);
    NEED(!CALL(ncclBcast, (void *, size_t, int, int, void *, void *), (at, 1, INT64, 0, comm, NULL)));
    read_is(at, (const int64_t[]){7}, 1);
    NEED(!CALL(ncclBcast, (void *, size_t, int, int, void *, void *), (to, 1, INT64, 1, comm, NULL)));
    read_is(to, (const int64_t[]){9}, 1); /* what was received is sent on */
}

static void sums(void)
{
    const int64_t own[] = {rank_here + 1, -rank_here, 5};
    static const int64_t want[][3] = {
        [SUM] = {6, -3, 15}, [PRODUCT] = {6, 0, 125}, [MAX] = {3, 0, 5}, [MIN] = {1, -2, 5}, [MEAN] = {2, -1, 5}};
    for (int op = SUM; op <= MEAN; op++) {
        void *at = device_new(own, sizeof own), *root = device_new(own, sizeof own), *part;
        NEED(!CALL(ncclAllReduce, REDUCE_LIKE, (at, at, 3, INT64, op, comm, NULL)));
        read_is(at, want[op], 3);
        NEED(!CALL(ncclReduce, (const void *, void *, size_t, int, int, int, void *, void *),
                   (root, root, 3, INT64, op, 1, comm, NULL)));
        if (rank_here == 1)
            read_is(root, want[op], 3);
        at = device_new(own, sizeof own);
        part = device_new(NULL, sizeof *own);
        NEED(!CALL(ncclReduceScatter, REDUCE_LIKE, (at, part, 1, INT64, op, comm, NULL)));
        read_is(part, want[op] + rank_here, 1);
    }
}

/* 1 + 2 + 3 in each type: IEEE 754 and bfloat16 write 1, 2, 3 and 6 like this. */
static void types(void)
{
    static const struct {
        int type;
        size_t bytes;
        uint64_t one[RANKS], six;
    } rows[] = {
        {INT8, 1, {1, 2, 3}, 6},
        {UINT8, 1, {1, 2, 3}, 6},
        {INT32, 4, {1, 2, 3}, 6},
        {UINT32, 4, {1, 2, 3}, 6},
        {UINT64, 8, {1, 2, 3}, 6},
        {HALF, 2, {0x3c00, 0x4000, 0x4200}, 0x4600},
        {HALF, 2, {0x0001, 0x0002, 0x03fd}, 0x0400}, /* below 2^-14, and up to it */
        {HALF, 2, {0x7bff, 0x7bff, 0x3c00}, 0x7c00}, /* 65504 twice: infinite */
        {HALF, 2, {0x7800, 0x0000, 0x0000}, 0x7800}, /* 32768 */
        {HALF, 2, {0x7c00, 0x3c00, 0x0000}, 0x7c00}, /* infinite and 1 */
        {HALF, 2, {0xfc00, 0x0000, 0x7bff}, 0xfc00},
        {FLOAT, 4, {0x3f800000, 0x40000000, 0x40400000}, 0x40c00000},
        {DOUBLE, 8, {0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000}, 0x4018000000000000},
        {BFLOAT, 2, {0x3f80, 0x4000, 0x4040}, 0x40c0},
        {BFLOAT, 2, {0x4380, 0x3f80, 0x3f80}, 0x4380}, /* 256 + 1 is between two: to the even one */
        {UINT8, 1, {200, 100, 0}, 44}, /* wraps around */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t got = 0;
        void *at = device_new(&rows[i].one[rank_here], rows[i].bytes);
        NEED(!CALL(ncclAllReduce, REDUCE_LIKE, (at, at, 1, rows[i].type, SUM, comm, NULL)));
        plm_copy(&got, at, rows[i].bytes);
        NEED(got == rows[i].six);
    }
}

/* Sends and receives of a group; the second of two is the second, in whatever order they are read. */
static void singles(void)
{
    const int next = (rank_here + 1) % RANKS, last = (rank_here + RANKS - 1) % RANKS;
    void *got[2];
    for (int i = 0; i < 2; i++) {
        const int64_t own[] = {rank_here * 10 + i};
        void *from = device_new(own, sizeof own);
        got[i] = device_new(NULL, sizeof own);
        NEED(!CALL(ncclGroupStart, (void), ()));
        NEED(!CALL(ncclSend, (const void *, size_t, int, int, void *, void *), (from, 1, INT64, next, comm, NULL)));
        NEED(!CALL(ncclRecv, (void *, size_t, int, int, void *, void *), (got[i], 1, INT64, last, comm, NULL)));
        NEED(!CALL(ncclGroupEnd, (void), ()));
    }
    read_is(got[1], (const int64_t[]){last * 10 + 1}, 1);
    read_is(got[0], (const int64_t[]){last * 10}, 1);
}

/* One sender, the same number of sends to each: nobody gets what is another's. */
static void addresses(void)
{
    void *got = device_new(NULL, sizeof(int64_t));
    for (int peer = RANKS - 1; !rank_here && peer > 0; peer--) {
        void *from = device_new(&(int64_t){50 + peer}, sizeof(int64_t));
        NEED(!CALL(ncclSend, (const void *, size_t, int, int, void *, void *), (from, 1, INT64, peer, comm, NULL)));
    }
    if (!rank_here)
        return;
    NEED(!CALL(ncclRecv, (void *, size_t, int, int, void *, void *), (got, 1, INT64, 0, comm, NULL)));
    read_is(got, &(int64_t){50 + rank_here}, 1);
}

/* Two communicators, used in another order by each rank. */
static void orders(void)
{
    static const struct id id = {"another one"};
    void *other, *at[2], *comms[2];
    const int64_t own[] = {rank_here};
    NEED(!CALL(ncclCommInitRank, (void **, int, struct id, int), (&other, RANKS, id, rank_here)));
    comms[0] = comm;
    comms[1] = other;
    for (int i = 0; i < 2; i++) {
        const int which = (i + rank_here) % 2;
        at[which] = device_new(own, sizeof own);
        NEED(!CALL(ncclBroadcast, ROOT_LIKE, (at[which], at[which], 1, INT64, 1 + which, comms[which], NULL)));
    }
    read_is(at[0], (const int64_t[]){1}, 1);
    read_is(at[1], (const int64_t[]){2}, 1);
}

/* Members 2 and 0, in this order; 1 stays outside. */
static void splits(void)
{
    void *child = comm;
    const int64_t own[] = {rank_here};
    void *at = device_new(own, sizeof own), *to = device_new(NULL, 2 * sizeof *own);
    if (rank_here != 1)
        CALL(plm_hook_group, (const char *, const char *, const uint32_t *, uint32_t, uint32_t),
             ("pair", "2,0", (const uint32_t[]){2, 0}, 2, rank_here == 0));
    NEED(!CALL(ncclCommSplit, (void *, int, int, void **, void *),
               (comm, rank_here == 1 ? -1 : 5, rank_here == 0, &child, NULL)));
    if (rank_here == 1)
        return;
    NEED(!CALL(ncclAllGather, GATHER_LIKE, (at, to, 1, INT64, child, NULL)));
    read_is(to, (const int64_t[]){2, 0}, 2);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What nobody reads is not waited for: ranks 1 and 2 are there, and say nothing. */
static void unread(void)
{
    const double begun = now();
    const int64_t own[] = {rank_here, 3};
    void *at = device_new(own, sizeof own);
    if (rank_here) {
        sleep(3);
        return;
    }
    NEED(!CALL(ncclBroadcast, ROOT_LIKE, (at, at, 2, INT64, 1, comm, NULL)));
    plm_copy(at, own, sizeof own); /* and what is overwritten neither */
    read_is(at, own, 2);
    NEED(!CALL(ncclBroadcast, ROOT_LIKE, (at, at, 2, INT64, 1, comm, NULL)));
    NEED(!plm_mem_free((uint64_t)at));
    NEED(now() - begun < 2);
}

/* A large one is not carried; those after it are. The unit is what a rank sends. */
static void large(void)
{
    enum { BYTES = PLM_MESSAGE_MOST + 8 };
    static char bytes[BYTES];
    const int64_t own[] = {rank_here};
    void *at, *small;
    memset(bytes, rank_here + 1, sizeof bytes);
    at = device_new(bytes, sizeof bytes);
    NEED(!CALL(ncclBroadcast, ROOT_LIKE, (at, at, sizeof bytes / 8, INT64, 1, comm, NULL)));
    plm_copy(bytes, at, sizeof bytes);
    NEED(bytes[0] == rank_here + 1 && bytes[BYTES - 1] == rank_here + 1);
    small = device_new(own, sizeof own);
    NEED(!CALL(ncclBroadcast, ROOT_LIKE, (small, small, 1, INT64, 1, comm, NULL)));
    read_is(small, (const int64_t[]){1}, 1);
}

/* What a kernel wrote is not known, and nor is a sum with it: each keeps what it has, and nobody waits. */
static void unknown(void)
{
    const int64_t own[] = {rank_here};
    void *at = device_new(own, sizeof own);
    if (rank_here == 1)
        plm_launch("kernel");
    NEED(!CALL(ncclAllReduce, REDUCE_LIKE, (at, at, 1, INT64, SUM, comm, NULL)));
    read_is(at, own, 1);
}

/* As the hook calls it, after PyTorch's own barrier. */
static void barrier(void)
{
    const double begun = now();
    void *at = device_new(NULL, 4);
    if (rank_here == 2)
        sleep(1);
    NEED(!CALL(ncclAllReduce, REDUCE_LIKE, (at, at, 1, FLOAT, SUM, comm, NULL)));
    NEED(now() - begun < 0.9 || rank_here == 2);
    CALL(plm_hook_barrier, (void), ());
    NEED(now() - begun > 0.9);
}

#define TEST(name)                        \
    static void test_##name(void **state) \
    {                                     \
        (void)state;                      \
        ranks_run(RANKS, name);           \
    }
TEST(gathers)
TEST(scatters)
TEST(broadcasts)
TEST(sums)
TEST(types)
TEST(singles)
TEST(addresses)
TEST(orders)
TEST(splits)
TEST(large)
TEST(unknown)
TEST(unread)
TEST(barrier)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gathers),   cmocka_unit_test(test_scatters), cmocka_unit_test(test_broadcasts),
        cmocka_unit_test(test_sums),      cmocka_unit_test(test_types),    cmocka_unit_test(test_singles),
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_orders),   cmocka_unit_test(test_splits),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_unknown),  cmocka_unit_test(test_unread),
        cmocka_unit_test(test_barrier),
    };
    return RUN(tests);
}
