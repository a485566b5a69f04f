/*
 * Whether a program that has no optimizer updates its parameters by itself: their addresses, and whether an operator wrote
 * there. Any thread, without a lock. Never fails: an address that finds no room is forgotten, and its update not noticed.
 */
#ifndef PLM_DEVICE_PARAMETERS_H
#define PLM_DEVICE_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

/* python.c: a parameter lies here. */
void plm_parameter_is(uint64_t address);
/* values.c: an operator writes here. */
void plm_parameter_written(uint64_t address);
/* Whether one was written since the last call. */
bool plm_parameters_updated(void);

#endif
