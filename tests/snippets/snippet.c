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
    int passed = 0, skipped = 0, failed;
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
        s->run();
        failures > before ? failed++ : passed++;
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed || !passed;
}
