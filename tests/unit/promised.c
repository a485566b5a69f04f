/* Memory whose bytes will come: when they are asked for, and when not any more. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"
#include "device/internal.h"
#include "device/promised.h"
#include "unit.h"

enum { SIZE = 8 };

static struct {
    int asked, patiently;
    bool there; /* what was promised */
    void (*meanwhile)(const struct plm_promise *promise);
} peer;

static bool keep(const struct plm_promise *promise, bool patient)
{
    peer.asked++;
    peer.patiently += patient;
    if (peer.meanwhile)
        peer.meanwhile(promise);
    if (!patient && !peer.there)
        return false;
    plm_promise_write(promise, 0, "promised", SIZE);
    plm_promise_write(promise, SIZE, "too much", SIZE); /* is not written */
    return true;
}

static char *memory(uint64_t size)
{
    uint64_t at = 0;
    assert_int_equal(plm_mem_alloc(0, size, &at), 0);
    return (char *)at;
}

static char *promised(void)
{
    char *at = memory(2 * SIZE);
    peer.asked = peer.patiently = 0;
    peer.there = false;
    peer.meanwhile = NULL;
    plm_copy(at, "0123456789abcdef", 2 * SIZE);
    plm_promise_add(&(struct plm_promise){(uint64_t)at, SIZE, plm_launch_count(), keep, malloc(1)});
    return at;
}

static void assert_reads(const char *at, const char *text)
{
    char got[2 * SIZE + 1] = "";
    plm_copy(got, at, strlen(text));
    assert_string_equal(got, text);
}

static void it_is_kept_when_it_is_read(void **state)
{
    char *at = promised();
    (void)state;
    assert_int_equal(peer.patiently, 0);
    assert_reads(at + SIZE, "89abcdef"); /* beside it: nobody asks */
    assert_int_equal(peer.patiently, 0);
    assert_reads(at, "promised89abcdef");
    assert_reads(at, "promised");
    assert_int_equal(peer.patiently, 1);
    plm_mem_free((uint64_t)at);
}

static void it_is_kept_when_it_is_copied_or_sent(void **state)
{
    char *at = promised(), *other = memory(SIZE);
    (void)state;
    plm_copy(other, at, SIZE);
    assert_reads(other, "promised");
    plm_mem_free((uint64_t)at);
    at = promised();
    assert_int_equal(plm_bytes_known(at, SIZE, plm_launch_count()), SIZE);
    assert_reads(at, "promised");
    plm_mem_free((uint64_t)at);
}

static void a_later_one_has_the_older_looked_for(void **state)
{
    char *at = promised(), *other;
    (void)state;
    peer.there = true;
    other = memory(SIZE);
    plm_promise_add(&(struct plm_promise){(uint64_t)other, SIZE, 0, keep, malloc(1)});
    assert_int_equal(peer.patiently, 0);
    peer.there = false;
    assert_reads(at, "promised");
    assert_int_equal(peer.patiently, 0);
    plm_mem_free((uint64_t)at);
    plm_mem_free((uint64_t)other);
}

static void what_is_overwritten_is_not_awaited(void **state)
{
    char *at = promised();
    (void)state;
    plm_copy(at, "written", SIZE);
    assert_reads(at, "written");
    assert_int_equal(peer.patiently, 0);
    plm_mem_free((uint64_t)at);
    at = promised();
    plm_fill(at, 'f', 1, SIZE);
    assert_reads(at, "ffffffff89");
    assert_int_equal(peer.patiently, 0);
    plm_mem_free((uint64_t)at);
    at = promised();
    plm_memory_recycle((uint64_t)at, 2 * SIZE);
    plm_copy(at, "fresh", 6);
    assert_reads(at, "fresh");
    assert_int_equal(peer.patiently, 0);
    plm_mem_free((uint64_t)at);
    at = promised();
    plm_mem_free((uint64_t)at);
    assert_ptr_equal(memory(2 * SIZE), at); /* the same place */
    plm_copy(at, "fresh", 6);
    assert_reads(at, "fresh");
    assert_int_equal(peer.patiently, 0);
    plm_mem_free((uint64_t)at);
}

static void a_part_that_is_overwritten_leaves_the_rest(void **state)
{
    char *at = promised();
    (void)state;
    plm_copy(at + 2, "XY", 2);
    assert_reads(at, "prXYised");
    plm_mem_free((uint64_t)at);
}

static void recycle(const struct plm_promise *promise)
{
    plm_memory_recycle(promise->address, promise->bytes);
    memcpy((char *)promise->address, "another", SIZE);
}

static void one_that_is_stale_meanwhile_is_not_written(void **state)
{
    char *at = promised();
    (void)state;
    peer.meanwhile = recycle;
    assert_reads(at, "another");
    plm_mem_free((uint64_t)at);
}

static void pause_a_moment(const struct plm_promise *promise)
{
    (void)promise;
    nanosleep(&(struct timespec){0, 50000000}, NULL);
}

static void *reads(void *at)
{
    char got[SIZE + 1] = "";
    plm_copy(got, at, SIZE);
    return (void *)(uintptr_t)!strcmp(got, "promised");
}

static void two_threads_wait_for_one_promise(void **state)
{
    char *at = promised();
    pthread_t thread[2];
    void *right;
    (void)state;
    peer.meanwhile = pause_a_moment;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, reads, at), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &right);
        assert_ptr_equal(right, (void *)1);
    }
    assert_int_equal(peer.patiently, 1);
    plm_mem_free((uint64_t)at);
}

/* ---- a fork while somebody waits ---- */

enum { CHILD_LIMIT = 20, ROUNDS = 3 };

static _Atomic pid_t second;       /* the thread that finds the promise busy */
static _Atomic bool keeping, hold; /* the first keeps it, until it may go on */

static void *reads_second(void *at)
{
    atomic_store(&second, (pid_t)syscall(SYS_gettid));
    return reads(at);
}

/* Until the second thread sleeps: nothing but the promise can make it. */
static void await_second(void)
{
    for (char state = 0; state != 'S'; sched_yield()) {
        char path[64];
        FILE *in;
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)atomic_load(&second));
        in = atomic_load(&second) ? fopen(path, "re") : NULL;
        if (in && fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (in)
            fclose(in);
    }
}

static void hold_until_both_wait(const struct plm_promise *promise)
{
    (void)promise;
    atomic_store(&keeping, true);
    await_second();
    while (atomic_load(&hold))
        sched_yield();
}

struct pair {
    pthread_t first, second;
};

static struct pair pair_start(char *at)
{
    struct pair pair;
    atomic_store(&second, 0);
    atomic_store(&keeping, false);
    peer.meanwhile = hold_until_both_wait;
    if (pthread_create(&pair.first, NULL, reads, at))
        abort();
    while (!atomic_load(&keeping))
        sched_yield();
    if (pthread_create(&pair.second, NULL, reads_second, at))
        abort();
    return pair;
}

static bool pair_read(const struct pair *pair)
{
    void *first, *other;
    pthread_join(pair->first, &first);
    pthread_join(pair->second, &other);
    return first && other;
}

/* Of two threads that wait in the parent, the child has none. */
static int child_keeps(char *at)
{
    bool right = true;
    alarm(CHILD_LIMIT);
    atomic_store(&hold, false);
    for (int round = 0; round < ROUNDS; round++) {
        struct pair pair;
        peer.meanwhile = NULL;
        plm_copy(at, "0123456789abcdef", 2 * SIZE);
        plm_promise_add(&(struct plm_promise){(uint64_t)at, SIZE, plm_launch_count(), keep, malloc(1)});
        pair = pair_start(at);
        right &= pair_read(&pair);
    }
    return !right;
}

static void a_child_waits_for_nobody_of_its_parent(void **state)
{
    char *at = promised();
    struct pair pair;
    int status = -1;
    pid_t child;
    (void)state;
    atomic_store(&hold, true);
    pair = pair_start(at);
    await_second();
    child = fork();
    if (child == 0)
        _exit(child_keeps(at));
    assert_int_equal(waitpid(child, &status, 0), child);
    atomic_store(&hold, false);
    assert_true(pair_read(&pair));
    assert_int_equal(status, 0); /* SIGALRM: it told somebody that is not there, and waited for the answer */
    plm_mem_free((uint64_t)at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_kept_when_it_is_read),
        cmocka_unit_test(it_is_kept_when_it_is_copied_or_sent),
        cmocka_unit_test(a_later_one_has_the_older_looked_for),
        cmocka_unit_test(what_is_overwritten_is_not_awaited),
        cmocka_unit_test(a_part_that_is_overwritten_leaves_the_rest),
        cmocka_unit_test(one_that_is_stale_meanwhile_is_not_written),
        cmocka_unit_test(two_threads_wait_for_one_promise),
        cmocka_unit_test(a_child_waits_for_nobody_of_its_parent),
    };
    unit_record(unit_path("promised.plm"));
    return RUN(tests);
}
