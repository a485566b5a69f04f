/*
 * Text of unknown origin (paths, arguments, names in a file, values of settings), made safe to show. The one rule for
 * every writer: what could act on a terminal, or make text look like other text, is shown by its number and never sent.
 *
 *   control characters (U+0000 to U+001F, U+007F to U+009F), bytes that are not UTF-8    \x1b  \xff
 *   marks that turn the direction of text or cannot be seen, ends of lines and paragraphs    \u202e
 *
 * For JSON the same characters are written as its own escapes, so that a program reads what was there. Pure; any
 * thread.
 */
#ifndef PLM_PRINTABLE_H
#define PLM_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

enum { PLM_PRINTABLE_MOST = 13 }; /* bytes of what stands for one character, and a 0 */

/* The next character of a text as it is to be shown: itself, or its number. Returns how many bytes of the text that
   stands for, 0 at its end. */
unsigned plm_printable_next(const char *text, char out[PLM_PRINTABLE_MOST]);
/* The same inside a string of JSON, with its escapes; what is not UTF-8 becomes the replacement character. */
unsigned plm_printable_json(const char *text, char out[PLM_PRINTABLE_MOST]);

/* The first character that is not shown as itself; NULL: all are. */
const char *plm_printable_not(const char *text);
/* A whole text; of what does not fit, the beginning. Returns `out`. */
char *plm_printable(char *out, size_t size, const char *text);
void plm_printable_put(FILE *out, const char *text);

#endif
