/* The published floor for step times: three constants for multiplications, activations and a start. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "study/evaluate/time_judge.h"

enum { ROWS_LEAST = 10, ROUNDS = 60, TERMS = 3 };

static bool has_terms(const struct plm_timed_row *row)
{
    return row->gmacs > 0 && row->macts > 0 && row->batch && (row->known >> PLM_FIGURE_STEP & 1);
}

static void terms_of(const struct plm_timed_row *row, double x[TERMS])
{
    x[0] = row->gmacs * (double)row->batch;
    x[1] = row->macts * (double)row->batch;
    x[2] = 1;
}

/* Gauss, with the largest pivot; false: the equations do not determine the constants. */
static bool solve(double a[TERMS][TERMS + 1], double x[TERMS])
{
    for (int i = 0; i < TERMS; i++) {
        int best = i;
        for (int k = i + 1; k < TERMS; k++)
            best = fabs(a[k][i]) > fabs(a[best][i]) ? k : best;
        if (!(fabs(a[best][i]) > 0))
            return false;
        for (int k = 0; k <= TERMS; k++) {
            const double kept = a[i][k];
            a[i][k] = a[best][k];
            a[best][k] = kept;
        }
        for (int k = 0; k < TERMS; k++)
            for (int n = TERMS; k != i && n >= i; n--)
                a[k][n] -= a[k][i] / a[i][i] * a[i][n];
    }
    for (int i = 0; i < TERMS; i++)
        x[i] = a[i][TERMS] / a[i][i];
    return true;
}

/* Weighted least squares, with weights that make the sum one of relative errors, not of their squares (Weiszfeld). */
static bool round_fit(const struct plm_timed_row *const *row, const double *weight, size_t rows, double c[TERMS])
{
    double a[TERMS][TERMS + 1] = {{0}}, x[TERMS];
    for (size_t i = 0; i < rows; i++) {
        terms_of(row[i], x);
        for (int k = 0; k < TERMS; k++) {
            for (int n = 0; n < TERMS; n++)
                a[k][n] += weight[i] * x[k] * x[n];
            a[k][TERMS] += weight[i] * x[k] * row[i]->figure[PLM_FIGURE_STEP];
        }
    }
    return solve(a, c);
}

static double value_at(const double c[TERMS], const struct plm_timed_row *row)
{
    double x[TERMS];
    terms_of(row, x);
    return c[0] * x[0] + c[1] * x[1] + c[2] * x[2];
}

void plm_timed_floor_fit(const struct plm_timed_bench *bench, const size_t *run, size_t runs,
                         struct plm_timed_floor *floor)
{
    const struct plm_timed_row **row = plm_calloc(runs, sizeof(const struct plm_timed_row *));
    double *weight = plm_calloc(runs, sizeof *weight), c[TERMS] = {0};
    size_t rows = 0;
    for (size_t i = 0; i < runs; i++)
        if (has_terms(bench->run[run[i]].row)) {
            const double t = bench->run[run[i]].row->figure[PLM_FIGURE_STEP];
            weight[rows] = 1 / (t * t);
            row[rows++] = bench->run[run[i]].row;
        }
    *floor = (struct plm_timed_floor){.known = rows >= ROWS_LEAST, .rows = rows};
    for (int i = 0; i < ROUNDS && floor->known; i++) {
        floor->known = round_fit(row, weight, rows, c);
        for (size_t k = 0; k < rows; k++) {
            const double t = row[k]->figure[PLM_FIGURE_STEP];
            weight[k] = 1 / (t * t) / fmax(fabs(value_at(c, row[k]) - t) / t, 1e-4);
        }
    }
    floor->a = c[0];
    floor->b = c[1];
    floor->c = c[2];
    free(row);
    free(weight);
}

double plm_timed_floor_ask(const struct plm_timed_floor *floor, const struct plm_timed_row *row)
{
    return floor->known && has_terms(row) ? value_at((const double[TERMS]){floor->a, floor->b, floor->c}, row) : NAN;
}
