/*
 * What the xMem paper published about four tools, on its 5,209 runs; shown beside what the same tools come to on
 * another file. Constant data.
 */
#ifndef PLM_EVALUATE_PUBLISHED_H
#define PLM_EVALUATE_PUBLISHED_H

#include <stddef.h>

enum { PLM_PUBLISHED_RUNS = 5209 };

struct plm_published {
    const char *name;
    double median, pef, seconds; /* median: of the relative error, "MRE" there; as fractions. seconds: mean run time */
    const char *tool; /* its columns in a truth file */
    const char *method; /* plimsoll's implementation of what was compared */
};

extern const struct plm_published plm_published[];
extern const size_t plm_published_count;

#endif
