/* Who answers in a study, and the answers that need no learning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/description.h"
#include "study/evaluate/study.h"

#define MIB 1048576.0

/* Formulas that need no more of a network than the numbers of a row. */
static const char *const by_numbers[] = {"horus", "horus-1000", "accelerate", "deepspeed-zero2"};

static bool needs_numbers_alone(const char *name)
{
    for (size_t i = 0; i < sizeof by_numbers / sizeof by_numbers[0]; i++)
        if (!strcmp(by_numbers[i], name))
            return true;
    return false;
}

/* What it looks at is all in a capture of the job (`plimsoll trace`). */
static bool needs_capture(const struct plm_method *m)
{
    return m->paradigm != PLM_LEARNED && m->paradigm != PLM_VIRTUAL && !needs_numbers_alone(m->name);
}

static const char *method_why_not(const struct plm_study *s, const struct plm_method *m)
{
    if (m->paradigm == PLM_LEARNED)
        return "it learns from a table of its own; `plimsoll train` and `plimsoll evaluate` have it";
    if (!needs_capture(m) || s->options.sample)
        return NULL;
    if (m->needs & PLM_NEEDS_TRACE)
        return "it needs a profiler's trace of each job, which rows do not have; --sample N makes those of some rows";
    return "it needs the graph or the configuration of each network, which rows do not have; --sample N captures "
           "those of some rows";
}

static double *captured_make(const struct plm_study *s, const struct plm_method *m)
{
    double *captured;
    if (!s->options.sample || !needs_capture(m))
        return NULL;
    captured = plm_calloc(s->table.rows + 1, sizeof *captured);
    for (size_t row = 0; row < s->table.rows; row++)
        captured[row] = NAN;
    return captured;
}

static void contestant_add(struct plm_study *s, struct plm_contestant contestant)
{
    for (size_t i = 0; i < s->contestants; i++)
        if (!strcmp(s->contestant[i].name, contestant.name)) {
            free(contestant.captured);
            return;
        }
    s->contestant = plm_grow(s->contestant, s->contestants, &s->contestant_room, sizeof *s->contestant);
    s->contestant[s->contestants++] = contestant;
}

static void method_add(struct plm_study *s, const struct plm_method *method)
{
    const bool learns = method->learner && plm_learner_answers(method->learner);
    contestant_add(s, (struct plm_contestant){.name = method->name,
                                              .paradigm = method->paradigm,
                                              .method = method,
                                              .learner = learns ? method->learner : NULL,
                                              .captured = captured_make(s, method),
                                              .why_not = learns ? NULL : method_why_not(s, method)});
}

static void methods_add_all(struct plm_study *s)
{
    for (size_t i = 0; i < PLM_METHODS; i++)
        method_add(s, plm_methods[i]);
}

static int by_paradigm(const void *a, const void *b)
{
    const struct plm_contestant *x = a, *y = b;
    return x->paradigm != y->paradigm ? (int)x->paradigm - (int)y->paradigm : strcmp(x->name, y->name);
}

int plm_contestants_choose(struct plm_study *s, struct plm_error *error)
{
    char *words = plm_strdup(s->options.methods), *rest = words, *word;
    int status = 0;
    while (status == 0 && (word = strsep(&rest, ",")))
        if (!strcmp(word, "all"))
            methods_add_all(s);
        else if (plm_methods_find(word))
            method_add(s, plm_methods_find(word));
        else
            status = plm_fail(error, PLM_EINVAL,
                              "unknown method \"%.60s\"; `plimsoll train --help` lists those that learn, "
                              "`plimsoll estimate --help` all others",
                              word);
    free(words);
    if (status == 0)
        qsort(s->contestant, s->contestants, sizeof *s->contestant, by_paradigm);
    return status;
}

/* ---- formulas ---- */

static uint64_t whole(double number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* The method itself is asked, about a network of one layer that has the numbers of the row. */
double plm_contestant_formula(const struct plm_method *method, const struct plm_example *example, char *why,
                              size_t size)
{
    const double *n = example->number;
    struct plm_described_tensor output = {.elements = whole(n[PLM_EXAMPLE_ACTIVATIONS])};
    struct plm_described_call call = {.output = &output, .outputs = 1};
    struct plm_described_module module = {.name = "", .class_name = "Module", .leaf = true, .parent = -1};
    const uint64_t parameters = whole(n[PLM_EXAMPLE_PARAMETERS]);
    struct plm_description description = {.model = {.dtype = "float32",
                                                    .parameters = parameters,
                                                    .trainable = parameters,
                                                    .parameter_bytes = 4 * parameters},
                                          .batch = {.size = whole(n[PLM_EXAMPLE_BATCH])},
                                          .module = &module,
                                          .call = &call,
                                          .modules = 1,
                                          .calls = 1};
    const struct plm_evidence evidence = {.description = &description};
    struct plm_inquiry inquiry = plm_inquiry_open(method, &evidence);
    const struct plm_answer answer = inquiry.answer;
    plm_inquiry_close(&inquiry);
    if (answer.state != PLM_UNANSWERED)
        return (double)answer.bytes / MIB;
    snprintf(why, size, "%s", answer.note);
    return NAN;
}

/* ---- the constant of the stack ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `value` ascending. */
static double most_often(const double *value, size_t count)
{
    double best = NAN;
    size_t most = 0;
    for (size_t i = 0, from = 0; i < count; i++) {
        if (value[i] != value[from])
            from = i;
        if (i - from + 1 > most) {
            most = i - from + 1;
            best = value[i];
        }
    }
    return best;
}

double plm_study_constant(const struct plm_study *s, const struct plm_study_target *t, const bool *left_out)
{
    double *beside = plm_calloc(s->table.rows + 1, sizeof *beside), constant;
    size_t count = 0;
    for (size_t row = 0; row < s->table.rows; row++)
        if (!left_out[row] && !isnan(t->truth[row]) && s->box[row].reserved >= 0)
            beside[count++] = rint(t->truth[row] - s->box[row].reserved);
    qsort(beside, count, sizeof *beside, ascending);
    constant = most_often(beside, count);
    free(beside);
    return constant;
}
