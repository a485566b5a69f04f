/* The map of numbers against an array that is searched. */
#include "base/map.h"

#include <stdlib.h>

#include "unit.h"

enum { KEYS = 500, TURNS = 200000 };

/* Multiples of 512, as addresses are: the map spreads them so well that hardly two meet; 0 is a key too. */
static uint64_t key_address(uint64_t at)
{
    return at * 512;
}

/* Anything: these meet, and what is removed leaves gaps between others. */
static uint64_t key_any(uint64_t at)
{
    at = (at ^ at >> 3) * 0xbf58476d1ce4e5b9u;
    return (at ^ at >> 27) * 0x94d049bb133111ebu;
}

static void agrees_with_an_array(uint64_t (*key_of)(uint64_t))
{
    struct plm_map map = {0};
    uint64_t have[KEYS], random = 1;
    size_t count = 0;
    for (int i = 0; i < KEYS; i++)
        have[i] = PLM_MAP_NONE;
    for (int i = 0; i < TURNS; i++) {
        uint64_t at, key;
        random = random * 6364136223846793005u + 1442695040888963407u;
        at = (random >> 33) % KEYS;
        key = key_of(at);
        if (random >> 62) {
            count += have[at] == PLM_MAP_NONE;
            have[at] = random >> 40;
            plm_map_put(&map, key, have[at]);
        } else {
            assert_int_equal(plm_map_remove(&map, key), have[at]);
            count -= have[at] != PLM_MAP_NONE;
            have[at] = PLM_MAP_NONE;
        }
        assert_int_equal(map.count, count);
        key = (random >> 20) % KEYS;
        assert_int_equal(plm_map_get(&map, key_of(key)), have[key]);
    }
    plm_map_free(&map);
}

static void addresses(void **state)
{
    (void)state;
    agrees_with_an_array(key_address);
}

static void anything(void **state)
{
    (void)state;
    agrees_with_an_array(key_any);
}

static void empty(void **state)
{
    struct plm_map map = {0};
    (void)state;
    assert_int_equal(plm_map_get(&map, 0), PLM_MAP_NONE);
    assert_int_equal(plm_map_remove(&map, 7), PLM_MAP_NONE);
    plm_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(addresses), cmocka_unit_test(anything),
                                       cmocka_unit_test(empty)};
    return RUN(tests);
}
