#include <dirent.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/internal.h"
#include "record/writer.h"

/*
 * Which library versions does the running PyTorch expect? Its wheel says so: torch/version.py has the
 * CUDA version, the metadata beside it pins the NVIDIA packages ("nvidia-cudnn-cu12 (==9.1.0.70)").
 * Where a build has no such metadata, the newest versions of its CUDA generation are assumed.
 */

static struct plm_software stack;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct plm_software assumed[] = {
    {.cuda = 12080, .cudnn = 91002, .nccl = 22705},
    {.cuda = 13020, .cudnn = 92600, .nccl = 23007},
};

static int find_torch(struct dl_phdr_info *info, size_t size, void *data)
{
    static const char tail[] = "/lib/libtorch_cuda.so";
    size_t n = info->dlpi_name ? strlen(info->dlpi_name) : 0;
    (void)size;
    if (n < sizeof tail || strcmp(info->dlpi_name + n - (sizeof tail - 1), tail))
        return 0;
    snprintf(data, 4096, "%.*s", (int)(n - (sizeof tail - 1)), info->dlpi_name);
    return 1;
}

static void read_version_file(const char *torch, struct plm_software *out)
{
    char path[4200], line[256];
    int major, minor;
    FILE *in;

    snprintf(path, sizeof path, "%s/version.py", torch);
    in = fopen(path, "re");
    if (!in)
        return;
    while (fgets(line, sizeof line, in)) {
        const char *quote = strpbrk(line, "'\"");
        if (quote && !strncmp(line, "__version__", 11))
            snprintf(out->torch, sizeof out->torch, "%.*s", (int)strcspn(quote + 1, "'\""), quote + 1);
        else if (quote && !strncmp(line, "cuda", 4) && sscanf(quote + 1, "%d.%d", &major, &minor) == 2)
            out->cuda = major * 1000 + minor * 10;
    }
    fclose(in);
}

/* "9.1.0.70" of a requirement line: the digits after "==". */
static bool pinned(const char *line, const char *package, int *a, int *b, int *c)
{
    const char *found = strstr(line, package), *equals = found ? strstr(found, "==") : NULL;
    return equals && sscanf(equals + 2, "%d.%d.%d", a, b, c) == 3;
}

static void read_metadata(const char *torch)
{
    char path[4600], line[512], site[4096], *slash;
    struct dirent *entry;
    DIR *dir;

    snprintf(site, sizeof site, "%s", torch);
    slash = strrchr(site, '/');
    if (!slash)
        return;
    *slash = '\0';
    dir = opendir(site);
    while (dir && (entry = readdir(dir))) {
        int a, b, c;
        FILE *in;
        if (strncmp(entry->d_name, "torch-", 6) || !strstr(entry->d_name, ".dist-info"))
            continue;
        snprintf(path, sizeof path, "%s/%s/METADATA", site, entry->d_name);
        in = fopen(path, "re");
        while (in && fgets(line, sizeof line, in)) {
            if (pinned(line, "nvidia-cudnn-", &a, &b, &c))
                stack.cudnn = a * 10000 + b * 100 + c;
            if (pinned(line, "nvidia-nccl-", &a, &b, &c))
                stack.nccl = a * 10000 + b * 100 + c;
        }
        if (in)
            fclose(in);
    }
    if (dir)
        closedir(dir);
}

static void assume(void)
{
    const struct plm_software *newest = &assumed[stack.cuda >= 13000 || !stack.cuda];
    stack.assumed = !stack.cuda || !stack.cudnn || !stack.nccl;
    stack.cuda = stack.cuda ? stack.cuda : newest->cuda;
    stack.cudnn = stack.cudnn ? stack.cudnn : newest->cudnn;
    stack.nccl = stack.nccl ? stack.nccl : newest->nccl;
}

void plm_software_tell(void)
{
    char text[32];
    if (stack.torch[0])
        plm_record_config("torch", stack.torch);
    snprintf(text, sizeof text, "%d.%d", stack.cuda / 1000, stack.cuda % 1000 / 10);
    plm_record_config("cuda", text);
    snprintf(text, sizeof text, "%d", stack.cudnn);
    plm_record_config("cudnn", text);
    snprintf(text, sizeof text, "%d", stack.nccl);
    plm_record_config("nccl", text);
    if (stack.assumed)
        plm_record_note("stack-assumed", "");
}

static void load(void)
{
    char torch[4096] = "";
    plm_libraries_each(find_torch, torch);
    if (torch[0]) {
        read_version_file(torch, &stack);
        read_metadata(torch);
    }
    assume();
    plm_software_tell();
}

const struct plm_software *plm_software(void)
{
    pthread_once(&once, load);
    return &stack;
}

/* -1 while no PyTorch is loaded. */
static int release_read(void)
{
    struct plm_software read = {.torch = ""};
    char folder[4096] = "";
    plm_libraries_each(find_torch, folder);
    if (!folder[0])
        return -1;
    read_version_file(folder, &read);
    return (int)plm_torch_number(read.torch);
}

/* Not that of plm_software(), which may have been asked before PyTorch was loaded. Launches ask: one load once known. */
unsigned plm_device_torch_release(void)
{
    static _Atomic int known = -1; /* threads that race find the same */
    int release = known;
    if (release < 0)
        known = release = release_read();
    return release < 0 ? 0 : (unsigned)release;
}
