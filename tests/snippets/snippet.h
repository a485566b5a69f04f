/*
 * Snippets: one minimal call per modelled entry point, made through a plain program that loads a shim
 * as an application would (dlopen, dlsym). `make test` runs every file here against each generation
 * of its library. A modelled symbol with code of its own must have a snippet of its name, and no snippet
 * names a symbol that the table does not know. Of those whose outputs the table writes, documented.c says what NVIDIA's
 * documentation does. The rest is called once by generated code (symgen snippets), which can only repeat the row that
 * also made the body: such calls are counted as accepted, not as passed.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct snippet {
    const char *name;
    void (*run)(void);
    bool accepted; /* generated from the row that it calls */
    struct snippet *next;
};

void snippet_add(struct snippet *snippet);
void snippet_fail(const char *file, int line, const char *what);
/* The entry point under test; a missing one fails the snippet and ends the program. */
void *snippet_symbol(const char *name);
/* 12 or 13, of cuDNN 8 or 9: the generation of the library under test. */
int snippet_cuda(void);

/* How many virtual cards there are. */
int snippet_gpus(void);

/* ---- for the generated snippets ---- */

/* One row of the library's table. The list ends with a name that is NULL. */
struct snippet_row {
    const char *name;
    int here; /* in this generation */
    int code; /* modelled by a function of its own */
};
extern const struct snippet_row snippet_rows[];
extern const char snippet_library[]; /* "cublas" */

/* A place for an output, with poison before, in and behind it. */
struct snippet_output {
    unsigned char before[16], at[32];
};
void snippet_poison(struct snippet_output *output);
/* Exactly these bytes were written, and nothing around them. */
bool snippet_wrote(const struct snippet_output *output, const void *value, size_t size);
bool snippet_wrote_handle(const struct snippet_output *output);

/* ---- documented.c ---- */

/* What a call writes to one of its parameters. Lists end with a name that is NULL. */
struct snippet_fact {
    const char *symbol;
    int parameter; /* from 1 */
    size_t size;   /* of its type */
    enum { SNIPPET_IS, SNIPPET_LEAST, SNIPPET_MOST, SNIPPET_NEW } is; /* NEW: never null, never twice the same */
    uint64_t value;
};
struct snippet_documented {
    const char *library;
    const struct snippet_fact *fact;
    int null_status; /* for a null pointer; 0: not documented for all */
};
extern const struct snippet_documented snippet_documented[];

/* Skipped when the library of this generation does not export the symbol. */
#define SNIPPET(symbol)  SNIPPET_OF(symbol, false)
#define ACCEPTED(symbol) SNIPPET_OF(symbol, true)
#define SNIPPET_OF(symbol, accepted)                                               \
    static void snippet_run_##symbol(void);                                        \
    __attribute__((constructor)) static void snippet_add_##symbol(void)            \
    {                                                                              \
        static struct snippet s = {#symbol, snippet_run_##symbol, accepted, NULL}; \
        snippet_add(&s);                                                           \
    }                                                                              \
    static void snippet_run_##symbol(void)

#define CALL(result, symbol, types, arguments) (((result(*) types)snippet_symbol(#symbol))arguments)

#define CHECK(condition)                                  \
    do {                                                  \
        if (!(condition))                                 \
            snippet_fail(__FILE__, __LINE__, #condition); \
    } while (0)

#endif
