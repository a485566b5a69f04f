/* An evaluation as one HTML file that needs nothing else: web/evaluation.html, with the JSON document in it. */
#include "base/error.h"
#include "base/json.h"
#include "report/page.h"
#include "study/evaluate/judge.h"

int plm_evaluation_html(FILE *out, const struct plm_evaluation *e, struct plm_error *error)
{
    struct plm_json j;
    if (!plm_html_evaluation_before_size)
        return plm_fail(error, PLM_ENOTFOUND, "this build has no page: %s", plm_html_missing);
    plm_json_start(&j, out);
    j.page = true;
    fwrite(plm_html_evaluation_before, 1, plm_html_evaluation_before_size, out);
    plm_evaluation_document(&j, e);
    fwrite(plm_html_evaluation_after, 1, plm_html_evaluation_after_size, out);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the page could not be written") : 0;
}
