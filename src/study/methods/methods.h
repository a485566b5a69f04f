/*
 * The registry of methods: one row per method, in the method's own file, and one line in methods.def. What `estimate`,
 * `train` and `evaluate` ask, what their --help says and what shells complete all come from it;
 * docs/HOWTO_ADD_ESTIMATOR.md walks through one. Nothing that a method is made of knows of the registry.
 *
 * Rows are constant; any thread. A model belongs to who opened it and is ended with plm_methods_model_close().
 * Files fail with one sentence: PLM_EFORMAT, PLM_EVERSION, PLM_EIO, PLM_ENOTFOUND.
 */
#ifndef PLM_METHODS_METHODS_H
#define PLM_METHODS_METHODS_H

#include <stdio.h>

#include "study/estimate/method.h"
#include "study/learn/learner.h"

struct plm_error;

#define METHOD(name) +1
enum {
    PLM_METHODS = 0
#include "study/methods/methods.def"
};
#undef METHOD

extern const struct plm_method *const plm_methods[PLM_METHODS];
const struct plm_method *plm_methods_find(const char *name); /* NULL: no such method */
/* The same among those that learn. */
const struct plm_method *plm_methods_find_learner(const char *name);
/* The methods whose names are nearest to a word that is none, for a complaint: "xmem, xmem+"; "" if none is near. */
const char *plm_methods_nearest(const char *word, char *buffer, size_t size);

/* What `plimsoll train` wrote: the file says for which method. To be closed also after a failure. */
int plm_methods_model_open(const char *path, struct plm_model *learned, struct plm_error *error);
int plm_methods_model_save(FILE *out, const struct plm_model *learned); /* PLM_EIO if the stream failed */
void plm_methods_model_close(struct plm_model *learned);

#endif
