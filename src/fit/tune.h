/*
 * Which setting of PyTorch's allocator would reserve least for a recorded job: each candidate is replayed, on as many
 * threads as there are processors.
 *
 * plm_tune() fills a table that plm_tune_free() frees. The fit must outlive it.
 */
#ifndef PLM_TUNE_H
#define PLM_TUNE_H

#include "fit/candidates.h"
#include "fit/fit.h"

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
