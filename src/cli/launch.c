#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "base/install.h"
#include "cli/cli.h"
#include "stack/topology.h"
#include "world/messages.h"

static const char *const routes[] = {
    [PLM_ROUTE_BALANCED] = "balanced", [PLM_ROUTE_ONE] = "one", [PLM_ROUTE_NONE] = "none"};
#define ASSUME_TAKES "--assume takes all=true, all=false, keep=0 to keep=1 and route=balanced, one or none"

static bool assume_route(const char *value, struct plm_cli_assume *assume)
{
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        if (!strcmp(value, routes[i])) {
            assume->route = i;
            return true;
        }
    return false;
}

static bool assume_all(const char *value, struct plm_cli_assume *assume)
{
    assume->all = !strcmp(value, "true");
    return assume->all || !strcmp(value, "false");
}

static bool assume_keep(const char *value, struct plm_cli_assume *assume)
{
    char *end;
    assume->keep = strtod(value, &end);
    return *value && !*end && assume->keep >= 0 && assume->keep <= 1;
}

static const struct {
    const char *name;
    bool (*take)(const char *value, struct plm_cli_assume *assume);
} assumptions[] = {{"all", assume_all}, {"keep", assume_keep}, {"route", assume_route}};

static int assume_parse_one(char *word, struct plm_cli_assume *assume, struct plm_error *error)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    for (size_t i = 0; value && i < sizeof assumptions / sizeof assumptions[0]; i++)
        if (!strcmp(word, assumptions[i].name) && assumptions[i].take(value, assume))
            return 0;
    return plm_fail(error, PLM_EINVAL, ASSUME_TAKES ", not '%.60s%s%.60s'", word, value ? "=" : "", value ? value : "");
}

int plm_cli_assume_parse(const char *text, struct plm_cli_assume *assume, struct plm_error *error)
{
    char copy[256], *rest, *word;
    int status = 0;
    if (strlen(text) >= sizeof copy)
        return plm_fail(error, PLM_EINVAL, ASSUME_TAKES);
    strcpy(copy, text);
    for (word = strtok_r(copy, ",", &rest); word && status == 0; word = strtok_r(NULL, ",", &rest))
        status = assume_parse_one(word, assume, error);
    return status;
}

/* LD_PRELOAD is split at blanks and colons, LD_AUDIT and PATH at colons, with no way to quote them. A path
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

static void assume_set_environment(const struct plm_cli_assume *assume)
{
    char share[32];
    setenv("PLIMSOLL_ASSUME_ALL", assume->all ? "true" : "false", 1);
    snprintf(share, sizeof share, "%.6f", assume->keep);
    set_or_clear("PLIMSOLL_ASSUME_KEEP", assume->keep < 0 ? NULL : share);
    setenv("PLIMSOLL_ASSUME_ROUTE", routes[assume->route], 1);
}

/* A job without a PATH has the system's, which one that is set would hide. */
static void path_set(const char *programs)
{
    char standard[256];
    if (!getenv("PATH") && confstr(_CS_PATH, standard, sizeof standard) <= sizeof standard)
        setenv("PATH", standard, 1);
    plm_prepend("PATH", programs);
}

static void launch_set_environment(const struct plm_cli_launch *l, const char *device, const char *audit,
                                   const char *programs)
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
    set_or_clear("PLIMSOLL_STACKS", l->stacks ? "yes" : NULL);
    set_or_clear("PLIMSOLL_STACK", l->stack);
    set_or_clear("PLIMSOLL_TOPOLOGY", l->topology ? l->topology->path : NULL);
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
    path_set(programs);
    for (char **variable = l->environment; variable && *variable; variable++)
        putenv(*variable);
}

struct start {
    const struct plm_cli_launch *launch;
    const char *device, *audit, *programs, *board;
    char held[3][64];
};

/* The board of messages is held open by this process: all ranks that it starts share it. NULL: there is none. */
static const char *launch_board(void)
{
    static char path[64];
    static int board = -1;
    if (board < 0) {
        board = plm_messages_create();
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), board);
    }
    return board < 0 ? NULL : path;
}

/* In the child. */
static void launch_prepare(void *context)
{
    const struct start *s = context;
    set_or_clear("PLIMSOLL_MESSAGES", s->board);
    launch_set_environment(s->launch, s->device, s->audit, s->programs);
    if (s->launch->aside)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

static struct plm_child make_child(const struct plm_cli_launch *l, struct start *s)
{
    s->launch = l;
    s->board = launch_board();
    s->device = preloadable(l->install->device, s->held[0], sizeof s->held[0]);
    s->audit = preloadable(l->install->audit, s->held[1], sizeof s->held[1]);
    s->programs = preloadable(l->install->programs, s->held[2], sizeof s->held[2]);
    return (struct plm_child){.words = (const char *const *)l->command,
                              .prepare = launch_prepare,
                              .context = s,
                              .log = l->silent ? "/dev/null" : NULL,
                              .errors = true};
}

pid_t plm_cli_launch_start(const struct plm_cli_launch *l, int *failure)
{
    struct start start;
    const struct plm_child child = make_child(l, &start);
    return plm_child_start(&child, failure);
}

int plm_cli_launch_ask(const struct plm_cli_launch *l, int seconds, char *answer, size_t size)
{
    struct start start;
    const struct plm_child child = make_child(l, &start);
    int failure;
    return plm_child_ask(&child, seconds, answer, size, &failure);
}
