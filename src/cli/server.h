/*
 * A Python that has imported PyTorch, for commands that are run several times with other environments: ranks of a world,
 * worlds of several sizes. Each run is a fork (hook/plimsoll_server), so it costs its steps and not the import.
 *
 * One thread. The processes are children of this one: it becomes the reaper of its descendants, and waits for them as for
 * what it started itself. The structure belongs to the caller.
 */
#ifndef PLM_CLI_SERVER_H
#define PLM_CLI_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct plm_cli_launch;

struct plm_server {
    pid_t pid; /* 0: it does not run */
    int fd;
};

/* False if the command is not `python ... SCRIPT ...`, or it did not start: each run is then started by itself. */
bool plm_server_start(struct plm_server *server, const struct plm_cli_launch *launch);
/* Starts the command in a fork, or the same script with other words behind it (from the script on; NULL: its own), with these variables ("NAME=VALUE", ended by NULL) besides. Its output goes to the file `log`; NULL: where
   ours does. The pid, or -1: it cannot be forked. */
pid_t plm_server_fork(const struct plm_server *server, char *const *words, const char *const *environment,
                      const char *log);
void plm_server_stop(struct plm_server *server);

/* Runs of one script after the other, with other words or none: forks, as far as they can be like a fresh start. {0} at first; `log`
   is the caller's. */
struct plm_forks {
    struct plm_server server;
    char **words; /* that it was started with, up to the script */
    const char *log; /* where the output of each goes */
    bool cold; /* there is no process to fork from */
    bool forked; /* the last run was a fork */
};
/* As plm_cli_launch_start(). */
pid_t plm_forks_start(struct plm_forks *forks, const struct plm_cli_launch *launch, int *failure);
void plm_forks_stop(struct plm_forks *forks);

/* For tests: the place of the script, or of its -m, among the words; 0: it is no such command. */
int plm_server_script(char *const *command);

#endif
