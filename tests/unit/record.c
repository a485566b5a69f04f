/* The job record: what writers append is what the reader gives, whatever happens to them. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "record/create.h"
#include "record/reader.h"
#include "record/writer.h"
#include "unit.h"

/* A process opens its record once, so each test writes from a child of its own. Returns its wait status. */
static int in_child(const char *name, void (*body)(void))
{
    char path[4096];
    int status;
    pid_t pid;
    snprintf(path, sizeof path, "%s", unit_path(name));
    unlink(path);
    unit_record(path);
    fflush(NULL);
    pid = fork();
    if (!pid) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

struct seen {
    struct plm_record *record;
    int of_type[PLM_EV_TYPES], threads;
    uint32_t tids[64], processes;
    uint64_t last_ns, sum;
    bool ordered;
    char texts[2048];
};

static int visit(const struct plm_record_event *e, void *context)
{
    struct seen *s = context;
    int known = 0;
    s->of_type[e->type]++;
    s->ordered &= e->time_ns >= s->last_ns;
    s->last_ns = e->time_ns;
    s->processes = e->process >= s->processes ? e->process + 1 : s->processes;
    for (int i = 0; i < s->threads; i++)
        known |= s->tids[i] == e->tid;
    if (!known && s->threads < 64)
        s->tids[s->threads++] = e->tid;
    if (e->type == PLM_EV_BLOCK_ALLOC)
        s->sum += plm_get_block_alloc(e).address + plm_get_block_alloc(e).bytes;
    if (e->type == PLM_EV_CONFIG) {
        size_t n = strlen(s->texts);
        snprintf(s->texts + n, sizeof s->texts - n, "%s=%s;",
                 plm_record_string(s->record, e->process, plm_get_config(e).key),
                 plm_record_string(s->record, e->process, plm_get_config(e).value));
    }
    return 0;
}

static struct seen read_record(const char *name)
{
    struct seen s = {.ordered = true};
    struct plm_error error;
    if (plm_record_open(unit_path(name), &s.record, &error))
        fail_msg("%s", error.text);
    assert_int_equal(plm_record_each(s.record, visit, &s, &error), 0);
    assert_true(s.ordered);
    assert_string_equal(plm_record_string(s.record, 99, 1), "");
    plm_record_free(s.record);
    return s;
}

static void append(uint64_t a, uint64_t b)
{
    const struct plm_ev_block_alloc event = {.address = a, .bytes = b};
    plm_record(PLM_EV_BLOCK_ALLOC, 3, &event, PLM_EV_BEFORE(block_alloc, context));
}

/* ---- round trips ---- */

static void write_some(void)
{
    append(40, 2);
    plm_record_config("key", "value");
    plm_record_config("key", "other value");
    plm_record_config("empty", "");
    plm_record_note("kind", "note");
    plm_record_end();
}

static void one_thread(void **state)
{
    struct seen s;
    (void)state;
    assert_int_equal(in_child("one.plm", write_some), 0);
    s = read_record("one.plm");
    assert_int_equal(s.sum, 42);
    assert_string_equal(s.texts, "key=value;key=other value;empty=;");
    assert_int_equal(s.of_type[PLM_EV_PROCESS], 1);
    assert_int_equal(s.of_type[PLM_EV_NOTE], 1);
    assert_int_equal(s.of_type[PLM_EV_END], 1);
    assert_int_equal(s.of_type[PLM_EV_TEXT], 7); /* each string once */
}

enum { THREADS = 8, EVENTS = 40000 }; /* several chunks for each */

static void *write_many(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < EVENTS; i++)
        append(i, 1);
    return NULL;
}

static void write_from_threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, write_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void several_threads(void **state)
{
    struct seen s;
    (void)state;
    assert_int_equal(in_child("threads.plm", write_from_threads), 0);
    s = read_record("threads.plm");
    assert_int_equal(s.of_type[PLM_EV_BLOCK_ALLOC], THREADS * EVENTS);
    assert_int_equal(s.sum, (uint64_t)THREADS * ((uint64_t)EVENTS * (EVENTS - 1) / 2 + EVENTS));
    assert_int_equal(s.of_type[PLM_EV_PROCESS], 1);
    assert_in_range(s.threads, THREADS, THREADS + 1);
}

static void write_and_fork(void)
{
    plm_record_config("who", "parent");
    for (int i = 0; i < 3; i++)
        if (!fork()) {
            plm_record_config("who", "child");
            append(1, 1);
            _exit(0);
        }
    if (!fork())
        _exit(0); /* one that only forks leaves no trace */
    while (wait(NULL) > 0)
        continue;
    append(100, 0);
}

static void forks(void **state)
{
    struct seen s;
    (void)state;
    assert_int_equal(in_child("fork.plm", write_and_fork), 0);
    s = read_record("fork.plm");
    assert_int_equal(s.of_type[PLM_EV_PROCESS], 4);
    assert_int_equal(s.processes, 4);
    assert_int_equal(s.sum, 106);
    assert_string_equal(s.texts, "who=parent;who=child;who=child;who=child;");
}

/* ---- rough ends ---- */

static void write_until_killed(void)
{
    for (uint64_t i = 0;; i++) {
        append(1, 0);
        if (i == EVENTS && !fork()) {
            kill(getppid(), SIGKILL); /* in the middle of its writing */
            _exit(0);
        }
    }
}

static void killed(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        int status = in_child("killed.plm", write_until_killed);
        struct seen s = read_record("killed.plm");
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_true(s.of_type[PLM_EV_BLOCK_ALLOC] >= EVENTS);
        assert_int_equal(s.sum, s.of_type[PLM_EV_BLOCK_ALLOC]);
        assert_int_equal(s.of_type[PLM_EV_END], 0);
    }
}

/* No more room: the job goes on, and the record says that events are missing. */
static void write_to_full_disk(void)
{
    struct rlimit limit = {PLM_RECORD_HEADER + 2 * PLM_RECORD_CHUNK + 100, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 0; i < 10 * EVENTS; i++)
        append(1, 0);
    plm_record_config("key", "value");
}

static void full_disk(void **state)
{
    struct plm_record *record;
    (void)state;
    assert_int_equal(in_child("full.plm", write_to_full_disk), 0);
    assert_true(read_record("full.plm").of_type[PLM_EV_BLOCK_ALLOC] > 1000);
    assert_int_equal(plm_record_open(unit_path("full.plm"), &record, NULL), 0);
    assert_true(plm_record_info(record).full);
    plm_record_free(record);
}

static void write_long_texts(void)
{
    char text[4000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    plm_record_config("long", text);
    for (int i = 0; i < 80000; i++) { /* more than are kept */
        snprintf(text, sizeof text, "text %d", i);
        plm_record_text(text);
    }
    plm_record_config("last", "unknown");
}

static void long_and_many_texts(void **state)
{
    struct seen s;
    (void)state;
    assert_int_equal(in_child("texts.plm", write_long_texts), 0);
    s = read_record("texts.plm");
    assert_int_equal(strlen(s.texts), strlen("long=") + 1600 + strlen(";=;")); /* cut; then without names */
}

static void write_nothing(void)
{
    unsetenv("PLIMSOLL_RECORD");
    append(1, 1);
    plm_record_config("key", "value");
    plm_record_live()->step = 3;
    plm_record_end();
}

static void no_record_wanted(void **state)
{
    (void)state;
    assert_int_equal(in_child("nothing.plm", write_nothing), 0);
    assert_int_equal(read_record("nothing.plm").of_type[PLM_EV_PROCESS], 0);
}

static void created_once(void **state)
{
    struct plm_record_file file;
    struct plm_record *record;
    struct plm_error error;
    (void)state;
    unit_record(unit_path("created.plm"));
    assert_int_equal(plm_record_create(unit_path("created.plm"), false, &file, &error), PLM_EIO);
    assert_contains(error.text, "exists; -f replaces it");
    assert_int_equal(plm_record_create(unit_path("created.plm"), true, &file, &error), 0);
    assert_int_equal(plm_record_open(unit_path("created.plm"), &record, &error), 0);
    assert_false(plm_record_info(record).ended); /* not yet */
    plm_record_free(record);
    plm_record_close(&file);
    assert_int_equal(plm_record_open(unit_path("created.plm"), &record, &error), 0);
    assert_true(plm_record_info(record).ended);
    plm_record_free(record);
    assert_int_equal(plm_record_create("/proc/no/where.plm", false, &file, &error), PLM_EIO);
    assert_contains(error.text, "-o names another place");
}

/* ---- files that are not what they should be ---- */

struct damage {
    const char *what;
    size_t at;      /* bytes from here on ... */
    uint32_t value; /* ... become this */
    size_t size;    /* of the file; 0 = as it was */
    int code;
    const char *message;
};

enum { CHUNK = PLM_RECORD_HEADER, EVENT = CHUNK + sizeof(struct plm_record_chunk) };

static const struct damage damages[] = {
    {"empty", 0, 0, 1, PLM_EFORMAT, "is not a job record"},
    {"other magic", 0, 0x21212121, 0, PLM_EFORMAT, "is not a job record"},
    {"half a head", 100000, 0, 2000, PLM_EFORMAT, "is cut off in its head"},
    {"newer", 8, 9, 0, PLM_EVERSION, "was written by a newer plimsoll (record version 9, this one reads 3)"},
    {"newer and cut", 8, 7, 12, PLM_EVERSION, "was written by a newer plimsoll"},
    {"version 0", 8, 0, 0, PLM_EFORMAT, "its head is not understood"},
    {"other chunk size", 16, 4096, 0, PLM_EFORMAT, "its head is not understood"},
    {"cut in a chunk", 100000, 0, CHUNK + 5000, PLM_EFORMAT, "is cut off in the middle"},
    {"chunk magic", CHUNK, 0x12345678, 0, PLM_EFORMAT, "a chunk has a wrong head"},
    {"chunk overfull", CHUNK + 24, 0x7fffffff, 0, PLM_EFORMAT, "a chunk has a wrong head"},
    {"odd length", CHUNK + 24, 12, 0, PLM_EFORMAT, "an event is"},
    {"event without length", EVENT, 1, 0, PLM_EFORMAT, "an event is longer than its chunk"},
    {"event too long", EVENT, 0xff01, 0, PLM_EFORMAT, "an event is"},
    {"unknown type", EVENT, 0x03c8, 0, PLM_EFORMAT, "an event of unknown type"},
    {"too short", EVENT, 0x0101, 0, PLM_EFORMAT, "an event is too short"},
};

static void damaged(void **state)
{
    size_t size;
    char *whole, path[4096];
    (void)state;
    assert_int_equal(in_child("sound.plm", write_some), 0);
    whole = unit_read(unit_path("sound.plm"), &size);
    snprintf(path, sizeof path, "%s", unit_path("damaged.plm"));
    for (size_t i = 0; i < COUNT(damages); i++) {
        const struct damage *d = &damages[i];
        char *copy = malloc(size);
        struct plm_record *record;
        struct plm_error error = {0};
        memcpy(copy, whole, size);
        if (d->at < size)
            memcpy(copy + d->at, &d->value, sizeof d->value);
        unit_write(path, copy, d->size ? d->size : size);
        if (plm_record_open(path, &record, &error) != d->code)
            fail_msg("%s: code %d, '%s'", d->what, error.code, error.text);
        assert_contains(error.text, "damaged.plm");
        assert_contains(error.text, d->message);
        assert_null(strchr(error.text, '\n'));
        free(copy);
    }
    free(whole);
}

static void no_file(void **state)
{
    struct plm_record *record;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_record_open(unit_path("absent.plm"), &record, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "cannot read");
    assert_int_equal(plm_record_open(unit_folder(), &record, &error), PLM_EFORMAT);
    assert_contains(error.text, "is not a job record");
    unit_write(unit_path("empty.plm"), "", 0);
    assert_int_equal(plm_record_open(unit_path("empty.plm"), &record, &error), PLM_EFORMAT);
    assert_contains(error.text, "is empty; run the job again");
    assert_int_equal(plm_record_open(unit_path("empty.plm"), &record, NULL), PLM_EFORMAT);
}

/* A copy that lost whole chunks is read, and known to be cut. */
static void lost_chunks(void **state)
{
    struct plm_record *record;
    (void)state;
    assert_int_equal(in_child("lost.plm", write_from_threads), 0);
    assert_int_equal(truncate(unit_path("lost.plm"), PLM_RECORD_HEADER + PLM_RECORD_CHUNK), 0);
    assert_int_equal(plm_record_open(unit_path("lost.plm"), &record, NULL), 0);
    assert_false(plm_record_info(record).ended);
    plm_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread), cmocka_unit_test(several_threads),  cmocka_unit_test(forks),
        cmocka_unit_test(killed),     cmocka_unit_test(full_disk),        cmocka_unit_test(long_and_many_texts),
        cmocka_unit_test(damaged),    cmocka_unit_test(no_record_wanted), cmocka_unit_test(created_once),
        cmocka_unit_test(no_file),    cmocka_unit_test(lost_chunks),
    };
    return RUN(tests);
}
