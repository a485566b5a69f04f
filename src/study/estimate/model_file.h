/*
 * Files of what methods have learned (docs/models.md): one header line, `plimsoll-model VERSION KIND CHECKSUM LENGTH`, and
 * the payload, which is text with one statement in a line. KIND is whose it is: the name of a method, or of a correction.
 * CHECKSUM (CRC-32, eight digits) and LENGTH are those of the payload, and are checked before anything of it is read.
 *
 * plm_model_file_open() reads a file whole, plm_model_file_close() ends it; the reader belongs to the caller, one thread.
 * The other functions read on from where it is. Every one that returns int gives 0, or a code and one sentence with the
 * line: PLM_EFORMAT, PLM_EVERSION (with the command that makes a new file), PLM_EIO, PLM_ENOTFOUND. After a failure
 * nothing more may be read.
 */
#ifndef PLM_ESTIMATE_MODEL_FILE_H
#define PLM_ESTIMATE_MODEL_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "study/estimate/tree.h"

enum { PLM_MODEL_FILE_WORDS = 8, PLM_MODEL_FILE_WORD = 64 };

struct plm_model_file {
    const char *path, *at, *end;
    char *text;
    unsigned line;
    char kind[PLM_TREE_NAME];
    char word[PLM_MODEL_FILE_WORDS][PLM_MODEL_FILE_WORD];
    int words;
    struct plm_error *error;
};

int plm_model_file_open(const char *path, struct plm_model_file *file, struct plm_error *error);
/* Any file as it is, without a header; `what` for sentences: "a checkpoint". */
int plm_model_file_bytes(const char *path, const char *what, struct plm_model_file *file, struct plm_error *error);
void plm_model_file_close(struct plm_model_file *file);

int plm_model_file_wrong(const struct plm_model_file *file, const char *sentence);
/* The next line, whatever it is. */
int plm_model_file_line(struct plm_model_file *file);
/* The next line, which is this key with that many values. */
int plm_model_file_expect(struct plm_model_file *file, const char *key, int values);
/* Words of that line. */
int plm_model_file_real(const struct plm_model_file *file, int word, double *value);
int plm_model_file_whole(const struct plm_model_file *file, int word, uint64_t least, uint64_t most, uint64_t *value);
int plm_model_file_name(const struct plm_model_file *file, int word, char out[PLM_TREE_NAME]);
int plm_model_file_range(const struct plm_model_file *file, int word, double *low, double *high);
/* A line with a key and one such word. */
int plm_model_file_one_whole(struct plm_model_file *file, const char *key, uint64_t least, uint64_t most,
                             uint64_t *value);
int plm_model_file_one_name(struct plm_model_file *file, const char *key, char out[PLM_TREE_NAME]);

/* Features and how many there are. */
int plm_model_file_features(struct plm_model_file *file, struct plm_tree_feature feature[PLM_TREE_FEATURES],
                            size_t *features);
/* Numbers, eight in a line, the last line shorter. */
int plm_model_file_values(struct plm_model_file *file, double *value, size_t values);
/* The trees, from their number to the end of the file; leaves lie from low to high. What was read before a failure is
   still to be freed. */
int plm_model_file_trees(struct plm_model_file *file, size_t features, double low, double high,
                         struct plm_trees *trees);

/* That nothing follows. */
int plm_model_file_end(const struct plm_model_file *file);

/* Writing a payload. */
void plm_model_file_put_features(FILE *out, const struct plm_tree_feature *feature, size_t features);
void plm_model_file_put_trees(FILE *out, const struct plm_trees *trees);
void plm_model_file_put_values(FILE *out, const double *value, size_t values);
/* The header and the payload, which `put` writes. PLM_EIO. */
int plm_model_file_save(FILE *out, const char *kind, void (*put)(FILE *out, const void *what), const void *what);

#endif
