/*
 * The constants of the time model: what data sheets do not say. One file per architecture in data/timing, in which each
 * stands with its meaning; `plimsoll calibrate --time` writes one for a real card. Plain values; read-only after they
 * were read.
 */
#ifndef PLM_TIME_SPEEDS_H
#define PLM_TIME_SPEEDS_H

#include <stddef.h>
#include <stdio.h>

struct plm_card;
struct plm_error;
struct plm_install;

struct plm_speeds {
    char name[48], source[200];
#define SPEED(group, name, least, most, meaning) double name;
#include "time/speeds.def"
};

/* The same as a table, for those who go through all. */
struct plm_speed {
    const char *group, *name;
    size_t offset;
    double least, most;
    const char *meaning;
};
enum {
#define SPEED(group, name, least, most, meaning) PLM_SPEED_##name,
#include "time/speeds.def"
    PLM_SPEEDS
};
extern const struct plm_speed plm_speed[PLM_SPEEDS];
double plm_speed_get(const struct plm_speeds *speeds, const struct plm_speed *speed);
void plm_speed_set(struct plm_speeds *speeds, const struct plm_speed *speed, double value);

/* `path` NULL: the file of the card's architecture, else that of Ampere. Fails with a sentence: PLM_EIO, PLM_EFORMAT.
   */
int plm_speeds_read(const char *path, const struct plm_install *install, const struct plm_card *card,
                    struct plm_speeds *speeds, struct plm_error *error);
/* A complete file. */
void plm_speeds_write(FILE *out, const struct plm_speeds *speeds);

#endif
