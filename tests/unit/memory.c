/* The virtual card's memory: two cards of 1 GiB each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/ipc.h"
#include "record/reader.h"
#include "unit.h"

static int start(void **state)
{
    (void)state;
    setenv("PLIMSOLL_GPUS", "2", 1);
    setenv("PLIMSOLL_LIMIT", "1073741824", 1);
    unit_record(unit_path("memory.plm"));
    assert_int_equal(plm_device_count(), 2);
    return 0;
}

/* Every test gives back what it took. */
static int nothing_is_left(void **state)
{
    (void)state;
    return plm_memory_used(0) || plm_memory_used(1) ? -1 : 0;
}

static uint64_t take(int device, uint64_t size)
{
    uint64_t at = 0;
    assert_int_equal(plm_mem_alloc(device, size, &at), 0);
    assert_int_not_equal(at, 0);
    return at;
}

static void give(uint64_t at)
{
    assert_int_equal(plm_mem_free(at), 0);
}

static void whole_pages(void **state)
{
    uint64_t at = take(0, 5 * MIB), zero = 99;
    struct plm_mem_info info = plm_mem_query((char *)at + 3 * MIB);
    (void)state;
    assert_int_equal(plm_memory_used(0), 6 * MIB);
    assert_int_equal(plm_memory_used(1), 0);
    assert_int_equal(info.kind, PLM_MEM_DEVICE);
    assert_int_equal(info.base, at);
    assert_int_equal(info.size, 5 * MIB);
    assert_int_equal(info.device, 0);
    assert_int_equal(plm_mem_free(at + PLM_PAGE), PLM_DEV_INVALID);
    give(at);
    assert_int_equal(plm_mem_free(at), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_query((void *)at).kind, PLM_MEM_NONE);
    assert_int_equal(plm_mem_alloc(0, 0, &zero), 0);
    assert_int_equal(zero, 0);
    assert_int_equal(plm_mem_free(0), 0);
    assert_int_equal(plm_mem_alloc(2, 1, &zero), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_alloc(-1, 1, &zero), PLM_DEV_INVALID);
}

/* What lies between two free ranges makes them one again, whatever goes first. */
static void gaps_join(void **state)
{
    static const int orders[][3] = {{0, 2, 1}, {2, 0, 1}, {0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(orders); i++) {
        const uint64_t at[] = {take(0, 8 * MIB), take(0, 8 * MIB), take(0, 8 * MIB)}, behind = take(0, 8 * MIB);
        uint64_t again;
        assert_int_equal(at[2], at[0] - 16 * MIB); /* as drivers of real cards do */
        for (int k = 0; k < 3; k++)
            give(at[orders[i][k]]);
        again = take(0, 24 * MIB);
        assert_int_equal(again, at[2]);
        give(again);
        give(behind);
    }
}

static void the_limit(void **state)
{
    uint64_t all = take(0, GIB), other, free_bytes, total;
    (void)state;
    plm_device_memory(0, &free_bytes, &total);
    assert_int_equal(free_bytes, 0);
    assert_true(total > GIB); /* the card's own size */
    assert_int_equal(plm_mem_alloc(0, 1, &other), PLM_DEV_NOMEM);
    other = take(1, GIB); /* the other card has its own */
    give(other);
    give(all);
    assert_int_equal(plm_mem_alloc(0, GIB + 1, &other), PLM_DEV_NOMEM);
    assert_int_equal(plm_mem_alloc(0, UINT64_MAX, &other), PLM_DEV_NOMEM);
    assert_int_equal(plm_memory_used(0), 0);
}

static void small_ones_share_pages(void **state)
{
    enum { MANY = 4096 }; /* of 512 bytes: one page */
    static uint64_t at[MANY + 1];
    struct plm_mem_info info;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        at[i] = take(0, 1 + (uint64_t)i % 512);
        assert_int_equal(at[i] % 512, 0);
        assert_int_equal(at[i] / PLM_PAGE, at[0] / PLM_PAGE);
        assert_true(i == 0 || at[i] > at[i - 1]);
    }
    assert_int_equal(plm_memory_used(0), PLM_PAGE);
    at[MANY] = take(0, 1);
    assert_int_equal(plm_memory_used(0), 2 * PLM_PAGE);
    info = plm_mem_query((char *)at[7] + 3);
    assert_int_equal(info.base, at[7]);
    assert_int_equal(info.size, 512);
    assert_int_not_equal(info.id, plm_mem_query((void *)at[8]).id);
    assert_int_equal(plm_mem_free(at[7] + 256), PLM_DEV_INVALID);
    for (int i = 0; i <= MANY; i++)
        give(at[i]);
    assert_int_equal(plm_mem_free(at[0]), PLM_DEV_INVALID);
}

/* Up to half of a page they do: two of 1 MiB are one page, and what is larger has pages of its own. */
static void half_a_page_shares(void **state)
{
    uint64_t at[3];
    (void)state;
    at[0] = take(0, MIB);
    at[1] = take(0, MIB);
    assert_int_equal(plm_memory_used(0), PLM_PAGE);
    assert_int_equal(at[1] - at[0], MIB);
    at[2] = take(0, MIB + 1);
    assert_int_equal(plm_memory_used(0), 2 * PLM_PAGE);
    assert_int_equal(at[2] % PLM_PAGE, 0);
    for (int i = 0; i < 3; i++)
        give(at[i]);
    at[0] = take(0, MIB);
    at[1] = take(0, MIB - 1); /* rounded up to 512 bytes, it fits as exactly */
    assert_int_equal(plm_memory_used(0), PLM_PAGE);
    give(at[0]);
    at[0] = take(0, MIB); /* in the gap before it */
    assert_int_equal(plm_memory_used(0), PLM_PAGE);
    give(at[0]);
    give(at[1]);
}

static void each_card_has_its_range(void **state)
{
    uint64_t zero = take(0, 3 * MIB), one = take(1, 3 * MIB), small = take(1, 100);
    int host;
    (void)state;
    assert_int_equal(plm_memory_device_of(zero), 0);
    assert_int_equal(plm_memory_device_of(one), 1);
    assert_int_equal(plm_memory_device_of(small), 1);
    assert_int_equal(plm_memory_device_of((uint64_t)&host), -1);
    assert_int_equal(plm_mem_query(&host).kind, PLM_MEM_NONE);
    assert_int_equal(plm_memory_used(1), 6 * MIB);
    give(zero);
    give(one);
    give(small);
}

static void libraries_count(void **state)
{
    uint64_t at = 0;
    (void)state;
    assert_int_equal(plm_mem_library(1, "libnccl", 7 * MIB, &at), 0);
    assert_int_equal(plm_memory_used(1), 8 * MIB);
    give(at);
    assert_int_equal(plm_mem_library(1, "libnccl", 0, &at), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_library(1, "libnccl", 2 * GIB, &at), PLM_DEV_NOMEM);
}

/* ---- the virtual-memory API ---- */

static uint64_t reserve(uint64_t size)
{
    uint64_t at = 0;
    assert_int_equal(plm_vmm_reserve(size, 0, 0, &at), 0);
    return at;
}

static uint64_t create(int device, uint64_t size)
{
    uint64_t handle = 0;
    assert_int_equal(plm_vmm_create(device, size, &handle), 0);
    return handle;
}

/* Address space that is given back can be reserved again, in one piece, whatever goes first. */
static void ranges_join(void **state)
{
    static const int orders[][3] = {{0, 2, 1}, {2, 0, 1}, {0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(orders); i++) {
        const uint64_t at[] = {reserve(8 * MIB), reserve(8 * MIB), reserve(8 * MIB)}, behind = reserve(8 * MIB);
        uint64_t again;
        for (int k = 0; k < 3; k++)
            assert_int_equal(plm_vmm_release_range(at[orders[i][k]], 8 * MIB), 0);
        again = reserve(24 * MIB);
        assert_int_equal(again, at[2]);
        assert_int_equal(plm_vmm_release_range(again, 24 * MIB), 0);
        assert_int_equal(plm_vmm_release_range(behind, 8 * MIB), 0);
    }
}

static void mappings_hold_memory(void **state)
{
    uint64_t range = reserve(8 * MIB), handle = create(0, 4 * MIB);
    (void)state;
    assert_int_equal(plm_memory_used(0), 4 * MIB); /* a reservation takes none */
    assert_int_equal(plm_vmm_map(range, 4 * MIB, 0, handle), 0);
    assert_int_equal(plm_vmm_set_access(range, 4 * MIB), 0);
    assert_int_equal(plm_vmm_release(handle), 0);
    assert_int_equal(plm_memory_used(0), 4 * MIB);
    assert_int_equal(plm_vmm_release_range(range, 8 * MIB), PLM_DEV_INVALID); /* still mapped */
    assert_int_equal(plm_vmm_unmap(range, 4 * MIB), 0);
    assert_int_equal(plm_memory_used(0), 0); /* neither handle nor mapping is left */
    assert_int_equal(plm_vmm_release(handle), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_release_range(range, 8 * MIB), 0);
    assert_int_equal(plm_vmm_release_range(range, 8 * MIB), PLM_DEV_INVALID);
}

static void handles_hold_memory(void **state)
{
    uint64_t range = reserve(2 * MIB), handle = create(1, 2 * MIB), same = 0, size = 0;
    int device = -1;
    (void)state;
    assert_int_equal(plm_vmm_map(range, 2 * MIB, 0, handle), 0);
    assert_int_equal(plm_mem_query((void *)range).device, 1); /* where the memory is, not the range */
    assert_int_equal(plm_vmm_handle_of(range + MIB, &same), 0);
    assert_int_equal(same, handle);
    assert_int_equal(plm_vmm_retain(handle), 0);
    assert_int_equal(plm_vmm_handle_info(handle, &device, &size), 0);
    assert_true(device == 1 && size == 2 * MIB);
    assert_int_equal(plm_vmm_unmap(range, 2 * MIB), 0);
    for (int i = 0; i < 3; i++) { /* made, found, retained */
        assert_int_equal(plm_memory_used(1), 2 * MIB);
        assert_int_equal(plm_vmm_release(handle), 0);
    }
    assert_int_equal(plm_memory_used(1), 0);
    assert_int_equal(plm_vmm_handle_info(handle, &device, &size), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_retain(handle), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_handle_of(range, &same), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_release_range(range, 2 * MIB), 0);
}

static void wrong_mappings(void **state)
{
    uint64_t range = reserve(4 * MIB), handle = create(0, 2 * MIB), large = create(0, 8 * MIB), other;
    (void)state;
    assert_int_equal(plm_mem_query((void *)range).kind, PLM_MEM_NONE); /* reserved is not there */
    assert_int_equal(plm_vmm_set_access(range, 2 * MIB), PLM_DEV_NOT_MAPPED);
    assert_int_equal(plm_vmm_map(range + 1, 2 * MIB, 0, handle), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_map(range, 0, 0, handle), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_map(range, 4 * MIB, 0, handle), PLM_DEV_INVALID); /* more than the handle has */
    assert_int_equal(plm_vmm_map(range, 8 * MIB, 0, large), PLM_DEV_INVALID);  /* more than the range has */
    assert_int_equal(plm_vmm_map(range, 0 - PLM_PAGE, 0, handle), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_map(range, 2 * MIB, 0, 123456), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_map(64, 2 * MIB, 0, handle), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_map(range, 2 * MIB, 0, handle), 0);
    assert_int_equal(plm_vmm_map(range, 2 * MIB, 0, handle), PLM_DEV_INVALID); /* taken */
    assert_int_equal(plm_vmm_map(range + 2 * MIB, 2 * MIB, 0, handle), 0);     /* but twice is fine */
    assert_int_equal(plm_vmm_set_access(range, 4 * MIB), 0);
    assert_int_equal(plm_mem_free(range), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_unmap(range + MIB, 2 * MIB), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_unmap(range, 4 * MIB), 0);
    assert_int_equal(plm_vmm_unmap(range, 2 * MIB), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_release(handle), 0);
    assert_int_equal(plm_vmm_release(large), 0);
    assert_int_equal(plm_vmm_release_range(range, 4 * MIB), 0);
    assert_int_equal(plm_vmm_create(0, 2 * GIB, &other), PLM_DEV_NOMEM);
    assert_int_equal(plm_vmm_create(0, 1000, &other), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_create(9, 2 * MIB, &other), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_reserve(1000, 0, 0, &other), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_reserve(2 * MIB, 3, 0, &other), PLM_DEV_INVALID);
    assert_int_equal(plm_vmm_reserve(0 - PLM_PAGE, 0, 0, &other), PLM_DEV_NOMEM);
}

/* ---- host memory that the card knows ---- */

static void host_memory(void **state)
{
    static char mine[4096];
    void *at = NULL;
    uint64_t managed = 0;
    (void)state;
    assert_int_equal(plm_mem_host_alloc(5000, 3, &at), 0);
    assert_int_equal(plm_mem_query((char *)at + 4000).kind, PLM_MEM_HOST);
    assert_int_equal(plm_mem_query(at).flags, 3);
    ((char *)at)[4999] = 1;
    assert_int_equal(plm_mem_host_unregister(at), PLM_DEV_INVALID); /* that is for registered memory */
    assert_int_equal(plm_mem_host_free(at), 0);
    assert_int_equal(plm_mem_host_free(at), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_host_alloc(UINT64_MAX, 0, &at), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_host_register(mine, sizeof mine, 0), 0);
    assert_int_equal(plm_mem_host_register(mine + 100, 10, 0), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_query(mine + 4095).base, (uint64_t)mine);
    assert_int_equal(plm_mem_host_free(mine), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_host_unregister(mine), 0);
    assert_int_equal(plm_mem_query(mine).kind, PLM_MEM_NONE);
    assert_int_equal(plm_mem_managed(0, 100, &managed), 0);
    assert_int_equal(plm_mem_query((void *)managed).kind, PLM_MEM_MANAGED);
    give(managed);
}

/* ---- any sequence of calls against a trivial model ---- */

enum { LIVE = 200, CALLS = 20000 };

struct model {
    uint64_t at, size;
    int device;
};

static uint64_t next_random(uint64_t *seed) /* xorshift */
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void check_account(const struct model *live, int device)
{
    uint64_t large = 0, small = 0, used = plm_memory_used(device);
    for (int i = 0; i < LIVE; i++)
        if (live[i].at && live[i].device == device)
            *(live[i].size > PLM_PAGE / 2 ? &large : &small) +=
                live[i].size > PLM_PAGE / 2 ? (live[i].size + PLM_PAGE - 1) / PLM_PAGE * PLM_PAGE
                                            : (live[i].size + 511) / 512 * 512;
    assert_int_equal(used % PLM_PAGE, 0);
    assert_true(used >= large + small);
    assert_true(small || used == large);
}

static void check_apart(const struct model *live, const struct model *new)
{
    for (int i = 0; i < LIVE; i++)
        if (live[i].at && &live[i] != new)
            assert_true(live[i].at + live[i].size <= new->at || new->at + new->size <= live[i].at);
}

static void any_sequence(void **state)
{
    static struct model live[LIVE];
    uint64_t seed = 88172645463325252ull;
    (void)state;
    for (int call = 0; call < CALLS; call++) {
        struct model *m = &live[next_random(&seed) % LIVE];
        if (m->at) {
            struct plm_mem_info info = plm_mem_query((char *)m->at + next_random(&seed) % m->size);
            assert_int_equal(info.base, m->at);
            assert_int_equal(info.device, m->device);
            assert_true(info.size >= m->size && info.size < m->size + 512);
            give(m->at);
            m->at = 0;
        } else {
            uint64_t shift = next_random(&seed) % 25; /* up to 32 MiB */
            m->size = 1 + next_random(&seed) % (1ull << shift);
            m->device = (int)(next_random(&seed) % 2);
            if (plm_mem_alloc(m->device, m->size, &m->at)) {
                assert_true(plm_memory_used(m->device) + m->size + PLM_PAGE > GIB);
                m->at = 0;
            } else {
                assert_int_equal(plm_memory_device_of(m->at), m->device);
                check_apart(live, m);
            }
        }
        check_account(live, m->device);
    }
    for (int i = 0; i < LIVE; i++)
        if (live[i].at)
            give(live[i].at);
}

static void *busy(void *argument)
{
    uint64_t seed = 99 + (uint64_t)(intptr_t)argument, at;
    for (int i = 0; i < 3000; i++)
        if (plm_mem_alloc((int)(next_random(&seed) % 2), 1 + next_random(&seed) % (4 * MIB), &at) == 0)
            plm_mem_free(at);
    return NULL;
}

/* Handles come from other processes, which may write anything into them. */
static void handles_of_others(void **state)
{
    const struct plm_ipc_handle whole = {0x6d656d2d6d6c70, (uint32_t)getppid(), 1, 0, 5 * MIB, 9, {0}};
    const struct {
        uint64_t size;
        uint32_t process, card;
    } bad[] = {
        {UINT64_MAX, whole.process, 1},     {UINT64_MAX - PLM_PAGE + 2, whole.process, 1},
        {1ull << 60, whole.process, 1},     {0, whole.process, 1},
        {5 * MIB, 0, 1} /* a group */,      {5 * MIB, UINT32_MAX, 1} /* all there are */,
        {5 * MIB, (uint32_t)-getppid(), 1}, {5 * MIB, whole.process, 3},
    };
    const uint64_t own = take(0, 5 * MIB);
    uint64_t at = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct plm_ipc_handle handle = whole;
        handle.size = bad[i].size;
        handle.process = bad[i].process;
        handle.card = bad[i].card;
        assert_int_not_equal(plm_ipc_open(&handle, &at), 0);
    }
    assert_int_equal(plm_ipc_open(&whole, &at), 0);
    assert_int_equal(plm_mem_query((char *)at + 5 * MIB - 1).base, at);
    assert_int_equal(plm_mem_query((char *)own).base, own);
    assert_int_equal(plm_ipc_close(at), 0);
    assert_int_equal(plm_ipc_close(at), PLM_DEV_INVALID);
    give(own);
}

static void several_threads(void **state)
{
    pthread_t thread[4];
    (void)state;
    for (intptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, busy, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

/* ---- the record tells the same story ---- */

struct story {
    uint64_t used[2], peak[2];
    int refused;
};

static int visit(const struct plm_record_event *e, void *context)
{
    struct story *s = context;
    if (e->type == PLM_EV_MEMORY_ALLOC)
        s->used[e->device] += plm_get_memory_alloc(e).bytes;
    if (e->type == PLM_EV_MEMORY_FREE)
        s->used[e->device] -= plm_get_memory_free(e).bytes;
    if (e->type == PLM_EV_MEMORY_ALLOC && s->used[e->device] > s->peak[e->device])
        s->peak[e->device] = s->used[e->device];
    s->refused += e->type == PLM_EV_OOM;
    return 0;
}

static void recorded(void **state)
{
    struct plm_record *record;
    struct plm_error error;
    struct story s = {0};
    (void)state;
    assert_int_equal(plm_record_open(unit_path("memory.plm"), &record, &error), 0);
    assert_int_equal(plm_record_each(record, visit, &s, &error), 0);
    assert_int_equal(s.used[0], 0);
    assert_int_equal(s.used[1], 0);
    assert_int_equal(s.peak[0], GIB);
    assert_true(s.refused >= 4);
    plm_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(whole_pages, nothing_is_left),
        cmocka_unit_test_teardown(gaps_join, nothing_is_left),
        cmocka_unit_test_teardown(the_limit, nothing_is_left),
        cmocka_unit_test_teardown(small_ones_share_pages, nothing_is_left),
        cmocka_unit_test_teardown(half_a_page_shares, nothing_is_left),
        cmocka_unit_test_teardown(each_card_has_its_range, nothing_is_left),
        cmocka_unit_test_teardown(libraries_count, nothing_is_left),
        cmocka_unit_test_teardown(ranges_join, nothing_is_left),
        cmocka_unit_test_teardown(mappings_hold_memory, nothing_is_left),
        cmocka_unit_test_teardown(handles_hold_memory, nothing_is_left),
        cmocka_unit_test_teardown(wrong_mappings, nothing_is_left),
        cmocka_unit_test_teardown(host_memory, nothing_is_left),
        cmocka_unit_test_teardown(any_sequence, nothing_is_left),
        cmocka_unit_test_teardown(handles_of_others, nothing_is_left),
        cmocka_unit_test_teardown(several_threads, nothing_is_left),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
