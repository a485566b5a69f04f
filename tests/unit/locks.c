/* What threads and forks may do at the same time: nothing hangs, no update is lost. The first test needs a fresh process. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/context.h"
#include "device/device.h"
#include "device/footprint.h"
#include "device/internal.h"
#include "device/lock.h"
#include "device/module.h"
#include "device/pool.h"
#include "device/promised.h"
#include "device/stream.h"
#include "record/writer.h"
#include "unit.h"

enum { TIME_LIMIT = 60 }; /* seconds: whoever hangs is killed by the alarm */

static void *runtime;

static void *symbol(const char *name)
{
    void *found = dlsym(runtime, name);
    if (!found)
        fail_msg("there is no %s", name);
    return found;
}
#define CALL(result, name, types, arguments) (((result(*) types)symbol(name))arguments)

static int start(void **state)
{
    char path[4096];
    (void)state;
    alarm(TIME_LIMIT);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    unit_record(unit_path("locks.plm"));
    snprintf(path, sizeof path, "%s/libcudart.so.13", getenv("PLM_SHIMS"));
    runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!runtime)
        fail_msg("%s", dlerror());
    return 0;
}

/* With eager loading the context is made, and all code looked at, when the first variable is given its place. */
static void a_symbol_is_the_first_call(void **state)
{
    static const char ptx[] = ".version 8.0\n.target sm_50\n.visible .entry first() { ret; }\n";
    static struct {
        uint32_t magic, version;
        const void *data, *unused;
    } wrapper = {0x466243b1u, 1, ptx, NULL};
    static char shadow;
    void **binary, *at = NULL;
    (void)state;
    binary = CALL(void **, "__cudaRegisterFatBinary", (void *), (&wrapper));
    CALL(void, "__cudaRegisterVar", (void **, char *, char *, const char *, int, size_t, int, int),
         (binary, &shadow, NULL, "shadow", 0, 64, 0, 0));
    assert_int_equal(CALL(int, "cudaGetSymbolAddress", (void **, const void *), (&at, &shadow)), 0);
    assert_non_null(at);
}

/* ---- two threads write into one page ---- */

enum { HALF = PLM_PAGE / 2, ROUNDS = 20 };

struct writer {
    pthread_t thread;
    pthread_barrier_t *together;
    uint64_t first;
    int step;
    unsigned lost;
};

static void *write_half(void *data)
{
    struct writer *w = data;
    uint64_t at = w->first;
    pthread_barrier_wait(w->together);
    for (int i = 0; i < HALF; i++, at += (uint64_t)w->step) {
        plm_memory_written(at, 1, 0);
        w->lost += !plm_memory_fresh(at, 1, 0);
    }
    return NULL;
}

/* One begins in the middle and goes up, the other goes down: both widen what the page knows to be written. */
static void no_write_is_lost(void **state)
{
    unsigned lost = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_t together;
        uint64_t page = 0;
        assert_int_equal(plm_mem_alloc(0, PLM_PAGE, &page), 0);
        pthread_barrier_init(&together, NULL, 2);
        struct writer up = {.together = &together, .first = page + HALF, .step = 1};
        struct writer down = {.together = &together, .first = page + HALF - 1, .step = -1};
        assert_int_equal(pthread_create(&up.thread, NULL, write_half, &up), 0);
        assert_int_equal(pthread_create(&down.thread, NULL, write_half, &down), 0);
        pthread_join(up.thread, NULL);
        pthread_join(down.thread, NULL);
        lost += up.lost + down.lost;
        assert_int_equal(plm_mem_free(page), 0);
        pthread_barrier_destroy(&together);
    }
    assert_int_equal(lost, 0);
}

/* ---- a fork while other threads are busy ---- */

enum { FORKS = 100, CHILD_LIMIT = 20 };

static atomic_bool stop;

/* Takes every lock of the device once. */
static void everything(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_50\n";
    struct plm_module *module;
    struct plm_kernel *kernel;
    struct plm_stream *stream;
    struct plm_graph *graph;
    struct plm_pool *pool;
    uint64_t at, handle;
    void *pinned;
    bool ok = plm_mem_alloc(0, 100, &at) == 0 && plm_mem_free(at) == 0;
    ok &= plm_vmm_create(0, PLM_PAGE, &handle) == 0 && plm_vmm_release(handle) == 0;
    ok &= plm_mem_host_alloc(4096, 0, &pinned) == 0 && plm_mem_host_free(pinned) == 0;
    ok &= plm_module_open(ptx, &module) == 0 && plm_module_kernel(module, "kernel", &kernel) == 0;
    plm_footprint_kernel(0, kernel);
    plm_module_close(module);
    ok &= plm_pool_create(0, &pool) == 0 && plm_pool_alloc(pool, NULL, 512, &at) == 0;
    ok &= plm_pool_free(at, NULL) == 0 && plm_pool_destroy(pool) == 0;
    ok &= plm_stream_create(1, 0, &stream) == 0 && plm_capture_begin(stream, PLM_CAPTURE_RELAXED) == 0;
    ok &= plm_capture_end(stream, &graph) == 0 && plm_graph_destroy(graph) == 0 && plm_stream_destroy(stream) == 0;
    plm_context_enter_phase(PLM_PHASE_FORWARD);
    plm_context_now();
    plm_context_leave();
    plm_record_note("busy", "thread");
    if (!ok)
        abort();
}

static void *be_busy(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop))
        everything();
    return NULL;
}

static void a_child_finds_all_locks_free(void **state)
{
    pthread_t thread[2];
    (void)state;
    for (size_t i = 0; i < COUNT(thread); i++)
        assert_int_equal(pthread_create(&thread[i], NULL, be_busy, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        int status = 0;
        if (child == 0) {
            alarm(CHILD_LIMIT);
            everything();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0); /* SIGALRM: it waited for a lock that nobody holds */
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < COUNT(thread); i++)
        pthread_join(thread[i], NULL);
}

/* ---- the order is checked ---- */

/* A later row, which the first's does not name. */
static void not_in_the_table(void)
{
    struct plm_lock first = PLM_LOCK_INIT(PLM_LOCK_POOLS), second = PLM_LOCK_INIT(PLM_LOCK_HOST);
    plm_lock_take(&first);
    plm_lock_take(&second);
}

static void out_of_order(void)
{
    struct plm_lock first = PLM_LOCK_INIT(PLM_LOCK_HOST), second = PLM_LOCK_INIT(PLM_LOCK_POOLS);
    plm_lock_take(&first);
    plm_lock_take(&second);
}

static void one_rank_twice(void)
{
    struct plm_lock first = PLM_LOCK_INIT(PLM_LOCK_SHIM), second = PLM_LOCK_INIT(PLM_LOCK_SHIM);
    plm_lock_take(&first);
    plm_lock_take(&second);
}

static void call_out_with_a_lock(void)
{
    struct plm_lock lock = PLM_LOCK_INIT(PLM_LOCK_HOST);
    plm_lock_take(&lock);
    plm_lock_check_none();
}

static void in_order(void)
{
    struct plm_lock first = PLM_LOCK_INIT(PLM_LOCK_POOLS), second = PLM_LOCK_INIT(PLM_LOCK_SPACE);
    for (int i = 0; i < 2; i++) {
        plm_lock_take(&first);
        plm_lock_take(&second);
        plm_lock_give(&first);
        plm_lock_give(&second);
    }
    plm_lock_check_none();
}

static bool aborts(void (*body)(void))
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    return status != 0;
}

static void the_order_is_checked(void **state)
{
#ifdef PLM_CHECKED
    const bool checked = true;
#else
    const bool checked = false;
#endif
    (void)state;
    assert_int_equal(aborts(not_in_the_table), checked);
    assert_int_equal(aborts(out_of_order), checked);
    assert_int_equal(aborts(one_rank_twice), checked);
    assert_int_equal(aborts(call_out_with_a_lock), checked);
    assert_false(aborts(in_order));
}

static bool never_kept(const struct plm_promise *promise, bool patient)
{
    (void)promise, (void)patient;
    return false;
}

/* The table has no order that nobody takes. */
static void all_orders_are_taken(void **state)
{
    struct plm_promise promise = {.bytes = 8, .keep = never_kept};
    uint64_t other = 0;
    (void)state;
    assert_int_equal(plm_mem_alloc(0, PLM_PAGE, &promise.address), 0);
    plm_promise_add(&promise);
    everything();
    assert_int_equal(plm_mem_alloc(0, 100, &other), 0);
    assert_int_equal(plm_mem_free(other), 0);
    assert_int_equal(plm_mem_free(promise.address), 0);
#ifdef PLM_CHECKED
    for (int rank = 0; rank < PLM_LOCK_RANKS; rank++)
        assert_int_equal(plm_lock_seen(rank), plm_lock_allowed(rank));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_symbol_is_the_first_call),   cmocka_unit_test(no_write_is_lost),
        cmocka_unit_test(a_child_finds_all_locks_free), cmocka_unit_test(the_order_is_checked),
        cmocka_unit_test(all_orders_are_taken),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
