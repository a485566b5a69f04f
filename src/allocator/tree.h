/*
 * Ordered sets of blocks: a treap whose nodes are the blocks, so nothing is allocated, and a block can leave
 * without being searched for. The order is stream, size, age of the segment (where the version of PyTorch looks at it),
 * address; in a set of unmapped blocks stream, address.
 * Keys must not change while a block is in a set. Nothing fails. One thread at a time.
 */
#ifndef PLM_ALLOCATOR_TREE_H
#define PLM_ALLOCATOR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_cell; /* internal.h: a block of the allocator */

struct plm_tree {
    struct plm_cell *root;
    size_t count;
    uint64_t random;  /* priorities only need to be without order */
    bool by_address;  /* size is no part of the key */
};

void plm_tree_insert(struct plm_tree *tree, struct plm_cell *cell);
void plm_tree_remove(struct plm_tree *tree, struct plm_cell *cell);
/* The first that is not before the key; NULL if all are. */
struct plm_cell *plm_tree_from(const struct plm_tree *tree, uint64_t stream, uint64_t size, uint64_t address);
struct plm_cell *plm_tree_first(const struct plm_tree *tree);
struct plm_cell *plm_tree_last(const struct plm_tree *tree);
struct plm_cell *plm_tree_next(const struct plm_cell *cell);
struct plm_cell *plm_tree_before(const struct plm_cell *cell);

#endif
