/*
 * A file that a command writes: opened, written, then kept or dropped. One rule for all of them:
 *
 * - Nothing that is there is lost: an existing file is refused without `force`, and with it replaced at the end, by a
 *   whole one. Until then the bytes are in NAME.XXXXXX.tmp beside it, which is gone if the command fails or is ended by
 *   a signal.
 * - Only a regular file is ever replaced. A pipe and a character device (/dev/stdout, /dev/null) are written to; a
 *   folder, a disk and a socket are refused. A link stays what it is: the file that it leads to is meant.
 * - What the command reads is never written, with or without `force`, and no name serves for two outputs.
 *
 * "-" and a file that is standard output already are written to through a copy of its descriptor.
 *
 * The structure belongs to the caller, who ends it with plm_output_keep() or plm_output_drop(). One thread. Fails
 * with a sentence: PLM_EINVAL for a file that the command reads, PLM_EIO for the rest.
 */
#ifndef PLM_BASE_OUTPUT_H
#define PLM_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
struct plm_error;

enum { PLM_OUTPUT_INPUTS = 10 };
struct plm_output_rule {
    /* `force`: replace a file. `record`, of a job: mode 0600, a regular file, and one whose name was taken meanwhile
       keeps its temporary one. */
    bool force, record;
    /* Paths that the command reads or writes besides, whether they are there or not; NULL: none. The very string that
       is asked for, by its address, is no other one. */
    const char *input[PLM_OUTPUT_INPUTS];
    char *const *words; /* of a command that is run, ended by NULL: those that are files count too; NULL: none */
};

struct plm_output {
    int fd;
    FILE *stream; /* of the descriptor, once plm_output_stream() made it */
    char *path; /* as it was asked for */
    char *target; /* where it will be; NULL: what is written is there at once */
    char *temporary; /* where it is until then; NULL likewise */
    bool force, record;
};

/* A file of settings, which no output replaces from now on. */
void plm_output_spare(const char *path);

/* Would it be refused? For commands that have a lot to do before they write. */
int plm_output_check(const char *path, const struct plm_output_rule *rule, struct plm_error *error);

int plm_output_open(struct plm_output *output, const char *path, const struct plm_output_rule *rule,
                    struct plm_error *error);
/* To write text with; never NULL. */
FILE *plm_output_stream(struct plm_output *output);
/* Closes it and gives the file its name; fails if anything before did. */
int plm_output_keep(struct plm_output *output, struct plm_error *error);
/* All of it: opens, writes with `write`, which returns 0 or fails with a sentence, and keeps what was written whole. */
typedef int plm_output_writer(FILE *out, const void *what, struct plm_error *error);
int plm_output_write(const char *path, const struct plm_output_rule *rule, plm_output_writer *write, const void *what,
                     struct plm_error *error);
/* The same for several, `path` NULL: none. If one cannot be written, none of them is there, and what tells of them is not
   told yet: a verdict comes after the files that hold it. */
enum { PLM_OUTPUT_PARTS = 4 };
struct plm_output_part {
    const char *path;
    plm_output_writer *write;
    const void *what;
    struct plm_output_rule rule;
};
int plm_output_write_all(const struct plm_output_part *part, int parts, struct plm_error *error);
/* As if it had never been opened. Nothing after plm_output_keep() or a failed plm_output_open(). */
void plm_output_drop(struct plm_output *output);

#endif
