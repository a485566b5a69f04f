/*
 * The allocator settings that are worth trying, for a release of PyTorch. What a release would refuse is not among
 * them. Plain data; any thread.
 */
#ifndef PLM_CANDIDATES_H
#define PLM_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "allocator/settings.h"

enum { PLM_CANDIDATES = 160, PLM_CANDIDATE_TEXT = 128 };

struct plm_candidate {
    char text[PLM_CANDIDATE_TEXT]; /* "" for the defaults */
    struct plm_allocator_settings settings;
    int keys;                      /* how many: fewer are better understood */
    bool modelled;                 /* what lies below it is a model of the driver, so it is shown, not recommended */
};

/* Fills up to PLM_CANDIDATES; returns their number. Those with a share of the card come with `shares` only. */
size_t plm_candidates(enum plm_torch torch, bool shares, struct plm_candidate *candidates);

/* The few that help most often. */
size_t plm_candidates_quick(enum plm_torch torch, struct plm_candidate *candidates);

/* The name of the environment variable. */
const char *plm_allocator_variable(enum plm_torch torch);

/* What is known to go wrong with a setting; the n-th sentence, NULL after the last. */
const char *plm_candidate_warning(const struct plm_allocator_settings *settings, size_t n);

#endif
