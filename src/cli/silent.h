/*
 * A job that makes no optimizer step for long: one line on stderr, once, that says what it does instead and what to do
 * about it. What it does follows from what its processes show in the record and from /proc.
 *
 * The caller owns the struct and calls from one thread. Never fails: what cannot be read is not told.
 */
#ifndef PLM_CLI_SILENT_H
#define PLM_CLI_SILENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct plm_record_header;

/* So many calls of a model without a backward pass are no part of a step. */
enum { PLM_SILENT_EVALUATES = 10 };

struct plm_silent {
    const struct plm_record_header *header;
    pid_t command;
    double since, sampled; /* by the monotonic clock; 0: not yet */
    uint64_t ticks, launches; /* when it was sampled */
    bool imported, told;
};

/* To be called now and then while the command runs. */
void plm_silent_look(struct plm_silent *silent);

/* What a process does just now, by /proc: "sleeps", "runs", ... */
void plm_silent_describe(pid_t pid, char *out, size_t size);

#endif
