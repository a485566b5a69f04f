/*
 * `run --world 8,16,64`: the same command in worlds of several sizes, each with a record of its own, and one table of what
 * their ranks need. From the thread that runs commands.
 */
#ifndef PLM_CLI_WORLD_SIZES_H
#define PLM_CLI_WORLD_SIZES_H

#include <stdbool.h>

struct plm_run;

/* Whether several are asked for. */
bool plm_cli_world_sizes_wanted(const struct plm_run *run);
/* Runs them and shows the table; an exit status. */
int plm_cli_world_sizes_run(struct plm_run *run, char **command);

#endif
