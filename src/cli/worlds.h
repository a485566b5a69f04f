/*
 * `run --world 8,16,64`: the same command in worlds of several sizes, each with a record of its own, and one table of what
 * their ranks need. From the thread that runs commands.
 */
#ifndef PLM_CLI_WORLDS_H
#define PLM_CLI_WORLDS_H

#include <stdbool.h>

struct plm_run;

/* Whether several are asked for. */
bool plm_worlds_wanted(const struct plm_run *run);
/* Runs them and shows the table; an exit status. */
int plm_worlds_run(struct plm_run *run, char **command);

#endif
