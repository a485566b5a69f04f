#include "cli/rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "cli/cli.h"
#include "cli/server.h"
#include "record/pen.h"
#include "world/store.h"
#include "world/store_server.h"

#define WORLD(field) offsetof(struct plm_cli_world_options, field)
const struct plm_option plm_cli_option_world[] = {
    {"world", 0, PLM_OPTION_TEXT, WORLD(world), "N",
     .help = "simulate one rank of a job of N without starting the others", .configurable = true},
    {"rank", 0, PLM_OPTION_TEXT, WORLD(rank), "R", .help = "the rank: R, first, last, stages, all, all-kinds (default)",
     .among = "first last stages all-kinds all", .configurable = true},
    {"nodes", 0, PLM_OPTION_NUMBER, WORLD(nodes), "K", .help = "number of nodes", .least = 1, .configurable = true,
     .rare = true},
    {"gpus-per-node", 0, PLM_OPTION_NUMBER, WORLD(per_node), "G", .help = "or GPUs per node (default up to 8)",
     .least = 1, .configurable = true, .rare = true},
    {0},
};

/* ---- which rank ---- */

static int world_parse(const char *text, unsigned *world, struct plm_error *error)
{
    char *end;
    unsigned long number;
    errno = 0;
    number = strtoul(text, &end, 10);
    if (*end || end == text || errno || text[0] == '-' || number < 1 || number > PLM_WORLD_MOST)
        return plm_fail(error, PLM_EINVAL, "--world is the number of ranks, from 1 to %d, not '%.60s'", PLM_WORLD_MOST,
                        text);
    *world = (unsigned)number;
    return 0;
}

/* Where the user's own environment says that the ranks meet. */
static int port_wanted(int *port, struct plm_error *error)
{
    const char *text = getenv("MASTER_PORT");
    char *end;
    long number = text && *text ? strtol(text, &end, 10) : 0;
    if (text && *text && (*end || number < 1 || number > 65535))
        return plm_fail(error, PLM_EINVAL, "MASTER_PORT is a port, not '%.60s'", text);
    *port = (int)number;
    return 0;
}

bool plm_cli_rank_wanted(const struct plm_cli_world_options *o)
{
    return o->world || o->rank || o->nodes || o->per_node;
}

/* How many ranks there are: as the user says, or as the line of the launcher does. torchrun without a number of nodes says
   only how large one is. */
static int world_choose(const struct plm_cli_world_options *o, const struct plm_launcher_line *line, unsigned *world,
                        struct plm_error *error)
{
    const bool whole = line->world && (line->nodes || line->launcher != PLM_LAUNCHER_TORCHRUN);
    if (!o->world && !line->world)
        return plm_fail(error, PLM_EINVAL, "the number of ranks is missing; add --world N");
    *world = line->world;
    if (!o->world)
        return 0;
    if (world_parse(o->world, world, error))
        return PLM_EINVAL;
    if (whole && line->world != *world)
        return plm_fail(error, PLM_EINVAL, "%.40s starts %u ranks, but --world says %u", line->name, line->world,
                        *world);
    return 0;
}

static int rank_find(const struct plm_cli_world_options *o, struct plm_cli_rank *out, struct plm_error *error)
{
    const struct plm_launcher_line *line = &out->line;
    const unsigned per_node = o->per_node || o->nodes ? (unsigned)o->per_node : line->per_node;
    const unsigned nodes = o->per_node || o->nodes ? (unsigned)o->nodes : line->nodes;
    unsigned world = 0;
    int status = world_choose(o, line, &world, error);
    if (!status)
        status = plm_world_rank_make(&out->as, world, nodes, per_node, error);
    if (!status)
        status = plm_world_rank_choose(&out->as, o->rank ? o->rank : "first", error);
    out->port = line->port;
    return status || out->port ? status : port_wanted(&out->port, error);
}

int plm_cli_rank_choose(const struct plm_cli_world_options *o, char **command, struct plm_cli_rank *out,
                        struct plm_error *error)
{
    int status;
    *out = (struct plm_cli_rank){0};
    status = plm_launcher_read(command, &out->line, error);
    if (status)
        return status;
    status = rank_find(o, out, error);
    if (status)
        plm_cli_rank_free(out);
    return status;
}

void plm_cli_rank_free(struct plm_cli_rank *rank)
{
    plm_launcher_line_free(&rank->line);
}

char **plm_cli_rank_command(struct plm_cli_rank *rank, char **command)
{
    return rank->line.words ? (char **)plm_launcher_words(&rank->line, &rank->as) : command;
}

static void describe_number(struct plm_pen *pen, const char *key, unsigned value)
{
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    plm_pen_setting(pen, key, text);
}

void plm_cli_rank_describe(struct plm_pen *pen, const struct plm_cli_rank *rank)
{
    describe_number(pen, "world", rank->as.world);
    describe_number(pen, "nodes", rank->as.nodes);
    describe_number(pen, "gpus-per-node", rank->as.per_node);
}

/* ---- the run ---- */

static void made_note(struct plm_pen *pen, const struct plm_store *store)
{
    const struct plm_store_made *made;
    const size_t count = plm_store_made(store, &made);
    char text[256];
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.160s x %llu", made[i].pattern, (unsigned long long)made[i].keys);
        plm_pen_remark(pen, made[i].read ? "absent-peer" : "store-made-up", text);
    }
}

void plm_cli_rank_refusals_note(struct plm_pen *pen, const struct plm_store *store)
{
    if (plm_store_refusals(store))
        plm_pen_remark(pen, "store-refused",
                       "it asked the job's store for more than plimsoll serves: 64 MiB at once, 512 MiB in total");
}

/* What a rank finds in its environment: "NAME=VALUE", ended by NULL. A fork also learns which record is meant. */
static char **rank_environment(const struct plm_cli_launch *launch, const struct plm_cli_rank *rank, int port)
{
    char **environment = plm_world_rank_environment(&rank->as, rank->line.launcher, port);
    size_t count = 0;
    while (environment[count])
        count++;
    environment = plm_realloc(environment, count + 3, sizeof *environment);
    environment[count++] = plm_asprintf("PLIMSOLL_RECORD=%s", launch->record);
    if (rank->live)
        environment[count++] = plm_asprintf("PLIMSOLL_LIVE=%s", rank->live);
    environment[count] = NULL;
    return environment;
}

pid_t plm_cli_rank_start(const struct plm_cli_launch *launch, const struct plm_cli_rank *rank, int port, int *failure)
{
    struct plm_cli_launch started = *launch;
    pid_t child = -1;
    started.environment = rank_environment(launch, rank, port);
    started.gpus = (int)rank->as.per_node;
    started.silent = rank->log != NULL;
    if (rank->line.local_rank) /* its words differ from rank to rank */
        started.command = plm_cli_rank_command((struct plm_cli_rank *)rank, launch->command);
    else if (rank->server)
        child = plm_server_fork(rank->server, NULL, (const char *const *)started.environment, rank->log);
    if (child < 0)
        child = plm_cli_launch_start(&started, failure);
    plm_world_rank_environment_free(started.environment);
    return child;
}

int plm_cli_rank_run(struct plm_pen *pen, struct plm_record_header *header, const struct plm_cli_launch *launch,
                     const struct plm_cli_rank *rank, struct plm_cli_rank_end *end, struct plm_error *error)
{
    const struct plm_store_server_request request = {.world = rank->as.world, .live = 1, .port = rank->port};
    struct plm_store_server *server;
    pid_t child;
    if (plm_store_server_start(&request, &server, error) < 0)
        return PLM_EIO;
    child = plm_cli_rank_start(launch, rank, plm_store_server_port(server), &end->failure);
    if (child > 0)
        end->status = plm_await_job(child, header, launch->steps);
    plm_store_server_stop(server);
    made_note(pen, plm_store_server_store(server));
    plm_cli_rank_refusals_note(pen, plm_store_server_store(server));
    plm_store_server_free(server);
    return child > 0 ? 0 : PLM_ENOTFOUND;
}
