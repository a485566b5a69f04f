/*
 * Tables that methods learn from: the numbers of some columns, whose names may be in upper or lower case. Pure
 * functions; any thread. Fails with PLM_EFORMAT and one sentence that names the file, and the line where there is one.
 */
#ifndef PLM_LEARN_NUMBERS_H
#define PLM_LEARN_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct plm_error;
struct plm_csv;

struct plm_learn_target {
    const char *column;
    bool positive; /* 0 is no answer */
    double most;   /* 0: any number */
};

/* x has room for all features of all rows, a row after the other; y for all targets. None may be negative. */
int plm_learn_numbers(const struct plm_csv *table, const char *const *column, size_t features,
                      const struct plm_learn_target *target, double *x, double *y, struct plm_error *error);

#endif
