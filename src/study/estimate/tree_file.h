/*
 * Files of trees and weights (docs/forest.md, docs/boosted.md, docs/network.md): text, one statement in a line. What
 * these kinds of file share. Trees of version 2 end with a checksum of all before it; those of version 1, which have
 * none, are read as well.
 *
 * plm_tree_file_open() reads a file whole, plm_tree_file_close() ends it; the reader belongs to the caller, one thread.
 * The other functions read on from where it is. Every one that returns int gives 0, or a code and one sentence with the
 * line: PLM_EFORMAT, PLM_EVERSION, PLM_EIO, PLM_ENOTFOUND. After a failure nothing more may be read.
 */
#ifndef PLM_ESTIMATE_TREE_FILE_H
#define PLM_ESTIMATE_TREE_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "study/estimate/tree.h"

enum { PLM_TREE_FILE_WORDS = 8, PLM_TREE_FILE_WORD = 64, PLM_TREE_FILE_VERSION = 2 };

struct plm_tree_file {
    const char *path, *at, *end;
    char *text;
    unsigned line, version;
    char word[PLM_TREE_FILE_WORDS][PLM_TREE_FILE_WORD];
    int words;
    struct plm_error *error;
};

/* `what` for sentences: "a forest". */
int plm_tree_file_open(const char *path, const char *what, struct plm_tree_file *file, struct plm_error *error);
void plm_tree_file_close(struct plm_tree_file *file);

int plm_tree_file_wrong(const struct plm_tree_file *file, const char *sentence);
/* The first line: the kind of file and its version, 1 to the newest. */
int plm_tree_file_kind(struct plm_tree_file *file, const char *kind, const char *what, unsigned newest);
/* The next line, whatever it is. */
int plm_tree_file_line(struct plm_tree_file *file);
/* The next line, which is this key with that many values. */
int plm_tree_file_expect(struct plm_tree_file *file, const char *key, int values);
/* Words of that line. */
int plm_tree_file_real(const struct plm_tree_file *file, int word, double *value);
int plm_tree_file_whole(const struct plm_tree_file *file, int word, uint64_t least, uint64_t most, uint64_t *value);
int plm_tree_file_name(const struct plm_tree_file *file, int word, char out[PLM_TREE_NAME]);
int plm_tree_file_range(const struct plm_tree_file *file, int word, double *low, double *high);
/* A line with a key and one such word. */
int plm_tree_file_one_whole(struct plm_tree_file *file, const char *key, uint64_t least, uint64_t most,
                            uint64_t *value);
int plm_tree_file_one_name(struct plm_tree_file *file, const char *key, char out[PLM_TREE_NAME]);

/* Features and how many there are. */
int plm_tree_file_features(struct plm_tree_file *file, struct plm_tree_feature feature[PLM_TREE_FEATURES],
                           size_t *features);
/* The trees, from their number to the end of the file; leaves lie from low to high. What was read before a failure is
   still to be freed. */
int plm_tree_file_trees(struct plm_tree_file *file, size_t features, double low, double high, struct plm_trees *trees);

/* Writing: first the kind of file, then what is its own, then these two. */
void plm_tree_file_put_kind(FILE *out, const char *kind);
void plm_tree_file_put_features(FILE *out, const struct plm_tree_feature *feature, size_t features);
void plm_tree_file_put_trees(FILE *out, const struct plm_trees *trees);
/* All of it with its checksum: `put` writes what goes before. PLM_EIO. */
int plm_tree_file_save(FILE *out, void (*put)(FILE *out, const void *what), const void *what);

#endif
