/* Verdicts and errors as exit statuses: base/statuses.def. */
#include <string.h>

#include "analysis/job.h"
#include "common/error.h"
#include "cli/cli.h"
#include "fit/known.h"

int plm_fault(const struct plm_error *error)
{
    return plm_complain(plm_status_of(error->code), error->text);
}

int plm_cli_verdict_status(enum plm_verdict verdict, bool allow_tight)
{
    switch (verdict) {
    case PLM_FITS: return PLM_EXIT_OK;
    case PLM_TIGHT: return allow_tight ? PLM_EXIT_OK : PLM_EXIT_TIGHT;
    case PLM_NO_FIT: return PLM_EXIT_NO_FIT;
    case PLM_UNKNOWN: break;
    }
    return PLM_EXIT_NOTHING;
}

/* A command that was refused memory and ended well did not fail; it may have given up. */
static bool was_full_and_well(const struct plm_job *job)
{
    const char *code = plm_summary_config(&job->summary, "exit");
    bool full = false;
    for (size_t i = 0; i < job->lanes; i++)
        full |= job->lane[i].summary->out_of_memory;
    return full && code && !strcmp(code, "0");
}

int plm_cli_known_status(const struct plm_job *job)
{
    const struct plm_fit_known known = plm_fit_known(job);
    switch (known.what) {
    case PLM_KNOWN_PEAK:
    case PLM_KNOWN_ENOUGH: return PLM_EXIT_OK;
    case PLM_KNOWN_TOO_LITTLE: return PLM_EXIT_NO_FIT;
    case PLM_KNOWN_NOTHING: break;
    }
    return known.failed && job->summary.ended && !was_full_and_well(job) ? PLM_EXIT_COMMAND : PLM_EXIT_NOTHING;
}
