/*
 * Functions of the Python program and stacks of their calls, numbered for the record: each is described in it with its
 * first use. A stack is its innermost call and the stack that made it, so stacks that begin alike share what they begin
 * with. Any thread. One lock; nothing is allocated, and nobody is called while it is held but the record. A number of 0
 * means that there is no room for more. A forked child numbers anew.
 */
#ifndef PLM_DEVICE_SOURCE_H
#define PLM_DEVICE_SOURCE_H

#include <stdint.h>

/* The number of a function by its code object, which lives from plm_source_add() on as long as the process; 0: it was not
   added yet. */
uint32_t plm_source_find(const void *code);
/* `line` is the one that it begins in. */
uint32_t plm_source_add(const void *code, const char *file, const char *function, uint32_t line);
/* The stack that runs `line` of a function, called by another stack (0: by none). */
uint32_t plm_source_frame(uint32_t caller, uint32_t source, uint32_t line);
/* How often the process was forked: numbers hold as long as this does not change. */
uint32_t plm_source_generation(void);

#endif
