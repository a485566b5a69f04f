/* The ordered set against an array that is searched. */
#include "base/treap.h"

#include "unit.h"

enum { ITEMS = 300, TURNS = 60000 };

struct item {
    struct plm_treap_node node;
    uint64_t key;
    bool member;
};

static bool item_before(const struct plm_treap_node *member, const void *key)
{
    return ((const struct item *)(const void *)member)->key < *(const uint64_t *)key;
}

/* The lowest member whose key is not below `key`; NULL if there is none. */
static const struct item *search(const struct item *item, uint64_t key)
{
    const struct item *best = NULL;
    for (int i = 0; i < ITEMS; i++)
        if (item[i].member && item[i].key >= key && (!best || item[i].key < best->key))
            best = &item[i];
    return best;
}

/* Every member once, ascending, and backwards too; parents have the higher priority. */
static void check_order(const struct plm_treap *set)
{
    const struct plm_treap_node *before = NULL;
    size_t count = 0;
    for (const struct plm_treap_node *at = plm_treap_first(set); at; before = at, at = plm_treap_next(at), count++) {
        assert_ptr_equal(plm_treap_previous(at), before);
        assert_true(!before || item_before(before, &((const struct item *)(const void *)at)->key));
        assert_true(!at->up || at->up->priority >= at->priority);
        assert_true(((const struct item *)(const void *)at)->member);
    }
    assert_ptr_equal(plm_treap_last(set), before);
    assert_int_equal(count, set->count);
}

static void agrees_with_an_array(void **state)
{
    static struct item item[ITEMS];
    struct plm_treap set = {0};
    uint64_t random = 1;
    (void)state;
    for (int i = 0; i < ITEMS; i++)
        item[i].key = (uint64_t)i * 7 % ITEMS * 10;
    for (int i = 0; i < TURNS; i++) {
        struct item *one;
        uint64_t key;
        random = random * 6364136223846793005u + 1442695040888963407u;
        one = &item[(random >> 33) % ITEMS];
        if (one->member)
            plm_treap_remove(&set, &one->node);
        else
            plm_treap_insert(&set, &one->node, item_before, &one->key);
        one->member = !one->member;
        key = (random >> 20) % (10 * ITEMS + 20);
        assert_ptr_equal(plm_treap_from(&set, item_before, &key), search(item, key));
        if (i % 64 == 0)
            check_order(&set);
    }
}

/* What comes in order does not become a list: 2^16 members in at most 64 levels. */
static void stays_shallow(void **state)
{
    static struct item item[1 << 16];
    struct plm_treap set = {0};
    size_t deepest = 0;
    (void)state;
    for (size_t i = 0; i < 1 << 16; i++) {
        item[i].key = i;
        item[i].member = true;
        plm_treap_insert(&set, &item[i].node, item_before, &item[i].key);
    }
    check_order(&set);
    for (size_t i = 0; i < 1 << 16; i++) {
        size_t depth = 0;
        for (const struct plm_treap_node *at = &item[i].node; at; at = at->up)
            depth++;
        deepest = depth > deepest ? depth : deepest;
    }
    assert_in_range(deepest, 17, 64);
}

static void empty(void **state)
{
    struct plm_treap set = {0};
    (void)state;
    assert_null(plm_treap_first(&set));
    assert_null(plm_treap_last(&set));
    assert_null(plm_treap_from(&set, item_before, &(uint64_t){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_an_array), cmocka_unit_test(stays_shallow),
                                       cmocka_unit_test(empty)};
    return RUN(tests);
}
