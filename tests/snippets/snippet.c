/* Runs the snippets that are linked in: snippet LIBRARY CUDA */
#include "snippet.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { POISON = 0xa5 };

static struct snippet *snippets;
static void *library;
static const char *current = "snippet";
static int cuda, failures;

void snippet_add(struct snippet *snippet)
{
    snippet->next = snippets;
    snippets = snippet;
}

void snippet_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, current, what);
    failures++;
}

void *snippet_symbol(const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "%s needs %s, which the library does not export\n", current, name);
        exit(1);
    }
    return symbol;
}

int snippet_cuda(void)
{
    return cuda;
}

int snippet_gpus(void)
{
    const char *gpus = getenv("PLIMSOLL_GPUS");
    return gpus ? atoi(gpus) : 1;
}

/* ---- outputs ---- */

void snippet_poison(struct snippet_output *output)
{
    memset(output, POISON, sizeof *output);
}

static bool poisoned(const unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != POISON)
            return false;
    return true;
}

static bool untouched_around(const struct snippet_output *output, size_t size)
{
    return poisoned(output->before, sizeof output->before) && poisoned(output->at + size, sizeof output->at - size);
}

bool snippet_wrote(const struct snippet_output *output, const void *value, size_t size)
{
    return !memcmp(output->at, value, size) && untouched_around(output, size);
}

bool snippet_wrote_handle(const struct snippet_output *output)
{
    void *handle;
    memcpy(&handle, output->at, sizeof handle);
    return handle && !poisoned(output->at, sizeof handle) && untouched_around(output, sizeof handle);
}

/* ---- what is documented ---- */

enum { PARAMETERS = 24 };
typedef uintptr_t word;
typedef int call(word, word, word, word, word, word, word, word, word, word, word, word, word, word, word, word, word,
                 word, word, word, word, word, word, word);

static const struct snippet_documented *documented(void)
{
    const struct snippet_documented *d = snippet_documented;
    while (d->library && strcmp(d->library, snippet_library))
        d++;
    return d;
}

/* The first fact of a symbol; NULL: there is none. */
static const struct snippet_fact *fact_find(const char *symbol)
{
    for (const struct snippet_fact *f = documented()->fact; f && f->symbol; f++)
        if (!strcmp(f->symbol, symbol))
            return f;
    return NULL;
}

/* More parameters than a function has are not looked at by it. */
static int call_with(const char *symbol, const word a[PARAMETERS])
{
    return ((call *)snippet_symbol(symbol))(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                                            a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22],
                                            a[23]);
}

static void fact_check(const struct snippet_fact *f, const struct snippet_output *out, uint64_t before)
{
    uint64_t value = 0;
    memcpy(&value, out->at, f->size);
    CHECK(untouched_around(out, f->size));
    switch (f->is) {
    case SNIPPET_IS: CHECK(value == f->value); break;
    case SNIPPET_LEAST: CHECK(value >= f->value && value < UINT64_C(1) << 31); break;
    case SNIPPET_MOST: CHECK(value <= f->value); break;
    case SNIPPET_NEW: CHECK(value && value != before); break;
    }
}

/* Twice, for handles; then with each output missing. */
static void facts_check(const struct snippet_fact *first)
{
    struct snippet_output out[PARAMETERS];
    word arguments[PARAMETERS] = {0};
    uint64_t before[PARAMETERS] = {0};
    const struct snippet_fact *f;
    for (int turn = 0; turn < 2; turn++) {
        for (f = first; f->symbol && !strcmp(f->symbol, first->symbol); f++) {
            snippet_poison(&out[f->parameter - 1]);
            arguments[f->parameter - 1] = (word)out[f->parameter - 1].at;
        }
        CHECK(call_with(first->symbol, arguments) == 0);
        for (f = first; f->symbol && !strcmp(f->symbol, first->symbol); f++) {
            fact_check(f, &out[f->parameter - 1], before[f->parameter - 1]);
            memcpy(&before[f->parameter - 1], out[f->parameter - 1].at, f->size);
        }
    }
    for (f = first; documented()->null_status && f->symbol && !strcmp(f->symbol, first->symbol); f++) {
        arguments[f->parameter - 1] = 0;
        CHECK(call_with(first->symbol, arguments) == documented()->null_status);
        arguments[f->parameter - 1] = (word)out[f->parameter - 1].at;
    }
}

/* ---- the table and the snippets name the same symbols ---- */

static bool has_snippet(const char *name)
{
    for (const struct snippet *s = snippets; s; s = s->next)
        if (!strcmp(s->name, name))
            return true;
    return false;
}

static bool is_row(const char *name)
{
    for (const struct snippet_row *row = snippet_rows; row->name; row++)
        if (!strcmp(row->name, name))
            return true;
    return false;
}

static int check_names(void)
{
    int wrong = 0;
    for (const struct snippet_row *row = snippet_rows; row->name; row++)
        if (row->here && row->code && !has_snippet(row->name)) {
            fprintf(stderr, "%s has code and no snippet\n", row->name);
            wrong++;
        }
    for (const struct snippet_fact *f = documented()->fact; f && f->symbol; f++)
        if (!is_row(f->symbol)) {
            fprintf(stderr, "%s is documented, and the table does not know it\n", f->symbol);
            wrong++;
        }
    for (const struct snippet *s = snippets; s; s = s->next) {
        if (!is_row(s->name)) {
            fprintf(stderr, "there is a snippet for %s, which the table does not know\n", s->name);
            wrong++;
        }
        for (const struct snippet *other = s->next; other; other = other->next)
            if (!strcmp(s->name, other->name)) {
                fprintf(stderr, "%s has two snippets\n", s->name);
                wrong++;
            }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int passed = 0, skipped = 0, accepted = 0, failed;
    if (argc != 3) {
        fputs("usage: snippet LIBRARY CUDA\n", stderr);
        return 2;
    }
    /* What the person who runs the tests has set is not what is tested. */
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("PLIMSOLL_LIMIT");
    unsetenv("PLIMSOLL_RECORD");
    cuda = atoi(argv[2]);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    failed = check_names();
    for (struct snippet *s = snippets; s; s = s->next) {
        int before = failures;
        current = s->name;
        if (!dlsym(library, s->name)) {
            skipped++;
            continue;
        }
        if (s->accepted && fact_find(s->name)) {
            facts_check(fact_find(s->name));
            failures > before ? failed++ : passed++;
            continue;
        }
        s->run();
        failures > before ? failed++ : s->accepted ? accepted++ : passed++;
    }
    printf("%d accepted: called, and nothing is known of what they must answer\n", accepted);
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed || !passed;
}
