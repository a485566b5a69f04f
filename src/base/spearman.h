/*
 * Ranks, and how well two columns of numbers rise together (Spearman). Pure functions; any thread; nothing fails.
 */
#ifndef PLM_BASE_SPEARMAN_H
#define PLM_BASE_SPEARMAN_H

#include <stddef.h>
#include <stdint.h>

/* A value and where it stood. */
struct plm_spearman_place {
    double value;
    size_t at;
};

/* Ascending; equal values in the order of where they stood. */
void plm_spearman_sort(struct plm_spearman_place *place, size_t count);
/* All values, sorted; the caller frees it. */
struct plm_spearman_place *plm_spearman_order(const double *value, size_t count);
/* The rank of each, from 1; equal values share the mean of theirs. `times` tells how often each counts. */
void plm_spearman_ranks(const struct plm_spearman_place *place, size_t count, const uint32_t *times, double *rank);
/* The correlation of two such columns of ranks; NAN if either has one value only. */
double plm_spearman_correlation(const double *x, const double *y, const uint32_t *times, size_t count);

/* All of it, each value once. */
double plm_spearman(const double *x, const double *y, size_t count);

#endif
