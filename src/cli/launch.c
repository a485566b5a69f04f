#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/child.h"
#include "base/error.h"
#include "base/install.h"
#include "cli/cli.h"

static int assume_parse_one(char *word, struct plm_assume *assume, struct plm_error *error)
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
        status = assume_parse_one(word, assume, error);
    return status;
}

/* LD_PRELOAD is split at blanks and colons and LD_AUDIT at colons, with no way to quote them. A path
   that has some is reached through a descriptor that this process holds open until it ends. */
static const char *preloadable(const char *path, char *buffer, size_t size)
{
    int fd;
    if (!strpbrk(path, " :\t"))
        return path;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return path;
    snprintf(buffer, size, "/proc/%d/fd/%d", (int)getpid(), fd);
    return buffer;
}

static void set_number(const char *name, unsigned long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", value);
    setenv(name, text, 1);
}

/* NULL: the user's own value would be misunderstood. */
static void set_or_clear(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void assume_set_environment(const struct plm_assume *assume)
{
    char share[32];
    setenv("PLIMSOLL_ASSUME_ALL", assume->all ? "true" : "false", 1);
    snprintf(share, sizeof share, "%.6f", assume->keep);
    set_or_clear("PLIMSOLL_ASSUME_KEEP", assume->keep < 0 ? NULL : share);
}

static void launch_set_environment(const struct plm_launch *l, const char *device, const char *audit)
{
    char card[4300];

    snprintf(card, sizeof card, "%s#%s", l->gpu->path, l->gpu->card.id);
    setenv("PLIMSOLL_CARD", card, 1);
    setenv("PLIMSOLL_CAPABILITIES", l->install->capabilities, 1);
    setenv("PLIMSOLL_SHIMS", l->install->shims, 1);
    set_or_clear("PLIMSOLL_HOOK", l->entry ? NULL : l->install->hook);
    if (l->entry)
        plm_prepend("PYTHONPATH", l->entry);
    set_or_clear("PLIMSOLL_RECORD", l->record);
    set_number("PLIMSOLL_GPUS", (unsigned long long)l->gpus);
    if (l->steps == PLM_STEPS_STEADY)
        setenv("PLIMSOLL_STOP_AFTER", "steady", 1);
    else
        set_number("PLIMSOLL_STOP_AFTER", (unsigned long long)l->steps);
    setenv("PLIMSOLL_DETAIL", l->detail, 1);
    set_or_clear("PLIMSOLL_STACK", l->stack);
    assume_set_environment(&l->assume);
    if (l->bounded) {
        set_number("PLIMSOLL_LIMIT", l->usable ? l->usable : l->gpu->card.memory_usable);
        if (l->context)
            set_number("PLIMSOLL_CONTEXT", l->context);
        else
            setenv("PLIMSOLL_CONTEXT", "model", 0); /* who knows it better may set it */
    } else {
        unsetenv("PLIMSOLL_LIMIT");
        unsetenv("PLIMSOLL_CONTEXT");
    }
    /* Triton compiles against libcuda.so.1 and looks for it here, not through the loader. */
    setenv("TRITON_LIBCUDA_PATH", l->install->shims, 0);
    plm_prepend("LD_PRELOAD", device);
    plm_prepend("LD_AUDIT", audit);
}

struct start {
    const struct plm_launch *launch;
    const char *device, *audit;
    char held[2][64];
};

/* In the child. */
static void launch_prepare(void *context)
{
    const struct start *s = context;
    launch_set_environment(s->launch, s->device, s->audit);
    if (s->launch->aside)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

static struct plm_child make_child(const struct plm_launch *l, struct start *s)
{
    s->launch = l;
    s->device = preloadable(l->install->device, s->held[0], sizeof s->held[0]);
    s->audit = preloadable(l->install->audit, s->held[1], sizeof s->held[1]);
    return (struct plm_child){.words = (const char *const *)l->command,
                              .prepare = launch_prepare,
                              .context = s,
                              .log = l->silent ? "/dev/null" : NULL,
                              .errors = true};
}

pid_t plm_launch_start(const struct plm_launch *l, int *failure)
{
    struct start start;
    const struct plm_child child = make_child(l, &start);
    return plm_child_start(&child, failure);
}

int plm_launch_ask(const struct plm_launch *l, int seconds, char *answer, size_t size)
{
    struct start start;
    const struct plm_child child = make_child(l, &start);
    int failure;
    return plm_child_ask(&child, seconds, answer, size, &failure);
}
