/* Makes and closes the file of a job record; used by `plimsoll run` around the command. */
#ifndef PLM_RECORD_CREATE_H
#define PLM_RECORD_CREATE_H

#include <stdbool.h>

#include "record/format.h"

struct plm_error;

struct plm_record_file {
    int fd;
    struct plm_record_header *header; /* shared with the writers */
};

/* Fails if the file exists, unless `replace`. What was begun when it fails is the caller's to remove. */
int plm_record_create(const char *path, bool replace, struct plm_record_file *file, struct plm_error *error);
/* The command has ended: marks the record as complete. */
void plm_record_close(struct plm_record_file *file);

#endif
