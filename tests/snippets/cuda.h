/* What the snippets of the driver share. Several entry points differ in name only; they share one check. */
#ifndef PLM_SNIPPETS_CUDA_H
#define PLM_SNIPPETS_CUDA_H

#include "snippet.h"

#define CU(symbol, types, arguments) CALL(int, symbol, types, arguments)
#define BY(name, types, arguments)   (((int(*) types)snippet_symbol(name))arguments)
#define CHECKED(symbol, check) \
    SNIPPET(symbol)            \
    {                          \
        check(#symbol);        \
    }

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, NO_BINARY = 209, INVALID_HANDLE = 400, NOT_SUPPORTED = 801 };
enum { PAGE = 2 << 20, KIB64 = 64 * 1024 };

typedef uint64_t address;

struct location {
    int type, id;
};

/* PTX with the kernels `first` and `second`; PTX for a card that is not there. */
extern const char cu_ptx[], cu_ptx_of_the_future[];

void *cu_context(void); /* the primary one, made current */
int cu_attribute(int number);
address cu_alloc(size_t bytes);
void cu_release(address at);
void *cu_stream(void);
void *cu_event(void);
void *cu_module(void);
void *cu_kernel(void); /* `first` of cu_module() */
void *cu_graph(void);
/* Sixteen bytes to copy; device memory that starts with them; the device memory holds these bytes. */
extern const char cu_text[16];
address cu_filled(void);
void cu_expect(address at, const void *bytes, size_t count);
/* Writes a new file and its path. */
void cu_make_file(char path[64], const char *text);

#endif
