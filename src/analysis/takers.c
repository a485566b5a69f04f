#include "analysis/takers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/summary.h"

#define RANGE_MOST (1ull << 44)

struct plm_taker *plm_taker_of(struct plm_device_summary *d, const char *name)
{
    struct plm_taker *t;
    name = *name ? name : "unnamed";
    for (int i = 0; i < d->takers; i++)
        if (!strncmp(d->taker[i].name, name, sizeof d->taker[i].name - 1))
            return &d->taker[i];
    if (d->takers == PLM_TAKERS)
        return &d->taker[PLM_TAKERS - 1];
    t = &d->taker[d->takers++];
    snprintf(t->name, sizeof t->name, "%s", d->takers == PLM_TAKERS ? "others" : name);
    return t;
}

void plm_takers_at_peak(struct plm_device_summary *d)
{
    for (int i = 0; i < d->takers; i++)
        d->taker[i].at_peak = d->taker[i].now;
}

static const char *const keys[] = {"context[", "range["};

bool plm_taker_key(const char *key, int *device)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t length = strlen(keys[i]);
        char *end;
        long number;
        if (strncmp(key, keys[i], length) != 0)
            continue;
        number = strtol(key + length, &end, 10);
        if (end == key + length || strcmp(end, "]") != 0 || number < 0 || number > UINT16_MAX)
            continue;
        *device = (int)number;
        return true;
    }
    return false;
}

/* "nccl 19285606 1543503872" */
static void range(struct plm_device_summary *d, const char *value)
{
    size_t length = strcspn(value, " ");
    struct plm_taker *t;
    char name[24], *end;
    if (!length || length >= sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)length, value);
    t = plm_taker_of(d, name);
    t->low = strtoull(value + length, &end, 10);
    t->high = strtoull(end, NULL, 10);
    t->low = t->low < RANGE_MOST ? t->low : RANGE_MOST;
    t->high = t->high < RANGE_MOST ? t->high : RANGE_MOST;
}

void plm_taker_told(struct plm_device_summary *d, const char *key, const char *value)
{
    if (!strncmp(key, keys[0], strlen(keys[0])))
        plm_overhead_read(&d->overhead, value);
    else
        range(d, value);
}
