/*
 * The one error idiom: functions that can fail return 0 or a negative PLM_E code and, at module
 * edges, fill a struct plm_error with one sentence that says what is wrong and what to do.
 * The struct belongs to the caller; NULL is accepted where the sentence is not wanted. Each code is an exit status:
 * statuses.def.
 */
#ifndef PLM_ERROR_H
#define PLM_ERROR_H

enum plm_error_code {
    PLM_EINVAL = -1,    /* a bad argument, value or name */
    PLM_EIO = -2,       /* the operating system refused, or a part of plimsoll is missing */
    PLM_EFORMAT = -3,   /* a file is not what it should be */
    PLM_ENOTFOUND = -4, /* there is no such file, or what is asked about is not in it */
    PLM_ENOMEM = -5,
    PLM_EVERSION = -6,
    PLM_EREAD = -7, /* a file is there and cannot be read */
};

struct plm_error {
    int code;
    char text[512];
};

/* Fills *error (if any) and returns `code`, so that callers can `return plm_fail(...)`. */
__attribute__((format(printf, 3, 4))) int plm_fail(struct plm_error *error, int code, const char *format, ...);

#endif
