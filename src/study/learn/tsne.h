/*
 * t-SNE (van der Maaten and Hinton, 2008), exact: all pairs of rows, no approximation. What is near in many dimensions
 * lies near in two; distances between far groups mean little. It starts from `map`, so that the same start, rows and
 * settings give the same picture; the arithmetic is in single precision, so another compiler may give a slightly
 * different one.
 *
 * Memory: 4 bytes a pair; time: 1,000 rows take a quarter of what 2,000 take. One processor. Any thread; nothing
 * fails.
 */
#ifndef PLM_LEARN_TSNE_H
#define PLM_LEARN_TSNE_H

#include <stddef.h>

enum { PLM_TSNE_ROWS = 1 << 14, PLM_TSNE_ITERATIONS = 750 };

/* `x`: a row after the other, all finite, on comparable scales. `map`: two numbers a row, in: the start; out: the
   answer, around 0. `perplexity`: how many neighbours a row has, about; less where there are too few rows. */
void plm_tsne(const double *x, size_t rows, size_t features, double perplexity, int iterations, double *map);

/* The squared distance of two rows. */
double plm_tsne_distance(const double *a, const double *b, size_t features);

#endif
