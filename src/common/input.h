/*
 * Opens what a command reads: records, snapshots, traces, tables, settings. One rule for all of them: only a regular
 * file is read, so that no pipe, terminal, device, socket or folder keeps plimsoll waiting or feeds it without an end, and
 * none that standard output is written to.
 *
 * plm_input_open() never waits. It returns a descriptor, which the caller closes, or a negative code with one sentence
 * that names the path and says what to do: PLM_ENOTFOUND (no such file), PLM_EREAD (cannot be opened), PLM_EFORMAT (not a
 * file), PLM_EINVAL (it is the output). Any thread. It is in the user's process too, for stack files: no memory is taken.
 */
#ifndef PLM_INPUT_H
#define PLM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct plm_error;

/* `size` of the file; may be NULL. */
int plm_input_open(const char *path, uint64_t *size, struct plm_error *error);

/* PLM_EFORMAT, for a file that is not `what`: the sentence says what it looks like by its first bytes or its name, and
   which command takes that. */
int plm_input_foreign(const char *path, const void *data, size_t size, const char *what, struct plm_error *error);

/* The next line of a file of lines, without its end; what has no room is left out. False: there are no more. */
bool plm_input_line(FILE *in, char *line, size_t size);

/* Whether its name is that of a script of Python. */
bool plm_input_is_program(const char *path);

#endif
