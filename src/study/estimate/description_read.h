/* Inside the reader of descriptions: a document that is read until the first thing that is wrong with it. */
#ifndef PLM_ESTIMATE_DESCRIPTION_READ_H
#define PLM_ESTIMATE_DESCRIPTION_READ_H

#include "base/json_tree.h"
#include "study/estimate/description.h"

struct plm_description_reader {
    const struct plm_json_tree *tree;
    struct plm_error *error;
    int status; /* of the first failure; nothing is read after it */
};

/* A member of an object. Absent ones leave *out as it was. */
void plm_description_size(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                          uint64_t *out);
void plm_description_flag(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                          bool *out);
void plm_description_text(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                          const char **out);
void plm_description_dtype(struct plm_description_reader *r, const struct plm_json_node *object, char out[16]);
/* A number from 0 to below `count`; fails if it is absent. */
void plm_description_index(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                           size_t count, uint32_t *out);
/* A list and room for its items, one of `size` bytes each, zeroed; NULL with 0 items if it is absent or empty. */
void *plm_description_list(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                           size_t size, size_t *count, const struct plm_json_node **first);
void plm_description_tensors(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                             struct plm_described_tensor **list, size_t *count);
/* Says what is wrong with a node, unless something was wrong before. */
void plm_description_wrong(struct plm_description_reader *r, const struct plm_json_node *node, const char *sentence);

/* description_lists.c: modules, parameters, calls, graph, sightings, storages. */
void plm_description_lists(struct plm_description_reader *r, const struct plm_json_node *root,
                           struct plm_description *d);

#endif
