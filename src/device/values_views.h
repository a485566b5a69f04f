/*
 * Tensors that operators are given, as memory: which of their elements are known, and what becomes known or unknown of them.
 *
 * Any thread; a view belongs to its caller. Never fails: what cannot be held is unknown.
 */
#ifndef PLM_DEVICE_VALUES_VIEWS_H
#define PLM_DEVICE_VALUES_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "device/tensors.h"

/* What is done with a run of bytes; false ends it. */
typedef bool plm_values_run(uint64_t address, uint64_t bytes);
plm_values_run plm_values_run_clear, plm_values_run_set, plm_values_run_zero, plm_values_run_assume,
    plm_values_run_true;
/* With each run of a tensor; one without gaps, in whatever order, is one run. Whether none of them ended it. */
bool plm_values_each_run(const struct plm_tensors_view *view, plm_values_run *run);

/* Every tensor among values and the lists of them. `number` is that of the argument. */
typedef void plm_values_look(const struct plm_tensors_view *view, unsigned number, void *data);
void plm_values_each_tensor(struct plm_ivalues values, plm_values_look *look, void *data);

bool plm_values_on_device(const struct plm_tensors_view *view);
/* All of it, or some. What is on the host is all known. */
bool plm_values_known(const struct plm_tensors_view *view);
bool plm_values_some_known(const struct plm_tensors_view *view);
/* A part of a large block has no bytes behind it, however small it is. */
bool plm_values_can_hold(const struct plm_tensors_view *view);

/* Which elements are known, a byte for each, in their order; and makes it so. */
void plm_values_mask(const struct plm_tensors_view *view, char *known);
void plm_values_mask_set(const struct plm_tensors_view *view, char *known);

#endif
