#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/temporary.h"

enum { SUFFIX = 4, SPARED = 3 }; /* ".tmp"; --config, the user's own, the folder's */

/* ---- what stands where it shall be ---- */

enum place {
    PLACE_FREE,
    PLACE_FILE,   /* a regular one, to be replaced */
    PLACE_STREAM, /* written to as it is */
    PLACE_STDOUT, /* likewise, and it is open already */
};

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int fail_to_write(const char *path, bool record, int number, struct plm_error *error)
{
    return plm_fail(error, PLM_EIO, "cannot write %.300s: %s%s", path, strerror(number),
                    record ? "; choose another place with -o" : "");
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int folder_stat(const char *path, struct stat *folder)
{
    char *text = plm_asprintf("%.*s.", (int)(name_of(path) - path), path);
    const int status = stat(text, folder), number = errno;
    free(text);
    errno = number;
    return status;
}

/* Where nothing stands yet, the folder and the name say that two paths mean one place. Devices lose nothing. */
static bool same_place(const char *path, const struct stat *there, const char *other)
{
    struct stat file, folder;
    if (!strcmp(path, "-") || !strcmp(other, "-"))
        return !strcmp(path, other);
    if (there)
        return !S_ISCHR(there->st_mode) && stat(other, &file) == 0 && same_file(there, &file);
    return !strcmp(name_of(path), name_of(other)) && folder_stat(path, &folder) == 0 &&
           folder_stat(other, &file) == 0 && same_file(&folder, &file);
}

/* Files that settings came from. */
static struct {
    dev_t device;
    ino_t file;
} spared[SPARED];
static int spared_count;

static bool is_spared(const struct stat *there)
{
    for (int i = 0; i < spared_count; i++)
        if (spared[i].device == there->st_dev && spared[i].file == there->st_ino)
            return true;
    return false;
}

void plm_output_spare(const char *path)
{
    struct stat there;
    if (stat(path, &there) || !S_ISREG(there.st_mode) || is_spared(&there) || spared_count == SPARED)
        return;
    spared[spared_count].device = there.st_dev;
    spared[spared_count++].file = there.st_ino;
}

static int needed_check(const char *path, const struct stat *there, const struct plm_output_rule *rule,
                        struct plm_error *error)
{
    const char *needed = NULL;
    for (int i = 0; i < PLM_OUTPUT_INPUTS && !needed; i++)
        if (rule->input[i] && rule->input[i] != path && same_place(path, there, rule->input[i]))
            needed = rule->input[i];
    for (char *const *word = there ? rule->words : NULL; word && *word && !needed; word++)
        if (same_place(path, there, *word))
            needed = *word;
    if (there && is_spared(there))
        return plm_fail(error, PLM_EINVAL, "%.300s has settings for this command", path);
    if (!needed)
        return 0;
    if (!strcmp(path, needed))
        return plm_fail(error, PLM_EINVAL, "%.300s: this command already uses it for something else", path);
    return plm_fail(error, PLM_EINVAL, "%.220s is %.220s: this command already uses it for something else", path,
                    needed);
}

/* Can a file be made beside it? Told before a command that takes hours, not after it. */
static int folder_check(const char *path, const struct plm_output_rule *rule, struct plm_error *error)
{
    char *folder = plm_asprintf("%.*s.", (int)(name_of(path) - path), path);
    const int number = faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) ? errno : 0;
    free(folder);
    return number ? fail_to_write(path, rule->record, number, error) : 0;
}

static int free_check(const char *path, const struct plm_output_rule *rule, struct plm_error *error)
{
    int status;
    if (!*path)
        return plm_fail(error, PLM_EINVAL, "a file to write has no name");
    status = folder_check(path, rule, error);
    return status < 0 ? status : needed_check(path, NULL, rule, error);
}

/* The folder of a file is where the link to it leads. */
static int file_check(const char *path, const struct plm_output_rule *rule, struct plm_error *error)
{
    char *target;
    int status;
    if (!rule->force)
        return plm_fail(error, PLM_EIO, "%.300s exists; use -f to replace it", path);
    target = realpath(path, NULL);
    status = target ? folder_check(target, rule, error) : fail_to_write(path, rule->record, errno, error);
    free(target);
    return status;
}

static int place_find(const char *path, const struct plm_output_rule *rule, enum place *place, struct stat *there,
                      struct plm_error *error)
{
    const char *what = NULL;
    struct stat other;
    int status;
    *place = PLACE_STDOUT;
    if (!strcmp(path, "-") && rule->record)
        return plm_fail(error, PLM_EINVAL, "a record must be a file: '-' is standard output");
    if (!strcmp(path, "-"))
        return needed_check(path, NULL, rule, error);
    *place = PLACE_FREE;
    if (stat(path, there)) {
        if (lstat(path, &other) == 0)
            return plm_fail(error, PLM_EIO, "cannot write %.300s: it is a dangling link", path);
        return errno == ENOENT ? free_check(path, rule, error) : fail_to_write(path, rule->record, errno, error);
    }
    status = needed_check(path, there, rule, error);
    if (status < 0)
        return status;
    if (!S_ISREG(there->st_mode) && !S_ISCHR(there->st_mode) && !S_ISFIFO(there->st_mode))
        what = S_ISDIR(there->st_mode) ? "a folder" : S_ISBLK(there->st_mode) ? "a disk" : "not a file";
    else if (rule->record && !S_ISREG(there->st_mode))
        what = "a device or a pipe, but a record must be a file";
    if (what)
        return plm_fail(error, PLM_EIO, "cannot write %.300s: it is %s", path, what);
    if (!rule->record && fstat(STDOUT_FILENO, &other) == 0 && same_file(there, &other))
        *place = PLACE_STDOUT;
    else
        *place = S_ISREG(there->st_mode) ? PLACE_FILE : PLACE_STREAM;
    return *place == PLACE_FILE ? file_check(path, rule, error) : 0;
}

int plm_output_check(const char *path, const struct plm_output_rule *rule, struct plm_error *error)
{
    enum place place;
    struct stat there;
    return place_find(path, rule, &place, &there, error);
}

/* ---- opening ---- */

/* NAME.XXXXXX.tmp in the folder of the target; a long name is cut. */
static int temporary_open(struct plm_output *o, enum place place, const struct stat *there)
{
    const char *name = name_of(o->target);
    mode_t mask;
    o->temporary = plm_asprintf("%.*s%.200s.XXXXXX.tmp", (int)(name - o->target), o->target, name);
    o->fd = plm_temporary_file(o->temporary, SUFFIX);
    if (o->fd < 0 || o->record)
        return o->fd < 0 ? -1 : 0;
    umask(mask = umask(0));
    return fchmod(o->fd, place == PLACE_FILE ? there->st_mode & 0777 : 0666 & ~mask);
}

static int place_open(struct plm_output *o, enum place place, const struct stat *there)
{
    switch (place) {
    case PLACE_STDOUT:
        fflush(stdout);
        o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        return o->fd < 0 ? -1 : 0;
    case PLACE_STREAM: o->fd = open(o->path, O_WRONLY | O_NOCTTY | O_CLOEXEC); return o->fd < 0 ? -1 : 0;
    case PLACE_FILE: o->target = realpath(o->path, NULL); break;
    case PLACE_FREE: o->target = plm_strdup(o->path); break;
    }
    return o->target ? temporary_open(o, place, there) : -1;
}

int plm_output_open(struct plm_output *o, const char *path, const struct plm_output_rule *rule, struct plm_error *error)
{
    enum place place;
    struct stat there;
    int status, number;
    *o = (struct plm_output){.fd = -1, .force = rule->force, .record = rule->record};
    status = place_find(path, rule, &place, &there, error);
    if (status < 0)
        return status;
    o->path = plm_strdup(path);
    if (place_open(o, place, &there) == 0)
        return 0;
    number = errno;
    plm_output_drop(o);
    return fail_to_write(path, rule->record, number, error);
}

FILE *plm_output_stream(struct plm_output *o)
{
    if (!o->stream && !(o->stream = fdopen(o->fd, "w")))
        abort(); /* as where memory ends: see base/memory.h */
    return o->stream;
}

/* ---- the end ---- */

static void output_free(struct plm_output *o)
{
    if (o->temporary)
        plm_temporary_forget(o->temporary);
    free(o->path);
    free(o->target);
    free(o->temporary);
    *o = (struct plm_output){.fd = -1};
}

/* 0, or the errno of what could not be written. */
static int output_close(struct plm_output *o)
{
    bool failed = false;
    errno = 0;
    if (o->stream) {
        failed = fflush(o->stream) != 0 || ferror(o->stream) != 0;
        failed |= fclose(o->stream) != 0;
    } else if (o->fd >= 0)
        failed = close(o->fd) != 0;
    o->stream = NULL;
    o->fd = -1;
    return !failed ? 0 : errno ? errno : EIO;
}

/* Replaces nothing. Not every file system knows how to rename so. */
static int rename_to_free(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) == 0) {
        plm_temporary_remove(from);
        return 0;
    }
    if (errno == EEXIST || access(to, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/* Replaces a regular file. What stands there may have changed since it was opened. */
static int rename_over(const char *from, const char *to)
{
    struct stat there;
    if (lstat(to, &there) == 0 && !S_ISREG(there.st_mode)) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

int plm_output_keep(struct plm_output *o, struct plm_error *error)
{
    const int number = output_close(o);
    int status = 0;
    if (number)
        status = fail_to_write(o->path, o->record, number, error);
    else if (o->temporary && (o->force ? rename_over : rename_to_free)(o->temporary, o->target)) {
        if (o->record) {
            status = plm_fail(error, PLM_EIO, "cannot create %.300s: %s; the record stays in %.300s", o->path,
                              strerror(errno), o->temporary);
            output_free(o);
            return status;
        }
        status = fail_to_write(o->path, false, errno, error);
    }
    if (status < 0 && o->temporary)
        plm_temporary_remove(o->temporary);
    output_free(o);
    return status;
}

void plm_output_drop(struct plm_output *o)
{
    output_close(o);
    if (o->temporary)
        plm_temporary_remove(o->temporary);
    output_free(o);
}

/* ---- all of it ---- */

/* Writes it, down to the disk, and gives it no name yet. */
static int part_write(struct plm_output *o, const struct plm_output_part *part, struct plm_error *error)
{
    FILE *out = plm_output_stream(o);
    int status = part->write(out, part->what, error);
    if (ferror(out) || (status == 0 && (fflush(out) || (o->temporary && fsync(o->fd)))))
        status = fail_to_write(part->path, false, errno ? errno : EIO, error);
    return status;
}

/* Files first: what was written to a pipe cannot be taken back when one of them fails. */
int plm_output_write_all(const struct plm_output_part *part, int parts, struct plm_error *error)
{
    struct plm_output output[PLM_OUTPUT_PARTS] = {0};
    int status = 0, opened = 0;
    for (; opened < parts && status == 0; opened++)
        if (part[opened].path)
            status = plm_output_open(&output[opened], part[opened].path, &part[opened].rule, error);
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < parts && status == 0; i++)
            if (part[i].path && (output[i].temporary ? 0 : 1) == turn)
                status = part_write(&output[i], &part[i], error);
    for (int i = 0; i < opened; i++)
        if (!output[i].path)
            continue;
        else if (status == 0)
            status = plm_output_keep(&output[i], error);
        else
            plm_output_drop(&output[i]);
    return status;
}

int plm_output_write(const char *path, const struct plm_output_rule *rule, plm_output_writer *write, const void *what,
                     struct plm_error *error)
{
    return plm_output_write_all(&(struct plm_output_part){path, write, what, *rule}, 1, error);
}
