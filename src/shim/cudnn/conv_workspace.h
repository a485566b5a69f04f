/*
 * The workspaces that cuDNN's heuristics offer for a convolution: the row of the stack file in use if it has one, else
 * a formula, which is approximate. docs/workspaces.md has both. No state but what is read once; any thread, never fails,
 * takes no memory.
 */
#ifndef PLM_CONV_WORKSPACE_H
#define PLM_CONV_WORKSPACE_H

#include "record/format.h"
#include "stack/stack_file.h"

struct plm_card;

struct plm_dnn_conv_answer {
    enum plm_conv_source source;
    int plans, fastest;              /* fastest: -1 if all are alike */
    uint64_t plan[PLM_STACK_PLANS];  /* workspace of each, best first; at least one */
    uint64_t most;                   /* what the best one may be in truth, the least being 0; 0: it is exact */
};

/* PLIMSOLL_CONV_WORKSPACE, read once: auto (the default), model (the formula alone) or none (no workspace at all). */
void plm_dnn_conv_answer(const struct plm_conv_shape *shape, struct plm_dnn_conv_answer *answer);

/* The formula alone: the best plan on a card, and the most that is seen for such a convolution. The least is 0. */
void plm_dnn_conv_model(const struct plm_conv_shape *shape, const struct plm_card *card, uint64_t *bytes,
                        uint64_t *most);

#endif
