/*
 * Sets of ranks as text: ranges with a stride, "0-7", "1-57/8", "0,3,5". Pure; any thread.
 */
#ifndef PLM_BASE_RANGES_H
#define PLM_BASE_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* first, first + stride, ... : `count` numbers. */
struct plm_range {
    uint32_t first, count, stride;
};

struct plm_ranges {
    struct plm_range *item; /* in the order of the text */
    size_t count;
};

/* 0, or PLM_EFORMAT for a text that is not such a set, has a number of `limit` or more, or has more than `limit` numbers.
   Freed with plm_ranges_free() if it returned 0. */
int plm_ranges_parse(struct plm_ranges *ranges, const char *text, uint32_t limit);
void plm_ranges_free(struct plm_ranges *ranges);

/* The numbers in their order, at most `most` ranges: what is left out is counted, "0-7,64-71 and 48 more". The caller frees
   it. */
char *plm_ranges_text(const uint32_t *number, size_t count, size_t most);

#endif
