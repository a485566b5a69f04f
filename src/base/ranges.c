#include "base/ranges.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"

/* ---- reading ---- */

/* Digits, and nothing else, are a number. */
static bool number_read(const char **text, uint32_t *number)
{
    uint64_t value = 0;
    if (!isdigit((unsigned char)**text))
        return false;
    for (; isdigit((unsigned char)**text); (*text)++) {
        value = 10 * value + (uint64_t)(**text - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *number = (uint32_t)value;
    return true;
}

/* "7", "0-7", "1-57/8" */
static bool range_read(const char **text, struct plm_range *range)
{
    uint32_t last, stride = 1;
    if (!number_read(text, &range->first))
        return false;
    last = range->first;
    if (**text == '-') {
        (*text)++;
        if (!number_read(text, &last) || last < range->first)
            return false;
    }
    if (**text == '/') {
        (*text)++;
        if (!number_read(text, &stride) || !stride || (last - range->first) % stride)
            return false;
    }
    range->count = (last - range->first) / stride + 1;
    range->stride = stride;
    return true;
}

static bool range_is_below(const struct plm_range *range, uint32_t limit)
{
    return range->first < limit && (uint64_t)range->first + (uint64_t)(range->count - 1) * range->stride < limit;
}

int plm_ranges_parse(struct plm_ranges *ranges, const char *text, uint32_t limit)
{
    struct plm_range range;
    uint64_t numbers = 0;
    size_t room = 0;
    *ranges = (struct plm_ranges){0};
    for (bool more = true; more; text += more) {
        if (!range_read(&text, &range) || !range_is_below(&range, limit) || (numbers += range.count) > limit)
            break;
        ranges->item = plm_grow(ranges->item, ranges->count, &room, sizeof range);
        ranges->item[ranges->count++] = range;
        more = *text == ',';
        if (!more && !*text)
            return 0;
    }
    plm_ranges_free(ranges);
    return PLM_EFORMAT;
}

void plm_ranges_free(struct plm_ranges *ranges)
{
    free(ranges->item);
    *ranges = (struct plm_ranges){0};
}

/* ---- writing ---- */

/* The longest range that the numbers begin with. Two numbers are one only if they are neighbours. */
static struct plm_range range_next(const uint32_t *number, size_t count)
{
    struct plm_range range = {number[0], 1, 1};
    if (count < 2 || number[1] <= number[0])
        return range;
    range.stride = number[1] - number[0];
    for (range.count = 2; range.count < count; range.count++)
        if (number[range.count] <= number[range.count - 1] ||
            number[range.count] - number[range.count - 1] != range.stride)
            break;
    return range.count > 2 || range.stride == 1 ? range : (struct plm_range){number[0], 1, 1};
}

char *plm_ranges_text(const uint32_t *number, size_t count, size_t most)
{
    enum { RANGE_MOST = 36 }; /* three numbers and what is between them */
    const size_t size = RANGE_MOST * (most < count ? most : count) + 40;
    char *text = plm_calloc(size, 1), *at = text;
    size_t done = 0, ranges = 0;
    while (done < count && ranges < most) {
        const struct plm_range r = range_next(number + done, count - done);
        at += sprintf(at, "%s%u", ranges ? "," : "", r.first);
        if (r.count > 1)
            at += sprintf(at, "-%u", r.first + (r.count - 1) * r.stride);
        if (r.stride > 1)
            at += sprintf(at, "/%u", r.stride);
        done += r.count;
        ranges++;
    }
    if (done < count)
        sprintf(at, " and %zu more", count - done);
    return text;
}
