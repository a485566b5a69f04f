#include "base/install.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

/* Where each kind of installation keeps things, relative to the program's folder. */
struct layout {
    const char *shims, *programs, *libraries, *sampler, *hook, *data;
};

static const struct layout layouts[] = {
    {"src/shim", "src/shim/smi", "src/device", "src/study/measure", "../hook",
     "../data"}, /* a build folder inside the source tree */
    {"../lib/plimsoll/shim", "../lib/plimsoll/bin", "../lib/plimsoll", "../lib/plimsoll", "../lib/plimsoll",
     "../lib/plimsoll"},
    {"../lib64/plimsoll/shim", "../lib64/plimsoll/bin", "../lib64/plimsoll", "../lib64/plimsoll", "../lib64/plimsoll",
     "../lib64/plimsoll"},
    {"../lib/x86_64-linux-gnu/plimsoll/shim", "../lib/x86_64-linux-gnu/plimsoll/bin",
     "../lib/x86_64-linux-gnu/plimsoll", "../lib/x86_64-linux-gnu/plimsoll", "../lib/x86_64-linux-gnu/plimsoll",
     "../lib/x86_64-linux-gnu/plimsoll"},
    {"../share/plimsoll/shim", "../share/plimsoll/bin", "../share/plimsoll", "../share/plimsoll", "../share/plimsoll",
     "../share/plimsoll"},
};

/* Makes FOLDER/PART/FILE an absolute path without dots; false if it does not exist. */
static bool path_place(char out[4096], const char *folder, const char *part, const char *file)
{
    char joined[PATH_MAX], resolved[PATH_MAX];
    int n = snprintf(joined, sizeof joined, "%s/%s%s%s", folder, part, *file ? "/" : "", file);
    if (n < 0 || (size_t)n >= sizeof joined || !realpath(joined, resolved) || strlen(resolved) >= 4096)
        return false;
    strcpy(out, resolved);
    return true;
}

int plm_install_find(struct plm_install *install, struct plm_error *error)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (n <= 0)
        return plm_fail(error, PLM_EIO, "cannot find the program's own path: /proc is not mounted");
    self[n] = '\0';
    slash = strrchr(self, '/');
    *slash = '\0';
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        const struct layout *l = &layouts[i];
        if (path_place(install->shims, self, l->shims, "") && path_place(install->programs, self, l->programs, "") &&
            path_place(install->device, self, l->libraries, "libplimsoll-device.so") &&
            path_place(install->audit, self, l->libraries, "libplimsoll-audit.so") &&
            path_place(install->sampler, self, l->sampler, "libplimsoll-sampler.so") &&
            path_place(install->hook, self, l->hook, "plimsoll_hook/__init__.py") &&
            path_place(install->capture, self, l->hook, "plimsoll_capture/entry") &&
            path_place(install->calibrate, self, l->hook, "plimsoll_calibrate.py") &&
            path_place(install->calibrate_time, self, l->hook, "plimsoll_calibrate_time.py") &&
            path_place(install->learn, self, l->hook, "plimsoll_learn/__main__.py") &&
            path_place(install->dataset, self, l->hook, "plimsoll_dataset/__main__.py") &&
            path_place(install->server, self, l->hook, "plimsoll_server/__main__.py") &&
            path_place(install->gpus, self, l->data, "gpus") &&
            path_place(install->capabilities, self, l->data, "compute-capabilities.ini") &&
            path_place(install->stacks, self, l->data, "stacks") &&
            path_place(install->topologies, self, l->data, "topologies") &&
            path_place(install->timing, self, l->data, "timing"))
            return 0;
    }
    return plm_fail(error, PLM_EIO,
                    "the installation at %s is incomplete: its libraries are missing; install plimsoll again", self);
}

static int is_ini(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && n > 4 && !strcmp(entry->d_name + n - 4, ".ini");
}

static int folder_each(const char *folder, bool own, plm_install_visit *visit, void *context, struct plm_error *error)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, is_ini, alphasort), status = 0;
    if (n < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : plm_fail(error, PLM_EIO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (status == 0 && length > 0 && (size_t)length < sizeof path)
            status = visit(path, own, context, error);
        free(names[i]);
    }
    free(names);
    return status;
}

int plm_install_each(const char *folder, const char *kind, plm_install_visit *visit, void *context,
                     struct plm_error *error)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int status = folder_each(folder, false, visit, context, error);
    char own[4096];
    if (status < 0)
        return status;
    if (config && *config == '/') /* others are no folder of the user's, says its specification */
        snprintf(own, sizeof own, "%s/plimsoll/%s", config, kind);
    else
        snprintf(own, sizeof own, "%s/.config/plimsoll/%s", home ? home : "", kind);
    return folder_each(own, true, visit, context, error);
}
