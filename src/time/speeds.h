/*
 * The constants of the time model: what data sheets do not say. One file per architecture in data/timing, in which each stands with
 * its meaning; `plimsoll calibrate --time` writes one for a real card. Plain values; read-only after they were read.
 */
#ifndef PLM_TIME_SPEEDS_H
#define PLM_TIME_SPEEDS_H

#include <stdbool.h>

struct plm_card;
struct plm_error;
struct plm_install;

struct plm_speeds {
    char name[48], source[200];
#define SPEED(group, name, least, most, meaning) double name;
#include "time/speeds.def"
};

/* `path` NULL: the file of the card's architecture, else that of the nearest one. */
int plm_speeds_read(const char *path, const struct plm_install *install, const struct plm_card *card, struct plm_speeds *speeds,
                    struct plm_error *error);

#endif
