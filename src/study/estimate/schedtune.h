/*
 * SchedTune: what a training takes on a card, learned from runs of other networks on other cards.
 *
 * A random forest over six numbers of the job and the card. plm_schedtune_train() makes it from a table of runs
 * (docs/forest.md has the columns); the forest belongs to the caller. Any thread. Fails with one sentence that names
 * the file, and the line where there is one.
 */
#ifndef PLM_ESTIMATE_SCHEDTUNE_H
#define PLM_ESTIMATE_SCHEDTUNE_H

#include <stdbool.h>

struct plm_error;
struct plm_forest;
struct plm_forest_settings;

/* Features of the forest, in its order. Amounts are MiB, as in the published table. */
enum plm_schedtune_feature {
    PLM_SCHEDTUNE_ACTIVATIONS, /* bytes of all layers' outputs in one forward pass */
    PLM_SCHEDTUNE_PARAMETERS,
    PLM_SCHEDTUNE_INPUT,
    PLM_SCHEDTUNE_BANDWIDTH,   /* GB/s */
    PLM_SCHEDTUNE_CORES,       /* CUDA cores */
    PLM_SCHEDTUNE_SMS,
    PLM_SCHEDTUNE_FEATURES
};
#define PLM_SCHEDTUNE_METHOD "schedtune"

int plm_schedtune_train(const char *path, const struct plm_forest_settings *settings, struct plm_forest *forest,
                        struct plm_error *error);
/* Has a forest that was read from a file these features? PLM_EFORMAT with a sentence if not. */
int plm_schedtune_check(const char *path, const struct plm_forest *forest, struct plm_error *error);

#endif
