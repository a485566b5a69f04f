/* Inside the text report: its parts. Each writes nothing if it has nothing to say. */
#ifndef PLM_OVERVIEW_H
#define PLM_OVERVIEW_H

#include "base/draw.h"
#include "report/report.h"

void plm_overview_peak(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane);
void plm_overview_ladder(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane);
void plm_overview_categories(const struct plm_page *page, const struct plm_place *place, struct plm_at at);
void plm_overview_holders(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane,
                          const struct plm_place *place, struct plm_at at);
void plm_overview_ranks(const struct plm_page *page, const struct plm_job *job); /* ranks_text.c */
void plm_overview_steps(const struct plm_page *page, const struct plm_lane *lane);
void plm_overview_fits(const struct plm_page *page, const struct plm_job *job,
                       const struct plm_report_options *options);

/* --by: every holder. */
void plm_listing(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane,
                 const struct plm_report_options *options);

#endif
