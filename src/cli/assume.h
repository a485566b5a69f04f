/* What the user wants to be assumed of values that no kernel computed: --assume all=true,keep=0.5 */
#ifndef PLM_CLI_ASSUME_H
#define PLM_CLI_ASSUME_H

#include <stdbool.h>

struct plm_error;

struct plm_assume {
    bool all;         /* aten::all reads as true; otherwise as false, like every value that is not known */
    double keep;      /* share that nonzero, masks, unique and nms keep; < 0: what their kernels leave, nothing */
};

#define PLM_ASSUME_NOTHING {false, -1}

/* Returns 0 or PLM_EINVAL with a sentence. */
int plm_assume_parse(const char *text, struct plm_assume *assume, struct plm_error *error);
/* Sets or clears the variables that the device and the hook read. */
void plm_assume_environment(const struct plm_assume *assume);

#endif
