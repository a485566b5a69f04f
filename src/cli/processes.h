/*
 * The processes of a command, from /proc. Never fails: what cannot be read is not there. One thread.
 */
#ifndef PLM_CLI_PROCESSES_H
#define PLM_CLI_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PLM_PROCESSES = 1024 };

struct plm_processes_one {
    pid_t pid, parent;
    char state;     /* as proc(5) has it: R, S, D, ... */
    uint64_t ticks; /* of the CPU that it has used */
};

/* The command and what descends from it; how many. The list is valid until the next call. */
int plm_processes_of(pid_t command, const struct plm_processes_one **list);

#endif
