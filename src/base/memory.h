/*
 * Memory of the plimsoll program. Nothing here fails: when the system has none left, the program ends with one sentence
 * and status 125, so callers have no branch for it. Any thread. What is given is freed with free().
 *
 * Not for what is also compiled into the user's process (src/device/meson.build lists it, and does not link this): there
 * a function that gets no memory returns PLM_ENOMEM.
 */
#ifndef PLM_BASE_MEMORY_H
#define PLM_BASE_MEMORY_H

#include <stddef.h>
#include <stdlib.h> /* free */

/* The sentence and the end. For what counts in 32 bits too, when these are used up. */
_Noreturn void plm_out_of_memory(void);
#define PLM_NEVER_NULL __attribute__((returns_nonnull))

/* An array of zeros. Never NULL, also for no items. */
PLM_NEVER_NULL void *plm_calloc(size_t count, size_t size);
/* As reallocarray(); what was added is not cleared. */
PLM_NEVER_NULL void *plm_realloc(void *array, size_t count, size_t size);
PLM_NEVER_NULL char *plm_strdup(const char *text);
PLM_NEVER_NULL char *plm_strndup(const char *text, size_t most);
PLM_NEVER_NULL __attribute__((format(printf, 1, 2))) char *plm_asprintf(const char *format, ...);
/* An array with room for one more item than `count`: the same one, or a larger copy with *room raised. */
PLM_NEVER_NULL void *plm_grow(void *array, size_t count, size_t *room, size_t size);

#endif
