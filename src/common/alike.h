/* When two amounts of memory count as the same: steps of a job, ranks of a world. Pure; compiled into the user's process too. */
#ifndef PLM_COMMON_ALIKE_H
#define PLM_COMMON_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

enum { PLM_ALIKE = 1000 }; /* they differ by no more than this part of the whole */

static inline bool plm_alike(uint64_t a, uint64_t b, uint64_t whole)
{
    return (a > b ? a - b : b - a) <= whole / PLM_ALIKE;
}

#endif
