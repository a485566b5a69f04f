/*
 * A whole JSON document in memory, for those of some MB: found by key, walked in order, read with a type.
 *
 * plm_json_tree_read() makes a tree, plm_json_tree_free() ends it; nodes and texts belong to it. Read-only in between; any thread. Refused
 * (PLM_EFORMAT): what json_read.h refuses, more than PLM_JSON_TREE_NODES values, or more than PLM_JSON_TREE_TEXT bytes of text. Getters fail
 * with one sentence that names the file and the path in it: "job.json: modules[3].parent: expected a whole number". The others accept NULL
 * for a node, which has nothing in it. Of equal keys in one object the last counts, as in Python.
 */
#ifndef PLM_JSON_TREE_H
#define PLM_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_read.h"

struct plm_error;
struct plm_json_tree;
struct plm_json_node;

enum { PLM_JSON_TREE_NODES = 4 << 20, PLM_JSON_TREE_TEXT = 64 << 20 };

int plm_json_tree_read(const char *path, struct plm_json_tree **tree, struct plm_error *error);
/* `name` for its sentences; neither it nor the data need outlive the call. */
int plm_json_tree_read_memory(const char *name, const void *data, size_t size, struct plm_json_tree **tree,
                              struct plm_error *error);
void plm_json_tree_free(struct plm_json_tree *tree);

const struct plm_json_node *plm_json_tree_root(const struct plm_json_tree *tree);
/* PLM_JSON_OBJECT, _ARRAY, _STRING, _NUMBER, _TRUE, _FALSE or _NULL. */
enum plm_json_token plm_json_tree_kind(const struct plm_json_node *node);
/* Number of items of an array or of members of an object, else 0. */
size_t plm_json_tree_count(const struct plm_json_node *node);
/* The first item or member, and the one after; NULL: none. */
const struct plm_json_node *plm_json_tree_first(const struct plm_json_node *node);
const struct plm_json_node *plm_json_tree_next(const struct plm_json_tree *tree, const struct plm_json_node *node);
/* NULL: no such member, or no object. */
const struct plm_json_node *plm_json_tree_find(const struct plm_json_tree *tree, const struct plm_json_node *object,
                                               const char *key);

/* ---- the value of a node; 0, or PLM_EFORMAT with *out as it was ---- */

int plm_json_tree_signed(const struct plm_json_tree *tree, const struct plm_json_node *node, int64_t *out,
                         struct plm_error *error);
/* A whole number of 0 or more, and at most INT64_MAX. */
int plm_json_tree_unsigned(const struct plm_json_tree *tree, const struct plm_json_node *node, uint64_t *out,
                           struct plm_error *error);
int plm_json_tree_real(const struct plm_json_tree *tree, const struct plm_json_node *node, double *out,
                       struct plm_error *error);
int plm_json_tree_bool(const struct plm_json_tree *tree, const struct plm_json_node *node, bool *out,
                       struct plm_error *error);
/* Without 0 bytes in it. */
int plm_json_tree_text(const struct plm_json_tree *tree, const struct plm_json_node *node, const char **out,
                       struct plm_error *error);
/* The node itself if it is of that kind: PLM_JSON_OBJECT or PLM_JSON_ARRAY. */
int plm_json_tree_is(const struct plm_json_tree *tree, const struct plm_json_node *node, enum plm_json_token kind,
                     struct plm_error *error);

/* ---- the same of a member; one that is absent leaves *out as it was ---- */

int plm_json_tree_get_signed(const struct plm_json_tree *tree, const struct plm_json_node *object, const char *key,
                             int64_t *out, struct plm_error *error);
int plm_json_tree_get_unsigned(const struct plm_json_tree *tree, const struct plm_json_node *object, const char *key,
                               uint64_t *out, struct plm_error *error);
int plm_json_tree_get_real(const struct plm_json_tree *tree, const struct plm_json_node *object, const char *key,
                           double *out, struct plm_error *error);
int plm_json_tree_get_bool(const struct plm_json_tree *tree, const struct plm_json_node *object, const char *key,
                           bool *out, struct plm_error *error);
int plm_json_tree_get_text(const struct plm_json_tree *tree, const struct plm_json_node *object, const char *key,
                           const char **out, struct plm_error *error);
/* An object or array; *out is NULL if it is absent. */
int plm_json_tree_get(const struct plm_json_tree *tree, const struct plm_json_node *object, const char *key,
                      enum plm_json_token kind, const struct plm_json_node **out, struct plm_error *error);
/* Fails if there is no such member: "job.json: model.class is missing". */
int plm_json_tree_need(const struct plm_json_tree *tree, const struct plm_json_node *object, const char *key,
                       const struct plm_json_node **out, struct plm_error *error);

/* Fills *error with "FILE: PATH: SENTENCE" about a node, for what only its reader can judge; returns PLM_EFORMAT. */
int plm_json_tree_fail(const struct plm_json_tree *tree, const struct plm_json_node *node, struct plm_error *error,
                       const char *sentence);

#endif
