#include "study/learn/ridge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"

/* ---- features ---- */

static void scales_find(const struct plm_tree_data *data, struct plm_ridge *r)
{
    for (size_t f = 0; f < data->features; f++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < data->rows; i++)
            sum += data->x[i * data->features + f];
        r->mean[f] = sum / (double)data->rows;
        for (size_t i = 0; i < data->rows; i++)
            squares += pow(data->x[i * data->features + f] - r->mean[f], 2);
        r->scale[f] = sqrt(squares / (double)data->rows);
        if (r->scale[f] <= 1e-9 * fabs(r->mean[f]))
            r->scale[f] = 0;
    }
}

static void standardize(const struct plm_ridge *r, const double *x, double *out)
{
    for (size_t f = 0; f < r->features; f++)
        out[f] = r->scale[f] > 0 ? (x[f] - r->mean[f]) / r->scale[f] : 0;
}

/* The mean square over the features that vary. */
static double distance(const struct plm_ridge *r, const double *a, const double *b)
{
    double sum = 0, varying = 0;
    for (size_t f = 0; f < r->features; f++) {
        sum += (a[f] - b[f]) * (a[f] - b[f]);
        varying += r->scale[f] > 0;
    }
    return varying > 0 ? sum / varying : 0;
}

/* ---- the system of equations ---- */

/* The inverse of a symmetric positive definite matrix in its place, by Gauss and Jordan without a choice of pivots:
   none is needed for such a matrix. */
static void invert(double *a, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double pivot = 1 / a[k * n + k];
        a[k * n + k] = 1;
        for (size_t j = 0; j < n; j++)
            a[k * n + j] *= pivot;
        for (size_t i = 0; i < n; i++) {
            const double factor = a[i * n + k];
            if (i == k)
                continue;
            a[i * n + k] = 0;
            for (size_t j = 0; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
}

/* Weights for one choice, and the squared error of the answers for each row by all others. */
static double weights_make(const struct plm_ridge *r, const double *distances, const double *y, double width,
                           double ridge, double *matrix, double *weight)
{
    const size_t n = r->rows;
    double error = 0;
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = exp(-width * distances[i]);
    for (size_t i = 0; i < n; i++)
        matrix[i * n + i] += ridge;
    invert(matrix, n);
    for (size_t i = 0; i < n; i++) {
        weight[i] = 0;
        for (size_t k = 0; k < n; k++)
            weight[i] += matrix[i * n + k] * (y[k] - r->base);
        error += pow(weight[i] / matrix[i * n + i], 2);
    }
    return error;
}

static void choose(struct plm_ridge *r, const double *distances, const double *y)
{
    static const double widths[] = {0.015, 0.06, 0.24, 0.96}, ridges[] = {0.005, 0.05, 0.3, 2};
    const size_t n = r->rows, each = sizeof ridges / sizeof ridges[0];
    double *matrix = plm_calloc(n * n, sizeof *matrix), *weight = plm_calloc(n, sizeof *weight), least = INFINITY;
    for (size_t i = 0; i < each * (sizeof widths / sizeof widths[0]); i++) {
        const double width = widths[i / each];
        const double error = weights_make(r, distances, y, width, ridges[i % each], matrix, weight);
        if (error < least) {
            least = error;
            r->width = width;
            memcpy(r->weight, weight, n * sizeof *weight);
        }
    }
    free(matrix);
    free(weight);
}

/* ---- from outside ---- */

void plm_ridge_alloc(struct plm_ridge *r, size_t rows, size_t features)
{
    *r = (struct plm_ridge){.rows = rows, .features = features};
    r->mean = plm_calloc(features, sizeof *r->mean);
    r->scale = plm_calloc(features, sizeof *r->scale);
    r->point = plm_calloc(rows * features, sizeof *r->point);
    r->weight = plm_calloc(rows, sizeof *r->weight);
}

int plm_ridge_train(const struct plm_tree_data *data, struct plm_ridge *r, struct plm_error *error)
{
    const size_t n = data->rows;
    double *distances;
    *r = (struct plm_ridge){0};
    if (n < 2 || n > PLM_RIDGE_ROWS)
        return plm_fail(error, PLM_EFORMAT, "a correction is learned from 2 to %d rows, not %zu", PLM_RIDGE_ROWS, n);
    plm_ridge_alloc(r, n, data->features);
    scales_find(data, r);
    for (size_t i = 0; i < n; i++) {
        standardize(r, data->x + i * r->features, r->point + i * r->features);
        r->base += data->y[i] / (double)n;
    }
    distances = plm_calloc(n * n, sizeof *distances);
    for (size_t i = 0; i < n * n; i++)
        distances[i] = distance(r, r->point + i / n * r->features, r->point + i % n * r->features);
    choose(r, distances, data->y);
    free(distances);
    return 0;
}

void plm_ridge_free(struct plm_ridge *r)
{
    free(r->mean);
    free(r->scale);
    free(r->point);
    free(r->weight);
    *r = (struct plm_ridge){0};
}

double plm_ridge_predict(const struct plm_ridge *r, const double *x)
{
    double *standard = plm_calloc(r->features, sizeof *standard), answer = r->base;
    standardize(r, x, standard);
    for (size_t i = 0; i < r->rows; i++)
        answer += r->weight[i] * exp(-r->width * distance(r, standard, r->point + i * r->features));
    free(standard);
    return answer;
}
