/*
 * Captures that `plimsoll estimate -- CMD` makes itself: the command is run once for each, as a child `plimsoll run` or `plimsoll trace` of this
 * very program, with its output in a file of its own.
 *
 * plm_estimate_capture() makes them in a new temporary folder, plm_estimate_forget() removes it. One at a time in a process.
 */
#ifndef PLM_CLI_ESTIMATE_H
#define PLM_CLI_ESTIMATE_H

#include "cli/cli.h"

struct plm_error;
struct plm_method;

/* estimate.c: the methods of a list "xmem,horus", or "all"; each once. Returns their number, or PLM_EINVAL with a sentence. */
enum { PLM_ESTIMATE_METHODS = 64 };
int plm_methods_choose(const char *list, const struct plm_method *chosen[PLM_ESTIMATE_METHODS],
                       struct plm_error *error);

enum { PLM_ESTIMATE_CAPTURES = 3 };
struct plm_estimate_captures {
    char folder[PLM_SCRATCH];
    char path[PLM_ESTIMATE_CAPTURES][PLM_SCRATCH + 64];
    const char *file[PLM_ESTIMATE_CAPTURES]; /* those that are there, first */
    int files;
    char why[PLM_ESTIMATE_CAPTURES][256]; /* by part, in the order of enum plm_evidence_part; "": it went well */
};

/* `needs`: enum plm_evidence_part; `gpu` to play, NULL: the usual one. 0, or a negative PLM_E code if none of the captures came about. */
int plm_estimate_capture(unsigned needs, const char *gpu, char **command, struct plm_estimate_captures *captures,
                         struct plm_error *error);
void plm_estimate_forget(struct plm_estimate_captures *captures);

#endif
