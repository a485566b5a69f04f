/*
 * Where in the user's program the calling thread is: module, phase, operators.
 *
 * Every thread has a stack of frames. The Python hook pushes modules and phases, PyTorch's own operator
 * callbacks (observe.c) push operators and the nodes of the backward pass. An event that wants to say
 * where it happened asks for plm_context_now(): the number of a context that the record describes.
 * No locks unless a context is new; no allocation. Unbalanced calls are survived.
 */
#ifndef PLM_DEVICE_CONTEXT_H
#define PLM_DEVICE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

uint32_t plm_context_now(void);           /* 0: nothing is known */
enum plm_phase plm_context_phase(void);   /* of the calling thread */
uint32_t plm_context_operator(void);      /* text of the innermost operator; 0: none */
bool plm_context_in_all(void);            /* inside aten::all */
/* Number of the Python stack that the calling thread works for, a FRAME of the record; 0: not known, or not wanted. In the
   backward pass that of the forward operator, with what Python does in this thread since. May take the interpreter: see
   python_stack.h. */
uint32_t plm_context_stack(void);

/* ---- sizes: operands.c keeps those of each operator that a thread is in, by its frame ---- */
enum { PLM_CONTEXT_FRAMES = 256 }; /* deeper ones are only counted */
unsigned plm_context_frames(void); /* how many the calling thread is in */
unsigned plm_context_takes_operands(
    const void *key); /* number of its frame, from 1; 0: it keeps those of the one around it */
int plm_context_operands(void); /* frame that has those of what runs now; 0: not known; -1: no operator runs */

/* ---- the hook's side ---- */
enum {
    PLM_MODULE_NO_PARAMETERS = 1, /* a loss or a transform, called outside a model */
    PLM_MODULE_KEEP_PHASE = 2, /* something is done for it, it is not called */
};
void plm_context_enter_module(uint32_t text, unsigned flags);
void plm_context_enter_phase(enum plm_phase phase);
void plm_context_leave(void); /* the innermost module or phase */
unsigned plm_context_depth(void); /* modules and phases that this thread is in */

/* ---- observe.c's side ---- */
/* `key` identifies the call and is given again when it ends. */
void plm_context_enter_operator(const void *key, const char *name);
void plm_context_enter_node(const void *key, const char *name, int64_t sequence);
void plm_context_leave_operator(const void *key);

/* journal.c: which module, and which Python stack, made the autograd nodes of a thread, by their sequence numbers. */
struct plm_journal;
enum plm_journal_book { PLM_JOURNAL_MODULES, PLM_JOURNAL_STACKS, PLM_JOURNAL_BOOKS };
struct plm_journal *plm_journal_of_thread(void);
void plm_journal_note(struct plm_journal *journal, enum plm_journal_book book, int64_t sequence, uint32_t value);
bool plm_journal_find(const struct plm_journal *journal, enum plm_journal_book book, int64_t sequence, uint32_t *value);

/* observe.c: asks PyTorch to call back. `operators` false: nodes of the backward pass only. Returns false if
   this PyTorch does not have the functions that are needed. */
bool plm_observe(bool operators);
int64_t plm_observe_sequence(void); /* next sequence number of the calling thread; -1: not known */
/* Asks PyTorch for every operator with its inputs and outputs, for values.h; false: it cannot. */
bool plm_observe_values(void);
const char *plm_observe_name(const void *function);
/* The operator's name and overload ("aten::add", "Tensor"), in `size` bytes each; false: it is none. */
bool plm_observe_operator(const void *function, char *name, char *overload, size_t size);

#endif
