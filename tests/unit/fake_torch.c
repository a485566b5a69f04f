/* The functions of PyTorch that src/torch/facts.c names, as little of them as unit-torch needs. FAKE_SLOT has one more
   virtual function before Allocator::allocate, FAKE_STREAM returns streams in memory. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "torch/facts.h"

int fake_callbacks, fake_streams;

/* ---- observers: libtorch_cpu ---- */

struct callback {
    char bytes[40];
};
struct descriptor {
    char bytes[24];
};

uint64_t callback_add(struct callback c) __asm__("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
uint64_t callback_add(struct callback c)
{
    return (uint64_t)(++fake_callbacks + 0 * c.bytes[0]);
}

const char *function_name(const void *function) __asm__("_ZNK2at14RecordFunction4nameEv");
const char *function_name(const void *function)
{
    return function ? "aten::nothing" : "";
}

int64_t sequence_next(void) __asm__("_ZN2at15sequence_number4peekEv");
int64_t sequence_next(void)
{
    return 41;
}

void function_make(char *object, uint8_t scope) __asm__("_ZN2at14RecordFunctionC1ENS_11RecordScopeE");
void function_make(char *object, uint8_t scope)
{
    memset(object, scope, 256);
}

void function_drop(char *object) __asm__("_ZN2at14RecordFunctionD1Ev");
void function_drop(char *object)
{
    memset(object, 0, 256);
}

void function_begin(char *object, struct descriptor d, int64_t number) __asm__(
    "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_wrapperIKN3c1014"
    "FunctionSchemaEEEEl");
void function_begin(char *object, struct descriptor d, int64_t number)
{
    object[0] = d.bytes[0];
    memcpy(object + 48, &number, sizeof number);
}

/* ---- streams: libc10_cuda ---- */

struct stream {
    int64_t device, id;
#ifdef FAKE_STREAM
    int64_t more;
#endif
};

struct stream stream_now(int8_t device) __asm__("_ZN3c104cuda20getCurrentCUDAStreamEa");
struct stream stream_now(int8_t device)
{
    fake_streams++;
    return (struct stream){.device = device, .id = 7};
}

struct stream stream_external(void *stream,
                              int8_t device) __asm__("_ZN3c104cuda21getStreamFromExternalEP11CUstream_sta");
struct stream stream_external(void *stream, int8_t device)
{
    return (struct stream){.device = device, .id = (int64_t)(intptr_t)stream};
}

/* ---- the allocator: libc10 and libc10_cuda; in pages of its own, which are protected ---- */

void nothing(void);
void nothing(void)
{
}

void is_simple(void) __asm__("_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE");
void is_simple(void)
{
}

#ifdef FAKE_SLOT
#define TABLE {NULL, NULL, nothing, nothing, nothing, nothing, is_simple}
#else
#define TABLE {NULL, NULL, nothing, nothing, nothing, is_simple, nothing}
#endif
extern void (*class_table[512])(void) __asm__("_ZTVN3c109AllocatorE");
_Alignas(4096) void (*class_table[512])(void) = TABLE;
_Alignas(4096) void (*fake_table[512])(void) = TABLE;
static void (**object)(void) = fake_table + 2;
extern void *fake_allocator __asm__("_ZN3c104cuda20CUDACachingAllocator9allocatorE");
void *fake_allocator = &object;
