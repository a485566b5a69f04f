/*
 * What programs leave in files while they are captured: lines about how it goes, which rows of a chunk ended how, and a
 * capture itself, whichever of its kinds. The source of `trace` is included, as its reader of lines is its own.
 */
#include "cli/trace.c"

#include "fuzz.h"
#include "study/estimate/capture.h"
#include "study/rows/chunk.h"

enum { ROWS = 4 };

static void status_check(void)
{
    struct status s = {.path = "chunk/rows.log"};
    struct plm_progress_line line = {0};
    show_status(&line, &s);
    MUST(memchr(s.problem, '\0', sizeof s.problem) && line.what[0]);
    MUST(s.iteration >= 0 && s.steps >= 0 && s.written >= 0);
}

static void chunk_check(void)
{
    const struct plm_chunk chunk = {.folder = "chunk", .name = "rows"};
    struct plm_chunk_end end[ROWS];
    plm_chunk_ends(&chunk, end, ROWS);
    for (int i = 0; i < ROWS; i++) {
        MUST(memchr(end[i].why, '\0', sizeof end[i].why));
        MUST(!strpbrk(end[i].why, "\n"));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const ends[] = {"chunk/rows.log", "chunk/rows.csv.done", "chunk/rows.csv.errors"};
    const char *path = fuzz_file(data, size);
    struct plm_captured captured;
    struct plm_error error = {0};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        fuzz_place(ends[i], data, size);
    status_check();
    chunk_check();
    if (plm_captured_read(&path, 1, &captured, &error))
        fuzz_sentence(&error);
    else
        MUST(captured.evidence.job || captured.evidence.trace || captured.evidence.description);
    plm_captured_free(&captured);
    return 0;
}
