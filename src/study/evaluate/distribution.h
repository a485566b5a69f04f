/*
 * The upper tail of the F distribution, for the analysis of variance. Pure functions; any thread.
 *
 * It comes from the regularised incomplete beta function by its continued fraction. Relative accuracy is 1e-10 or better for degrees
 * of freedom up to 10,000 and results above 1e-300.
 */
#ifndef PLM_EVALUATE_DISTRIBUTION_H
#define PLM_EVALUATE_DISTRIBUTION_H

/* I_x(a, b) for a, b > 0 and 0 <= x <= 1, with y = 1 - x from the caller, who knows it without cancellation. NAN outside. */
double plm_beta(double a, double b, double x, double y);

/* The chance of a value above f, with that many degrees of freedom in numerator and denominator. NAN outside of its range. */
double plm_f_upper(double f, double numerator, double denominator);

#endif
