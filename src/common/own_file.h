/*
 * A file that plimsoll holds open in the user's process, where a number is nobody's: a program that becomes a daemon closes
 * every descriptor, and dup2() takes any. So no number is used unchecked:
 *
 *   struct plm_own_file file;
 *   plm_own_file_open(&file, path, O_RDWR);
 *   fd = plm_own_file_use(&file);            before each use: it is this file, or the file was opened again
 *   ...                                      whatever cannot be undone comes after another plm_own_file_is()
 *   plm_own_file_close(&file);               closes it, unless the number has become another file
 *
 * Which file it is say device and inode. Whoever maps the file keeps the inode from being given to another one. It is
 * opened again by its path, which is absolute; the numbers are high, out of the way of programs that count theirs from 3.
 *
 * The structure belongs to the caller. Any thread may use it, without a lock; one opens and closes it. A forked child
 * goes on with it. Nothing here allocates; what fails returns -1 with errno: ESTALE means that the path leads to another file.
 */
#ifndef PLM_COMMON_OWN_FILE_H
#define PLM_COMMON_OWN_FILE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct plm_own_file {
    _Atomic int fd; /* may be any file by now; -1: none */
    dev_t device;
    ino_t inode;
    int flags; /* of open() */
    char path[PATH_MAX];
};
#define PLM_OWN_FILE_NONE {.fd = -1}

/* 0 or -1. */
int plm_own_file_open(struct plm_own_file *file, const char *path, int flags);
/* A descriptor of the file, which stays the structure's; or -1. */
int plm_own_file_use(struct plm_own_file *file);
/* Another open file of the same one, which the caller ends with plm_own_file_drop(); or -1. */
int plm_own_file_again(const struct plm_own_file *file);
/* Is this descriptor the file? */
bool plm_own_file_is(const struct plm_own_file *file, int fd);
/* Closes it if it is. */
void plm_own_file_drop(const struct plm_own_file *file, int fd);
void plm_own_file_close(struct plm_own_file *file);

#endif
