/*
 * A job of several processes of which one was ended after its steps, while another waits for it and always will: a parent for
 * a message of its child, say. It is told from one that works by doing nothing for a while, all of it, and is ended then.
 *
 * The caller owns the struct and calls from one thread. Never fails: what cannot be read is not seen to wait.
 */
#ifndef PLM_CLI_WAITING_H
#define PLM_CLI_WAITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct plm_record_header;

struct plm_waiting {
    const struct plm_record_header *header;
    pid_t command;
    double looked, idle_since; /* by the monotonic clock; 0: never */
    uint64_t ticks;            /* of the CPU that the job had used when it fell idle */
    bool ended;                /* it was told to end */
};

/* To be called now and then while the command runs. */
void plm_waiting_look(struct plm_waiting *waiting);

#endif
