#include "allocator/internal.h"

struct cell_key {
    uint64_t stream, size, age, address;
};

static bool cell_before_address(const struct plm_treap_node *member, const void *key)
{
    const struct plm_cell *a = (const struct plm_cell *)(const void *)member;
    const struct cell_key *b = key;
    return a->stream != b->stream ? a->stream < b->stream : a->address < b->address;
}

static bool cell_before(const struct plm_treap_node *member, const void *key)
{
    const struct plm_cell *a = (const struct plm_cell *)(const void *)member;
    const struct cell_key *b = key;
    if (a->stream != b->stream)
        return a->stream < b->stream;
    if (a->size != b->size)
        return a->size < b->size;
    if (a->age != b->age)
        return a->age < b->age;
    return a->address < b->address;
}

void plm_tree_insert(struct plm_tree *t, struct plm_cell *cell)
{
    const struct cell_key key = {cell->stream, cell->size, cell->age, cell->address};
    if (t->by_address)
        plm_treap_insert(&t->set, &cell->node, cell_before_address, &key);
    else
        plm_treap_insert(&t->set, &cell->node, cell_before, &key);
}

struct plm_cell *plm_tree_from(const struct plm_tree *t, uint64_t stream, uint64_t size, uint64_t address)
{
    const struct cell_key key = {stream, size, 0, address};
    return plm_cell_of(t->by_address ? plm_treap_from(&t->set, cell_before_address, &key)
                                     : plm_treap_from(&t->set, cell_before, &key));
}
