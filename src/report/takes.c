/* What a job takes of a card that has less than it would take if it could: the same words and fields everywhere. */
#include <string.h>

#include "base/draw.h"
#include "base/json.h"
#include "fit/fit.h"
#include "report/report.h"

/* Less is not worth a word. */
enum { VISIBLE = 50 };

void plm_report_takes(struct plm_json *j, const struct plm_fit_row *row)
{
    if (row->answer.takes)
        plm_json_integer(j, "takes", row->answer.takes);
    plm_json_integer(j, "would_take", row->need);
    if (row->answer.fallbacks)
        plm_json_integer(j, "workspace_fallbacks", row->answer.fallbacks);
}

bool plm_takes_text(const struct plm_page *p, const struct plm_fit_row *row, char *out, size_t size)
{
    char takes[32], usable[32], would[32];
    const uint64_t bytes = row->answer.takes;
    out[0] = '\0';
    if (!bytes || bytes + row->need / VISIBLE >= row->need)
        return false;
    snprintf(out, size, "takes %s of %s, would take %s if it could", plm_page_amount(p, takes, sizeof takes, bytes),
             plm_page_amount(p, usable, sizeof usable, row->usable),
             plm_page_amount(p, would, sizeof would, row->need));
    return true;
}
