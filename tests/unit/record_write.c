/* Writers of the job record: what they append is what the reader gives, whatever happens to them. */
#include "record_common.h"

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

/* ---- round trips ---- */

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

/* A process that was started without a record is given one: its children are told apart as well. */
static void forks_after_a_switch(void **state)
{
    struct seen s;
    pid_t pid;
    int status;
    (void)state;
    unit_record(unit_path("later.plm"));
    unsetenv("PLIMSOLL_RECORD");
    pid = fork();
    if (!pid) {
        plm_record_switch(unit_path("later.plm"));
        write_and_fork();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    s = read_record("later.plm");
    assert_int_equal(s.of_type[PLM_EV_PROCESS], 4);
    assert_int_equal(s.processes, 4);
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
    setrlimit(RLIMIT_FSIZE, &limit); /* whoever exceeds it is killed */
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
    assert_string_equal(plm_record_missing(record).why, "the file size limit was reached");
    assert_true(plm_record_info(record).ended);
    plm_record_free(record);
}

/* What the program put in the place of the record's descriptor stays what it is, and nothing is missing. */
static void write_and_replace(void)
{
    const int other = open(unit_path("theirs"), O_RDWR | O_CLOEXEC);
    for (uint64_t i = 0; i < EVENTS; i++) {
        struct stat record, at;
        if (i % 5000 == 0 && !stat(getenv("PLIMSOLL_RECORD"), &record))
            for (int fd = 3; fd < 1024; fd++)
                if (!fstat(fd, &at) && at.st_ino == record.st_ino && at.st_dev == record.st_dev)
                    dup2(other, fd);
        append(i, 1);
    }
    plm_record_end(plm_record_abandoned());
}

static void replaced_descriptor(void **state)
{
    static char theirs[4 * MIB], *after;
    struct plm_record *record;
    struct seen s;
    size_t size;
    (void)state;
    memset(theirs, 'x', sizeof theirs);
    unit_write(unit_path("theirs"), theirs, sizeof theirs);
    assert_int_equal(in_child("replaced.plm", write_and_replace), 0);
    after = unit_read(unit_path("theirs"), &size);
    assert_int_equal(size, sizeof theirs);
    assert_memory_equal(after, theirs, size);
    free(after);
    s = read_record("replaced.plm");
    assert_int_equal(s.of_type[PLM_EV_BLOCK_ALLOC], EVENTS);
    assert_int_equal(s.of_type[PLM_EV_END], 1);
    assert_int_equal(plm_record_open(unit_path("replaced.plm"), &record, NULL), 0);
    assert_string_equal(plm_record_missing(record).why, "");
    plm_record_free(record);
}

static void reasons_for_what_is_missing(void **state)
{
    static const struct {
        uint32_t flags, stopped;
        const char *why;
    } rows[] = {
        {PLM_RECORD_ENDED, 0, ""},
        {PLM_RECORD_ENDED | PLM_RECORD_FULL, PLM_RECORD_STOPPED(PLM_STOP_EXTEND, ENOSPC), "the disk was full"},
        {PLM_RECORD_FULL, PLM_RECORD_STOPPED(PLM_STOP_EXTEND, EDQUOT), "the disk quota was exceeded"},
        {PLM_RECORD_FULL, PLM_RECORD_STOPPED(PLM_STOP_EXTEND, EFBIG), "the file size limit was reached"},
        {PLM_RECORD_FULL, PLM_RECORD_STOPPED(PLM_STOP_EXTEND, EPERM),
         "the system refused to extend the record (Operation not permitted)"},
        {PLM_RECORD_FULL, PLM_RECORD_STOPPED(PLM_STOP_REOPEN, ENOENT),
         "the job closed plimsoll's descriptor and the record could not be reopened (No such file or directory)"},
        {PLM_RECORD_FULL, PLM_RECORD_STOPPED(PLM_STOP_MAP, ENOMEM),
         "the record could not be mapped (Cannot allocate memory)"},
        {PLM_RECORD_FULL, 0, "the record could not be extended: the disk may have been full"},
        {PLM_RECORD_FULL, UINT32_MAX, "the record could not be extended: the disk may have been full"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_record_file file;
        struct plm_record *record;
        assert_int_equal(plm_record_create(unit_path("why.plm"), true, &file, NULL), 0);
        atomic_store(&file.header->flags, rows[i].flags);
        atomic_store(&file.header->stopped, rows[i].stopped);
        atomic_store(&file.header->chunks, rows[i].flags & PLM_RECORD_FULL ? 1 : 0); /* claimed, and not made */
        assert_int_equal(plm_record_open(unit_path("why.plm"), &record, NULL), 0);
        assert_string_equal(plm_record_missing(record).why, rows[i].why);
        assert_int_equal(plm_record_missing(record).help[0] != 0, rows[i].why[0] != 0);
        assert_int_equal(plm_record_info(record).ended, rows[i].flags & PLM_RECORD_ENDED ? 1 : 0);
        plm_record_free(record);
        plm_record_close(&file);
    }
}

/* Whoever goes on after the run has closed its record, and given it another name, does not make it incomplete. */
static void lost_after_the_end(void **state)
{
    struct plm_record_file file;
    struct plm_writer writer;
    struct plm_pen pen = {.writer = &writer};
    (void)state;
    for (int ended = 0; ended < 2; ended++) {
        assert_int_equal(plm_record_create(unit_path("lost.plm"), true, &file, NULL), 0);
        assert_int_equal(plm_writer_open(&writer, unit_path("lost.plm")), 0);
        if (ended)
            plm_record_close(&file);
        assert_int_equal(rename(unit_path("lost.plm"), unit_path("renamed.plm")), 0);
        close(writer.file.fd);
        plm_pen_step(&pen, 0, &(struct plm_ev_step){1, 1});
        plm_pen_close(&pen);
        assert_int_equal(plm_writer_close(&writer), ended ? 0 : PLM_EIO);
        if (!ended)
            plm_record_close(&file);
    }
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

/* Each the beginning of those before it: some of 1,500 meet one of them in a table of 131,072 places. */
enum { BEGINNINGS = 1500 };

static void write_beginnings(void)
{
    char text[BEGINNINGS + 8];
    for (size_t n = 0, i = 0; n < BEGINNINGS; i++)
        n += (size_t)sprintf(text + n, "%zu ", i);
    for (size_t n = BEGINNINGS; n > 0; n--) {
        text[n] = '\0';
        plm_record_text(text);
    }
    plm_record_config("0 1", "0 ");
}

static void beginnings_of_texts(void **state)
{
    struct seen s;
    (void)state;
    assert_int_equal(in_child("beginnings.plm", write_beginnings), 0);
    s = read_record("beginnings.plm");
    assert_int_equal(s.of_type[PLM_EV_TEXT], BEGINNINGS);
    assert_string_equal(s.texts, "0 1=0 ;");
}

static void write_nothing(void)
{
    unsetenv("PLIMSOLL_RECORD");
    append(1, 1);
    plm_record_config("key", "value");
    plm_record_live()->step = 3;
    plm_record_end(0);
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
    assert_contains(error.text, "exists; use -f to replace it");
    assert_int_equal(plm_record_create(unit_path("created.plm"), true, &file, &error), 0);
    assert_int_equal(plm_record_open(unit_path("created.plm"), &record, &error), 0);
    assert_false(plm_record_info(record).ended); /* not yet */
    plm_record_free(record);
    plm_record_close(&file);
    assert_int_equal(plm_record_open(unit_path("created.plm"), &record, &error), 0);
    assert_true(plm_record_info(record).ended);
    plm_record_free(record);
    assert_int_equal(plm_record_create("/proc/no/where.plm", false, &file, &error), PLM_EIO);
    assert_contains(error.text, "choose another place with -o");
}

/* Whether a process that records finds it abandoned: a new one, since it opens its record once. */
static bool is_abandoned(const char *path)
{
    int status;
    fflush(NULL);
    if (!fork()) {
        setenv("PLIMSOLL_RECORD", path, 1);
        _exit(plm_record_abandoned());
    }
    wait(&status);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void run_that_dies(void **state)
{
    const char *path = unit_path("held.plm");
    struct plm_record_file file;
    int channel[2];
    char byte = 0;
    pid_t run;
    (void)state;
    assert_int_equal(pipe(channel), 0);
    fflush(NULL);
    run = fork();
    if (!run) {
        plm_record_create(path, false, &file, NULL);
        if (write(channel[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(channel[0], &byte, 1), 1);
    assert_false(is_abandoned(path));
    kill(run, SIGKILL);
    waitpid(run, NULL, 0);
    assert_true(is_abandoned(path));
    assert_int_equal(plm_record_create(path, true, &file, NULL), 0);
    assert_false(is_abandoned(path));
    plm_record_close(&file); /* it has ended: who still writes may */
    assert_false(is_abandoned(path));
    assert_false(is_abandoned("/no/record"));
}

/* ---- writers as objects ---- */

static void new_record(const char *name)
{
    struct plm_record_file file;
    assert_int_equal(plm_record_create(unit_path(name), true, &file, NULL), 0);
    plm_record_close(&file);
}

/* What others wrote after a moment is forgotten; what is our own, and what they wrote before it, stays. */
static void others_are_forgotten(void **state)
{
    struct plm_writer own, other;
    struct plm_pen a = {.writer = &own}, b = {.writer = &other, .thread = 5};
    struct plm_summary summary;
    uint64_t chunks;
    (void)state;
    new_record("a.plm");
    assert_int_equal(plm_writer_open(&own, unit_path("a.plm")), 0);
    assert_int_equal(plm_writer_open(&other, unit_path("a.plm")), 0);
    plm_pen_setting(&a, "who", "own");
    plm_pen_setting(&b, "before", "other");
    plm_pen_close(&b);
    chunks = atomic_load(&own.header->chunks);
    plm_pen_setting(&b, "after", "other");
    plm_pen_close(&b);
    plm_pen_close(&a);
    plm_pen_setting(&a, "later", "own"); /* in a chunk of its own */
    plm_writer_forget(&own, chunks);
    plm_pen_close(&a);
    plm_writer_close(&other);
    plm_writer_close(&own);
    assert_int_equal(plm_summary_read(unit_path("a.plm"), &summary, NULL), 0);
    assert_string_equal(plm_summary_config(&summary, "who"), "own");
    assert_string_equal(plm_summary_config(&summary, "before"), "other");
    assert_string_equal(plm_summary_config(&summary, "later"), "own");
    assert_null(plm_summary_config(&summary, "after"));
    plm_summary_free(&summary);
}

/* Two records at once, and one of them from two threads' pens. */
static void two_writers(void **state)
{
    struct plm_writer one, two;
    struct plm_pen a = {.writer = &one}, b = {.writer = &two, .thread = 5}, c = {.writer = &two, .thread = 6};
    struct seen s;
    (void)state;
    new_record("a.plm");
    new_record("b.plm");
    assert_int_equal(plm_writer_open(&one, unit_path("a.plm")), 0);
    assert_int_equal(plm_writer_open(&two, unit_path("b.plm")), 0);
    plm_pen_setting(&a, "who", "one");
    plm_pen_setting(&b, "who", "two");
    plm_pen_setting(&c, "who", "three");
    plm_pen_block_alloc(&c, 0, &(struct plm_ev_block_alloc){.address = 40, .bytes = 2});
    assert_int_equal(atomic_load(&two.live->pid), getpid());
    plm_pen_close(&a);
    plm_pen_close(&b);
    plm_pen_close(&c);
    assert_int_equal(plm_writer_close(&one), 0);
    assert_int_equal(plm_writer_close(&two), 0);
    assert_string_equal(read_record("a.plm").texts, "who=one;");
    s = read_record("b.plm");
    assert_string_equal(s.texts, "who=two;who=three;");
    assert_int_equal(s.sum, 42);
    assert_int_equal(s.threads, 2);
    assert_int_equal(s.of_type[PLM_EV_PROCESS], 1);
}

static int take_time(const struct plm_record_event *e, void *context)
{
    uint64_t **next = context;
    if (e->type == PLM_EV_STEP)
        *(*next)++ = e->time_ns;
    return 0;
}

/* Times of the past, also those that are more than 32 bits apart; they do not go back. */
static void the_past(void **state)
{
    struct plm_writer writer;
    struct plm_pen pen = {.writer = &writer, .thread = 1};
    struct plm_record *record;
    uint64_t times[3], *next = times;
    (void)state;
    new_record("past.plm");
    assert_int_equal(plm_writer_open(&writer, unit_path("past.plm")), 0);
    plm_writer_past(&writer, 1234567);
    plm_pen_at(&pen, 1000);
    plm_pen_step(&pen, 0, &(struct plm_ev_step){1, 1});
    plm_pen_at(&pen, 10000000000);
    plm_pen_step(&pen, 0, &(struct plm_ev_step){2, 1});
    plm_pen_at(&pen, 5);
    plm_pen_step(&pen, 0, &(struct plm_ev_step){3, 1});
    plm_pen_close(&pen);
    assert_int_equal(plm_writer_close(&writer), 0);
    assert_int_equal(plm_record_open(unit_path("past.plm"), &record, NULL), 0);
    assert_int_equal(plm_record_info(record).created_ns, 1234567);
    assert_int_equal(plm_record_each(record, take_time, &next, NULL), 0);
    plm_record_free(record);
    assert_int_equal(next - times, 3);
    assert_int_equal(times[0], 1000);
    assert_int_equal(times[1], 10000000000);
    assert_int_equal(times[2], 10000000000);
}

/* Nothing to write to: everything is taken, nothing is kept. */
static void no_writer(void **state)
{
    struct plm_writer writer;
    struct plm_pen pen = {.writer = &writer};
    (void)state;
    assert_int_equal(plm_writer_open(&writer, unit_path("absent.plm")), PLM_EIO);
    plm_writer_past(&writer, 1);
    plm_pen_setting(&pen, "key", "value");
    plm_pen_end(&pen, 0, &(struct plm_ev_end){0});
    assert_int_equal(atomic_load(&writer.live->pid), 0);
    plm_pen_close(&pen);
    assert_int_equal(plm_writer_close(&writer), 0);
    unit_write(unit_path("other.plm"), "PLIMSOLL", 8);
    assert_int_equal(truncate(unit_path("other.plm"), PLM_RECORD_HEADER), 0);
    assert_int_equal(plm_writer_open(&writer, unit_path("other.plm")), PLM_EVERSION);
    plm_writer_close(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaced_descriptor),
        cmocka_unit_test(lost_after_the_end),
        cmocka_unit_test(reasons_for_what_is_missing),
        cmocka_unit_test(others_are_forgotten),
        cmocka_unit_test(two_writers),
        cmocka_unit_test(the_past),
        cmocka_unit_test(no_writer),
        cmocka_unit_test(one_thread),
        cmocka_unit_test(several_threads),
        cmocka_unit_test(forks),
        cmocka_unit_test(forks_after_a_switch),
        cmocka_unit_test(killed),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(long_and_many_texts),
        cmocka_unit_test(beginnings_of_texts),
        cmocka_unit_test(no_record_wanted),
        cmocka_unit_test(created_once),
        cmocka_unit_test(run_that_dies),
    };
    return RUN(tests);
}
