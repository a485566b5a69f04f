/*
 * Inside the room: what all GPUs of a job do together: their samples per second, and what these cost. Rows are known ones.
 * Nothing fails; one thread.
 */
#ifndef PLM_REPORT_TIME_JOB_H
#define PLM_REPORT_TIME_JOB_H

struct plm_page;
struct plm_time_row;
struct plm_time_table;
struct plm_work_lane;

/* "0.5 steps per second, 320 samples per second on 8 GPUs together (40 per GPU)" */
void plm_report_time_rates(const struct plm_page *page, const struct plm_work_lane *lane,
                           const struct plm_time_row *row);
/* "9.27 hours for 1281167 samples on 8 GPUs: $185 at $2.5 per GPU and hour"; nothing if nobody asked. */
void plm_report_time_cost(const struct plm_page *page, const struct plm_time_row *row);
/* Which ranks a figure of all of them counts, and who says so; nothing of a single rank. `first` is before the text. */
void plm_report_time_together(const struct plm_page *page, const char *first, const struct plm_time_table *table);

#endif
