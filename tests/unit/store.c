/* The store's protocol. Requests and answers are those that torch.distributed.TCPStore of 2.15 exchanged with its own server. */
#include "world/store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"
#include "unit.h"
#include "world/peer.h"
#include "world/store_keys.h"
#include "world/store_server.h"

#define HELLO      "\0\xce\xf7\x85\x3c"
#define SAYS(text) text, sizeof(text) - 1

static struct plm_store_client *joined(struct plm_store *s, int process)
{
    struct plm_store_client *c = plm_store_join(s, process);
    assert_int_equal(plm_store_feed(s, c, SAYS(HELLO)), 0);
    return c;
}

static void answers(struct plm_store_client *c, const void *text, size_t size)
{
    size_t there;
    const void *answer = plm_store_answer(c, &there);
    assert_int_equal(there, size);
    if (size)
        assert_memory_equal(answer, text, size);
    plm_store_sent(c, there);
}

static void asks(struct plm_store *s, struct plm_store_client *c, const void *question, size_t size, const void *text,
                 size_t answer)
{
    assert_int_equal(plm_store_feed(s, c, question, size), 0);
    answers(c, text, answer);
}

#define ASKS(s, c, question, text) asks(s, c, SAYS(question), SAYS(text))

/* Lengths and numbers are 64 bits, the lowest byte first. */
#define L1 "\1\0\0\0\0\0\0\0"
#define L2 "\2\0\0\0\0\0\0\0"
#define L3 "\3\0\0\0\0\0\0\0"
#define L0 "\0\0\0\0\0\0\0\0"

static void as_pytorch_speaks(void **state)
{
    struct plm_store *s = plm_store_new(2, 1);
    struct plm_store_client *c = joined(s, 1);
    (void)state;
    ASKS(s, c, "\r\x14\x5c\0\0", "\x14\x5c\0\0"); /* ping */
    ASKS(s, c, "\1" L2 "/k" L1 "v", ""); /* set */
    ASKS(s, c, "\3" L2 "/k", L1 "v"); /* get */
    ASKS(s, c, "\4" L2 "/n" L3, L3); /* add */
    ASKS(s, c, "\3" L2 "/n", L1 "3"); /* a counter is a text */
    ASKS(s, c, "\6" L1 L2 "/k", "\0"); /* wait for what is there */
    ASKS(s, c, "\5" L2 L2 "/k" L2 "/n", "\0"); /* check */
    ASKS(s, c, "\5" L2 L2 "/k" L2 "/z", "\1"); /* not there */
    ASKS(s, c, "\2" L3 "/zz" L3 "exp" L3 "des", L3 "exp"); /* compare and set */
    ASKS(s, c, "\2" L2 "/k" L1 "v" L1 "w", L1 "w");
    ASKS(s, c, "\x0b" L2 L2 "/a" L1 "x" L2 "/b" L1 "y", ""); /* multi set */
    ASKS(s, c, "\x0a" L2 L2 "/a" L2 "/b", L1 "x" L1 "y"); /* multi get */
    ASKS(s, c, "\x09" L2 "/a" L1 "!", ""); /* append */
    ASKS(s, c, "\3" L2 "/a", L2 "x!");
    ASKS(s, c, "\7", "\4\0\0\0\0\0\0\0"); /* number of keys */
    ASKS(s, c, "\x08" L2 "/n", L1); /* delete */
    ASKS(s, c, "\x08" L2 "/n", L0);
    ASKS(s, c, "\x0e" L2 "/q" L1 "x", ""); /* queue: push, pop, length */
    ASKS(s, c, "\6" L1 L2 "/q", "\0");
    ASKS(s, c, "\x0f" L2 "/q", L1 L1 "x");
    ASKS(s, c, "\x0f" L2 "/q", L0);
    ASKS(s, c, "\x10" L2 "/q", L0);
    ASKS(s, c, "\x12" L2 "/b" L1, "\0"); /* a barrier of one */
    plm_store_free(s);
    s = plm_store_new(2, 1);
    c = joined(s, 1);
    ASKS(s, c, "\1" L2 "/k" L1 "v", "");
    ASKS(s, c, "\x11", L1 L2 "/k"); /* list */
    plm_store_free(s);
}

/* A request may come in any pieces, and several at once. */
static void in_pieces(void **state)
{
    static const char text[] = "\1" L2 "/k" L1 "v\4" L2 "/n" L3 "\3" L2 "/k";
    struct plm_store *s = plm_store_new(2, 1);
    struct plm_store_client *c = joined(s, 1), *d = joined(s, 1);
    (void)state;
    for (size_t i = 0; i + 1 < sizeof text; i++)
        assert_int_equal(plm_store_feed(s, c, text + i, 1), 0);
    answers(c, SAYS(L3 L1 "v"));
    ASKS(s, d, "\4" L2 "/n" L1 "\3" L2 "/k", "\4\0\0\0\0\0\0\0" L1 "v");
    plm_store_free(s);
}

static void live_ranks_wait_for_each_other(void **state)
{
    struct plm_store *s = plm_store_new(8, 2);
    struct plm_store_client *a = joined(s, 10), *b = joined(s, 20);
    (void)state;
    ASKS(s, a, "\6" L2 L2 "/k" L2 "/m", "");
    assert_true(plm_store_waits(a));
    assert_false(plm_store_stuck(s)); /* b could end it */
    ASKS(s, b, "\1" L2 "/k" L1 "v", "");
    answers(a, SAYS(""));
    ASKS(s, b, "\1" L2 "/m" L1 "v", "");
    answers(a, SAYS("\0"));
    assert_false(plm_store_waits(a));
    ASKS(s, a, "\x12" L2 "/b" L2, ""); /* a barrier of two */
    ASKS(s, b, "\x12" L2 "/b" L2, "\0");
    answers(a, SAYS("\0"));
    ASKS(s, a, "\6" L1 L2 "/x", "");
    ASKS(s, a, "\x0c", "\1"); /* gives the wait up */
    ASKS(s, a, "\6" L1 L2 "/x", "");
    ASKS(s, b, "\6" L1 L2 "/y", "");
    assert_true(plm_store_stuck(s));
    plm_store_drop(s, b);
    assert_false(plm_store_stuck(s)); /* it may come again */
    plm_store_free(s);
}

/* By pattern: how many keys were made up, and whether they were read as data. */
static void made_up(const struct plm_store *s, const char *pattern, uint64_t keys, bool read)
{
    const struct plm_store_made *made;
    for (size_t i = plm_store_made(s, &made); i-- > 0;)
        if (!strcmp(made[i].pattern, pattern)) {
            assert_int_equal(made[i].keys, keys);
            assert_int_equal(made[i].read, read);
            return;
        }
    fail_msg("%s was not made up", pattern);
}

static void absent_ranks_are_made_up(void **state)
{
    static const char zeros[128];
    struct plm_store *s = plm_store_new(8, 1);
    struct plm_store_client *c = joined(s, 1);
    size_t size;
    (void)state;
    joined(s, 1); /* a second connection of the process, as a watchdog has it, does not count */
    ASKS(s, c, "\1\3\0\0\0\0\0\0\0r/5" L1 "m", "");
    ASKS(s, c, "\6" L2 L3 "r/3" L3 "r/6", "");
    assert_true(plm_store_stuck(s));
    assert_int_equal(plm_store_make_up(s), 1);
    answers(c, SAYS("\0"));
    ASKS(s, c, "\3" L3 "r/6", L1 "m"); /* a peer does as this rank does */
    made_up(s, "r/#", 2, false);
    ASKS(s, c, "\6" L1 L1 "d", "");
    assert_int_equal(plm_store_make_up(s), 1);
    answers(c, SAYS("\0"));
    made_up(s, "d", 1, false);
    assert_int_equal(plm_store_feed(s, c, SAYS("\3" L1 "d")), 0);
    assert_memory_equal((const char *)plm_store_answer(c, &size) + 8, zeros, sizeof zeros);
    assert_int_equal(size, 8 + sizeof zeros);
    plm_store_sent(c, size);
    made_up(s, "d", 1, true);
    /* What NCCL's group makes an identifier of says nothing. */
    ASKS(s, c, "\6" L1 "\x0a\0\0\0\0\0\0\0//cuda//00", "");
    plm_store_make_up(s);
    answers(c, SAYS("\0"));
    assert_int_equal(plm_store_feed(s, c, SAYS("\3\x0a\0\0\0\0\0\0\0//cuda//00")), 0);
    plm_store_answer(c, &size);
    plm_store_sent(c, size);
    made_up(s, "//cuda//#", 1, false);
    ASKS(s, c, "\x12" L2 "/b\x08\0\0\0\0\0\0\0", ""); /* a barrier of all */
    assert_int_equal(plm_store_make_up(s), 1);
    answers(c, SAYS("\0"));
    ASKS(s, c, "\3" L2 "/b", L1 "8");
    assert_int_equal(plm_store_make_up(s), 0);
    plm_store_free(s);
}

/* while (store.add(key, 0) < world): the other ranks would have come by now. */
static void counters_that_are_watched(void **state)
{
    struct plm_store *s = plm_store_new(8, 1);
    struct plm_store_client *c = joined(s, 1);
    (void)state;
    ASKS(s, c, "\4" L1 "n" L1, L1);
    ASKS(s, c, "\4" L1 "n" L0, L1);
    ASKS(s, c, "\4" L1 "n" L0, "\x08\0\0\0\0\0\0\0");
    ASKS(s, c, "\4" L1 "n" L0, "\x08\0\0\0\0\0\0\0");
    ASKS(s, c, "\4" L1 "n" L1, "\x09\0\0\0\0\0\0\0"); /* the next round */
    ASKS(s, c, "\3" L1 "n", L1 "9");
    ASKS(s, c, "\3" L1 "n", L2 "16");
    /* Numbers that nobody counts to. */
    ASKS(s, c, "\4" L1 "m\xff\xff\xff\xff\xff\xff\xff\x7f", "\xff\xff\xff\xff\xff\xff\xff\x7f");
    ASKS(s, c, "\4" L1 "m" L1, "\xff\xff\xff\xff\xff\xff\xff\x7f");
    ASKS(s, c, "\x12" L1 "m" L3, "\0");
    plm_store_free(s);
}

/* As PyTorch's documentation of compare_set() has it: it sets where the value is the expected one, or where there is
   none and nothing is expected, and answers what is there then. */
static void comparing(void **state)
{
    struct plm_store *s = plm_store_new(2, 2);
    struct plm_store_client *c = joined(s, 1), *d = joined(s, 2);
    (void)state;
    ASKS(s, d, "\6" L1 L2 "/k", "");
    ASKS(s, c, "\2" L2 "/k" L1 "a" L1 "b", L1 "a"); /* not there */
    ASKS(s, c, "\5" L1 L2 "/k", "\1");
    ASKS(s, c, "\2" L2 "/k" L0 L1 "b", L1 "b");
    answers(d, SAYS("\0")); /* whoever waits for it goes on */
    ASKS(s, c, "\2" L2 "/k" L1 "a" L1 "c", L1 "b"); /* another one */
    ASKS(s, c, "\2" L2 "/k" L2 "bb" L1 "c", L1 "b");
    ASKS(s, c, "\2" L2 "/k" L0 L1 "c", L1 "b");
    ASKS(s, c, "\2" L2 "/k" L1 "b" L1 "c", L1 "c");
    ASKS(s, c, "\3" L2 "/k", L1 "c");
    plm_store_free(s);
}

/* Whatever makes a key ends the wait for it; one thing in a queue ends one wait. */
static void what_ends_waits(void **state)
{
    struct plm_store *s = plm_store_new(4, 4);
    struct plm_store_client *a = joined(s, 1), *b = joined(s, 2), *c = joined(s, 3);
    size_t first, second;
    (void)state;
    ASKS(s, a, "\6" L1 L1 "n", "");
    ASKS(s, b, "\6" L1 L1 "t", "");
    ASKS(s, c, "\4" L1 "n" L1, L1);
    answers(a, SAYS("\0"));
    ASKS(s, c, "\x09" L1 "t" L1 "v", "");
    answers(b, SAYS("\0"));
    ASKS(s, a, "\6" L1 L1 "p", "");
    ASKS(s, c, "\x0b" L2 L1 "o" L1 "x" L1 "p" L1 "y", "");
    answers(a, SAYS("\0"));
    ASKS(s, a, "\6" L1 L1 "q", "");
    ASKS(s, b, "\6" L1 L1 "q", "");
    ASKS(s, c, "\x0e" L1 "q" L1 "x", "");
    plm_store_answer(a, &first);
    plm_store_answer(b, &second);
    assert_int_equal(first + second, 1);
    ASKS(s, c, "\x0e" L1 "q" L1 "y", "");
    answers(a, SAYS("\0"));
    answers(b, SAYS("\0"));
    ASKS(s, c, "\x10" L1 "q", L2);
    ASKS(s, c, "\x0f" L1 "q", L2 L1 "x");
    ASKS(s, c, "\x10" L1 "q", L1);
    ASKS(s, c, "\7", "\4\0\0\0\0\0\0\0"); /* a queue is no key: n, t, o, p */
    ASKS(s, a, "\x12" L1 "b" L2, "");
    ASKS(s, b, "\x12" L1 "b" L2, "\0");
    answers(a, SAYS("\0"));
    ASKS(s, a, "\x12" L1 "b" L2, ""); /* the next round */
    ASKS(s, b, "\x12" L1 "b" L2, "\0");
    answers(a, SAYS("\0"));
    ASKS(s, a, "\x12" L1 "z" L0, "\0"); /* a barrier of none */
    plm_store_free(s);
}

/* Connections of one process are one rank: its own thread may end the wait. */
static void who_is_stuck(void **state)
{
    struct plm_store *s = plm_store_new(8, 2);
    struct plm_store_client *a, *b;
    (void)state;
    assert_false(plm_store_stuck(s));
    a = joined(s, 1);
    b = joined(s, 1);
    ASKS(s, a, "\6" L1 L1 "x", "");
    ASKS(s, b, "\6" L1 L1 "y", "");
    assert_false(plm_store_stuck(s)); /* the second rank has not come */
    b = joined(s, 2);
    assert_false(plm_store_stuck(s)); /* and does not wait */
    ASKS(s, b, "\6" L1 L1 "x", "");
    assert_true(plm_store_stuck(s));
    plm_store_free(s);
    s = plm_store_new(8, 0);
    assert_false(plm_store_stuck(s)); /* nobody is there */
    plm_store_free(s);
}

/* Beside others that live a counter is read fifty times before it counts as waited for, and anew after each change. */
static void counters_among_others(void **state)
{
    struct plm_store *s = plm_store_new(8, 2);
    struct plm_store_client *c = joined(s, 1);
    (void)state;
    ASKS(s, c, "\4" L1 "n" L1, L1);
    for (int i = 0; i < 40; i++)
        ASKS(s, c, "\4" L1 "n" L0, L1);
    ASKS(s, c, "\4" L1 "n" L1, L2);
    for (int i = 0; i < 50; i++)
        ASKS(s, c, "\4" L1 "n" L0, L2);
    ASKS(s, c, "\4" L1 "n" L0, "\x08\0\0\0\0\0\0\0");
    ASKS(s, c, "\4" L1 "z" L0, L0);
    for (int i = 0; i < 60; i++)
        ASKS(s, c, "\4" L1 "z" L0, L0); /* nobody has come: that is no barrier */
    plm_store_free(s);
}

static void numbers_of_counters(void **state)
{
    struct plm_store_keys keys = {.world = 2};
    static const struct {
        const char *text;
        int64_t number;
    } texts[] = {{"", 0}, {"17", 17}, {"-3", -3}, {"x", 0}, {"99999999999999999999999999999999", INT64_MAX}};
    (void)state;
    assert_int_equal(plm_store_multiple(0, 8), 0);
    assert_int_equal(plm_store_multiple(-3, 8), 0);
    assert_int_equal(plm_store_multiple(1, 8), 8);
    assert_int_equal(plm_store_multiple(8, 8), 8);
    assert_int_equal(plm_store_multiple(9, 8), 16);
    assert_int_equal(plm_store_multiple(5, 1), 5);
    assert_int_equal(plm_store_sum(2, -3), -1);
    assert_int_equal(plm_store_sum(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(plm_store_sum(INT64_MIN, -1), INT64_MIN);
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct plm_store_entry *e = plm_store_entry(&keys, (struct plm_store_bytes){(const uint8_t *)"k", 1});
        plm_store_set(&keys, e, (struct plm_store_bytes){(const uint8_t *)texts[i].text, strlen(texts[i].text)});
        assert_int_equal(plm_store_number(e), texts[i].number);
    }
    plm_store_keys_free(&keys);
}

static struct plm_store_bytes numbered(char text[16], unsigned number)
{
    return (struct plm_store_bytes){(const uint8_t *)text, (size_t)snprintf(text, 16, "key-%04u", number)};
}

/* More than the table begins with: each key has its value, those that were deleted have none. */
static void many_keys(void **state)
{
    enum { KEYS = 1000, SIZE = 8 };
    struct plm_store_keys keys = {.world = 2};
    char text[16];
    (void)state;
    for (unsigned i = 0; i < KEYS; i++) {
        const struct plm_store_bytes key = numbered(text, i);
        struct plm_store_entry *e = plm_store_entry(&keys, key);
        assert_int_equal(key.size, SIZE);
        assert_false(e->made || e->own || e->counter);
        plm_store_set(&keys, e, key);
        assert_ptr_equal(plm_store_entry(&keys, key), e);
    }
    assert_int_equal(keys.values.entries, KEYS);
    assert_int_equal(keys.held, KEYS * (sizeof(struct plm_store_entry) + 2 * SIZE));
    for (unsigned i = 0; i < KEYS; i += 2)
        assert_true(plm_store_delete(&keys, numbered(text, i)));
    for (unsigned i = 0; i < KEYS; i++) {
        const struct plm_store_bytes key = numbered(text, i);
        const struct plm_store_entry *e = plm_store_find(&keys, key);
        assert_int_equal(e != NULL, i % 2);
        assert_int_equal(plm_store_has(&keys, key), i % 2);
        if (e)
            assert_memory_equal(e->value.data, text, SIZE);
        assert_int_equal(plm_store_delete(&keys, key), i % 2);
    }
    assert_int_equal(keys.values.entries, 0);
    assert_int_equal(keys.held, 0);
    plm_store_keys_free(&keys);
}

static void what_fits(void **state)
{
    struct plm_store_keys keys = {.world = 2, .held = PLM_STORE_HELD_MOST - sizeof(struct plm_store_entry) - 10};
    (void)state;
    assert_true(plm_store_fits(&keys, 10));
    assert_false(plm_store_fits(&keys, 11));
}

/* Numbers of keys, whatever they are, are one pattern; what cannot be printed is not. */
static void patterns(void **state)
{
    struct plm_store *s = plm_store_new(8, 1);
    struct plm_store_client *c = joined(s, 1);
    (void)state;
    ASKS(s, c, "\6" L2 L3 "/09\x09\0\0\0\0\0\0\0a12b3\x1f\x7f ~", "");
    assert_int_equal(plm_store_make_up(s), 1);
    answers(c, SAYS("\0"));
    made_up(s, "/#", 1, false);
    made_up(s, "a#b#?? ~", 1, false);
    ASKS(s, c, "\6" L2 L2 "/7" L3 ":8/", "");
    plm_store_make_up(s);
    answers(c, SAYS("\0"));
    made_up(s, "/#", 2, false);
    made_up(s, ":#/", 1, false);
    plm_store_free(s);
}

/* What groups make identifiers of and ends of barriers: 128 bytes that differ from key to key, and nobody reads data in
   them. */
static void wordless_keys(void **state)
{
    static const char *const keys[] = {"a//cuda//0", "xncclx0000", "last_membe",
                                       "r/init/000", "abarrier00", "last_worke"};
    char value[COUNT(keys)][128], wait[20 + 16] = "\6" L1;
    struct plm_store *s = plm_store_new(8, 1);
    struct plm_store_client *c = joined(s, 1);
    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        const bool word = strncmp(keys[i], "last", 4) != 0; /* cut short: those are no such names */
        const void *answer;
        size_t size;
        memcpy(wait + 9, "\x0a\0\0\0\0\0\0", 8);
        memcpy(wait + 17, keys[i], 10);
        asks(s, c, wait, 27, "", 0);
        plm_store_make_up(s);
        answers(c, SAYS("\0"));
        wait[8] = 3;
        assert_int_equal(plm_store_feed(s, c, wait + 8, 19), 0);
        wait[8] = 0;
        answer = plm_store_answer(c, &size);
        assert_int_equal(size, 8 + sizeof value[i]);
        memcpy(value[i], (const char *)answer + 8, sizeof value[i]);
        plm_store_sent(c, size);
        assert_int_equal(memcmp(value[i], (const char[128]){0}, sizeof value[i]) != 0, word);
        for (size_t k = 0; k < i && word; k++)
            assert_memory_not_equal(value[i], value[k], sizeof value[i]);
    }
    made_up(s, "a//cuda//#", 1, false);
    made_up(s, "xncclx#", 1, false);
    made_up(s, "r/init/#", 1, false);
    made_up(s, "abarrier#", 1, false);
    made_up(s, "last_membe", 1, true);
    made_up(s, "last_worke", 1, true);
    plm_store_free(s);
}

/* A counter is no example of what a peer would have stored, nor is what was made up. */
static void twins(void **state)
{
    static const char zeros[128];
    struct plm_store *s = plm_store_new(8, 1);
    struct plm_store_client *c = joined(s, 1);
    size_t size;
    (void)state;
    ASKS(s, c, "\4" L3 "r/1" L1, L1);
    ASKS(s, c, "\6" L1 L3 "r/2", "");
    plm_store_make_up(s);
    answers(c, SAYS("\0"));
    assert_int_equal(plm_store_feed(s, c, SAYS("\3" L3 "r/2")), 0);
    assert_memory_equal((const char *)plm_store_answer(c, &size) + 8, zeros, sizeof zeros);
    plm_store_sent(c, size);
    ASKS(s, c, "\1" L3 "r/4" L1 "w", "");
    ASKS(s, c, "\6" L1 L3 "r/5", "");
    plm_store_make_up(s);
    answers(c, SAYS("\0"));
    ASKS(s, c, "\3" L3 "r/5", L1 "w");
    plm_store_free(s);
}

static void garbage_is_refused(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } wrong[] = {
        {SAYS("\1" L2 "/k")}, /* no greeting */
        {SAYS("\0\1\2\3\4")}, /* another one */
        {SAYS(HELLO HELLO)}, /* twice */
        {SAYS(HELLO "\x13")}, /* no such request */
        {SAYS(HELLO "\3\xff\xff\xff\xff\xff\xff\xff\xff")}, /* a key without end */
        {SAYS(HELLO "\1" L1 "k\1\0\0\1\0\0\0\0")}, /* a value of 16 MiB */
        {SAYS(HELLO "\6\1\0\2\0\0\0\0\0")}, /* more keys than there may be */
        {SAYS(HELLO "\3\1\x20\0\0\0\0\0\0")}, /* a key of 8 KiB and a byte */
        {SAYS(HELLO "\1" L1 "k\1\0\x80\0\0\0\0\0")}, /* a value of 8 MiB and a byte */
        {SAYS(HELLO "\x0b" L1 L1 "k\1\0\x80\0\0\0\0\0")},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct plm_store *s = plm_store_new(2, 1);
        struct plm_store_client *c = plm_store_join(s, 1);
        assert_int_equal(plm_store_feed(s, c, wrong[i].text, wrong[i].size), PLM_EFORMAT);
        plm_store_free(s);
    }
}

/* ---- limits ---- */

static char large[8 << 20]; /* as long as a value may be */
#define L8M "\0\0\x80\0\0\0\0\0"

static void feeds(struct plm_store *s, struct plm_store_client *c, const void *bytes, size_t size)
{
    assert_int_equal(plm_store_feed(s, c, bytes, size), 0);
}

/* Sets `key`, of one character, to 8 MiB. */
static int stores_large(struct plm_store *s, struct plm_store_client *c, char code, const char *key)
{
    char head[] = {code, 1, 0, 0, 0, 0, 0, 0, 0, key[0], 0, 0, (char)0x80, 0, 0, 0, 0, 0};
    feeds(s, c, head, sizeof head);
    return plm_store_feed(s, c, large, sizeof large);
}

/* As many keys as `count`, each "k" and then zeros, in a request with that code. */
static int asks_often(struct plm_store *s, struct plm_store_client *c, char code, uint64_t count, uint64_t length)
{
    const size_t size = 9 + count * (8 + length);
    char *text = test_calloc(1, size);
    int status;
    text[0] = code;
    memcpy(text + 1, &count, sizeof count);
    for (char *at = text + 9; at < text + size; at += 8 + length) {
        memcpy(at, &length, sizeof length);
        at[8] = 'k';
    }
    status = plm_store_feed(s, c, text, size);
    test_free(text);
    return status;
}

/* Megabytes that this process has had at most. */
static long peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

/* 1,000 times 8 MiB in one answer: refused once it is 64 MiB, not when it is built. */
static void an_answer_is_bounded(void **state)
{
    struct plm_store *s = plm_store_new(2, 1);
    struct plm_store_client *c = joined(s, 1), *d = joined(s, 1);
    const long before = peak_mb();
    size_t size;
    (void)state;
    assert_int_equal(stores_large(s, c, 1, "k"), 0);
    assert_int_equal(asks_often(s, d, 10, 7, 1), 0);
    plm_store_answer(d, &size);
    assert_int_equal(size, 7 * (8 + sizeof large));
    assert_false(plm_store_refused(d));
    plm_store_sent(d, size);
    assert_int_equal(plm_store_refusals(s), 0);
    assert_int_equal(asks_often(s, c, 10, 1000, 1), PLM_EFORMAT);
    plm_store_answer(c, &size);
    assert_in_range(size, 0, 64 << 20);
    assert_true(plm_store_refused(c));
    assert_int_equal(plm_store_refusals(s), 1);
    assert_in_range(peak_mb() - before, 0, 400);
    plm_store_drop(s, c);
    ASKS(s, d, "\5" L1 L1 "k", "\0"); /* the others go on */
    plm_store_free(s);
}

/* Answers of 8 MiB that nobody takes, one by one; what was taken makes room. */
static void answers_that_wait_are_bounded(void **state)
{
    struct plm_store *s = plm_store_new(2, 1);
    struct plm_store_client *c = joined(s, 1);
    size_t size;
    (void)state;
    assert_int_equal(stores_large(s, c, 1, "k"), 0);
    for (int i = 0; i < 70; i++) { /* more than all that may be held, in pieces: each begins where the last ended */
        feeds(s, c, SAYS("\3" L1 "k"));
        assert_int_equal(*(const char *)plm_store_answer(c, &size), 0);
        assert_int_equal(size, 8 + sizeof large);
        plm_store_sent(c, 2);
        assert_int_equal(*(const char *)plm_store_answer(c, &size), (char)0x80);
        plm_store_sent(c, size - 1);
        plm_store_answer(c, &size);
        assert_int_equal(size, 1);
        plm_store_sent(c, 1);
    }
    for (int i = 0; i < 7; i++)
        feeds(s, c, SAYS("\3" L1 "k"));
    plm_store_sent(c, 3 * (8 + sizeof large)); /* less than half: it is still there, and does not count */
    for (int i = 0; i < 3; i++)
        feeds(s, c, SAYS("\3" L1 "k"));
    assert_int_equal(plm_store_feed(s, c, SAYS("\3" L1 "k")), PLM_EFORMAT);
    plm_store_free(s);
}

/* 64 values of 8 MiB are 512 MiB, and their keys more than that. */
static void what_is_stored_is_bounded(void **state)
{
    static const char codes[] = {1, 14}; /* set, push */
    (void)state;
    for (size_t code = 0; code < COUNT(codes); code++) {
        struct plm_store *s = plm_store_new(2, 1);
        struct plm_store_client *c = joined(s, 1), *d = joined(s, 1);
        char key[] = "A";
        for (; key[0] < 'A' + 62; key[0]++) /* 496 MiB, and the last on its way */
            assert_int_equal(stores_large(s, c, codes[code], key), 0);
        assert_int_equal(stores_large(s, c, codes[code], key), PLM_EFORMAT);
        plm_store_drop(s, c);
        assert_int_equal(plm_store_refusals(s), 1);
        if (code == 0) {
            ASKS(s, d, "\x08" L1 "A", L1); /* what is deleted makes room */
            ASKS(s, d, "\x08" L1 "B", L1);
        } else {
            size_t size;
            for (const char *pop = "\x0f" L1 "A"; pop; pop = pop[9] == 'A' ? "\x0f" L1 "B" : NULL) {
                feeds(s, d, pop, 10);
                plm_store_answer(d, &size);
                assert_int_equal(size, 8 + 8 + sizeof large);
                plm_store_sent(d, size);
            }
        }
        assert_int_equal(stores_large(s, d, codes[code], "A"), 0);
        plm_store_free(s);
    }
}

/* Storing the same again and again holds it once. */
static void what_is_replaced_is_not_held(void **state)
{
    struct plm_store *s = plm_store_new(2, 1);
    struct plm_store_client *c = joined(s, 1);
    (void)state;
    for (int i = 0; i < 70; i++) {
        struct plm_store_client *d = joined(s, 1);
        assert_int_equal(stores_large(s, c, 1, "k"), 0);
        feeds(s, d, SAYS("\3" L1 "k\6" L1 L1 "z\1" L1 "m" L8M)); /* an answer, a wait and a part of a request */
        feeds(s, d, large, sizeof large - 1);
        plm_store_drop(s, d); /* are forgotten with it */
    }
    ASKS(s, c, "\7", L1);
    plm_store_free(s);
}

static void appending_is_bounded(void **state)
{
    struct plm_store *s = plm_store_new(2, 1);
    struct plm_store_client *c = joined(s, 1);
    (void)state;
    for (int i = 0; i < 8; i++)
        assert_int_equal(stores_large(s, c, 9, "k"), 0);
    assert_int_equal(plm_store_feed(s, c, SAYS("\x09" L1 "k" L1 "!")), PLM_EFORMAT);
    plm_store_free(s);
}

/* Whatever makes a key or a queue: with 496 MiB there, some 2,000 names of 8 KiB are the most. */
static void keys_are_bounded(void **state)
{
    enum { KEY = 8 << 10, MOST = 2100 };
    static const struct {
        const char *code, *tail;
        size_t size;
    } request[] = {{"\2", SAYS(L0 L1 "v")}, {"\4", SAYS(L1)},   {"\x09", SAYS(L1 "v")},
                   {"\x0e", SAYS(L1 "v")},  {"\x12", SAYS(L1)}, {"\1", SAYS(L1 "v")}};
    static char text[1 + 8 + KEY + 32];
    size_t size;
    (void)state;
    for (size_t i = 0; i < COUNT(request); i++) {
        struct plm_store *s = plm_store_new(2, 1);
        struct plm_store_client *c = joined(s, 1);
        unsigned number = 0;
        for (char key[] = "A"; key[0] < 'A' + 62; key[0]++)
            assert_int_equal(stores_large(s, c, 1, key), 0);
        memset(text, 'k', sizeof text);
        memcpy(text, request[i].code, 1);
        memcpy(text + 1, "\0\x20\0\0\0\0\0", 8);
        memcpy(text + 9 + KEY, request[i].tail, request[i].size);
        for (; number <= MOST; number++) {
            memcpy(text + 9, &number, sizeof number);
            if (plm_store_feed(s, c, text, 9 + KEY + request[i].size))
                break;
            plm_store_answer(c, &size);
            plm_store_sent(c, size);
        }
        assert_in_range(number, 1800, MOST - 50);
        assert_true(plm_store_refused(c));
        plm_store_free(s);
    }
}

/* Keys that are waited for, and what is made up for them: 1,000 peers would have stored 8 MiB each. */
static void waits_are_bounded(void **state)
{
    struct plm_store *s = plm_store_new(2000, 1);
    struct plm_store_client *c = joined(s, 1), *d = joined(s, 1);
    const uint64_t count = 1000;
    char *text = test_calloc(1, 9 + count * 12), head[] = "\1\4\0\0\0\0\0\0\0k000" L8M;
    size_t size;
    (void)state;
    feeds(s, c, head, sizeof head - 1);
    feeds(s, c, large, sizeof large);
    text[0] = 6;
    memcpy(text + 1, &count, sizeof count);
    for (uint64_t i = 0; i < count; i++) {
        char key[13];
        memcpy(text + 9 + i * 12, "\4\0\0\0\0\0\0", 8);
        snprintf(key, sizeof key, "k%03u", (unsigned)i);
        memcpy(text + 9 + i * 12 + 8, key, 4);
    }
    feeds(s, c, text, 9 + count * 12);
    ASKS(s, d, "\6" L1 L1 "z", "");
    assert_true(plm_store_stuck(s));
    assert_int_equal(plm_store_make_up(s), 2);
    assert_true(plm_store_refused(c));
    assert_false(plm_store_waits(c));
    plm_store_answer(c, &size);
    assert_int_equal(size, 0);
    plm_store_drop(s, c);
    answers(d, SAYS("\0"));
    test_free(text);
    plm_store_free(s);
}

/* Waits of many connections; a check answers a byte, for as many keys as there may be. */
static void connections_are_bounded(void **state)
{
    enum { KEYS = 128 << 10, LONG = 8 << 10, SOME = 1000, MANY = 200 };
    struct plm_store *s = plm_store_new(2, 1);
    struct plm_store_client *c = joined(s, 1);
    unsigned waiting = 0;
    (void)state;
    ASKS(s, c, "\1" L1 "k" L1 "v", "");
    assert_int_equal(asks_often(s, c, 5, KEYS, 1), 0);
    answers(c, SAYS("\0"));
    ASKS(s, c, "\x08" L1 "k", L1);
    while (waiting < MANY && asks_often(s, joined(s, 1), 6, SOME, LONG) == 0)
        waiting++;
    assert_in_range(waiting, 60, 65); /* each 7.8 MiB, and as much on its way */
    plm_store_free(s);
}

/* A queue that is filled as fast as it is emptied takes room for what is in it. */
static void a_queue_keeps_its_place(void **state)
{
    struct plm_store_keys keys = {.world = 2};
    const struct plm_store_bytes key = {(const uint8_t *)"q", 1};
    const struct plm_store_entry *q;
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        plm_store_push(&keys, key, (struct plm_store_bytes){(const uint8_t *)&i, sizeof i});
    for (unsigned i = 0; i < 10000; i++) {
        const unsigned next = i + 3;
        plm_store_push(&keys, key, (struct plm_store_bytes){(const uint8_t *)&next, sizeof next});
        q = plm_store_queue(&keys, key);
        assert_int_equal(q->count, 4);
        assert_memory_equal(q->item[q->first].data, &i, sizeof i); /* first in, first out */
        plm_store_pop(&keys, plm_store_queue(&keys, key));
    }
    assert_in_range(plm_store_queue(&keys, key)->room, 4, 64);
    for (unsigned i = 0; i < 3; i++)
        plm_store_pop(&keys, plm_store_queue(&keys, key));
    assert_null(plm_store_queue(&keys, key));
    assert_int_equal(keys.held, 0);
    plm_store_keys_free(&keys);
}

/* ---- the server ---- */

static int connect_to(const struct plm_store_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)plm_store_server_port(server))};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static bool hears(int fd, void *out, size_t size)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, 20000) == 1 && recv(fd, out, size, MSG_WAITALL) == (ssize_t)size;
}

static struct plm_store_server *started(struct plm_store_server_request request)
{
    struct plm_store_server *server;
    struct plm_error error;
    assert_int_equal(plm_store_server_start(&request, &server, &error), 0);
    return server;
}

static void a_rank_alone_waits_for_nobody(void **state)
{
    struct plm_store_server *server =
        started((struct plm_store_server_request){.world = 8, .live = 1, .everyone = true});
    const int fd = connect_to(server);
    char answer[8];
    (void)state;
    assert_true(send(fd, SAYS(HELLO "\6" L1 L2 "/k"), 0) > 0);
    assert_true(hears(fd, answer, 1) && answer[0] == 0);
    plm_store_server_stop(server);
    made_up(plm_store_server_store(server), "/k", 1, false);
    plm_store_server_free(server);
    close(fd);
}

/* Two live ranks in one process, which is one: the second one ends the wait of the first. */
static void live_ranks_are_waited_for(void **state)
{
    struct plm_store_server *server =
        started((struct plm_store_server_request){.world = 8, .live = 2, .everyone = true});
    const int a = connect_to(server), b = connect_to(server);
    char answer[9];
    (void)state;
    assert_true(send(a, SAYS(HELLO "\6" L1 L2 "/k"), 0) > 0);
    assert_int_equal(poll(&(struct pollfd){.fd = a, .events = POLLIN}, 1, 500), 0); /* as long as another may come */
    assert_true(send(b, SAYS(HELLO "\1" L2 "/k" L1 "v"), 0) > 0);
    assert_true(hears(a, answer, 1) && answer[0] == 0);
    assert_true(send(a, SAYS("\3" L2 "/k"), 0) > 0);
    assert_true(hears(a, answer, 9) && answer[8] == 'v');
    plm_store_server_free(server);
    close(a);
    close(b);
}

/* This process was started before there was a token. */
static void strangers_are_hung_up_on(void **state)
{
    struct plm_store_server *server = started((struct plm_store_server_request){.world = 8, .live = 1});
    const int fd = connect_to(server);
    char answer, wrong[4096];
    (void)state;
    send(fd, SAYS(HELLO "\6" L1 L2 "/k"), MSG_NOSIGNAL);
    assert_false(hears(fd, &answer, 1));
    assert_string_equal(getenv(PLM_JOB_TOKEN), plm_store_token());
    assert_false(plm_peer_has((int)getpid(), PLM_JOB_TOKEN, plm_store_token()));
    assert_true(plm_peer_has((int)getpid(), "PATH", getenv("PATH")));
    snprintf(wrong, sizeof wrong, "=%s", getenv("PATH"));
    assert_false(plm_peer_has((int)getpid(), "PAT", wrong)); /* a name that only begins as another */
    plm_store_server_free(server);
    close(fd);
}

/* The other end of a connection within this process is this process; of one without addresses nobody knows it. */
static void who_is_at_the_other_end(void **state)
{
    struct plm_store_server *server = started((struct plm_store_server_request){.world = 8, .live = 1});
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    int accepted, pair[2];
    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
    accepted = accept(listener, NULL, NULL);
    assert_int_equal(plm_peer_process(accepted), getpid());
    assert_int_equal(plm_peer_process(client), getpid());
    close(client);
    assert_int_equal(plm_peer_process(accepted), 0); /* gone */
    assert_int_equal(plm_peer_process(listener), 0); /* has none */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(plm_peer_process(pair[0]), 0);
    close(pair[0]);
    close(pair[1]);
    close(accepted);
    close(listener);
    plm_store_server_free(server);
}

static void a_port_is_had_once(void **state)
{
    struct plm_store_server *server = started((struct plm_store_server_request){.world = 8, .live = 1}), *second;
    struct plm_error error;
    (void)state;
    assert_int_equal(
        plm_store_server_start(&(struct plm_store_server_request){.world = 8, .port = plm_store_server_port(server)},
                               &second, &error),
        PLM_EIO);
    assert_non_null(strstr(error.text, "Address already in use"));
    plm_store_server_free(server);
    plm_store_server_free(NULL);
}

/* The same through sockets: the connection ends, and the server serves others. */
static void one_that_asks_too_much_is_hung_up_on(void **state)
{
    struct plm_store_server *server =
        started((struct plm_store_server_request){.world = 8, .live = 1, .everyone = true});
    const int a = connect_to(server), b = connect_to(server);
    char answer[64 << 10];
    ssize_t n;
    (void)state;
    assert_true(send(a, SAYS(HELLO "\1" L1 "k" L8M), 0) > 0);
    for (size_t done = 0; done < sizeof large; done += (size_t)n) {
        n = send(a, large + done, sizeof large - done, MSG_NOSIGNAL);
        assert_true(n > 0);
    }
    assert_true(send(a, SAYS("\x0a\xe8\3\0\0\0\0\0\0"), 0) > 0);
    for (int i = 0; i < 1000; i++)
        send(a, SAYS(L1 "k"), MSG_NOSIGNAL);
    do
        n = recv(a, answer, sizeof answer, 0);
    while (n > 0);
    assert_true(send(b, SAYS(HELLO "\6" L1 L2 "/k"), 0) > 0);
    assert_true(hears(b, answer, 1) && answer[0] == 0);
    plm_store_server_stop(server);
    assert_int_equal(plm_store_refusals(plm_store_server_store(server)), 1);
    plm_store_server_free(server);
    close(a);
    close(b);
}

/* Waits end also while somebody connects whom there is no descriptor for; it is served when there is. */
static void without_a_descriptor_waits_end(void **state)
{
    struct plm_store_server *server =
        started((struct plm_store_server_request){.world = 8, .live = 1, .everyone = true});
    const int a = connect_to(server), b = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)plm_store_server_port(server))};
    struct rlimit before, none;
    char answer;
    (void)state;
    assert_true(send(a, SAYS(HELLO "\6" L1 L1 "j"), 0) > 0);
    assert_true(hears(a, &answer, 1)); /* so it is accepted */
    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){(rlim_t)dup(b), before.rlim_max}; /* the first that is free */
    close((int)none.rlim_cur);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setrlimit(RLIMIT_NOFILE, &none);
    assert_int_equal(connect(b, (struct sockaddr *)&address, sizeof address), 0);
    assert_true(send(a, SAYS("\6" L1 L1 "k"), 0) > 0);
    assert_true(hears(a, &answer, 1));
    setrlimit(RLIMIT_NOFILE, &before);
    close(a);
    assert_true(send(b, SAYS(HELLO "\6" L1 L1 "l"), 0) > 0);
    assert_true(hears(b, &answer, 1));
    plm_store_server_free(server);
    close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_pytorch_speaks),
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(live_ranks_wait_for_each_other),
        cmocka_unit_test(absent_ranks_are_made_up),
        cmocka_unit_test(counters_that_are_watched),
        cmocka_unit_test(comparing),
        cmocka_unit_test(what_ends_waits),
        cmocka_unit_test(who_is_stuck),
        cmocka_unit_test(counters_among_others),
        cmocka_unit_test(numbers_of_counters),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(what_fits),
        cmocka_unit_test(patterns),
        cmocka_unit_test(wordless_keys),
        cmocka_unit_test(twins),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(an_answer_is_bounded),
        cmocka_unit_test(answers_that_wait_are_bounded),
        cmocka_unit_test(what_is_stored_is_bounded),
        cmocka_unit_test(what_is_replaced_is_not_held),
        cmocka_unit_test(appending_is_bounded),
        cmocka_unit_test(keys_are_bounded),
        cmocka_unit_test(waits_are_bounded),
        cmocka_unit_test(connections_are_bounded),
        cmocka_unit_test(a_queue_keeps_its_place),
        cmocka_unit_test(a_rank_alone_waits_for_nobody),
        cmocka_unit_test(live_ranks_are_waited_for),
        cmocka_unit_test(strangers_are_hung_up_on),
        cmocka_unit_test(who_is_at_the_other_end),
        cmocka_unit_test(a_port_is_had_once),
        cmocka_unit_test(one_that_asks_too_much_is_hung_up_on),
        cmocka_unit_test(without_a_descriptor_waits_end),
    };
    return RUN(tests);
}
