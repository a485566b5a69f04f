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

static atomic_bool counted;

void plm_gpus_counted(void)
{
    atomic_store_explicit(&counted, true, memory_order_relaxed);
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

static bool used_any(void)
{
    int i = 0;
    while (i < PLM_DEVICES_MAX && !plm_device_active(i))
        i++;
    return i < PLM_DEVICES_MAX;
}

/* What a program never did is known at its end: a CPU-only build does not call us, and who counts GPUs may use none. */
__attribute__((destructor)) static void look_at_the_end(void)
{
    struct loaded l = {false, false};
    plm_libraries_each(library_visit, &l);
    if (l.torch_cpu && !l.torch_cuda)
        plm_record_note("cpu-only-torch", "");
    if (atomic_load_explicit(&counted, memory_order_relaxed) && !used_any())
        plm_record_note("gpus-counted", "");
}
