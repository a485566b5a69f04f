/*
 * The one error idiom: functions that can fail return 0 or a negative PLM_E code and, at module
 * edges, fill a struct plm_error with one sentence that says what is wrong and what to do.
 * The struct belongs to the caller; NULL is accepted where the sentence is not wanted.
 */
#ifndef PLM_ERROR_H
#define PLM_ERROR_H

enum plm_error_code {
    PLM_EINVAL = -1,  /* a bad argument or value */
    PLM_EIO = -2,     /* the operating system refused */
    PLM_EFORMAT = -3, /* a file is not what it should be */
    PLM_ENOTFOUND = -4,
    PLM_ENOMEM = -5,
    PLM_EVERSION = -6,
};

struct plm_error {
    int code;
    char text[512];
};

/* Fills *error (if any) and returns `code`, so that callers can `return plm_fail(...)`. */
__attribute__((format(printf, 3, 4))) int plm_fail(struct plm_error *error, int code, const char *format, ...);

#endif
