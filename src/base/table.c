#include "base/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"

enum { MOST_BYTES = 256 << 20 };

struct parser {
    struct plm_table *table;
    char *at;
    unsigned line;
    size_t cells, cell_room, line_room;
};

static int read_text(const char *path, char **text, size_t *size, struct plm_error *error)
{
    FILE *file = fopen(path, "re");
    size_t room = 0;
    *text = NULL;
    *size = 0;
    if (!file)
        return plm_fail(error, PLM_EIO, "cannot open %.300s: %s", path, strerror(errno));
    for (;;) {
        char *more;
        if (*size + 1 >= room) {
            room = room ? 2 * room : 1 << 16;
            more = room > MOST_BYTES ? NULL : realloc(*text, room);
            if (!more) {
                fclose(file);
                return plm_fail(error, PLM_ENOMEM, "%.300s is too large", path);
            }
            *text = more;
        }
        *size += fread(*text + *size, 1, room - *size - 1, file);
        if (feof(file) || ferror(file))
            break;
    }
    (*text)[*size] = '\0';
    if (ferror(file)) {
        fclose(file);
        return plm_fail(error, PLM_EIO, "cannot read %.300s: %s", path, strerror(errno));
    }
    fclose(file);
    if (strlen(*text) != *size)
        return plm_fail(error, PLM_EFORMAT, "%.300s is not a text file", path);
    return 0;
}

/* Cuts the next cell out in place; *end tells what followed it: ',', '\n' or 0 at the end of the file. */
static int cut(struct parser *p, char **cell, char *end, struct plm_error *error)
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
    *end = *from;
    p->line += *from == '\n';
    p->at = *from ? from + 1 : from;
    *to = '\0';
    return 0;
}

static int keep(struct parser *p, char *cell)
{
    char **grown = plm_grow(p->table->cell, p->cells, &p->cell_room, sizeof *grown);
    if (!grown)
        return PLM_ENOMEM;
    p->table->cell = grown;
    p->table->cell[p->cells++] = cell;
    return 0;
}

/* One record: its cells go behind those that are there. */
static int read_row(struct parser *p, size_t *count, struct plm_error *error)
{
    char *cell = NULL, end = 0;
    *count = 0;
    do {
        int status = cut(p, &cell, &end, error);
        if (status == 0 && keep(p, cell))
            status = plm_fail(error, PLM_ENOMEM, "there is not enough memory for %.300s", p->table->path);
        if (status)
            return status;
        if (++*count > PLM_TABLE_COLUMNS)
            return plm_fail(error, PLM_EFORMAT, "%.300s:%u: more than %d columns", p->table->path, p->line,
                            PLM_TABLE_COLUMNS);
    } while (end == ',');
    return 0;
}

static int read_rows(struct parser *p, struct plm_error *error)
{
    struct plm_table *t = p->table;
    while (*p->at) {
        unsigned line = p->line;
        size_t count = 0, row = t->columns ? t->rows + 1 : 0;
        unsigned *lines = plm_grow(t->line, row, &p->line_room, sizeof *lines);
        int status = lines ? read_row(p, &count, error)
                           : plm_fail(error, PLM_ENOMEM, "there is not enough memory for %.300s", t->path);
        if (lines)
            t->line = lines;
        if (status)
            return status;
        if (count == 1 && !*t->cell[p->cells - 1]) { /* an empty line */
            p->cells--;
            continue;
        }
        if (t->columns && count != t->columns)
            return plm_fail(error, PLM_EFORMAT, "%.300s:%u: %zu cells, but the head line has %zu", t->path, line, count,
                            t->columns);
        t->line[row] = line;
        t->rows += t->columns ? 1 : 0;
        t->columns = count;
    }
    return t->columns ? 0 : plm_fail(error, PLM_EFORMAT, "%.300s is empty", t->path);
}

int plm_table_read(const char *path, struct plm_table *table, struct plm_error *error)
{
    struct parser p = {.table = table, .line = 1};
    size_t size;
    int status;
    *table = (struct plm_table){.path = strdup(path)};
    if (!table->path)
        return plm_fail(error, PLM_ENOMEM, "there is not enough memory to read a table");
    status = read_text(path, &table->text, &size, error);
    if (status == 0 && table->text) {
        p.at = table->text;
        if (size >= 3 && !memcmp(p.at, "\xef\xbb\xbf", 3)) /* a byte-order mark */
            p.at += 3;
        status = read_rows(&p, error);
    }
    if (status)
        plm_table_free(table);
    return status;
}

void plm_table_free(struct plm_table *table)
{
    free(table->path);
    free(table->text);
    free(table->cell);
    free(table->line);
    *table = (struct plm_table){0};
}

const char *plm_table_name(const struct plm_table *table, size_t column)
{
    return table->cell[column];
}

int plm_table_column(const struct plm_table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (!strcmp(table->cell[i], name))
            return (int)i;
    return -1;
}

const char *plm_table_cell(const struct plm_table *table, size_t row, int column)
{
    return column < 0 ? "" : table->cell[(row + 1) * table->columns + (size_t)column];
}

void plm_table_put(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
