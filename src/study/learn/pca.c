#include "study/learn/pca.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SWEEPS = 60 }; /* ten are enough for hundreds of columns */

/* ---- columns ---- */

static void columns_measure(const double *x, size_t rows, struct plm_pca *p)
{
    for (size_t k = 0; k < p->features; k++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < rows; i++)
            sum += x[i * p->features + k];
        p->mean[k] = sum / (double)rows;
        for (size_t i = 0; i < rows; i++) {
            const double off = x[i * p->features + k] - p->mean[k];
            squares += off * off;
        }
        p->scale[k] = sqrt(squares / (double)rows);
        /* What is left of equal values after rounding is no variation. */
        if (p->scale[k] <= 1e-12 * fabs(p->mean[k]))
            p->scale[k] = 0;
    }
}

void plm_pca_standardize(const struct plm_pca *p, const double *row, double *standard)
{
    for (size_t k = 0; k < p->features; k++)
        standard[k] = p->scale[k] > 0 ? (row[k] - p->mean[k]) / p->scale[k] : 0;
}

static double *correlations_make(const double *x, size_t rows, const struct plm_pca *p)
{
    const size_t n = p->features;
    double *matrix = plm_calloc(n * n, sizeof *matrix), *row = plm_calloc(n, sizeof *row);
    for (size_t i = 0; i < rows; i++) {
        plm_pca_standardize(p, x + i * n, row);
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b <= a; b++)
                matrix[a * n + b] += row[a] * row[b] / (double)rows;
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++)
            matrix[b * n + a] = matrix[a * n + b];
    free(row);
    return matrix;
}

/* ---- eigenvectors ---- */

/* Columns (or, with `step` and `across` exchanged, rows) a and b of a square matrix, turned. */
static void turn(double *m, size_t n, size_t a, size_t b, size_t step, size_t across, double c, double s)
{
    for (size_t i = 0; i < n; i++) {
        double *x = &m[i * step + a * across], *y = &m[i * step + b * across];
        const double old = *x;
        *x = c * old - s * *y;
        *y = s * old + c * *y;
    }
}

/* One rotation, after which m[a][b] is 0. */
static void rotate(double *m, double *vectors, size_t n, size_t a, size_t b)
{
    const double theta = (m[b * n + b] - m[a * n + a]) / (2 * m[a * n + b]);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    turn(m, n, a, b, n, 1, c, s);
    turn(m, n, a, b, 1, n, c, s);
    turn(vectors, n, a, b, 1, n, c, s);
    m[a * n + b] = m[b * n + a] = 0;
}

/* The diagonal of `m` becomes the eigenvalues, the rows of `vectors` their vectors. */
static void diagonalize(double *m, double *vectors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vectors[i * n + i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double most = 0;
        for (size_t a = 0; a < n; a++)
            for (size_t b = a + 1; b < n; b++) {
                most = fmax(most, fabs(m[a * n + b]));
                if (fabs(m[a * n + b]) > 1e-15)
                    rotate(m, vectors, n, a, b);
            }
        if (most < 1e-13)
            return;
    }
}

/* ---- all of it ---- */

static void direct(double *weight, size_t n)
{
    size_t largest = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(weight[i]) > fabs(weight[largest]) + 1e-9)
            largest = i;
    for (size_t i = 0; i < n && weight[largest] < 0; i++)
        if (i != largest)
            weight[i] = -weight[i];
    weight[largest] = fabs(weight[largest]);
}

/* The component with the largest eigenvalue that is left, taken out of the diagonal. */
static size_t largest_take(double *m, size_t n, double *value)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (m[i * n + i] > m[best * n + best])
            best = i;
    *value = fmax(0, m[best * n + best]);
    m[best * n + best] = -INFINITY;
    return best;
}

void plm_pca_make(const double *x, size_t rows, size_t features, struct plm_pca *p)
{
    const size_t n = features;
    double *matrix, *vectors = plm_calloc(n * n, sizeof *vectors), all = 0;
    *p = (struct plm_pca){.features = n,
                          .mean = plm_calloc(n, sizeof(double)),
                          .scale = plm_calloc(n, sizeof(double)),
                          .share = plm_calloc(n, sizeof(double)),
                          .weight = plm_calloc(n * n, sizeof(double))};
    columns_measure(x, rows, p);
    matrix = correlations_make(x, rows, p);
    diagonalize(matrix, vectors, n);
    for (size_t i = 0; i < n; i++) {
        memcpy(p->weight + i * n, vectors + largest_take(matrix, n, &p->share[i]) * n, n * sizeof(double));
        direct(p->weight + i * n, n);
        all += p->share[i];
    }
    for (size_t i = 0; i < n && all > 0; i++)
        p->share[i] /= all;
    free(matrix);
    free(vectors);
}

double plm_pca_project(const struct plm_pca *p, const double *standard, size_t component)
{
    double sum = 0;
    for (size_t k = 0; k < p->features; k++)
        sum += standard[k] * p->weight[component * p->features + k];
    return sum;
}

void plm_pca_free(struct plm_pca *p)
{
    free(p->mean);
    free(p->scale);
    free(p->share);
    free(p->weight);
    *p = (struct plm_pca){0};
}
