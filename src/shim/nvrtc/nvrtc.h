/*
 * The run-time compiler that compiles nothing. A program object keeps its name expressions and the
 * text handed out as its result; it belongs to the caller, who destroys it and does not share it
 * between threads without a lock of its own, as with the real library.
 */
#ifndef PLM_NVRTC_H
#define PLM_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

enum plm_nvrtc_status {
    PLM_NVRTC_OK = 0,
    PLM_NVRTC_OUT_OF_MEMORY = 1,
    PLM_NVRTC_INVALID_INPUT = 3,
    PLM_NVRTC_INVALID_PROGRAM = 4,
    PLM_NVRTC_NAMES_AFTER_COMPILATION = 8,
    PLM_NVRTC_LOWERED_BEFORE_COMPILATION = 9,
    PLM_NVRTC_NAME_NOT_VALID = 10,
    PLM_NVRTC_NO_PCH_ATTEMPTED = 13,
};

struct plm_nvrtc_name {
    char *expression;
    char *lowered;
    struct plm_nvrtc_name *next;
};

struct plm_nvrtc_program {
    struct plm_nvrtc_name *names;
    bool compiled;
    char image[128]; /* PTX text */
};

#endif
