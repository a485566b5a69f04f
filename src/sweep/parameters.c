#include "sweep/parameters.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"

bool plm_sweep_whole(const char *text, uint64_t *out)
{
    const size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 18 || text[digits] || (text[0] == '0' && digits > 1))
        return false;
    *out = strtoull(text, NULL, 10);
    return true;
}

/* ---- what is varied ---- */

static bool is_variable(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return *name && !isdigit((unsigned char)*name);
}

static bool is_config(const char *file, size_t size)
{
    static const char *const endings[] = {".yaml", ".yml", ".json", ".toml"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t n = strlen(endings[i]);
        if (size > n && !memcmp(file + size - n, endings[i], n))
            return true;
    }
    return false;
}

static int name_parse(struct plm_sweep_parameter *p, const char *text, size_t size, struct plm_error *error)
{
    const char *colon = memchr(text, ':', size);
    size_t file = colon ? (size_t)(colon - text) : 0, name = colon ? size - file - 1 : size;
    if (!name || name >= sizeof p->name || file >= sizeof p->file)
        return plm_fail(error, PLM_EINVAL, "-P %.100s: a name and its values, such as batch=8..512", text);
    memcpy(p->name, text + size - name, name);
    memcpy(p->file, text, file);
    if (!colon)
        return 0;
    if (!strcmp(p->file, "env")) {
        p->where = PLM_SWEEP_ENVIRONMENT;
        p->file[0] = '\0';
        return is_variable(p->name)
                   ? 0
                   : plm_fail(error, PLM_EINVAL, "-P %.100s: '%.60s' is not a name of a variable", text, p->name);
    }
    p->where = PLM_SWEEP_CONFIG;
    return is_config(p->file, file)
               ? 0
               : plm_fail(error, PLM_EINVAL, "-P %.100s: before the colon stands env or a .yaml, .json or .toml file",
                          text);
}

/* ---- its values ---- */

static int value_add(struct plm_sweep_parameter *p, const char *text, size_t size, struct plm_error *error)
{
    if (!size || size >= PLM_SWEEP_TEXT)
        return plm_fail(error, PLM_EINVAL, "-P %.60s: a value is %s", p->name, size ? "too long" : "missing");
    if (p->values == PLM_SWEEP_VALUES)
        return plm_fail(error, PLM_EINVAL, "-P %.60s: more than %d values; take a larger step", p->name,
                        PLM_SWEEP_VALUES);
    p->value = plm_realloc(p->value, p->values + 1, sizeof *p->value);
    memset(p->value[p->values], 0, sizeof *p->value);
    memcpy(p->value[p->values++], text, size);
    for (size_t i = 0; i + 1 < p->values; i++)
        if (!strcmp(p->value[i], p->value[p->values - 1]))
            return plm_fail(error, PLM_EINVAL, "-P %.60s: %.60s is there twice", p->name, p->value[i]);
    return 0;
}

static int number_add(struct plm_sweep_parameter *p, uint64_t number, struct plm_error *error)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return value_add(p, text, strlen(text), error);
}

/* "8..512", "8..512:8", "8..512:x4". False: it is a list. */
static bool range_read(const char *text, uint64_t *low, uint64_t *high, uint64_t *step, bool *times)
{
    char copy[64], *dots, *colon;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    dots = strstr(copy, "..");
    if (!dots)
        return false;
    *dots = '\0';
    colon = strchr(dots + 2, ':');
    *step = 2;
    *times = true;
    if (colon) {
        *colon++ = '\0';
        *times = *colon == 'x';
        if (!plm_sweep_whole(colon + *times, step))
            return false;
    }
    return plm_sweep_whole(copy, low) && plm_sweep_whole(dots + 2, high);
}

static int range_fill(struct plm_sweep_parameter *p, uint64_t step, bool times, struct plm_error *error)
{
    uint64_t at = p->low;
    int status = 0;
    if (p->high < p->low)
        return plm_fail(error, PLM_EINVAL, "-P %.60s: the range %" PRIu64 "..%" PRIu64 " is empty", p->name, p->low,
                        p->high);
    if (step < (times ? 2u : 1u) || (times && !p->low))
        return plm_fail(error, PLM_EINVAL, "-P %.60s: this step leads nowhere; write %" PRIu64 "..%" PRIu64 ":1",
                        p->name, p->low, p->high);
    while (status == 0 && at < p->high) {
        status = number_add(p, at, error);
        at = times ? (at > p->high / step ? p->high : at * step) : (p->high - at < step ? UINT64_MAX : at + step);
    }
    /* The upper end was named, so it counts, unless steps of a fixed size pass by it. */
    return status || at != p->high ? status : number_add(p, p->high, error);
}

static int values_parse(struct plm_sweep_parameter *p, const char *text, struct plm_error *error)
{
    uint64_t step;
    bool times;
    int status = 0;
    p->range = range_read(text, &p->low, &p->high, &step, &times);
    if (p->range) {
        p->stepped = strchr(text, ':') != NULL;
        return range_fill(p, step, times, error);
    }
    if (strstr(text, ".."))
        return plm_fail(error, PLM_EINVAL,
                        "-P %.60s=%.60s: a range has whole numbers, such as 8..512, 8..512:8 or 8..512:x4", p->name,
                        text);
    while (status == 0) {
        const size_t n = strcspn(text, ",");
        status = value_add(p, text, n, error);
        if (!text[n])
            break;
        text += n + 1;
    }
    return status;
}

/* ---- all of them ---- */

int plm_sweep_parameters_add(struct plm_sweep_parameters *all, const char *text, struct plm_error *error)
{
    struct plm_sweep_parameter *p = &all->item[all->count];
    const char *equals = strchr(text, '=');
    int status;
    if (!equals)
        return plm_fail(error, PLM_EINVAL, "-P %.100s: a name and its values, such as batch=8..512", text);
    if (all->count == PLM_SWEEP_PARAMETERS)
        return plm_fail(error, PLM_EINVAL, "-P is taken at most %d times", PLM_SWEEP_PARAMETERS);
    *p = (struct plm_sweep_parameter){0};
    all->count++;
    status = name_parse(p, text, (size_t)(equals - text), error);
    for (size_t i = 0; i + 1 < all->count && status == 0; i++)
        if (p->where == all->item[i].where && !strcmp(p->name, all->item[i].name) &&
            !strcmp(p->file, all->item[i].file))
            status = plm_fail(error, PLM_EINVAL, "-P %.100s is there twice", p->name);
    return status ? status : values_parse(p, equals + 1, error);
}

int plm_sweep_parameters_check(const struct plm_sweep_parameters *all, struct plm_error *error)
{
    size_t points = 1;
    for (size_t i = 0; i < all->count; i++) {
        if (all->zip && all->item[i].values != all->item[0].values)
            return plm_fail(error, PLM_EINVAL, "--zip takes as many values of each: %.60s has %zu, %.60s has %zu",
                            all->item[0].name, all->item[0].values, all->item[i].name, all->item[i].values);
        points = all->zip ? all->item[i].values : points * all->item[i].values;
        if (points > PLM_SWEEP_VALUES)
            return plm_fail(error, PLM_EINVAL, "more than %d combinations; take fewer values", PLM_SWEEP_VALUES);
    }
    return 0;
}

void plm_sweep_parameters_free(struct plm_sweep_parameters *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->item[i].value);
    *all = (struct plm_sweep_parameters){0};
}

size_t plm_sweep_points(const struct plm_sweep_parameters *all)
{
    size_t points = all->count ? 1 : 0;
    for (size_t i = 0; i < all->count; i++)
        points = all->zip ? all->item[0].values : points * all->item[i].values;
    return points;
}

const char *plm_sweep_value(const struct plm_sweep_parameters *all, size_t point, size_t parameter)
{
    if (!all->zip)
        for (size_t i = all->count - 1; i > parameter; i--)
            point /= all->item[i].values;
    return all->item[parameter].value[point % all->item[parameter].values];
}

int plm_sweep_axis(const struct plm_sweep_parameters *all)
{
    int axis = -1;
    for (size_t i = 0; i < all->count; i++)
        if (all->item[i].values > 1) {
            if (axis >= 0)
                return -1;
            axis = (int)i;
        }
    for (size_t i = 0; axis >= 0 && i < all->item[axis].values; i++) {
        uint64_t number, before;
        if (!plm_sweep_whole(all->item[axis].value[i], &number) ||
            (i && plm_sweep_whole(all->item[axis].value[i - 1], &before) && before >= number))
            return -1;
    }
    return axis;
}
