/*
 * Which rows of a stack file a job would use: its convolutions, recurrent networks and transforms, each once, in the order
 * in which they first ran. Read from its record. One thread.
 */
#ifndef PLM_STACK_USED_H
#define PLM_STACK_USED_H

#include <stdio.h>

struct plm_error;

struct plm_stack_used {
    int convolutions, rnns, ffts;
    int unnamed; /* of a type that stack files have no name for */
};

/* Writes lines `section<tab>row`. 0 or a negative PLM_E code; what the stream says is the caller's to check. */
int plm_stack_used(const char *record, FILE *out, struct plm_stack_used *used, struct plm_error *error);

#endif
