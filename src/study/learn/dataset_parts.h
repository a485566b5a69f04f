/* Between the files of a dataset: what is kept while it is made. One thread. */
#ifndef PLM_LEARN_DATASET_PARTS_H
#define PLM_LEARN_DATASET_PARTS_H

#include "study/learn/dataset.h"

/* A file of the temporary folder. */
void plm_dataset_path(const struct plm_dataset *dataset, const char *name, char *out, size_t size);
/* The whole of it, which the caller frees; NULL: it cannot be read. Closes it. */
char *plm_dataset_text(FILE *in);
/* Adds lines to what is kept. */
int plm_dataset_keep(const struct plm_dataset *dataset, const char *text, struct plm_error *error);
/* Lines "INDEX FAILED LINE" become those of the rows; what has no end is left out. The text is changed. */
void plm_dataset_take(struct plm_dataset *dataset, char *text);

#endif
