#include "allocator/tree.h"

#include "allocator/internal.h"

static bool less(const struct plm_tree *t, const struct plm_cell *a, uint64_t stream, uint64_t size, uint64_t age,
                 uint64_t address)
{
    if (a->stream != stream)
        return a->stream < stream;
    if (a->size != size && !t->by_address)
        return a->size < size;
    if (a->age != age && !t->by_address)
        return a->age < age;
    return a->address < address;
}

/* Puts `child` where `cell` hangs. */
static void replace(struct plm_tree *t, struct plm_cell *cell, struct plm_cell *child)
{
    struct plm_cell *up = cell->up;
    if (!up)
        t->root = child;
    else if (up->left == cell)
        up->left = child;
    else
        up->right = child;
    if (child)
        child->up = up;
}

/* A child changes places with its parent; the order stays. */
static void rotate_up(struct plm_tree *t, struct plm_cell *cell)
{
    struct plm_cell *up = cell->up, *inner;
    bool left = up->left == cell;

    inner = left ? cell->right : cell->left;
    replace(t, up, cell);
    if (left) {
        up->left = inner;
        cell->right = up;
    } else {
        up->right = inner;
        cell->left = up;
    }
    up->up = cell;
    if (inner)
        inner->up = up;
}

void plm_tree_insert(struct plm_tree *t, struct plm_cell *cell)
{
    struct plm_cell *at = t->root, *up = NULL;
    bool after = false;

    while (at) {
        up = at;
        after = less(t, at, cell->stream, cell->size, cell->age, cell->address);
        at = after ? at->right : at->left;
    }
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    cell->priority = (uint32_t)(t->random >> 32);
    cell->left = cell->right = NULL;
    cell->up = up;
    if (!up)
        t->root = cell;
    else if (after)
        up->right = cell;
    else
        up->left = cell;
    while (cell->up && cell->up->priority < cell->priority)
        rotate_up(t, cell);
    t->count++;
}

void plm_tree_remove(struct plm_tree *t, struct plm_cell *cell)
{
    while (cell->left && cell->right)
        rotate_up(t, cell->left->priority > cell->right->priority ? cell->left : cell->right);
    replace(t, cell, cell->left ? cell->left : cell->right);
    cell->left = cell->right = cell->up = NULL;
    t->count--;
}

struct plm_cell *plm_tree_from(const struct plm_tree *t, uint64_t stream, uint64_t size, uint64_t address)
{
    struct plm_cell *at = t->root, *found = NULL;
    while (at) {
        if (less(t, at, stream, size, 0, address)) {
            at = at->right;
        } else {
            found = at;
            at = at->left;
        }
    }
    return found;
}

struct plm_cell *plm_tree_first(const struct plm_tree *t)
{
    struct plm_cell *at = t->root;
    while (at && at->left)
        at = at->left;
    return at;
}

struct plm_cell *plm_tree_last(const struct plm_tree *t)
{
    struct plm_cell *at = t->root;
    while (at && at->right)
        at = at->right;
    return at;
}

struct plm_cell *plm_tree_next(const struct plm_cell *cell)
{
    struct plm_cell *at = cell->right;
    if (at) {
        while (at->left)
            at = at->left;
        return at;
    }
    for (at = cell->up; at && at->right == cell; at = at->up)
        cell = at;
    return at;
}

struct plm_cell *plm_tree_before(const struct plm_cell *cell)
{
    struct plm_cell *at = cell->left;
    if (at) {
        while (at->right)
            at = at->right;
        return at;
    }
    for (at = cell->up; at && at->left == cell; at = at->up)
        cell = at;
    return at;
}
