/* Streams, events, capture and graphs. */
#include "device/stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "device/device.h"
#include "unit.h"

enum { NON_BLOCKING = 1 };

static struct plm_stream *new_stream(unsigned flags)
{
    struct plm_stream *s = NULL;
    assert_int_equal(plm_stream_create(flags, 0, &s), 0);
    return s;
}

static struct plm_event *new_event(void)
{
    struct plm_event *e = NULL;
    assert_int_equal(plm_event_create(0, &e), 0);
    return e;
}

static enum plm_capture_status status_of(struct plm_stream *s)
{
    enum plm_capture_status status = (enum plm_capture_status)99;
    plm_capture_info(s, &status, NULL, NULL, NULL, NULL);
    return status;
}

static size_t count(struct plm_graph *g)
{
    size_t n = 0;
    assert_int_equal(plm_graph_nodes(g, NULL, &n), 0);
    return n;
}

static void end(struct plm_stream *s, int expected, size_t nodes)
{
    struct plm_graph *g = NULL;
    assert_int_equal(plm_capture_end(s, &g), expected);
    if (expected) {
        assert_null(g);
        return;
    }
    assert_int_equal(count(g), nodes);
    plm_graph_destroy(g);
}

static void properties(void **state)
{
    struct plm_stream *s = NULL;
    unsigned flags = 99;
    int priority = 99, device = 99;
    uint64_t id = 0, other = 0;
    (void)state;
    assert_int_equal(plm_stream_create(NON_BLOCKING, -3, &s), 0);
    assert_int_equal(plm_stream_flags(s, &flags), 0);
    assert_int_equal(plm_stream_priority(s, &priority), 0);
    assert_int_equal(plm_stream_device(s, &device), 0);
    assert_true(flags == NON_BLOCKING && priority == -3 && device == 0);
    assert_int_equal(plm_stream_id(s, &id), 0);
    assert_int_equal(plm_stream_id(NULL, &other), 0);
    assert_int_not_equal(id, other);
    assert_int_equal(plm_stream_id(PLM_STREAM_LEGACY, &id), 0);
    assert_int_equal(id, other);
    assert_int_equal(plm_stream_destroy(NULL), PLM_STREAM_INVALID);
    assert_int_equal(plm_stream_destroy(PLM_STREAM_PER_THREAD), PLM_STREAM_INVALID);
    assert_int_equal(plm_stream_synchronize(s), 0);
    assert_int_equal(plm_stream_query(s), 0);
    assert_int_equal(plm_stream_destroy(s), 0);
}

static void captures_work(void **state)
{
    struct plm_stream *s = new_stream(NON_BLOCKING);
    struct plm_graph *graph = NULL;
    enum plm_capture_status status;
    uint64_t id = 0;
    size_t last = 99;
    bool run = true;
    (void)state;
    assert_int_equal(status_of(s), PLM_CAPTURE_NONE);
    assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_capture_info(s, &status, &id, &graph, NULL, &last), 0);
    assert_true(status == PLM_CAPTURE_ACTIVE && id && graph && last == 0);
    assert_int_equal(plm_stream_work(s), 0);
    assert_int_equal(plm_stream_enqueue(s, PLM_NODE_MEMSET, &run), 0);
    assert_false(run); /* a node, not an action */
    assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_GLOBAL), PLM_STREAM_NOT_CAPTURING);
    end(s, 0, 2);
    assert_int_equal(status_of(s), PLM_CAPTURE_NONE);
    assert_int_equal(plm_stream_enqueue(s, PLM_NODE_MEMSET, &run), 0);
    assert_true(run);
    end(s, PLM_STREAM_NOT_CAPTURING, 0);
    assert_int_equal(plm_capture_begin(NULL, PLM_CAPTURE_RELAXED), PLM_STREAM_UNSUPPORTED);
    plm_stream_destroy(s);
}

static void events_fork_and_join(void **state)
{
    struct plm_stream *a = new_stream(NON_BLOCKING), *b = new_stream(NON_BLOCKING);
    struct plm_event *fork = new_event(), *join = new_event();
    (void)state;
    assert_int_equal(plm_capture_begin(a, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_event_record(fork, a), 0);
    assert_int_equal(plm_stream_wait(b, fork), 0);
    assert_int_equal(status_of(b), PLM_CAPTURE_ACTIVE);
    assert_int_equal(plm_stream_work(b), 0);
    assert_int_equal(plm_event_record(join, b), 0);
    assert_int_equal(plm_stream_wait(a, join), 0);
    end(b, PLM_STREAM_UNSUPPORTED, 0); /* only where it began */
    end(a, 0, 1);
    assert_int_equal(status_of(b), PLM_CAPTURE_NONE); /* it left as well */
    /* An event that outlived its capture is an ordinary one. */
    assert_int_equal(plm_capture_begin(a, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_stream_wait(b, fork), 0);
    assert_int_equal(status_of(b), PLM_CAPTURE_NONE);
    end(a, 0, 0);
    plm_event_destroy(fork);
    plm_event_destroy(join);
    plm_stream_destroy(a);
    plm_stream_destroy(b);
}

static void forbidden_calls_invalidate(void **state)
{
    struct plm_stream *s = new_stream(NON_BLOCKING);
    struct plm_event *e = new_event();
    (void)state;
    assert_int_equal(plm_capture_unsafe_call(), 0);
    for (int i = 0; i < 4; i++) {
        int status = 0;
        assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_GLOBAL), 0);
        assert_int_equal(plm_event_record(e, s), 0);
        switch (i) {
        case 0: status = plm_stream_synchronize(s); break;
        case 1: status = plm_stream_query(s); break;
        case 2: status = plm_event_synchronize(e); break;
        case 3: status = plm_capture_unsafe_call(); break;
        }
        assert_int_equal(status, PLM_STREAM_UNSUPPORTED);
        assert_int_equal(status_of(s), PLM_CAPTURE_INVALIDATED);
        assert_int_equal(plm_stream_work(s), PLM_STREAM_INVALIDATED);
        end(s, PLM_STREAM_INVALIDATED, 0);
        assert_int_equal(plm_stream_work(s), 0);
    }
    plm_event_destroy(e);
    plm_stream_destroy(s);
}

static void the_legacy_stream(void **state)
{
    struct plm_stream *blocking = new_stream(0), *s = new_stream(NON_BLOCKING);
    (void)state;
    assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_THREAD_LOCAL), 0);
    assert_int_equal(plm_stream_work(NULL), 0); /* does not wait for a non-blocking stream */
    end(s, 0, 0);
    assert_int_equal(plm_capture_begin(blocking, PLM_CAPTURE_THREAD_LOCAL), 0);
    assert_int_equal(plm_stream_work(NULL), PLM_STREAM_IMPLICIT);
    end(blocking, PLM_STREAM_INVALIDATED, 0);
    plm_stream_destroy(blocking);
    plm_stream_destroy(s);
}

static void two_captures_stay_apart(void **state)
{
    struct plm_stream *a = new_stream(NON_BLOCKING), *b = new_stream(NON_BLOCKING);
    struct plm_event *e = new_event();
    (void)state;
    assert_int_equal(plm_capture_begin(a, PLM_CAPTURE_RELAXED), 0);
    assert_int_equal(plm_capture_begin(b, PLM_CAPTURE_RELAXED), 0);
    assert_int_equal(plm_event_record(e, a), 0);
    assert_int_equal(plm_stream_wait(b, e), PLM_STREAM_ISOLATION);
    end(a, PLM_STREAM_INVALIDATED, 0);
    end(b, PLM_STREAM_INVALIDATED, 0);
    plm_event_destroy(e);
    plm_stream_destroy(a);
    plm_stream_destroy(b);
}

static void *unsafe_elsewhere(void *argument)
{
    static int status;
    plm_capture_exchange_mode(*(enum plm_capture_mode *)argument);
    status = plm_capture_unsafe_call();
    return &status;
}

static int from_another_thread(enum plm_capture_mode mode)
{
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_create(&thread, NULL, unsafe_elsewhere, &mode), 0);
    pthread_join(thread, &status);
    return *(int *)status;
}

/* Which unsafe calls a capture forbids: rows are its mode, columns the mode of another thread. */
static void modes_of_threads(void **state)
{
    static const int expected[3][3] = {
        {PLM_STREAM_UNSUPPORTED, 0, 0},
        {0, 0, 0},
        {0, 0, 0},
    };
    static const int mine[3] = {PLM_STREAM_UNSUPPORTED, PLM_STREAM_UNSUPPORTED, 0};
    struct plm_stream *s = new_stream(NON_BLOCKING);
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        for (int other = 0; other < 3; other++) {
            assert_int_equal(plm_capture_begin(s, (enum plm_capture_mode)mode), 0);
            assert_int_equal(from_another_thread((enum plm_capture_mode)other), expected[mode][other]);
            end(s, expected[mode][other] ? PLM_STREAM_INVALIDATED : 0, 0);
        }
        assert_int_equal(plm_capture_begin(s, (enum plm_capture_mode)mode), 0);
        assert_int_equal(plm_capture_unsafe_call(), mine[mode]);
        end(s, mine[mode] ? PLM_STREAM_INVALIDATED : 0, 0);
    }
    assert_int_equal(plm_capture_exchange_mode(PLM_CAPTURE_RELAXED), PLM_CAPTURE_GLOBAL);
    assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_capture_unsafe_call(), 0); /* the thread vouches for itself */
    end(s, 0, 0);
    assert_int_equal(plm_capture_exchange_mode(PLM_CAPTURE_GLOBAL), PLM_CAPTURE_RELAXED);
    plm_stream_destroy(s);
}

static void *end_elsewhere(void *argument)
{
    static int status;
    struct plm_graph *graph = NULL;
    status = plm_capture_end(argument, &graph);
    plm_graph_destroy(graph);
    return &status;
}

static void ended_by_another_thread(void **state)
{
    struct plm_stream *s = new_stream(NON_BLOCKING);
    pthread_t thread;
    void *status;
    (void)state;
    assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, s), 0);
    pthread_join(thread, &status);
    assert_int_equal(*(int *)status, PLM_STREAM_WRONG_THREAD);
    end(s, 0, 0);
    assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_RELAXED), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, s), 0);
    pthread_join(thread, &status);
    assert_int_equal(*(int *)status, 0);
    plm_stream_destroy(s);
}

/* ProcessGroupNCCL asks whether a captured collective has ended where it has no watchdog; nobody may ask for anything else. */
static void end_of_a_collective(void **state)
{
    struct plm_stream *s = new_stream(NON_BLOCKING);
    struct plm_event *e = new_event();
    bool run;
    (void)state;
    assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_stream_enqueue(s, PLM_NODE_COLLECTIVE, &run), 0);
    assert_false(run);
    assert_int_equal(plm_event_record(e, s), 0);
    assert_int_equal(plm_event_query(e), 0);
    end(s, 0, 1);
    for (int turn = 0; turn < 3; turn++) { /* that of another capture; behind something else; waited for */
        assert_int_equal(plm_capture_begin(s, PLM_CAPTURE_GLOBAL), 0);
        assert_int_equal(turn ? plm_stream_enqueue(s, PLM_NODE_COLLECTIVE, &run) : 0, 0);
        assert_int_equal(turn == 1 ? plm_stream_work(s) : 0, 0);
        assert_int_equal(plm_event_record(e, s), 0);
        assert_int_equal(turn == 2 ? plm_event_synchronize(e) : plm_event_query(e), PLM_STREAM_UNSUPPORTED);
        end(s, PLM_STREAM_INVALIDATED, 0);
    }
    plm_event_destroy(e);
    plm_stream_destroy(s);
}

/* A capture must not outlive the stream it began on. */
static void destroyed_while_capturing(void **state)
{
    struct plm_stream *a = new_stream(0), *b = new_stream(NON_BLOCKING);
    struct plm_event *e = new_event();
    (void)state;
    assert_int_equal(plm_capture_begin(a, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_event_record(e, a), 0);
    assert_int_equal(plm_stream_wait(b, e), 0);
    assert_int_equal(plm_stream_destroy(a), 0);
    assert_int_equal(plm_capture_unsafe_call(), 0);
    assert_int_equal(plm_stream_work(NULL), 0);
    assert_int_equal(status_of(b), PLM_CAPTURE_NONE);
    assert_int_equal(plm_event_query(e), 0);
    plm_event_destroy(e);
    plm_stream_destroy(b);
}

static void capture_to_a_graph_of_ones_own(void **state)
{
    struct plm_stream *s = new_stream(NON_BLOCKING);
    struct plm_graph *graph = NULL, *out = NULL;
    (void)state;
    assert_int_equal(plm_graph_create(&graph), 0);
    assert_int_equal(plm_capture_begin_to_graph(s, graph, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_stream_work(s), 0);
    assert_int_equal(plm_capture_end(s, &out), 0);
    assert_ptr_equal(out, graph);
    assert_int_equal(plm_capture_begin_to_graph(s, graph, PLM_CAPTURE_GLOBAL), 0);
    assert_int_equal(plm_capture_unsafe_call(), PLM_STREAM_UNSUPPORTED);
    end(s, PLM_STREAM_INVALIDATED, 0);
    assert_int_equal(count(graph), 1); /* still the caller's */
    assert_int_equal(plm_graph_destroy(graph), 0);
    assert_int_equal(plm_capture_begin_to_graph(s, NULL, PLM_CAPTURE_GLOBAL), PLM_STREAM_INVALID);
    plm_stream_destroy(s);
}

static void graphs(void **state)
{
    struct plm_graph *g = NULL, *copy = NULL;
    struct plm_graph_exec *exec = NULL;
    struct plm_graph_node *node = NULL, *nodes[4];
    enum plm_node_type type = PLM_NODE_EMPTY;
    uint64_t before = plm_launch_count();
    size_t n = 4;
    (void)state;
    assert_int_equal(plm_graph_create(&g), 0);
    assert_int_equal(plm_graph_add(g, PLM_NODE_KERNEL, &node), 0);
    assert_int_equal(plm_graph_add(g, PLM_NODE_MEMCPY, NULL), 0);
    assert_int_equal(plm_graph_add(g, PLM_NODE_KERNEL, NULL), 0);
    assert_int_equal(plm_graph_node_type(node, &type), 0);
    assert_int_equal(type, PLM_NODE_KERNEL);
    assert_int_equal(plm_graph_nodes(g, nodes, &n), 0);
    assert_true(n == 3 && nodes[0] == node && !nodes[3]);
    n = 1;
    assert_int_equal(plm_graph_nodes(g, nodes, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(plm_graph_clone(g, &copy), 0);
    assert_int_equal(plm_graph_instantiate(copy, &exec), 0);
    plm_graph_destroy(g);
    plm_graph_destroy(copy);
    assert_int_equal(plm_graph_launch(exec, NULL), 0);
    assert_int_equal(plm_launch_count() - before, 2); /* its kernels */
    assert_int_equal(plm_graph_exec_destroy(exec), 0);
    assert_int_equal(plm_graph_destroy(NULL), PLM_STREAM_INVALID);
    assert_int_equal(plm_graph_add(NULL, PLM_NODE_EMPTY, &node), PLM_STREAM_INVALID);
}

static void time_follows_launches(void **state)
{
    struct plm_event *a = new_event(), *b = new_event(), *never = new_event();
    float ms = -1;
    (void)state;
    assert_int_equal(plm_event_record(a, NULL), 0);
    for (int i = 0; i < 100; i++)
        plm_launch(NULL);
    assert_int_equal(plm_event_record(b, NULL), 0);
    assert_int_equal(plm_event_elapsed(a, b, &ms), 0);
    assert_true(ms > 0.499f && ms < 0.501f);
    assert_int_equal(plm_event_elapsed(b, a, &ms), 0);
    assert_true(ms < 0.01f);
    assert_int_equal(plm_event_elapsed(a, never, &ms), PLM_STREAM_INVALID);
    plm_event_destroy(a);
    plm_event_destroy(b);
    plm_event_destroy(never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties),
        cmocka_unit_test(captures_work),
        cmocka_unit_test(events_fork_and_join),
        cmocka_unit_test(forbidden_calls_invalidate),
        cmocka_unit_test(the_legacy_stream),
        cmocka_unit_test(two_captures_stay_apart),
        cmocka_unit_test(modes_of_threads),
        cmocka_unit_test(ended_by_another_thread),
        cmocka_unit_test(end_of_a_collective),
        cmocka_unit_test(destroyed_while_capturing),
        cmocka_unit_test(capture_to_a_graph_of_ones_own),
        cmocka_unit_test(graphs),
        cmocka_unit_test(time_follows_launches),
    };
    return plm_device_count() == 1 ? RUN(tests) : 1;
}
