#include "base/treap.h"

/* Puts `child` where `node` hangs. */
static void node_replace(struct plm_treap *t, struct plm_treap_node *node, struct plm_treap_node *child)
{
    struct plm_treap_node *up = node->up;
    if (!up)
        t->root = child;
    else if (up->left == node)
        up->left = child;
    else
        up->right = child;
    if (child)
        child->up = up;
}

/* A child changes places with its parent; the order stays. */
static void node_rotate_up(struct plm_treap *t, struct plm_treap_node *node)
{
    struct plm_treap_node *up = node->up, *inner;
    bool left = up->left == node;

    inner = left ? node->right : node->left;
    node_replace(t, up, node);
    if (left) {
        up->left = inner;
        node->right = up;
    } else {
        up->right = inner;
        node->left = up;
    }
    up->up = node;
    if (inner)
        inner->up = up;
}

void plm_treap_hang(struct plm_treap *t, struct plm_treap_node *node, struct plm_treap_node *up, bool right)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    *node = (struct plm_treap_node){.up = up, .priority = (uint32_t)(t->random >> 32)};
    if (!up)
        t->root = node;
    else if (right)
        up->right = node;
    else
        up->left = node;
    while (node->up && node->up->priority < node->priority)
        node_rotate_up(t, node);
    t->count++;
}

void plm_treap_remove(struct plm_treap *t, struct plm_treap_node *node)
{
    while (node->left && node->right)
        node_rotate_up(t, node->left->priority > node->right->priority ? node->left : node->right);
    node_replace(t, node, node->left ? node->left : node->right);
    node->left = node->right = node->up = NULL;
    t->count--;
}

struct plm_treap_node *plm_treap_first(const struct plm_treap *t)
{
    struct plm_treap_node *at = t->root;
    while (at && at->left)
        at = at->left;
    return at;
}

struct plm_treap_node *plm_treap_last(const struct plm_treap *t)
{
    struct plm_treap_node *at = t->root;
    while (at && at->right)
        at = at->right;
    return at;
}

struct plm_treap_node *plm_treap_next(const struct plm_treap_node *node)
{
    struct plm_treap_node *at = node->right;
    if (at) {
        while (at->left)
            at = at->left;
        return at;
    }
    for (at = node->up; at && at->right == node; at = at->up)
        node = at;
    return at;
}

struct plm_treap_node *plm_treap_previous(const struct plm_treap_node *node)
{
    struct plm_treap_node *at = node->left;
    if (at) {
        while (at->right)
            at = at->right;
        return at;
    }
    for (at = node->up; at && at->left == node; at = at->up)
        node = at;
    return at;
}
