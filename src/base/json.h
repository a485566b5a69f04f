/*
 * Writes JSON to a stream: commas, quoting and indentation are kept here, so that a document cannot
 * come out malformed, and text of unknown origin is made safe (common/printable.h).
 * Not thread-safe; errors show in the stream.
 */
#ifndef PLM_JSON_H
#define PLM_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct plm_json {
    FILE *out;
    int depth;
    bool first;
    bool page; /* inside a <script> of an HTML page: without white space, and nothing can end the element */
};

void plm_json_start(struct plm_json *json, FILE *out);
/* The same, and enters an object that says its schema: all that plimsoll prints is one of these. */
void plm_json_document(struct plm_json *json, FILE *out, const char *schema);
/* `key` is NULL inside arrays and for the document itself. */
void plm_json_object(struct plm_json *json, const char *key);
void plm_json_array(struct plm_json *json, const char *key);
void plm_json_end_object(struct plm_json *json);
void plm_json_end_array(struct plm_json *json);
void plm_json_string(struct plm_json *json, const char *key, const char *value);
/* Nothing for NULL and "": what is not known is absent from a document, never null. */
void plm_json_text(struct plm_json *json, const char *key, const char *value);
void plm_json_integer(struct plm_json *json, const char *key, uint64_t value);
void plm_json_signed(struct plm_json *json, const char *key, int64_t value);
void plm_json_real(struct plm_json *json, const char *key, double value);
void plm_json_bool(struct plm_json *json, const char *key, bool value);
/* Leaves the document's object, if it is open, and ends with a newline. Returns 0, or PLM_EIO if anything could not be written. */
int plm_json_finish(struct plm_json *json);

#endif
