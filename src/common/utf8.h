/* Is it UTF-8? Names in a record are bytes of the user's; documents must be valid. Pure, any thread. */
#ifndef PLM_UTF8_H
#define PLM_UTF8_H

#define PLM_UTF8_REPLACEMENT "\xef\xbf\xbd" /* stands for each byte that is no part of a valid sequence */

/* Length of the valid UTF-8 sequence at `text`, 0 if there is none. `text` ends with a NUL. */
unsigned plm_utf8_length(const char *text);

#endif
