#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"

static const struct {
    const char *name;
    double factor;
} units[] = {
    {"", 1},
    {"b", 1},
    {"k", 1024.0},
    {"kib", 1024.0},
    {"kb", 1e3},
    {"m", 1048576.0},
    {"mib", 1048576.0},
    {"mb", 1e6},
    {"g", 1073741824.0},
    {"gib", 1073741824.0},
    {"gb", 1e9},
    {"t", 1099511627776.0},
    {"tib", 1099511627776.0},
    {"tb", 1e12},
};

int plm_size_parse(const char *text, uint64_t *bytes)
{
    char *end;
    double value;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return PLM_EINVAL;
    errno = 0;
    value = strtod(text, &end);
    /* strtod reads "0x10" and "1e3" too; nobody writes sizes like that on purpose. */
    if (errno || end == text || end != text + strspn(text, "0123456789."))
        return PLM_EINVAL;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double total = value * units[i].factor;
        if (strcasecmp(end, units[i].name))
            continue;
        if (!(total >= 0) || total >= 18446744073709549568.0)
            return PLM_EINVAL;
        *bytes = (uint64_t)total;
        return 0;
    }
    return PLM_EINVAL;
}

bool plm_size_lacks_unit(const char *text)
{
    uint64_t bytes;
    return strspn(text, "0123456789.") == strlen(text) && plm_size_parse(text, &bytes) == 0 && bytes < 1000000 &&
           strspn(text, "0.") < strlen(text); /* nothing is nothing in any unit */
}

const char *plm_size_text(char *buffer, size_t size, uint64_t bytes)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    int unit = 0;
    if (bytes < 1024) {
        snprintf(buffer, size, "%llu B", (unsigned long long)bytes);
        return buffer;
    }
    while (value >= 1023.95 && unit < 3) { /* what one decimal would show as 1024.0 */
        value /= 1024;
        unit++;
    }
    snprintf(buffer, size, "%.1f %s", value, names[unit]);
    return buffer;
}

const char *plm_duration_text(char *buffer, size_t size, double ns)
{
    static const struct {
        const char *name;
        double ns;
    } scales[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    int unit = 0;
    double value;
    while (unit < 3 && ns < scales[unit].ns * 0.9995) /* what three digits would show as 1000 */
        unit++;
    value = ns / scales[unit].ns;
    snprintf(buffer, size, "%.*f %s",
             value >= 99.95 || unit == 3 ? 0
             : value >= 9.995            ? 1
                                         : 2,
             value, scales[unit].name);
    return buffer;
}

const char *plm_flops_text(char *buffer, size_t size, double flops)
{
    static const char *const names[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
    size_t unit = 0;
    while (flops >= 999.5 && unit + 1 < sizeof names / sizeof names[0]) { /* what three digits would show as 1000 */
        flops /= 1000;
        unit++;
    }
    snprintf(buffer, size, "%.*f %s", flops >= 99.95 || !unit ? 0 : flops >= 9.995 ? 1 : 2, flops, names[unit]);
    return buffer;
}

const char *plm_count_text(char *buffer, size_t size, uint64_t count)
{
    char digits[32];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), at = 0;
    for (size_t i = 0; i < n && at + 2 < size; i++) {
        if (i && (n - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}
