#include "cli/world.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/summary.h"
#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/ranges.h"
#include "cli/awaited.h"
#include "cli/cli.h"
#include "record/pen.h"
#include "record/reader.h"
#include "world/kinds.h"
#include "world/store_server.h"

/* ---- what is asked for ---- */

static const struct {
    const char *word;
    enum plm_cli_world_ranks ranks;
} several[] = {{"all-kinds", PLM_RANKS_KINDS}, {"stages", PLM_RANKS_STAGES}, {"all", PLM_RANKS_ALL}};

/* More of them at the same time would be another kind of test. */
enum { LIVE_MOST = 64 };

int plm_cli_world_choose(const struct plm_cli_world_options *options, const char *size, char **command,
                         struct plm_cli_world_request *out, struct plm_error *error)
{
    struct plm_cli_world_options one = *options;
    const char *word = options->rank ? options->rank : several[0].word;
    int status;
    out->ranks = PLM_RANKS_ONE;
    one.world = size;
    for (size_t i = 0; i < sizeof several / sizeof several[0]; i++)
        if (!strcmp(word, several[i].word)) {
            out->ranks = several[i].ranks;
            one.rank = "first";
        }
    status = plm_cli_rank_choose(&one, command, &out->rank, error);
    if (!status && out->ranks == PLM_RANKS_ALL && out->rank.as.world > LIVE_MOST)
        return plm_fail(error, PLM_EINVAL, "--rank all allows up to %d ranks; --rank all-kinds runs one of each kind",
                        LIVE_MOST);
    return status;
}

/* ---- forks ---- */

void plm_warm_stop(struct plm_warm *warm)
{
    plm_server_stop(&warm->server);
}

/* The server for ranks on nodes of that many GPUs; NULL: there is none. */
static const struct plm_server *warm_get(struct plm_warm *warm, const struct plm_cli_launch *launch, unsigned per_node)
{
    struct plm_cli_launch started = *launch;
    if (!warm || warm->cold)
        return NULL;
    if (warm->server.pid && warm->per_node == per_node)
        return &warm->server;
    plm_server_stop(&warm->server);
    plm_store_token(); /* before the server, whose forks have its environment */
    started.gpus = (int)per_node;
    warm->per_node = per_node;
    warm->cold = !plm_server_start(&warm->server, &started);
    return warm->cold ? NULL : &warm->server;
}

/* ---- one rank after the other ---- */

struct work {
    struct plm_pen *pen;
    struct plm_record_header *header;
    const struct plm_cli_launch *launch;
    const struct plm_cli_world_request *world;
    struct plm_cli_rank_end *end;
    struct plm_error *error;
    char folder[PLM_SCRATCH]; /* of what ranks after the first print */
    unsigned runs;
};

static const char *log_path(struct work *w, uint32_t rank, char *out, size_t size)
{
    if (!w->runs || !w->folder[0])
        return NULL;
    snprintf(out, size, "%s/%u", w->folder, rank);
    return out;
}

/* What a rank that was not shown said last. */
static void rank_complain(uint32_t rank, int status, const char *log)
{
    char line[PLM_LAST_LINE] = "";
    FILE *file = log ? fopen(log, "re") : NULL;
    if (file)
        plm_child_last_line(file, false, line);
    plm_complain_of(0, "rank %u ended with %s %d%s%s", rank, WIFEXITED(status) ? "status" : "signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), *line ? ": " : "", line);
}

/* What the rank needed, by the record; PLM_EINVAL if it made no step, which is the command's doing. */
static int outcome_read(const struct work *w, uint32_t rank, struct plm_world_need *out)
{
    struct plm_summary s;
    bool stepped = false;
    *out = (struct plm_world_need){.rank = rank};
    if (plm_summary_read(w->launch->record, &s, w->error) < 0)
        return PLM_EIO;
    for (int i = 0; i < s.devices; i++) {
        const struct plm_summary_device *d = &s.device[i];
        if (d->rank != (int)rank)
            continue;
        stepped |= d->steps > 0;
        if (d->used_peak >= out->used)
            *out = (struct plm_world_need){rank, d->allocated_peak.bytes, d->reserved_peak, d->used_peak};
    }
    plm_summary_free(&s);
    if (stepped || !w->launch->steps)
        return 0;
    return plm_fail(w->error, PLM_EINVAL, "rank %u made no step, so its memory is unknown", rank);
}

/* 0 with the outcome; else it is settled how the run ends. */
static int rank_run(struct work *w, uint32_t rank, struct plm_world_need *outcome)
{
    struct plm_cli_rank one = w->world->rank;
    char path[PLM_SCRATCH + 16];
    const char *log = log_path(w, rank, path, sizeof path);
    int status;
    one.as.number = rank;
    one.server = warm_get(w->world->warm, w->launch, one.as.per_node);
    one.log = log;
    status = plm_cli_rank_run(w->pen, w->header, w->launch, &one, w->end, w->error);
    if (status)
        return status;
    if (w->end->status) {
        if (w->runs)
            rank_complain(rank, w->end->status, log);
        return PLM_EFORMAT;
    }
    w->runs++;
    return outcome_read(w, rank, outcome);
}

/* ---- what the first rank shows of the world ---- */

struct seen {
    struct plm_mesh mesh;
    int stages;   /* the axis of the pipeline; -1: none */
    bool objects; /* stages tell each other what they send: none of them can be run alone */
};

struct groups {
    struct plm_record *record;
    struct plm_mesh_group *item;
    size_t count, room;
    uint32_t first;   /* process that made one; only its groups count */
    uint32_t sending; /* members of the group in which there was a send or a receive; 0: none */
    bool objects;     /* that were bytes: what PyTorch makes of Python's objects */
};

static void transfer_visit(struct groups *g, const struct plm_ev_collective *c)
{
    enum { INT8, UINT8 }; /* ncclDataType_t */
    if (c->operation != PLM_COLLECTIVE_SEND && c->operation != PLM_COLLECTIVE_RECEIVE)
        return;
    g->sending = c->ranks;
    g->objects |= c->data_type == INT8 || c->data_type == UINT8;
}

static int group_visit(const struct plm_record_event *e, void *context)
{
    struct groups *g = context;
    struct plm_ev_group group;
    if (e->type == PLM_EV_COLLECTIVE) {
        const struct plm_ev_collective c = plm_get_collective(e);
        transfer_visit(g, &c);
    }
    if (e->type != PLM_EV_GROUP)
        return 0;
    if (g->count && e->process != g->first)
        return 0;
    g->first = e->process;
    group = plm_get_group(e);
    g->item = plm_grow(g->item, g->count, &g->room, sizeof *g->item);
    g->item[g->count++] = (struct plm_mesh_group){plm_record_string(g->record, e->process, group.name),
                                                  plm_record_string(g->record, e->process, group.ranks)};
    return 0;
}

static int record_see(const char *record, unsigned world, struct seen *seen, struct plm_error *error)
{
    struct groups g = {0};
    int status = plm_record_open(record, &g.record, error);
    if (status < 0)
        return PLM_EIO;
    status = plm_record_each(g.record, group_visit, &g, error);
    seen->mesh = plm_mesh_make(world, g.item, g.count);
    seen->stages = plm_mesh_stages(&seen->mesh, g.sending);
    seen->objects = g.objects && seen->stages >= 0;
    free(g.item);
    plm_record_free(g.record);
    return status;
}

static int world_see(const struct work *w, struct seen *seen)
{
    return record_see(w->launch->record, w->world->rank.as.world, seen, w->error);
}

int plm_cli_world_mesh(const char *record, unsigned world, struct plm_mesh *out, struct plm_error *error)
{
    struct seen seen;
    const int status = record_see(record, world, &seen, error);
    *out = status ? (struct plm_mesh){0} : seen.mesh;
    return status;
}

/* ---- some at once ---- */

/* The first that fails ends the others: they would wait for it. */
static void live_wait(struct work *w, const uint32_t *rank, const pid_t *pid, unsigned count)
{
    struct plm_cli_awaited awaited = {.header = w->header};
    char path[PLM_SCRATCH + 16];
    for (unsigned i = 0; i < count; i++) {
        const int status = plm_await_rank(pid[i], w->header, w->launch->steps, &awaited);
        if (!status || w->end->status)
            continue;
        w->end->status = status;
        w->runs = i;
        rank_complain(rank[i], status, log_path(w, rank[i], path, sizeof path));
        for (unsigned k = i + 1; k < count; k++)
            kill(pid[k], SIGTERM);
    }
}

/* How many could be started. */
static unsigned live_start(struct work *w, const uint32_t *rank, pid_t *pid, unsigned count, int port)
{
    struct plm_cli_rank one = w->world->rank;
    char path[PLM_SCRATCH + 16], *ranks = plm_ranges_text(rank, count, SIZE_MAX);
    unsigned started;
    one.server = warm_get(w->world->warm, w->launch, one.as.per_node);
    one.live = ranks;
    for (started = 0; started < count; started++, w->runs++) {
        one.as.number = rank[started];
        one.log = log_path(w, rank[started], path, sizeof path);
        pid[started] = plm_cli_rank_start(w->launch, &one, port, &w->end->failure);
        if (pid[started] < 0)
            break;
    }
    free(ranks);
    return started;
}

static int live_run(struct work *w, const uint32_t *rank, unsigned count)
{
    const struct plm_store_server_request request = {
        .world = w->world->rank.as.world, .live = count, .port = w->world->rank.port};
    struct plm_store_server *store;
    pid_t *pid;
    unsigned started;
    if (plm_store_server_start(&request, &store, w->error) < 0)
        return PLM_EIO;
    pid = plm_calloc(count, sizeof *pid);
    started = live_start(w, rank, pid, count, plm_store_server_port(store));
    for (unsigned i = 0; started < count && i < started; i++)
        kill(pid[i], SIGTERM);
    live_wait(w, rank, pid, started);
    plm_store_server_stop(store);
    plm_cli_rank_refusals_note(w->pen, plm_store_server_store(store));
    plm_store_server_free(store);
    free(pid);
    return started < count ? PLM_ENOTFOUND : w->end->status ? PLM_EFORMAT : 0;
}

static int all_run(struct work *w)
{
    const unsigned world = w->world->rank.as.world;
    uint32_t *rank = plm_calloc(world, sizeof *rank);
    int status;
    for (uint32_t r = 0; r < world; r++)
        rank[r] = r;
    status = live_run(w, rank, world);
    free(rank);
    return status;
}

/* One of each stage, at the same time. */
static int line_run(struct work *w, const struct seen *seen)
{
    const struct plm_axis *axis = &seen->mesh.axis[seen->stages];
    uint32_t *rank = plm_calloc(axis->size, sizeof *rank);
    int status;
    for (uint32_t place = 0; place < axis->size; place++)
        rank[place] = place * axis->stride;
    w->end->status = 0; /* of the first, which was alone */
    status = live_run(w, rank, axis->size);
    free(rank);
    return status;
}

/* ---- kinds ---- */

/* The first rank, and where stages need each other, one of each. */
static int first_run(struct work *w, struct seen *seen)
{
    const uint64_t before = w->header ? atomic_load(&w->header->chunks) : 0;
    struct plm_world_need alone;
    const int status = rank_run(w, 0, &alone);
    if ((status && !w->end->status) || world_see(w, seen))
        return status ? status : PLM_EIO;
    if (!seen->objects)
        return status;
    plm_complain(0, "stages exchange messages, so one rank of each runs at the same time");
    plm_writer_forget(w->pen->writer, before); /* the first runs again, and not alone */
    return line_run(w, seen);
}

static void kind_write(struct plm_pen *pen, const struct plm_world_kind *kind)
{
    const uint32_t ranks = plm_pen_intern(pen, kind->ranks);
    plm_pen_kind(pen, 0, &(struct plm_ev_kind){kind->outcome.rank, kind->count, ranks, plm_pen_intern(pen, kind->why)});
}

/* Of the first rank, of one that ran with others, or of one that runs now. */
static int outcome_get(struct work *w, const struct seen *seen, uint32_t rank, struct plm_world_need *outcome)
{
    const struct plm_axis *axis = seen->objects ? &seen->mesh.axis[seen->stages] : NULL;
    if (!rank)
        return outcome_read(w, rank, outcome);
    if (axis && rank % axis->stride == 0 && rank / axis->stride < axis->size)
        return outcome_read(w, rank, outcome);
    return rank_run(w, rank, outcome);
}

static int kinds_run(struct work *w)
{
    struct plm_world_need outcome;
    struct plm_kind_search *search;
    struct plm_world_kinds kinds;
    struct seen seen;
    uint32_t rank;
    int status = first_run(w, &seen);
    if (status)
        return status;
    search = plm_kind_search_new(&seen.mesh);
    while (!status && plm_kind_search_next(search, &rank)) {
        status = outcome_get(w, &seen, rank, &outcome);
        if (!status)
            plm_kind_search_tell(search, &outcome);
    }
    if (!status) {
        kinds = plm_kind_search_list(search);
        for (size_t i = 0; i < kinds.count; i++)
            kind_write(w->pen, &kinds.item[i]);
        plm_world_kinds_free(&kinds);
    }
    plm_kind_search_free(search);
    return status;
}

/* ---- stages ---- */

static void stage_write(struct plm_pen *pen, const struct seen *seen, const struct plm_world_need *outcome)
{
    const struct plm_mesh *mesh = &seen->mesh;
    const uint32_t place = plm_mesh_place(mesh, seen->stages, outcome->rank);
    struct plm_world_kind kind = {.outcome = *outcome};
    uint32_t *rank = plm_calloc(mesh->world, sizeof *rank);
    for (uint32_t r = 0; r < mesh->world; r++)
        if (plm_mesh_place(mesh, seen->stages, r) == place)
            rank[kind.count++] = r;
    kind.ranks = plm_ranges_text(rank, kind.count, PLM_RANGES_SHOWN);
    kind.why = plm_asprintf("stage %u of %u; its other ranks were not run", place, mesh->axis[seen->stages].size);
    kind_write(pen, &kind);
    free(kind.ranks);
    free(kind.why);
    free(rank);
}

static int stages_run(struct work *w)
{
    struct plm_world_need outcome;
    struct seen seen;
    int status = first_run(w, &seen);
    if (status)
        return status;
    if (seen.stages < 0)
        return plm_fail(w->error, PLM_EFORMAT,
                        "the command made no pipeline process group; --rank all-kinds finds ranks that differ");
    for (uint32_t place = 0; place < seen.mesh.axis[seen.stages].size && !status; place++) {
        status = outcome_get(w, &seen, place * seen.mesh.axis[seen.stages].stride, &outcome);
        if (!status)
            stage_write(w->pen, &seen, &outcome);
    }
    return status;
}

/* ---- one ---- */

/* Did a rank want something that only another one could know? */
static bool record_lacks(const struct work *w)
{
    struct plm_summary s;
    bool lacks;
    if (plm_summary_read(w->launch->record, &s, w->error) < 0)
        return false;
    lacks = plm_summary_has_note(&s, "absent-peer");
    plm_summary_free(&s);
    return lacks;
}

/* One that fails for want of what another one sends is run again after the first rank, whose small messages it then gets. */
static int one_run(struct work *w)
{
    const struct plm_cli_rank *rank = &w->world->rank;
    const uint64_t before = w->header ? atomic_load(&w->header->chunks) : 0;
    struct plm_world_need first;
    int status = plm_cli_rank_run(w->pen, w->header, w->launch, rank, w->end, w->error);
    if (status || !w->end->status || !rank->as.number || !record_lacks(w))
        return status;
    plm_complain_of(0, "rank %u needs what other ranks send, so rank 0 runs first and rank %u again", rank->as.number,
                    rank->as.number);
    w->runs = 1; /* what the first prints is not what was asked for */
    plm_writer_forget(w->pen->writer, before);
    status = rank_run(w, 0, &first);
    plm_writer_forget(w->pen->writer, before);
    if (status && !w->end->status && status != PLM_EINVAL)
        return status;
    return plm_cli_rank_run(w->pen, w->header, w->launch, rank, w->end, w->error);
}

/* ---- the world ---- */

int plm_cli_world_run(struct plm_pen *pen, struct plm_record_header *header, const struct plm_cli_launch *launch,
                      const struct plm_cli_world_request *world, struct plm_cli_rank_end *end, struct plm_error *error)
{
    static int (*const runs[])(struct work *) = {[PLM_RANKS_ONE] = one_run,
                                                 [PLM_RANKS_KINDS] = kinds_run,
                                                 [PLM_RANKS_STAGES] = stages_run,
                                                 [PLM_RANKS_ALL] = all_run};
    struct work w = {pen, header, launch, world, end, error, "", 0};
    int status;
    if (plm_scratch_make("ranks", w.folder, error) < 0)
        return PLM_EIO;
    status = runs[world->ranks](&w);
    plm_scratch_remove(w.folder);
    return status == PLM_EFORMAT && end->status ? 0 : status; /* how the command ended says why */
}
