/*
 * The pages of web/, compiled in by web/bundle.py: what stands before and after the JSON document of each. Both are
 * empty if the build had no libraries, and then `missing` says why. Constant data; any thread.
 */
#ifndef PLM_REPORT_PAGE_H
#define PLM_REPORT_PAGE_H

#include <stddef.h>

extern const char plm_html_missing[];
/* Of `plimsoll report`. */
extern const unsigned char plm_html_before[], plm_html_after[];
extern const size_t plm_html_before_size, plm_html_after_size;
/* Of `plimsoll diff`. */
extern const unsigned char plm_html_diff_before[], plm_html_diff_after[];
extern const size_t plm_html_diff_before_size, plm_html_diff_after_size;
/* Of `plimsoll evaluate`. */
extern const unsigned char plm_html_evaluation_before[], plm_html_evaluation_after[];
extern const size_t plm_html_evaluation_before_size, plm_html_evaluation_after_size;
/* Of the same for step times and utilization. */
extern const unsigned char plm_html_times_before[], plm_html_times_after[];
extern const size_t plm_html_times_before_size, plm_html_times_after_size;
/* Of the same for a table of rows. */
extern const unsigned char plm_html_study_before[], plm_html_study_after[];
extern const size_t plm_html_study_before_size, plm_html_study_after_size;
/* Of `plimsoll dataset --explore`. */
extern const unsigned char plm_html_explore_before[], plm_html_explore_after[];
extern const size_t plm_html_explore_before_size, plm_html_explore_after_size;

#endif
