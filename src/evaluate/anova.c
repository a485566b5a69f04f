#include "evaluate/anova.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "evaluate/distribution.h"

enum { CELLS_MOST = 32 << 20, NOT_SEEN = -1 };

/* The factors' columns, made orthogonal one after the other, and what they leave of the values. */
struct sweep {
    const struct plm_anova_factor *factor;
    size_t count, columns;
    double *basis, *rest; /* basis: columns * count */
};

/* ---- columns ---- */

static double product(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void take_off(double *from, const double *what, double times, size_t count)
{
    for (size_t i = 0; i < count; i++)
        from[i] -= times * what[i];
}

/* Adds the column that stands behind the basis, if the basis does not span it. Returns what it explains of the values; *added tells. Twice
   is enough to be orthogonal to rounding. */
static double add_column(struct sweep *s, bool *added)
{
    double *column = s->basis + s->columns * s->count;
    const double before = sqrt(product(column, column, s->count));
    double norm, share;
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < s->columns; i++) {
            const double *other = s->basis + i * s->count;
            take_off(column, other, product(column, other, s->count), s->count);
        }
    norm = sqrt(product(column, column, s->count));
    *added = norm > 1e-8 * before;
    if (!*added)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        column[i] /= norm;
    share = product(s->rest, column, s->count);
    take_off(s->rest, column, share, s->count);
    s->columns++;
    return share * share;
}

/* Returns what the factor explains beyond what is there; *freedom: with how many columns. */
static double add_factor(struct sweep *s, const struct plm_anova_factor *factor, size_t *freedom)
{
    double squares = 0;
    *freedom = 0;
    for (uint32_t level = 0; level < PLM_LEVELS; level++) {
        double *column = s->basis + s->columns * s->count;
        bool occurs = false, added = false;
        for (size_t i = 0; i < s->count; i++) {
            column[i] = factor->level[i] == level;
            occurs |= factor->level[i] == level;
        }
        if (occurs)
            squares += add_column(s, &added);
        *freedom += added;
    }
    return squares;
}

static void begin(struct sweep *s, const double *value)
{
    bool added;
    memcpy(s->rest, value, s->count * sizeof *value);
    s->columns = 0;
    for (size_t i = 0; i < s->count; i++)
        s->basis[i] = 1;
    add_column(s, &added);
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
static void test_effect(struct sweep *s, const double *value, struct plm_anova *a, size_t index)
{
    struct plm_effect *e = &a->effect[index];
    size_t unused;
    begin(s, value);
    for (size_t k = 0; k < a->effects; k++)
        if (k != index && a->effect[k].state == PLM_EFFECT_TESTED && !(a->effect[k].within & 1u << index))
            add_factor(s, &s->factor[k], &unused);
    e->squares = add_factor(s, &s->factor[index], &e->freedom);
}

static void residual(struct sweep *s, const double *value, struct plm_anova *a)
{
    size_t unused;
    begin(s, value);
    a->total_squares = product(s->rest, s->rest, s->count);
    a->total_freedom = s->count - 1;
    for (size_t k = 0; k < a->effects; k++)
        if (a->effect[k].state == PLM_EFFECT_TESTED)
            add_factor(s, &s->factor[k], &unused);
    a->residual_squares = product(s->rest, s->rest, s->count);
    a->residual_freedom = s->count - s->columns;
}

static void conclude(struct plm_anova *a)
{
    const double noise = 1e-20 * a->total_squares;
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

static int check(size_t count, const struct plm_anova_factor *factor, size_t factors, size_t *columns)
{
    *columns = 2;
    if (!count || factors > PLM_FACTORS)
        return PLM_EINVAL;
    for (size_t i = 0; i < factors; i++) {
        for (size_t k = 0; k < count; k++)
            if (factor[i].level[k] >= PLM_LEVELS)
                return PLM_EINVAL;
        *columns += levels_of(&factor[i], count);
    }
    if (*columns > count + 1) /* more than that cannot be independent */
        *columns = count + 1;
    return *columns > CELLS_MOST / count ? PLM_EINVAL : 0;
}

int plm_anova_make(const double *value, size_t count, const struct plm_anova_factor *factor, size_t factors,
                   struct plm_anova *a)
{
    struct sweep s = {.factor = factor, .count = count};
    size_t columns;
    int status = check(count, factor, factors, &columns);
    *a = (struct plm_anova){.effects = factors, .observations = count};
    if (status)
        return status;
    s.basis = calloc(columns, count * sizeof *s.basis);
    s.rest = calloc(count, sizeof *s.rest);
    if (s.basis && s.rest) {
        sort_out(count, factor, a);
        for (size_t i = 0; i < factors; i++)
            if (a->effect[i].state == PLM_EFFECT_TESTED)
                test_effect(&s, value, a, i);
        residual(&s, value, a);
        conclude(a);
    } else
        status = PLM_ENOMEM;
    free(s.basis);
    free(s.rest);
    return status;
}
