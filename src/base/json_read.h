/*
 * Reads JSON (RFC 8259) of any size as a stream of tokens, from a plain or gzip file, within bounded memory.
 *
 * plm_json_open() begins, plm_json_next() gives one token after another, plm_json_close() ends it. Text belongs to the reader and is
 * valid until the next call. One thread at a time. Refused with one sentence that names the file and the place in it (PLM_EFORMAT): what
 * is not JSON, ends too early, nests deeper than PLM_JSON_DEPTH, or has a string longer than PLM_JSON_TEXT. PLM_EREAD: cannot be read.
 *
 * Strict, with two exceptions that plm_json_tolerate() asks for. A surrogate without its other half, which the grammar allows and UTF-8 does
 * not, becomes U+FFFD. Keys may repeat: that is the caller's business.
 */
#ifndef PLM_JSON_READ_H
#define PLM_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_error;
struct plm_json_reader;

enum { PLM_JSON_DEPTH = 64, PLM_JSON_TEXT = 16 << 20 };

enum plm_json_token {
    PLM_JSON_END, /* of the document; only white space may follow it */
    PLM_JSON_OBJECT,
    PLM_JSON_END_OBJECT,
    PLM_JSON_ARRAY,
    PLM_JSON_END_ARRAY,
    PLM_JSON_KEY,
    PLM_JSON_STRING,
    PLM_JSON_NUMBER,
    PLM_JSON_TRUE,
    PLM_JSON_FALSE,
    PLM_JSON_NULL,
};

struct plm_json_value {
    enum plm_json_token token;
    const char *text; /* of a key or string: unescaped UTF-8; of a number: as it is written. Ends with a 0 byte */
    size_t length;    /* a string may hold 0 bytes */
};

int plm_json_open(const char *path, struct plm_json_reader **reader, struct plm_error *error);
/* From memory that outlives the reader; `name` for its sentences. */
int plm_json_open_memory(const char *name, const void *data, size_t size, struct plm_json_reader **reader,
                         struct plm_error *error);
void plm_json_close(struct plm_json_reader *reader);

/* 0, or a negative PLM_E code; after that the reader only closes. */
int plm_json_next(struct plm_json_reader *reader, struct plm_json_value *value, struct plm_error *error);
/* Passes over the value whose first token comes next. Faster than reading it. */
int plm_json_skip(struct plm_json_reader *reader, struct plm_error *error);
/* The same for what is left of the object or array that was entered last. */
int plm_json_leave(struct plm_json_reader *reader, struct plm_error *error);
/* The same as plm_json_skip(), and gives the value as it is written: at most PLM_JSON_TEXT bytes, without a 0 byte at the end. */
int plm_json_raw(struct plm_json_reader *reader, const char **text, size_t *length, struct plm_error *error);
/* From now on accepts what profilers write although it is not JSON: control characters and bytes that are not UTF-8 in strings (the latter
   become '?'), and the numbers NaN, Infinity and -Infinity. */
void plm_json_tolerate(struct plm_json_reader *reader);
/* Bytes that were read, as text. */
uint64_t plm_json_place(const struct plm_json_reader *reader);

/* Of a number's text: false if it is not a whole number in range. */
bool plm_json_to_signed(const struct plm_json_value *value, int64_t *out);
bool plm_json_to_real(const struct plm_json_value *value, double *out);

#endif
