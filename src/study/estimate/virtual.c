/*
 * plimsoll's own: the job ran on the virtual GPU, so PyTorch's allocator itself has decided what it reserves. The estimate is the most that was
 * reserved and what libraries took outside of it; the verdict is a replay's, which gives cached memory back before it runs out.
 */
#include "analysis/job.h"
#include "base/error.h"
#include "study/estimate/estimators.h"
#include "fit/outcome.h"

int plm_method_virtual(const struct plm_capture *capture, const struct plm_question *question,
                       struct plm_answer *answer)
{
    struct plm_outcome o;
    plm_outcome_of(capture->job, &o);
    if (!o.done)
        return plm_answer_none(answer, "%.150s", o.why);
    answer->bytes = o.reserved + o.outside;
    answer->judged = true;
    answer->oom = o.least + (answer->bytes - o.reserved) + question->context > question->usable;
    return 0;
}
