/* Where a thread is: frames pushed by the hook and by operators, seen through the record. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "device/context.h"
#include "record/reader.h"
#include "record/writer.h"
#include "unit.h"

static int start(void **state)
{
    (void)state;
    unit_record(unit_path("context.plm"));
    return 0;
}

/* The record's description of a context, found by its number. */
struct described {
    struct plm_record *record;
    uint32_t wanted;
    char text[400];
};

static int visit(const struct plm_record_event *e, void *data)
{
    static const char *const phases[] = {"other", "data",     "forward",   "recompute",
                                         "loss",  "backward", "optimizer", "zero_grad"};
    struct described *d = data;
    struct plm_ev_context c;
    if (e->type != PLM_EV_CONTEXT || plm_get_context(e).context != d->wanted)
        return 0;
    c = plm_get_context(e);
    snprintf(d->text, sizeof d->text, "%s %s|%s|%s", phases[c.phase],
             plm_record_string(d->record, e->process, c.module), plm_record_string(d->record, e->process, c.op),
             plm_record_string(d->record, e->process, c.inner_op));
    return 1;
}

static void expect_number(uint32_t number, const char *text)
{
    struct described d = {.wanted = number};
    struct plm_error error;
    assert_int_equal(plm_record_open(unit_path("context.plm"), &d.record, &error), 0);
    plm_record_each(d.record, visit, &d, &error);
    plm_record_free(d.record);
    assert_string_equal(d.text, text);
}

static void expect(const char *text)
{
    expect_number(plm_context_now(), text);
}

static void enter(const char *module)
{
    plm_context_enter_module(plm_record_text(module), 0);
}

static int op[8]; /* addresses stand for calls */

static void a_step(void **state)
{
    (void)state;
    assert_int_equal(plm_context_now(), 0);
    enter("(Net)");
    enter("fc");
    plm_context_enter_operator(&op[0], "aten::linear");
    plm_context_enter_operator(&op[1], "aten::_to_copy");
    plm_context_enter_operator(&op[2], "aten::empty_strided");
    expect("forward fc|aten::linear|aten::_to_copy");
    plm_context_leave_operator(&op[2]);
    plm_context_leave_operator(&op[1]);
    plm_context_leave_operator(&op[0]);
    expect("forward fc||");
    plm_context_leave();
    expect("forward (Net)||");
    plm_context_leave();
    expect("loss (loss)||");
    plm_context_enter_module(plm_record_text("(CrossEntropyLoss)"), PLM_MODULE_NO_PARAMETERS);
    expect("loss (CrossEntropyLoss)||");
    plm_context_leave();
    plm_context_enter_phase(PLM_PHASE_ZERO_GRAD);
    plm_context_leave();
    assert_int_equal(plm_context_phase(), PLM_PHASE_LOSS);
    plm_context_enter_phase(PLM_PHASE_BACKWARD);
    expect("backward ||");
    plm_context_leave();
    assert_int_equal(plm_context_phase(), PLM_PHASE_OTHER);
    plm_context_enter_phase(PLM_PHASE_OPTIMIZER);
    plm_context_leave();
    assert_int_equal(plm_context_phase(), PLM_PHASE_DATA);
    assert_int_equal(plm_context_depth(), 0);
}

/* Some training libraries run the whole step inside optimizer.step(closure). */
static void a_step_in_a_closure(void **state)
{
    (void)state;
    plm_context_enter_phase(PLM_PHASE_OPTIMIZER);
    for (int i = 0; i < 2; i++) {
        enter("(Net)");
        expect("forward (Net)||");
        plm_context_leave();
        expect("loss (loss)||");
    }
    plm_context_enter_phase(PLM_PHASE_BACKWARD);
    plm_context_leave();
    expect("optimizer ||");
    plm_context_leave();
    assert_int_equal(plm_context_phase(), PLM_PHASE_DATA);
}

/* On a thread of the engine: brackets, nodes, what is added up after a node, and a checkpoint. */
static void *engine(void *unused)
{
    (void)unused;
    plm_context_enter_operator(&op[0], "autograd::engine::evaluate_function: MmBackward0");
    plm_context_enter_node(&op[1], "MmBackward0", -1);
    plm_context_enter_operator(&op[2], "aten::mm");
    expect("backward |MmBackward0|aten::mm");
    plm_context_leave_operator(&op[2]);
    enter("block.0");
    plm_context_enter_operator(&op[3], "aten::relu");
    expect("recompute block.0|aten::relu|aten::relu");
    plm_context_leave_operator(&op[3]);
    plm_context_leave();
    plm_context_leave_operator(&op[1]);
    plm_context_enter_operator(&op[2], "aten::add");
    expect("backward |MmBackward0|aten::add");
    plm_context_leave_operator(&op[2]);
    plm_context_leave_operator(&op[0]);
    assert_int_equal(plm_context_depth(), 0);
    assert_int_equal(plm_context_phase(), PLM_PHASE_BACKWARD);
    return NULL;
}

static void backward_on_another_thread(void **state)
{
    pthread_t thread;
    (void)state;
    plm_context_enter_phase(PLM_PHASE_BACKWARD);
    assert_int_equal(pthread_create(&thread, NULL, engine, NULL), 0);
    pthread_join(thread, NULL);
    plm_context_leave();
}

/* Ends that never come, ends without a beginning, and more frames than there is room for. */
static void unbalanced(void **state)
{
    (void)state;
    plm_context_leave();
    plm_context_leave_operator(&op[0]);
    enter("a");
    plm_context_enter_operator(&op[0], "aten::x");
    plm_context_enter_operator(&op[1], "aten::y");
    plm_context_leave_operator(&op[5]);
    plm_context_leave_operator(&op[0]); /* y never ended */
    expect("forward a||");
    plm_context_enter_operator(&op[1], "aten::y");
    plm_context_leave();
    assert_int_equal(plm_context_depth(), 0);
    for (int i = 0; i < 1000; i++)
        enter("deep");
    expect("forward deep||");
    for (int i = 0; i < 1000; i++)
        plm_context_leave();
    assert_int_equal(plm_context_depth(), 0);
    assert_int_equal(plm_context_phase(), PLM_PHASE_LOSS);
}

static void all_is_marked(void **state)
{
    (void)state;
    plm_context_enter_operator(&op[0], "aten::all");
    assert_true(plm_context_in_all());
    plm_context_enter_operator(&op[1], "aten::empty");
    assert_true(plm_context_in_all());
    plm_context_leave_operator(&op[1]);
    plm_context_leave_operator(&op[0]);
    assert_false(plm_context_in_all());
}

/* A child numbers its contexts anew: its record knows nothing of the parent's. */
static void fork_in_a_module(void **state)
{
    pid_t child;
    int status;
    (void)state;
    enter("parent");
    assert_int_not_equal(plm_context_now(), 0);
    child = fork();
    if (child == 0) {
        uint32_t number;
        enter("child");
        number = plm_context_now();
        _exit(plm_context_depth() == 1 && number == 1 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    expect("forward parent||");
    plm_context_leave();
}

struct last_process {
    uint32_t process;
    unsigned forwards; /* how often it passed into that phase */
};

static int visit_phase(const struct plm_record_event *e, void *data)
{
    struct last_process *last = data;
    if (e->process > last->process)
        *last = (struct last_process){e->process, 0};
    if (e->process == last->process && e->type == PLM_EV_PHASE)
        last->forwards += plm_get_phase(e).phase == PLM_PHASE_FORWARD;
    return 0;
}

/* The child's record has no phase yet, whatever that of the parent has. */
static void fork_in_a_phase(void **state)
{
    struct last_process last = {0, 0};
    struct plm_record *record;
    struct plm_error error;
    pid_t child;
    int status;
    (void)state;
    plm_context_enter_phase(PLM_PHASE_FORWARD);
    child = fork();
    if (child == 0) {
        plm_context_enter_phase(PLM_PHASE_FORWARD);
        plm_record_config("who", "child");
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    plm_context_leave();
    assert_int_equal(plm_record_open(unit_path("context.plm"), &record, &error), 0);
    assert_int_equal(plm_record_each(record, visit_phase, &last, &error), 0);
    plm_record_free(record);
    assert_int_equal(last.forwards, 1);
}

static void journal(void **state)
{
    struct plm_journal *j = plm_journal_of_thread();
    uint32_t module = 77;
    (void)state;
    assert_false(plm_journal_find(j, PLM_JOURNAL_MODULES, 5, &module));
    plm_journal_note(j, PLM_JOURNAL_MODULES, 10, 1);
    plm_journal_note(j, PLM_JOURNAL_MODULES, 10, 2); /* nothing happened in between */
    plm_journal_note(j, PLM_JOURNAL_MODULES, 13, 3);
    assert_false(plm_journal_find(j, PLM_JOURNAL_MODULES, 9, &module));
    assert_int_equal(module, 77);
    assert_true(plm_journal_find(j, PLM_JOURNAL_MODULES, 12, &module) && module == 2);
    assert_true(plm_journal_find(j, PLM_JOURNAL_MODULES, 13, &module) && module == 3);
    assert_true(plm_journal_find(j, PLM_JOURNAL_MODULES, 1000, &module) && module == 3);
    for (int64_t i = 0; i < 200000; i++)
        plm_journal_note(j, PLM_JOURNAL_MODULES, 20 + 2 * i, (uint32_t)i);
    assert_false(plm_journal_find(j, PLM_JOURNAL_MODULES, 20, &module)); /* long gone */
    assert_true(plm_journal_find(j, PLM_JOURNAL_MODULES, 20 + 2 * 199000 + 1, &module) && module == 199000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step),
        cmocka_unit_test(a_step_in_a_closure),
        cmocka_unit_test(backward_on_another_thread),
        cmocka_unit_test(unbalanced),
        cmocka_unit_test(all_is_marked),
        cmocka_unit_test(fork_in_a_module),
        cmocka_unit_test(fork_in_a_phase),
        cmocka_unit_test(journal),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
