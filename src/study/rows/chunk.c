#include "study/rows/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "common/input.h"
#include "base/output.h"
#include "base/temporary.h"

void plm_chunk_path(const struct plm_chunk *chunk, const char *end, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%.100s.%s", chunk->folder, chunk->name, end);
}

size_t plm_chunk_rows(size_t waiting, int jobs, size_t most)
{
    const size_t at_once = jobs < 1 ? 1 : (size_t)jobs, share = (waiting + at_once - 1) / at_once;
    return share < 1 ? 1 : share > most ? most : share;
}

/* ---- the run ---- */

static int rows_write(const struct plm_chunk *chunk, plm_chunk_write *write, void *context)
{
    char path[4096];
    bool failed;
    FILE *out;
    plm_chunk_path(chunk, "csv", path, sizeof path);
    out = fopen(path, "we");
    if (!out)
        return errno;
    write(out, context);
    failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    return failed ? EIO : 0;
}

void plm_chunk_clear(const struct plm_chunk *chunk)
{
    static const char *const ends[] = {"csv", "csv.done", "csv.errors", "log"};
    char path[4096];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        plm_chunk_path(chunk, ends[i], path, sizeof path);
        plm_temporary_remove(path);
    }
}

pid_t plm_chunk_start(const struct plm_chunk *chunk, plm_chunk_write *write, void *context, int *failure)
{
    char rows[4096], log[4096];
    const char *word[32] = {"plimsoll", "run",    "--gpu", chunk->gpu, "--until-exit", "--detail",
                            "full",     "--keep", "-f",    "-o",       chunk->record};
    int n = 11;
    *failure = rows_write(chunk, write, context);
    if (*failure)
        return -1;
    plm_chunk_path(chunk, "csv", rows, sizeof rows);
    plm_chunk_path(chunk, "log", log, sizeof log);
    if (chunk->stack) {
        word[n++] = "--stack";
        word[n++] = chunk->stack;
    }
    word[n++] = "--";
    word[n++] = chunk->python;
    word[n++] = chunk->script;
    for (const char *const *a = chunk->arguments; a && *a && n < 28; a++)
        word[n++] = *a;
    word[n++] = "--rows";
    word[n++] = rows;
    return plm_child_start(&(struct plm_child){.words = word, .self = true, .log = log}, failure);
}

/* ---- its end ---- */

/* "pid,line,status" for each row that ended. */
static void done_read(const struct plm_chunk *chunk, struct plm_chunk_end *end, size_t rows)
{
    char path[4096], text[256];
    unsigned long long pid;
    unsigned long line;
    int status;
    FILE *in;
    plm_chunk_path(chunk, "csv.done", path, sizeof path);
    in = fopen(path, "re");
    while (in && plm_input_line(in, text, sizeof text)) {
        if (sscanf(text, "%llu,%lu,%d", &pid, &line, &status) != 3 || line >= rows)
            continue;
        end[line].pid = pid;
        if (status < 0)
            snprintf(end[line].why, sizeof end[line].why, "killed by signal %u", 0u - (unsigned)status);
        else if (status)
            snprintf(end[line].why, sizeof end[line].why, "exited with status %d", status);
        else
            end[line].why[0] = '\0';
    }
    if (in)
        fclose(in);
}

/* "line reason" for those that failed with one. */
static void errors_read(const struct plm_chunk *chunk, struct plm_chunk_end *row, size_t rows)
{
    char path[4096], text[1024];
    FILE *in;
    plm_chunk_path(chunk, "csv.errors", path, sizeof path);
    in = fopen(path, "re");
    while (in && plm_input_line(in, text, sizeof text)) {
        char *end;
        const unsigned long line = strtoul(text, &end, 10);
        if (end > text && line < rows && row[line].why[0])
            snprintf(row[line].why, sizeof row[line].why, "%s", end + (*end == ' '));
    }
    if (in)
        fclose(in);
}

void plm_chunk_ends(const struct plm_chunk *chunk, struct plm_chunk_end *end, size_t rows)
{
    char log[4096], line[PLM_LAST_LINE];
    plm_chunk_path(chunk, "log", log, sizeof log);
    plm_child_last_line(fopen(log, "re"), false, line);
    for (size_t i = 0; i < rows; i++) {
        end[i] = (struct plm_chunk_end){0};
        snprintf(end[i].why, sizeof end[i].why, "%.190s", line[0] ? line : "did not finish");
    }
    done_read(chunk, end, rows);
    errors_read(chunk, end, rows);
}

/* ---- logs ---- */

static int log_copy(FILE *out, const void *what, struct plm_error *error)
{
    FILE *in = fopen(what, "re");
    char part[4096];
    (void)error;
    for (size_t n; in && (n = fread(part, 1, sizeof part, in)) > 0;)
        fwrite(part, 1, n, out);
    if (in)
        fclose(in);
    return 0;
}

int plm_log_keep(const char *from, const char *to, const char *name, const char *end, struct plm_error *error)
{
    char source[4096], target[4096];
    if (!strcmp(from, to))
        return 0;
    snprintf(source, sizeof source, "%.3900s/%.100s.%.20s", from, name, end);
    snprintf(target, sizeof target, "%.3900s/%.100s.%.20s", to, name, end);
    return plm_output_write(target, &(struct plm_output_rule){.force = true}, log_copy, source, error);
}
