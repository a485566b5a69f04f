#include <string.h>

#include "device/context.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/known.h"
#include "device/promised.h"
#include "device/values.h"
#include "record/writer.h"

/*
 * Copies. Small device allocations hold what the host wrote into them; all other device memory reads
 * as zeros. A read of something that a kernel may have computed cannot be right, so it is recorded
 * with the operator that asked for it.
 */

enum side { SIDE_HOST, SIDE_BACKED, SIDE_VOID };

static enum side side_of(const void *pointer, size_t bytes)
{
    if (plm_memory_device_of((uint64_t)pointer) < 0)
        return SIDE_HOST;
    return plm_memory_backed((uint64_t)pointer, bytes) ? SIDE_BACKED : SIDE_VOID;
}

/* Writes only what is not zero already: untouched host pages stay untouched, so saving a large model
   from the device costs no host memory. */
static void zero_host(char *at, size_t bytes)
{
    static const char zeros[4096];
    while (bytes) {
        size_t part = bytes < sizeof zeros ? bytes : sizeof zeros;
        if (memcmp(at, zeros, part))
            memset(at, 0, part);
        at += part;
        bytes -= part;
    }
}

/* True: the host has its answer. A program that only makes sure of something is told that it is so. */
static bool note_readback(void *dst, const void *src, size_t bytes)
{
    const int answer = plm_values_unknown(bytes == 1);
    char name[128];
    struct plm_ev_readback event = {.bytes = bytes, .op = plm_context_operator()};
    if (answer >= 0) {
        memset(dst, answer, bytes);
        return true;
    }
    if (plm_assume_is_all((uint64_t)src))
        event.op = plm_record_text("aten::all");
    if (!event.op) /* operators are not observed */
        event.op = plm_record_text(plm_operator_name(name, sizeof name));
    plm_put_readback(plm_memory_device_of((uint64_t)src), &event);
    return plm_values_answer_least(dst, bytes);
}

/* How many of these bytes, from the first on, are what a card would hold. Where operators are not followed, all of them if the host
   wrote there when `since` kernels, or more, had been launched. */
static uint64_t right_bytes(uint64_t address, size_t bytes, uint64_t since)
{
    if (plm_values_active())
        return plm_known_first(address, bytes);
    return plm_memory_fresh(address, bytes, since) ? bytes : 0;
}

size_t plm_bytes_known(const void *address, size_t bytes, uint64_t since)
{
    if (!address || side_of(address, bytes) != SIDE_BACKED)
        return 0;
    plm_promises_settle((uint64_t)address, bytes);
    return right_bytes((uint64_t)address, bytes, since);
}

size_t plm_bytes_known_last(const void *address, size_t bytes)
{
    const uint64_t end = (uint64_t)address + bytes;
    size_t known = 0;
    if (!address || !plm_values_active() || side_of(address, bytes) != SIDE_BACKED)
        return 0;
    plm_promises_settle((uint64_t)address, bytes);
    while (known < bytes && plm_known(end - known - 1, 1))
        known++;
    return known;
}

void plm_bytes_forget(const void *address, size_t bytes)
{
    plm_known_clear((uint64_t)address, bytes);
}

void plm_copy(void *dst, const void *src, size_t bytes)
{
    enum side from, to;
    uint64_t now;

    if (!bytes || dst == src)
        return;
    from = side_of(src, bytes);
    to = side_of(dst, bytes);
    if (from != SIDE_HOST)
        plm_promises_settle((uint64_t)src, bytes);
    if (to != SIDE_HOST)
        plm_promises_overwrite((uint64_t)dst, bytes);
    now = plm_launch_count();
    if (to == SIDE_HOST && from != SIDE_HOST && plm_values_answer(dst, bytes))
        return;
    if (to == SIDE_HOST && from != SIDE_HOST &&
        !(from == SIDE_BACKED && right_bytes((uint64_t)src, bytes, now) == bytes &&
          !plm_known_assumed((uint64_t)src, bytes)) &&
        note_readback(dst, src, bytes))
        return;
    if (to == SIDE_VOID)
        return;
    if (from == SIDE_VOID && to == SIDE_HOST)
        zero_host(dst, bytes);
    else if (from == SIDE_VOID)
        plm_memory_recycle((uint64_t)dst, bytes);
    else
        memmove(dst, src, bytes);
    if (to == SIDE_BACKED && from != SIDE_VOID)
        plm_memory_written((uint64_t)dst, bytes, now);
    if (to == SIDE_BACKED && from == SIDE_BACKED)
        plm_known_copy((uint64_t)dst, (uint64_t)src, bytes);
    else if (to == SIDE_BACKED && from == SIDE_HOST)
        plm_values_wrote((uint64_t)dst, bytes);
}

void plm_copy_2d(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height)
{
    size_t bytes;
    if (dst_pitch == width && src_pitch == width && !__builtin_mul_overflow(width, height, &bytes)) {
        plm_copy(dst, src, bytes);
        return;
    }
    for (size_t row = 0; row < height; row++)
        plm_copy((char *)dst + row * dst_pitch, (const char *)src + row * src_pitch, width);
}

void plm_fill(void *dst, uint64_t pattern, unsigned pattern_bytes, size_t count)
{
    size_t bytes;
    enum side to;

    if (__builtin_mul_overflow(count, pattern_bytes, &bytes) || !bytes)
        return;
    to = side_of(dst, bytes);
    if (to == SIDE_VOID)
        return;
    if (to == SIDE_BACKED)
        plm_promises_overwrite((uint64_t)dst, bytes);
    if (to == SIDE_BACKED && !pattern)
        plm_memory_zero((uint64_t)dst, bytes, plm_launch_count());
    else if (pattern_bytes == 1 || !pattern)
        memset(dst, (int)(pattern & 0xff), bytes);
    else
        for (size_t i = 0; i < count; i++)
            memcpy((char *)dst + i * pattern_bytes, &pattern, pattern_bytes);
    if (to != SIDE_BACKED)
        return;
    if (pattern)
        plm_memory_written((uint64_t)dst, bytes, plm_launch_count());
    plm_values_wrote((uint64_t)dst, bytes);
}
