/* Methods that learn, as `plimsoll estimate` asks them: beside the others, about a job and a card. */
#include <math.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "fit/outcome.h"
#include "study/estimate/method.h"
#include "study/learn/example.h"
#include "study/learn/learner.h"
#include "study/learn/white_box.h"

#define MIB         1048576.0
#define LEAST_SHOWN 0.005 /* probability of a class that is still worth a line */

static int beside_ask(const struct plm_model *learned, const struct plm_evidence *evidence,
                      const struct plm_example *example, struct plm_learned_answer *answer, struct plm_error *error)
{
    struct plm_outcome outcome;
    struct plm_white_box box;
    plm_outcome_of(evidence->job, &outcome);
    if (!outcome.done)
        return plm_fail(error, PLM_EINVAL, "%.150s", outcome.why);
    plm_white_box_of(&outcome, evidence->labels, &box);
    return learned->method->learner->ask_beside(learned->model, example, &box, answer, error);
}

int plm_learned_ask(const struct plm_model *learned, const struct plm_evidence *evidence,
                    struct plm_learned_answer *answer, struct plm_error *error)
{
    struct plm_example example = {0};
    int status;
    if (learned->method->learner->ask_beside && !evidence->job)
        return plm_fail(error, PLM_EINVAL, "%s corrects a run: it needs a record (from `plimsoll run -- CMD`)",
                        learned->method->name);
    if (evidence->features)
        return learned->method->learner->ask_features
                   ? learned->method->learner->ask_features(learned->model, evidence->features, answer, error)
                   : plm_fail(error, PLM_EINVAL, "%s needs the layers of the network, which only a description has",
                              learned->method->name);
    if (!evidence->description)
        return plm_fail(error, PLM_EINVAL, "%s needs a description (from `plimsoll describe -- CMD`)",
                        learned->method->name);
    status = plm_example_describe(evidence->description, &example, error);
    if (status == 0)
        status = learned->method->learner->ask_beside
                     ? beside_ask(learned, evidence, &example, answer, error)
                     : learned->method->learner->ask(learned->model, &example, answer, error);
    plm_example_free(&example);
    return status;
}

/* ---- as a method ---- */

struct prepared {
    struct plm_learned_answer answer;
};

void *plm_learned_prepare(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    struct prepared *p = plm_calloc(1, sizeof *p);
    struct plm_error error = {0};
    if (plm_learned_ask(evidence->model, evidence, &p->answer, &error))
        plm_answer_none(answer, "%.190s", error.text);
    else if (p->answer.unit != PLM_LEARNED_MEMORY)
        plm_answer_none(answer, "the model was not trained for memory; ask it alone for what it predicts");
    else if (p->answer.outside > 0)
        plm_answer_outside(answer, "%s is outside the training rows, by %.2g times their range", p->answer.feature,
                           p->answer.outside);
    return p;
}

/* What the process takes beside its allocations is in what was measured, and is one figure for all methods here. */
void plm_learned_judge(void *prepared, const struct plm_question *question, struct plm_answer *answer)
{
    const struct prepared *p = prepared;
    const uint64_t used = (uint64_t)(fmin(p->answer.figure, 1e12) * MIB),
                   context = p->answer.with_context ? question->context : 0;
    answer->bytes = used > context ? used - context : 0;
}

void plm_learned_explain(const void *prepared, const struct plm_page *page, struct plm_json *json)
{
    const struct prepared *p = prepared;
    if (page)
        plm_learned_show(&p->answer, page);
    else
        plm_learned_describe(&p->answer, json);
}

/* ---- an answer ---- */

static void show_classes(const struct plm_learned_answer *a, const struct plm_page *p)
{
    const char *unit = plm_learned_unit_name(a->unit);
    char low[32], high[32], name[80];
    plm_page_title(p, "Probability of each class");
    for (size_t i = 0; i < a->classes; i++) {
        if (a->probability[i] < LEAST_SHOWN && a->edge[i + 1] != a->figure)
            continue;
        snprintf(name, sizeof name, "above %s to %s %s", plm_count_text(low, sizeof low, (uint64_t)a->edge[i]),
                 plm_count_text(high, sizeof high, (uint64_t)a->edge[i + 1]), unit);
        fprintf(p->out, "  %-28s %5.1f %%  ", name, 100 * a->probability[i]);
        plm_page_bar(p, plm_page_room(p, 42), 0, (uint64_t)(1000 * a->probability[i]), 1000);
        fputc('\n', p->out);
    }
}

void plm_learned_show(const struct plm_learned_answer *a, const struct plm_page *p)
{
    char text[32];
    if (a->unit == PLM_LEARNED_MEMORY)
        fprintf(p->out, "%s: %s MiB%s.\n",
                a->classes ? "Upper edge of the most likely class" : "The model's own estimate",
                plm_count_text(text, sizeof text, (uint64_t)rint(a->figure)),
                a->with_context ? ", including memory outside the process's allocations" : "");
    else
        fprintf(p->out, "%s: %.4g %s.\n", a->classes ? "Upper edge of the most likely class" : "The model's estimate",
                a->figure, plm_learned_unit_name(a->unit));
    if (a->outside > 0)
        plm_page_say(p, "%s lies outside of the rows that it learned from, by %.2g times their range.", a->feature,
                     a->outside);
    if (a->classes)
        show_classes(a, p);
}

void plm_learned_describe(const struct plm_learned_answer *a, struct plm_json *json)
{
    static const char *const units[] = {
        [PLM_LEARNED_MEMORY] = "MiB", [PLM_LEARNED_UTILIZATION] = "percent", [PLM_LEARNED_TIME] = "ms"};
    plm_json_text(json, "target", a->target);
    plm_json_string(json, "unit", units[a->unit]);
    plm_json_real(json, "figure", a->figure);
    if (a->unit == PLM_LEARNED_MEMORY) {
        plm_json_integer(json, "bytes", (uint64_t)(fmin(a->figure, 1e12) * MIB));
        plm_json_bool(json, "with_context", a->with_context);
    }
    plm_json_real(json, "outside", a->outside);
    plm_json_text(json, "outside_by", a->feature);
    if (!a->classes)
        return;
    plm_json_array(json, "classes");
    for (size_t i = 0; i < a->classes; i++) {
        plm_json_object(json, NULL);
        plm_json_real(json, "above", a->edge[i]);
        plm_json_real(json, "up_to", a->edge[i + 1]);
        plm_json_real(json, "probability", a->probability[i]);
        plm_json_end_object(json);
    }
    plm_json_end_array(json);
}
