/* What a job takes of a card that has less than it would take if it could: the same words and fields everywhere. */
#include <string.h>

#include "common/card.h"
#include "base/draw.h"
#include "base/json.h"
#include "fit/bounded.h"
#include "fit/fit.h"
#include "report/report.h"

/* Less of a difference is not worth a word. More moments would keep the reader waiting. */
enum { VISIBLE = 50, MOMENTS_MOST = 1000000 };

static bool is_visible(uint64_t takes, uint64_t would)
{
    return takes && takes + would / VISIBLE < would;
}

void plm_report_takes(struct plm_json *j, const struct plm_fit_row *row)
{
    if (row->answer.takes)
        plm_json_integer(j, "takes", row->answer.takes);
    if (row->need)
        plm_json_integer(j, "would_take", row->need);
    if (row->answer.fallbacks)
        plm_json_integer(j, "workspace_fallbacks", row->answer.fallbacks);
}

bool plm_takes_less(const struct plm_fit_row *row)
{
    return is_visible(row->answer.takes, row->need);
}

const char *plm_takes_text(const struct plm_page *p, const struct plm_fit_row *row, char out[48])
{
    char takes[32];
    out[0] = '\0';
    if (plm_takes_less(row))
        snprintf(out, 48, "uses %s", plm_page_amount(p, takes, sizeof takes, row->answer.takes));
    return out;
}

static const struct plm_card *card_played(const struct plm_job *job, const struct plm_report_options *o)
{
    const char *gpu = plm_summary_config(&job->summary, "gpu");
    for (int i = 0; gpu && i < o->cards; i++)
        if (!strcmp(o->card[i].id, gpu))
            return &o->card[i];
    return NULL;
}

static bool job_is_short(const struct plm_job *job)
{
    size_t moments = 0;
    for (size_t i = 0; i < job->lanes; i++)
        moments += job->lane[i].moments;
    return moments <= MOMENTS_MOST;
}

void plm_takes_played(const struct plm_page *p, const struct plm_job *job, const struct plm_report_options *o)
{
    const struct plm_card *card = card_played(job, o);
    char takes[32], all[32], would[32];
    struct plm_bounded b;
    uint64_t usable;
    bool assumed;
    if (!card || !job_is_short(job))
        return;
    usable = plm_summary_usable(&job->summary, card, &assumed);
    if (plm_bounded(job, card, usable, &b) || !b.completes || !is_visible(b.takes, b.would))
        return;
    fputs("  ", p->out);
    plm_page_name(p, card->id, 0, 0);
    fprintf(p->out, ": uses %s of %s, would use %s on a larger GPU\n", plm_page_amount(p, takes, sizeof takes, b.takes),
            plm_page_amount(p, all, sizeof all, usable), plm_page_amount(p, would, sizeof would, b.would));
    if (b.fallbacks)
        fprintf(p->out, "  (%llu convolution%s without workspace)\n", (unsigned long long)b.fallbacks,
                b.fallbacks == 1 ? " runs" : "s run");
}
