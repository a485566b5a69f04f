#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { LIVE = 12, TRIES = 5 };

static char *volatile live[LIVE];
static pid_t owner; /* children that were forked leave the files alone */

/* All that is called here may be called in the handler of a signal, so there is no opendir(). */
static void folder_clear(int folder)
{
    _Alignas(struct dirent64) char room[4096];
    long n;
    while ((n = syscall(SYS_getdents64, folder, room, sizeof room)) > 0)
        for (long at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(room + at);
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                unlinkat(folder, entry->d_name, 0);
            at += entry->d_reclen;
        }
}

void plm_temporary_delete(const char *path)
{
    if (unlink(path) == 0 || errno != EISDIR)
        return;
    for (int i = 0; i < TRIES; i++) { /* a child that has not ended yet may put something there */
        const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0) {
            folder_clear(folder);
            close(folder);
        }
        if (rmdir(path) == 0 || errno != ENOTEMPTY)
            return;
    }
}

static void live_delete(int number)
{
    for (int i = 0; i < LIVE && getpid() == owner; i++)
        if (live[i])
            plm_temporary_delete(live[i]);
    raise(number); /* as if nobody had caught it: the handler was taken away before it was called */
}

void plm_temporary_add(char *path)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    const struct sigaction action = {.sa_handler = live_delete, .sa_flags = (int)SA_RESETHAND};
    struct sigaction now;
    owner = getpid();
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
    for (int i = 0; i < LIVE; i++)
        if (!live[i]) {
            live[i] = path;
            return;
        }
}

void plm_temporary_forget(const char *path)
{
    for (int i = 0; i < LIVE; i++)
        if (live[i] == path)
            live[i] = NULL;
}
