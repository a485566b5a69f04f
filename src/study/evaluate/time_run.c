/* Rows in chunks: a file of rows for each, one run of the workload's script, and what its processes came to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/error.h"
#include "base/memory.h"
#include "study/evaluate/key.h"
#include "study/evaluate/pool.h"
#include "study/evaluate/time_bench.h"

/* What is imported is imported once for so many rows; what is interrupted loses no more of them. */
enum { CHUNK_ROWS = 20 };

struct chunk {
    size_t run[CHUNK_ROWS];
    size_t runs;
    char name[24];
};

struct work {
    struct plm_time_bench *bench;
    struct chunk *chunk;
    size_t chunks, room, next;
    size_t done, failed, made;
    double start;
    plm_bench_progress *progress;
    void *context;
};

static void chunk_path(const struct work *w, size_t chunk, const char *end, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%s.%s", w->bench->settings->folder, w->chunk[chunk].name, end);
}

/* ---- which rows go together ---- */

static bool run_fits(const struct plm_time_bench *bench, const struct chunk *chunk, size_t run)
{
    const struct plm_time_run *first = &bench->run[chunk->run[0]], *other = &bench->run[run];
    return chunk->runs < CHUNK_ROWS && first->workload == other->workload && !strcmp(first->card.id, other->card.id);
}

/* With fewer rows than would keep all processors busy, the chunks are smaller. */
static size_t rows_of_chunk(const struct work *w, size_t waiting)
{
    const size_t jobs = w->bench->settings->jobs < 1 ? 1 : (size_t)w->bench->settings->jobs,
                 share = (waiting + jobs - 1) / jobs;
    return share < 1 ? 1 : share > CHUNK_ROWS ? CHUNK_ROWS : share;
}

static void chunks_make(struct work *w)
{
    const struct plm_time_bench *bench = w->bench;
    size_t waiting = 0, most;
    for (size_t i = 0; i < bench->runs; i++)
        waiting += !bench->run[i].known;
    most = rows_of_chunk(w, waiting);
    for (size_t i = 0; i < bench->runs; i++) {
        struct chunk *last = w->chunks ? &w->chunk[w->chunks - 1] : NULL;
        if (bench->run[i].known)
            continue;
        if (!last || last->runs == most || !run_fits(bench, last, i)) {
            w->chunk = plm_grow(w->chunk, w->chunks, &w->room, sizeof *w->chunk);
            last = &w->chunk[w->chunks++];
            *last = (struct chunk){0};
        }
        last->run[last->runs++] = i;
    }
    for (size_t i = 0; i < w->chunks; i++) {
        uint64_t key = PLM_KEY;
        for (size_t k = 0; k < w->chunk[i].runs; k++)
            key = plm_key_text(key, bench->run[w->chunk[i].run[k]].key);
        snprintf(w->chunk[i].name, sizeof w->chunk[i].name, "%016llx", (unsigned long long)key);
    }
}

static bool chunk_next(void *context, size_t *task)
{
    struct work *w = context;
    *task = w->next;
    w->next += w->next < w->chunks;
    return *task < w->chunks;
}

/* ---- the run ---- */

static int rows_write(const struct work *w, size_t chunk)
{
    char path[4096];
    bool failed;
    FILE *out;
    chunk_path(w, chunk, "csv", path, sizeof path);
    out = fopen(path, "we");
    if (!out)
        return errno;
    plm_time_run_put_head(out, w->bench);
    for (size_t i = 0; i < w->chunk[chunk].runs; i++)
        plm_time_run_put(out, w->bench, &w->bench->run[w->chunk[chunk].run[i]]);
    failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    return failed ? EIO : 0;
}

/* What an interrupted run left would be taken for what this one made. */
static void leftovers_remove(const struct work *w, size_t chunk, bool log)
{
    static const char *const ends[] = {"csv", "csv.done", "csv.errors", "log"};
    char path[4096];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] - !log; i++) {
        chunk_path(w, chunk, ends[i], path, sizeof path);
        unlink(path);
    }
}

static pid_t chunk_start(void *context, size_t chunk, int *failure)
{
    const struct work *w = context;
    const struct plm_time_settings *s = w->bench->settings;
    const struct plm_time_run *first = &w->bench->run[w->chunk[chunk].run[0]];
    char record[4096], rows[4096], log[4096], script[4096];
    const char *word[24] = {"plimsoll", "run",  "--gpu", first->card.id, "--until-exit",
                            "--detail", "full", "-f",    "-o",           record};
    const char *const command[] = {"--", s->python, script, "--rows", rows};
    int n = 10;
    leftovers_remove(w, chunk, true);
    *failure = rows_write(w, chunk);
    if (*failure)
        return -1;
    chunk_path(w, chunk, "plm", record, sizeof record);
    chunk_path(w, chunk, "csv", rows, sizeof rows);
    chunk_path(w, chunk, "log", log, sizeof log);
    snprintf(script, sizeof script, "%.3800s/%.200s", s->workloads->folder, first->workload->script);
    if (s->stack) {
        word[n++] = "--stack";
        word[n++] = s->stack;
    }
    for (size_t i = 0; i < sizeof command / sizeof command[0]; i++)
        word[n++] = command[i];
    return plm_child_start(&(struct plm_child){.words = word, .self = true, .log = log}, failure);
}

/* ---- its end ---- */

static struct plm_time_run *run_of_line(const struct work *w, size_t chunk, unsigned long line)
{
    return line < w->chunk[chunk].runs ? &w->bench->run[w->chunk[chunk].run[line]] : NULL;
}

/* "pid,line,status" for each row that ended. */
static void done_read(const struct work *w, size_t chunk)
{
    char path[4096], text[256];
    unsigned long long pid;
    unsigned long line;
    int status;
    FILE *in;
    chunk_path(w, chunk, "csv.done", path, sizeof path);
    in = fopen(path, "re");
    while (in && fgets(text, sizeof text, in)) {
        struct plm_time_run *run;
        if (sscanf(text, "%llu,%lu,%d", &pid, &line, &status) != 3)
            continue;
        run = run_of_line(w, chunk, line);
        if (!run)
            continue;
        run->pid = pid;
        if (status < 0)
            snprintf(run->why, sizeof run->why, "it was ended by signal %d", -status);
        else if (status)
            snprintf(run->why, sizeof run->why, "it ended with status %d", status);
        else
            run->why[0] = '\0';
    }
    if (in)
        fclose(in);
}

/* "line reason" for those that failed with one. */
static void errors_read(const struct work *w, size_t chunk)
{
    char path[4096], text[1024];
    FILE *in;
    chunk_path(w, chunk, "csv.errors", path, sizeof path);
    in = fopen(path, "re");
    while (in && fgets(text, sizeof text, in)) {
        char *end;
        const unsigned long line = strtoul(text, &end, 10);
        struct plm_time_run *run = end > text ? run_of_line(w, chunk, line) : NULL;
        if (run && run->why[0])
            snprintf(run->why, sizeof run->why, "%.*s", (int)strcspn(end + (*end == ' '), "\n"), end + (*end == ' '));
    }
    if (in)
        fclose(in);
}

static int chunk_end(void *context, size_t chunk, int wait_status, const struct rusage *usage, struct plm_error *error)
{
    struct work *w = context;
    struct chunk *c = &w->chunk[chunk];
    char log[4096], line[PLM_LAST_LINE];
    size_t failed = 0;
    (void)wait_status;
    (void)usage;
    chunk_path(w, chunk, "log", log, sizeof log);
    plm_child_last_line(fopen(log, "re"), false, line);
    for (size_t i = 0; i < c->runs; i++) {
        struct plm_time_run *run = &w->bench->run[c->run[i]];
        run->known = true;
        strcpy(run->record, c->name);
        snprintf(run->why, sizeof run->why, "%.190s", line[0] ? line : "it did not come to an end");
    }
    done_read(w, chunk);
    errors_read(w, chunk);
    for (size_t i = 0; i < c->runs; i++)
        failed += w->bench->run[c->run[i]].why[0] != '\0';
    leftovers_remove(w, chunk, failed == 0);
    w->done += c->runs;
    w->made += c->runs;
    w->failed += failed;
    return plm_time_bench_note(w->bench, c->run, c->runs, error);
}

static void progress_show(void *context)
{
    const struct work *w = context;
    w->progress(w->done, w->failed, w->bench->runs, plm_clock_now() - w->start, w->made, w->context);
}

int plm_time_bench_run(struct plm_time_bench *bench, plm_bench_progress *progress, void *context,
                       struct plm_error *error)
{
    struct work w = {.bench = bench, .start = plm_clock_now(), .progress = progress, .context = context};
    const struct plm_pool pool = {.jobs = bench->settings->jobs,
                                  .context = &w,
                                  .next = chunk_next,
                                  .start = chunk_start,
                                  .end = chunk_end,
                                  .progress = progress ? progress_show : NULL};
    int status;
    chunks_make(&w);
    for (size_t i = 0; i < bench->runs; i++)
        w.done += bench->run[i].known;
    status = plm_pool_run(&pool, error);
    free(w.chunk);
    return status;
}
