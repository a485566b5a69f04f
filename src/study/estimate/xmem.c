#include "study/estimate/xmem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "study/estimate/method.h"
#include "study/estimate/xmem_internal.h"

const char *plm_xmem_name(enum plm_xmem_variant variant)
{
    return variant == PLM_XMEM_PLUS ? "xmem+" : "xmem";
}

static void doubt(struct plm_xmem_run *run, struct plm_xmem_result *result)
{
    const struct plm_xmem_step *last = &run->step[run->steps - 1];
    const char *text = "";

    if (!run->list.parameters)
        text = "no gradients are born in the recorded steps, so parameters cannot be told";
    else if (!last->optimizer)
        text = "no step of an optimizer is recorded, so its state is not counted";
    else if (run->steps < PLM_XMEM_STEPS)
        text = "the trace has one step; the method looks at two";
    snprintf(result->note, sizeof result->note, "%s", text);
}

int plm_xmem_estimate(const struct plm_trace *trace, enum plm_xmem_variant variant, uint64_t limit,
                      struct plm_xmem_result *result, struct plm_error *error)
{
    struct plm_xmem_run run = {.trace = trace};
    int status;

    *result = (struct plm_xmem_result){.variant = variant};
    if (!trace->steps || !trace->memories)
        return plm_fail(error, PLM_EFORMAT, "the trace has no %s", trace->steps ? "memory events" : "steps");
    run.steps = trace->steps < PLM_XMEM_STEPS ? (int)trace->steps : PLM_XMEM_STEPS;
    for (int i = 0; i < run.steps; i++)
        plm_xmem_step(trace, (size_t)i, &run.step[i]);
    status = plm_xmem_blocks(trace, run.step[run.steps - 1].end, &run.blocks);
    if (status == 0)
        status = variant == PLM_XMEM_PLUS ? plm_xmem_correct(&run, error) : plm_xmem_orchestrate(&run, error);
    if (status == 0) {
        doubt(&run, result);
        status = plm_xmem_conclude(&run, limit, result);
    }
    free(run.blocks.block);
    free(run.list.item);
    if (status)
        plm_xmem_result_free(result);
    if (status == PLM_ENOMEM)
        plm_fail(error, PLM_ENOMEM, "there is not enough memory to analyse the trace");
    return status;
}

void plm_xmem_result_free(struct plm_xmem_result *result)
{
    free(result->layer);
    free(result->point);
    result->layer = NULL;
    result->point = NULL;
    result->layers = result->points = 0;
}

/* The card has room for segments where the context leaves it. */
static int answer_with(enum plm_xmem_variant variant, const struct plm_capture *capture,
                       const struct plm_question *question, struct plm_answer *answer)
{
    uint64_t limit = question->usable > question->context ? question->usable - question->context : 0;
    struct plm_xmem_result result;
    struct plm_error error;
    int status = plm_xmem_estimate(capture->trace, variant, limit, &result, &error);

    if (status == PLM_ENOMEM)
        return status;
    if (status) {
        answer->state = PLM_UNANSWERED;
        snprintf(answer->note, sizeof answer->note, "%.199s", error.text);
        return 0;
    }
    answer->bytes = result.reserved;
    answer->oom = result.oom;
    answer->state = result.note[0] ? PLM_OUTSIDE : PLM_ANSWERED;
    memcpy(answer->note, result.note, sizeof answer->note);
    plm_xmem_result_free(&result);
    return 0;
}

int plm_method_xmem(const struct plm_capture *capture, const struct plm_question *question, struct plm_answer *answer)
{
    return answer_with(PLM_XMEM_PUBLISHED, capture, question, answer);
}

int plm_method_xmem_plus(const struct plm_capture *capture, const struct plm_question *question,
                         struct plm_answer *answer)
{
    return answer_with(PLM_XMEM_PLUS, capture, question, answer);
}
