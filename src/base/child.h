/*
 * Child processes: one way to start a command or a function, to wait for it, and to hear what it said.
 *
 * A struct plm_child says what to start; it and what it points to stay the caller's. Each process that was started is
 * waited for by the caller, with plm_child_wait() or one of the system's. One thread: when that ends, by whatever, its
 * children get SIGTERM, so that nothing goes on unseen. What cannot be started is an errno: that of fork, of a file for
 * the output, or of exec.
 */
#ifndef PLM_BASE_CHILD_H
#define PLM_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct plm_child {
    const char *const *words;       /* the command, ended by NULL; found by PATH */
    bool self;                      /* it is this very program, whatever words[0] says */
    int (*body)(void *context);     /* instead of a command; returns the exit status */
    void (*prepare)(void *context); /* in the child, before the command; NULL: nothing */
    void *context;
    const char *log; /* standard output and error go to this file, input is empty; NULL: they are ours */
    bool errors;     /* plm_child_ask() hears standard error too, which is discarded otherwise */
};

/* Seconds of the monotonic clock, to say how long a child took. */
double plm_now(void);

/* Its pid; or -1 with the errno in *failure. */
pid_t plm_child_start(const struct plm_child *child, int *failure);

/* Waits for it; its wait status. `tick` is called ten times a second meanwhile; NULL: not at all. */
int plm_child_wait(pid_t pid, void (*tick)(void *), void *context);

/* From now on, signals that other processes send to this one reach the child that plm_child_wait() waits for. One that
   does not end within seconds of SIGTERM is killed. */
void plm_child_forward_signals(void);
/* Has one of them arrived that asks for an end? */
bool plm_child_interrupted(void);

/* Runs it to its end and keeps the start of what it writes. After so many seconds it and all in its process group are
   killed, and *failure is ETIMEDOUT. Its wait status, or -1 if it could not be started. */
int plm_child_ask(const struct plm_child *child, int seconds, char *answer, size_t size, int *failure);

/* What a command that failed said last, from its output, as plain text; what plimsoll said if that is nothing, or if
   `own` and it says more than that the command failed. Closes the file; NULL: it said nothing. */
enum { PLM_LAST_LINE = 184 };
void plm_child_last_line(FILE *output, bool own, char out[PLM_LAST_LINE]);

#endif
