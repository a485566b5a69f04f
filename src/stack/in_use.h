/*
 * The stack file of this job, for the shims: the one that PLIMSOLL_STACK names. Read once, at the first call; any
 * thread. NULL if there is none; `plimsoll run` has complained by then if it cannot be read.
 */
#ifndef PLM_STACK_IN_USE_H
#define PLM_STACK_IN_USE_H

#include "stack/stack_file.h"

const struct plm_stack_file *plm_stack_in_use(void);

#endif
