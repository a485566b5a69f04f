/*
 * Whether a job fits on each of some cards, in the order of their memory: by replay where that is quick and the record
 * allows it, else by the ladder; then `minimum` is 0. The caller frees it; the cards must outlive it.
 */
#ifndef PLM_FIT_FITS_H
#define PLM_FIT_FITS_H

#include "fit/fit.h"

struct plm_fits {
    struct plm_fit_row *row;
    size_t rows;
    uint64_t need, minimum;
};
struct plm_fits plm_fits_make(const struct plm_job *job, const struct plm_card *cards, size_t count);
void plm_fits_free(struct plm_fits *fits);

#endif
