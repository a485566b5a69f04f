/* The map of numbers against an array that is searched. */
#include "base/map.h"

#include <stdlib.h>

#include "unit.h"

enum { KEYS = 500, TURNS = 200000 };

static void agrees_with_an_array(void **state)
{
    struct plm_map map = {0};
    uint64_t have[KEYS], random = 1;
    size_t count = 0;
    (void)state;
    for (int i = 0; i < KEYS; i++)
        have[i] = PLM_MAP_NONE;
    for (int i = 0; i < TURNS; i++) {
        uint64_t at, key;
        random = random * 6364136223846793005u + 1442695040888963407u;
        at = (random >> 33) % KEYS;
        key = at * 512; /* as addresses are; 0 is a key too */
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
        assert_int_equal(plm_map_get(&map, key * 512), have[key]);
    }
    plm_map_free(&map);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_an_array), cmocka_unit_test(empty)};
    return RUN(tests);
}
