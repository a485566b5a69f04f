/*
 * Runs a command as one rank of a world, whose other ranks do not exist: the store that it meets them in is served here.
 * Several can be run into one record, one after the other. One at a time in a process, from the thread that has the pen.
 */
#ifndef PLM_CLI_RANK_H
#define PLM_CLI_RANK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/options.h"
#include "world/launcher.h"
#include "world/rank.h"

struct plm_error;
struct plm_cli_launch;
struct plm_pen;
struct plm_record_header;
struct plm_server;
struct plm_store;

struct plm_cli_rank {
    struct plm_world_rank as; /* which rank of which world */
    struct plm_launcher_line line;   /* what the command's launcher was asked for; its variables are there, too */
    int port;                        /* of the store; 0: any */
    const struct plm_server *server; /* that it is forked from; NULL: it is started by itself */
    const char *log;                 /* where its output goes; NULL: where ours does */
    const char *live;                /* the ranks that run at the same time, "0-7"; NULL: it alone */
};

/* What `run` was asked for; without a world nothing is. */
struct plm_cli_world_options {
    const char *world, *rank;
    int nodes, per_node;
};
#define PLM_WORLD_OPTIONS {0}
extern const struct plm_option plm_cli_option_world[];

/* Whether they ask for a rank of a world. */
bool plm_cli_rank_wanted(const struct plm_cli_world_options *options);
/* The rank that these options name, and what the command's own line tells of the world where they do not; the launcher on it
   is left out. 0, or PLM_EINVAL with a sentence. Freed by plm_cli_rank_free(), if this returns 0. */
int plm_cli_rank_choose(const struct plm_cli_world_options *options, char **command, struct plm_cli_rank *out,
                        struct plm_error *error);
void plm_cli_rank_free(struct plm_cli_rank *rank);
/* What this rank runs: the command, or what its launcher would have started. As long as the rank. */
char **plm_cli_rank_command(struct plm_cli_rank *rank, char **command);
/* Its settings, into the record. */
void plm_cli_rank_describe(struct plm_pen *pen, const struct plm_cli_rank *rank);

/* Starts the command of `launch` as this rank, with a store at that port. Its pid; or -1 with the errno in *failure. */
pid_t plm_cli_rank_start(const struct plm_cli_launch *launch, const struct plm_cli_rank *rank, int port, int *failure);

/* That the store hung up on a rank which asked for too much, if it did; the store's server has stopped. */
void plm_cli_rank_refusals_note(struct plm_pen *pen, const struct plm_store *store);

/* Runs the command of `launch` to its end with progress, and notes what absent ranks should have said. 0 with the wait
   status; PLM_EIO with a sentence if there is no store; PLM_ENOTFOUND with the errno if it cannot be started. */
struct plm_cli_rank_end {
    int status, failure;
};
int plm_cli_rank_run(struct plm_pen *pen, struct plm_record_header *header, const struct plm_cli_launch *launch,
                     const struct plm_cli_rank *rank, struct plm_cli_rank_end *end, struct plm_error *error);

#endif
