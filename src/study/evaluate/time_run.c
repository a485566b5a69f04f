/* Rows in chunks: a file of rows for each, one run of the workload's script, and what its processes came to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "study/evaluate/time_bench.h"
#include "study/rows/chunk.h"
#include "study/rows/key.h"
#include "study/rows/pool.h"

/* What is imported is imported once for so many rows; what is interrupted loses no more of them. */
enum { CHUNK_ROWS = 20 };

struct chunk {
    size_t run[CHUNK_ROWS];
    size_t runs;
    char name[24];
};

struct work {
    struct plm_timed_bench *bench;
    struct chunk *chunk;
    size_t chunks, room, next;
    size_t done, failed, made;
    double start;
    plm_bench_progress *progress;
    void *context;
};

/* ---- which rows go together ---- */

static bool run_fits(const struct plm_timed_bench *bench, const struct chunk *chunk, size_t run)
{
    const struct plm_timed_run *first = &bench->run[chunk->run[0]], *other = &bench->run[run];
    return chunk->runs < CHUNK_ROWS && first->workload == other->workload && !strcmp(first->card.id, other->card.id);
}

static void chunks_make(struct work *w)
{
    const struct plm_timed_bench *bench = w->bench;
    size_t waiting = 0, most;
    for (size_t i = 0; i < bench->runs; i++)
        waiting += !bench->run[i].known;
    most = plm_chunk_rows(waiting, bench->settings->common.jobs, CHUNK_ROWS);
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
            key = plm_rows_key_text(key, bench->run[w->chunk[i].run[k]].key);
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

/* Its strings are those of the bench, `script` and `record`. */
static struct plm_chunk chunk_of(const struct work *w, size_t chunk, char script[4096], char record[4096])
{
    const struct plm_timed_settings *s = w->bench->settings;
    const struct plm_timed_run *first = &w->bench->run[w->chunk[chunk].run[0]];
    snprintf(script, 4096, "%.3800s/%.200s", s->common.workloads->folder, first->workload->script);
    plm_timed_record_path(w->bench, w->chunk[chunk].name, record, 4096);
    return (struct plm_chunk){.folder = s->common.scratch,
                              .name = w->chunk[chunk].name,
                              .record = record,
                              .gpu = first->card.id,
                              .stack = s->common.stack,
                              .python = s->common.python,
                              .script = script};
}

struct writing {
    const struct plm_timed_bench *bench;
    const struct chunk *chunk;
};

static void rows_write(FILE *out, void *context)
{
    const struct writing *w = context;
    plm_timed_run_put_head(out, w->bench);
    for (size_t i = 0; i < w->chunk->runs; i++)
        plm_timed_run_put(out, w->bench, &w->bench->run[w->chunk->run[i]]);
}

static pid_t chunk_start(void *context, size_t chunk, int *failure)
{
    const struct work *w = context;
    char script[4096], record[4096];
    const struct plm_chunk c = chunk_of(w, chunk, script, record);
    return plm_chunk_start(&c, rows_write, &(struct writing){w->bench, &w->chunk[chunk]}, failure);
}

/* ---- its end ---- */

static int chunk_end(void *context, size_t chunk, int wait_status, const struct rusage *usage, struct plm_error *error)
{
    struct work *w = context;
    struct chunk *c = &w->chunk[chunk];
    struct plm_chunk_end end[CHUNK_ROWS];
    char script[4096], record[4096];
    const struct plm_chunk files = chunk_of(w, chunk, script, record);
    size_t failed = 0;
    int status = 0;
    (void)wait_status;
    (void)usage;
    plm_chunk_ends(&files, end, c->runs);
    for (size_t i = 0; i < c->runs; i++) {
        struct plm_timed_run *run = &w->bench->run[c->run[i]];
        run->known = true;
        run->pid = end[i].pid;
        strcpy(run->record, c->name);
        strcpy(run->why, end[i].why);
        failed += run->why[0] != '\0';
    }
    if (failed)
        status = plm_log_keep(files.folder, w->bench->settings->common.folder, c->name, "log", error);
    plm_chunk_clear(&files);
    w->done += c->runs;
    w->made += c->runs;
    w->failed += failed;
    return status ? status : plm_timed_bench_note(w->bench, c->run, c->runs, error);
}
_Static_assert(sizeof((struct plm_timed_run *)0)->why == sizeof((struct plm_chunk_end *)0)->why, "a reason fits");

static void progress_show(void *context)
{
    const struct work *w = context;
    w->progress(w->done, w->failed, w->bench->runs, plm_now() - w->start, w->made, w->context);
}

int plm_timed_bench_run(struct plm_timed_bench *bench, plm_bench_progress *progress, void *context,
                        struct plm_error *error)
{
    struct work w = {.bench = bench, .start = plm_now(), .progress = progress, .context = context};
    const struct plm_rows_pool pool = {.jobs = bench->settings->common.jobs,
                                       .context = &w,
                                       .next = chunk_next,
                                       .start = chunk_start,
                                       .end = chunk_end,
                                       .again = "use --resume to continue",
                                       .progress = progress ? progress_show : NULL};
    int status;
    chunks_make(&w);
    for (size_t i = 0; i < bench->runs; i++)
        w.done += bench->run[i].known;
    status = plm_rows_pool_run(&pool, error);
    free(w.chunk);
    return status;
}
