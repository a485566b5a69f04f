/*
 * The exit statuses of plimsoll and of its sub-commands, from one table: statuses.def. Who ends a program by an error
 * asks plm_status_of(), so that the same fault is the same status everywhere. Constant; any thread; nothing fails.
 */
#ifndef PLM_STATUS_H
#define PLM_STATUS_H

#define STATUS(number, name, of, brief, meaning) PLM_EXIT_##name = number,
#define FAULT(code, name)
enum plm_exit {
#include "base/statuses.def"
};
#undef STATUS
#undef FAULT

enum plm_status_of { PLM_STATUS_ALL, PLM_STATUS_START, PLM_STATUS_SAY };

struct plm_status {
    int number;
    enum plm_status_of of;
    const char *brief, *meaning;
};
extern const struct plm_status plm_statuses[]; /* by number; ended by one without a meaning */

/* Of an enum plm_error_code. */
int plm_status_of(int code);

#endif
