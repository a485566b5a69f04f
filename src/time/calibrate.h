/*
 * Constants of the time model from figures that were measured on a card (figures.h): each is set so that the model
 * gives the figure that it was measured by. Those that no figure tells stay as they were. docs/measure.md has the
 * table.
 *
 * Pure; any thread. Fails with one sentence: PLM_EFORMAT if the figures lack one that all others are measured by, or
 * if such a one asks for a constant beyond its limits; PLM_ENOTFOUND if the catalogue lacks what the model needs of
 * the card.
 */
#ifndef PLM_TIME_CALIBRATE_H
#define PLM_TIME_CALIBRATE_H

#include <stdio.h>

#include "time/speeds.h"

struct plm_card;
struct plm_error;
struct plm_figures;

enum plm_calibrated {
    PLM_CALIBRATED_KEPT,     /* nothing tells it here */
    PLM_CALIBRATED_MEASURED,
    PLM_CALIBRATED_BEYOND,   /* what was measured asks for more or less than its limits: kept */
};

struct plm_calibration {
    struct plm_speeds speeds;
    char kept[48];                       /* the name of the constants that were there before */
    enum plm_calibrated how[PLM_SPEEDS];
    int measured;                        /* how many are */
    /* How far the model is from the figures, with these constants: half of them are nearer than `median`. */
    double median, worst;
    char worst_name[32];
};

int plm_calibrate(const struct plm_figures *figures, const struct plm_card *card, const struct plm_speeds *kept,
                  struct plm_calibration *calibration, struct plm_error *error);

/* A complete file; each constant says whether it was measured. */
void plm_calibration_write(FILE *out, const struct plm_calibration *calibration);

#endif
