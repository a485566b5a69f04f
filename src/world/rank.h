/*
 * A rank of a world: its number, its node, its GPU there, and the environment that launchers give such a rank.
 * Plain values; any thread.
 */
#ifndef PLM_WORLD_RANK_H
#define PLM_WORLD_RANK_H

struct plm_error;

enum { PLM_WORLD_MOST = 1 << 20, PLM_NODE_GPUS = 8, PLM_NODE_GPUS_MOST = 64 };

struct plm_world_rank {
    unsigned world, nodes, per_node; /* world = nodes x per_node */
    unsigned number; /* from 0 */
};

/* What the user asked for; 0: nothing. PLM_EINVAL with a sentence where that does not come out even. Without nodes and
   GPUs these are nodes of PLM_NODE_GPUS GPUs, or one that is smaller. The number stays 0. */
int plm_world_rank_make(struct plm_world_rank *out, unsigned world, unsigned nodes, unsigned per_node,
                        struct plm_error *error);
/* "first", "last" or a number. */
int plm_world_rank_choose(struct plm_world_rank *rank, const char *word, struct plm_error *error);

static inline unsigned plm_world_rank_local(const struct plm_world_rank *p)
{
    return p->number % p->per_node;
}
static inline unsigned plm_world_rank_node(const struct plm_world_rank *p)
{
    return p->number / p->per_node;
}

/* Who would have started the rank: each leaves variables of its own besides those that PyTorch reads. */
enum plm_launcher {
    PLM_LAUNCHER_NONE,
    PLM_LAUNCHER_TORCHRUN,
    PLM_LAUNCHER_SRUN,
    PLM_LAUNCHER_MPIRUN,
    PLM_LAUNCHER_RAY,
};

/* "NAME=VALUE", ended by NULL, for a rank whose store has this port; freed by plm_world_rank_environment_free(). */
char **plm_world_rank_environment(const struct plm_world_rank *rank, enum plm_launcher launcher, int port);
void plm_world_rank_environment_free(char **environment);

#endif
