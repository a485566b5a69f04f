/*
 * Rows in chunks: one `plimsoll run` of a script that forks a process for each row of a table (workloads/rows.py), so
 * that what is imported is imported once.
 *
 *   plm_chunk_start()   writes the rows down and starts the run; the caller waits for it
 *   plm_chunk_ends()    afterwards: which process of the record each row was, or why it failed
 *   plm_chunk_clear()   removes its files, but the record
 *
 * All files but the record are FOLDER/NAME.END: csv, csv.done, csv.errors and log. The folder is a temporary one.
 * Strings are the caller's. One thread for each chunk.
 */
#ifndef PLM_ROWS_CHUNK_H
#define PLM_ROWS_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct plm_error;

struct plm_chunk {
    const char *folder, *name, *record;
    const char *gpu, *stack; /* stack NULL: as `plimsoll run` chooses */
    const char *python, *script;
    const char *const *arguments; /* of the script before --rows FILE, ended by NULL; NULL: none */
};

struct plm_chunk_end {
    uint64_t pid;  /* 0: it has none */
    char why[200]; /* it failed; "": it did not */
};

/* Writes the table, with its head. */
typedef void plm_chunk_write(FILE *out, void *context);

void plm_chunk_path(const struct plm_chunk *chunk, const char *end, char *out, size_t size);
/* As plm_child_start(). */
pid_t plm_chunk_start(const struct plm_chunk *chunk, plm_chunk_write *write, void *context, int *failure);
/* One for each row that was written, in order. */
void plm_chunk_ends(const struct plm_chunk *chunk, struct plm_chunk_end *end, size_t rows);
void plm_chunk_clear(const struct plm_chunk *chunk);

/* The log FROM/NAME.END of something that failed, for the user to read in the folder TO; nothing if they are one. */
int plm_log_keep(const char *from, const char *to, const char *name, const char *end, struct plm_error *error);

/* How many rows go into a chunk, of those that wait: fewer than `most` if that keeps all processors busy. */
size_t plm_chunk_rows(size_t waiting, int jobs, size_t most);

#endif
