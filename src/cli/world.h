/*
 * The ranks of a world that an answer needs, run into one record: one rank, one of each kind, each stage of a pipeline, or
 * all of them at once. What ranks are alike is written into it (KIND).
 *
 * A kind's ranks are run one after the other, each alone in its world; where the command is a Python script they are forks of
 * one process that has imported PyTorch. One at a time in a process, from the thread that has the pen.
 */
#ifndef PLM_CLI_WORLD_H
#define PLM_CLI_WORLD_H

#include "cli/rank.h"
#include "cli/server.h"
#include "world/mesh.h"

enum plm_cli_world_ranks {
    PLM_RANKS_ONE,
    PLM_RANKS_KINDS,  /* one of each kind */
    PLM_RANKS_STAGES, /* one of each stage of the pipeline */
    PLM_RANKS_ALL,    /* all, at the same time */
};

/* A process to fork from, kept from one world to the next. */
struct plm_warm {
    struct plm_server server;
    unsigned per_node; /* GPUs that it sees */
    bool cold;         /* there can be none */
};
void plm_warm_stop(struct plm_warm *warm);

struct plm_cli_world_request {
    struct plm_cli_rank rank; /* the one; otherwise the first */
    enum plm_cli_world_ranks ranks;
    struct plm_warm *warm; /* of the caller; NULL: each is started by itself */
};

/* What these options ask for; `size` is one of the list that --world may be; NULL: as the
   launcher on the command's line says. Freed by plm_cli_rank_free(&out->rank). 0, or PLM_EINVAL with a sentence. */
int plm_cli_world_choose(const struct plm_cli_world_options *options, const char *size, char **command,
                         struct plm_cli_world_request *out, struct plm_error *error);

/* As plm_cli_rank_run(). The first rank's output is the command's; that of others is not shown, but for the
   last line of one that fails. */
int plm_cli_world_run(struct plm_pen *pen, struct plm_record_header *header, const struct plm_cli_launch *launch,
                      const struct plm_cli_world_request *world, struct plm_cli_rank_end *end, struct plm_error *error);

/* The axes of a world, by the process groups that the first process of a record made. */
int plm_cli_world_mesh(const char *record, unsigned world, struct plm_mesh *out, struct plm_error *error);

#endif
