/*
 * Binary search in what is in order: the number of the `count` items for which `holds` is true, an expression of the index `i`. It
 * is true for the first ones and false for the rest, so the number is also the index of the first that it is false for.
 *
 *     size_t from = PLM_SEARCH(i, gaps, gap[i].base < address);
 */
#ifndef PLM_BASE_SEARCH_H
#define PLM_BASE_SEARCH_H

#include <stddef.h>

#define PLM_SEARCH(i, count, holds)                          \
    ({                                                       \
        size_t search_low = 0, search_high = (count);        \
        while (search_low < search_high) {                   \
            const size_t i = (search_low + search_high) / 2; \
            if (holds)                                       \
                search_low = i + 1;                          \
            else                                             \
                search_high = i;                             \
        }                                                    \
        search_low;                                          \
    })

#endif
