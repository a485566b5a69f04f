#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "cli/cli.h"
#include "import/import.h"

struct request {
    const char *path, *output;
    bool force;
};

static int parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    const struct plm_option table[] = {
        {"output", 'o', PLM_OPTION_TEXT, &r->output, false},
        {"force", 'f', PLM_OPTION_FLAG, &r->force, false},
    };
    int words, status = plm_options_among(table, sizeof table / sizeof table[0], "import", argc, argv, &r->path, 1,
                                          &words, error);
    if (status == 0 && words != 1)
        status = plm_fail(error, PLM_EINVAL, "%s; write `plimsoll import SNAPSHOT.pickle`",
                          words ? "one snapshot at a time" : "no snapshot given");
    return status;
}

/* snapshot.pickle becomes snapshot.plm, in the current folder. */
static int name_output(const char *path, char *out, size_t size, struct plm_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    if (snprintf(out, size, "%.*s.plm", (int)n, name) >= (int)size)
        return plm_fail(error, PLM_EINVAL, "the name is too long; -o names the record");
    return 0;
}

/* The whole file in memory; it is read as it is needed. */
static int map_file(const char *path, void **data, size_t *size, struct plm_error *error)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        status = plm_fail(error, PLM_EIO, "cannot read %.300s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode) || !st.st_size)
        status = plm_fail(error, PLM_EFORMAT, "%.300s is %s", path, S_ISREG(st.st_mode) ? "empty" : "not a file");
    else {
        *size = (size_t)st.st_size;
        *data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (*data == MAP_FAILED)
            status = plm_fail(error, PLM_EIO, "cannot read %.300s: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return status;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void tell(const struct plm_import_info *info, const char *record)
{
    printf("%zu event%s of %zu device%s, %zu allocation%s\n", info->events, info->events == 1 ? "" : "s", info->devices,
           info->devices == 1 ? "" : "s", info->allocations, info->allocations == 1 ? "" : "s");
    if (info->earlier)
        printf("The history begins late: %zu block%s %s there already, and an earlier peak is not in it.\n",
               info->earlier, info->earlier == 1 ? "" : "s", info->earlier == 1 ? "was" : "were");
    if (!info->agrees)
        puts("It does not end with what the snapshot says is there: sizes may be a little wrong.");
    printf("Record: %s\nNext:   plimsoll report %s\n", record, record);
}

int plm_cmd_import(int argc, char **argv)
{
    struct request r = {0};
    struct plm_import_info info = {0};
    struct plm_error error;
    char output[PATH_MAX];
    size_t size = 0;
    void *data = NULL;
    int status = parse(&r, argc, argv, &error);
    if (status == 0 && !r.output) {
        status = name_output(r.path, output, sizeof output, &error);
        r.output = output;
    }
    if (status == 0 && same_file(r.path, r.output))
        status = plm_fail(&error, PLM_EINVAL, "%.300s is the snapshot itself; name another file with -o", r.output);
    if (status < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    status = map_file(r.path, &data, &size, &error);
    if (status == 0) {
        status = plm_import_snapshot(data, size, r.path, r.output, r.force, &info, &error);
        munmap(data, size);
    }
    if (status < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    tell(&info, r.output);
    return PLM_EXIT_OK;
}
