/* The board of small messages: every rank is a process of its own, forked, and tells by its status whether all was right. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "world/messages.h"

enum { RANKS = 4, NO = 1 };
#define NEED(condition) \
    if (!(condition))   \
    return __LINE__ % 255 + NO

static const struct plm_message_key group = {11, 12};

typedef int body(int rank);

static int board;

static void new_board(void)
{
    char path[64];
    if (board > 0)
        close(board);
    board = plm_messages_create();
    assert_true(board >= 0);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), board);
    setenv("PLIMSOLL_MESSAGES", path, 1);
}

static pid_t start(int rank, body *run)
{
    pid_t pid = fork();
    if (!pid) {
        plm_messages_join(rank);
        plm_messages_attach(group, rank);
        _exit(run(rank));
    }
    return pid;
}

static int status_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void run_ranks(int count, body *run)
{
    pid_t pid[RANKS];
    for (int i = 0; i < count; i++)
        pid[i] = start(i, run);
    for (int i = 0; i < count; i++)
        assert_int_equal(status_of(pid[i]), 0);
}

static struct plm_message message(int place, uint64_t number)
{
    const uint64_t which[] = {number, (uint64_t)place};
    return (struct plm_message){plm_message_key(group, which, sizeof which), group, place, number};
}

static void post(int place, uint64_t number, const void *bytes, size_t size)
{
    const struct plm_message m = message(place, number);
    plm_messages_post(&m, bytes, bytes ? size : 0, size);
}

static enum plm_message_state take(int place, uint64_t number, bool patient, void *to, size_t size)
{
    const struct plm_message m = message(place, number);
    size_t known;
    enum plm_message_state state =
        plm_messages_take(&m, place, patient ? PLM_PATIENCE_VALUE : PLM_PATIENCE_NONE, to, &known, size);
    return state == PLM_MESSAGE_KNOWN && known != size ? PLM_MESSAGE_UNKNOWN : state;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void rest(int ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

/* ---- what ranks left that have ended ---- */

static enum plm_message_state recall(uint64_t number, char *got, size_t *known)
{
    const struct plm_message m = message(0, number);
    return plm_messages_recall(&m, got, known, 5);
}

static int leaves_messages(int rank)
{
    const struct plm_message part = message(rank, 2);
    NEED(!plm_messages_any());
    post(rank, 1, "hello", 5);
    NEED(plm_messages_any());
    plm_messages_post(&part, "he", 2, 5);
    post(rank, 3, NULL, 5);
    return 0;
}

static int recalls(int rank)
{
    char got[8] = "";
    size_t known = 9;
    const double begin = now();
    (void)rank;
    NEED(plm_messages_any());
    NEED(recall(1, got, &known) == PLM_MESSAGE_KNOWN && known == 5 && !memcmp(got, "hello", 5));
    NEED(recall(2, got, &known) == PLM_MESSAGE_KNOWN && known == 2);
    NEED(recall(3, got, &known) == PLM_MESSAGE_UNKNOWN && !known);
    known = 9;
    NEED(recall(4, got, &known) == PLM_MESSAGE_UNKNOWN && !known); /* never posted, and not waited for */
    NEED(now() - begin < 2);
    return 0;
}

static void one_that_runs_later_recalls_what_was_left(void **state)
{
    (void)state;
    new_board();
    assert_int_equal(status_of(start(0, leaves_messages)), 0);
    assert_int_equal(status_of(start(1, recalls)), 0);
}

/* ---- what is posted is found ---- */

static int all_to_all(int rank)
{
    char bytes[256], other[256], got[256];
    for (uint64_t number = 1; number <= 200; number++) {
        memset(bytes, rank * 16 + (int)(number % 16), sizeof bytes);
        post(rank, number, bytes, (size_t)number);
        for (int place = 0; place < RANKS; place++) {
            memset(other, place * 16 + (int)(number % 16), sizeof other);
            NEED(take(place, number, true, got, (size_t)number) == PLM_MESSAGE_KNOWN);
            NEED(!memcmp(got, other, (size_t)number));
        }
    }
    return 0;
}

static void every_rank_gets_what_the_others_post(void **state)
{
    (void)state;
    new_board();
    run_ranks(RANKS, all_to_all);
}

static int unknown_and_wrong(int rank)
{
    static char large[PLM_MESSAGE_MOST + 1];
    char got[64];
    if (rank == 0) {
        post(0, 1, NULL, 8);
        post(0, 2, "12345678", 8);
        post(0, 3, large, sizeof large);
        post(0, 4, large, PLM_MESSAGE_MOST);
    } else {
        NEED(take(0, 1, true, got, 8) == PLM_MESSAGE_UNKNOWN);
        NEED(take(0, 2, true, got, 9) == PLM_MESSAGE_UNKNOWN); /* of another size */
        NEED(take(0, 2, true, got, 8) == PLM_MESSAGE_KNOWN);
        NEED(take(0, 3, true, large, sizeof large) == PLM_MESSAGE_UNKNOWN); /* too large: nobody waits for it */
        NEED(take(0, 4, true, large, PLM_MESSAGE_MOST) == PLM_MESSAGE_KNOWN);
    }
    return 0;
}

static void what_is_not_known_is_told(void **state)
{
    (void)state;
    new_board();
    run_ranks(2, unknown_and_wrong);
}

/* A short text in a long buffer. */
static int known_in_part(int rank)
{
    const struct plm_message m = message(0, 1);
    char got[64] = "................";
    size_t known;
    if (rank == 0) {
        plm_messages_post(&m, "short", 5, sizeof got);
        return 0;
    }
    NEED(plm_messages_take(&m, 0, PLM_PATIENCE_VALUE, got, &known, sizeof got) == PLM_MESSAGE_KNOWN);
    NEED(known == 5 && !memcmp(got, "short...", 8));
    return 0;
}

static void what_is_known_in_part_is_told_in_part(void **state)
{
    (void)state;
    new_board();
    run_ranks(2, known_in_part);
}

static int without_patience(int rank)
{
    char got[8];
    if (rank == 0) {
        rest(300);
        post(0, 1, "12345678", 8);
        return take(1, 1, true, got, 1) != PLM_MESSAGE_KNOWN; /* to be there */
    }
    while (take(0, 1, false, got, 8) == PLM_MESSAGE_NONE)
        rest(10);
    NEED(take(0, 1, false, got, 8) == PLM_MESSAGE_KNOWN);
    post(1, 1, "", 1);
    return 0;
}

static void one_that_comes_later_is_waited_for_or_not(void **state)
{
    (void)state;
    new_board();
    run_ranks(2, without_patience);
}

/* ---- nobody waits in vain ---- */

static int wait_for_zero(int rank)
{
    char got[8];
    const double begun = now();
    (void)rank;
    NEED(take(0, 1, true, got, 8) == PLM_MESSAGE_UNKNOWN);
    NEED(now() - begun < 20);
    return 0;
}

static int sleep_long(int rank)
{
    (void)rank;
    rest(900);
    for (int i = 0; i < 60; i++)
        rest(900);
    return 0;
}

static void the_wait_ends_with_the_sender(void **state)
{
    pid_t sender, receiver;
    (void)state;
    new_board();
    sender = start(0, sleep_long);
    receiver = start(1, wait_for_zero);
    rest(300);
    assert_int_equal(waitpid(receiver, NULL, WNOHANG), 0); /* it waits */
    kill(sender, SIGKILL);
    assert_int_equal(status_of(receiver), 0); /* and not until somebody has asked after the dead */
    assert_int_equal(status_of(sender), 256 + SIGKILL);
}

/* Its descriptors are none of the program's business, and yet it closes them. */
static int post_after_closing(int rank)
{
    char got[1];
    for (int fd = 3; fd < 1024; fd++)
        if (fd != board)
            close(fd);
    rest(600); /* who asks meanwhile finds it alive */
    post(rank, 1, "", 1);
    return take(1, 1, true, got, 1) != PLM_MESSAGE_KNOWN;
}

static int wait_for_zero_then_post(int rank)
{
    char got[1];
    NEED(take(0, 1, true, got, 1) == PLM_MESSAGE_KNOWN);
    post(rank, 1, "", 1);
    return 0;
}

static void one_that_closed_its_descriptors_lives(void **state)
{
    pid_t sender;
    (void)state;
    new_board();
    sender = start(0, post_after_closing);
    rest(200);
    assert_int_equal(status_of(start(1, wait_for_zero_then_post)), 0);
    assert_int_equal(status_of(sender), 0);
}

/* As a worker that loads data does. */
static pid_t *left;

static int leave_a_child(int rank)
{
    const pid_t child = fork();
    if (!child)
        _exit(sleep_long(rank));
    *left = child;
    rest(300);
    return 0;
}

static void the_wait_ends_though_a_child_of_the_sender_lives(void **state)
{
    pid_t sender;
    (void)state;
    new_board();
    left = mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(left != MAP_FAILED);
    sender = start(0, leave_a_child);
    assert_int_equal(status_of(start(1, wait_for_zero)), 0);
    assert_int_equal(status_of(sender), 0);
    assert_true(*left > 0);
    assert_int_equal(kill(*left, SIGKILL), 0); /* it was there all the time */
    munmap(left, sizeof *left);
}

static void a_rank_that_is_not_run_is_not_waited_for(void **state)
{
    (void)state;
    new_board();
    setenv("PLIMSOLL_WORLD", "8", 1);
    assert_int_equal(status_of(start(1, wait_for_zero)), 0);
    setenv("PLIMSOLL_LIVE", "1-7/2,6", 1);
    assert_int_equal(status_of(start(1, wait_for_zero)), 0);
    unsetenv("PLIMSOLL_WORLD");
    assert_int_equal(status_of(start(1, wait_for_zero)), 0);
    unsetenv("PLIMSOLL_LIVE");
}

static int wait_for_six(int rank)
{
    char got[8];
    (void)rank;
    return take(6, 1, true, got, 1) != PLM_MESSAGE_KNOWN;
}

static int post_one(int rank)
{
    rest(100);
    post(rank, 1, "", 1);
    return 0;
}

static void one_that_is_run_is(void **state)
{
    pid_t receiver;
    (void)state;
    new_board();
    setenv("PLIMSOLL_LIVE", "1-7/2,6", 1);
    receiver = start(1, wait_for_six);
    rest(100);
    assert_int_equal(status_of(start(6, post_one)), 0);
    assert_int_equal(status_of(receiver), 0);
    unsetenv("PLIMSOLL_LIVE");
}

/* 50 MiB and more. */
static int post_too_much(int rank)
{
    static char bytes[PLM_MESSAGE_MOST];
    char got[1];
    for (uint64_t number = 1; number <= 50; number++)
        post(rank, number, bytes, sizeof bytes);
    NEED(take(rank, 50, false, bytes, sizeof bytes) == PLM_MESSAGE_KNOWN);
    NEED(take(rank, 1, true, bytes, sizeof bytes) == PLM_MESSAGE_UNKNOWN);
    NEED(take(rank, 51, false, got, 1) == PLM_MESSAGE_NONE);
    return 0;
}

/* A later message lies where the bytes of the first one were, but not its head: what the ring gives out after the last lap shows
   that. 32 MiB less 64 bytes are used when one comes that does not fit there, and goes to 192. */
static int post_over_the_first(int rank)
{
    enum { HEAD = 64, FIRST = 128, RING = 32 << 20 };
    static char bytes[PLM_MESSAGE_MOST];
    char got[HEAD];
    uint64_t used = FIRST + 2 * HEAD, number = 2;
    post(rank, 1, bytes, HEAD);
    for (; used + HEAD + sizeof bytes <= RING - HEAD; used += HEAD + sizeof bytes)
        post(rank, number++, bytes, sizeof bytes);
    post(rank, number++, bytes, RING - HEAD - used - HEAD);
    NEED(take(rank, 1, false, got, HEAD) == PLM_MESSAGE_KNOWN);
    memset(bytes, 7, sizeof bytes);
    post(rank, number, bytes, (size_t)3 * HEAD);
    NEED(take(rank, number, false, bytes, (size_t)3 * HEAD) == PLM_MESSAGE_KNOWN);
    NEED(take(rank, 1, true, got, HEAD) == PLM_MESSAGE_UNKNOWN);
    return 0;
}

/* The last that was numbered is gone, too, and nobody waits for it. */
static int post_others_over_the_last(int rank)
{
    static char bytes[PLM_MESSAGE_MOST];
    char got[1];
    post(rank, 1, "x", 1);
    NEED(take(rank, 1, true, got, 1) == PLM_MESSAGE_KNOWN);
    for (int i = 0; i < 50; i++)
        post(rank, 0, bytes, sizeof bytes);
    NEED(take(rank, 1, true, got, 1) == PLM_MESSAGE_UNKNOWN);
    return 0;
}

static void what_was_written_over_is_gone(void **state)
{
    (void)state;
    new_board();
    assert_int_equal(status_of(start(0, post_over_the_first)), 0);
    new_board();
    assert_int_equal(status_of(start(0, post_others_over_the_last)), 0);
}

static int post_more_than_there_is(int rank)
{
    const struct plm_message m = message(rank, 1);
    char got[64];
    plm_messages_post(&m, "more than one byte", 18, 1);
    NEED(take(rank, 1, false, got, 1) == PLM_MESSAGE_NONE);
    return 0;
}

static void what_cannot_be_is_not_posted(void **state)
{
    (void)state;
    new_board();
    assert_int_equal(status_of(start(0, post_more_than_there_is)), 0);
}

static void the_oldest_are_gone_and_known_to_be(void **state)
{
    struct stat status;
    (void)state;
    new_board();
    assert_int_equal(status_of(start(0, post_too_much)), 0);
    assert_int_equal(fstat(board, &status), 0);
    assert_true((uint64_t)status.st_blocks * 512 < 40 * MIB);
}

static int without_a_board(int rank)
{
    char got[1];
    NEED(!plm_messages_here());
    post(rank, 1, "", 1);
    NEED(take(rank, 1, true, got, 1) == PLM_MESSAGE_UNKNOWN);
    NEED(plm_messages_enough(3, true) && !plm_messages_enough(3, false));
    return 0;
}

static void without_a_board_all_is_unknown(void **state)
{
    (void)state;
    setenv("PLIMSOLL_MESSAGES", "/proc/self/status", 1); /* some file */
    assert_int_equal(status_of(start(0, without_a_board)), 0);
    unsetenv("PLIMSOLL_MESSAGES");
    assert_int_equal(status_of(start(0, without_a_board)), 0);
}

/* ---- garbage ---- */

static int use_garbage(int rank)
{
    static char bytes[PLM_MESSAGE_MOST];
    for (uint64_t number = 1; number < 50; number++) {
        plm_messages_attach(message(rank, number).key, rank);
        post(rank, number, bytes, (size_t)number * 1000);
        take(rank + 1, number, false, bytes, (size_t)number * 1000);
        plm_messages_enough((uint32_t)number, true);
    }
    return 0;
}

/* What is behind the first word: the whole head, and then all of it. */
static void garbage_is_survived(void **state)
{
    static const unsigned char fills[] = {0xff, 0x7f, 0x01, 0};
    struct stat status;
    uint64_t seed = 88172645463325252ull;
    (void)state;
    for (size_t i = 0; i < COUNT(fills); i++) {
        unsigned char *all;
        new_board();
        assert_int_equal(fstat(board, &status), 0);
        all = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, board, 0);
        assert_true(all != MAP_FAILED);
        for (size_t at = sizeof(uint64_t); at < 4 * MIB; at++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            all[at] = fills[i] ? fills[i] : (unsigned char)seed;
        }
        assert_int_equal(status_of(start(0, use_garbage)), 0);
        munmap(all, (size_t)status.st_size);
    }
}

static int use_small(int rank)
{
    (void)rank;
    return plm_messages_here();
}

static void a_file_of_another_size_is_no_board(void **state)
{
    (void)state;
    new_board();
    assert_int_equal(ftruncate(board, 4096), 0);
    assert_int_equal(status_of(start(0, use_small)), 0);
}

/* ---- the end ---- */

static int silent_ranks(int rank)
{
    NEED(!plm_messages_enough(1, false));
    NEED(!plm_messages_enough(2, false));
    NEED(plm_messages_enough(3, rank == 0) == (rank == 0));
    return 0;
}

static void silent_ranks_end_each_by_itself(void **state)
{
    (void)state;
    new_board();
    run_ranks(2, silent_ranks);
}

/* Two pairs, each in step; the first is far ahead of the second when that has seen enough. Whoever is without the message of his
   partner has been left alone. */
static int talking_ranks(int rank)
{
    char got[1];
    uint32_t step = 0;
    bool end = false;
    while (!end && ++step < 100) {
        post(rank, step, "", 1);
        NEED(take(rank ^ 1, step, true, got, 1) == PLM_MESSAGE_KNOWN);
        rest(rank > 1 ? 20 : rank ? 0 : 5); /* rank 1 asks before its partner, and is in the next step by then */
        end = plm_messages_enough(step, step >= 3u + (unsigned)rank % 2);
    }
    NEED(end && step > 4);
    post(rank, 1000, &(char){(char)step}, 1); /* the partner ended after the same one */
    NEED(take(rank ^ 1, 1000, true, got, 1) != PLM_MESSAGE_KNOWN || got[0] == (char)step);
    return 0;
}

static void ranks_that_talk_end_together(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        new_board();
        run_ranks(RANKS, talking_ranks);
    }
}

/* The end is after the second step from the one where all have seen enough. */
static int talks_alone(int rank)
{
    char got[1];
    NEED(!plm_messages_enough(1, false));
    post(rank, 1, "x", 1);
    NEED(take(rank, 1, true, got, 1) == PLM_MESSAGE_KNOWN);
    NEED(!plm_messages_enough(2, false));
    NEED(!plm_messages_enough(3, true));
    NEED(!plm_messages_enough(4, true));
    NEED(plm_messages_enough(5, true));
    return 0;
}

/* Begins, and is gone before it has seen enough. */
static int leaves(int rank)
{
    char got[1];
    plm_messages_enough(1, false);
    post(rank, 1, "x", 1);
    NEED(take(rank, 1, true, got, 1) == PLM_MESSAGE_KNOWN);
    NEED(!plm_messages_enough(2, false));
    return 0;
}

static int talks_until_ended(int rank)
{
    char got[1];
    plm_messages_enough(1, false);
    post(rank, 1, "x", 1);
    NEED(take(rank, 1, true, got, 1) == PLM_MESSAGE_KNOWN);
    post(rank, 2, "x", 1);
    for (;;)
        pause();
}

static int is_silent_beside_others(int rank)
{
    char got[1];
    (void)rank;
    NEED(take(1, 2, true, got, 1) == PLM_MESSAGE_KNOWN); /* the other one is where it waits */
    for (uint32_t step = 1; step < 3; step++)
        NEED(!plm_messages_enough(step, false));
    NEED(!plm_messages_enough(1, false)); /* forgets what it took itself */
    NEED(plm_messages_enough(3, true));
    return 0;
}

/* One of another job, on the same board, talks and has not seen enough. */
static void jobs_end_each_by_itself(void **state)
{
    pid_t other;
    (void)state;
    new_board();
    assert_int_equal(status_of(start(0, talks_alone)), 0);
    new_board();
    assert_int_equal(status_of(start(1, leaves)), 0); /* whoever left is not waited for */
    assert_int_equal(status_of(start(0, talks_alone)), 0);
    new_board();
    setenv("MASTER_PORT", "1", 1);
    other = start(1, talks_until_ended);
    setenv("MASTER_PORT", "2", 1);
    assert_int_equal(status_of(start(0, is_silent_beside_others)), 0);
    unsetenv("MASTER_PORT");
    kill(other, SIGKILL);
    assert_int_equal(status_of(other), 256 + SIGKILL);
}

/* ---- keys ---- */

/* Two words of splitmix64 from 0 on (Steele, Lea and Flood; https://prng.di.unimi.it/splitmix64.c), then what tells
   keys apart. */
static void keys_are_mixed(void **state)
{
    const struct plm_message_key from = {0, 7};
    struct plm_message_key key = plm_message_key(from, "", 0), seen[40];
    char text[20] = "abcdefghijklmnopqrs";
    size_t count = 0;
    (void)state;
    assert_true(key.low == 0xe220a8397b1dcdafull && key.high == 7);
    key = plm_message_key((struct plm_message_key){0x9e3779b97f4a7c15ull, 0}, "", 0);
    assert_true(key.low == 0x6e789e6aa1b965f4ull);
    for (size_t i = 0; i <= sizeof text; i++) /* every length */
        seen[count++] = plm_message_key(from, text, i);
    for (size_t i = 0; i + 1 < sizeof text; i++) { /* every byte */
        text[i]++;
        seen[count++] = plm_message_key(from, text, sizeof text);
        text[i]--;
    }
    assert_int_equal(count, COUNT(seen));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            assert_true(seen[i].low != seen[k].low);
            assert_true(seen[i].high != seen[k].high || !i || !k);
        }
}

/* Each of the variables makes the key another one. */
static void key_follows(const char *const *names, size_t count, struct plm_message_key (*key_of)(void))
{
    const struct plm_message_key none = key_of();
    for (size_t i = 0; i < count; i++) {
        struct plm_message_key one, other;
        setenv(names[i], "1", 1);
        one = key_of();
        assert_true(one.high == key_of().high);
        setenv(names[i], "2", 1);
        other = key_of();
        unsetenv(names[i]);
        assert_true(one.high != none.high && other.high != none.high && one.high != other.high);
    }
}

static void a_job_has_a_key(void **state)
{
    static const char *const names[] = {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE"};
    (void)state;
    key_follows(names, COUNT(names), plm_messages_job);
}

/* That of ranks that run one after the other follows the record, and nothing that differs from run to run. */
static void ranks_of_a_record_have_a_key(void **state)
{
    static const char *const names[] = {"PLIMSOLL_RECORD", "WORLD_SIZE"};
    const struct plm_message_key none = plm_messages_kept();
    (void)state;
    key_follows(names, COUNT(names), plm_messages_kept);
    assert_true(none.high != plm_messages_job().high);
    setenv("MASTER_PORT", "29501", 1);
    assert_true(none.high == plm_messages_kept().high && none.low == plm_messages_kept().low);
    unsetenv("MASTER_PORT");
}

static void ranks_that_run(void **state)
{
    static const struct {
        const char *live, *ranks; /* of 0 to 9 */
    } rows[] = {
        {"1-7/2,6", ".1.3.567.."}, {"0", "0........."},     {"0-3", "0123......"},
        {"5-3", ".........."},     {"2-8/0", ".........."}, {"8-9,0", "0.......89"},
        {"2-9/3", "..2..5..8."},   {"x", ".........."},     {"1,x,3", ".1........"},
    };
    (void)state;
    assert_true(plm_messages_runs(3)); /* all are run */
    setenv("PLIMSOLL_WORLD", "8", 1);
    assert_false(plm_messages_runs(3)); /* this one alone */
    for (size_t i = 0; i < COUNT(rows); i++) {
        setenv("PLIMSOLL_LIVE", rows[i].live, 1);
        for (int rank = 0; rank < 10; rank++)
            assert_int_equal(plm_messages_runs(rank), rows[i].ranks[rank] != '.');
        assert_false(plm_messages_runs(-1));
    }
    setenv("PLIMSOLL_LIVE", "", 1);
    assert_false(plm_messages_runs(0));
    setenv("PLIMSOLL_WORLD", "", 1);
    assert_true(plm_messages_runs(0));
    unsetenv("PLIMSOLL_LIVE");
    unsetenv("PLIMSOLL_WORLD");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_gets_what_the_others_post),
        cmocka_unit_test(what_is_not_known_is_told),
        cmocka_unit_test(what_is_known_in_part_is_told_in_part),
        cmocka_unit_test(one_that_comes_later_is_waited_for_or_not),
        cmocka_unit_test(the_wait_ends_with_the_sender),
        cmocka_unit_test(one_that_closed_its_descriptors_lives),
        cmocka_unit_test(the_wait_ends_though_a_child_of_the_sender_lives),
        cmocka_unit_test(a_rank_that_is_not_run_is_not_waited_for),
        cmocka_unit_test(one_that_is_run_is),
        cmocka_unit_test(the_oldest_are_gone_and_known_to_be),
        cmocka_unit_test(what_was_written_over_is_gone),
        cmocka_unit_test(what_cannot_be_is_not_posted),
        cmocka_unit_test(without_a_board_all_is_unknown),
        cmocka_unit_test(garbage_is_survived),
        cmocka_unit_test(a_file_of_another_size_is_no_board),
        cmocka_unit_test(silent_ranks_end_each_by_itself),
        cmocka_unit_test(ranks_that_talk_end_together),
        cmocka_unit_test(jobs_end_each_by_itself),
        cmocka_unit_test(keys_are_mixed),
        cmocka_unit_test(a_job_has_a_key),
        cmocka_unit_test(ranks_of_a_record_have_a_key),
        cmocka_unit_test(one_that_runs_later_recalls_what_was_left),
        cmocka_unit_test(ranks_that_run),
    };
    return RUN(tests);
}
