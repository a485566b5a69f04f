/* Functions and stacks of the Python program: each number stands for one, and the record describes it once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "device/source.h"
#include "record/reader.h"
#include "unit.h"

static const char code[8]; /* code objects: only their addresses matter */

static int start(void **state)
{
    (void)state;
    unit_record(unit_path("source.plm"));
    return 0;
}

struct seen {
    struct plm_record *record;
    unsigned sources, frames, children;
    struct plm_ev_source source;
    struct plm_ev_frame frame;
    char file[400], function[100];
    uint32_t parent, wanted;
};

static int visit(const struct plm_record_event *e, void *data)
{
    struct seen *s = data;
    if (e->type == PLM_EV_SOURCE && e->process == s->parent) {
        s->sources++;
        if (plm_get_source(e).source != s->wanted)
            return 0;
        s->source = plm_get_source(e);
        snprintf(s->file, sizeof s->file, "%s", plm_record_string(s->record, e->process, s->source.file));
        snprintf(s->function, sizeof s->function, "%s", plm_record_string(s->record, e->process, s->source.function));
    } else if (e->type == PLM_EV_FRAME && e->process == s->parent) {
        s->frames++;
        s->frame = plm_get_frame(e);
    } else if (e->type == PLM_EV_FRAME)
        s->children++;
    return 0;
}

static struct seen look(uint32_t source)
{
    struct seen s = {.wanted = source};
    struct plm_error error;
    assert_int_equal(plm_record_open(unit_path("source.plm"), &s.record, &error), 0);
    plm_record_each(s.record, visit, &s, &error);
    plm_record_free(s.record);
    return s;
}

static void functions(void **state)
{
    const uint32_t before = look(0).sources;
    uint32_t a, b;
    struct seen s;
    (void)state;
    assert_int_equal(plm_source_find(&code[0]), 0);
    a = plm_source_add(&code[0], "<string>", "main", 7);
    b = plm_source_add(&code[1], "/x/hf_abcdefghijklmnopqrstuvwxyzabcdefgh/a.py", "Net.forward", 9);
    assert_true(a && b && a != b);
    assert_int_equal(plm_source_find(&code[0]), a);
    assert_int_equal(plm_source_add(&code[0], "other.py", "other", 1), a); /* two threads were as fast */
    s = look(a);
    assert_int_equal(s.sources, before + 2);
    assert_string_equal(s.file, "<string>");
    assert_string_equal(s.function, "main");
    assert_int_equal(s.source.line, 7);
    assert_int_equal(s.source.bytes, 0);
    s = look(b);
    assert_string_equal(s.file, "/x/hf_***/a.py"); /* nothing that looks like a secret */
    assert_string_equal(s.function, "Net.forward");
}

/* A report shows code only if the file is as it was. */
static void files(void **state)
{
    struct stat now;
    struct seen s;
    (void)state;
    assert_int_equal(stat(unit_path("source.plm"), &now), 0);
    s = look(plm_source_add(&code[2], unit_path("source.plm"), "f", 1));
    assert_true(s.source.bytes > 0);
    assert_true(s.source.modified > 1000000000ull * 1000000000ull);
    assert_string_equal(s.file, unit_path("source.plm"));
    assert_int_equal(look(plm_source_add(&code[3], "/", "f", 1)).source.bytes, 0);
}

static void stacks(void **state)
{
    const uint32_t before = look(0).frames, source = plm_source_add(&code[4], "<stdin>", "<module>", 1);
    const uint32_t main = plm_source_frame(0, source, 10), inner = plm_source_frame(main, source, 20);
    struct seen s;
    (void)state;
    assert_true(main && inner && main != inner);
    assert_int_equal(plm_source_frame(0, source, 10), main);
    assert_int_equal(plm_source_frame(main, source, 20), inner);
    assert_true(plm_source_frame(main, source, 21) != inner); /* another line of the caller's */
    assert_true(plm_source_frame(0, source, 20) != inner);    /* another caller */
    s = look(0);
    assert_int_equal(s.frames, before + 4);
    assert_int_equal(s.frame.caller, 0);
    assert_int_equal(s.frame.source, source);
    assert_int_equal(s.frame.line, 20);
}

static void many_stacks(void **state)
{
    const uint32_t source = plm_source_add(&code[4], "<stdin>", "<module>", 1);
    uint32_t last = 0, kept = 0;
    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        last = plm_source_frame(0, source, 1000 + i);
        kept += last != 0;
    }
    assert_int_equal(last, 0); /* no room; nothing loops, nothing is overwritten */
    assert_in_range(kept, 60000, 70000);
    assert_int_equal(plm_source_frame(0, source, 10), plm_source_frame(0, source, 10));
    assert_true(plm_source_frame(0, source, 1000) != 0);
}

/* A process of its own in the record: what its parent described, it does not know. */
static void forked(void **state)
{
    const uint32_t generation = plm_source_generation();
    int status;
    pid_t child = fork();
    (void)state;
    if (!child) {
        bool anew = !plm_source_find(&code[4]) && plm_source_generation() != generation;
        uint32_t source = plm_source_add(&code[4], "<stdin>", "<module>", 1);
        _exit(anew && source == 1 && plm_source_frame(0, source, 10) == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(plm_source_generation(), generation);
    assert_int_equal(look(0).children, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions), cmocka_unit_test(files),       cmocka_unit_test(stacks),
        cmocka_unit_test(forked),    cmocka_unit_test(many_stacks),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
