#include "record_input.h"

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "common/error.h"
#include "fuzz.h"
#include "record/format.h"
#include "record/reader.h"
#include "report/page.h"

enum { PIECES_MAX = 6, GUARD = 64 };

/* In place of the page around the data, which no record changes. */
const unsigned char plm_html_before[] = "<", plm_html_after[] = ">";
const size_t plm_html_before_size = 1, plm_html_after_size = 1;
const unsigned char plm_html_diff_before[] = "<", plm_html_diff_after[] = ">";
const size_t plm_html_diff_before_size = 1, plm_html_diff_after_size = 1;
const char plm_html_missing[] = "";

/* A described record. What lies behind the events of a chunk may not be read: AddressSanitizer watches it. */
static struct {
    _Alignas(4096) uint8_t head[PLM_RECORD_HEADER];
    uint8_t chunk[PIECES_MAX][PLM_RECORD_CHUNK];
} described;
static size_t pieces, used[PIECES_MAX];
static uint8_t *whole; /* an input that is the file itself, where it is aligned and ends where it ends */

static size_t guard_of(size_t piece)
{
    size_t room = PLM_RECORD_CHUNK - used[piece];
    return room < GUARD ? room : GUARD;
}

static void forget(void)
{
    for (; pieces; pieces--) {
        ASAN_UNPOISON_MEMORY_REGION(described.chunk[pieces - 1] + used[pieces - 1], guard_of(pieces - 1));
        memset(described.chunk[pieces - 1], 0, used[pieces - 1]);
    }
    free(whole);
    whole = NULL;
}

static void put_head(const uint8_t patch[4])
{
    /* The upper bits of the flags mean nothing in a record: they choose an older version here. */
    struct plm_record_header head = {.version = PLM_RECORD_VERSION - (patch[1] >> 5) % PLM_RECORD_VERSION,
                                     .header_bytes = PLM_RECORD_HEADER,
                                     .chunk_bytes = PLM_RECORD_CHUNK,
                                     .slots = PLM_RECORD_SLOTS};
    memcpy(head.magic, PLM_RECORD_MAGIC, sizeof head.magic);
    head.chunks = patch[0];
    head.flags = patch[1];
    head.processes = patch[2];
    head.monotonic_ns = patch[3];
    memcpy(described.head, &head, sizeof head);
}

/* Several pieces may go to one thread or to many. */
static void put_chunk(uint8_t whose, const uint8_t *events, size_t size)
{
    struct plm_record_chunk chunk = {.magic = PLM_RECORD_CHUNK_MAGIC,
                                     .pid = whose & 3u,
                                     .tid = whose >> 2 & 3u,
                                     .process = whose >> 4 & 3u,
                                     .start_ns = whose >> 6,
                                     .used = (uint32_t)size};
    memcpy(described.chunk[pieces], &chunk, sizeof chunk);
    memcpy(described.chunk[pieces] + sizeof chunk, events, size);
    used[pieces] = sizeof chunk + size;
    ASAN_POISON_MEMORY_REGION(described.chunk[pieces] + used[pieces], guard_of(pieces));
    pieces++;
}

static const void *describe(const uint8_t *data, size_t size, size_t *bytes)
{
    forget();
    if (size && data[0] == 'R') {
        whole = malloc(size);
        MUST(whole);
        memcpy(whole, data + 1, size - 1);
        *bytes = size - 1;
        return whole;
    }
    if (size < 4)
        return NULL;
    put_head(data);
    for (size_t at = 4; at + 2 <= size && pieces < PIECES_MAX;) {
        size_t length = (size_t)data[at] * 8, left = size - at - 2;
        length = length < left ? length : left;
        put_chunk(data[at + 1], data + at + 2, length);
        at += 2 + length;
    }
    *bytes = PLM_RECORD_HEADER + pieces * PLM_RECORD_CHUNK;
    return &described;
}

bool fuzz_record_open(const uint8_t *data, size_t size, struct fuzz_record *out)
{
    struct plm_error error = {0};
    size_t bytes = 0;
    const void *record = describe(data, size, &bytes);
    if (!record)
        return false;
    if (plm_record_open_memory("fuzz.plm", record, bytes, &out->record, &error)) {
        fuzz_sentence(&error);
        return false;
    }
    if (plm_job_read_record(out->record, "fuzz.plm", &out->job, &error)) {
        fuzz_sentence(&error);
        plm_record_free(out->record);
        return false;
    }
    return true;
}

void fuzz_record_close(struct fuzz_record *r)
{
    plm_job_free(r->job);
    if (r->record)
        plm_record_free(r->record);
}
