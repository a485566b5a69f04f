/*
 * The levels that a design crosses or draws from: for each family its models, optimizers, batch sizes, cards and
 * positions of zero_grad.
 *
 * They come from the rows of a truth file, from workloads.ini or from a file of the same form:
 *     [cnn]
 *     models = VGG16, ResNet50
 *     optimizers = SGD, Adam
 *     batches = 200..700 step 100
 *     gpus = rtx3060
 *     zero_grad = 0, 1, 2
 * plm_levels_free() gives them back. Read-only in between. Fails with a sentence.
 */
#ifndef PLM_EVALUATE_LEVELS_H
#define PLM_EVALUATE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

#include "study/evaluate/truth.h"

enum plm_level_kind {
    PLM_LEVEL_MODEL,
    PLM_LEVEL_OPTIMIZER,
    PLM_LEVEL_BATCH,
    PLM_LEVEL_GPU,
    PLM_LEVEL_ZERO_GRAD,
    PLM_LEVEL_LISTS
};

struct plm_level_item {
    char *text; /* "" for a zero_grad or an optimizer that is not told */
    size_t times; /* rows of the truth file that have it */
};

struct plm_level_list {
    struct plm_level_item *level;
    size_t count, room;
};

struct plm_levels_family {
    char name[48];
    struct plm_level_list list[PLM_LEVEL_LISTS];
};

struct plm_levels {
    struct plm_levels_family *family;
    size_t families, room;
};

/* Cards and positions with the most frequent first, batch sizes ascending, others as they come. 0, or PLM_EFORMAT for
   more than 4,096 levels. */
int plm_levels_of_truth(const struct plm_truth *truth, struct plm_levels *levels);
/* `only`: keys of other kinds are refused; else, as in workloads.ini, passed over. */
int plm_levels_read(const char *path, bool only, struct plm_levels *levels, struct plm_error *error);
void plm_levels_free(struct plm_levels *levels);

/* Is this the name of a list? */
bool plm_levels_key(const char *key);

#endif
