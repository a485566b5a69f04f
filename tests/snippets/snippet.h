/*
 * Snippets: one minimal call per modelled entry point, made through a plain program that loads a shim
 * as an application would (dlopen, dlsym). `make test` runs every file here against each generation
 * of its library. A modelled symbol with code of its own must have a snippet of its name; those whose
 * outputs are written by the table are called by generated snippets.
 *
 *   SNIPPET(cublasCreate_v2)
 *   {
 *       void *handle = NULL;
 *       CHECK(CALL(int, cublasCreate_v2, (void **), (&handle)) == 0);
 *       CHECK(handle != NULL);
 *   }
 */
#ifndef PLM_SNIPPET_H
#define PLM_SNIPPET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct snippet {
    const char *name;
    void (*run)(void);
    struct snippet *next;
};

void snippet_add(struct snippet *snippet);
void snippet_fail(const char *file, int line, const char *what);
/* The entry point under test; a missing one fails the snippet and ends the program. */
void *snippet_symbol(const char *name);
/* 12 or 13: the generation of the library under test. */
int snippet_cuda(void);

/* Skipped when the library of this generation does not export the symbol. */
#define SNIPPET(symbol)                                                                                   \
    static void snippet_run_##symbol(void);                                                               \
    __attribute__((constructor)) static void snippet_add_##symbol(void)                                   \
    {                                                                                                     \
        static struct snippet s = {#symbol, snippet_run_##symbol, NULL};                                  \
        snippet_add(&s);                                                                                  \
    }                                                                                                     \
    static void snippet_run_##symbol(void)

#define CALL(result, symbol, types, arguments) (((result(*) types)snippet_symbol(#symbol)) arguments)

#define CHECK(condition)                                                                                  \
    do {                                                                                                  \
        if (!(condition))                                                                                 \
            snippet_fail(__FILE__, __LINE__, #condition);                                                 \
    } while (0)

#endif
