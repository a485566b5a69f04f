/* Inside the text report: its parts. Each writes nothing if it has nothing to say. */
#ifndef PLM_OVERVIEW_H
#define PLM_OVERVIEW_H

#include "base/draw.h"
#include "report/report.h"

struct plm_fit_table;

/* `full`: with all there is to say, else as a part of one screen. */
void plm_overview_peak(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane, bool full);
void plm_overview_ladder(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane,
                         bool full);
void plm_overview_categories(const struct plm_page *page, const struct plm_place *place, struct plm_at at,
                             int most); /* 0: all */
void plm_overview_holders(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane,
                          const struct plm_place *place, const struct plm_report_options *options,
                          int few); /* 0: ten */
void plm_overview_ranks(const struct plm_page *page, const struct plm_job *job, bool full); /* ranks_text.c */
void plm_overview_steps(const struct plm_page *page, const struct plm_lane *lane);
void plm_overview_fits(const struct plm_page *page, const struct plm_fit_table *fits);
void plm_overview_fits_brief(const struct plm_page *page,
                             const struct plm_fit_table *fits); /* "Fits on l4; tight on t4" */
/* Whether the figures are those of the job, if they are not. */
void plm_overview_known(const struct plm_page *page, const struct plm_job *job);

/* --by: every holder. */
void plm_listing(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane,
                 const struct plm_report_options *options);

#endif
