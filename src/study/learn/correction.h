/*
 * What a white box leaves over, learned: boosted trees (study/estimate/boosted.h) that say by how much a figure of its
 * forecast will be off, from numbers of that forecast and of the job. `plimsoll evaluate` corrects forecasts of time
 * with it, plimsoll-learned those of memory and utilization.
 *
 * The trees belong to the caller, as plm_boosted_train() makes them. Pure; any thread. Fails with a sentence.
 */
#ifndef PLM_LEARN_CORRECTION_H
#define PLM_LEARN_CORRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/estimate/boosted.h"

/* Small trees and many small steps: what is left over is little. */
#define PLM_CORRECTION_SETTINGS \
    ((struct plm_boosted_settings){.trees = 400, .depth = 4, .least = 5, .rate = 0.05, .share = 0.7})

/* How a figure is moved. */
enum plm_correction_way {
    PLM_CORRECT_BY_SUM,   /* what is learned is added */
    PLM_CORRECT_BY_FACTOR /* its exponential is multiplied with: of figures above 0 that span orders of magnitude */
};
double plm_correction_target(enum plm_correction_way way, double forecast, double measured);
double plm_correction_apply(enum plm_correction_way way, double forecast, double learned);

/* What is kept in a file beside the trees, and found again when it is read. */
struct plm_correction_frame {
    const char *target;
    size_t features;
    const char *(*name)(size_t feature); /* shorter than PLM_TREE_NAME */
};
/* From targets that plm_correction_target() made. */
int plm_correction_learn(const struct plm_correction_frame *frame, const struct plm_tree_data *data,
                         const struct plm_boosted_settings *settings, struct plm_boosted *trees,
                         struct plm_error *error);
/* Trees of something else, or of other features, would give numbers that mean nothing. */
bool plm_correction_fits(const struct plm_correction_frame *frame, const struct plm_boosted *trees);

#endif
