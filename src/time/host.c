#include "time/host.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "time/speeds.h"

static const char *const names[] = {[false] = "counted", [true] = "measured"};

const char *plm_host_time_name(const struct plm_host_time *host)
{
    return names[host->measured];
}

static bool word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !strncmp(word, name, length);
}

static bool factor_read(const char *word, size_t length, double *factor)
{
    const struct plm_speed *limits = &plm_speed[PLM_SPEED_host_factor];
    char *end;
    *factor = strtod(word, &end);
    return length && end == word + length && *factor >= limits->least && *factor <= limits->most;
}

int plm_host_time_parse(const char *text, struct plm_host_time *host, struct plm_error *error)
{
    const struct plm_speed *limits = &plm_speed[PLM_SPEED_host_factor];
    *host = (struct plm_host_time){0};
    for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        const size_t length = strcspn(word, ",");
        if (word_is(word, length, names[true]) || word_is(word, length, names[false]))
            host->measured = word_is(word, length, names[true]);
        else if (!factor_read(word, length, &host->factor))
            return plm_fail(error, PLM_EINVAL,
                            "--host takes counted or measured, and a factor from %g to %g, not '%.60s'", limits->least,
                            limits->most, text);
    }
    return 0;
}
