/*
 * The virtual GPU, as the shims see it.
 *
 * It answers for memory, streams, copies and identity; it computes nothing. All state belongs to the
 * process and lives until it ends. Functions may be called from any thread. Those that can fail
 * return 0 or a negative PLM_DEV_* code which the shim translates to its library's own error; they
 * never print. Device memory is address space without storage, except for small allocations
 * (PLM_BACKED_MAX), which hold what the host wrote into them.
 */
#ifndef PLM_DEVICE_H
#define PLM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/card.h"

#define PLM_DEVICES_MAX 64
#define PLM_PAGE        (2ull << 20) /* granularity of physical memory */
#define PLM_BACKED_MAX  (2ull << 20) /* allocations up to this size have real bytes behind them */

enum plm_dev_status {
    PLM_DEV_OK = 0,
    PLM_DEV_INVALID = -1,   /* a bad argument or an unknown address */
    PLM_DEV_NOMEM = -2,     /* the card is full */
    PLM_DEV_CAPTURE = -3,   /* not permitted while a stream captures */
    PLM_DEV_NOHOST = -4,    /* the host is out of memory or address space */
    PLM_DEV_NOT_MAPPED = -5,
    PLM_DEV_OWN = -6,       /* a handle of this process, which only others can open */
};

/* ---- devices ---- */
int plm_device_count(void);
const struct plm_card *plm_device_card(int device);
/* Which card of the machine a device is, from 1: the same for all processes that see it, by whatever index. */
uint32_t plm_device_number(int device);
int plm_device_current(void);                /* of the calling thread */
int plm_device_select(int device);           /* PLM_DEV_INVALID if there is no such device */
void plm_device_activate(int device);        /* its primary context exists from now on */
bool plm_device_active(int device);
void plm_device_memory(int device, uint64_t *free_bytes, uint64_t *total_bytes);

/* ---- memory (memory.c) ---- */
enum plm_mem_kind {
    PLM_MEM_NONE,      /* not ours: ordinary host memory */
    PLM_MEM_DEVICE,
    PLM_MEM_HOST,      /* pinned or registered */
    PLM_MEM_MANAGED,
};
struct plm_mem_info {
    enum plm_mem_kind kind;
    int device;
    uint64_t base;     /* start of the allocation, not of the queried address */
    uint64_t size;
    unsigned flags;    /* what the host allocation was made with */
    uint64_t id;       /* unique per allocation */
};
int plm_mem_alloc(int device, uint64_t size, uint64_t *address);
int plm_mem_free(uint64_t address);          /* any kind of device or managed allocation */
struct plm_mem_info plm_mem_query(const void *address);
int plm_mem_managed(int device, uint64_t size, uint64_t *address);
int plm_mem_host_alloc(uint64_t size, unsigned flags, void **address);
int plm_mem_host_free(void *address);
int plm_mem_host_register(void *address, uint64_t size, unsigned flags);
int plm_mem_host_unregister(void *address);

/* Memory that a library takes on the device outside the caching allocator (NCCL buffers, handles).
   It counts against the card; the record names it. */
int plm_mem_library(int device, const char *library, uint64_t size, uint64_t *address);

/* The virtual-memory API: address ranges, physical handles, mappings. */
int plm_vmm_reserve(uint64_t size, uint64_t align, uint64_t hint, uint64_t *address);
int plm_vmm_release_range(uint64_t address, uint64_t size);
int plm_vmm_create(int device, uint64_t size, uint64_t *handle);
int plm_vmm_retain(uint64_t handle);
int plm_vmm_release(uint64_t handle);
int plm_vmm_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle);
int plm_vmm_unmap(uint64_t address, uint64_t size);
int plm_vmm_set_access(uint64_t address, uint64_t size);
int plm_vmm_handle_of(uint64_t address, uint64_t *handle); /* retains it */
int plm_vmm_handle_info(uint64_t handle, int *device, uint64_t *size);

/* ---- copies (copy.c) ---- */
/* Copies as far as bytes exist on both sides: backed device memory and host memory really move,
   unbacked memory reads as zeros and swallows writes. `sync` says whether the host waits. */
void plm_copy(void *dst, const void *src, size_t bytes);
/* How many of these bytes of the device, from the first on, are what a card would hold, if no kernel wrote them that was
   launched after the first `since`. Waits for those that were promised (promised.h). */
size_t plm_bytes_known(const void *address, size_t bytes, uint64_t since);
/* The same from the last on; 0 where operators are not followed. */
size_t plm_bytes_known_last(const void *address, size_t bytes);
/* They are not any more: something that is not told was written there. */
void plm_bytes_forget(const void *address, size_t bytes);
void plm_copy_2d(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height);
void plm_fill(void *dst, uint64_t pattern, unsigned pattern_bytes, size_t count);

/* ---- launches ---- */
void plm_launch(const char *kernel); /* counts one; the name may be NULL */
uint64_t plm_launch_count(void);

/* Asks the Python interpreter of this process, if there is one, to load the hook. Once; cheap after. */
void plm_inject_hook(void);

/* ---- versions of the stack that the running PyTorch was built against (software.c) ---- */
struct plm_software {
    char torch[32]; /* "2.6.0"; empty when PyTorch is not loaded */
    int cuda; /* 12040 */
    int cudnn; /* 90100 */
    int nccl; /* 22105 */
    bool assumed; /* true where PyTorch's own metadata did not tell */
};
const struct plm_software *plm_software(void);

#endif
