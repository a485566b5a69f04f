#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "device/internal.h"
#include "device/shim.h"
#include "record/writer.h"

/*
 * Things the report must say in words: a library that talks past us, a PyTorch without CUDA, a GPU that is not simulated.
 */

void plm_static_runtime_seen(const void *return_address)
{
    Dl_info info;
    const char *slash;
    if (!dladdr(return_address, &info) || !info.dli_fname)
        return;
    slash = strrchr(info.dli_fname, '/');
    plm_record_note("static-runtime", slash ? slash + 1 : info.dli_fname);
}

void plm_gpu_missing(int index)
{
    char text[16];
    if (index < 0 || index >= PLM_DEVICES_MAX)
        return;
    snprintf(text, sizeof text, "%d", index);
    plm_record_note("gpu-missing", text);
}

void plm_gpus_counted(void)
{
    static atomic_bool told;
    if (!atomic_load_explicit(&told, memory_order_relaxed) && !atomic_exchange(&told, true))
        plm_record_note("gpus-counted", "");
}

struct loaded {
    bool torch_cpu, torch_cuda;
};

static int library_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct loaded *l = data;
    (void)size;
    if (info->dlpi_name && strstr(info->dlpi_name, "/libtorch_cpu.so"))
        l->torch_cpu = true;
    if (info->dlpi_name && strstr(info->dlpi_name, "/libtorch_cuda.so"))
        l->torch_cuda = true;
    return 0;
}

/* A CPU-only build never calls us, so the only moment to notice it is the end. */
__attribute__((destructor)) static void look_for_cpu_build(void)
{
    struct loaded l = {false, false};
    plm_libraries_each(library_visit, &l);
    if (l.torch_cpu && !l.torch_cuda)
        plm_record_note("cpu-only-torch", "");
}
