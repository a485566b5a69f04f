/*
 * Ordered sets: a treap whose nodes are the first field of what is ordered, so nothing is allocated, and a member can leave
 * without being searched for. A treap of zeros is empty and ready; it owns nothing.
 *
 * The order is the caller's: `before` says whether a member comes before a key. Functions that take one are inline, so that
 * each use is compiled with its own comparison. What the order looks at must not change while a member is in the set. Nothing
 * fails. One thread at a time.
 */
#ifndef PLM_BASE_TREAP_H
#define PLM_BASE_TREAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_treap_node {
    struct plm_treap_node *child[2], *up; /* left, right */
    uint32_t priority;
};

struct plm_treap {
    struct plm_treap_node *root;
    size_t count;
    uint64_t random; /* priorities only need to be without order */
};

typedef bool plm_treap_before(const struct plm_treap_node *member, const void *key);

/* Puts a node where a search for it ended: to the right or the left of `up`, or, if that is NULL, into an empty set. */
void plm_treap_hang(struct plm_treap *treap, struct plm_treap_node *node, struct plm_treap_node *up, bool right);
void plm_treap_remove(struct plm_treap *treap, struct plm_treap_node *node);
struct plm_treap_node *plm_treap_first(const struct plm_treap *treap);
struct plm_treap_node *plm_treap_last(const struct plm_treap *treap);
struct plm_treap_node *plm_treap_next(const struct plm_treap_node *node);
struct plm_treap_node *plm_treap_previous(const struct plm_treap_node *node);

/* `key` is that of the node. */
static inline void plm_treap_insert(struct plm_treap *treap, struct plm_treap_node *node, plm_treap_before *before,
                                    const void *key)
{
    struct plm_treap_node *at = treap->root, *up = NULL;
    bool right = false;
    while (at) {
        up = at;
        right = before(at, key);
        at = at->child[right];
    }
    plm_treap_hang(treap, node, up, right);
}

/* The first that is not before the key; NULL if all are. */
static inline struct plm_treap_node *plm_treap_from(const struct plm_treap *treap, plm_treap_before *before,
                                                    const void *key)
{
    struct plm_treap_node *at = treap->root, *found = NULL;
    while (at) {
        if (before(at, key)) {
            at = at->child[1];
        } else {
            found = at;
            at = at->child[0];
        }
    }
    return found;
}

#endif
