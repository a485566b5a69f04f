/*
 * Words as people type them: which of the known ones was meant, and how they are written for a shell to read again.
 * Any thread; nothing fails. What is returned as `char *` is the caller's to free.
 */
#ifndef PLM_WORDS_H
#define PLM_WORDS_H

#include <stddef.h>

/* How many letters must be put in, left out, changed or swapped with the next one to make one word of the other,
   without regard to case. */
size_t plm_words_distance(const char *word, const char *other);

/* The known word that is nearest to what was typed: begin with {.typed = …}, show it each known word, and `best` is the
   one to offer; NULL if none is near. */
struct plm_nearest {
    const char *typed, *best;
    size_t distance; /* of `best` */
};
void plm_nearest_see(struct plm_nearest *nearest, const char *known);

/* With blanks between them, quoted where a shell would take them otherwise; what cannot be shown is written $'\x1b'. */
char *plm_words_quote(const char *const *words, size_t count);

#endif
