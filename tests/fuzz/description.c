/* Model descriptions, and every method on those that are taken: what was checked once must hold for all of them. */
#include <stdlib.h>

#include "common/error.h"
#include "common/card.h"
#include "study/estimate/description.h"
#include "study/methods/methods.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct plm_card card = {.id = "card", .memory_usable = 8ull << 30, .sms = 10};
    const struct plm_question question = {.card = &card, .usable = 8ull << 30, .context = 1 << 20};
    struct plm_error error = {0};
    struct plm_description *d = NULL;
    if (plm_description_parse("input", (const char *)data, size, &d, &error)) {
        if (!error.text[0] || d)
            abort();
        return 0;
    }
    for (size_t i = 0; i < PLM_METHODS; i++) {
        const struct plm_evidence capture = {.description = d, .gpus = 4, .nodes = 2, .tensor_parallel = 2};
        struct plm_inquiry inquiry = plm_inquiry_open(plm_methods[i], &capture);
        struct plm_answer answer = plm_inquiry_ask(&inquiry, &question);
        if (answer.state != PLM_ANSWERED && !answer.note[0])
            abort(); /* a reason that is not told */
        plm_inquiry_close(&inquiry);
    }
    plm_description_free(d);
    return 0;
}
