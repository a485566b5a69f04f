#include "base/treap.h"

/* Puts `child` where `node` hangs. */
static void node_replace(struct plm_treap *t, struct plm_treap_node *node, struct plm_treap_node *child)
{
    struct plm_treap_node *up = node->up;
    if (up)
        up->child[up->child[1] == node] = child;
    else
        t->root = child;
    if (child)
        child->up = up;
}

/* A child changes places with its parent; the order stays. */
static void node_rotate_up(struct plm_treap *t, struct plm_treap_node *node)
{
    struct plm_treap_node *up = node->up, *inner;
    const bool right = up->child[1] == node;
    inner = node->child[!right];
    node_replace(t, up, node);
    up->child[right] = inner;
    node->child[!right] = up;
    up->up = node;
    if (inner)
        inner->up = up;
}

void plm_treap_hang(struct plm_treap *t, struct plm_treap_node *node, struct plm_treap_node *up, bool right)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    *node = (struct plm_treap_node){.up = up, .priority = (uint32_t)(t->random >> 32)};
    if (up)
        up->child[right] = node;
    else
        t->root = node;
    while (node->up && node->up->priority < node->priority)
        node_rotate_up(t, node);
    t->count++;
}

void plm_treap_remove(struct plm_treap *t, struct plm_treap_node *node)
{
    while (node->child[0] && node->child[1])
        node_rotate_up(t, node->child[node->child[0]->priority <= node->child[1]->priority]);
    node_replace(t, node, node->child[0] ? node->child[0] : node->child[1]);
    node->child[0] = node->child[1] = node->up = NULL;
    t->count--;
}

/* From a node as far as it goes to one side. */
static struct plm_treap_node *node_outermost(struct plm_treap_node *at, bool right)
{
    while (at && at->child[right])
        at = at->child[right];
    return at;
}

static struct plm_treap_node *node_neighbour(const struct plm_treap_node *node, bool right)
{
    struct plm_treap_node *at;
    if (node->child[right])
        return node_outermost(node->child[right], !right);
    for (at = node->up; at && at->child[right] == node; at = at->up)
        node = at;
    return at;
}

struct plm_treap_node *plm_treap_first(const struct plm_treap *t)
{
    return node_outermost(t->root, false);
}

struct plm_treap_node *plm_treap_last(const struct plm_treap *t)
{
    return node_outermost(t->root, true);
}

struct plm_treap_node *plm_treap_next(const struct plm_treap_node *node)
{
    return node_neighbour(node, true);
}

struct plm_treap_node *plm_treap_previous(const struct plm_treap_node *node)
{
    return node_neighbour(node, false);
}
