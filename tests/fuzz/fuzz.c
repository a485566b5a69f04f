#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/ini.h"
#include "base/output.h"
#include "common/utf8.h"

/* ---- files ---- */

struct file {
    int fd; /* and 1 */
    char path[64];
};

static const char *file_fill(struct file *file, const void *data, size_t size)
{
    if (!file->fd) {
        file->fd = memfd_create("fuzz", MFD_CLOEXEC) + 1;
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd - 1);
    }
    MUST(file->fd && !ftruncate(file->fd - 1, 0) && (!size || pwrite(file->fd - 1, data, size, 0) == (ssize_t)size));
    return file->path;
}

const char *fuzz_file(const void *data, size_t size)
{
    static struct file file;
    return file_fill(&file, data, size);
}

enum { PLACES = 16 };
static struct {
    char path[128]; /* "": this one is free */
    bool there;
    struct file file;
} places[PLACES];

void fuzz_place(const char *path, const void *data, size_t size)
{
    int i = 0;
    while (places[i].path[0] && strcmp(places[i].path, path)) {
        i++;
        MUST(i < PLACES);
    }
    MUST(snprintf(places[i].path, sizeof places[i].path, "%s", path) < (int)sizeof places[i].path);
    places[i].there = data != NULL;
    if (data)
        file_fill(&places[i].file, data, size);
}

/* Where it really is. */
static const char *place_of(const char *path)
{
    for (int i = 0; i < PLACES && places[i].path[0]; i++)
        if (places[i].there && !strcmp(places[i].path, path))
            return places[i].file.path;
    return path;
}

int __real_plm_input_open(const char *path, uint64_t *size, struct plm_error *error);
int __wrap_plm_input_open(const char *path, uint64_t *size, struct plm_error *error);
int __wrap_plm_input_open(const char *path, uint64_t *size, struct plm_error *error)
{
    return __real_plm_input_open(place_of(path), size, error);
}

/* By the names that they have with offsets of 64 bits, which Meson asks for. */
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode)
{
    return __real_fopen64(place_of(path), mode);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    const char *place = place_of(path);
    struct stat there;
    va_list list;
    mode_t mode;
    va_start(list, flags);
    mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (place == path)
        return __real_open64(path, flags, mode);
    if (flags & O_EXCL && (stat(place, &there) || there.st_size)) {
        errno = EEXIST;
        return -1;
    }
    return __real_open64(place, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)); /* it is a link to memory */
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    return __real_access(place_of(path), mode);
}

/* ---- settings ---- */

enum { INI_FILES = 2 };
static struct {
    const char *path, *text;
    size_t size;
} ini[INI_FILES];

void fuzz_ini(const char *path, const void *text, size_t size)
{
    int i = 0;
    while (ini[i].path && strcmp(ini[i].path, path)) {
        i++;
        MUST(i < INI_FILES);
    }
    ini[i].path = path;
    ini[i].text = text;
    ini[i].size = size;
}

int __wrap_plm_ini_read(const char *path, plm_ini_visit *visit, void *context, struct plm_error *error);
int __wrap_plm_ini_read(const char *path, plm_ini_visit *visit, void *context, struct plm_error *error)
{
    for (int i = 0; i < INI_FILES; i++)
        if (ini[i].path && !strcmp(ini[i].path, path))
            return plm_ini_parse(path, ini[i].text, ini[i].size, visit, context, error);
    return plm_fail(error, PLM_ENOTFOUND, "%s: there is none", path);
}

/* ---- outputs ---- */

static char *written;

const char *fuzz_written(void)
{
    return written;
}

int __wrap_plm_output_open(struct plm_output *output, const char *path, const struct plm_output_rule *rule,
                           struct plm_error *error);
int __wrap_plm_output_open(struct plm_output *output, const char *path, const struct plm_output_rule *rule,
                           struct plm_error *error)
{
    (void)path, (void)rule, (void)error;
    written = (char *)fuzz_file("", 0);
    *output = (struct plm_output){.fd = -1, .temporary = written};
    return 0;
}

int __wrap_plm_output_keep(struct plm_output *output, struct plm_error *error);
int __wrap_plm_output_keep(struct plm_output *output, struct plm_error *error)
{
    (void)output, (void)error;
    return 0;
}

void __wrap_plm_output_drop(struct plm_output *output);
void __wrap_plm_output_drop(struct plm_output *output)
{
    (void)output;
    written = NULL;
}

/* ---- what is said ---- */

void fuzz_sentence(const struct plm_error *error)
{
    MUST(error->text[0] && memchr(error->text, '\0', sizeof error->text) && !strchr(error->text, '\n'));
}

/* U+061C, U+200E and U+200F, U+202A to U+202E, U+2066 to U+2069: they change what others look like. */
static bool is_direction(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void fuzz_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        const unsigned n = text[i] ? plm_utf8_length(text + i) : 0;
        uint32_t c = (unsigned char)text[i];
        MUST(n && i + n <= size);
        c = n == 1 ? c : c & (0x7fu >> n);
        for (unsigned k = 1; k < n; k++)
            c = c << 6 | ((unsigned char)text[i + k] & 0x3f);
        MUST(c == '\n' || (c >= 0x20 && (c < 0x7f || c >= 0xa0)));
        MUST(!is_direction(c));
        i += n;
    }
}
