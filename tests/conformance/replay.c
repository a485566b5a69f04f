/*
 * Replays a list of operations through the allocator simulator and prints what it did. tests/groups/conformance
 * compares that with what PyTorch did.
 *
 * usage: replay TORCH SETTINGS CAPACITY TOTAL <operations
 *   a SIZE STREAM POOL   allocate; the n-th of these, from 0, is block n
 *   f N                  free block n
 *   r N STREAM           record_stream
 *   e                    empty_cache
 *   l FRACTION           set_per_process_memory_fraction
 *   b POOL, n POOL, x POOL   a capture into a private pool begins, ends; its graph is destroyed
 *   s                    print the statistics
 * Every operation is answered by the segment operations that it caused and by `ok ADDRESS` or `error NAME`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocator/allocator.h"
#include "base/memory.h"
#include "common/error.h"

static void visit(enum plm_segment_action action, uint64_t address, uint64_t size, uint64_t stream, void *context)
{
    static const char *const names[] = {"segment_alloc", "segment_free", "segment_map", "segment_unmap"};
    (void)context;
    printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", names[action], address, size, stream);
}

static void print_stat(const struct plm_stat *s, const char *name, const char *pool)
{
    printf(" %s.%scurrent=%" PRIu64 " %s.%speak=%" PRIu64 " %s.%sallocated=%" PRIu64 " %s.%sfreed=%" PRIu64, name, pool,
           s->current, name, pool, s->peak, name, pool, s->allocated, name, pool, s->freed);
}

static void print_stats(const struct plm_allocator_stats *s)
{
    static const char *const pools[] = {"all.", "small_pool.", "large_pool."};
    printf("stats");
    for (int i = 0; i < PLM_STATS; i++)
        for (int p = 0; p < PLM_STAT_POOLS; p++)
            print_stat(&s->stat[i][p], plm_allocator_stat_name((enum plm_allocator_stat)i), pools[p]);
    print_stat(&s->oversize_allocations, "oversize_allocations", "");
    print_stat(&s->oversize_segments, "oversize_segments", "");
    printf(" num_alloc_retries=%" PRIu64 " num_ooms=%" PRIu64 " num_sync_all_streams=%" PRIu64, s->num_alloc_retries,
           s->num_ooms, s->num_sync_all_streams);
    printf(" num_device_alloc=%" PRIu64 " num_device_free=%" PRIu64 "\n", s->num_device_alloc, s->num_device_free);
}

static void print_oom(const struct plm_allocator_oom *o)
{
    printf("oom %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", o->tried,
           o->total, o->free, o->allowed, o->allocated, o->reserved, o->private_pools);
}

struct blocks {
    uint64_t *address;
    size_t count, room;
};

static int allocate(struct plm_allocator *a, struct blocks *blocks, uint64_t size, uint64_t stream, uint64_t pool,
                    uint64_t *address)
{
    int status = plm_allocator_malloc(a, size, stream, pool, address);
    uint64_t *more = plm_grow(blocks->address, blocks->count, &blocks->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    blocks->address = more;
    blocks->address[blocks->count++] = *address;
    return status;
}

static uint64_t block(const struct blocks *blocks, uint64_t n)
{
    return n < blocks->count ? blocks->address[n] : 1;
}

static int operate(struct plm_allocator *a, struct blocks *blocks, const char *line, uint64_t *address)
{
    uint64_t n[3] = {0};
    sscanf(line + 1, "%" SCNu64 " %" SCNu64 " %" SCNu64, &n[0], &n[1], &n[2]);
    *address = 0;
    switch (line[0]) {
    case 'a': return allocate(a, blocks, n[0], n[1], n[2], address);
    case 'f': return plm_allocator_free(a, block(blocks, n[0]));
    case 'r': return plm_allocator_record_stream(a, block(blocks, n[0]), n[1]);
    case 'e': return plm_allocator_empty_cache(a);
    case 'l': return plm_allocator_set_fraction(a, strtod(line + 1, NULL));
    case 'b': return plm_allocator_pool_begin(a, n[0]);
    case 'n': return plm_allocator_pool_end(a, n[0]);
    case 'x': return plm_allocator_pool_release(a, n[0]);
    case 's': print_stats(plm_allocator_stats(a)); return 0;
    default: return PLM_EINVAL;
    }
}

int main(int argc, char **argv)
{
    struct plm_allocator_options options = {.visit = visit};
    struct blocks blocks = {0};
    struct plm_allocator *a;
    struct plm_error error;
    char line[256];

    if (argc != 5)
        return 2;
    options.torch = plm_torch_version(argv[1]);
    options.capacity = strtoull(argv[3], NULL, 10);
    options.total = strtoull(argv[4], NULL, 10);
    if (plm_allocator_settings_parse(argv[2], options.torch, &options.settings, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    if (plm_allocator_new(&options, &a))
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        uint64_t address;
        int status = operate(a, &blocks, line, &address);
        if (status == PLM_ALLOCATOR_OOM)
            print_oom(plm_allocator_oom(a));
        if (status)
            printf("error %s\n", plm_allocator_error_name(status));
        else
            printf("ok %" PRIu64 "\n", address);
        if (!plm_allocator_is_valid(a)) {
            printf("the allocator is not valid any more\n");
            return 1;
        }
    }
    plm_allocator_delete(a);
    free(blocks.address);
    return 0;
}
