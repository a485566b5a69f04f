#include "common/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HIGH = 512, LOW = 16, TRIES = 4 };

static bool is_same(const struct plm_own_file *f, const struct stat *status)
{
    return status->st_dev == f->device && status->st_ino == f->inode;
}

bool plm_own_file_is(const struct plm_own_file *f, int fd)
{
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && is_same(f, &status);
}

void plm_own_file_drop(const struct plm_own_file *f, int fd)
{
    if (plm_own_file_is(f, fd))
        close(fd);
}

/* As high as the limit of the process allows. */
static int fd_raise(const struct plm_own_file *f, int fd)
{
    for (int least = HIGH; least >= LOW; least /= 2) {
        const int high = fcntl(fd, F_DUPFD_CLOEXEC, least);
        if (high >= 0) {
            plm_own_file_drop(f, fd);
            return high;
        }
    }
    return fd;
}

int plm_own_file_open(struct plm_own_file *f, const char *path, int flags)
{
    struct stat status;
    const size_t length = strlen(path);
    int fd;
    *f = (struct plm_own_file){.fd = -1, .flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY};
    if (length >= sizeof f->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(f->path, path, length + 1);
    fd = open(path, f->flags);
    if (fd < 0 || fstat(fd, &status))
        return -1;
    f->device = status.st_dev;
    f->inode = status.st_ino;
    atomic_store(&f->fd, fd_raise(f, fd));
    return 0;
}

/* What the path leads to by now is looked at before it is opened: opening alone may do something, and what turned out to be
   another file could not be closed, since it may be one that the program has put there meanwhile. */
int plm_own_file_again(const struct plm_own_file *f)
{
    struct stat status;
    int fd;
    if (fstatat(AT_FDCWD, f->path, &status, f->flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0))
        return -1;
    if (!is_same(f, &status)) {
        errno = ESTALE;
        return -1;
    }
    fd = open(f->path, f->flags);
    if (fd >= 0 && !plm_own_file_is(f, fd)) {
        errno = EBADF;
        return -1;
    }
    return fd < 0 ? -1 : fd_raise(f, fd);
}

/* Of threads that open it at the same time one wins, and the others take what that one has. A number that was closed may be given
   out again to another of them, so that it looks as if nothing had changed: that one is closed, and its user tries again. */
int plm_own_file_use(struct plm_own_file *f)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = atomic_load(&f->fd), again;
        if (plm_own_file_is(f, fd))
            return fd;
        again = plm_own_file_again(f);
        if (again < 0 && errno != EBADF)
            return -1;
        if (again < 0)
            continue;
        if (!atomic_compare_exchange_strong(&f->fd, &fd, again)) {
            plm_own_file_drop(f, again);
            continue;
        }
        if (fd != again)
            plm_own_file_drop(f, fd);
        return again;
    }
    errno = EBADF;
    return -1;
}

void plm_own_file_close(struct plm_own_file *f)
{
    plm_own_file_drop(f, atomic_exchange(&f->fd, -1));
}
