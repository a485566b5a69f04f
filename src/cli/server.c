#include "cli/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/install.h"
#include "base/memory.h"
#include "cli/cli.h"

#define SEPARATOR "\x1f"
#define WORD      "\x1e" /* before each word */

/* ---- the command ---- */

static bool is_python(const char *word)
{
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
    return !strncmp(name, "python", 6) && name[strspn(name, "pythonw0123456789.")] == '\0';
}

/* Options of the interpreter whose value is the next word. */
static bool takes_next(const char *option)
{
    return !strcmp(option, "-W") || !strcmp(option, "-X") || !strcmp(option, "--check-hash-based-pycs");
}

int plm_server_script(char *const *command)
{
    int at = 1;
    if (!command[0] || !is_python(command[0]))
        return 0;
    while (command[at] && command[at][0] == '-' && command[at][1] && strcmp(command[at], "-m") != 0) {
        if (!strcmp(command[at], "-c"))
            return 0;
        at += takes_next(command[at]) && command[at + 1] ? 2 : 1;
    }
    if (!command[at] || !strcmp(command[at], "-"))
        return 0;
    return strcmp(command[at], "-m") != 0 || command[at + 1] ? at : 0;
}

/* "python -u SERVER train.py ..." of "python -u train.py ..."; the caller frees it. */
static char **command_with(char *const *command, int script, const char *server)
{
    size_t count = 0;
    char **words;
    while (command[count])
        count++;
    words = plm_calloc(count + 2, sizeof *words);
    memcpy(words, command, (size_t)script * sizeof *words);
    words[script] = (char *)server;
    memcpy(words + script + 1, command + script, (count - (size_t)script) * sizeof *words);
    return words;
}

/* ---- the server ---- */

bool plm_server_start(struct plm_server *server, const struct plm_cli_launch *launch)
{
    struct plm_cli_launch started = *launch;
    const int script = plm_server_script(launch->command);
    char number[16];
    int pair[2], failure;
    *server = (struct plm_server){0, -1};
    if (!script || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return false;
    fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    snprintf(number, sizeof number, "%d", pair[1]);
    setenv("PLIMSOLL_SERVER", number, 1);
    started.command = command_with(launch->command, script, launch->install->server);
    server->pid = plm_cli_launch_start(&started, &failure);
    unsetenv("PLIMSOLL_SERVER");
    free(started.command);
    close(pair[1]);
    if (server->pid > 0) {
        server->fd = pair[0];
        return true;
    }
    server->pid = 0;
    close(pair[0]);
    return false;
}

/* A line holds no line ends, and nothing that is its punctuation. */
static bool fits_line(char *const *words)
{
    for (; words && *words; words++)
        if (strpbrk(*words, "\n\r" SEPARATOR WORD))
            return false;
    return true;
}

static bool question_send(const struct plm_server *server, char *const *words, const char *const *environment,
                          const char *log)
{
    FILE *out = NULL;
    char *line = NULL;
    size_t size = 0;
    bool sent;
    out = open_memstream(&line, &size);
    if (!out)
        plm_out_of_memory();
    fputs(log ? log : "", out);
    for (; *environment; environment++)
        fprintf(out, SEPARATOR "%s", *environment);
    for (; words && *words; words++)
        fprintf(out, WORD "%s", *words);
    fputc('\n', out);
    fclose(out);
    sent = send(server->fd, line, size, MSG_NOSIGNAL) == (ssize_t)size;
    free(line);
    return sent;
}

/* The line of an answer: the number of a process. */
static pid_t answer_read(const struct plm_server *server)
{
    char line[256];
    size_t used = 0;
    while (used + 1 < sizeof line) {
        const ssize_t n = read(server->fd, line + used, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || line[used] == '\n')
            break;
        used++;
    }
    line[used] = '\0';
    return (pid_t)strtol(line, NULL, 10);
}

pid_t plm_server_fork(const struct plm_server *server, char *const *words, const char *const *environment,
                      const char *log)
{
    pid_t pid;
    if (!server->pid || !fits_line(words) || !question_send(server, words, environment, log))
        return -1;
    pid = answer_read(server);
    return pid > 0 ? pid : -1;
}

void plm_server_stop(struct plm_server *server)
{
    if (!server->pid)
        return;
    close(server->fd); /* its last question */
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *server = (struct plm_server){0, -1};
}

/* ---- one run after the other ---- */

static char **words_until(char *const *words, int end)
{
    char **copy = plm_calloc((size_t)end + 1, sizeof *copy);
    for (int i = 0; i < end; i++)
        copy[i] = plm_strdup(words[i]);
    return copy;
}

/* The interpreter and its options are those that it was started with. */
static bool starts_alike(char *const *words, char *const *command, int script)
{
    for (int i = 0; i < script; i++)
        if (!words[i] || strcmp(words[i], command[i]) != 0)
            return false;
    return !words[script];
}

static pid_t fork_try(struct plm_forks *f, const struct plm_cli_launch *launch)
{
    const int script = plm_server_script(launch->command);
    const char *environment[2] = {NULL};
    char *record;
    pid_t pid;
    if (!f->server.pid && !f->cold) {
        f->cold = !plm_server_start(&f->server, launch);
        f->words = words_until(launch->command, script);
    }
    if (f->cold || !starts_alike(f->words, launch->command, script))
        return -1;
    environment[0] = record = plm_asprintf("PLIMSOLL_RECORD=%s", launch->record);
    pid = plm_server_fork(&f->server, launch->command + script, environment, f->log);
    free(record);
    return pid;
}

pid_t plm_forks_start(struct plm_forks *f, const struct plm_cli_launch *launch, int *failure)
{
    const pid_t pid = fork_try(f, launch);
    f->forked = pid > 0;
    return pid > 0 ? pid : plm_cli_launch_start(launch, failure);
}

void plm_forks_stop(struct plm_forks *f)
{
    plm_server_stop(&f->server);
    for (char **word = f->words; word && *word; word++)
        free(*word);
    free(f->words);
    f->words = NULL;
}
