#include "study/evaluate/distribution.h"

#include <math.h>

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
