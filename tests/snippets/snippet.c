/* Runs the snippets that are linked in: snippet LIBRARY CUDA */
#include "snippet.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct snippet *snippets;
static void *library;
static const char *current;
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

int main(int argc, char **argv)
{
    int passed = 0, skipped = 0, failed = 0;
    if (argc != 3) {
        fputs("usage: snippet LIBRARY CUDA\n", stderr);
        return 2;
    }
    cuda = atoi(argv[2]);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
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
