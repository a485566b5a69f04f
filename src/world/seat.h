/*
 * The seat of a rank in a world: which node, which GPU of it, and the environment that launchers give such a rank.
 * Plain values; any thread.
 */
#ifndef PLM_WORLD_SEAT_H
#define PLM_WORLD_SEAT_H

struct plm_error;

enum { PLM_WORLD_MOST = 1 << 20, PLM_NODE_GPUS = 8, PLM_NODE_GPUS_MOST = 64 };

struct plm_seat {
    unsigned world, nodes, per_node; /* world = nodes x per_node */
    unsigned rank;
};

/* What the user asked for; 0: nothing. PLM_EINVAL with a sentence where that does not come out even. Without nodes and GPUs
   these are nodes of PLM_NODE_GPUS GPUs, or one that is smaller. The rank stays 0. */
int plm_seat_make(struct plm_seat *out, unsigned world, unsigned nodes, unsigned per_node, struct plm_error *error);
/* "first", "last" or a number. */
int plm_seat_rank(struct plm_seat *seat, const char *word, struct plm_error *error);

static inline unsigned plm_seat_local(const struct plm_seat *p)
{
    return p->rank % p->per_node;
}
static inline unsigned plm_seat_node(const struct plm_seat *p)
{
    return p->rank / p->per_node;
}

/* Who would have started the rank: each leaves variables of its own besides those that PyTorch reads. */
enum plm_launcher {
    PLM_LAUNCHER_NONE,
    PLM_LAUNCHER_TORCHRUN,
    PLM_LAUNCHER_SRUN,
    PLM_LAUNCHER_MPIRUN,
    PLM_LAUNCHER_RAY,
};

/* "NAME=VALUE", ended by NULL, for a rank whose store has this port; freed by plm_seat_environment_free(). */
char **plm_seat_environment(const struct plm_seat *seat, enum plm_launcher launcher, int port);
void plm_seat_environment_free(char **environment);

#endif
