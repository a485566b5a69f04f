#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t child_pid;

/* The terminal sends its signals to the command too; what another process sends only to us is passed on. */
static void forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (child_pid > 0 && info->si_code <= 0)
        kill((pid_t)child_pid, number);
}

void plm_forward_signals(void)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        sigaction(passed[i], &action, NULL);
}

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

int plm_await(pid_t child, plm_progress_text *text, void *context)
{
    const struct timespec pause = {0, 100 * 1000 * 1000};
    struct plm_progress progress;
    int status = 0;
    child_pid = child;
    plm_progress_start(&progress);
    if (!progress.active)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    else
        while (waitpid(child, &status, WNOHANG) == 0) {
            plm_progress_show(&progress, text, context);
            nanosleep(&pause, NULL);
        }
    plm_progress_stop(&progress);
    child_pid = 0;
    return status;
}

int plm_could_not_start(const char *command, int failure)
{
    char text[400];
    snprintf(text, sizeof text, "cannot start %.200s: %s", command, strerror(failure));
    return plm_complain(failure == ENOENT ? PLM_EXIT_NOT_FOUND : PLM_EXIT_NOT_RUNNABLE, text);
}
