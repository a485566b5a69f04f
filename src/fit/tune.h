/*
 * Which setting of PyTorch's allocator would reserve least for a recorded job: each candidate is replayed, on as many
 * threads as there are processors.
 *
 * plm_tune() fills a table that plm_tune_free() frees. The fit must outlive it.
 */
#ifndef PLM_TUNE_H
#define PLM_TUNE_H

#include "fit/fit.h"

/* candidates.c: the allocator settings that are worth trying, for a release of PyTorch. What a release would refuse is
   not among them. Plain data; any thread. */
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
const char *plm_tune_variable(enum plm_torch torch);

/* What is known to go wrong with a setting; the n-th sentence, NULL after the last. */
const char *plm_candidate_warning(const struct plm_allocator_settings *settings, size_t n);

struct plm_tune_row {
    struct plm_candidate candidate;
    struct plm_need need;
    struct plm_fit_answer answer; /* on the card, if there is one */
};

struct plm_tune {
    const struct plm_fit *fit;
    const struct plm_card *card;  /* NULL: none was named */
    uint64_t usable;
    struct plm_tune_row own;      /* the job's settings */
    struct plm_tune_row *row;     /* best first */
    size_t rows;
    const struct plm_tune_row *advice; /* NULL: none helps */
};

/* `tell` may be NULL; else it is called from one thread with how many are done. */
typedef void plm_tune_progress(size_t done, size_t all, void *context);
int plm_tune(const struct plm_fit *fit, const struct plm_card *card, const struct plm_margin *margin,
             plm_tune_progress *tell, void *context, struct plm_tune *tune, struct plm_error *error);
void plm_tune_free(struct plm_tune *tune);

#endif
