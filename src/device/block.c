#include <stdatomic.h>

#include "device/calls.h"
#include "device/context.h"
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

void plm_device_block_report(void *pointer, int64_t bytes, size_t allocated, size_t reserved,
                             struct c10_device where) __asm__(PLM_TORCH_REPORT_NAME)
    __attribute__((visibility("default")));

struct c10_stream { /* c10::cuda::CUDAStream: two registers */
    int64_t device;
    int64_t id;
};
typedef struct c10_stream current_stream_function(int8_t device);
typedef struct c10_stream external_stream_function(void *stream, int8_t device);

static report_function *original(void)
{
    static _Atomic(report_function *) found;
    report_function *f = atomic_load_explicit(&found, memory_order_relaxed);
    if (!f) {
        f = (report_function *)plm_device_torch_function(PLM_TORCH_REPORT);
        atomic_store(&found, f);
    }
    return f;
}

/* A stream that is not PyTorch's has its own address as its number, which shows where a CUDAStream has the number. If it
   were returned in memory instead, it would be written to the address that is given here. */
static bool stream_is_two_registers(void)
{
    static _Alignas(64) char own[256];
    external_stream_function *f = (external_stream_function *)plm_device_torch_function(PLM_TORCH_STREAM_EXTERNAL);
    return f && f(own, 0).id == (int64_t)(intptr_t)own;
}

/* The allocator takes a block for the current stream of the calling thread. The numbers of PyTorch's
   streams are small; an external stream's is a pointer, of which the lower part is kept. */
static uint32_t current_stream(int device)
{
    static _Atomic(current_stream_function *) found;
    static _Atomic bool absent;
    current_stream_function *f = atomic_load_explicit(&found, memory_order_relaxed);
    if (!f && !atomic_load_explicit(&absent, memory_order_relaxed)) {
        if (stream_is_two_registers())
            f = (current_stream_function *)plm_device_torch_function(PLM_TORCH_STREAM_NOW);
        atomic_store(&found, f);
        atomic_store(&absent, !f);
    }
    return f ? (uint32_t)f((int8_t)device).id & PLM_STREAM_UNKNOWN : PLM_STREAM_UNKNOWN;
}

static void raise_peak(_Atomic uint64_t *peak, uint64_t value)
{
    uint64_t have = atomic_load_explicit(peak, memory_order_relaxed);
    while (have < value &&
           !atomic_compare_exchange_weak_explicit(peak, &have, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Peaks since the last step, for the decision whether the job has become steady. */
static struct {
    _Atomic uint64_t allocated, reserved; /* now */
    _Atomic uint64_t allocated_peak, reserved_peak; /* of this step */
} account[PLM_DEVICES_MAX];

void plm_device_block_step_peaks(uint64_t peaks[2 * PLM_DEVICES_MAX])
{
    for (int i = 0; i < PLM_DEVICES_MAX; i++) {
        peaks[2 * i] = atomic_exchange_explicit(&account[i].allocated_peak, account[i].allocated, memory_order_relaxed);
        peaks[2 * i + 1] =
            atomic_exchange_explicit(&account[i].reserved_peak, account[i].reserved, memory_order_relaxed);
    }
}

static void keep_account(int device, uint64_t allocated, uint64_t reserved)
{
    struct plm_live *live;
    atomic_store_explicit(&account[device].allocated, allocated, memory_order_relaxed);
    atomic_store_explicit(&account[device].reserved, reserved, memory_order_relaxed);
    raise_peak(&account[device].allocated_peak, allocated);
    raise_peak(&account[device].reserved_peak, reserved);
    if (device != 0)
        return; /* the progress line follows the first device of each process */
    live = plm_record_live();
    atomic_store_explicit(&live->allocated, allocated, memory_order_relaxed);
    atomic_store_explicit(&live->reserved, reserved, memory_order_relaxed);
    raise_peak(&live->allocated_peak, allocated);
    raise_peak(&live->reserved_peak, reserved);
}

static void record_block(void *pointer, int64_t bytes, size_t allocated, size_t reserved, int device)
{
    static _Atomic uint64_t last_reserved[PLM_DEVICES_MAX];
    struct plm_ev_block_alloc block = {
        (uint64_t)pointer, bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes, 0, 0, 0, 0, 0, 0};

    if (device < 0 || device >= PLM_DEVICES_MAX)
        return;
    if (atomic_exchange_explicit(&last_reserved[device], reserved, memory_order_relaxed) != reserved)
        plm_put_reserved(device, &(struct plm_ev_reserved){reserved});
    keep_account(device, allocated, reserved);
    if (bytes < 0) {
        plm_put_block_free(device, &(struct plm_ev_block_free){block.address, block.bytes});
        return;
    }
    block.stream = current_stream(device) & PLM_STREAM_UNKNOWN;
    /* The default stream cannot be captured: its blocks come from the common pool. */
    block.captured = block.stream && plm_capture_active();
    block.context = plm_context_now();
    block.asked = plm_asked_take(block.bytes);
    block.stack = plm_asked_stack();
    plm_record(PLM_EV_BLOCK_ALLOC, device, &block, block.stack ? sizeof block / 8 : PLM_EV_BEFORE(block_alloc, stack));
    plm_memory_recycle(block.address, block.bytes);
    plm_assume_block(block.address, block.bytes);
    plm_call_new_block(block.address);
}

void plm_device_block_report(void *pointer, int64_t bytes, size_t allocated, size_t reserved, struct c10_device where)
{
    report_function *next = original();
    if (where.type == C10_CUDA && bytes)
        record_block(pointer, bytes, allocated, reserved, where.index);
    if (next && next != plm_device_block_report)
        next(pointer, bytes, allocated, reserved, where);
}
