/*
 * Givens rotations of host scalars, shared by the two interfaces. Pure; any thread.
 */
#ifndef PLM_CUBLAS_ROTATION_H
#define PLM_CUBLAS_ROTATION_H

#include <complex.h>

/* In: a and b. Out: r in a, z in b (real ones only), cosine and sine; as the BLAS defines them. */
void plm_rotation_real(double *a, double *b, double *c, double *s);
void plm_rotation_complex(double complex *a, double complex b, double *c, double complex *s);

#endif
