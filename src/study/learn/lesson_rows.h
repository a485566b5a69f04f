/*
 * The rows of a lesson as numbers for trees: those that are not left out and have a target.
 *
 * plm_lesson_rows_read() makes them, plm_lesson_rows_free() ends them; they belong to the caller. One thread. Fails with
 * one sentence that names the file, and the line where there is one: PLM_EFORMAT, PLM_EINVAL.
 */
#ifndef PLM_LEARN_LESSON_ROWS_H
#define PLM_LEARN_LESSON_ROWS_H

#include "study/estimate/tree.h"

struct plm_error;
struct plm_example;
struct plm_lesson;
struct plm_csv;
struct plm_target;

/* The features of a row into `x`. */
typedef int plm_lesson_take(const void *context, const struct plm_csv *table, size_t row,
                            const struct plm_example *example, double *x, struct plm_error *error);

struct plm_lesson_rows {
    const struct plm_target *target;
    double *x, *y;             /* y in the unit of the target */
    struct plm_tree_data data; /* the same */
    size_t *row;               /* of the table */
};

int plm_lesson_rows_read(const struct plm_lesson *lesson, size_t features, plm_lesson_take *take, const void *context,
                         struct plm_lesson_rows *rows, struct plm_error *error);
void plm_lesson_rows_free(struct plm_lesson_rows *rows);

#endif
