#include "study/rows/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/install.h"

uint64_t plm_rows_key_text(uint64_t key, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    do
        key = (key ^ *p) * 0x100000001b3ull;
    while (*p++);
    return key;
}

uint64_t plm_rows_key_file(uint64_t key, const char *folder, const char *name)
{
    char path[4096], text[64];
    struct stat s = {0};
    snprintf(path, sizeof path, "%.3800s%s%.200s", folder, *name ? "/" : "", name);
    key = plm_rows_key_text(key, path);
    if (stat(path, &s) == 0) {
        snprintf(text, sizeof text, "%lld %lld", (long long)s.st_size, (long long)s.st_mtime);
        key = plm_rows_key_text(key, text);
    }
    return key;
}

uint64_t plm_rows_key_device(uint64_t key, const struct plm_install *install)
{
    static const char *const variables[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "CUBLAS_WORKSPACE_CONFIG",
                                            "PLIMSOLL_CONV_WORKSPACE"};
    key = plm_rows_key_file(plm_rows_key_file(key, install->device, ""), install->shims, "");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        key = plm_rows_key_text(key, value ? value : "");
    }
    return key;
}
