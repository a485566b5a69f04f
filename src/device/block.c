#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "device/internal.h"
#include "record/writer.h"

/*
 * PyTorch reports every block that its caching allocators hand out or take back by calling
 * c10::reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, c10::Device), an exported function
 * of libc10. This library is preloaded, so the call arrives here first; it is passed on, so that a
 * profiler of the user's keeps working.
 */

struct c10_device { /* two bytes, passed in one register */
    int8_t type, index;
};
enum { C10_CUDA = 1 };

typedef void report_function(void *, int64_t, size_t, size_t, struct c10_device);
#define REPORT_NAME "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"

void plm_block_report(void *pointer, int64_t bytes, size_t allocated, size_t reserved,
                      struct c10_device where) __asm__(REPORT_NAME) __attribute__((visibility("default")));

static int find_c10(struct dl_phdr_info *info, size_t size, void *data)
{
    size_t n = info->dlpi_name ? strlen(info->dlpi_name) : 0;
    (void)size;
    if (n < 11 || strcmp(info->dlpi_name + n - 10, "/libc10.so"))
        return 0;
    snprintf(data, 4096, "%s", info->dlpi_name);
    return 1;
}

/* RTLD_NEXT does not see libraries that were opened RTLD_LOCAL, and torch's are. */
static report_function *original(void)
{
    static _Atomic(report_function *) found;
    report_function *f = atomic_load_explicit(&found, memory_order_relaxed);
    if (!f) {
        char path[4096] = "";
        void *library = NULL;
        dl_iterate_phdr(find_c10, path);
        if (path[0])
            library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
        if (library)
            f = (report_function *)dlsym(library, REPORT_NAME);
        atomic_store(&found, f);
    }
    return f;
}

static void raise_peak(_Atomic uint64_t *peak, uint64_t value)
{
    if (atomic_load_explicit(peak, memory_order_relaxed) < value)
        atomic_store_explicit(peak, value, memory_order_relaxed);
}

static void show(int device, uint64_t allocated, uint64_t reserved)
{
    struct plm_live *live = plm_record_live();
    if (device != 0)
        return; /* the progress line follows the first device of each process */
    atomic_store_explicit(&live->allocated, allocated, memory_order_relaxed);
    atomic_store_explicit(&live->reserved, reserved, memory_order_relaxed);
    raise_peak(&live->allocated_peak, allocated);
    raise_peak(&live->reserved_peak, reserved);
}

static void record_block(void *pointer, int64_t bytes, size_t allocated, size_t reserved, int device)
{
    static _Atomic uint64_t last_reserved[PLM_DEVICES_MAX];
    uint64_t words[2] = {(uint64_t)pointer, bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes};

    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    if (atomic_exchange_explicit(&last_reserved[device], reserved, memory_order_relaxed) != reserved) {
        uint64_t now = reserved;
        plm_record(PLM_EV_RESERVED, device, &now, 1);
    }
    plm_record(bytes < 0 ? PLM_EV_BLOCK_FREE : PLM_EV_BLOCK_ALLOC, device, words, 2);
    show(device, allocated, reserved);
    if (bytes > 0)
        plm_memory_recycle(words[0], words[1]);
}

void plm_block_report(void *pointer, int64_t bytes, size_t allocated, size_t reserved, struct c10_device where)
{
    report_function *next = original();
    if (where.type == C10_CUDA && bytes)
        record_block(pointer, bytes, allocated, reserved, where.index);
    if (next && next != plm_block_report)
        next(pointer, bytes, allocated, reserved, where);
}
