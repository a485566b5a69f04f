/*
 * Analysis of variance over several factors, main effects only, for data that is not balanced: type II sums of squares.
 *
 * Each factor is adjusted for all others, except for those that are nested in it (a model belongs to one family, so what the families
 * differ by is looked at without the models, and what the models differ by within the families). A factor that cannot be told apart
 * from others is said to be so and left out. A pure function; any thread. 0, or PLM_EINVAL if there are more factors, levels or
 * observations than it is made for.
 */
#ifndef PLM_EVALUATE_ANOVA_H
#define PLM_EVALUATE_ANOVA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLM_FACTORS = 8, PLM_LEVELS = 1024 };

struct plm_anova_factor {
    const char *name;
    const uint32_t *level; /* per observation, below PLM_LEVELS; numbers that do not occur are no levels */
};

enum plm_effect_state {
    PLM_EFFECT_TESTED,
    PLM_EFFECT_CONSTANT, /* all observations have the same level */
    PLM_EFFECT_ALIASED,  /* the same split as `alias`, or nothing that the others do not say already */
};

struct plm_effect {
    const char *name;
    enum plm_effect_state state;
    size_t levels;
    unsigned within;     /* bits of the factors that this one is nested in */
    int alias;           /* -1: the others together */
    size_t freedom;
    double squares, eta; /* eta squared: share of the sum of squares of all */
    bool known;          /* there is a residual to test against: f and p count */
    double f, p;
};

struct plm_anova {
    struct plm_effect effect[PLM_FACTORS];
    size_t effects, observations;
    size_t residual_freedom, total_freedom;
    double residual_squares, total_squares;
};

int plm_anova_make(const double *value, size_t count, const struct plm_anova_factor *factor, size_t factors,
                   struct plm_anova *anova);

#endif
