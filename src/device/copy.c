#include <string.h>

#include "device/context.h"
#include "device/device.h"
#include "device/internal.h"
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

static void note_readback(const void *src, size_t bytes)
{
    char name[128];
    struct plm_ev_readback event = {.bytes = bytes, .op = plm_context_operator()};
    if (plm_assume_is_all((uint64_t)src))
        event.op = plm_record_text("aten::all");
    if (!event.op) /* operators are not observed */
        event.op = plm_record_text(plm_operator_name(name, sizeof name));
    plm_put_readback(plm_memory_device_of((uint64_t)src), &event);
}

void plm_copy(void *dst, const void *src, size_t bytes)
{
    enum side from, to;
    uint64_t now;

    if (!bytes || dst == src)
        return;
    from = side_of(src, bytes);
    to = side_of(dst, bytes);
    now = plm_launch_count();
    if (to == SIDE_HOST && from != SIDE_HOST && !(from == SIDE_BACKED && plm_memory_fresh((uint64_t)src, bytes, now)))
        note_readback(src, bytes);
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
    for (size_t i = 0; i < count; i++)
        memcpy((char *)dst + i * pattern_bytes, &pattern, pattern_bytes);
    if (to == SIDE_BACKED)
        plm_memory_written((uint64_t)dst, bytes, plm_launch_count());
}
