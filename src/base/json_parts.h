/*
 * What base/json_read.c reads with: a source of bytes, and the letters of JSON.
 */
#ifndef PLM_JSON_PARTS_H
#define PLM_JSON_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

struct plm_error;

/*
 * json_source.c: memory or a file, unpacked if it is gzip (one member or several).
 *
 * A source of zeros is closed. The memory of plm_json_source_memory() outlives it; one thread at a time. plm_json_source_read() fills
 * as much as there is room for and comes short only at the end. Refused with a sentence (PLM_EFORMAT): gzip that is damaged, ends too
 * early, has something else behind it, or unpacks to more than PLM_JSON_RATIO times its size, which no text of a tool does. PLM_EREAD: cannot be read.
 */
enum { PLM_JSON_RATIO = 200, PLM_JSON_PACKED = 64 << 10 };

struct plm_json_source {
    const char *name; /* of the caller */
    int file;         /* -1: memory */
    const unsigned char *data;
    size_t size;
    bool packed, member; /* gzip; inside one of its members */
    z_stream stream;
    unsigned char *input; /* PLM_JSON_PACKED bytes; what was read ahead of unpacking it */
    uint64_t taken, given; /* bytes read, and handed out */
};

int plm_json_source_open(struct plm_json_source *source, const char *path, struct plm_error *error);
int plm_json_source_memory(struct plm_json_source *source, const char *name, const void *data, size_t size,
                           struct plm_error *error);
void plm_json_source_close(struct plm_json_source *source);
/* Bytes that were written to `out`, 0 at the end, or a negative PLM_E code. */
int64_t plm_json_source_read(struct plm_json_source *source, void *out, size_t room, struct plm_error *error);

/*
 * json_scan.c: where texts, numbers and white space end, and what escapes stand for. Pure functions of text that ends with PLM_JSON_PAD
 * bytes of 0, where scans stop; any thread.
 */
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
