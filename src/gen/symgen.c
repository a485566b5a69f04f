/*
 * symgen: turns the symbol tables (data/symbols/<library>.tsv) into code. Runs at build time only.
 *
 *   symgen code  CUDA FILE      bodies of the entry points that need no code of their own
 *   symgen map   CUDA FILE      the linker's version script
 *   symgen procs CUDA FILE      the driver's entry-point table (name, since, address), for cuda.tsv
 *   symgen table FILE...        all rows, for `plimsoll symbols` and the report
 *   symgen doc   FILE...        docs/symbols.md
 *   symgen snippets CUDA FILE   calls of the entry points whose outputs the table writes, and the list of all
 *                               rows, for tests/snippets
 *
 * CUDA is the generation (12 or 13; cuDNN counts its own, 8 or 9); rows whose `cuda` column does not include it are left out.
 * A malformed table ends the build with file, line and reason.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 5, ROWS_MAX = 4096, SONAMES_MAX = 4, WRITES_MAX = 8, ARGS_MAX = 32 };

enum class { MODELLED, ACCEPTED, REFUSED };
static const char *const class_names[] = {"modelled", "accepted", "refused"};

struct row {
    char *name;
    enum class class;
    int first, last; /* CUDA generations, inclusive */
    char *how;
    char *note;
    int line;
};

struct table {
    const char *path;
    char library[32];
    char node[64];
    struct {
        int cuda;
        char name[64];
    } soname[SONAMES_MAX];
    int sonames;
    struct {
        int cuda; /* the generation it is of; 0: all */
        char status[32], name[64];
    } refused[SONAMES_MAX];
    int refusals;
    char null[32]; /* the status for an output that is a null pointer; "": it is left out */
    struct {       /* what rows with get: and known: read, their first argument; "": there are no such rows */
        char header[64], type[64], check[64];
    } object;
    struct row rows[ROWS_MAX];
    int count;
    struct table *next;
};
static struct table *tables; /* what is read is kept until the end */

__attribute__((noreturn)) static void die(const char *path, int line, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: ", path, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static char *copy(const char *text)
{
    char *out = strdup(text);
    if (!out)
        die("symgen", 0, "out of memory");
    return out;
}

/* Splits at tabs in place; returns the number of fields. */
static int split(char *line, char **field, int most)
{
    int n = 0;
    for (char *p = line; p && n < most; n++) {
        field[n] = p;
        p = strchr(p, '\t');
        if (p)
            *p++ = '\0';
    }
    return n;
}

static void read_property(struct table *t, char **field, int n, int line)
{
    if (n < 2)
        die(t->path, line, "a property needs a value");
    if (!strcmp(field[0], "@library"))
        snprintf(t->library, sizeof t->library, "%s", field[1]);
    else if (!strcmp(field[0], "@node"))
        snprintf(t->node, sizeof t->node, "%s", field[1]);
    else if (!strcmp(field[0], "@refused") && n >= 3 && t->refusals < SONAMES_MAX) {
        t->refused[t->refusals].cuda = n > 3 ? atoi(field[3]) : 0;
        snprintf(t->refused[t->refusals].status, sizeof t->refused[0].status, "%s", field[1]);
        snprintf(t->refused[t->refusals++].name, sizeof t->refused[0].name, "%s", field[2]);
    } else if (!strcmp(field[0], "@null") && n >= 3)
        snprintf(t->null, sizeof t->null, "%s", field[1]);
    else if (!strcmp(field[0], "@object") && n >= 4) {
        snprintf(t->object.header, sizeof t->object.header, "%s", field[1]);
        snprintf(t->object.type, sizeof t->object.type, "%s", field[2]);
        snprintf(t->object.check, sizeof t->object.check, "%s", field[3]);
    } else if (!strcmp(field[0], "@soname") && n >= 3 && t->sonames < SONAMES_MAX) {
        t->soname[t->sonames].cuda = strcmp(field[1], "-") ? atoi(field[1]) : 0;
        snprintf(t->soname[t->sonames++].name, sizeof t->soname[0].name, "%s", field[2]);
    } else
        die(t->path, line, "unknown property %s", field[0]);
}

/* "-" every generation, "12" only that one, "12-" from it on, "-12" up to it. */
static void read_generations(struct table *t, struct row *row, const char *text)
{
    const char *dash = strchr(text, '-');
    row->first = 0;
    row->last = 99;
    if (text[0] != '-')
        row->first = atoi(text);
    if (dash && dash[1])
        row->last = atoi(dash + 1);
    if (!dash)
        row->last = row->first;
    if (row->first > row->last || (text[0] != '-' && row->first == 0))
        die(t->path, row->line, "'%s' is not a range of CUDA generations", text);
}

static void read_row(struct table *t, char **field, int n, int line)
{
    struct row *row = &t->rows[t->count];
    if (n != FIELDS)
        die(t->path, line, "%d fields, expected %d (name, class, cuda, how, note)", n, FIELDS);
    if (t->count == ROWS_MAX)
        die(t->path, line, "too many rows");
    row->name = copy(field[0]);
    row->line = line;
    row->how = copy(field[3]);
    row->note = copy(field[4]);
    read_generations(t, row, field[2]);
    for (int c = 0;; c++) {
        if (c > REFUSED)
            die(t->path, line, "unknown class '%s'", field[1]);
        if (!strcmp(field[1], class_names[c])) {
            row->class = (enum class)c;
            break;
        }
    }
    if (row->class == MODELLED && !strcmp(row->how, "-"))
        die(t->path, line, "%s: a modelled symbol says how: 'code' or what it writes", row->name);
    if (row->class == REFUSED && strcmp(row->how, "-") && strcmp(row->how, "code"))
        die(t->path, line, "%s: a refused symbol does nothing", row->name);
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->rows[i].name, row->name) && t->rows[i].last >= row->first && row->last >= t->rows[i].first)
            die(t->path, line, "%s stands in line %d already", row->name, t->rows[i].line);
    t->count++;
}

static struct table *read_table(const char *path)
{
    struct table *t = calloc(1, sizeof *t);
    char line[1024];
    FILE *in = fopen(path, "r");
    if (!t || !in)
        die(path, 0, "cannot be read");
    t->path = path;
    t->next = tables;
    tables = t;
    for (int number = 1; fgets(line, sizeof line, in); number++) {
        char *field[FIELDS + 1];
        line[strcspn(line, "\r\n")] = '\0';
        if (!line[0] || line[0] == '#')
            continue;
        int n = split(line, field, FIELDS + 1);
        if (line[0] == '@')
            read_property(t, field, n, number);
        else
            read_row(t, field, n, number);
    }
    fclose(in);
    if (!t->library[0] || !t->sonames || !t->refusals)
        die(path, 1, "@library, @soname and @refused are needed");
    return t;
}

static bool in_generation(const struct row *row, int cuda)
{
    return !cuda || (row->first <= cuda && cuda <= row->last);
}

/* What a refused call returns in a generation. */
static const char *refused_status(const struct table *t, int cuda)
{
    for (int i = 0; i < t->refusals; i++)
        if (!t->refused[i].cuda || t->refused[i].cuda == cuda)
            return t->refused[i].status;
    die(t->path, 1, "no @refused for generation %d", cuda);
}

/* One "N=kind:value" of a `how` column; the value is a literal, or what "get:" or "known:" read of the object. */
struct write {
    int arg;
    const char *kind;
    const char *value;
    bool reads, may_lack; /* known: 0 is a figure that the object does not have */
};

static const struct {
    const char *name, *ctype;
} kinds[] = {
    {"i32", "int32_t"}, {"u32", "uint32_t"}, {"i64", "int64_t"},   {"u64", "uint64_t"},  {"f32", "float"},
    {"f64", "double"},  {"u8", "uint8_t"},   {"ptr", "uintptr_t"}, {"handle", "void *"},
};

static const char *ctype_of(const struct table *t, const struct row *row, const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kinds[i].name, kind))
            return kinds[i].ctype;
    die(t->path, row->line, "%s writes an unknown kind '%s'", row->name, kind);
}

/* What the `how` column of a row says; texts lie in `how`. */
struct effect {
    char how[256];
    struct write write[WRITES_MAX];
    int writes, args; /* args: the last argument that is written */
    bool launch, reads;
};

static void parse_value(const struct table *t, const struct row *row, struct write *w)
{
    static const char get[] = "get:", known[] = "known:";
    w->may_lack = !strncmp(w->value, known, sizeof known - 1);
    w->reads = w->may_lack || !strncmp(w->value, get, sizeof get - 1);
    if (!w->reads)
        return;
    w->value += w->may_lack ? sizeof known - 1 : sizeof get - 1;
    if (!t->object.type[0] || !t->null[0] || w->arg < 2)
        die(t->path, row->line, "%s reads an object: @object and @null are needed, and another argument", row->name);
}

static void parse_effect(const struct table *t, const struct row *row, struct effect *e)
{
    *e = (struct effect){0};
    snprintf(e->how, sizeof e->how, "%s", strcmp(row->how, "-") ? row->how : "");
    for (char *word = strtok(e->how, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '='), *colon;
        struct write *out = &e->write[e->writes];
        if (!strcmp(word, "launch")) {
            e->launch = true;
            continue;
        }
        if (!equals || e->writes == WRITES_MAX)
            die(t->path, row->line, "%s: cannot read '%s'", row->name, word);
        *equals = '\0';
        colon = strchr(equals + 1, ':');
        if (colon)
            *colon = '\0';
        *out = (struct write){.arg = atoi(word), .kind = equals + 1, .value = colon ? colon + 1 : "0"};
        parse_value(t, row, out);
        e->reads |= out->reads;
        if (out->arg < 1 || out->arg > ARGS_MAX)
            die(t->path, row->line, "%s: argument %s is out of range", row->name, word);
        e->args = out->arg > e->args ? out->arg : e->args;
        e->writes++;
    }
}

/* Which of its writes goes to an argument; -1: none. */
static int write_to(const struct effect *e, int arg)
{
    int found = -1;
    for (int w = 0; w < e->writes; w++)
        found = e->write[w].arg == arg ? w : found;
    return found;
}

/* The object is asked only if it may be, and before anything is written. */
static void emit_reads(const struct table *t, const struct effect *e, int cuda)
{
    for (const struct write *w = e->write; w < e->write + e->writes; w++) {
        if (!w->reads)
            continue;
        printf("    const int64_t v%d = (int64_t)(%s);\n", w->arg, w->value);
        if (w->may_lack)
            printf("    if (v%d <= 0)\n        return %s;\n", w->arg, refused_status(t, cuda));
    }
}

static void emit_body(const struct table *t, const struct row *row, int index, int cuda)
{
    struct effect e;
    parse_effect(t, row, &e);
    printf("PLM_API int %s(", row->name);
    for (int i = 1; i <= e.args; i++)
        printf("%s%splm_word a%d", i > 1 ? ", " : "", write_to(&e, i) < 0 ? "__attribute__((unused)) " : "", i);
    printf("%s)\n{\n", e.args ? "" : "void");
    if (e.reads)
        printf(
            "    %s *object = (%s *)a1;\n    const int status = %s(object);\n    if (status)\n        return status;\n",
            t->object.type, t->object.type, t->object.check);
    for (int i = 0; t->null[0] && i < e.writes; i++)
        printf("    if (!a%d)\n        return %s;\n", e.write[i].arg, t->null);
    emit_reads(t, &e, cuda);
    for (const struct write *w = e.write; w < e.write + e.writes; w++) {
        const char *type = ctype_of(t, row, w->kind);
        printf("    if (a%d)\n        *(%s *)a%d = ", w->arg, type, w->arg);
        if (!strcmp(w->kind, "handle"))
            puts("plm_handle_new();");
        else if (w->reads)
            printf("(%s)v%d;\n", type, w->arg);
        else
            printf("(%s)%s;\n", type, w->value);
    }
    if (e.launch)
        printf("    plm_call_launch(&symbols[%d]);\n", index);
    if (row->class == REFUSED)
        printf("    plm_call_refused(&symbols[%d]);\n", index);
    printf("    return %s;\n}\n\n", row->class == REFUSED ? refused_status(t, cuda) : "0");
}

static void emit_code(const struct table *t, int cuda)
{
    int index = 0;
    printf("/* Generated by symgen from %s.tsv. */\n#include \"device/shim.h\"\n", t->library);
    if (t->object.header[0])
        printf("#include \"%s\"\n", t->object.header);
    puts("");
    puts("__attribute__((unused)) static const struct plm_symbol symbols[] = {");
    for (int i = 0; i < t->count; i++)
        if (in_generation(&t->rows[i], cuda))
            printf("    {\"%s\", \"%s\"},\n", t->library, t->rows[i].name);
    puts("};\n");
    for (int i = 0; i < t->count; i++) {
        const struct row *row = &t->rows[i];
        if (!in_generation(row, cuda))
            continue;
        if (strcmp(row->how, "code"))
            emit_body(t, row, index, cuda);
        index++;
    }
}

static void emit_map(const struct table *t, int cuda)
{
    const char *node = t->node;
    for (int i = 0; i < t->sonames; i++)
        if (!strcmp(t->node, "soname") && (t->soname[i].cuda == cuda || !t->soname[i].cuda))
            node = t->soname[i].name;
    printf("%s {\n  global:\n", strcmp(node, "none") ? node : "");
    for (int i = 0; i < t->count; i++)
        if (in_generation(&t->rows[i], cuda))
            printf("    %s;\n", t->rows[i].name);
    puts("  local: *;\n};");
}

/* The driver's lookup by name: "cuMemAlloc_v2" answers for "cuMemAlloc"; a note "since N" gives the
   first version that maps to it. */
static void emit_procs(const struct table *t, int cuda)
{
    puts("/* Generated by symgen. */\n#include \"shim/cuda/procs.h\"\n");
    for (int i = 0; i < t->count; i++)
        if (in_generation(&t->rows[i], cuda))
            printf("extern char plm_proc_%s[] __asm__(\"%s\");\n", t->rows[i].name, t->rows[i].name);
    puts("\nconst struct plm_proc plm_procs[] = {");
    for (int i = 0; i < t->count; i++) {
        const struct row *row = &t->rows[i];
        const char *since = strstr(row->note, "since ");
        if (in_generation(row, cuda))
            printf("    {\"%s\", %d, plm_proc_%s},\n", row->name, since ? atoi(since + 6) : 0, row->name);
    }
    puts("};\nconst unsigned plm_procs_count = sizeof plm_procs / sizeof plm_procs[0];");
}

static void emit_table(int files, char **paths)
{
    puts("/* Generated by symgen. */\n#include \"base/symbols.h\"\n\nconst struct plm_symbols_row plm_symbols_rows[] = "
         "{");
    for (int f = 0; f < files; f++) {
        const struct table *t = read_table(paths[f]);
        for (int i = 0; i < t->count; i++) {
            const struct row *row = &t->rows[i];
            printf("    {\"%s\", \"%s\", \"%s\", %d, %d, \"%s\"},\n", t->library, row->name, class_names[row->class],
                   row->first, row->last, strcmp(row->note, "-") ? row->note : "");
        }
    }
    puts("};\nconst unsigned plm_symbols_rows_count = sizeof plm_symbols_rows / sizeof plm_symbols_rows[0];");
}

static void emit_doc(int files, char **paths)
{
    puts("# Entry points\n\nGenerated from data/symbols. *modelled* does what matters to memory, *accepted* succeeds "
         "without effect,\n"
         "*refused* answers with its library's \"not supported\" and is named in the report.\n");
    for (int f = 0; f < files; f++) {
        const struct table *t = read_table(paths[f]);
        int n[3] = {0};
        for (int i = 0; i < t->count; i++)
            n[t->rows[i].class]++;
        printf("## %s (", t->library);
        for (int i = 0; i < t->sonames; i++)
            printf("%s%s", i ? ", " : "", t->soname[i].name);
        printf(")\n\n%d modelled, %d accepted, %d refused (%s).\n\n| name | class | CUDA | note |\n|---|---|---|---|\n",
               n[0], n[1], n[2], t->refused[0].name);
        for (int i = 0; i < t->count; i++) {
            const struct row *row = &t->rows[i];
            char range[32] = "all";
            if (row->first == row->last)
                snprintf(range, sizeof range, "%d", row->first);
            else if (row->first > 0)
                snprintf(range, sizeof range, "%d-", row->first);
            else if (row->last < 99)
                snprintf(range, sizeof range, "-%d", row->last);
            printf("| %s | %s | %s | %s |\n", row->name, class_names[row->class], range,
                   strcmp(row->note, "-") ? row->note : "");
        }
        puts("");
    }
}

/* What a row reads of an object, no table can expect: a snippet by hand says it, as for code. */
static bool is_literal(const struct row *row)
{
    return strchr(row->how, '=') && !strstr(row->how, ":get:") && !strstr(row->how, ":known:");
}

/* One call for a row that says what it writes: see tests/snippets/snippet.h. */
static void emit_snippet(const struct table *t, const struct row *row)
{
    struct effect e;
    parse_effect(t, row, &e);
    printf("ACCEPTED(%s)\n{\n    struct snippet_output out[%d];\n", row->name, e.writes);
    for (int i = 0; i < e.writes; i++)
        printf("    snippet_poison(&out[%d]);\n", i);
    printf("    CHECK(CALL(int, %s, (", row->name);
    for (int i = 1; i <= e.args; i++)
        printf("%suintptr_t", i > 1 ? ", " : "");
    printf("), (");
    for (int i = 1; i <= e.args; i++) {
        const int found = write_to(&e, i);
        if (found < 0)
            printf("%s0", i > 1 ? ", " : "");
        else
            printf("%s(uintptr_t)out[%d].at", i > 1 ? ", " : "", found);
    }
    puts(")) == 0);");
    for (int i = 0; i < e.writes; i++) {
        const char *type = ctype_of(t, row, e.write[i].kind);
        if (!strcmp(e.write[i].kind, "handle"))
            printf("    CHECK(snippet_wrote_handle(&out[%d]));\n", i);
        else
            printf("    CHECK(snippet_wrote(&out[%d], &(%s){(%s)%s}, sizeof(%s)));\n", i, type, type, e.write[i].value,
                   type);
    }
    puts("}\n");
}

static void emit_snippets(const struct table *t, int cuda)
{
    printf("/* Generated by symgen from %s.tsv. */\n#include \"snippet.h\"\n\n", t->library);
    for (int i = 0; i < t->count; i++)
        if (in_generation(&t->rows[i], cuda) && is_literal(&t->rows[i]))
            emit_snippet(t, &t->rows[i]);
    printf("const char snippet_library[] = \"%s\";\n", t->library);
    puts("const struct snippet_row snippet_rows[] = {");
    for (int i = 0; i < t->count; i++) {
        const struct row *row = &t->rows[i];
        printf("    {\"%s\", %d, %d},\n", row->name, in_generation(row, cuda),
               row->class == MODELLED && (!strcmp(row->how, "code") || (strchr(row->how, '=') && !is_literal(row))));
    }
    puts("    {0, 0, 0},\n};");
}

static const struct {
    const char *name;
    void (*one)(const struct table *t, int cuda);
    void (*all)(int files, char **paths);
} modes[] = {
    {"code", emit_code, NULL},         {"map", emit_map, NULL},     {"procs", emit_procs, NULL},
    {"snippets", emit_snippets, NULL}, {"table", NULL, emit_table}, {"doc", NULL, emit_doc},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(argv[1], modes[i].name) || (modes[i].one && argc != 4))
            continue;
        if (modes[i].one)
            modes[i].one(read_table(argv[3]), atoi(argv[2]));
        else
            modes[i].all(argc - 2, argv + 2);
        return ferror(stdout) || fflush(stdout) ? 1 : 0;
    }
    fputs("usage: symgen code|map|procs|snippets CUDA FILE | symgen table|doc FILE...\n", stderr);
    return 2;
}
