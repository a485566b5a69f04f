#include "study/evaluate/anova.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"

/* ---- the F distribution ---- */

enum { TERMS_MOST = 20000 };

/* Lentz's method would divide by zero. */
static double away_from_zero(double x)
{
    static const double tiny = 1e-300;
    return fabs(x) < tiny ? tiny : x;
}

/* The continued fraction of the incomplete beta function, which converges fast for x below (a + 1) / (a + b + 2). */
static double fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (int i = 1; i < TERMS_MOST; i++) {
        const double m = i;
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= c * d;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        step = c * d;
        value *= step;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return value;
}

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double plm_beta(double a, double b, double x, double y)
{
    double front;
    if (!(a > 0 && b > 0 && x >= 0 && y >= 0 && x <= 1 && y <= 1))
        return NAN;
    if (x == 0 || y == 0)
        return x == 0 ? 0 : 1;
    front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * fraction(a, b, x) / a;
    return 1 - front * fraction(b, a, y) / b;
}

double plm_f_upper(double f, double numerator, double denominator)
{
    double sum;
    if (!(f >= 0 && numerator > 0 && denominator > 0))
        return NAN;
    if (isinf(f))
        return 0;
    sum = denominator + numerator * f;
    return plm_beta(denominator / 2, numerator / 2, denominator / sum, numerator * f / sum);
}

/* ---- the analysis ---- */

enum { COLUMNS_MOST = 512, NOT_SEEN = -1, NO_COLUMN = -1 };

/*
 * The products of all columns with one another and with the values: column 0 is the mean, then come those of each
 * factor, a column for each level that occurs, last the values themselves. Taking a column off all others leaves the
 * products of what is left of them, so that sums of squares need no pass over the observations.
 */
struct sweep {
    size_t columns;                    /* without that of the values */
    size_t first[PLM_FACTORS + 1];     /* of each factor */
    int column[PLM_FACTORS][PLM_LEVELS];
    double *product, *left;            /* (columns + 1) squared each */
    bool *taken;
    size_t rank;
};

/* ---- columns ---- */

/* Takes a column off all that are not taken yet, if those before it do not span it. Returns what it explains of the
   values. */
static double take_off(struct sweep *s, size_t c, size_t *added)
{
    const size_t n = s->columns + 1;
    const double *row = s->left + c * n;
    const double pivot = row[c], share = row[s->columns];
    if (!(pivot > 1e-10 * s->product[c * n + c]))
        return 0;
    s->taken[c] = true;
    for (size_t i = 0; i < n; i++) {
        double *other = s->left + i * n;
        const double times = other[c] / pivot;
        if (s->taken[i] || times == 0)
            continue;
        for (size_t k = 0; k < n; k++)
            other[k] -= times * row[k];
    }
    s->rank++;
    ++*added;
    return share * share / pivot;
}

static double add_factor(struct sweep *s, size_t factor, size_t *added)
{
    double squares = 0;
    *added = 0;
    for (size_t c = s->first[factor]; c < s->first[factor + 1]; c++)
        squares += take_off(s, c, added);
    return squares;
}

static void sweep_begin(struct sweep *s)
{
    const size_t n = s->columns + 1;
    size_t added = 0;
    memcpy(s->left, s->product, n * n * sizeof *s->left);
    memset(s->taken, 0, n * sizeof *s->taken);
    s->rank = 0;
    take_off(s, 0, &added);
}

static double left_of_values(const struct sweep *s)
{
    const double left = s->left[(s->columns + 1) * (s->columns + 1) - 1];
    return left > 0 ? left : 0; /* rounding */
}

/* Gives each level that occurs a column. */
static void number_columns(struct sweep *s, size_t count, const struct plm_anova_factor *factor, size_t factors)
{
    s->columns = 1;
    for (size_t f = 0; f < factors; f++) {
        s->first[f] = s->columns;
        for (size_t k = 0; k < PLM_LEVELS; k++)
            s->column[f][k] = NO_COLUMN;
        for (size_t i = 0; i < count; i++) {
            int *column = &s->column[f][factor[f].level[i]];
            if (*column == NO_COLUMN)
                *column = (int)s->columns++;
        }
    }
    s->first[factors] = s->columns;
}

/* The mean is taken off the values first, so that little is lost to rounding. */
static void sweep_multiply(struct sweep *s, const double *value, size_t count, const struct plm_anova_factor *factor,
                           size_t factors)
{
    const size_t n = s->columns + 1;
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += value[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        size_t at[PLM_FACTORS + 2] = {0};
        double weight[PLM_FACTORS + 2] = {1};
        for (size_t f = 0; f < factors; f++) {
            at[f + 1] = (size_t)s->column[f][factor[f].level[i]];
            weight[f + 1] = 1;
        }
        at[factors + 1] = s->columns;
        weight[factors + 1] = value[i] - mean;
        for (size_t a = 0; a < factors + 2; a++)
            for (size_t b = 0; b < factors + 2; b++)
                s->product[at[a] * n + at[b]] += weight[a] * weight[b];
    }
}

/* ---- which factors there are ---- */

static size_t levels_of(const struct plm_anova_factor *factor, size_t count)
{
    bool seen[PLM_LEVELS] = {false};
    size_t levels = 0;
    for (size_t i = 0; i < count; i++) {
        levels += !seen[factor->level[i]];
        seen[factor->level[i]] = true;
    }
    return levels;
}

/* Does the level of `inner` tell that of `outer`? */
static bool tells(const struct plm_anova_factor *inner, const struct plm_anova_factor *outer, size_t count)
{
    int outer_of[PLM_LEVELS];
    for (size_t i = 0; i < PLM_LEVELS; i++)
        outer_of[i] = NOT_SEEN;
    for (size_t i = 0; i < count; i++) {
        int *known = &outer_of[inner->level[i]];
        if (*known != NOT_SEEN && *known != (int)outer->level[i])
            return false;
        *known = (int)outer->level[i];
    }
    return true;
}

static void sort_out(size_t count, const struct plm_anova_factor *factor, struct plm_anova *a)
{
    for (size_t i = 0; i < a->effects; i++) {
        struct plm_effect *e = &a->effect[i];
        *e = (struct plm_effect){.name = factor[i].name, .alias = -1, .levels = levels_of(&factor[i], count)};
        e->state = e->levels < 2 ? PLM_EFFECT_CONSTANT : PLM_EFFECT_TESTED;
        for (size_t k = 0; k < i && e->state == PLM_EFFECT_TESTED; k++)
            if (a->effect[k].state == PLM_EFFECT_TESTED && tells(&factor[i], &factor[k], count) &&
                tells(&factor[k], &factor[i], count)) {
                e->state = PLM_EFFECT_ALIASED;
                e->alias = (int)k;
            }
    }
    for (size_t i = 0; i < a->effects; i++)
        for (size_t k = 0; k < a->effects; k++)
            if (i != k && a->effect[i].state == PLM_EFFECT_TESTED && a->effect[k].state == PLM_EFFECT_TESTED &&
                tells(&factor[i], &factor[k], count))
                a->effect[i].within |= 1u << k;
}

/* ---- the sums ---- */

/* With all that is not nested in it in first; those that are cannot be told apart from it. */
static void test_effect(struct sweep *s, struct plm_anova *a, size_t index)
{
    struct plm_effect *e = &a->effect[index];
    size_t unused;
    sweep_begin(s);
    for (size_t k = 0; k < a->effects; k++)
        if (k != index && a->effect[k].state == PLM_EFFECT_TESTED && !(a->effect[k].within & 1u << index))
            add_factor(s, k, &unused);
    e->squares = add_factor(s, index, &e->freedom);
}

static void anova_residual(struct sweep *s, struct plm_anova *a)
{
    size_t unused;
    sweep_begin(s);
    a->total_squares = left_of_values(s);
    for (size_t k = 0; k < a->effects; k++)
        if (a->effect[k].state == PLM_EFFECT_TESTED)
            add_factor(s, k, &unused);
    a->residual_squares = left_of_values(s);
    a->residual_freedom = a->observations - s->rank;
}

static void anova_conclude(struct plm_anova *a)
{
    const double noise = 1e-13 * a->total_squares; /* what is left of nothing by rounding */
    for (size_t i = 0; i < a->effects; i++) {
        struct plm_effect *e = &a->effect[i];
        if (e->state != PLM_EFFECT_TESTED)
            continue;
        if (!e->freedom) {
            e->state = PLM_EFFECT_ALIASED;
            continue;
        }
        e->eta = a->total_squares > 0 ? e->squares / a->total_squares : 0;
        e->known = a->residual_freedom > 0 && a->residual_squares > noise;
        if (!e->known)
            continue;
        e->f = e->squares / (double)e->freedom / (a->residual_squares / (double)a->residual_freedom);
        e->p = plm_f_upper(e->f, (double)e->freedom, (double)a->residual_freedom);
    }
}

static bool is_possible(size_t count, const struct plm_anova_factor *factor, size_t factors)
{
    size_t columns = 1;
    if (!count || factors > PLM_FACTORS)
        return false;
    for (size_t i = 0; i < factors; i++) {
        for (size_t k = 0; k < count; k++)
            if (factor[i].level[k] >= PLM_LEVELS)
                return false;
        columns += levels_of(&factor[i], count);
    }
    return columns <= COLUMNS_MOST;
}

int plm_anova_make(const double *value, size_t count, const struct plm_anova_factor *factor, size_t factors,
                   struct plm_anova *a)
{
    struct sweep *s;
    size_t n;
    *a = (struct plm_anova){.effects = factors, .observations = count};
    if (!is_possible(count, factor, factors))
        return PLM_EINVAL;
    s = plm_calloc(1, sizeof *s);
    number_columns(s, count, factor, factors);
    n = s->columns + 1;
    s->product = plm_calloc(n * n, sizeof *s->product);
    s->left = plm_calloc(n * n, sizeof *s->left);
    s->taken = plm_calloc(n, sizeof *s->taken);
    sweep_multiply(s, value, count, factor, factors);
    sort_out(count, factor, a);
    for (size_t i = 0; i < factors; i++)
        if (a->effect[i].state == PLM_EFFECT_TESTED)
            test_effect(s, a, i);
    anova_residual(s, a);
    anova_conclude(a);
    free(s->product);
    free(s->left);
    free(s->taken);
    free(s);
    return 0;
}
