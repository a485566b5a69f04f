/*
 * A table of networks with what they take: which rows, running those that are missing, and writing all of them
 * (docs/dataset.md).
 *
 *   plm_dataset_make()   draws the rows, or takes them from a table or a folder of scripts
 *   plm_dataset_resume() takes lines of a file that a run of the same settings has left
 *   plm_dataset_run()    runs the others, and adds their lines to that file
 *   plm_dataset_write()  the table; rows that an older table has come first
 *   plm_dataset_free()
 *
 * What the settings point to must outlive the dataset. One thread; child processes do the work. Fails with a sentence; a
 * row that fails is no failure of the dataset: its status says why.
 */
#ifndef PLM_LEARN_DATASET_H
#define PLM_LEARN_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/card.h"
#include "base/csv.h"
#include "study/learn/generate.h"

struct plm_error;
struct plm_install;
struct plm_speeds;

struct plm_dataset_settings {
    const struct plm_install *install;
    const struct plm_card *card;
    const struct plm_speeds *speeds;
    const char *stack;                  /* NULL: as `plimsoll run` chooses */
    const char *python;
    const char *script, *workloads;     /* hook/plimsoll_dataset and the folder of workloads/rows.py */
    const char *kept;                   /* lines of rows until the table is written; NULL: nothing is gone on with */
    const char *folder;                 /* a temporary one, for all else in between */
    enum plm_family family[PLM_FAMILIES];
    size_t families;                    /* 0: as the table says */
    size_t rows;                        /* of each family */
    uint64_t seed;
    const char *from;                   /* a table or a folder; NULL: rows are drawn */
    int jobs;
};

enum { PLM_DATASET_ROWS = 1000000 };

struct plm_dataset_row {
    struct plm_generated network;
    size_t number; /* in its family, from 1 */
    size_t origin; /* row of the table that it is from */
    char *script;  /* of a folder; NULL: none */
    char *line;    /* of the table that is written; NULL: not known yet */
    bool failed;
};

struct plm_dataset {
    const struct plm_dataset_settings *settings;
    struct plm_dataset_row *row;
    size_t rows, room;
    int kept;              /* settings->kept; -1: it is not open */
    struct plm_csv from; /* zeros: none */
    bool *carried;         /* which columns of it are carried over */
};

typedef void plm_dataset_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *context);

int plm_dataset_make(const struct plm_dataset_settings *settings, struct plm_dataset *dataset, struct plm_error *error);
/* PLM_EINVAL: it was begun with other settings. `anew`: then what is there is dropped. A file that no dataset began is
   left alone in any case. */
int plm_dataset_resume(struct plm_dataset *dataset, bool anew, struct plm_error *error);
int plm_dataset_run(struct plm_dataset *dataset, plm_dataset_progress *progress, void *context,
                    struct plm_error *error);
/* `older` NULL: there is none. */
int plm_dataset_write(FILE *out, const struct plm_dataset *dataset, const struct plm_csv *older,
                      struct plm_error *error);
void plm_dataset_free(struct plm_dataset *dataset);
/* The table is written: removes settings->kept. */
void plm_dataset_clean(const struct plm_dataset *dataset);

/* ---- between its files: dataset_table.c ---- */

struct plm_example;
struct plm_labels;

/* The columns that are written, one after another; NULL: there are no more. `buffer` for those that are carried over. */
const char *plm_dataset_column(const struct plm_dataset *dataset, size_t index, char buffer[128]);
/* Whether a table that is read has this column only because a dataset wrote it. */
bool plm_dataset_writes(const char *column);

struct plm_dataset_answer {
    const struct plm_labels *labels; /* NULL: it failed */
    const struct plm_example *example; /* NULL: nothing is known of it */
    const char *torch, *stack, *status; /* status "ok", or why not */
};
void plm_dataset_put(FILE *out, const struct plm_dataset *dataset, const struct plm_dataset_row *row,
                     const struct plm_dataset_answer *answer);

#endif
