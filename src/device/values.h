/*
 * Values that follow from the host's data. Device memory is filled by copies from the host; an operator of PyTorch whose
 * inputs are small and known (known.h) is repeated on the CPU, and what comes out is put into the memory of its result. So
 * item(), tolist(), copies to the host and operators that read a size back find what a card would have there.
 *
 * PyTorch's observers tell each operator with its inputs and its outputs (observe.c). Nothing is replaced and no
 * tensor is kept, so the program allocates what it would allocate. An operator that cannot be repeated makes
 * what it writes unknown; a kernel that no operator launched makes all memory unknown. The Python hook does the computing
 * (hook/plimsoll_hook/values), and decides once for every operator what it is.
 *
 * policy.def says, in order of precedence, what an operator leaves and what the host reads. What was assumed (a router's
 * experts, a loss), and what follows from it, is known, and marked.
 *
 * Any thread; what is remembered of the operators that run belongs to the thread. Never fails: what goes wrong is unknown.
 */
#ifndef PLM_DEVICE_VALUES_H
#define PLM_DEVICE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an operator is; part of the contract with the hook. Without PLM_OPERATOR_LEAF it consists of others, or makes views. */
enum plm_operator_is {
    PLM_OPERATOR_LEAF = 1, /* launches kernels of its own */
    PLM_OPERATOR_FOLLOWED = 2, /* can be repeated on the CPU */
    PLM_OPERATOR_COPIES = 4, /* copies of the runtime that it makes are right */
    PLM_OPERATOR_FILLS = 8, /* as well, unless another operator makes itself a buffer with it */
    PLM_OPERATOR_COLLECTIVE = 16, /* the communication library knows what it wrote */
    PLM_OPERATOR_ZEROS = 32, /* leaves zeros, which needs no hook */
    PLM_OPERATOR_PARTS = 64, /* where a part of each input is known, a part of the result is */
    PLM_OPERATOR_EITHER = 128, /* or of one input: whatever the other is, x & 0 is 0 */
    PLM_OPERATOR_CERTAIN = 256, /* with some arguments the result is certain, whatever the values are: x == x */
    PLM_OPERATOR_CHECKS = 512, /* what it finds is true while arguments are checked (plm_values_checking) */
    PLM_OPERATOR_CHOOSES = 1024, /* where its inputs are not known, the last of its results can be assumed */
    PLM_OPERATOR_DRAWS = 2048, /* random numbers; a truth value that it reads is a check of its arguments */
    PLM_OPERATOR_LEAST_ONE = 4096, /* the size that it reads is not 0, unless what it is given is empty */
    PLM_OPERATOR_POSITIVE = 8192, /* a single number that it leaves is not 0: a loss, a mean, a norm */
    PLM_OPERATOR_PASSES = 16384, /* the same, if that is so of a number that it is given */
    PLM_OPERATOR_PUTS = 32768, /* writes what its third argument has, which may be nothing */
    PLM_OPERATOR_BOUNDED = 65536, /* what it leaves is not negative: abs, exp, softmax */
    PLM_OPERATOR_KEEPS = 131072, /* the same, if that is so of all that it is given: mean, sum, max */
    PLM_OPERATOR_SQUARES = 262144, /* the same of x * x, and of x to an even power */
    PLM_OPERATOR_EACH = 524288, /* returns nothing; what it leaves is in the tensors of the list that it begins with */
    PLM_OPERATOR_WHOLE = 1048576, /* PLM_OPERATOR_EITHER holds for whole numbers only: x * 0 */
    PLM_OPERATOR_DIRECTED =
        2097152, /* what it leaves points the other way if one of two that it is given does: mul, dot */
    PLM_OPERATOR_TURNS = 4194304, /* turns that around: neg, sub */
    PLM_OPERATOR_ROWS = 8388608, /* rows of a table: not followed if that is floating point and large, an embedding */
    PLM_OPERATOR_PUTS_WEIGHTS = 16777216 /* puts what is not known where something was chosen */
};
enum { PLM_VALUES_ELEMENTS = 1 << 16 }; /* tensors of more are not followed */
enum { PLM_VALUES_PARTS = 8192, PLM_VALUES_PARTS_DIMENSIONS = 3 }; /* of floating point, no more is computed in part */

/* From now on; before, and without it, nothing is known. */
void plm_values_start(void);
void plm_values_stop(void);
bool plm_values_active(void);

/* observe.c: an operator begins and ends in the calling thread. */
void plm_values_enter(const void *function);
void plm_values_leave(const void *function);

/* copy.c: the runtime wrote these bytes of the device. */
void plm_values_wrote(uint64_t address, uint64_t bytes);
/* copy.c: an operator reads from the device how large its result is, and that was computed, from an assumption or from the host's
   data alone: writes it. */
bool plm_values_answer(void *to, size_t bytes, bool assumed);
/* copy.c: the same where it was not computed, but is at least something. */
bool plm_values_answer_least(void *to, size_t bytes);
/* copy.c: the operator that reads a truth value draws random numbers: it checks its arguments. */
bool plm_values_checks_draw(void);
/* The same for the hook; -1: it is not known. */
int64_t plm_values_expected(void);
/* The hook, more and less: the calling thread checks whether arguments are valid, and what is not known is taken to be. */
void plm_values_checking(int more);
/* Something that is not known, or follows from what was assumed, as the host is about to read it. */
struct plm_values_read {
    bool truth; /* it is a single byte */
    bool zero;
    bool assumed;
};
/* copy.c: the answer of the hook's rows of policy.def, which is to stand in each of the bytes; PLM_VALUES_HELD: what is held
   there; -1: none applies. */
enum { PLM_VALUES_HELD = 256 };
int plm_values_unknown(const struct plm_values_read *read);
/* copy.c: the size that is read only decides how a tensor is printed. */
bool plm_values_shown(void);
/* device.c: a kernel was launched. */
void plm_values_launched(void);
/* python.c: the next kernels are given these tensors; none: that is over. */
void plm_values_told(const uint64_t *objects, unsigned count);

#endif
