/*
 * Where a JSON reader's bytes come from: memory or a file, unpacked if they are gzip (one member or several).
 *
 * A source of zeros is closed. The memory of plm_json_source_memory() outlives it; one thread at a time. plm_json_source_read() fills
 * as much as there is room for and comes short only at the end. Refused with a sentence (PLM_EFORMAT): gzip that is damaged, ends too
 * early, has something else behind it, or unpacks to more than PLM_JSON_RATIO times its size, which no text of a tool does. PLM_EIO: cannot be read.
 */
#ifndef PLM_JSON_SOURCE_H
#define PLM_JSON_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

struct plm_error;

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

#endif
