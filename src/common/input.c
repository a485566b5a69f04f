#include "common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

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
                    S_ISDIR(mode) ? "" : "; save its data to a file first");
}

/* `plimsoll report a.plm >> a.plm` would write into what it reads. */
static bool is_output(const struct stat *there)
{
    struct stat out;
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(STDOUT_FILENO, &out) == 0 &&
           out.st_dev == there->st_dev && out.st_ino == there->st_ino;
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
        return plm_fail(error, status == ENOENT ? PLM_ENOTFOUND : PLM_EREAD, "cannot read %.300s: %s", path,
                        strerror(status));
    }
    if (fstat(fd, &st)) {
        status = plm_fail(error, PLM_EREAD, "cannot read %.300s: %s", path, strerror(errno));
        close(fd);
        return status;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return kind_refuse(path, st.st_mode, error);
    }
    if (is_output(&st)) {
        close(fd);
        return plm_fail(error, PLM_EINVAL,
                        "%.300s is both an input and the output; choose another file for one of them", path);
    }
    if (size)
        *size = (uint64_t)st.st_size;
    return fd;
}

bool plm_input_line(FILE *in, char *line, size_t size)
{
    size_t length;
    if (!fgets(line, (int)size, in))
        return false;
    length = strcspn(line, "\n");
    if (!line[length]) /* the rest would be taken for a line of its own */
        for (int c = fgetc(in); c != EOF && c != '\n'; c = fgetc(in))
            ;
    line[length] = '\0';
    return true;
}

bool plm_input_is_program(const char *path)
{
    const size_t length = strlen(path);
    return length > 3 && !strcmp(path + length - 3, ".py");
}

/* {"schema": "plimsoll.report/1", however it is spaced: what follows the dot; NULL: it is none. */
static const char *own_document(const char *at, const char *end)
{
    static const char *const words[] = {"{", "\"schema\"", ":", "\"plimsoll."};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t n = strlen(words[i]);
        while (at < end && *at && strchr(" \t\r\n", *at))
            at++;
        if ((size_t)(end - at) < n || memcmp(at, words[i], n) != 0)
            return NULL;
        at += n;
    }
    return at;
}

static bool starts_with(const char *at, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - at) >= n && !memcmp(at, word, n);
}

/* Descriptions are for estimate. */
static int own_document_tell(const char *path, const char *kind, const char *end, const char *what,
                             struct plm_error *error)
{
    if (!kind || starts_with(kind, end, "description"))
        return 0;
    if (starts_with(kind, end, "sweep/"))
        return plm_fail(error, PLM_EFORMAT, "%.200s is not %s but a sweep; `plimsoll sweep --show %.200s` shows it",
                        path, what, path);
    return plm_fail(error, PLM_EFORMAT, "%.200s is not %s but the output of --json, which no command reads", path,
                    what);
}

int plm_input_foreign(const char *path, const void *data, size_t size, const char *what, struct plm_error *error)
{
    static const struct {
        const char *start, *kind, *command;
    } known[] = {
        {"\x80", "looks like a memory snapshot of PyTorch", "import"},
        {"{", "is JSON, like a trace or a description", "estimate"},
        {"[", "is JSON, like a trace or a description", "estimate"},
        {"\x1f\x8b", "is compressed, like a trace", "estimate"},
    };
    const char *at = data, *end = at + size;
    while (at < end && at - (const char *)data < 64 && *at && strchr(" \t\r\n", *at))
        at++;
    if (own_document_tell(path, own_document(at, end), end, what, error))
        return PLM_EFORMAT;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (starts_with(at, end, known[i].start))
            return plm_fail(error, PLM_EFORMAT, "%.200s is not %s: it %s; `plimsoll %s %.200s` reads it", path, what,
                            known[i].kind, known[i].command, path);
    }
    if (plm_input_is_program(path))
        return plm_fail(error, PLM_EFORMAT, "%.200s is not %s but a program: `plimsoll -- python %.200s` records it",
                        path, what, path);
    return plm_fail(error, PLM_EFORMAT, "%.300s is not %s", path, what);
}
