/* What makes an example, between its files: kinds of modules, the cell "layers". Pure functions; any thread. */
#ifndef PLM_LEARN_EXAMPLE_PARTS_H
#define PLM_LEARN_EXAMPLE_PARTS_H

#include "study/learn/example.h"

struct plm_described_module;

#define PLM_LAYER_MOST 1e18 /* no number of a layer is larger, as of other cells */

enum { PLM_ACTIVATION_IDENTITY = 2, PLM_ACTIVATIONS = 11 };

enum plm_layer_kind plm_layer_kind(const struct plm_described_module *module);
/* Where a class is in the published list of activation functions; -1: it is none of them. */
int plm_activation_index(const char *class_name);

/* The layers of a description; those that it had stay as they were when it fails. */
int plm_example_layers(const struct plm_description *description, struct plm_example *example, struct plm_error *error);

/* The cell again; NULL and 0 layers for an empty one. PLM_EFORMAT with a sentence that begins with the layer. */
int plm_layers_parse(const char *text, struct plm_layer **layer, size_t *layers, struct plm_error *error);

#endif
