#include "base/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/error.h"
#include "base/memory.h"

/* Lengths of the fixed parts of records, and how long the comment behind the last one may be. */
enum { LOCAL = 30, CENTRAL = 46, END = 22, COMMENT = 65535 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1 };

static uint32_t little(const unsigned char *at, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static int zip_bad(struct plm_error *error, const char *what)
{
    return plm_fail(error, PLM_EFORMAT, "this is not a zip archive that can be read: %s", what);
}

/* The record at the end, which says where the directory is; it is looked for from behind. */
static const unsigned char *end_find(const struct plm_zip *z)
{
    const size_t least = z->size > END + COMMENT ? z->size - END - COMMENT : 0;
    for (size_t at = z->size < END ? 0 : z->size - END + 1; at-- > least;)
        if (!memcmp(z->data + at, "PK\5\6", 4))
            return z->data + at;
    return NULL;
}

static int entry_take(struct plm_zip *z, size_t *at, size_t end, struct plm_error *error)
{
    const unsigned char *record = z->data + *at;
    struct plm_zip_entry e;
    size_t length;
    if (end - *at < CENTRAL || memcmp(record, "PK\1\2", 4) != 0)
        return zip_bad(error, "its directory is damaged");
    e = (struct plm_zip_entry){.name = (const char *)record + CENTRAL,
                               .name_length = little(record + 28, 2),
                               .offset = little(record + 42, 4),
                               .packed = little(record + 20, 4),
                               .size = little(record + 24, 4),
                               .method = little(record + 10, 2)};
    length = CENTRAL + e.name_length + little(record + 30, 2) + little(record + 32, 2);
    if (length > end - *at)
        return zip_bad(error, "its directory is damaged");
    if (little(record + 8, 2) & ENCRYPTED)
        return zip_bad(error, "it is encrypted");
    z->entry = plm_grow(z->entry, z->entries, &z->room, sizeof *z->entry);
    z->entry[z->entries++] = e;
    *at += length;
    return 0;
}

int plm_zip_open(const void *data, size_t size, struct plm_zip *z, struct plm_error *error)
{
    const unsigned char *last;
    size_t count, at, end;
    int status = 0;
    *z = (struct plm_zip){.data = data, .size = size};
    last = end_find(z);
    if (!last)
        return zip_bad(error, "it has no directory");
    count = little(last + 10, 2);
    at = little(last + 16, 4);
    end = (size_t)(last - z->data);
    if (at > end || little(last + 12, 4) > end - at)
        return zip_bad(error, "its directory is outside the file");
    for (size_t i = 0; i < count && status == 0; i++)
        status = entry_take(z, &at, end, error);
    if (status)
        plm_zip_close(z);
    return status;
}

void plm_zip_close(struct plm_zip *z)
{
    free(z->entry);
    *z = (struct plm_zip){0};
}

const struct plm_zip_entry *plm_zip_find(const struct plm_zip *z, const char *name)
{
    for (size_t i = 0; i < z->entries; i++)
        if (z->entry[i].name_length == strlen(name) && !memcmp(z->entry[i].name, name, strlen(name)))
            return &z->entry[i];
    return NULL;
}

static int entry_inflate(const unsigned char *from, const struct plm_zip_entry *e, unsigned char *to)
{
    z_stream stream = {.next_in = (unsigned char *)from, .avail_in = e->packed, .next_out = to, .avail_out = e->size};
    int status = inflateInit2(&stream, -MAX_WBITS);
    if (status == Z_OK)
        status = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return status == Z_STREAM_END && stream.total_out == e->size ? 0 : -1;
}

int plm_zip_read(const struct plm_zip *z, const struct plm_zip_entry *e, unsigned char **bytes, struct plm_error *error)
{
    const unsigned char *record = z->data + e->offset, *from;
    size_t before;
    if (e->offset > z->size || z->size - e->offset < LOCAL || memcmp(record, "PK\3\4", 4) != 0)
        return zip_bad(error, "an entry is not where its directory says");
    before = LOCAL + little(record + 26, 2) + little(record + 28, 2);
    if (before > z->size - e->offset || e->packed > z->size - e->offset - before)
        return zip_bad(error, "an entry is truncated");
    if (e->size > PLM_ZIP_LARGEST)
        return zip_bad(error, "an entry is too large");
    from = record + before;
    if (e->method != DEFLATED && (e->method != STORED || e->packed != e->size))
        return zip_bad(error, "an entry uses an unknown compression");
    *bytes = plm_calloc((size_t)e->size + 1, 1);
    if (e->method == STORED)
        memcpy(*bytes, from, e->size);
    if (e->method == STORED || entry_inflate(from, e, *bytes) == 0)
        return 0;
    free(*bytes);
    *bytes = NULL;
    return zip_bad(error, "an entry does not unpack to its stated size");
}
