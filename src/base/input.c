#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static const char *kind_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR: return "a folder";
    case S_IFIFO: return "a pipe";
    case S_IFSOCK: return "a socket";
    default: return "a device";
    }
}

static int kind_refuse(const char *path, mode_t mode, struct plm_error *error)
{
    return plm_fail(error, PLM_EFORMAT, "%.300s is %s, not a file%s", path, kind_name(mode),
                    S_ISDIR(mode) ? "" : "; save what it gives to a file and name that");
}

int plm_input_open(const char *path, uint64_t *size, struct plm_error *error)
{
    struct stat st;
    /* Without O_NONBLOCK a pipe would wait for somebody to write to it. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status;
    if (fd < 0) {
        status = errno;
        if (status == ENXIO && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* sockets cannot be opened */
            return kind_refuse(path, st.st_mode, error);
        return plm_fail(error, status == ENOENT ? PLM_ENOTFOUND : PLM_EIO, "cannot read %.300s: %s", path,
                        strerror(status));
    }
    if (fstat(fd, &st)) {
        status = plm_fail(error, PLM_EIO, "cannot read %.300s: %s", path, strerror(errno));
        close(fd);
        return status;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return kind_refuse(path, st.st_mode, error);
    }
    if (size)
        *size = (uint64_t)st.st_size;
    return fd;
}
