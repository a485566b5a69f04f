/* Models of whichever method: files of foreign origin, asked about a network. */
#include <math.h>

#include "common/error.h"
#include "study/learn/example.h"
#include "study/learn/white_box.h"
#include "study/methods/methods.h"
#include "fuzz.h"

static void model_ask(const struct plm_learner *learner, const void *model)
{
    static struct plm_learned_answer answer;
    const struct plm_white_box box = {.allocated = 10, .reserved = 20, .low = 15, .high = 30, .step = 2};
    struct plm_example example = {0};
    struct plm_error error = {0};
    for (int i = 0; i < PLM_EXAMPLE_NUMBER_COUNT; i++)
        example.number[i] = 1 << i;
    if (learner->ask_beside ? learner->ask_beside(model, &example, &box, &answer, &error)
                            : learner->ask(model, &example, &answer, &error)) {
        fuzz_sentence(&error);
        return;
    }
    MUST(!isnan(answer.figure) && answer.outside >= 0);
    if (learner->ask_beside && answer.unit == PLM_LEARNED_UTILIZATION)
        MUST(answer.figure >= 0 && answer.figure <= 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_error error = {0};
    struct plm_model learned;
    if (plm_methods_model_open(fuzz_file(data, size), &learned, &error))
        fuzz_sentence(&error);
    else if (plm_learner_answers(learned.method->learner))
        model_ask(learned.method->learner, learned.model);
    plm_methods_model_close(&learned);
    return 0;
}
