/*
 * Analysis of variance over several factors, main effects only, for data that is not balanced: type II sums of squares.
 *
 * Each factor is adjusted for all others, except for those that are nested in it (a model belongs to one family, so
 * what the families differ by is looked at without the models, and what the models differ by within the families). A
 * factor that cannot be told apart from others is said to be so and left out. A pure function; any thread. 0, or
 * PLM_EINVAL if there are more factors, levels or observations than it is made for.
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
    size_t residual_freedom;
    double residual_squares, total_squares;
};

int plm_anova_make(const double *value, size_t count, const struct plm_anova_factor *factor, size_t factors,
                   struct plm_anova *anova);

/*
 * The upper tail of the F distribution. It comes from the regularised incomplete beta function by its continued
 * fraction. Relative accuracy is 1e-10 or better for degrees of freedom up to 10,000 and results above 1e-300.
 */
/* I_x(a, b) for a, b > 0 and 0 <= x <= 1, with y = 1 - x from the caller, who knows it without cancellation. NAN
   outside. */
double plm_beta(double a, double b, double x, double y);

/* The chance of a value above f, with that many degrees of freedom in numerator and denominator. NAN outside of its
   range. */
double plm_f_upper(double f, double numerator, double denominator);

#endif
