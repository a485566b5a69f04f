#include "cli/assume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int parse_one(char *word, struct plm_assume *assume, struct plm_error *error)
{
    char *value = strchr(word, '='), *end;
    if (value)
        *value++ = '\0';
    if (value && !strcmp(word, "all") && (!strcmp(value, "true") || !strcmp(value, "false"))) {
        assume->all = !strcmp(value, "true");
        return 0;
    }
    if (value && !strcmp(word, "keep") && *value) {
        double share = strtod(value, &end);
        if (!*end && share >= 0 && share <= 1) {
            assume->keep = share;
            return 0;
        }
    }
    return plm_fail(error, PLM_EINVAL, "--assume takes all=true, all=false and keep=0 to keep=1, not '%.60s%s%.60s'",
                    word, value ? "=" : "", value ? value : "");
}

int plm_assume_parse(const char *text, struct plm_assume *assume, struct plm_error *error)
{
    char copy[256], *rest, *word;
    int status = 0;
    if (strlen(text) >= sizeof copy)
        return plm_fail(error, PLM_EINVAL, "--assume takes all=true, all=false and keep=0 to keep=1");
    strcpy(copy, text);
    for (word = strtok_r(copy, ",", &rest); word && status == 0; word = strtok_r(NULL, ",", &rest))
        status = parse_one(word, assume, error);
    return status;
}

void plm_assume_environment(const struct plm_assume *assume)
{
    char share[32];
    setenv("PLIMSOLL_ASSUME_ALL", assume->all ? "true" : "false", 1);
    if (assume->keep < 0) {
        unsetenv("PLIMSOLL_ASSUME_KEEP");
        return;
    }
    snprintf(share, sizeof share, "%.6f", assume->keep);
    setenv("PLIMSOLL_ASSUME_KEEP", share, 1);
}
