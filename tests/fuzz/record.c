/*
 * Job records, from the file to the reports and all exports. A whole record is too large to be guessed byte by byte, so
 * an input that starts with 'R' is the file itself, and any other describes one: pieces of a length byte,
 * a byte that says whose chunk it is, and the chunk's events. The head is a sound one; four bytes at the
 * front of the input are laid over it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/job.h"
#include "fit/ladder.h"
#include "base/error.h"
#include "base/card.h"
#include "export/export.h"
#include "export/out.h"
#include "fuzz.h"
#include "record/format.h"
#include "record/reader.h"
#include "report/html.h"
#include "report/report.h"

enum { PIECES_MAX = 6 };

/* In place of the page, which is not what is looked at. */
const unsigned char plm_html_before[] = "<", plm_html_after[] = ">";
const size_t plm_html_before_size = 1, plm_html_after_size = 1;
const char plm_html_missing[] = "";

static void put(const void *bytes, size_t size, uint64_t at)
{
    if (pwrite(fuzz_fd(), bytes, size, (off_t)at) != (ssize_t)size)
        abort();
}

static void put_head(const uint8_t patch[4])
{
    /* The upper bits of the flags mean nothing in a record: they choose an older version here. */
    struct plm_record_header head = {.version = PLM_RECORD_VERSION - (patch[1] >> 6) % PLM_RECORD_VERSION,
                                     .header_bytes = PLM_RECORD_HEADER,
                                     .chunk_bytes = PLM_RECORD_CHUNK,
                                     .slots = PLM_RECORD_SLOTS};
    memcpy(head.magic, PLM_RECORD_MAGIC, sizeof head.magic);
    head.chunks = patch[0];
    head.flags = patch[1];
    head.processes = patch[2];
    head.monotonic_ns = patch[3];
    put(&head, sizeof head, 0);
}

/* Several pieces may go to one thread or to many. */
static void put_chunk(int index, uint8_t whose, const uint8_t *events, size_t size)
{
    struct plm_record_chunk chunk = {.magic = PLM_RECORD_CHUNK_MAGIC,
                                     .pid = whose & 3u,
                                     .tid = whose >> 2 & 3u,
                                     .process = whose >> 4 & 3u,
                                     .start_ns = whose >> 6,
                                     .used = (uint32_t)size};
    uint64_t at = PLM_RECORD_HEADER + (uint64_t)index * PLM_RECORD_CHUNK;
    put(&chunk, sizeof chunk, at);
    put(events, size, at + sizeof chunk);
}

static const char *describe(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(NULL, 0);
    int pieces = 0;
    if (size < 4)
        return NULL;
    put_head(data);
    for (size_t at = 4; at + 2 <= size && pieces < PIECES_MAX; pieces++) {
        size_t length = (size_t)data[at] * 8, left = size - at - 2;
        length = length < left ? length : left;
        put_chunk(pieces, data[at + 1], data + at + 2, length);
        at += 2 + length;
    }
    if (ftruncate(fuzz_fd(), PLM_RECORD_HEADER + (off_t)pieces * PLM_RECORD_CHUNK))
        abort();
    return path;
}

static int check_sum(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context)
{
    const struct plm_lane *lane = context;
    uint64_t sum = 0;
    (void)moment, (void)ns;
    for (int i = 0; i < PLM_CATEGORIES; i++)
        sum += allocated[i];
    if (sum > lane->peak)
        abort();
    return 0;
}

/* Whatever the record says, a job holds together: peaks, categories and holders agree. */
static void check_ladder(const struct plm_job *job, const struct plm_lane *lane)
{
    struct plm_ladder l = plm_ladder(job, lane);
    uint64_t sum = 0;
    for (int i = 0; i < l.lines; i++)
        sum += l.line[i].bytes;
    if (sum != l.device_used)
        abort();
}

static void check_lane(const struct plm_job *job, struct plm_lane *lane)
{
    struct plm_holders holders;
    uint64_t sum;
    plm_lane_sweep(lane, check_sum, lane);
    check_ladder(job, lane);
    if (!lane->moments)
        return;
    if (plm_lane_peak(lane, 0, (uint32_t)lane->moments) != lane->peak_at)
        abort();
    for (int key = PLM_BY_MODULE; key <= PLM_BY_STACK; key++) {
        holders = plm_holders_at(job, lane, lane->peak_at, (enum plm_key)key);
        sum = 0;
        for (size_t i = 0; i < holders.count; i++)
            sum += holders.item[i].bytes;
        if (sum != lane->peak)
            abort();
        plm_holders_free(&holders);
    }
}

/* Every export ends without an error, whatever is in a record that can be read. */
static void check_exports(const char *path, const struct plm_job *job)
{
    static int nowhere = -1;
    struct plm_export export = {.path = path, .job = job};
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY);
    if (plm_record_open(path, &export.record, NULL))
        abort();
    for (size_t i = 0; i < plm_export_format_count; i++)
        for (int at = PLM_AT_PEAK; at <= ((plm_export_formats[i].flags & PLM_EXPORT_MOMENT) ? PLM_AT_END : PLM_AT_PEAK);
             at++) {
            struct plm_out out;
            export.at.kind = at;
            export.at.step = 1;
            export.out = &out;
            plm_out_open(&out, nowhere);
            if (plm_export_formats[i].write(&export, NULL) || plm_out_close(&out))
                abort();
        }
    plm_record_free(export.record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct plm_card card = {.id = "card", .memory_usable = 1u << 20};
    const struct plm_report_options options = {
        .width = 80, .record = "fuzz.plm", .utf8 = true, .card = &card, .cards = 1};
    const struct plm_report_options listing = {
        .width = 20, .color = true, .listed = true, .by = PLM_BY_STACK, .at = {PLM_AT_STEP, 1}};
    const char *path = size && data[0] == 'R' ? fuzz_file(data + 1, size - 1) : describe(data, size);
    struct plm_job *job;
    struct plm_error error = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out;

    if (!path)
        return 0;
    if (plm_job_read(path, &job, &error)) {
        if (!error.text[0] || strchr(error.text, '\n'))
            abort(); /* one sentence */
        return 0;
    }
    for (size_t i = 0; i < job->lanes; i++)
        check_lane(job, &job->lane[i]);
    check_exports(path, job);
    out = open_memstream(&text, &length);
    plm_report_text(out, job, &options, &error);
    plm_report_text(out, job, &listing, &error);
    plm_report_json(out, job, &listing, &error);
    plm_report_html(out, job, NULL, options.record, &error);
    fclose(out);
    free(text);
    plm_job_free(job);
    return 0;
}
