#include "base/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

/* Does the file end in the middle of a line, as one that an editor left? */
static bool lacks_newline(int file, off_t size)
{
    char last = '\n';
    return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

/* 0, or the errno. */
static int text_add(int file, const char *text, size_t size, off_t before)
{
    size_t done = 0;
    ssize_t n = 0;
    int number;
    while (done < size && (n = write(file, text + done, size - done)) > 0)
        done += (size_t)n;
    if (done == size)
        return 0;
    number = n < 0 ? errno : ENOSPC;
    return ftruncate(file, before) ? EIO : number; /* no half of a row */
}

static int rows_add(int file, plm_append_writer *write, const void *what)
{
    struct stat info;
    char *text = NULL;
    size_t size = 0;
    int number;
    FILE *out;
    if (flock(file, LOCK_EX) || fstat(file, &info) || !(out = open_memstream(&text, &size)))
        return errno;
    if (lacks_newline(file, info.st_size))
        fputc('\n', out);
    write(out, info.st_size == 0, what);
    number = fclose(out) ? errno : text_add(file, text, size, info.st_size);
    free(text);
    return number;
}

int plm_append(const char *path, plm_append_writer *write, const void *what, struct plm_error *error)
{
    const int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
    int number = file < 0 ? errno : rows_add(file, write, what);
    if (file >= 0 && close(file) && !number)
        number = errno;
    return number ? plm_fail(error, PLM_EIO, "cannot write %.300s: %s", path, strerror(number)) : 0;
}
