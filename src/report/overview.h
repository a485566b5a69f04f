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
void plm_overview_devices(const struct plm_page *page, const struct plm_job *job);
void plm_overview_steps(const struct plm_page *page, const struct plm_lane *lane);
void plm_overview_fits(const struct plm_page *page, const struct plm_job *job,
                       const struct plm_report_options *options);

/* --by: every holder. */
void plm_listing(const struct plm_page *page, const struct plm_job *job, const struct plm_lane *lane,
                 const struct plm_report_options *options);

/* "the peak", "the peak of step 3", "the end" */
const char *plm_overview_when(struct plm_at at, char *buffer, size_t size);
/* A holder's name, also of one without. */
const char *plm_overview_holder_name(const struct plm_holder *holder, enum plm_key by);
/* Columns for the names of the first `rows` holders. */
int plm_overview_name_columns(const struct plm_page *page, const struct plm_holders *holders, size_t rows,
                              enum plm_key by, int most);
/* "activations 60 %, gradients 40 %" */
void plm_overview_shares(const struct plm_page *page, const struct plm_holder *holder, int columns);
/* "step 2, phase backward, module fc, operator MmBackward0 > aten::mm" */
void plm_overview_where(const struct plm_page *page, const struct plm_place *place);

#endif
