#include "time/speeds.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/card.h"
#include "common/error.h"
#include "common/ini.h"
#include "base/install.h"

const struct plm_speed plm_speed[PLM_SPEEDS] = {
#define SPEED(group, name, least, most, meaning) \
    {#group, #name, offsetof(struct plm_speeds, name), least, most, meaning},
#include "time/speeds.def"
};

struct reading {
    struct plm_speeds *speeds;
    bool seen[PLM_SPEEDS];
};

static const struct plm_speed *find(const char *group, const char *name)
{
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        if (!strcmp(plm_speed[i].group, group) && !strcmp(plm_speed[i].name, name))
            return &plm_speed[i];
    return NULL;
}

static int read_about(const struct plm_ini_pair *pair, struct plm_speeds *speeds, struct plm_error *error)
{
    if (!strcmp(pair->key, "name"))
        snprintf(speeds->name, sizeof speeds->name, "%s", pair->value);
    else if (!strcmp(pair->key, "source"))
        snprintf(speeds->source, sizeof speeds->source, "%s", pair->value);
    else
        return plm_fail(error, PLM_EFORMAT, "%s:%d: [speeds] has no %s; it has name and source", pair->path, pair->line,
                        pair->key);
    return 0;
}

static int visit(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    struct reading *r = context;
    const struct plm_speed *speed;
    char *end;
    double value;
    if (!strcmp(pair->section, "speeds"))
        return read_about(pair, r->speeds, error);
    speed = find(pair->section, pair->key);
    if (!speed)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: the time model has no constant %s in [%s]; see docs/utilization.md",
                        pair->path, pair->line, pair->key, pair->section);
    errno = 0;
    value = strtod(pair->value, &end);
    if (end == pair->value || *end || errno || !(value >= speed->least && value <= speed->most))
        return plm_fail(error, PLM_EFORMAT, "%s:%d: %s = %s is not a number from %g to %g", pair->path, pair->line,
                        pair->key, pair->value, speed->least, speed->most);
    plm_speed_set(r->speeds, speed, value);
    r->seen[speed - plm_speed] = true;
    return 0;
}

/* The one architecture that was measured stands for those that were not. */
#define OTHERWISE "ampere"

static void choose(const struct plm_install *install, const struct plm_card *card, char path[4200])
{
    snprintf(path, 4200, "%s/%s.ini", install->timing, card->architecture);
    if (access(path, R_OK))
        snprintf(path, 4200, "%s/" OTHERWISE ".ini", install->timing);
}

int plm_speeds_read(const char *path, const struct plm_install *install, const struct plm_card *card,
                    struct plm_speeds *speeds, struct plm_error *error)
{
    struct reading reading = {.speeds = speeds};
    char own[4200];
    int status;
    memset(speeds, 0, sizeof *speeds);
    if (!path) {
        choose(install, card, own);
        path = own;
    }
    status = plm_ini_read(path, visit, &reading, error);
    for (size_t i = 0; !status && i < PLM_SPEEDS; i++)
        if (!reading.seen[i])
            status = plm_fail(error, PLM_EFORMAT, "%s lacks %s in [%s]: %s", path, plm_speed[i].name,
                              plm_speed[i].group, plm_speed[i].meaning);
    return status;
}

double plm_speed_get(const struct plm_speeds *speeds, const struct plm_speed *speed)
{
    double value;
    memcpy(&value, (const char *)speeds + speed->offset, sizeof value);
    return value;
}

void plm_speed_set(struct plm_speeds *speeds, const struct plm_speed *speed, double value)
{
    memcpy((char *)speeds + speed->offset, &value, sizeof value);
}

/* What is not known is left out: plm_ini_parse() refuses a key without a value. */
static void write_about(FILE *out, const char *key, const char *value)
{
    if (*value)
        fprintf(out, "%s = %s\n", key, value);
}

void plm_speeds_write(FILE *out, const struct plm_speeds *speeds)
{
    const char *group = "";
    fprintf(out, "[speeds]\n");
    write_about(out, "name", speeds->name);
    write_about(out, "source", speeds->source);
    for (size_t i = 0; i < PLM_SPEEDS; i++) {
        const struct plm_speed *s = &plm_speed[i];
        if (strcmp(group, s->group))
            fprintf(out, "\n[%s]\n", s->group);
        group = s->group;
        fprintf(out, "# %s\n%s = %.6g\n", s->meaning, s->name, plm_speed_get(speeds, s));
    }
}
