#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/context.h"
#include "device/internal.h"
#include "torch/facts.h"

/*
 * PyTorch reports the size of the block that it hands out, which may be more than the size that was asked for: a
 * rest too small to be of use is not split off. What is split off depends on the allocator's settings, so to ask what
 * other settings would do, one needs the size that was asked for.
 *
 * That is the argument of c10::Allocator::allocate(size_t), the first function of the class after its two
 * destructors. Its entry in the table of the one CUDA allocator is replaced by a function that remembers the argument
 * and goes on to the original. That it is that entry shows in the table of the class itself, where an exported function
 * follows it. A block that came another way is recorded without the size that was asked for.
 *
 * It is also the place for the Python stack: the allocator does not hold its lock yet.
 */

/* Entries of a table of functions; that of a class begins with two words about the class. */
enum { ALLOCATE = 2, IS_SIMPLE = 3, HEAD = 2 };

typedef void *allocate_function(void *result, void *self, size_t bytes, void *d, void *e, void *f);

static _Thread_local uint64_t asked;
static _Thread_local uint32_t stack;
static allocate_function *original;

static void *allocate(void *result, void *self, size_t bytes, void *d, void *e, void *f)
{
    stack = plm_context_stack(); /* first: what Python does meanwhile may ask for memory too */
    asked = bytes;
    return original(result, self, bytes, d, e, f);
}

uint64_t plm_asked_take(uint64_t block)
{
    uint64_t bytes = asked;
    asked = 0;
    return bytes <= block ? bytes : 0;
}

uint32_t plm_asked_stack(void)
{
    uint32_t number = stack;
    stack = 0;
    return number;
}

static bool is_allocate(void)
{
    void **table = plm_device_torch_function(PLM_TORCH_ALLOCATOR_TABLE);
    void *simple = plm_device_torch_function(PLM_TORCH_ALLOCATOR_SIMPLE);
    return table && simple && table[HEAD + IS_SIMPLE] == simple;
}

void plm_asked_start(void)
{
    static atomic_flag started = ATOMIC_FLAG_INIT;
    allocate_function ****allocator = plm_device_torch_function(PLM_TORCH_ALLOCATOR);
    allocate_function **entry;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start;

    if (!allocator || !*allocator || !is_allocate() || atomic_flag_test_and_set(&started))
        return;
    entry = **allocator + ALLOCATE;
    start = (void *)((uintptr_t)entry & ~(page - 1));
    if (mprotect(start, (uintptr_t)(entry + 1) - (uintptr_t)start, PROT_READ | PROT_WRITE))
        return;
    original = *entry;
    __atomic_store_n(entry, allocate, __ATOMIC_RELEASE);
    mprotect(start, (uintptr_t)(entry + 1) - (uintptr_t)start, PROT_READ);
}
