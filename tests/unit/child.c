#include "base/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#define SHELL(text) ((const char *const[]){"sh", "-c", text, NULL})

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void output_is_heard(void **state)
{
    char answer[16];
    int failure = -1, status;
    (void)state;
    status = plm_child_ask(&(struct plm_child){.words = SHELL("echo out; echo err >&2; cat; exit 7")}, 60, answer,
                           sizeof answer, &failure);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(failure, 0);
    assert_string_equal(answer, "out\n");
    status = plm_child_ask(&(struct plm_child){.words = SHELL("echo err >&2"), .errors = true}, 60, answer,
                           sizeof answer, &failure);
    assert_int_equal(status, 0);
    assert_string_equal(answer, "err\n");
    /* More than fits in the buffer, and than fits in a pipe. */
    status = plm_child_ask(&(struct plm_child){.words = SHELL("yes 0123456789 | head -c 300000")}, 60, answer,
                           sizeof answer, &failure);
    assert_int_equal(status, 0);
    assert_string_equal(answer, "0123456789\n0123");
}

/* The limit ends what the child has started too, which would hold the pipe open. */
static void limit_ends_the_group(void **state)
{
    char answer[32];
    int failure = 0, status;
    double start = now();
    pid_t grandchild;
    (void)state;
    status = plm_child_ask(&(struct plm_child){.words = SHELL("sleep 100 & echo $!; wait")}, 1, answer, sizeof answer,
                           &failure);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(failure, ETIMEDOUT);
    assert_true(now() - start < 20);
    grandchild = (pid_t)atoi(answer);
    assert_true(grandchild > 0);
    for (int i = 0; i < 500 && kill(grandchild, 0) == 0; i++) {
        char path[64], *text, *after;
        size_t size;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)grandchild);
        text = unit_read(path, &size);
        after = strrchr(text, ')');
        if (after && after[2] == 'Z') { /* dead, and nobody has reaped it yet */
            free(text);
            return;
        }
        free(text);
        usleep(10000);
    }
    assert_true(kill(grandchild, 0) < 0 && errno == ESRCH);
}

/* One that goes on in the background is not waited for. */
static void only_the_child_counts(void **state)
{
    char answer[32];
    int failure, status;
    double start = now();
    (void)state;
    status =
        plm_child_ask(&(struct plm_child){.words = SHELL("sleep 30 & echo $!")}, 60, answer, sizeof answer, &failure);
    assert_int_equal(status, 0);
    assert_true(now() - start < 20);
    kill((pid_t)atoi(answer), SIGKILL);
}

static void what_cannot_start(void **state)
{
    const char *plain = unit_path("plain");
    const char *const none[] = {"/no/such/program", NULL}, *const text[] = {plain, NULL};
    char answer[8];
    int failure;
    (void)state;
    unit_write(plain, "x", 1);
    assert_int_equal(plm_child_start(&(struct plm_child){.words = none}, &failure), -1);
    assert_int_equal(failure, ENOENT);
    assert_int_equal(plm_child_start(&(struct plm_child){.words = text}, &failure), -1);
    assert_int_equal(failure, EACCES);
    assert_int_equal(plm_child_start(&(struct plm_child){.words = SHELL("true"), .log = "/no/such/log"}, &failure), -1);
    assert_int_equal(failure, ENOENT);
    assert_int_equal(plm_child_ask(&(struct plm_child){.words = none}, 1, answer, sizeof answer, &failure), -1);
    assert_int_equal(failure, ENOENT);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* no zombie is left */
}

static void set_variable(void *context)
{
    setenv("PLM_UNIT_CHILD", context, 1);
}

static void log_and_prepare(void **state)
{
    const struct plm_child child = {.words = SHELL("echo $PLM_UNIT_CHILD; cat; echo err >&2; kill -9 $$"),
                                    .prepare = set_variable,
                                    .context = "seen",
                                    .log = unit_path("log")};
    char *text;
    int failure, status;
    size_t size;
    pid_t pid = plm_child_start(&child, &failure);
    (void)state;
    assert_true(pid > 0);
    status = plm_child_wait(pid, NULL, NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    text = unit_read(child.log, &size);
    assert_string_equal(text, "seen\nerr\n");
    free(text);
    assert_null(getenv("PLM_UNIT_CHILD"));
}

static int answer_with(void *context)
{
    return *(int *)context;
}

static void count_tick(void *context)
{
    ++*(int *)context;
}

static void body_and_ticks(void **state)
{
    int failure, value = 42, ticks = 0, status;
    pid_t pid = plm_child_start(&(struct plm_child){.body = answer_with, .context = &value}, &failure);
    (void)state;
    status = plm_child_wait(pid, NULL, NULL);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    pid = plm_child_start(&(struct plm_child){.words = SHELL("sleep 0.5")}, &failure);
    assert_int_equal(plm_child_wait(pid, count_tick, &ticks), 0);
    assert_true(ticks >= 2);
}

/* Again and again: the first may come before the parent waits. */
static int signal_parent(void *ready)
{
    while (access(ready, F_OK))
        usleep(10000);
    for (int i = 0; i < 20; i++) {
        kill(getppid(), SIGTERM);
        usleep(100000);
    }
    return 0;
}

static void signals_are_forwarded(void **state)
{
    const char *ready = unit_path("ready");
    const char *const words[] = {"sh", "-c", "trap 'exit 9' TERM; : >\"$0\"; while :; do sleep 0.05; done", ready,
                                 NULL};
    int failure, status;
    pid_t other, pid;
    (void)state;
    plm_child_forward_signals();
    pid = plm_child_start(&(struct plm_child){.words = words}, &failure);
    other = plm_child_start(&(struct plm_child){.body = signal_parent, .context = (void *)ready}, &failure);
    status = plm_child_wait(pid, NULL, NULL);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    plm_child_wait(other, NULL, NULL); /* it gets its own signals back */
}

static int start_and_wait(void *pids)
{
    int failure;
    pid_t pid = plm_child_start(&(struct plm_child){.words = SHELL("exec sleep 100")}, &failure);
    if (write(*(int *)pids, &pid, sizeof pid) != sizeof pid)
        return 1;
    return plm_child_wait(pid, NULL, NULL);
}

/* However the parent ends, its child does not go on. */
static void children_end_with_their_parent(void **state)
{
    int channel[2], failure, status;
    pid_t parent, child;
    (void)state;
    assert_int_equal(pipe(channel), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* to wait for a grandchild */
    parent = plm_child_start(&(struct plm_child){.body = start_and_wait, .context = &channel[1]}, &failure);
    assert_int_equal(read(channel[0], &child, sizeof child), sizeof child);
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void last_line(void **state)
{
    static const struct {
        const char *text, *workload, *own;
    } logs[] = {
        {"loss 1\nplimsoll: 2 iterations, 3 are needed\n", "loss 1", "2 iterations, 3 are needed"},
        {"KeyError: x\nplimsoll: the command failed with status 1\n", "KeyError: x", "KeyError: x"},
        {"KeyError: x\nplimsoll: the command was killed by signal 2 (Interrupt); the figures cover what ran\nplimsoll: "
         "8 steps\n\nPeak: 1\n",
         "KeyError: x", "KeyError: x"},
        {"hello\nplimsoll: the command failed with status 5 before it imported torch\n", "hello",
         "the command failed with status 5 before it imported torch"},
        {"plimsoll: no PyTorch\n", "no PyTorch", "no PyTorch"},
        {"a\033[1mb\r\n\n", "a?[1mb", "a?[1mb"},
        {"", "", ""},
    };
    const char *path = unit_path("log");
    char line[PLM_LAST_LINE], text[2000];
    (void)state;
    for (size_t i = 0; i < COUNT(logs); i++) {
        unit_write(path, logs[i].text, strlen(logs[i].text));
        plm_child_last_line(fopen(path, "re"), false, line);
        assert_string_equal(line, logs[i].workload);
        plm_child_last_line(fopen(path, "re"), true, line);
        assert_string_equal(line, logs[i].own);
    }
    memset(text, 'x', sizeof text);
    memcpy(text, "TypeError: ", 11);
    text[sizeof text - 1] = '\n';
    unit_write(path, text, sizeof text);
    plm_child_last_line(fopen(path, "re"), true, line);
    assert_memory_equal(line, "TypeError: xxx", 14); /* how a long line begins */
    plm_child_last_line(fopen(unit_path("no log"), "re"), true, line);
    assert_string_equal(line, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_heard),
        cmocka_unit_test(limit_ends_the_group),
        cmocka_unit_test(only_the_child_counts),
        cmocka_unit_test(what_cannot_start),
        cmocka_unit_test(log_and_prepare),
        cmocka_unit_test(body_and_ticks),
        cmocka_unit_test(signals_are_forwarded),
        cmocka_unit_test(last_line),
        cmocka_unit_test(children_end_with_their_parent),
    };
    return RUN(tests);
}
