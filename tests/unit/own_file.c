#include "common/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static struct plm_own_file own;

static void own_open(const char *name)
{
    unit_write(unit_path(name), "own", 3);
    assert_int_equal(plm_own_file_open(&own, unit_path(name), O_RDWR | O_NOFOLLOW), 0);
}

/* A file of the program's at that number. */
static void number_take(int fd, const char *name)
{
    int other;
    unit_write(unit_path(name), "theirs", 6);
    other = open(unit_path(name), O_RDWR | O_CLOEXEC);
    assert_true(other >= 0);
    assert_int_equal(dup2(other, fd), fd);
    close(other);
}

static bool number_is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void text_is(int fd, const char *text)
{
    char read[16] = "";
    assert_true(pread(fd, read, sizeof read - 1, 0) >= 0);
    assert_string_equal(read, text);
}

static void high_and_not_inherited(void **state)
{
    (void)state;
    own_open("a");
    assert_true(own.fd >= 512);
    assert_int_equal(fcntl(own.fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(plm_own_file_use(&own), own.fd);
    plm_own_file_close(&own);
    assert_int_equal(own.fd, -1);
}

static void as_high_as_the_limit_allows(void **state)
{
    struct rlimit before, few;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){300, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    own_open("a");
    assert_in_range(own.fd, 256, 299);
    plm_own_file_close(&own);
    few.rlim_cur = 12;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    own_open("a");
    assert_in_range(own.fd, 3, 11);
    assert_int_equal(plm_own_file_use(&own), own.fd);
    plm_own_file_close(&own);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void closed_by_the_program(void **state)
{
    int fd;
    (void)state;
    own_open("a");
    close(own.fd);
    fd = plm_own_file_use(&own);
    assert_true(fd >= 512 && fd == own.fd);
    text_is(fd, "own");
    plm_own_file_close(&own);
    assert_false(number_is_open(fd));
}

/* The program's file stays open at its number, and what it is. */
static void replaced_by_the_program(void **state)
{
    int before, fd;
    (void)state;
    own_open("a");
    before = own.fd;
    number_take(before, "theirs");
    assert_false(plm_own_file_is(&own, before));
    fd = plm_own_file_use(&own);
    assert_true(fd >= 0 && fd != before);
    text_is(fd, "own");
    text_is(before, "theirs");
    number_take(fd, "theirs");
    plm_own_file_close(&own);
    text_is(fd, "theirs");
    plm_own_file_drop(&own, before);
    text_is(before, "theirs");
    close(fd);
    close(before);
}

/* What is at the path by now is not waited for, and not kept open. */
static void path_that_leads_elsewhere(void **state)
{
    static const struct {
        const char *what;
        int error;
    } rows[] = {{"nothing", ENOENT}, {"file", ESTALE}, {"link", ESTALE}, {"pipe", ESTALE}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int next = dup(0);
        close(next);
        own_open("a");
        close(own.fd);
        assert_int_equal(rename(unit_path("a"), unit_path("b")), 0);
        if (i == 1)
            unit_write(unit_path("a"), "other", 5);
        else if (i == 2)
            assert_int_equal(symlink("b", unit_path("a")), 0);
        else if (i == 3)
            assert_int_equal(mkfifo(unit_path("a"), 0600), 0);
        assert_int_equal(plm_own_file_use(&own), -1);
        assert_int_equal(errno, rows[i].error);
        assert_int_equal(plm_own_file_again(&own), -1);
        assert_int_equal(dup(0), next); /* nothing was left open */
        assert_false(number_is_open(512));
        close(next);
        unlink(unit_path("a"));
        assert_int_equal(rename(unit_path("b"), unit_path("a")), 0);
        assert_true(plm_own_file_use(&own) >= 0); /* it is back */
        plm_own_file_close(&own);
    }
}

static void no_path(void **state)
{
    char path[PATH_MAX + 8];
    (void)state;
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(plm_own_file_open(&own, path, O_RDWR), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    assert_int_equal(plm_own_file_open(&own, unit_path("absent"), O_RDWR), -1);
    assert_int_equal(own.fd, -1);
    plm_own_file_close(&own); /* nothing */
}

static void again_is_another_one(void **state)
{
    int fd;
    (void)state;
    own_open("a");
    fd = plm_own_file_again(&own);
    assert_true(fd >= 0 && fd != own.fd);
    assert_int_equal(lseek(fd, 2, SEEK_SET), 2); /* a place of its own */
    assert_int_equal(lseek(own.fd, 0, SEEK_CUR), 0);
    plm_own_file_drop(&own, fd);
    assert_false(number_is_open(fd));
    plm_own_file_close(&own);
}

/* ---- threads ---- */

enum { THREADS = 4, TURNS = 200 };

static pthread_barrier_t turn;

static void *use_in_turns(void *failed)
{
    for (int i = 0; i < TURNS; i++) {
        pthread_barrier_wait(&turn);
        if (plm_own_file_use(&own) < 0)
            *(bool *)failed = true;
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

static int numbers_of_own(void)
{
    int count = 0;
    for (int fd = 3; fd < 1024; fd++)
        count += plm_own_file_is(&own, fd);
    return count;
}

/* All want it when it has been closed: all get it, and nothing is left open besides. */
static void opened_again_by_many(void **state)
{
    pthread_t thread[THREADS];
    bool failed[THREADS] = {false};
    (void)state;
    own_open("a");
    assert_int_equal(pthread_barrier_init(&turn, NULL, THREADS + 1), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, use_in_turns, &failed[i]), 0);
    for (int i = 0; i < TURNS; i++) {
        close(own.fd);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        assert_int_equal(numbers_of_own(), 1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_false(failed[i]);
    }
    plm_own_file_close(&own);
    pthread_barrier_destroy(&turn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(high_and_not_inherited),    cmocka_unit_test(as_high_as_the_limit_allows),
        cmocka_unit_test(closed_by_the_program),     cmocka_unit_test(replaced_by_the_program),
        cmocka_unit_test(path_that_leads_elsewhere), cmocka_unit_test(no_path),
        cmocka_unit_test(again_is_another_one),      cmocka_unit_test(opened_again_by_many),
    };
    return RUN(tests);
}
