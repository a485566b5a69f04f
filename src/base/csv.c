#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "common/error.h"
#include "common/input.h"
#include "common/printable.h"

enum { MOST_BYTES = 64 << 20, CELL_BYTES = 64 << 10 };

struct parser {
    struct plm_csv *table;
    char *at;
    unsigned line;
    size_t cells, cell_room, line_room;
};

static int text_read(const char *path, char **text, size_t *size, struct plm_error *error)
{
    uint64_t whole;
    int file = plm_input_open(path, &whole, error), status = 0;
    *size = 0;
    if (file < 0)
        return file;
    if (whole > MOST_BYTES)
        status =
            plm_fail(error, PLM_EFORMAT, "%.300s is too large for a table: more than %d MiB", path, MOST_BYTES >> 20);
    else
        *text = plm_calloc((size_t)whole + 1, 1);
    for (ssize_t got = 1; status == 0 && got > 0; *size += (size_t)(got > 0 ? got : 0)) {
        got = read(file, *text + *size, (size_t)whole - *size);
        if (got < 0)
            status = plm_fail(error, PLM_EREAD, "cannot read %.300s: %s", path, strerror(errno));
    }
    close(file);
    if (status == 0 && *text && strlen(*text) != *size)
        status = plm_fail(error, PLM_EFORMAT, "%.300s is not a text file", path);
    return status;
}

static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return strspn(text, "+-.0123456789eE") == strlen(text) && end > text && !*end;
}

/* Whether a spreadsheet would take it for a formula, now or after one apostrophe is taken off. */
static bool is_formula(const char *text)
{
    const size_t quotes = strspn(text, "'");
    return text[quotes] && strchr("=+-@", text[quotes]) && (quotes || !is_number(text));
}

/* Cuts the next cell out in place; *end tells what followed it: ',', '\n' or 0 at the end of the file. */
static int cell_cut(struct parser *p, char **cell, char *end, struct plm_error *error)
{
    char *to = p->at, *from = p->at;
    unsigned start = p->line;
    *cell = to;
    if (*from == '"') {
        for (from++; *from != '"' || from[1] == '"'; from++) {
            if (!*from)
                return plm_fail(error, PLM_EFORMAT, "%.300s:%u: a quote is not closed", p->table->path, start);
            p->line += *from == '\n';
            from += *from == '"';
            *to++ = *from;
        }
        from++;
    } else
        while (*from && *from != ',' && *from != '\n' && *from != '\r')
            *to++ = *from++;
    if (*from == '\r' && from[1] == '\n')
        from++;
    if (*from && *from != ',' && *from != '\n')
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: text after a closing quote", p->table->path, p->line);
    if (to - *cell > CELL_BYTES)
        return plm_fail(error, PLM_EFORMAT, "%.300s:%u: a cell of more than %d KiB", p->table->path, start,
                        CELL_BYTES >> 10);
    *end = *from;
    p->line += *from == '\n';
    p->at = *from ? from + 1 : from;
    *to = '\0';
    *cell += **cell == '\'' && is_formula(*cell);
    return 0;
}

/* One record: its cells go behind those that are there. */
static int row_read(struct parser *p, size_t *count, struct plm_error *error)
{
    char *cell = NULL, end = 0;
    *count = 0;
    do {
        int status = cell_cut(p, &cell, &end, error);
        if (status)
            return status;
        p->table->cell = plm_grow(p->table->cell, p->cells, &p->cell_room, sizeof *p->table->cell);
        p->table->cell[p->cells++] = cell;
        if (++*count > PLM_CSV_COLUMNS)
            return plm_fail(error, PLM_EFORMAT, "%.300s:%u: more than %d columns", p->table->path, p->line,
                            PLM_CSV_COLUMNS);
    } while (end == ',');
    return 0;
}

static int rows_read(struct parser *p, struct plm_error *error)
{
    struct plm_csv *t = p->table;
    while (*p->at) {
        unsigned line = p->line;
        size_t count = 0, row = t->columns ? t->rows + 1 : 0;
        int status = row_read(p, &count, error);
        if (status)
            return status;
        if (count == 1 && !*t->cell[p->cells - 1]) { /* an empty line */
            p->cells--;
            continue;
        }
        if (t->columns && count != t->columns)
            return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %zu cells, but the header has %zu", t->path, line, count,
                            t->columns);
        t->line = plm_grow(t->line, row, &p->line_room, sizeof *t->line);
        t->line[row] = line;
        t->rows += t->columns ? 1 : 0;
        t->columns = count;
    }
    return t->columns ? 0 : plm_fail(error, PLM_EFORMAT, "%.300s is empty", t->path);
}

int plm_csv_take(const char *name, char *text, size_t size, struct plm_csv *table, struct plm_error *error)
{
    struct parser p = {.table = table, .line = 1, .at = text};
    int status;
    *table = (struct plm_csv){.path = plm_strdup(name), .text = text};
    if (size >= 3 && !memcmp(p.at, "\xef\xbb\xbf", 3)) /* a byte-order mark */
        p.at += 3;
    status = rows_read(&p, error);
    if (status)
        plm_csv_free(table);
    return status;
}

int plm_csv_read(const char *path, struct plm_csv *table, struct plm_error *error)
{
    char *text = NULL;
    size_t size;
    int status = text_read(path, &text, &size, error);
    *table = (struct plm_csv){0};
    if (status == 0 && text)
        return plm_csv_take(path, text, size, table, error);
    free(text);
    return status;
}

void plm_csv_free(struct plm_csv *table)
{
    free(table->path);
    free(table->text);
    free(table->cell);
    free(table->line);
    *table = (struct plm_csv){0};
}

const char *plm_csv_name(const struct plm_csv *table, size_t column)
{
    return table->cell[column];
}

int plm_csv_column(const struct plm_csv *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (!strcmp(table->cell[i], name))
            return (int)i;
    return -1;
}

const char *plm_csv_cell(const struct plm_csv *table, size_t row, int column)
{
    return column < 0 ? "" : table->cell[(row + 1) * table->columns + (size_t)column];
}

int plm_csv_wrong(const struct plm_csv *table, size_t row, int column, const char *wanted, struct plm_error *error)
{
    return plm_fail(error, PLM_EFORMAT, "%.200s:%u: %.60s is \"%.60s\", which is not %s", table->path,
                    table->line[row + 1], plm_csv_name(table, (size_t)column), plm_csv_cell(table, row, column),
                    wanted);
}

int plm_csv_real(const struct plm_csv *table, size_t row, int column, double *value, struct plm_error *error)
{
    const char *text = plm_csv_cell(table, row, column);
    char *end;
    *value = 0;
    if (!*text)
        return 0;
    errno = 0;
    *value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(*value) || fabs(*value) > 1e18)
        return plm_csv_wrong(table, row, column, "a number", error);
    return 0;
}

/* ---- writing ---- */

static void cell_write(const char *text, bool guarded, plm_csv_sink *put, void *out)
{
    const bool formula = guarded && is_formula(text);
    const char *quote = formula || strpbrk(text, ",\"") ? "\"" : "";
    char shown[PLM_PRINTABLE_MOST];
    put(out, quote);
    put(out, formula ? "'" : "");
    for (unsigned n; (n = plm_printable_next(text, shown)); text += n) {
        put(out, *text == '"' ? quote : "");
        put(out, shown);
    }
    put(out, quote);
}

void plm_csv_write(const char *text, plm_csv_sink *put, void *out)
{
    cell_write(text, true, put, out);
}

static void file_put(void *out, const char *text)
{
    fputs(text, out);
}

void plm_csv_put(FILE *out, const char *text)
{
    cell_write(text, true, file_put, out);
}

void plm_csv_put_exact(FILE *out, const char *text)
{
    cell_write(text, false, file_put, out);
}

/* ---- lines ---- */

static void cell_begin(struct plm_lines *l)
{
    if (l->begun)
        fputc(',', l->out);
    l->begun = true;
}

void plm_lines_text(struct plm_lines *l, const char *text)
{
    cell_begin(l);
    plm_csv_put(l->out, text);
}

void plm_lines_cell(struct plm_lines *l, bool known, const char *format, ...)
{
    va_list arguments;
    cell_begin(l);
    if (!known)
        return;
    va_start(arguments, format);
    vfprintf(l->out, format, arguments);
    va_end(arguments);
}

void plm_lines_real(struct plm_lines *l, double value)
{
    plm_lines_cell(l, !isnan(value), "%.9g", value);
}

void plm_lines_end(struct plm_lines *l)
{
    fputc('\n', l->out);
    l->begun = false;
}
