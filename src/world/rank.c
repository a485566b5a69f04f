#include "world/rank.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"

int plm_world_rank_make(struct plm_world_rank *out, unsigned world, unsigned nodes, unsigned per_node,
                        struct plm_error *error)
{
    if (!world || world > PLM_WORLD_MOST)
        return plm_fail(error, PLM_EINVAL, "a job has 1 to %d ranks", PLM_WORLD_MOST);
    if (nodes && world % nodes)
        return plm_fail(error, PLM_EINVAL, "%u ranks cannot be spread evenly over %u nodes", world, nodes);
    if (nodes && per_node && world != nodes * per_node)
        return plm_fail(error, PLM_EINVAL, "%u nodes of %u GPUs do not make %u ranks", nodes, per_node, world);
    if (!per_node)
        per_node = nodes ? world / nodes : world < PLM_NODE_GPUS ? world : PLM_NODE_GPUS;
    if (world % per_node)
        return plm_fail(
            error, PLM_EINVAL,
            "%u ranks cannot be spread evenly over nodes of %u GPUs; choose another number with --gpus-per-node", world,
            per_node);
    if (per_node > PLM_NODE_GPUS_MOST)
        return plm_fail(error, PLM_EINVAL, "a node has at most %d GPUs, not %u; use more nodes with --nodes",
                        PLM_NODE_GPUS_MOST, per_node);
    *out = (struct plm_world_rank){.world = world, .nodes = world / per_node, .per_node = per_node};
    return 0;
}

int plm_world_rank_choose(struct plm_world_rank *rank, const char *word, struct plm_error *error)
{
    char *end;
    unsigned long number;
    if (!strcmp(word, "first") || !strcmp(word, "last")) {
        rank->number = word[0] == 'f' ? 0 : rank->world - 1;
        return 0;
    }
    errno = 0;
    number = strtoul(word, &end, 10);
    if (*end || end == word || errno || word[0] == '-')
        return plm_fail(error, PLM_EINVAL, "--rank is a number, first or last, not '%.60s'", word);
    if (number >= rank->world)
        return plm_fail(error, PLM_EINVAL, "there is no rank %.20s: the ranks of a job of %u are 0 to %u", word,
                        rank->world, rank->world - 1);
    rank->number = (unsigned)number;
    return 0;
}

/* ---- environment ---- */

#define NODE_NAME "plimsoll-node"

enum value { TEXT, RANK, WORLD, LOCAL, PER_NODE, NODE, NODES, PORT, NODE_LIST, PER_NODE_LIST, NODE_NAMED };

/* For every launcher (none: 0), what a rank finds. ROLE_* is of all ranks, since there is one role. */
static const struct {
    const char *name;
    enum value value;
    const char *text;
    enum plm_launcher of;
} variables[] = {
    {"RANK", .value = RANK},
    {"WORLD_SIZE", .value = WORLD},
    {"LOCAL_RANK", .value = LOCAL},
    {"LOCAL_WORLD_SIZE", .value = PER_NODE},
    {"NODE_RANK", .value = NODE},
    {"GROUP_RANK", .value = NODE},
    {"GROUP_WORLD_SIZE", .value = NODES},
    {"ROLE_NAME", .text = "default"},
    {"ROLE_RANK", .value = RANK},
    {"ROLE_WORLD_SIZE", .value = WORLD},
    {"MASTER_ADDR", .text = "127.0.0.1"},
    {"MASTER_PORT", .value = PORT},
    {"TORCHELASTIC_USE_AGENT_STORE", .text = "True"}, /* rank 0 is a client of the store, too */
    {"TORCHELASTIC_RUN_ID", .text = "plimsoll"},
    {"TORCHELASTIC_RESTART_COUNT", .text = "0"},
    {"TORCHELASTIC_MAX_RESTARTS", .text = "0"},
    {"PLIMSOLL_WORLD", .value = WORLD},
    {"PLIMSOLL_RANK", .value = RANK},
    {"PLIMSOLL_STORE", .value = PORT},
    {"SLURM_PROCID", .value = RANK, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_NTASKS", .value = WORLD, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_NPROCS", .value = WORLD, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_LOCALID", .value = LOCAL, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_NODEID", .value = NODE, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_NNODES", .value = NODES, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_JOB_NUM_NODES", .value = NODES, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_NTASKS_PER_NODE", .value = PER_NODE, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_TASKS_PER_NODE", .value = PER_NODE_LIST, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_STEP_NUM_TASKS", .value = WORLD, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_STEP_NUM_NODES", .value = NODES, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_GPUS_ON_NODE", .value = PER_NODE, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_JOB_NODELIST", .value = NODE_LIST, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_NODELIST", .value = NODE_LIST, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_STEP_NODELIST", .value = NODE_LIST, .of = PLM_LAUNCHER_SRUN},
    {"SLURMD_NODENAME", .value = NODE_NAMED, .of = PLM_LAUNCHER_SRUN},
    {"SLURM_LAUNCH_NODE_IPADDR", .text = "127.0.0.1", .of = PLM_LAUNCHER_SRUN},
    {"SLURM_JOB_ID", .text = "1", .of = PLM_LAUNCHER_SRUN},
    {"SLURM_JOBID", .text = "1", .of = PLM_LAUNCHER_SRUN},
    {"SLURM_STEP_ID", .text = "0", .of = PLM_LAUNCHER_SRUN},
    {"SLURM_JOB_NAME", .text = "plimsoll", .of = PLM_LAUNCHER_SRUN},
    {"OMPI_COMM_WORLD_RANK", .value = RANK, .of = PLM_LAUNCHER_MPIRUN},
    {"OMPI_COMM_WORLD_SIZE", .value = WORLD, .of = PLM_LAUNCHER_MPIRUN},
    {"OMPI_COMM_WORLD_LOCAL_RANK", .value = LOCAL, .of = PLM_LAUNCHER_MPIRUN},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", .value = PER_NODE, .of = PLM_LAUNCHER_MPIRUN},
    {"OMPI_COMM_WORLD_NODE_RANK", .value = LOCAL, .of = PLM_LAUNCHER_MPIRUN},
    {"OMPI_UNIVERSE_SIZE", .value = WORLD, .of = PLM_LAUNCHER_MPIRUN},
    {"PMI_RANK", .value = RANK, .of = PLM_LAUNCHER_MPIRUN},
    {"PMI_SIZE", .value = WORLD, .of = PLM_LAUNCHER_MPIRUN},
    {"MPI_LOCALRANKID", .value = LOCAL, .of = PLM_LAUNCHER_MPIRUN},
    {"MPI_LOCALNRANKS", .value = PER_NODE, .of = PLM_LAUNCHER_MPIRUN},
};

static char *number_variable(const char *name, unsigned value)
{
    return plm_asprintf("%s=%u", name, value);
}

/* As Slurm writes them: the first node has the number 0. */
static char *nodes_variable(const char *name, const struct plm_world_rank *p)
{
    if (p->nodes == 1)
        return plm_asprintf("%s=" NODE_NAME "0", name);
    return plm_asprintf("%s=" NODE_NAME "[0-%u]", name, p->nodes - 1);
}

static char *per_node_variable(const char *name, const struct plm_world_rank *p)
{
    if (p->nodes == 1)
        return number_variable(name, p->per_node);
    return plm_asprintf("%s=%u(x%u)", name, p->per_node, p->nodes);
}

static char *variable_make(size_t i, const struct plm_world_rank *p, int port)
{
    const char *name = variables[i].name;
    switch (variables[i].value) {
    case TEXT: return plm_asprintf("%s=%s", name, variables[i].text);
    case RANK: return number_variable(name, p->number);
    case WORLD: return number_variable(name, p->world);
    case LOCAL: return number_variable(name, plm_world_rank_local(p));
    case PER_NODE: return number_variable(name, p->per_node);
    case NODE: return number_variable(name, plm_world_rank_node(p));
    case NODES: return number_variable(name, p->nodes);
    case PORT: return number_variable(name, (unsigned)port);
    case NODE_LIST: return nodes_variable(name, p);
    case PER_NODE_LIST: return per_node_variable(name, p);
    case NODE_NAMED: return plm_asprintf("%s=" NODE_NAME "%u", name, plm_world_rank_node(p));
    }
    return plm_strdup(name);
}

char **plm_world_rank_environment(const struct plm_world_rank *rank, enum plm_launcher launcher, int port)
{
    const size_t most = sizeof variables / sizeof variables[0];
    char **environment = plm_calloc(most + 1, sizeof *environment);
    size_t count = 0;
    for (size_t i = 0; i < most; i++)
        if (variables[i].of == PLM_LAUNCHER_NONE || variables[i].of == launcher)
            environment[count++] = variable_make(i, rank, port);
    return environment;
}

void plm_world_rank_environment_free(char **environment)
{
    for (size_t i = 0; environment && environment[i]; i++)
        free(environment[i]);
    free(environment);
}
