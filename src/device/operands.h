/*
 * The sizes of the tensors that a launch works on, for launches that show none: event OPERANDS.
 *
 * They are those of the operator that the thread is in (observe.c hands its inputs over), or what the hook told for the
 * kernel that it is about to launch. PyTorch boxes the inputs of every operator while somebody wants them, which costs some
 * percent of a step. So they are looked at until nothing new comes, and remembered for each launch (context, kernel, grid):
 * the same one again has the same. They are looked at again when a launch is new, when a model is called with other sizes, and
 * now and then.
 *
 * Any thread; each has a memory of its own, allocated with its first use. No locks here; PyTorch takes one of its own
 * when observers are switched. Never fails: what is not known is not written.
 */
#ifndef PLM_DEVICE_OPERANDS_H
#define PLM_DEVICE_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

/* Inputs can be read (tensors.h) and observed. Before, and without it, nothing is written. */
void plm_operands_start(void);

/* observe.c: an operator begins whose inputs were wanted. `function` is the key of its frame in context.h. */
void plm_operands_enter(const void *function);

/* calls.c: a launch without counts follows. `launch` tells it apart from others of the context. */
void plm_operands_launch(uint32_t context, uint64_t launch);

/* The hook: these tensors (TensorImpl) are the arguments of what this thread launches next, in the frame that it is in;
   none: that is over. */
void plm_operands_tell(const uint64_t *objects, unsigned count);

/* The hook: an outermost module is called. `other`: with tensors of other sizes than before. */
void plm_operands_pass(bool other);

bool plm_operands_looking(void); /* whether inputs are looked at just now */

/* observe.c */
bool plm_observe_inputs(void); /* asks PyTorch for inputs too, from now on; false: it cannot */
void plm_observe_looking(bool look); /* whether it goes on doing so */
/* For locating: the operators that follow are given these two tensors, or a list of them, or return the first; or their
   argument `first` is of the kind `second` (tensors.h). What it found, and the end. */
enum plm_observe_sample { PLM_SAMPLE_NONE, PLM_SAMPLE_TENSORS, PLM_SAMPLE_LIST, PLM_SAMPLE_OUTPUT, PLM_SAMPLE_KIND };
void plm_observe_sample(enum plm_observe_sample what, uint64_t first, uint64_t second);
bool plm_observe_sampled(void);

#endif
