/*
 * What hook/plimsoll_calibrate_time.py measured on a real card: one JSON object in a line, first what it was measured
 * on, then a figure in each line, at last their number.
 *
 *   {"plimsoll": "times/1", "gpu": "NVIDIA GeForce RTX 3060", "sms": 28, "memory": 12622168064, ...}
 *   {"figure": "stream", "us": 1650.2, "class": "elementwise", "read": 268435456, "written": 268435456, ...}
 *   {"skipped": "attention", "why": "..."}
 *   {"end": 1}
 *
 * Owned by the caller, who ends it with plm_figures_free(), also after a failure. Read-only afterwards. Fails with a
 * sentence that names the file and the line (PLM_EFORMAT): what is no such list, what ends too early, figures that no
 * clock shows.
 */
#ifndef PLM_TIME_FIGURES_H
#define PLM_TIME_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "time/works.h"

struct plm_error;

struct plm_figure {
    char name[32];
    double us;
    bool sized;           /* `work` says of what; else it is a time of the host or of a kernel that does nothing */
    struct plm_work work;
};

struct plm_figures {
    char gpu[96], torch[32], cuda[32], driver[96];
    uint64_t sms, memory; /* of the card; 0: not told */
    struct plm_figure *item;
    size_t count, room;
};

/* `name` for its sentences. */
int plm_figures_parse(const char *name, const char *text, size_t size, struct plm_figures *figures,
                      struct plm_error *error);
void plm_figures_free(struct plm_figures *figures);

/* The next of that name, after one or (NULL) from the beginning; NULL: there is none. */
const struct plm_figure *plm_figures_find(const struct plm_figures *figures, const char *name,
                                          const struct plm_figure *after);

#endif
