/* What the snippets of the runtime share: its codes, and objects to stand on. */
#ifndef PLM_SNIPPETS_CUDART_H
#define PLM_SNIPPETS_CUDART_H

#include "snippet.h"

#define RT(symbol, types, arguments) CALL(int, symbol, types, arguments)
/* The same of an entry point whose name is a string: several share one check. */
#define BY(name, types, arguments) (((int(*) types)snippet_symbol(name))arguments)

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    INVALID_SYMBOL = 13,
    INVALID_FUNCTION = 98,
    INVALID_DEVICE = 101,
    NO_KERNEL_IMAGE = 209,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
};

/* Three unsigned numbers, passed by value. */
struct dim3 {
    unsigned x, y, z;
};

void *rt_malloc(size_t bytes);
void rt_free(void *pointer);
void *rt_stream(void);
void rt_stream_destroy(void *stream);
/* A registered kernel's host function. */
const void *rt_kernel(void);
/* Launches it once on the stream; returns the runtime's code. */
int rt_launch(void *stream);

#endif
