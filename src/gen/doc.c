#include "gen/doc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path)
{
    enum { ROOM = 1 << 20 };
    static char text[ROOM];
    FILE *in = fopen(path, "r");
    if (!in || fread(text, 1, ROOM - 1, in) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    fclose(in);
    return text;
}

/* Of UTF-8: bytes that continue a character have no column. */
static size_t columns_of(const char *word, size_t bytes)
{
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)word[i] & 0xc0) != 0x80;
    return columns;
}

void plm_doc_paragraph(FILE *out, const char *text)
{
    enum { COLUMNS = 120 };
    size_t column = 0;
    for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
        const size_t bytes = strcspn(word, " "), columns = columns_of(word, bytes);
        const bool fits = column + 1 + columns <= COLUMNS;
        fprintf(out, "%s%.*s", !column ? "" : fits ? " " : "\n", (int)bytes, word);
        column = column && fits ? column + 1 + columns : columns;
        word += bytes;
    }
    fputc('\n', out);
}

int plm_doc_main(int argc, char **argv, const char *table, const char *program, void (*put)(FILE *out))
{
    const char *path = argv[argc - 1];
    static char *want; /* kept until the end, on every way out */
    char begin[256], *have, *from, *to;
    size_t size = 0;
    FILE *out;
    if (argc != 2 && (argc != 3 || strcmp(argv[1], "--write") != 0)) {
        fprintf(stderr, "%s [--write] FILE\n", argv[0]);
        return 2;
    }
    snprintf(begin, sizeof begin, "<!-- made of %s by %s -->\n", table, program);
    have = read_file(path);
    from = strstr(have, begin);
    to = from ? strstr(from, "<!-- end -->\n") : NULL;
    if (!to) {
        fprintf(stderr, "%s has no part that begins with %s", path, begin);
        return 2;
    }
    out = open_memstream(&want, &size);
    fwrite(have, 1, (size_t)(from - have) + strlen(begin), out);
    put(out);
    fputs(to, out);
    fclose(out);
    if (!strcmp(have, want))
        return 0;
    if (argc == 2) {
        fprintf(stderr, "%s is not what %s says; `make docs` writes it\n", path, table);
        return 1;
    }
    out = fopen(path, "w");
    return !out || fwrite(want, 1, size, out) != size || fclose(out);
}
