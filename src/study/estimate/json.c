/* A comparison for programs: "plimsoll.estimate/1", docs/schema/estimate-1.json. */
#include "base/json.h"

#include "common/error.h"
#include "common/card.h"
#include "study/estimate/comparison.h"

static void write_cards(struct plm_json *j, const struct plm_comparison *c)
{
    plm_json_array(j, "gpus");
    for (size_t i = 0; i < c->cards; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "gpu", c->question[i].card->id);
        plm_json_integer(j, "usable", c->question[i].usable);
        plm_json_integer(j, "context", c->question[i].context);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_captures(struct plm_json *j, const struct plm_evidence *evidence)
{
    const struct {
        const char *name;
        bool there;
        double seconds;
    } parts[] = {
        {"record", evidence->job != NULL, evidence->job_seconds},
        {"trace", evidence->trace != NULL, evidence->trace_seconds},
        {"description", evidence->description != NULL, evidence->description_seconds},
        {"model", evidence->model != NULL, 0},
    };
    plm_json_array(j, "captures");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].there) {
            plm_json_object(j, NULL);
            plm_json_string(j, "kind", parts[i].name);
            if (parts[i].seconds > 0)
                plm_json_real(j, "seconds", parts[i].seconds);
            plm_json_end_object(j);
        }
    plm_json_end_array(j);
}

static void write_verdicts(struct plm_json *j, const struct plm_comparison *c, const struct plm_comparison_row *row)
{
    plm_json_array(j, "verdicts");
    for (size_t i = 0; i < c->cards; i++) {
        const struct plm_answer *a = &row->answer[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "gpu", c->question[i].card->id);
        plm_json_integer(j, "bytes", a->bytes);
        plm_json_string(j, "verdict", a->oom ? "no" : "fits");
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_answer(struct plm_json *j, const struct plm_comparison *c, const struct plm_comparison_row *row)
{
    const struct plm_answer *a = plm_comparison_estimate(c, row);
    const bool memory = plm_method_is_memory(row->method);
    if (memory)
        plm_json_integer(j, "bytes", a->bytes);
    else
        plm_json_real(j, "percent", a->percent);
    plm_json_real(j, "seconds", a->seconds);
    if (memory)
        write_verdicts(j, c, row);
}

static void write_method(struct plm_json *j, const struct plm_comparison *c, const struct plm_comparison_row *row)
{
    static const char *const kinds[] = {[PLM_ANSWER_ALLOCATED] = "allocated",
                                        [PLM_ANSWER_RESERVED] = "reserved",
                                        [PLM_ANSWER_DEVICE] = "device",
                                        [PLM_ANSWER_UTILIZATION] = "utilization"};
    static const char *const states[] = {
        [PLM_ANSWERED] = "answered", [PLM_OUTSIDE] = "outside", [PLM_UNANSWERED] = "unanswered"};
    const struct plm_answer *a = plm_comparison_estimate(c, row);
    const struct plm_method *m = row->method;
    plm_json_object(j, NULL);
    plm_json_string(j, "method", m->name);
    plm_json_string(j, "paradigm", plm_paradigm_name(m->paradigm));
    plm_json_string(j, "kind", kinds[m->kind]);
    plm_json_string(j, "domain", m->domain);
    plm_json_string(j, "leaves_out", m->leaves_out);
    plm_json_string(j, "state", states[a->state]);
    plm_json_text(j, "note", a->note);
    if (a->state != PLM_UNANSWERED)
        write_answer(j, c, row);
    if (row == plm_comparison_explained(c)) {
        plm_json_object(j, "detail");
        m->explain(row->inquiry.prepared, NULL, j);
        plm_json_end_object(j);
    }
    plm_json_end_object(j);
}

int plm_comparison_json(FILE *out, const struct plm_comparison *c, struct plm_error *error)
{
    static const char *const sources[] = {
        [PLM_CONTEXT_GIVEN] = "given", [PLM_CONTEXT_RECORD] = "record", [PLM_CONTEXT_MODEL] = "model"};
    struct plm_json j;
    plm_json_document(&j, out, "plimsoll.estimate/1");
    write_captures(&j, &c->evidence);
    plm_json_string(&j, "context_source", sources[c->source]);
    write_cards(&j, c);
    plm_json_array(&j, "methods");
    for (size_t i = 0; i < c->rows; i++)
        write_method(&j, c, &c->row[i]);
    plm_json_end_array(&j);
    return plm_json_finish(&j) || fflush(out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}
