/* All that xMem found, when it alone is asked: the course of time and the layers. */
#include "base/error.h"
#include "study/estimate/estimators.h"
#include "study/estimate/xmem.h"

static int explain(const struct plm_capture *capture, const struct plm_question *q, enum plm_xmem_variant variant,
                   const struct plm_page *page, struct plm_json *json)
{
    const uint64_t limit = q->usable > q->context ? q->usable - q->context : 0;
    struct plm_xmem_result result;
    struct plm_error error;
    int status = plm_xmem_estimate(capture->trace, variant, limit, &result, &error);
    if (status)
        return status == PLM_ENOMEM ? status : 0; /* the answer has the reason */
    if (page)
        plm_xmem_text(page, &result);
    else
        plm_xmem_json(json, &result);
    plm_xmem_result_free(&result);
    return 0;
}

int plm_explain_xmem(const struct plm_capture *capture, const struct plm_question *question,
                     const struct plm_page *page, struct plm_json *json)
{
    return explain(capture, question, PLM_XMEM_PUBLISHED, page, json);
}

int plm_explain_xmem_plus(const struct plm_capture *capture, const struct plm_question *question,
                          const struct plm_page *page, struct plm_json *json)
{
    return explain(capture, question, PLM_XMEM_PLUS, page, json);
}
