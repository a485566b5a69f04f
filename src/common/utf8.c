#include "common/utf8.h"

unsigned plm_utf8_length(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned n = p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;
    if (p[0] < 0x80)
        return 1;
    if (!n || p[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* Longer than needed, a surrogate, beyond U+10FFFF: readers refuse these. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}
