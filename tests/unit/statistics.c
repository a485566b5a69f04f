/* The F distribution against tables and identities, analysis of variance against worked examples, bootstrap intervals, random numbers. */
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "study/evaluate/anova.h"
#include "study/evaluate/metrics.h"
#include "study/evaluate/random.h"
#include "unit.h"

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

/* ---- F ---- */

/* Computed with 40 digits. The first three are the 5 % and 1 % points of printed tables. */
static void test_f_values(void **state)
{
    static const struct {
        double f, numerator, denominator, upper;
    } values[] = {
        {161.4476, 1, 1, 0.0500000059830920648},  {4.102821, 2, 10, 0.0500000004155415495},
        {4.938193, 3, 20, 0.0100000031127683202}, {0.5, 7, 3, 0.797306357513349078},
        {25, 12, 140, 4.0462397767634047e-29},    {1.02, 300, 5000, 0.397025608074270745},
        {60, 5, 1000, 1.00893441386285629e-54},   {3.5, 19, 151, 7.76632792640563908e-6},
        {0.01, 4, 9, 0.999760205114412073},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(values); i++)
        near(plm_f_upper(values[i].f, values[i].numerator, values[i].denominator), values[i].upper, 1e-10);
    near(plm_f_upper(0, 3, 4), 1, 0);
    near(plm_f_upper(INFINITY, 3, 4), 0, 0);
    assert_true(isnan(plm_f_upper(-1, 3, 4)));
    assert_true(isnan(plm_f_upper(1, 0, 4)));
    assert_true(isnan(plm_f_upper(NAN, 1, 4)));
    assert_true(isnan(plm_beta(1, 1, 1.5, -0.5)));
}

/* With two degrees of freedom on one side there is a closed form; and the sides may be exchanged. */
static void test_f_identities(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 14; k++) {
            const double n = floor(pow(1.75, i)), f = 0.01 * pow(1.9, k);
            near(plm_f_upper(f, 2, n), pow(1 + 2 * f / n, -n / 2), 1e-10);
            near(plm_f_upper(f, n, 2), -expm1(n / 2 * log1p(-2 / (n * f + 2))), 1e-10);
            near(plm_f_upper(f, n, 7) + plm_f_upper(1 / f, 7, n), 1, 1e-12);
        }
    near(plm_beta(3, 1, 0.2, 0.8), 0.008, 1e-12); /* x to the power of a */
    near(plm_beta(0.5, 0.5, 0.5, 0.5), 0.5, 1e-12);
}

/* ---- analysis of variance ---- */

/* One way, balanced: three groups of six; 84 between and 68 within, F 9.26. */
static void test_one_way(void **state)
{
    static const double value[] = {6, 8, 4, 5, 3, 4, 8, 12, 9, 11, 6, 8, 13, 9, 11, 8, 7, 12};
    uint32_t group[COUNT(value)];
    const struct plm_anova_factor factor = {"group", group};
    struct plm_anova a;
    (void)state;
    for (uint32_t i = 0; i < COUNT(value); i++)
        group[i] = i / 6;
    assert_int_equal(plm_anova_make(value, COUNT(value), &factor, 1, &a), 0);
    near(a.effect[0].squares, 84, 1e-12);
    near(a.residual_squares, 68, 1e-12);
    assert_int_equal(a.effect[0].freedom, 2);
    assert_int_equal(a.residual_freedom, 15);
    near(a.effect[0].f, 42 / (68.0 / 15), 1e-12);
    near(a.effect[0].p, 0.00239877732939290742, 1e-10);
    near(a.effect[0].eta, 84.0 / 152, 1e-12);
}

/* Two ways, balanced: warp breaks per loom (Tukey 1977), two wools, three tensions, nine looms each. */
static void test_two_ways(void **state)
{
    static const double value[] = {26, 30, 54, 25, 70, 52, 51, 26, 67, 18, 21, 29, 17, 12, 18, 35, 30, 36,
                                   36, 21, 24, 18, 10, 43, 28, 15, 26, 27, 14, 29, 19, 29, 31, 41, 20, 44,
                                   42, 26, 19, 16, 39, 28, 21, 39, 29, 20, 21, 24, 17, 13, 15, 15, 16, 28};
    uint32_t wool[COUNT(value)], tension[COUNT(value)];
    const struct plm_anova_factor factor[] = {{"wool", wool}, {"tension", tension}};
    struct plm_anova a;
    (void)state;
    for (uint32_t i = 0; i < COUNT(value); i++) {
        wool[i] = i / 27 * 5; /* numbers may have gaps */
        tension[i] = i / 9 % 3;
    }
    assert_int_equal(plm_anova_make(value, COUNT(value), factor, 2, &a), 0);
    near(a.effect[0].squares, 450.0 + 2.0 / 3, 1e-12);
    near(a.effect[1].squares, 2034.25925925925926, 1e-12);
    near(a.residual_squares, 6747.88888888888889, 1e-12);
    assert_int_equal(a.residual_freedom, 50);
    near(a.effect[0].f, 3.3393, 1e-4);
    near(a.effect[0].p, 0.073614, 1e-5);
    near(a.effect[1].f, 7.5367, 1e-4);
    near(a.effect[1].p, 0.001378, 1e-3);
}

/* Two ways, not balanced: growth of children (Kutner et al., Applied Linear Statistical Models, table 23.1), gender and depression of
   bone development. Sums by exact fractions. */
static void test_unbalanced(void **state)
{
    static const double value[] = {1.4, 2.4, 2.2, 2.1, 1.7, 0.7, 1.1, 2.4, 2.5, 1.8, 2.0, 0.5, 0.9, 1.3};
    static const uint32_t gender[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};
    static const uint32_t bone[] = {0, 0, 0, 1, 1, 2, 2, 0, 1, 1, 1, 2, 2, 2};
    const struct plm_anova_factor factor[] = {{"gender", gender}, {"bone", bone}};
    struct plm_anova a;
    (void)state;
    assert_int_equal(plm_anova_make(value, COUNT(value), factor, 2, &a), 0);
    near(a.effect[0].squares, 81.0 / 875, 1e-10);
    near(a.effect[1].squares, 1099.0 / 250, 1e-12);
    near(a.total_squares, 5.77428571428571429, 1e-12);
    near(a.residual_squares, 1.37542857142857143, 1e-12);
    assert_int_equal(a.effect[1].freedom, 2);
    assert_int_equal(a.residual_freedom, 10);
    assert_int_equal(a.effect[0].within | a.effect[1].within, 0);
}

/* Models belong to one family each, and another factor splits as the families do. Sums by exact fractions. */
static void test_nested(void **state)
{
    static const double value[] = {3, 5, 4, 9, 7, 6, 8, 12, 11, 2, 7};
    static const uint32_t family[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, model[] = {0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 4};
    static const uint32_t optimizer[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1}, other[] = {9, 9, 9, 9, 9, 9, 4, 4, 4, 4, 4};
    static const uint32_t card[COUNT(value)] = {0};
    const struct plm_anova_factor factor[] = {
        {"family", family}, {"model", model}, {"optimizer", optimizer}, {"other", other}, {"gpu", card}};
    struct plm_anova a;
    (void)state;
    assert_int_equal(plm_anova_make(value, COUNT(value), factor, COUNT(factor), &a), 0);
    near(a.effect[0].squares, 14.7, 1e-10);
    near(a.effect[1].squares, 157.0 / 7, 1e-10);
    near(a.effect[2].squares, 3.0 / 7, 1e-10);
    near(a.residual_squares, 1321.0 / 21, 1e-10);
    assert_int_equal(a.effect[0].freedom, 1);
    assert_int_equal(a.effect[1].freedom, 3);
    assert_int_equal(a.effect[1].within, 1);
    assert_int_equal(a.effect[3].state, PLM_EFFECT_ALIASED);
    assert_int_equal(a.effect[3].alias, 0);
    assert_int_equal(a.effect[4].state, PLM_EFFECT_CONSTANT);
    assert_int_equal(a.residual_freedom, 5);
}

/* Factors that together say what a third one does, and data without a residual: said, not computed. */
static void test_not_possible(void **state)
{
    static const double value[] = {1, 2, 4, 8};
    static const uint32_t a0[] = {0, 0, 1, 1}, b0[] = {0, 1, 0, 1}, each[] = {0, 1, 2, 3};
    const struct plm_anova_factor factor[] = {{"a", a0}, {"b", b0}, {"each", each}};
    static const uint32_t high[] = {0, 1, PLM_LEVELS, 3};
    const struct plm_anova_factor wrong = {"high", high};
    struct plm_anova a;
    (void)state;
    assert_int_equal(plm_anova_make(value, 4, factor, 3, &a), 0);
    assert_int_equal(a.effect[2].freedom, 1);
    assert_int_equal(a.residual_freedom, 0);
    assert_false(a.effect[0].known || a.effect[2].known);
    assert_int_equal(plm_anova_make(value, 4, &factor[2], 1, &a), 0);
    assert_false(a.effect[0].known);
    assert_int_equal(plm_anova_make(value, 4, &wrong, 1, &a), PLM_EINVAL);
    assert_int_equal(plm_anova_make(value, 0, factor, 1, &a), PLM_EINVAL);
}

/* ---- bootstrap ---- */

static void test_bootstrap(void **state)
{
    double value[101];
    struct plm_interval first, again, other;
    (void)state;
    for (size_t i = 0; i < COUNT(value); i++)
        value[i] = (double)i;
    plm_bootstrap_median(value, COUNT(value), 1, &first);
    plm_bootstrap_median(value, COUNT(value), 1, &again);
    plm_bootstrap_median(value, COUNT(value), 2, &other);
    assert_true(first.low == again.low && first.high == again.high);
    /* By the binomial distribution the 95 % interval of a median of 101 are the 41st and the 61st of them. */
    near(first.low, 40, 0.06);
    near(first.high, 60, 0.06);
    near(other.low, first.low, 0.06);
    plm_bootstrap_median(value + 7, 1, 1, &first);
    assert_true(first.low == 7 && first.high == 7);
    plm_bootstrap_median(value, 0, 1, &first);
    assert_true(first.low == 0 && first.high == 0);
}

/* The share of resamples of 0, 1, ... n - 1 (n odd) whose median is at most k: those in which more than half of n draws are. */
static double median_at_most(int k, int n)
{
    const double p = (k + 1.0) / n;
    double sum = 0;
    for (int i = n / 2 + 1; i <= n; i++)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) + (n - i) * log1p(-p));
    return sum;
}

static int exact_quantile(double share, int n)
{
    int k = 0;
    while (median_at_most(k, n) < share)
        k++;
    return k;
}

/* No resampling: both ends as the binomial distribution has them. What 10,000 resamples may miss is well below the distance
   to the ends of a 90 % interval. */
static void test_bootstrap_exact(void **state)
{
    double value[1001];
    struct plm_interval interval;
    (void)state;
    for (size_t i = 0; i < COUNT(value); i++)
        value[i] = (double)i;
    assert_true(exact_quantile(0.05, COUNT(value)) - exact_quantile(0.025, COUNT(value)) >= 5);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        plm_bootstrap_median(value, COUNT(value), seed, &interval);
        assert_true(fabs(interval.low - exact_quantile(0.025, COUNT(value))) <= 2);
        assert_true(fabs(interval.high - exact_quantile(0.975, COUNT(value))) <= 2);
    }
}

/* Of two values, a resample has the same one twice in half of the cases, else both: the median is one of three. */
static void test_bootstrap_even(void **state)
{
    static const double value[] = {1, 2};
    struct plm_interval interval;
    (void)state;
    plm_bootstrap_median(value, 2, 5, &interval);
    assert_true(interval.low == 1 && interval.high == 2);
}

/* At least three of four draws are the first value in 13 of 256 cases, 5.1 %: so it is the lower end, and the last one
   the upper. */
static void test_bootstrap_of_four(void **state)
{
    static const double value[] = {1, 2, 4, 8};
    struct plm_interval interval;
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        plm_bootstrap_median(value, 4, seed, &interval);
        assert_true(interval.low == 1 && interval.high == 8);
    }
}

/* One of six values is 1. Three draws of it have a probability of 5.4 %, and then the median is between both; more have
   0.9 %. */
static void test_bootstrap_between(void **state)
{
    static const double value[] = {0, 0, 0, 0, 0, 1};
    struct plm_interval interval;
    (void)state;
    plm_bootstrap_median(value, COUNT(value), 3, &interval);
    assert_true(interval.low == 0 && interval.high == 0.5);
}

/* ---- random numbers ---- */

static void test_random(void **state)
{
    struct plm_random a, b;
    size_t seen[6] = {0};
    (void)state;
    plm_random_start(&a, 42);
    plm_random_start(&b, 42);
    for (int i = 0; i < 60000; i++) {
        size_t value = plm_random_below(&a, 6);
        assert_true(value < 6);
        assert_int_equal(value, plm_random_below(&b, 6));
        seen[value]++;
    }
    for (size_t i = 0; i < 6; i++)
        assert_in_range(seen[i], 9700, 10300);
    assert_int_equal(plm_random_below(&a, 1), 0);
    assert_int_equal(plm_random_below(&a, 0), 0);
    /* The first numbers of the published generator for the state 1, 2, 3, 4. */
    a = (struct plm_random){{1, 2, 3, 4}};
    assert_int_equal(plm_random_next(&a), 11520);
    assert_int_equal(plm_random_next(&a), 0);
    assert_int_equal(plm_random_next(&a), 1509978240);
    assert_int_equal(plm_random_next(&a), 1215971899390074240);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f_values),
        cmocka_unit_test(test_f_identities),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_two_ways),
        cmocka_unit_test(test_unbalanced),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_not_possible),
        cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_bootstrap_even),
        cmocka_unit_test(test_bootstrap_of_four),
        cmocka_unit_test(test_bootstrap_between),
        cmocka_unit_test(test_bootstrap_exact),
        cmocka_unit_test(test_random),
    };
    return RUN(tests);
}
