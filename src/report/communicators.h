/* NCCL's communicators of a device, in text and JSON. Functions only write to what they are given. */
#ifndef PLM_REPORT_COMMUNICATORS_H
#define PLM_REPORT_COMMUNICATORS_H

struct plm_communicators;
struct plm_json;
struct plm_page;

/* A line for each that held memory at the peak, the largest first. */
void plm_report_communicators_show(const struct plm_page *page, const struct plm_communicators *all);
/* The array `communicators`: all that there were; nothing if there were none. */
void plm_report_communicators_json(struct plm_json *json, const struct plm_communicators *all);

#endif
