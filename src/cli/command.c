#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/memory.h"
#include "cli/cli.h"

void plm_job_name(char *out, size_t size, char **command)
{
    const char *name = command[0] ? command[0] : "", *slash;
    for (char **word = command; *word; word++) {
        size_t n = strlen(*word);
        if (n > 3 && !strcmp(*word + n - 3, ".py")) {
            name = *word;
            break;
        }
    }
    slash = strrchr(name, '/');
    snprintf(out, size, "%.100s", slash ? slash + 1 : name);
    if (strlen(out) > 3 && !strcmp(out + strlen(out) - 3, ".py"))
        out[strlen(out) - 3] = '\0';
}

int plm_absolute(char *out, size_t size, const char *path)
{
    char folder[PATH_MAX];
    int n;
    if (path[0] == '/')
        n = snprintf(out, size, "%s", path);
    else
        n = getcwd(folder, sizeof folder) ? snprintf(out, size, "%s/%s", folder, path) : -1;
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

void plm_prepend(const char *name, const char *value)
{
    const char *old = getenv(name);
    char *joined = old && *old ? plm_asprintf("%s:%s", value, old) : plm_strdup(value);
    setenv(name, joined, 1);
    free(joined);
}

struct awaiting {
    struct plm_progress progress;
    plm_progress_text *text;
    void *context;
};

static void show_progress(void *context)
{
    struct awaiting *a = context;
    plm_progress_show(&a->progress, a->text, a->context);
}

int plm_await(pid_t child, plm_progress_text *text, void *context)
{
    struct awaiting a = {.text = text, .context = context};
    int status;
    plm_progress_start(&a.progress);
    status = plm_child_wait(child, a.progress.active ? show_progress : NULL, &a);
    plm_progress_stop(&a.progress);
    return status;
}

int plm_could_not_start(const char *command, int failure)
{
    char text[400];
    snprintf(text, sizeof text, "cannot start %.200s: %s", command, strerror(failure));
    return plm_complain(failure == ENOENT ? PLM_EXIT_NOT_FOUND : PLM_EXIT_NOT_RUNNABLE, text);
}
