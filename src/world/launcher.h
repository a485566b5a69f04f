/*
 * Launchers on a command line: torchrun, python -m torch.distributed.run and launch, srun, mpirun and mpiexec, ray job submit. What they
 * would start, and how many of it, is read from the line; the launcher itself is left out, since one rank is run here.
 * Launchers that are Python programs with configurations of their own (accelerate, deepspeed, Ray Train) are the hook's.
 *
 * Options are tables, from the manuals of these programs. An option that is in none is PLM_EINVAL with a sentence, as it is
 * not known whether a word belongs to it. Any thread; the line that is given is only read, and its words are used.
 */
#ifndef PLM_WORLD_LAUNCHER_H
#define PLM_WORLD_LAUNCHER_H

#include <stdbool.h>

#include "world/rank.h"

struct plm_error;

struct plm_launcher_line {
    enum plm_launcher launcher; /* the innermost; PLM_LAUNCHER_NONE: the line begins with none */
    char name[32];              /* as it is called there */
    char **words; /* what a rank is to run, ended by NULL; the array is freed by plm_launcher_line_free() */
    int local_rank; /* place of a word "--local-rank=" that is to be completed; 0: there is none */
    unsigned world, nodes, per_node; /* as far as the line tells; 0: it does not */
    int port; /* of the store; 0: not told */
};

int plm_launcher_read(char *const *command, struct plm_launcher_line *out, struct plm_error *error);
/* The words of a rank, completed. As long as the line. */
char *const *plm_launcher_words(struct plm_launcher_line *line, const struct plm_world_rank *rank);
void plm_launcher_line_free(struct plm_launcher_line *line);

/* How many processes a launcher's line starts on a node, each with a GPU of its own, up to `most`; 0: the line begins with no
   launcher, or does not say. The lines of accelerate and deepspeed are read for that too, accelerate's file
   of settings (the one that it names, or the one that `accelerate config` wrote), and what a line tells Lightning. */
int plm_launcher_gpus(char *const *command, int most);

/* How many nodes a list names, as Slurm writes them: "a[01-04,7],b". 0, or PLM_EINVAL with a sentence. */
int plm_launcher_nodes(const char *list, unsigned *count, struct plm_error *error);

#endif
