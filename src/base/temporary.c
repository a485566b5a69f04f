#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { LIVE = 12, TRIES = 5 };

static struct {
    char *volatile path; /* NULL: free */
    volatile bool folder;
    dev_t device; /* and inode: what was made; another file that has got its name stays */
    ino_t inode;
} live[LIVE];
static pid_t owner; /* children that were forked leave the files alone */

/* ---- removing: all that is called here may be called in the handler of a signal ---- */

/* There is no opendir() for that reason. */
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

static void folder_remove(const char *path)
{
    for (int i = 0; i < TRIES; i++) { /* a child that has not ended yet may put something there */
        const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0)
            return;
        folder_clear(folder);
        close(folder);
        if (rmdir(path) == 0 || errno != ENOTEMPTY)
            return;
    }
}

static void live_remove(int i)
{
    struct stat there;
    if (lstat(live[i].path, &there) || there.st_dev != live[i].device || there.st_ino != live[i].inode)
        return;
    if (live[i].folder)
        folder_remove(live[i].path);
    else
        unlink(live[i].path);
}

static void live_end(int number)
{
    for (int i = 0; i < LIVE && getpid() == owner; i++)
        if (live[i].path)
            live_remove(i);
    raise(number); /* as if nobody had caught it: the handler was taken away before it was called */
}

/* ---- what there is ---- */

static void signals_catch(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    const struct sigaction action = {.sa_handler = live_end, .sa_flags = (int)SA_RESETHAND};
    struct sigaction now;
    owner = getpid();
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
}

/* -1: there is none. `path` NULL: a free one. */
static int live_find(const char *path)
{
    for (int i = 0; i < LIVE; i++)
        if (path ? live[i].path && !strcmp(live[i].path, path) : !live[i].path)
            return i;
    errno = EMFILE;
    return -1;
}

static void live_add(int i, char *path, bool folder)
{
    struct stat made = {0};
    signals_catch();
    lstat(path, &made);
    live[i].device = made.st_dev;
    live[i].inode = made.st_ino;
    live[i].folder = folder;
    live[i].path = path;
}

int plm_temporary_file(char *path, int suffix)
{
    const int i = live_find(NULL), fd = i < 0 ? -1 : mkostemps(path, suffix, O_CLOEXEC);
    if (fd >= 0)
        live_add(i, path, false);
    return fd;
}

int plm_temporary_folder(char *path)
{
    const int i = live_find(NULL);
    if (i < 0 || !mkdtemp(path))
        return -1;
    live_add(i, path, true);
    return 0;
}

void plm_temporary_forget(const char *path)
{
    const int i = live_find(path);
    if (i >= 0)
        live[i].path = NULL;
}

static bool is_inside(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (int i = 0; i < LIVE && slash; i++)
        if (live[i].path && live[i].folder && strlen(live[i].path) == (size_t)(slash - path) &&
            !strncmp(live[i].path, path, (size_t)(slash - path)))
            return true;
    return false;
}

void plm_temporary_remove(const char *path)
{
    const int i = live_find(path);
    if (i >= 0) {
        live_remove(i);
        live[i].path = NULL;
    } else if (is_inside(path))
        unlink(path);
}

/* ---- what has another kind of name ---- */

int plm_ours_remove(const char *path, int file)
{
    struct stat there, open_one;
    if (fstat(file, &open_one) || lstat(path, &there))
        return -1;
    if (there.st_dev != open_one.st_dev || there.st_ino != open_one.st_ino || !S_ISREG(there.st_mode)) {
        errno = EEXIST;
        return -1;
    }
    return unlink(path);
}
