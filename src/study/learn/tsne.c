#include "study/learn/tsne.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LANES = 8, SEARCH = 60, EARLY = 250 };
/* As its authors and scikit-learn have them: neighbours pull harder at first, so that groups form. */
static const double EXAGGERATION = 12, SLOW = 0.5, FAST = 0.8, LEAST_RATE = 50, LEAST_GAIN = 0.01;
/* Where the places behind the last row are: so far that they do not count, and their squares are no infinity. */
static const float FAR = 1e18f;

/* The same sums, in the same order, on wider registers where a processor has them. ThreadSanitizer does not survive the
   choice, which is made while the program is loaded. */
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
#define WIDE
#else
#define WIDE __attribute__((target_clones("avx2", "default")))
#endif

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

struct state {
    size_t rows, stride; /* stride: rows, rounded up to whole vectors */
    float *p; /* joint probability of each pair */
    float *at[2]; /* where rows are */
    double *pull[2], *push[2];
    double *speed, *gain, *map;
};

/* ---- neighbours ---- */

double plm_tsne_distance(const double *a, const double *b, size_t features)
{
    double sum = 0;
    for (size_t k = 0; k < features; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

struct neighbours {
    size_t rows, self;
    const double *distance; /* squared, less that of the nearest */
    double *weight;
    double sum, mean, square; /* of the weights; of distances by weight */
};

static void neighbours_weigh(struct neighbours *n, double beta)
{
    n->sum = n->mean = n->square = 0;
    for (size_t i = 0; i < n->rows; i++) {
        const double d = n->distance[i], w = i == n->self ? 0 : exp(-beta * d);
        n->weight[i] = w;
        n->sum += w;
        n->mean += w * d;
        n->square += w * d * d;
    }
    n->mean /= n->sum;
    n->square /= n->sum;
}

/* Newton's step, or the middle where that leaves what is known. */
static double beta_next(const struct neighbours *n, double beta, double entropy_off, double low, double high)
{
    const double slope = -beta * (n->square - n->mean * n->mean);
    const double next = slope < 0 ? beta - entropy_off / slope : beta;
    if (next > low && next < high && next != beta)
        return next;
    return isinf(high) ? beta * 2 : (low + high) / 2;
}

/* Weights whose entropy is that of `perplexity` equal neighbours. */
static void neighbours_choose(struct neighbours *n, double perplexity)
{
    double beta, low = 0, high = INFINITY, mean = 0;
    for (size_t i = 0; i < n->rows; i++)
        mean += i == n->self ? 0 : n->distance[i] / (double)(n->rows - 1);
    beta = mean > 0 ? 1 / mean : 1;
    for (int i = 0; i < SEARCH; i++) {
        double off;
        neighbours_weigh(n, beta);
        off = log(n->sum) + beta * n->mean - log(perplexity);
        if (fabs(off) < 1e-5 || beta > 1e100)
            return;
        if (off > 0)
            low = beta;
        else
            high = beta;
        beta = beta_next(n, beta, off, low, high);
    }
}

static void distances_make(const double *x, size_t rows, size_t features, size_t self, double *distance)
{
    double nearest = INFINITY;
    for (size_t i = 0; i < rows; i++) {
        distance[i] = plm_tsne_distance(x + self * features, x + i * features, features);
        if (i != self)
            nearest = fmin(nearest, distance[i]);
    }
    for (size_t i = 0; i < rows; i++)
        distance[i] = i == self ? 0 : distance[i] - nearest;
}

static void pairs_make(const double *x, size_t features, double perplexity, struct state *s)
{
    double *distance = plm_calloc(s->rows, sizeof *distance), *weight = plm_calloc(s->rows, sizeof *weight);
    for (size_t i = 0; i < s->rows; i++) {
        struct neighbours n = {.rows = s->rows, .self = i, .distance = distance, .weight = weight};
        distances_make(x, s->rows, features, i, distance);
        neighbours_choose(&n, perplexity);
        for (size_t k = 0; k < s->rows; k++)
            s->p[i * s->stride + k] = (float)(weight[k] / n.sum);
    }
    for (size_t i = 0; i < s->rows; i++)
        for (size_t k = 0; k < i; k++) {
            float *a = &s->p[i * s->stride + k], *b = &s->p[k * s->stride + i];
            *a = *b = (*a + *b) / (2 * (float)s->rows);
        }
    free(distance);
    free(weight);
}

/* ---- forces ---- */

static double lanes_sum(const lanes *v)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += (double)(*v)[i];
    return sum;
}

/* What pulls and pushes one row, and the sum of its closeness to the others. */
WIDE static double row_force(struct state *s, size_t row)
{
    const float x = s->at[0][row], y = s->at[1][row], *p = s->p + row * s->stride;
    lanes sum = {0}, pull_x = {0}, pull_y = {0}, push_x = {0}, push_y = {0};
    for (size_t i = 0; i < s->stride; i += LANES) {
        lanes dx, dy, q, w;
        memcpy(&dx, s->at[0] + i, sizeof dx);
        memcpy(&dy, s->at[1] + i, sizeof dy);
        memcpy(&w, p + i, sizeof w);
        dx = x - dx;
        dy = y - dy;
        q = 1 / (1 + dx * dx + dy * dy);
        sum += q;
        w *= q;
        q *= q;
        pull_x += w * dx;
        pull_y += w * dy;
        push_x += q * dx;
        push_y += q * dy;
    }
    s->pull[0][row] = lanes_sum(&pull_x);
    s->pull[1][row] = lanes_sum(&pull_y);
    s->push[0][row] = lanes_sum(&push_x);
    s->push[1][row] = lanes_sum(&push_y);
    return lanes_sum(&sum) - 1; /* itself */
}

static void rows_move(struct state *s, double all, double exaggeration, double momentum)
{
    const double rate = fmax((double)s->rows / EXAGGERATION / 4, LEAST_RATE);
    for (size_t i = 0; i < s->rows; i++)
        for (size_t k = 0; k < 2; k++) {
            double *speed = &s->speed[2 * i + k], *gain = &s->gain[2 * i + k];
            const double slope = 4 * (exaggeration * s->pull[k][i] - s->push[k][i] / all);
            *gain = fmax(LEAST_GAIN, (slope > 0) == (*speed > 0) ? *gain * 0.8 : *gain + 0.2);
            *speed = momentum * *speed - rate * *gain * slope;
            s->map[2 * i + k] += *speed;
        }
}

static void rows_place(struct state *s)
{
    double middle[2] = {0};
    for (size_t i = 0; i < 2 * s->rows; i++)
        middle[i % 2] += s->map[i] / (double)s->rows;
    for (size_t i = 0; i < 2 * s->rows; i++) {
        s->map[i] -= middle[i % 2];
        s->at[i % 2][i / 2] = (float)s->map[i];
    }
}

static void iterate(struct state *s, int iterations)
{
    for (int i = 0; i < iterations; i++) {
        const bool early = i < EARLY && i < iterations / 2;
        double all = DBL_MIN;
        rows_place(s);
        for (size_t row = 0; row < s->rows; row++)
            all += fmax(0, row_force(s, row));
        rows_move(s, all, early ? EXAGGERATION : 1, early ? SLOW : FAST);
    }
    rows_place(s);
}

/* ---- all of it ---- */

static void state_start(struct state *s, size_t rows, double *map)
{
    *s = (struct state){.rows = rows, .stride = (rows + LANES - 1) / LANES * LANES, .map = map};
    s->p = plm_calloc(rows * s->stride, sizeof *s->p);
    for (int k = 0; k < 2; k++) {
        s->at[k] = plm_calloc(s->stride, sizeof *s->at[k]);
        s->pull[k] = plm_calloc(rows, sizeof *s->pull[k]);
        s->push[k] = plm_calloc(rows, sizeof *s->push[k]);
        for (size_t i = rows; i < s->stride; i++)
            s->at[k][i] = FAR;
    }
    s->speed = plm_calloc(2 * rows, sizeof *s->speed);
    s->gain = plm_calloc(2 * rows, sizeof *s->gain);
    for (size_t i = 0; i < 2 * rows; i++)
        s->gain[i] = 1;
}

static void state_end(struct state *s)
{
    free(s->p);
    for (int k = 0; k < 2; k++) {
        free(s->at[k]);
        free(s->pull[k]);
        free(s->push[k]);
    }
    free(s->speed);
    free(s->gain);
}

void plm_tsne(const double *x, size_t rows, size_t features, double perplexity, int iterations, double *map)
{
    struct state s;
    if (rows < 3)
        return;
    state_start(&s, rows, map);
    pairs_make(x, features, fmax(1, fmin(perplexity, (double)(rows - 1) / 3)), &s);
    iterate(&s, iterations);
    state_end(&s);
}
