/*
 * Reads zip archives that lie in memory: what PyTorch saves. Entries that are stored or deflated; no encryption, no
 * archives in parts, no sizes of 4 GiB and more.
 *
 * plm_zip_open() looks through the directory, plm_zip_close() ends it; the archive must stay where it is meanwhile. What
 * plm_zip_read() gives belongs to the caller. Names and sizes are checked against what is there; an entry unpacks to at
 * most PLM_ZIP_LARGEST bytes. Any thread, each with its own. Fails with one sentence: PLM_EFORMAT.
 */
#ifndef PLM_BASE_ZIP_H
#define PLM_BASE_ZIP_H

#include <stddef.h>
#include <stdint.h>

struct plm_error;

enum { PLM_ZIP_LARGEST = 64 << 20 };

struct plm_zip_entry {
    const char *name; /* in the archive, not terminated */
    size_t name_length;
    uint32_t offset, packed, size;
    unsigned method;
};

struct plm_zip {
    const unsigned char *data;
    size_t size;
    struct plm_zip_entry *entry;
    size_t entries, room;
};

int plm_zip_open(const void *data, size_t size, struct plm_zip *zip, struct plm_error *error);
void plm_zip_close(struct plm_zip *zip);
/* NULL: there is none. */
const struct plm_zip_entry *plm_zip_find(const struct plm_zip *zip, const char *name);
int plm_zip_read(const struct plm_zip *zip, const struct plm_zip_entry *entry, unsigned char **bytes,
                 struct plm_error *error);

#endif
