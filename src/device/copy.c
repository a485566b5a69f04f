#include <stdatomic.h>
#include <string.h>

#include "device/context.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/known.h"
#include "common/policy.h"
#include "device/promised.h"
#include "device/values.h"
#include "record/writer.h"

/*
 * Copies. Small device allocations hold what the host wrote into them; all other device memory reads
 * as zeros. What the host is told when it reads something that a kernel may have computed, policy.def decides.
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

/* ---- what the host reads: READS of policy.def ---- */

struct read {
    void *to;
    const void *from;
    size_t bytes;
    enum side side; /* of `from` */
};

static bool read_size(const struct read *r)
{
    return plm_values_answer(r->to, r->bytes, false);
}

static bool read_size_assumed(const struct read *r)
{
    return plm_values_answer(r->to, r->bytes, true);
}

static bool read_known(const struct read *r)
{
    if (r->side != SIDE_BACKED || right_bytes((uint64_t)r->from, r->bytes, plm_launch_count()) != r->bytes ||
        plm_known_assumed((uint64_t)r->from, r->bytes))
        return false;
    memmove(r->to, r->from, r->bytes);
    return true;
}

static bool read_draw_check(const struct read *r)
{
    if (r->bytes != 1 || !plm_values_checks_draw())
        return false;
    *(char *)r->to = 1;
    return true;
}

static bool is_zero(const char *at, size_t bytes)
{
    return !*at && !memcmp(at, at + 1, bytes - 1);
}

/* SHOWN, ENSURED, AWAITED and LOOPED: what the program does with the value decides. */
static bool read_hook(const struct read *r)
{
    const bool held = r->side == SIDE_BACKED;
    const int answer = plm_values_unknown(
        &(struct plm_values_read){.truth = r->bytes == 1,
                                  .zero = !held || is_zero(r->from, r->bytes),
                                  .assumed = held && plm_known_assumed((uint64_t)r->from, r->bytes)});
    if (answer == PLM_VALUES_HELD)
        memmove(r->to, r->from, r->bytes);
    else if (answer >= 0)
        memset(r->to, answer, r->bytes);
    return answer >= 0;
}

static bool read_at_least_one(const struct read *r)
{
    return plm_values_answer_least(r->to, r->bytes);
}

static bool read_held(const struct read *r)
{
    if (r->side != SIDE_BACKED)
        return false;
    memmove(r->to, r->from, r->bytes);
    return true;
}

static bool read_assumed(const struct read *r)
{
    return r->side == SIDE_BACKED && plm_known_assumed((uint64_t)r->from, r->bytes) && read_held(r);
}

static bool read_void(const struct read *r)
{
    zero_host(r->to, r->bytes);
    return true;
}

/* False: the row does not apply. NULL: the hook's, which the row before it asks for too. */
static bool (*const reads[PLM_READS_ROWS])(const struct read *) = {
    [PLM_READS_SIZE] = read_size,
    [PLM_READS_SIZE_ASSUMED] = read_size_assumed,
    [PLM_READS_KEPT] = NULL, /* the hook's: its operators do not read */
    [PLM_READS_KNOWN] = read_known,
    [PLM_READS_DRAW_CHECK] = read_draw_check,
    [PLM_READS_SHOWN] = read_hook,
    [PLM_READS_ENSURED] = NULL,
    [PLM_READS_AWAITED] = NULL,
    [PLM_READS_LOOPED] = NULL,
    [PLM_READS_AT_LEAST_ONE] = read_at_least_one,
    [PLM_READS_ASSUMED] = read_assumed,
    [PLM_READS_HELD] = read_held,
    [PLM_READS_VOID] = read_void,
};

_Static_assert(PLM_READS_VOID == PLM_READS_ROWS - 1, "the last row always applies");

static const char *const tells[PLM_READS_ROWS] = {
#define READS(name, tells, situation, answer, doubt, both_ends, when) tells,
#include "common/policy.def"
};

static void tell_readback(const struct read *r)
{
    char name[128];
    struct plm_ev_readback event = {.bytes = r->bytes, .op = plm_context_operator()};
    if (plm_assume_is_all((uint64_t)r->from))
        event.op = plm_record_text("aten::all");
    if (!event.op) /* operators are not observed */
        event.op = plm_record_text(plm_operator_name(name, sizeof name));
    plm_put_readback(plm_memory_device_of((uint64_t)r->from), &event);
}

static void host_reads(const struct read *r)
{
    static _Atomic bool noted[PLM_READS_ROWS];
    unsigned row = 0;
    while (!reads[row] || !reads[row](r))
        row++;
    if (!strcmp(tells[row], PLM_TELLS_READBACK))
        tell_readback(r);
    else if (*tells[row] && !atomic_load(&noted[row]) && !plm_values_shown() && !atomic_exchange(&noted[row], true))
        plm_record_note(tells[row], "");
}

/* ---- copies ---- */

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
    if (to == SIDE_HOST && from != SIDE_HOST) {
        host_reads(&(struct read){dst, src, bytes, from});
        return;
    }
    if (to == SIDE_VOID)
        return;
    if (from == SIDE_VOID)
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
