/*
 * Where the runs of a sweep are made: one small interface, of which `sweep_local.c` is the back end for this machine.
 *
 * open() gets what all runs have in common, which must outlive it; run() makes the runs of some points and returns when
 * all of them have ended, each of them told as it does; it may be called several times. close() ends what goes on, also
 * after a failure. A run that fails is a point that failed; PLM_EIO with a sentence is a back end that cannot go on. One
 * thread.
 */
#ifndef PLM_CLI_SWEEP_H
#define PLM_CLI_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "sweep/sweep.h"

struct plm_error;
struct plm_run;

struct plm_cli_sweep_work {
    struct plm_sweep *sweep;
    const struct plm_run *run; /* the options of each; its command and output are the back end's */
    struct plm_sweep_question question;
    const char *scratch; /* a temporary folder */
    int jobs;            /* at the same time */
    void (*ended)(void *context);   /* a point has; also called five times a second */
    bool (*stopped)(void *context); /* the user wants no more: run() and close() end what goes on */
    void *context;
};

struct plm_cli_sweep_engine {
    const char *name;
    int (*open)(const struct plm_cli_sweep_work *work, void **state, struct plm_error *error);
    int (*run)(void *state, const size_t *point, size_t points, struct plm_error *error);
    void (*close)(void *state);
};
extern const struct plm_cli_sweep_engine plm_cli_sweep_local;

#endif
