/*
 * Single numbers that nobody computed.
 *
 * A loss is not 0: its logarithm is taken, something is divided by it. It is no large number either, which would end what
 * goes on while it is small. Where memory holds something else, the program put it there, and it stays. What such a number
 * is taken to be is in memory as if it were known, and marked: comparisons and sums follow from it, as item() does.
 *
 * Any thread; never fails. What is no such number is left alone.
 */
#ifndef PLM_DEVICE_VALUES_NUMBERS_H
#define PLM_DEVICE_VALUES_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "device/tensors.h"

bool plm_values_is_floating(const struct plm_tensors_view *view);
/* Whether it is a single number, and not 0. */
bool plm_values_number_is_positive(const struct plm_tensors_view *view);

/* As plm_values_look: what is held, or small where that is 0, is what it is from now on. */
void plm_values_number_set(const struct plm_tensors_view *view, unsigned number, void *data);
/* Of a product of vectors of which one points the other way. */
void plm_values_number_set_negative(const struct plm_tensors_view *view, unsigned number, void *data);
/* 0 / 0, a mean of nothing: it follows from what was assumed, or selected as nothing, and the program may end over it. */
void plm_values_number_refuse(const struct plm_tensors_view *view, unsigned number, void *data);

/* The hook: a loop waits for an assumed number to become small. Those of this step are smaller from now on, as far as their type
   allows: 2^-10 to the power of 1 + `level`. */
enum { PLM_VALUES_LEVELS = 8 };
void plm_values_smaller(unsigned level);
/* The hook: a backward pass has ended within a step of an optimizer, which will ask for the loss again. */
void plm_values_evaluated(void);
/* Grows with steps and with such passes. */
uint64_t plm_values_progress(void);

#endif
