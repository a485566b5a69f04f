/*
 * What the methods that walk a graph of operators need to know of a node: which of its tensors its backward pass
 * reads. torch.fx does not tell, so it is known by the kind of operator (a table). Pure functions; any thread.
 */
#ifndef PLM_ESTIMATE_GRAPH_H
#define PLM_ESTIMATE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

struct plm_description;
struct plm_described_node;

enum plm_saved { PLM_SAVES_INPUTS, PLM_SAVES_OUTPUT, PLM_SAVES_NOTHING };
enum plm_saved plm_described_node_saves(const struct plm_description *description,
                                        const struct plm_described_node *node);

/* The class of its module or, of a function, the node's name without its number: "Conv2d", "add". Into `buffer` of
   `size`. */
const char *plm_described_node_kind(const struct plm_description *description, const struct plm_described_node *node,
                                    char *buffer, unsigned size);
/* The node that holds its output: in-place operators write where an earlier one wrote. */
size_t plm_described_node_holder(const struct plm_description *description, size_t node);
bool plm_described_node_is(const struct plm_described_node *node, const char *op); /* "placeholder", "output", ... */

#endif
