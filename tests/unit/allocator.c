/* The allocator simulator, rule by rule, and random operations with the walker after each. */
#include "allocator/allocator.h"

#include <stdio.h>

#include "allocator/driver.h"
#include "allocator/internal.h"
#include "common/error.h"
#include "unit.h"

/* ---- a simulator with its segment operations written down ---- */

static char did[4096]; /* "+2 -20": segments taken and given back, in MiB; m and u: mapped and unmapped */

static void visit(enum plm_segment_action action, uint64_t address, uint64_t size, uint64_t stream, void *context)
{
    size_t used = strlen(did);
    (void)address;
    (void)stream;
    (void)context;
    snprintf(did + used, sizeof did - used, "%s%c%llu", used ? " " : "", "+-mu"[action],
             (unsigned long long)(size / MIB));
}

static struct plm_allocator *make(const char *settings, enum plm_torch torch, uint64_t capacity)
{
    struct plm_allocator_options o = {.torch = torch, .capacity = capacity, .total = 12 * GIB, .visit = visit};
    struct plm_allocator *a;
    struct plm_error error;
    assert_int_equal(plm_allocator_settings_parse(settings, torch, &o.settings, &error), 0);
    assert_int_equal(plm_allocator_new(&o, &a), 0);
    did[0] = 0;
    return a;
}

static struct plm_allocator *plain(void)
{
    return make("", PLM_TORCH_2_15, UINT64_MAX);
}

static uint64_t take_on(struct plm_allocator *a, uint64_t size, uint64_t stream)
{
    uint64_t address;
    assert_int_equal(plm_allocator_malloc(a, size, stream, 0, &address), 0);
    assert_true(plm_allocator_is_valid(a));
    return address;
}

static uint64_t take(struct plm_allocator *a, uint64_t size)
{
    return take_on(a, size, 0);
}

static void give(struct plm_allocator *a, uint64_t address)
{
    assert_int_equal(plm_allocator_free(a, address), 0);
    assert_true(plm_allocator_is_valid(a));
}

static uint64_t now(struct plm_allocator *a, enum plm_allocator_stat stat)
{
    return plm_allocator_stats(a)->stat[stat][PLM_STAT_ALL].current;
}

static void done(struct plm_allocator *a, const char *expected)
{
    assert_string_equal(did, expected);
    plm_allocator_delete(a);
}

/* ---- the rules ---- */

static void sizes_of_segments(void **state)
{
    struct plm_allocator *a = plain();
    (void)state;
    take(a, 1);
    take(a, MIB); /* small still, and there is room */
    take(a, MIB + 1);
    take(a, 10 * MIB - 512);   /* fits beside it */
    take(a, 10 * MIB);
    take(a, 10 * MIB + 1);
    assert_int_equal(now(a, PLM_STAT_ALLOCATED_BYTES),
                     512 + MIB + (MIB + 512) + (10 * MIB - 512) + 10 * MIB + (10 * MIB + 512));
    done(a, "+2 +20 +10 +12");
}

static void rounding_to_512(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t first = take(a, 513), second = take(a, 512);
    (void)state;
    assert_int_equal(second - first, 1024);
    assert_int_equal(now(a, PLM_STAT_REQUESTED_BYTES), 1025);
    done(a, "+2");
}

static void best_fit_and_joining(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t block[5], large;
    (void)state;
    for (int i = 0; i < 5; i++)
        block[i] = take(a, (uint64_t)(i + 2) * 1024);
    give(a, block[3]); /* 5 KiB */
    give(a, block[1]); /* 3 KiB: the better one */
    assert_int_equal(take(a, 2048), block[1]);
    large = take(a, 4096);
    assert_int_equal(large, block[3]);
    give(a, large);
    give(a, block[2]); /* joins the rest before it and the block behind it */
    assert_int_equal(take(a, 10 * 1024), block[1] + 2048);
    done(a, "+2");
}

static void large_blocks_keep_a_mebibyte(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t block = take(a, 19 * MIB);
    (void)state;
    give(a, block);
    assert_int_equal(take(a, 19 * MIB), block);
    assert_int_equal(now(a, PLM_STAT_ALLOCATED_BYTES), 20 * MIB); /* a rest of 1 MiB is not split off */
    assert_int_equal(now(a, PLM_STAT_INACTIVE_SPLIT), 0);
    give(a, block);
    take(a, 19 * MIB - 512);
    assert_int_equal(now(a, PLM_STAT_INACTIVE_SPLIT_BYTES), MIB + 512);
    done(a, "+20");
}

static void streams_do_not_share(void **state)
{
    struct plm_allocator *a = plain();
    (void)state;
    give(a, take_on(a, 4 * MIB, 1));
    take_on(a, 4 * MIB, 2);
    take_on(a, 4 * MIB, 1);
    done(a, "+20 +20");
}

/* Of two equal free blocks: by address, or, in 2.15, by the age of the segment. */
static void equal_blocks(void **state)
{
    (void)state;
    for (int torch = 0; torch < PLM_TORCHES; torch++) {
        struct plm_allocator *a = make("", (enum plm_torch)torch, UINT64_MAX);
        uint64_t high = take(a, 30 * MIB), low = take(a, 30 * MIB); /* a younger segment at a lower address */
        assert_int_equal(low, high - 30 * MIB);
        give(a, low);
        give(a, high);
        assert_int_equal(take(a, 30 * MIB), torch == PLM_TORCH_2_15 ? high : low);
        done(a, "+30 +30");
    }
}

static void flush_and_retry(void **state)
{
    struct plm_allocator *a = make("", PLM_TORCH_2_15, 64 * MIB);
    uint64_t address;
    (void)state;
    give(a, take(a, 30 * MIB));
    give(a, take(a, 32 * MIB));
    take(a, 40 * MIB);
    assert_int_equal(plm_allocator_stats(a)->num_alloc_retries, 1);
    assert_int_equal(plm_allocator_malloc(a, 30 * MIB, 0, 0, &address), PLM_ALLOCATOR_OOM);
    assert_int_equal(address, 0);
    assert_int_equal(plm_allocator_stats(a)->num_ooms, 1);
    assert_int_equal(plm_allocator_oom(a)->tried, 30 * MIB);
    assert_int_equal(plm_allocator_oom(a)->free, 24 * MIB);
    assert_int_equal(plm_allocator_oom(a)->allocated, 40 * MIB);
    assert_true(plm_allocator_is_valid(a));
    done(a, "+30 +32 -30 -32 +40");
}

static void memory_fraction(void **state)
{
    struct plm_allocator *a = make("per_process_memory_fraction:0.005", PLM_TORCH_2_10, UINT64_MAX);
    uint64_t address;
    (void)state;
    take(a, 60 * MIB); /* of 61.44 */
    assert_int_equal(plm_allocator_malloc(a, MIB, 0, 0, &address), PLM_ALLOCATOR_OOM);
    assert_int_equal(plm_allocator_oom(a)->allowed, (uint64_t)(0.005 * (double)(12 * GIB)));
    assert_int_equal(plm_allocator_set_fraction(a, 1.5), PLM_EINVAL);
    done(a, "+60");
}

static void max_split_size(void **state)
{
    struct plm_allocator *a = make("max_split_size_mb:32", PLM_TORCH_2_15, 150 * MIB);
    uint64_t block = take(a, 60 * MIB);
    (void)state;
    give(a, block);
    take(a, 20 * MIB);                         /* must not split an oversize block */
    assert_int_equal(take(a, 45 * MIB), block); /* within 20 MiB of its size: taken whole */
    assert_int_equal(now(a, PLM_STAT_ALLOCATED_BYTES), 80 * MIB);
    give(a, block);
    take(a, 38 * MIB);                         /* 60 is too much larger */
    take(a, 70 * MIB);                         /* one oversize segment goes, not the whole cache */
    done(a, "+60 +20 +38 -60 +70");
}

/* release_available_cached_blocks() of CUDACachingAllocator.cpp: one oversize block that is large enough, else several
   from the largest on until that is enough; of this stream. That is no retry. */
static void oversize_segments_go_first(void **state)
{
    static const struct {
        uint64_t capacity, cached[4], wanted; /* MiB */
        const char *did;
        unsigned retries;
    } rows[] = {
        {150, {40, 50, 20}, 80, "+40 +50 +20 -50 -40 +80", 0}, /* what is smaller than 32 stays */
        {200, {40, 44, 48}, 90, "+40 +44 +48 -48 -44 +90", 0}, /* enough is enough */
        {120, {40}, 100, "+40 -40 +100", 1}, /* not enough: all of the cache */
        {60, {40}, 26, "+40 -40 +26", 0}, /* for small ones as well */
        {100, {40, 30}, 66, "+40 +30 -40 -30 +66", 1}, /* with 30 it would be enough, which is not oversize */
        {96, {32, 32}, 64, "+32 +32 -32 -32 +64", 0}, /* exactly as much */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_allocator *a = make("max_split_size_mb:32", PLM_TORCH_2_15, rows[i].capacity * MIB);
        uint64_t block[COUNT(rows[i].cached)] = {0};
        for (size_t k = 0; k < COUNT(block) && rows[i].cached[k]; k++)
            block[k] = take(a, rows[i].cached[k] * MIB);
        for (size_t k = 0; k < COUNT(block) && block[k]; k++)
            give(a, block[k]);
        take(a, rows[i].wanted * MIB);
        assert_int_equal(plm_allocator_stats(a)->num_alloc_retries, rows[i].retries);
        done(a, rows[i].did);
    }
}

static void oversize_segments_of_other_streams(void **state)
{
    (void)state;
    for (uint64_t stream = 0; stream < 3; stream += 2) { /* before and behind the one that asks */
        struct plm_allocator *a = make("max_split_size_mb:32", PLM_TORCH_2_15, 120 * MIB);
        give(a, take_on(a, 80 * MIB, stream));
        take_on(a, 70 * MIB, 1);
        assert_int_equal(plm_allocator_stats(a)->num_alloc_retries, 1);
        done(a, "+80 -80 +70");
    }
}

/* From max_split_size on a segment is oversize; what cudaMalloc and cudaFree are called for is counted. */
static void segments_are_counted(void **state)
{
    struct plm_allocator *a = make("max_split_size_mb:32", PLM_TORCH_2_15, UINT64_MAX);
    const struct plm_allocator_stats *s = plm_allocator_stats(a);
    const uint64_t largest = take(a, 32 * MIB), small = take(a, 30 * MIB);
    (void)state;
    assert_int_equal(s->oversize_segments.current, 1);
    assert_int_equal(s->num_device_alloc, 2);
    assert_int_equal(now(a, PLM_STAT_SEGMENT), 2);
    assert_int_equal(now(a, PLM_STAT_RESERVED_BYTES), 62 * MIB);
    give(a, largest);
    give(a, small);
    assert_int_equal(s->num_device_free, 0);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_int_equal(s->num_device_alloc, 2);
    assert_int_equal(s->num_device_free, 2);
    assert_int_equal(s->oversize_segments.current, 0);
    assert_int_equal(s->oversize_segments.peak, 1);
    assert_int_equal(now(a, PLM_STAT_SEGMENT), 0);
    assert_int_equal(now(a, PLM_STAT_RESERVED_BYTES), 0);
    done(a, "+32 +30 -30 -32");
}

/* release_cached_blocks(): large blocks, then small ones, each from the smallest on; a segment that is in use in part
   stays. */
static void the_whole_cache(void **state)
{
    struct plm_allocator *a = plain();
    const uint64_t small = take(a, 100), kept = take(a, 3 * MIB), beside = take(a, 3 * MIB), large = take(a, 30 * MIB),
                   larger = take(a, 40 * MIB);
    (void)state;
    give(a, small);
    give(a, beside);
    give(a, larger);
    give(a, large);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    give(a, kept);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    done(a, "+2 +20 +30 +40 -30 -40 -2 -20");
}

/* A private pool's number is free again when its last segment has gone. */
static void segments_of_private_pools(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t small, large;
    (void)state;
    assert_int_equal(plm_allocator_pool_begin(a, 9), 0);
    assert_int_equal(plm_allocator_malloc(a, 100, 0, 9, &small), 0);
    assert_int_equal(plm_allocator_malloc(a, 30 * MIB, 0, 9, &large), 0);
    assert_int_equal(plm_allocator_pool_end(a, 9), 0);
    assert_int_equal(plm_allocator_pool_release(a, 9), 0);
    give(a, large);
    assert_int_equal(plm_allocator_empty_cache(a), 0); /* one segment is still in use */
    assert_int_equal(plm_allocator_pool_begin(a, 9), PLM_ALLOCATOR_POOL);
    give(a, small);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_int_equal(plm_allocator_pool_begin(a, 9), 0);
    done(a, "+2 +30 -30 -2");
}

/* 1/128 of 12 GiB are 96 MiB: all of it may be had, and no byte more. */
static void a_fraction_to_the_byte(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t address;
    (void)state;
    assert_int_equal(plm_allocator_set_fraction(a, 1.0 / 128), 0);
    take(a, 60 * MIB);
    take(a, 36 * MIB);
    assert_int_equal(plm_allocator_malloc(a, 1, 0, 0, &address), PLM_ALLOCATOR_OOM);
    assert_int_equal(plm_allocator_set_fraction(a, 1.0 / 256), 0); /* less than it holds already */
    assert_int_equal(plm_allocator_malloc(a, 1, 0, 0, &address), PLM_ALLOCATOR_OOM);
    done(a, "+60 +36");
}

static uint64_t seen_stream, seen_address;

static void visit_stream(enum plm_segment_action action, uint64_t address, uint64_t size, uint64_t stream,
                         void *context)
{
    (void)action;
    (void)size;
    (void)context;
    seen_stream = stream;
    seen_address = address;
}

static void segments_have_a_stream(void **state)
{
    struct plm_allocator_options o = {
        .torch = PLM_TORCH_2_15, .capacity = UINT64_MAX, .total = GIB, .visit = visit_stream};
    struct plm_allocator *a;
    uint64_t block;
    (void)state;
    assert_int_equal(plm_allocator_settings_parse(NULL, o.torch, &o.settings, NULL), 0);
    assert_int_equal(plm_allocator_new(&o, &a), 0);
    block = take_on(a, 30 * MIB, 7);
    assert_true(seen_stream == 7 && seen_address == block);
    seen_stream = seen_address = 0;
    give(a, block);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_true(seen_stream == 7 && seen_address == block);
    plm_allocator_delete(a);
}

static void roundup_divisions(void **state)
{
    struct plm_allocator *a = make("roundup_power2_divisions:4", PLM_TORCH_2_6, UINT64_MAX);
    (void)state;
    take(a, 1200); /* too small for it */
    assert_int_equal(now(a, PLM_STAT_ALLOCATED_BYTES), 1536);
    take(a, 9 * MIB); /* 8, 10, 12, 14, 16 */
    assert_int_equal(now(a, PLM_STAT_ALLOCATED_BYTES), 1536 + 10 * MIB);
    take(a, 33 * MIB);
    done(a, "+2 +10 +40");
}

static void garbage_collection(void **state)
{
    struct plm_allocator *a = make("garbage_collection_threshold:0.5", PLM_TORCH_2_15, UINT64_MAX);
    uint64_t old, young;
    (void)state;
    assert_int_equal(plm_allocator_set_fraction(a, 0.01), 0); /* 122.88 MiB: the threshold is 61.44 */
    old = take(a, 30 * MIB);
    young = take(a, 40 * MIB);
    give(a, old);
    give(a, young);
    for (int i = 0; i < 4; i++)
        give(a, take(a, 40 * MIB)); /* each is a search, at which `old` ages */
    take(a, 48 * MIB);
    done(a, "+30 +40 -30 +48");
}

/* Addresses from the top down; 0 once no gap is large enough, and again there after one was given back. */
static void addresses_end(void **state)
{
    struct plm_driver driver;
    const uint64_t all = PLM_DRIVER_TOP - PLM_DRIVER_BASE;
    (void)state;
    plm_driver_init(&driver, UINT64_MAX, UINT64_MAX);
    assert_int_equal(plm_driver_range(&driver, all + PLM_DRIVER_PAGE), 0);
    assert_int_equal(plm_driver_range(&driver, PLM_DRIVER_PAGE), PLM_DRIVER_TOP - PLM_DRIVER_PAGE);
    assert_int_equal(plm_driver_range(&driver, all), 0);
    assert_int_equal(plm_driver_range(&driver, all - PLM_DRIVER_PAGE), PLM_DRIVER_BASE);
    assert_int_equal(plm_driver_range(&driver, 1), 0);
    plm_driver_give(&driver, PLM_DRIVER_TOP - PLM_DRIVER_PAGE, PLM_DRIVER_PAGE);
    assert_int_equal(plm_driver_range(&driver, 1), PLM_DRIVER_TOP - PLM_DRIVER_PAGE);
    plm_driver_free(&driver);
}

/* garbage_collect_cached_blocks(): those that are at least as old as the average go, all of them, also beyond the
   target; if that was not enough, those of the average of the rest. Nothing goes while no more than the threshold is
   held. */
static void garbage_by_age(void **state)
{
    struct plm_allocator *a = make("garbage_collection_threshold:0.5", PLM_TORCH_2_15, UINT64_MAX);
    uint64_t block[3];
    (void)state;
    assert_int_equal(plm_allocator_set_fraction(a, 1.0 / 128), 0); /* 96 MiB: the threshold is 48 */
    block[0] = take(a, 20 * MIB);
    block[1] = take(a, 28 * MIB);
    give(a, block[0]);
    give(a, block[1]);
    take(a, 30 * MIB); /* 48 are held */
    done(a, "+20 +28 +30");
    a = make("garbage_collection_threshold:0.5", PLM_TORCH_2_15, UINT64_MAX);
    assert_int_equal(plm_allocator_set_fraction(a, 0.01), 0); /* 122.88 MiB: the threshold is 61.44 */
    block[0] = take(a, 30 * MIB);
    block[1] = take(a, 40 * MIB);
    give(a, block[0]);
    give(a, block[1]);
    take(a, 48 * MIB); /* both have the average age; 30 would have been enough */
    done(a, "+30 +40 -30 -40 +48");
    a = make("garbage_collection_threshold:0.5", PLM_TORCH_2_15, UINT64_MAX);
    assert_int_equal(plm_allocator_set_fraction(a, 0.01), 0);
    block[0] = take(a, 10 * MIB);
    block[1] = take(a, 28 * MIB);
    block[2] = take(a, 34 * MIB);
    give(a, block[0]);
    for (int i = 0; i < 4; i++) {
        give(a, block[2]);
        assert_int_equal(take(a, 34 * MIB), block[2]); /* a search */
    }
    give(a, block[1]);
    give(a, block[2]);
    give(a, take(a, 34 * MIB));
    take(a, 48 * MIB); /* ages of 6, 2 and 1: 10.56 MiB must go, so 10 and then 28 do */
    done(a, "+10 +28 +34 -10 -28 +48");
}

static void expandable(void **state)
{
    struct plm_allocator *a = make("expandable_segments:True", PLM_TORCH_2_15, UINT64_MAX);
    uint64_t first = take(a, 15 * MIB), second = take(a, 30 * MIB);
    (void)state;
    assert_int_equal(second - first, 15 * MIB); /* one growing segment */
    give(a, first);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_true(plm_allocator_is_valid(a)); /* nothing: no whole page of 20 MiB is free */
    give(a, second);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_int_equal(now(a, PLM_STAT_RESERVED_BYTES), 0);
    done(a, "m20 m40 u60");
}

static void expandable_out_of_memory(void **state)
{
    struct plm_allocator *a = make("expandable_segments:True", PLM_TORCH_2_6, 60 * MIB);
    uint64_t address, first = take(a, 15 * MIB);
    (void)state;
    assert_int_equal(plm_allocator_malloc(a, 100 * MIB, 0, 0, &address), PLM_ALLOCATOR_OOM);
    assert_int_equal(plm_allocator_malloc(a, 20 * GIB, 0, 0, &address), PLM_ALLOCATOR_OOM);
    assert_true(plm_allocator_is_valid(a));
    give(a, first);
    take_on(a, 50 * MIB, 7); /* another stream: the pages of the first are unmapped for it */
    done(a, "m20 u20 m60");
}

/* c10/cuda/CUDACachingAllocator.cpp: "we allocate enough address space for 1 1/8 the total memory on the GPU". */
static void expandable_range(void **state)
{
    struct plm_allocator *a = make("expandable_segments:True", PLM_TORCH_2_15, UINT64_MAX);
    uint64_t address;
    (void)state;
    take(a, 13 * GIB); /* of 13.5 */
    assert_int_equal(plm_allocator_malloc(a, 14 * GIB, 0, 0, &address), PLM_ALLOCATOR_OOM);
    done(a, "m13320");
}

/* Ranges of a tenth of the card: a block lies in one of them. */
static void expandable_reserve(void **state)
{
    struct plm_allocator *a =
        make("expandable_segments:True,expandable_segments_reserve:0.1", PLM_TORCH_2_15, UINT64_MAX);
    uint64_t address;
    (void)state;
    take(a, GIB);
    take(a, GIB);
    assert_int_equal(plm_allocator_malloc(a, 2 * GIB, 0, 0, &address), PLM_ALLOCATOR_OOM);
    done(a, "m1040 m1040");
}

/* What a capture does with such blocks depends on its graph. */
static void capture_reuse(void **state)
{
    struct plm_allocator *a = make("graph_capture_record_stream_reuse:True", PLM_TORCH_2_15, UINT64_MAX);
    uint64_t block = take(a, 100), other = take(a, 100);
    (void)state;
    assert_int_equal(plm_allocator_record_stream(a, block, 1), 0);
    assert_int_equal(plm_allocator_pool_begin(a, 1), 0);
    assert_int_equal(plm_allocator_free(a, block), PLM_ALLOCATOR_UNMODELLED);
    give(a, other);
    assert_int_equal(plm_allocator_pool_end(a, 1), 0);
    give(a, block);
    done(a, "+2");
}

/* The same file: "C10_LIKELY(captures_underway.empty()) && release_cached_blocks(...)": a capture does not give memory back. */
static void capture_keeps_the_cache(void **state)
{
    struct plm_allocator *a = make("", PLM_TORCH_2_15, 64 * MIB);
    uint64_t address;
    (void)state;
    give(a, take(a, 30 * MIB));
    assert_int_equal(plm_allocator_pool_begin(a, 1), 0);
    assert_int_equal(plm_allocator_malloc(a, 40 * MIB, 0, 1, &address), PLM_ALLOCATOR_OOM);
    assert_string_equal(did, "+30");
    assert_int_equal(plm_allocator_pool_end(a, 1), 0);
    take(a, 40 * MIB);
    done(a, "+30 -30 +40");
}

static void uses_on_other_streams(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t block = take(a, 12 * MIB);
    (void)state;
    assert_int_equal(plm_allocator_record_stream(a, block, 0), 0); /* its own stream does not count */
    assert_int_equal(plm_allocator_record_stream(a, block, 5), 0);
    assert_int_equal(plm_allocator_record_stream(a, block, 6), 0);
    give(a, block);
    assert_int_equal(now(a, PLM_STAT_ALLOCATED_BYTES), 0);
    assert_int_equal(now(a, PLM_STAT_ACTIVE_BYTES), 12 * MIB);
    assert_int_equal(plm_allocator_free(a, block), PLM_ALLOCATOR_ADDRESS);
    assert_int_equal(take(a, 12 * MIB), block); /* the events are complete when the next allocation looks */
    assert_int_equal(plm_allocator_record_stream(a, block + 512, 5), PLM_ALLOCATOR_ADDRESS);
    done(a, "+12");
}

static void pending_events(void **state)
{
    struct plm_allocator_options o = {
        .torch = PLM_TORCH_2_15, .capacity = 24 * MIB, .total = GIB, .events_pending = true};
    struct plm_allocator *a;
    uint64_t block;
    (void)state;
    assert_int_equal(plm_allocator_settings_parse(NULL, o.torch, &o.settings, NULL), 0);
    assert_int_equal(plm_allocator_new(&o, &a), 0);
    block = take(a, 12 * MIB);
    assert_int_equal(plm_allocator_record_stream(a, block, 5), 0);
    give(a, block);
    assert_int_not_equal(take(a, 12 * MIB), block); /* not complete yet */
    take(a, 12 * MIB); /* the card is full: the allocator waits */
    assert_int_equal(now(a, PLM_STAT_ALLOCATED_BYTES), 24 * MIB);
    plm_allocator_delete(a);
}

static void private_pools(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t mine, outside = take(a, 3 * MIB), other;
    (void)state;
    assert_int_equal(plm_allocator_malloc(a, MIB, 0, 9, &mine), PLM_ALLOCATOR_POOL);
    assert_int_equal(plm_allocator_pool_begin(a, 9), 0);
    assert_int_equal(plm_allocator_pool_begin(a, 9), PLM_ALLOCATOR_POOL);
    assert_int_equal(plm_allocator_empty_cache(a), PLM_ALLOCATOR_CAPTURE);
    assert_int_equal(plm_allocator_malloc(a, 3 * MIB, 0, 9, &mine), 0);
    assert_int_equal(plm_allocator_record_stream(a, outside, 4), 0);
    give(a, outside); /* its event waits for the end of the capture */
    assert_int_equal(plm_allocator_pool_release(a, 9), PLM_ALLOCATOR_POOL);
    assert_int_equal(plm_allocator_pool_end(a, 9), 0);
    assert_int_equal(plm_allocator_pool_end(a, 9), PLM_ALLOCATOR_POOL);
    give(a, mine);
    assert_int_equal(plm_allocator_empty_cache(a), 0); /* the graph still owns its segment */
    other = take(a, 3 * MIB);
    assert_int_not_equal(other, mine);
    assert_int_equal(plm_allocator_pool_release(a, 9), 0);
    assert_int_equal(plm_allocator_pool_begin(a, 9), PLM_ALLOCATOR_POOL);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_int_equal(plm_allocator_pool_begin(a, 9), 0); /* gone, so the number is free */
    done(a, "+20 +20 -20 +20 -20");
}

static void bad_operations(void **state)
{
    struct plm_allocator *a = plain();
    uint64_t address = 1, block = take(a, 700);
    (void)state;
    assert_int_equal(plm_allocator_malloc(a, 0, 0, 0, &address), 0);
    assert_int_equal(address, 0);
    assert_int_equal(plm_allocator_free(a, 0), 0);
    for (uint64_t size = UINT64_MAX; size >= 1ull << 60; size /= 2)
        assert_int_equal(plm_allocator_malloc(a, size, 0, 0, &address), PLM_ALLOCATOR_OOM);
    assert_int_equal(plm_allocator_free(a, block + 512), PLM_ALLOCATOR_ADDRESS);
    assert_int_equal(plm_allocator_free(a, 12345), PLM_ALLOCATOR_ADDRESS);
    give(a, block);
    assert_int_equal(plm_allocator_free(a, block), PLM_ALLOCATOR_ADDRESS);
    assert_int_equal(plm_allocator_pool_begin(a, 0), PLM_ALLOCATOR_POOL);
    assert_string_equal(plm_allocator_error_name(PLM_ALLOCATOR_ADDRESS), "no live block at this address");
    assert_true(plm_allocator_is_valid(a));
    plm_allocator_delete(a);
}

/* ---- settings ---- */

static int parse(const char *text, enum plm_torch torch, struct plm_allocator_settings *s)
{
    struct plm_error error = {0};
    int status = plm_allocator_settings_parse(text, torch, s, &error);
    assert_true(status == 0 || (status == PLM_EINVAL && error.text[0]));
    return status;
}

static void settings(void **state)
{
    static const char *const bad[] = {
        "max_split_size_mb",
        "max_split_size_mb:",
        "max_split_size_mb:19",
        "max_split_size_mb:x",
        "max_split_size_mb:-1",
        "expandable_segments:true",
        "what:1",
        ",",
        "garbage_collection_threshold:0.0",
        "garbage_collection_threshold:1.0",
        "garbage_collection_threshold:nan",
        "roundup_power2_divisions:3",
        "roundup_power2_divisions:[3:1]",
        "roundup_power2_divisions:[4:1",
        "roundup_power2_divisions:[4:1,>",
        "backend:other",
        "expandable_segments:True max_split_size_mb:30",
        "max_split_size_mb:99999999999999999999999",
        "expandable_segments_reserve",
        "expandable_segments_reserve_by_class:0.5",
        "expandable_segments_reserve_by_class:[a:0.5",
        "graph_capture_record_stream_reuse:1",
    };
    struct plm_allocator_settings s;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(parse(bad[i], PLM_TORCH_2_15, &s), PLM_EINVAL);
    assert_int_equal(parse(NULL, PLM_TORCH_2_6, &s), 0);
    assert_true(s.max_split_size == UINT64_MAX && s.large_segment == 20 * MIB && !s.expandable && s.fraction < 0);
    assert_int_equal(parse(" max_split_size_mb : 64 , expandable_segments:True,", PLM_TORCH_2_6, &s), 0);
    assert_true(s.max_split_size == 64 * MIB && s.expandable);
    assert_int_equal(parse("roundup_power2_divisions:[4:2,64:8,>:1]", PLM_TORCH_2_10, &s), 0);
    assert_true(s.roundup[0] == 2 && s.roundup[2] == 2 && s.roundup[3] == 0 && s.roundup[6] == 8 && s.roundup[15] == 1);
    assert_int_equal(parse("roundup_power2_divisions:[4:2,64:8,>:1]", PLM_TORCH_2_6, &s), 0);
    assert_true(s.roundup[2] == 2 && s.roundup[6] == 1 && s.roundup[15] == 1);
    assert_int_equal(parse("large_segment_size_mb:32", PLM_TORCH_2_10, &s), PLM_EINVAL);
    assert_int_equal(parse("large_segment_size_mb:32", PLM_TORCH_2_15, &s), 0);
    assert_int_equal(parse("large_segment_size_mb:10", PLM_TORCH_2_15, &s), PLM_EINVAL);
    assert_int_equal(parse("max_split_size_mb:30,large_segment_size_mb:64", PLM_TORCH_2_15, &s), PLM_EINVAL);
    assert_int_equal(parse("max_non_split_rounding_mb:20", PLM_TORCH_2_6, &s), PLM_EINVAL);
    assert_int_equal(parse("large_segment_size_mb:32", PLM_TORCH_2_15, &s), 0);
    assert_true(s.large_segment == 32 * MIB && s.max_non_split_rounding == 32 * MIB);
    assert_int_equal(parse("max_split_size_mb:20", PLM_TORCH_2_6, &s), PLM_EINVAL);
    assert_int_equal(parse("max_split_size_mb:20", PLM_TORCH_2_10, &s), 0);
    assert_int_equal(parse("expandable_segments_reserve:40G", PLM_TORCH_2_15, &s), 0);
    assert_true(s.reserve > 39.9 && s.reserve < 40.1 && s.reserve_gib);
    assert_int_equal(
        parse("expandable_segments_reserve:0x,expandable_segments_reserve_by_class:[a:1G,b:x]", PLM_TORCH_2_15, &s), 0);
    assert_true(s.reserve <= 0); /* PyTorch only warns of such a value */
    assert_int_equal(parse("expandable_segments_reserve:1G", PLM_TORCH_2_10, &s), PLM_EINVAL);
    assert_int_equal(plm_torch_version("2.6.0+cu124"), PLM_TORCH_2_6);
    assert_int_equal(plm_torch_version("2.11.0"), PLM_TORCH_2_10);
    assert_int_equal(plm_torch_version("2.12.1"), PLM_TORCH_2_10);
    assert_int_equal(plm_torch_version("2.13.0"), PLM_TORCH_2_15);
    assert_int_equal(plm_torch_version("2.14"), PLM_TORCH_2_15);
    assert_int_equal(plm_torch_version("3.0"), PLM_TORCH_2_15);
    assert_int_equal(plm_torch_version(NULL), PLM_TORCH_2_15);
}

/* ---- random operations ---- */

static uint64_t random_state;

static uint64_t roll(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void random_operations(const char *text, uint64_t capacity)
{
    struct plm_allocator *a = make(text, PLM_TORCH_2_15, capacity);
    enum { BLOCKS = 64 };
    uint64_t block[BLOCKS] = {0};
    for (int i = 0; i < 6000; i++) {
        uint64_t at = roll(BLOCKS), what = roll(100), size = 1 + roll(roll(3) ? 3 * MIB : 60 * MIB);
        did[0] = 0;
        if (what < 2)
            assert_int_equal(plm_allocator_empty_cache(a), 0);
        else if (what < 12)
            plm_allocator_record_stream(a, block[at], roll(3));
        else if (block[at]) {
            assert_int_equal(plm_allocator_free(a, block[at]), 0);
            block[at] = 0;
        } else if (plm_allocator_malloc(a, size, roll(2), 0, &block[at]))
            assert_int_equal(block[at], 0);
        assert_true(plm_allocator_is_valid(a));
    }
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(plm_allocator_free(a, block[i]), 0);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_int_equal(now(a, PLM_STAT_RESERVED_BYTES), 0);
    plm_allocator_delete(a);
}

static void stays_valid(void **state)
{
    static const char *const texts[] = {
        "",
        "max_split_size_mb:30",
        "expandable_segments:True",
        "expandable_segments:True,expandable_segments_reserve:0.003",
        "backend:cudaMallocAsync",
        "roundup_power2_divisions:8,garbage_collection_threshold:0.5,per_process_memory_fraction:0.05"};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        random_state = i;
        random_operations(texts[i], UINT64_MAX);
        random_operations(texts[i], 300 * MIB);
    }
}

/* ---- the walker itself ---- */

/* Some bits of a field are wrong, and right again. */
static void damage(const struct plm_allocator *a, void *field, size_t size, uint64_t bits)
{
    unsigned char kept[8];
    memcpy(kept, field, size);
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)field)[i] ^= (unsigned char)(bits >> 8 * i);
    assert_false(plm_allocator_is_valid(a));
    memcpy(field, kept, size);
    assert_true(plm_allocator_is_valid(a));
}
#define DAMAGE(field, bits) damage(a, &(field), sizeof(field), bits)

/* 3 MiB that are taken, what is left of their segment, and 12 MiB that wait for two other streams. */
static void damage_is_noticed(void **state)
{
    static const enum plm_allocator_stat stats[] = {
        PLM_STAT_ALLOCATED_BYTES, PLM_STAT_ACTIVE_BYTES,   PLM_STAT_RESERVED_BYTES,      PLM_STAT_SEGMENT,
        PLM_STAT_ALLOCATION,      PLM_STAT_INACTIVE_SPLIT, PLM_STAT_INACTIVE_SPLIT_BYTES};
    struct plm_allocator *a = plain();
    struct plm_cell *live = plm_cell_live(a, take(a, 3 * MIB)), *rest = live->next, *waits;
    const uint64_t block = take(a, 12 * MIB);
    (void)state;
    assert_int_equal(plm_allocator_record_stream(a, block, 5), 0);
    assert_int_equal(plm_allocator_record_stream(a, block, 6), 0);
    give(a, block);
    assert_int_equal(a->queues, 2);
    waits = a->queue[0].cell[0];
    assert_ptr_equal(waits, a->queue[1].cell[0]);
    DAMAGE(live->allocated, 1);
    DAMAGE(live->address, 512);
    DAMAGE(live->size, 512);
    DAMAGE(live->size, 1);
    DAMAGE(rest->allocated, 1);
    DAMAGE(rest->mapped, 1);
    DAMAGE(rest->events, 1);
    DAMAGE(rest->size, 1024);
    DAMAGE(rest->pool, sizeof(void *));
    DAMAGE(waits->allocated, 1);
    DAMAGE(waits->events, waits->events);
    DAMAGE(waits->size, 512);
    DAMAGE(a->held, 512);
    DAMAGE(a->driver.used, a->driver.used);
    DAMAGE(a->driver.capacity, a->driver.capacity);
    for (size_t i = 0; i < COUNT(stats); i++) {
        struct plm_stat *stat = a->stats.stat[stats[i]];
        DAMAGE(stat[PLM_STAT_ALL].current, 1);
        DAMAGE(stat[PLM_STAT_LARGE].current, 1);
        stat[PLM_STAT_ALL].current++; /* its parts still add up */
        stat[PLM_STAT_LARGE].current++;
        assert_false(plm_allocator_is_valid(a));
        stat[PLM_STAT_ALL].current--;
        stat[PLM_STAT_LARGE].current--;
    }
    plm_allocator_delete(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_segments),
        cmocka_unit_test(rounding_to_512),
        cmocka_unit_test(best_fit_and_joining),
        cmocka_unit_test(large_blocks_keep_a_mebibyte),
        cmocka_unit_test(streams_do_not_share),
        cmocka_unit_test(equal_blocks),
        cmocka_unit_test(flush_and_retry),
        cmocka_unit_test(memory_fraction),
        cmocka_unit_test(max_split_size),
        cmocka_unit_test(oversize_segments_go_first),
        cmocka_unit_test(oversize_segments_of_other_streams),
        cmocka_unit_test(segments_are_counted),
        cmocka_unit_test(the_whole_cache),
        cmocka_unit_test(segments_of_private_pools),
        cmocka_unit_test(a_fraction_to_the_byte),
        cmocka_unit_test(segments_have_a_stream),
        cmocka_unit_test(garbage_by_age),
        cmocka_unit_test(roundup_divisions),
        cmocka_unit_test(garbage_collection),
        cmocka_unit_test(expandable),
        cmocka_unit_test(expandable_out_of_memory),
        cmocka_unit_test(expandable_reserve),
        cmocka_unit_test(expandable_range),
        cmocka_unit_test(capture_reuse),
        cmocka_unit_test(capture_keeps_the_cache),
        cmocka_unit_test(uses_on_other_streams),
        cmocka_unit_test(addresses_end),
        cmocka_unit_test(pending_events),
        cmocka_unit_test(private_pools),
        cmocka_unit_test(bad_operations),
        cmocka_unit_test(settings),
        cmocka_unit_test(stays_valid),
        cmocka_unit_test(damage_is_noticed),
    };
    return RUN(tests);
}
