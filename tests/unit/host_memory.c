/* Memory of the plimsoll program: it never fails, so the program ends with one sentence when there is none left. */
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/names.h"
#include "unit.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1"; /* as without it */
}
#else
enum { SANITIZED = 0 };
#endif

/* A size that calloc() refuses, unknown to the compiler. */
static volatile size_t huge = SIZE_MAX / 4;

static void ask_calloc(void)
{
    plm_calloc(huge, 1);
}

static void ask_too_many(void)
{
    plm_realloc(NULL, huge, 16); /* more bytes than a number can say */
}

static void ask_to_grow(void)
{
    size_t room = huge;
    plm_grow(NULL, room, &room, 1);
}

static void ask_to_double(void)
{
    size_t room = 3 * huge;
    plm_grow(NULL, room, &room, 1);
}

/* Little by little, as a reader does. */
static void limit_memory(void)
{
    const struct rlimit limit = {64u << 20, 64u << 20};
    setrlimit(RLIMIT_AS, &limit);
}

static void fill_array(void)
{
    uint64_t *array = NULL;
    size_t room = 0;
    limit_memory();
    for (size_t i = 0;; i++) {
        array = plm_grow(array, i, &room, sizeof *array);
        array[i] = i;
    }
}

static void fill_map(void)
{
    struct plm_map map = {0};
    limit_memory();
    for (uint64_t i = 0;; i++)
        plm_map_put(&map, i, i);
}

static void fill_names(void)
{
    struct plm_names names = {0};
    char text[1024] = {0};
    limit_memory();
    memset(text, 'x', 1000);
    for (unsigned i = 0;; i++) {
        snprintf(text + 1000, 24, "%u", i);
        plm_names_add(&names, text);
    }
}

/* In a child of its own: what it says and how it ends. */
static void expect_the_sentence(void (*ask)(void))
{
    static const char sentence[] = "plimsoll: out of host memory: free some, or use a smaller job\n";
    char said[4096] = "", *tail;
    int ends[2], status;
    size_t length = 0;
    pid_t child;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        ask();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; length < sizeof said - 1 && (n = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)n;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 125);
    tail = said;
    if (SANITIZED && length > strlen(sentence)) /* it warns before calloc() returns NULL */
        tail = said + length - strlen(sentence);
    assert_string_equal(tail, sentence);
}

static void ends_with_one_sentence(void **state)
{
    (void)state;
    expect_the_sentence(ask_calloc);
    expect_the_sentence(ask_too_many);
    expect_the_sentence(ask_to_grow);
    expect_the_sentence(ask_to_double);
}

static void ends_when_it_is_used_up(void **state)
{
    (void)state;
    if (SANITIZED)
        skip(); /* its shadow takes more than any limit */
    expect_the_sentence(fill_array);
    expect_the_sentence(fill_map);
    expect_the_sentence(fill_names);
}

static void gives_what_is_asked_for(void **state)
{
    size_t room = 0;
    char *none = plm_calloc(0, 8), *copy = plm_strndup("abcdef", 3), *text = plm_asprintf("%d-%s", 7, copy);
    int *array = NULL;
    (void)state;
    assert_non_null(none);
    assert_string_equal(copy, "abc");
    assert_string_equal(text, "7-abc");
    for (int i = 0; i < 1000; i++) {
        array = plm_grow(array, (size_t)i, &room, sizeof *array);
        array[i] = i;
    }
    assert_int_equal(room, 1024);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    free(none);
    free(copy);
    free(text);
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_with_one_sentence),
                                       cmocka_unit_test(ends_when_it_is_used_up),
                                       cmocka_unit_test(gives_what_is_asked_for)};
    return RUN(tests);
}
