/*
 * A CSV file (RFC 4180) with a header, whole in memory: truth files and results.
 *
 * A spreadsheet runs a cell that begins with = + - or @. Where that is no number, an apostrophe is written before it, as
 * spreadsheets have it, and taken off again when such a table is read. This is the one writer of cells.
 *
 * plm_csv_read() reads it, plm_csv_free() gives it back; cells belong to the table. Read-only after that, so any
 * thread may look. Fails with one sentence that names file and line: PLM_EREAD, PLM_EFORMAT.
 */
#ifndef PLM_BASE_CSV_H
#define PLM_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct plm_error;

enum { PLM_CSV_COLUMNS = 256 };

struct plm_csv {
    char *path, *text;
    char **cell;      /* rows * columns, the head first */
    unsigned *line;   /* per row, counted from 1 */
    size_t rows;      /* without the head */
    size_t columns;
};

int plm_csv_read(const char *path, struct plm_csv *table, struct plm_error *error);
/* Of a text that somebody else read, `size` bytes with a zero behind, from malloc(): it is the table's from now on, also
   after a failure. `name` for its sentences. */
int plm_csv_take(const char *name, char *text, size_t size, struct plm_csv *table, struct plm_error *error);
void plm_csv_free(struct plm_csv *table);

/* -1: there is none of that name. */
int plm_csv_column(const struct plm_csv *table, const char *name);
const char *plm_csv_name(const struct plm_csv *table, size_t column);
/* "" for a column of -1. */
const char *plm_csv_cell(const struct plm_csv *table, size_t row, int column);
/* A finite number, up to 1e18 either way; 0 for an empty cell and for a column of -1. PLM_EFORMAT with a sentence. */
int plm_csv_real(const struct plm_csv *table, size_t row, int column, double *value, struct plm_error *error);
/* That sentence: "FILE:LINE: NAME is "x", which is not <wanted>". */
int plm_csv_wrong(const struct plm_csv *table, size_t row, int column, const char *wanted, struct plm_error *error);

/* Writes a cell, quoted where that is needed and safe to show (common/printable.h). */
void plm_csv_put(FILE *out, const char *text);
/* Without the apostrophe: for a program of ours that reads it at once. */
void plm_csv_put_exact(FILE *out, const char *text);
/* To anything that takes text. */
typedef void plm_csv_sink(void *out, const char *text);
void plm_csv_write(const char *text, plm_csv_sink *put, void *out);

/* Lines of cells, with commas between them. Begin with {out}. */
struct plm_lines {
    FILE *out;
    bool begun; /* the line has a cell */
};
/* A text of any origin, as plm_csv_put() writes it. */
void plm_lines_text(struct plm_lines *lines, const char *text);
/* Of ours, printed as it is, which may be several cells with their commas; empty unless `known`. */
__attribute__((format(printf, 3, 4))) void plm_lines_cell(struct plm_lines *lines, bool known, const char *format, ...);
/* Up to nine digits; empty for NAN. */
void plm_lines_real(struct plm_lines *lines, double value);
void plm_lines_end(struct plm_lines *lines);

#endif
