/*
 * The letters of JSON: where texts, numbers and white space end, and what escapes stand for.
 *
 * For base/json_read.c. Pure functions of text that ends with PLM_JSON_PAD bytes of 0, where scans stop; any thread.
 */
#ifndef PLM_JSON_SCAN_H
#define PLM_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum { PLM_JSON_PAD = 16 };

struct plm_json_seen { /* in a string */
    bool escape, high; /* a backslash; a byte of 0x80 or more */
};

/* The first byte at or behind `p` that is a quotation mark, a backslash or a control character, as the bytes behind the text are. */
unsigned char *plm_json_scan_string(unsigned char *p, struct plm_json_seen *seen);
/* That is not white space. */
unsigned char *plm_json_scan_space(unsigned char *p);
/* That no number and no word has in it. */
unsigned char *plm_json_scan_plain(unsigned char *p);
/* The end of the number at `p`, NULL if it is none. */
const unsigned char *plm_json_scan_number(const unsigned char *p);

/* Text from `p` to the quotation mark at `end` without its escapes, in place if `write`. Its new end, or NULL with *bad at an escape that there is not. */
unsigned char *plm_json_unescape(unsigned char *p, unsigned char *end, bool write, unsigned char **bad);
/* The first byte of the text that is not UTF-8; NULL: all is. */
unsigned char *plm_json_not_utf8(unsigned char *p, const unsigned char *end);

#endif
