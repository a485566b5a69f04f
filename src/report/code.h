/*
 * The text of a source line, as the job ran it. Files are read when a report is made, and only if they have the size and the
 * time of the run; a record is foreign input, so nothing but ordinary files is opened. One thread.
 */
#ifndef PLM_REPORT_CODE_H
#define PLM_REPORT_CODE_H

#include <stdbool.h>
#include <stddef.h>

struct plm_job_line;

/* Without the blanks around it; "" and false if the file is not as it was, or has no such line. */
bool plm_report_code(const struct plm_job_line *line, char *out, size_t size);
/* "train.py:12": from the working folder on, if the file is in it. */
const char *plm_report_line_name(const struct plm_job_line *line, char *out, size_t size);

#endif
