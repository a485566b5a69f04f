#include "report/time_job.h"

#include <stdio.h>

#include "base/draw.h"
#include "time/table.h"

/* Four digits, and no exponent. */
static const char *rate_text(char out[32], double rate)
{
    snprintf(out, 32, rate >= 1000 ? "%.0f" : "%.4g", rate);
    return out;
}

void plm_report_time_rates(const struct plm_page *p, const struct plm_work_lane *lane, const struct plm_time_row *row)
{
    static const char *const what[] = {[PLM_STEP_OPTIMIZER] = "steps",
                                       [PLM_STEP_BACKWARD] = "steps",
                                       [PLM_STEP_PASS] = "calls",
                                       [PLM_STEP_WHOLE] = "runs"};
    const double steps = row->timing.step > 0 ? 1e9 / row->timing.step : 0;
    char text[256], rate[32];
    size_t used = (size_t)snprintf(text, sizeof text, "%s %s per second", rate_text(rate, steps), what[lane->unit]);
    if (row->together > 0)
        used += (size_t)snprintf(text + used, sizeof text - used, ", %s samples per second",
                                 rate_text(rate, row->together));
    if (row->together > 0 && row->gpus > 1)
        snprintf(text + used, sizeof text - used, " on %u GPUs together (%s per GPU)", row->gpus,
                 rate_text(rate, row->together / row->gpus));
    plm_page_sentences(p, "  ", text);
}

/* "9.27 hours for 1281167 samples on 8 GPUs: $185 at $2.5 per GPU and hour" */
void plm_report_time_cost(const struct plm_page *p, const struct plm_time_row *row)
{
    const char *const each = row->gpus > 1 ? "GPU and hour" : "hour";
    const double hours = plm_time_hours(row);
    if (row->price > 0)
        fprintf(p->out, "  %.4g steps per dollar at $%.4g per %s\n", plm_time_per_dollar(row), row->price, each);
    if (row->samples > 0 && !(hours > 0))
        fputs("  No hours for --samples: the batch size is unknown.\n", p->out);
    if (!(hours > 0))
        return;
    fprintf(p->out, "  %.3g hours for %.0f samples", hours, row->samples);
    if (row->gpus > 1)
        fprintf(p->out, " on %u GPUs", row->gpus);
    if (row->price > 0)
        fprintf(p->out, ": $%.3g at $%.4g per %s", plm_time_cost(row), row->price, each);
    fputc('\n', p->out);
}

/* Which ranks a figure of all of them counts, and who says so. */
void plm_report_time_together(const struct plm_page *p, const char *first, const struct plm_time_table *table)
{
    const struct plm_work_world *w = &table->works->world;
    char text[320];
    if (w->ranks <= 1 || !(table->row[0].together > 0))
        return;
    if (*w->shared)
        snprintf(text, sizeof text,
                 "Samples are those of %u GPUs together: %u replica%s of %u rank%s, which share their samples (%s).",
                 table->row[0].gpus, w->replicas, w->replicas == 1 ? "" : "s", w->ranks / w->replicas,
                 w->ranks == w->replicas ? "" : "s", w->shared);
    else
        snprintf(text, sizeof text, "Samples are those of %u GPUs together: each of the %u ranks has its own batch%s.",
                 table->row[0].gpus, w->ranks,
                 w->told ? "" : ", as in data parallelism (the names of the groups do not tell)");
    plm_page_sentences(p, first, text);
}
