/*
 * Rows that are added to a table: all of them or, if the disk is full, none. The head comes first where there is
 * nothing yet. Several processes may add to a file at the same time. Fails with a sentence: PLM_EIO.
 */
#ifndef PLM_BASE_APPEND_H
#define PLM_BASE_APPEND_H

#include <stdbool.h>
#include <stdio.h>

struct plm_error;

typedef void plm_append_writer(FILE *out, bool head, const void *what);
int plm_append(const char *path, plm_append_writer *write, const void *what, struct plm_error *error);

#endif
