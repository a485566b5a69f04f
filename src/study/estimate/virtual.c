/*
 * plimsoll's own: the job ran on the virtual GPU, so PyTorch's allocator itself has decided what it reserves. The
 * estimate is the most that was reserved and what libraries took outside of it; the verdict is a replay's, which
 * gives cached memory back before it runs out.
 */
#include "analysis/job.h"
#include "base/memory.h"
#include "fit/outcome.h"
#include "study/estimate/method.h"

static void *virtual_prepare(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    struct plm_outcome *o = plm_calloc(1, sizeof *o);
    plm_outcome_of(evidence->job, o);
    answer->bytes = o->reserved + o->outside;
    if (!o->done)
        plm_answer_none(answer, "%.150s", o->why);
    return o;
}

static void virtual_judge(void *prepared, const struct plm_question *question, struct plm_answer *answer)
{
    const struct plm_outcome *o = prepared;
    answer->judged = true;
    answer->oom = o->least + o->outside + question->context > question->usable;
}

const struct plm_method plm_method_virtual = {
    .name = "virtual",
    .paradigm = PLM_VIRTUAL,
    .kind = PLM_ANSWER_RESERVED,
    .needs = PLM_NEEDS_JOB,
    .domain = "any job that runs on the virtual GPU",
    .leaves_out = "nothing",
    .prepare = virtual_prepare,
    .judge = virtual_judge,
};
