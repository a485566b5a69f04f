#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A run-time linker audit module (rtld-audit(7)), loaded by LD_AUDIT.
 *
 * Whenever the loader looks for an NVIDIA library, by SONAME, by path or under the hashed name that a
 * wheel bundles it with, it is given the shim of that library instead. Nothing is loaded before it is
 * asked for, so processes that never touch CUDA pay nothing, and each CUDA generation gets the shims
 * of its own version. The module lives in a link namespace of its own: it shares nothing with the
 * process but the file system and the environment.
 */

static char shim_folder[3072];

enum answer { NOT_OURS, SHIM, COPY };

/* Library families: the stem as NVIDIA spells it. The version that follows ".so." is kept. */
static const char *const stems[] = {
    "libcuda",      "libcudart", "libcublas",   "libcublasLt",     "libcudnn",      "libcufft", "libcufile",
    "libcupti",     "libcurand", "libcusolver", "libcusparse",     "libcusparseLt", "libnccl",  "libnvidia-ml",
    "libnvJitLink", "libnvjpeg", "libnvrtc",    "libnvshmem_host", "libnvToolsExt",
};

/* Names without a version: what the linker name would point to. */
static const struct {
    const char *name, *file;
} bare[] = {
    {"libcuda.so", "libcuda.so.1"},   {"libnvidia-ml.so", "libnvidia-ml.so.1"},   {"libnccl.so", "libnccl.so.2"},
    {"libcudnn.so", "libcudnn.so.9"}, {"libnvToolsExt.so", "libnvToolsExt.so.1"}, {"libcudart.so", "libcudart.so.13"},
};

__attribute__((visibility("default"))) unsigned la_version(unsigned version);
__attribute__((visibility("default"))) char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

unsigned la_version(unsigned version)
{
    const char *folder = getenv("PLIMSOLL_SHIMS");
    snprintf(shim_folder, sizeof shim_folder, "%s", folder ? folder : "");
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* "libcudart.so.12", "libcudart.41118559.so.12" and "libcudart-9335f6a2.so.12" are all libcudart 12;
   "libcudnn_ops.so.9" belongs to libcudnn. Writes the shim's file name. */
static enum answer shim_file(const char *file, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
        if (!strcmp(file, bare[i].name)) {
            snprintf(out, size, "%s", bare[i].file);
            return SHIM;
        }
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) {
        size_t n = strlen(stems[i]);
        const char *version = strstr(file, ".so.");
        if (strncmp(file, stems[i], n) || !version || version < file + n)
            continue;
        if (file[n] != '.' && file[n] != '-' && !(file[n] == '_' && !strcmp(stems[i], "libcudnn")))
            continue;
        /* Only the first number: libcudart.so.12.4.127 is version 12. */
        snprintf(out, size, "%s.so.%.*s", stems[i], (int)strspn(version + 4, "0123456789"), version + 4);
        return version == file + n ? SHIM : COPY;
    }
    return NOT_OURS;
}

/* The loader remembers under which name it was asked for a library only when it loads a new file, and
   it needs that name to check symbol versions. So a bundled library, whose name is not the shim's,
   gets a copy of the shim as a file of its own, in memory. Its descriptor stays open for those who look at what is loaded
   by name, out of the program's way; nothing here uses it again. */
static bool copy_of(char *path, size_t size)
{
    const char *slash = strrchr(path, '/');
    char name[128], buffer[65536];
    int high, in = open(path, O_RDONLY | O_CLOEXEC), out;
    ssize_t n = 0;

    snprintf(name, sizeof name, "plimsoll-%.100s", slash ? slash + 1 : path);
    out = memfd_create(name, MFD_CLOEXEC);
    while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)n) != n) {
            n = -1;
            break;
        }
    if (in >= 0)
        close(in);
    if (in < 0 || out < 0 || n < 0) {
        if (out >= 0)
            close(out);
        return false;
    }
    high = fcntl(out, F_DUPFD_CLOEXEC, 512);
    if (high >= 0) {
        close(out);
        out = high;
    }
    snprintf(path, size, "/proc/self/fd/%d", out);
    return true;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    static __thread char path[4096];
    const char *slash = strrchr(name, '/');
    enum answer answer;
    char file[256];

    (void)cookie;
    if (flag != LA_SER_ORIG || !shim_folder[0])
        return (char *)name;
    answer = shim_file(slash ? slash + 1 : name, file, sizeof file);
    if (answer == NOT_OURS)
        return (char *)name;
    snprintf(path, sizeof path, "%s/%s", shim_folder, file);
    if (access(path, R_OK) || (answer == COPY && !copy_of(path, sizeof path)))
        return (char *)name;
    return path;
}
