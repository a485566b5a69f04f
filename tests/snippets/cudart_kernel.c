/* The runtime: what nvcc's host code registers, launches, libraries loaded at run time. */
#include "cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry first(\n.param .u64 p)\n{ ret; }\n.visible .entry second() { ret; }\n";

/* A fat binary: a wrapper that points to a container with one entry of PTX. */
struct container {
    uint32_t magic;
    uint16_t version, head;
    uint64_t size;
    struct {
        uint16_t kind, version;
        uint32_t head;
        uint64_t size;
        uint32_t packed, unused;
        uint16_t minor, major;
        uint32_t sm, name_offset, name_size;
        uint64_t flags;
    } entry;
    char code[sizeof ptx];
};

struct wrapper {
    uint32_t magic, version;
    const void *data, *unused;
};

static struct container container(uint16_t kind, uint32_t sm)
{
    struct container c = {.magic = 0xba55ed50u, .version = 1, .head = 16, .size = sizeof c.entry + sizeof c.code};
    c.entry.kind = kind;
    c.entry.head = sizeof c.entry;
    c.entry.size = sizeof c.code;
    c.entry.sm = sm;
    memcpy(c.code, ptx, sizeof ptx);
    return c;
}

enum { KIND_PTX = 1, KIND_ELF = 2 };

/* The addresses of these stand for host stubs and shadow variables. */
static char stub_first, stub_late, stub_foreign, shadow, shadow_managed, stub_texture, stub_surface;

static void **binary(void)
{
    static struct container c;
    static struct wrapper w = {0x466243b1u, 1, &c, NULL};
    static void **registered;
    if (!registered) {
        c = container(KIND_PTX, 50);
        registered = CALL(void **, __cudaRegisterFatBinary, (void *), (&w));
        CHECK(registered != NULL);
        CALL(void, __cudaRegisterFatBinaryEnd, (void **), (registered));
    }
    return registered;
}

static void register_function(void **where, const char *stub, const char *name)
{
    CALL(void, __cudaRegisterFunction,
         (void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *),
         (where, stub, (char *)name, name, -1, NULL, NULL, NULL, NULL, NULL));
}

const void *rt_kernel(void)
{
    static bool done;
    if (!done)
        register_function(binary(), &stub_first, "first");
    done = true;
    return &stub_first;
}

static int launch(const char *name, const void *function, struct dim3 grid, struct dim3 block, size_t shared,
                  void *stream)
{
    return BY(name, (const void *, struct dim3, struct dim3, void **, size_t, void *),
              (function, grid, block, NULL, shared, stream));
}

int rt_launch(void *stream)
{
    return launch("cudaLaunchKernel", rt_kernel(), (struct dim3){4, 1, 1}, (struct dim3){128, 1, 1}, 0, stream);
}

/* ---- registration ---- */

SNIPPET(__cudaRegisterFatBinary)
{
    CHECK(binary() != NULL);
}

SNIPPET(__cudaRegisterFatBinaryEnd)
{
    CALL(void, __cudaRegisterFatBinaryEnd, (void **), (binary()));
    CHECK(rt_launch(NULL) == 0);
}

SNIPPET(__cudaUnregisterFatBinary)
{
    static struct container c;
    static struct wrapper w = {0x466243b1u, 1, &c, NULL};
    c = container(KIND_PTX, 50);
    CALL(void, __cudaUnregisterFatBinary, (void **), (CALL(void **, __cudaRegisterFatBinary, (void *), (&w))));
}

SNIPPET(__cudaInitModule)
{
    CHECK(CALL(char, __cudaInitModule, (void **), (binary())) == 1);
}

SNIPPET(__cudaRegisterFunction)
{
    static struct container c;
    static struct wrapper w = {0x466243b1u, 1, &c, NULL};
    void **foreign;
    struct dim3 one = {1, 1, 1};
    register_function(binary(), &stub_late, "late");
    CHECK(launch("cudaLaunchKernel", &stub_late, one, one, 0, NULL) == 0);
    /* Code for another card alone. */
    c = container(KIND_ELF, 90);
    foreign = CALL(void **, __cudaRegisterFatBinary, (void *), (&w));
    register_function(foreign, &stub_foreign, "foreign");
    CHECK(launch("cudaLaunchKernel", &stub_foreign, one, one, 0, NULL) == NO_KERNEL_IMAGE);
}

/* The shadow of a variable of 64 bytes. */
static char *variable(void)
{
    static bool done;
    if (!done)
        CALL(void, __cudaRegisterVar, (void **, char *, char *, const char *, int, size_t, int, int),
             (binary(), &shadow, &shadow, "variable", 0, 64, 0, 0));
    done = true;
    return &shadow;
}

SNIPPET(__cudaRegisterVar)
{
    size_t size = 0;
    CHECK(RT(cudaGetSymbolSize, (size_t *, const void *), (&size, variable())) == 0 && size == 64);
}

SNIPPET(__cudaRegisterManagedVar)
{
    size_t size = 0;
    CALL(void, __cudaRegisterManagedVar, (void **, void **, char *, const char *, int, size_t, int, int),
         (binary(), (void **)&shadow_managed, NULL, "managed", 0, 32, 0, 0));
    CHECK(RT(cudaGetSymbolSize, (size_t *, const void *), (&size, &shadow_managed)) == 0 && size == 32);
}

SNIPPET(__cudaRegisterTexture)
{
    const char *name = NULL;
    CALL(void, __cudaRegisterTexture, (void **, const void *, const void **, const char *, int, int, int),
         (binary(), &stub_texture, NULL, "texture", 2, 0, 0));
    CHECK(RT(cudaFuncGetName, (const char **, const void *), (&name, &stub_texture)) == 0 && !strcmp(name, "texture"));
}

SNIPPET(__cudaRegisterSurface)
{
    const char *name = NULL;
    CALL(void, __cudaRegisterSurface, (void **, const void *, const void **, const char *, int, int),
         (binary(), &stub_surface, NULL, "surface", 2, 0));
    CHECK(RT(cudaFuncGetName, (const char **, const void *), (&name, &stub_surface)) == 0 && !strcmp(name, "surface"));
}

/* ---- variables ---- */

SNIPPET(cudaGetSymbolAddress)
{
    void *one = NULL, *two = NULL;
    CHECK(RT(cudaGetSymbolAddress, (void **, const void *), (&one, variable())) == 0 && one);
    CHECK(RT(cudaGetSymbolAddress, (void **, const void *), (&two, variable())) == 0 && one == two);
    CHECK(RT(cudaGetSymbolAddress, (void **, const void *), (&two, &one)) == INVALID_SYMBOL);
    CHECK(RT(cudaGetSymbolAddress, (void **, const void *), (NULL, variable())) == INVALID_VALUE);
}

SNIPPET(cudaGetSymbolSize)
{
    size_t size = 0;
    CHECK(RT(cudaGetSymbolSize, (size_t *, const void *), (&size, variable())) == 0 && size == 64);
    CHECK(RT(cudaGetSymbolSize, (size_t *, const void *), (&size, &size)) == INVALID_SYMBOL);
    CHECK(RT(cudaGetSymbolSize, (size_t *, const void *), (NULL, variable())) == INVALID_VALUE);
}

static void check_symbol_copy(bool async_to, bool async_from)
{
    int in = 77, out = 0;
    if (async_to)
        CHECK(RT(cudaMemcpyToSymbolAsync, (const void *, const void *, size_t, size_t, int, void *),
                 (variable(), &in, sizeof in, 8, 1, NULL)) == 0);
    else
        CHECK(RT(cudaMemcpyToSymbol, (const void *, const void *, size_t, size_t, int),
                 (variable(), &in, sizeof in, 8, 1)) == 0);
    if (async_from)
        CHECK(RT(cudaMemcpyFromSymbolAsync, (void *, const void *, size_t, size_t, int, void *),
                 (&out, variable(), sizeof out, 8, 2, NULL)) == 0);
    else
        CHECK(RT(cudaMemcpyFromSymbol, (void *, const void *, size_t, size_t, int),
                 (&out, variable(), sizeof out, 8, 2)) == 0);
    CHECK(out == 77);
}

SNIPPET(cudaMemcpyToSymbol)
{
    char much[65] = "";
    check_symbol_copy(false, false);
    CHECK(RT(cudaMemcpyToSymbol, (const void *, const void *, size_t, size_t, int), (variable(), much, 65, 0, 1)) ==
          INVALID_VALUE);
    CHECK(RT(cudaMemcpyToSymbol, (const void *, const void *, size_t, size_t, int), (much, much, 1, 0, 1)) ==
          INVALID_SYMBOL);
}

SNIPPET(cudaMemcpyToSymbolAsync)
{
    check_symbol_copy(true, false);
}

SNIPPET(cudaMemcpyFromSymbol)
{
    char much[65];
    check_symbol_copy(false, false);
    CHECK(RT(cudaMemcpyFromSymbol, (void *, const void *, size_t, size_t, int), (much, variable(), 8, 60, 2)) ==
          INVALID_VALUE);
}

SNIPPET(cudaMemcpyFromSymbolAsync)
{
    check_symbol_copy(false, true);
}

/* ---- kernels by their host function ---- */

static void check_get_kernel(const char *name)
{
    void *kernel = NULL, *unknown = &unknown;
    struct dim3 one = {1, 1, 1};
    CHECK(BY(name, (void **, const void *), (&kernel, rt_kernel())) == 0 && kernel);
    CHECK(launch("cudaLaunchKernel", kernel, one, one, 0, NULL) == 0);
    CHECK(BY(name, (void **, const void *), (&unknown, &unknown)) == INVALID_FUNCTION && !unknown);
    CHECK(BY(name, (void **, const void *), (NULL, rt_kernel())) == INVALID_VALUE);
}

SNIPPET(__cudaGetKernel)
{
    check_get_kernel("__cudaGetKernel");
}

SNIPPET(cudaGetKernel)
{
    check_get_kernel("cudaGetKernel");
}

SNIPPET(cudaGetFuncBySymbol)
{
    check_get_kernel("cudaGetFuncBySymbol");
}

SNIPPET(cudaFuncGetName)
{
    const char *name = NULL;
    CHECK(RT(cudaFuncGetName, (const char **, const void *), (&name, rt_kernel())) == 0 && !strcmp(name, "first"));
    CHECK(RT(cudaFuncGetName, (const char **, const void *), (&name, &name)) == INVALID_FUNCTION);
}

struct attributes {
    size_t shared, constant, local;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
    int rest[23];
    int behind[4];
};

SNIPPET(cudaFuncGetAttributes)
{
    struct attributes a;
    memset(&a, 0xa5, sizeof a);
    CHECK(RT(cudaFuncGetAttributes, (void *, const void *), (&a, rt_kernel())) == 0);
    CHECK(a.max_threads == 1024 && a.registers > 0 && a.binary_version == 86 && a.shared == 0);
    for (int i = 0; i < 4; i++)
        CHECK(a.behind[i] == (int)0xa5a5a5a5);
    CHECK(RT(cudaFuncGetAttributes, (void *, const void *), (NULL, rt_kernel())) == INVALID_VALUE);
}

enum { MAX_DYNAMIC_SHARED = 8 };

SNIPPET(cudaFuncSetAttribute)
{
    struct attributes a;
    struct dim3 one = {1, 1, 1};
    CHECK(launch("cudaLaunchKernel", rt_kernel(), one, one, 65536, NULL) == INVALID_VALUE);
    CHECK(RT(cudaFuncSetAttribute, (const void *, int, int), (rt_kernel(), MAX_DYNAMIC_SHARED, 65536)) == 0);
    CHECK(RT(cudaFuncGetAttributes, (void *, const void *), (&a, rt_kernel())) == 0 && a.max_dynamic_shared == 65536);
    CHECK(launch("cudaLaunchKernel", rt_kernel(), one, one, 65536, NULL) == 0);
    CHECK(RT(cudaFuncSetAttribute, (const void *, int, int), (rt_kernel(), MAX_DYNAMIC_SHARED, 1 << 30)) ==
          INVALID_VALUE);
    CHECK(RT(cudaFuncSetAttribute, (const void *, int, int), (rt_kernel(), MAX_DYNAMIC_SHARED, 0)) == 0);
}

SNIPPET(cudaKernelSetAttributeForDevice)
{
    void *kernel = NULL;
    CHECK(RT(cudaGetKernel, (void **, const void *), (&kernel, rt_kernel())) == 0);
    CHECK(RT(cudaKernelSetAttributeForDevice, (void *, int, int, int), (kernel, MAX_DYNAMIC_SHARED, 65536, 0)) == 0);
    CHECK(RT(cudaKernelSetAttributeForDevice, (void *, int, int, int), (kernel, MAX_DYNAMIC_SHARED, 0, 0)) == 0);
}

/* ---- launches ---- */

SNIPPET(cudaLaunchKernel)
{
    const struct dim3 one = {1, 1, 1}, none = {0, 1, 1}, wide = {1025, 1, 1}, deep = {1, 65536, 1};
    CHECK(rt_launch(NULL) == 0);
    CHECK(launch("cudaLaunchKernel", rt_kernel(), none, one, 0, NULL) == INVALID_CONFIGURATION);
    CHECK(launch("cudaLaunchKernel", rt_kernel(), one, wide, 0, NULL) == INVALID_CONFIGURATION);
    CHECK(launch("cudaLaunchKernel", rt_kernel(), deep, one, 0, NULL) == INVALID_CONFIGURATION);
    CHECK(launch("cudaLaunchKernel", rt_kernel(), one, one, 1 << 20, NULL) == INVALID_VALUE);
}

SNIPPET(__cudaLaunchKernel)
{
    void *kernel = NULL;
    const struct dim3 one = {1, 1, 1};
    CHECK(RT(__cudaGetKernel, (void **, const void *), (&kernel, rt_kernel())) == 0);
    CHECK(launch("__cudaLaunchKernel", kernel, one, one, 0, NULL) == 0);
}

SNIPPET(cudaLaunchCooperativeKernel)
{
    const struct dim3 block = {1024, 1, 1}, few = {28, 1, 1}, many = {1000, 1, 1};
    CHECK(launch("cudaLaunchCooperativeKernel", rt_kernel(), few, block, 0, NULL) == 0);
    CHECK(launch("cudaLaunchCooperativeKernel", rt_kernel(), many, block, 0, NULL) == 720);
}

struct config {
    struct dim3 grid, block;
    size_t shared;
    void *stream, *attributes;
    unsigned count;
};

SNIPPET(cudaLaunchKernelExC)
{
    struct config c = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    CHECK(RT(cudaLaunchKernelExC, (const void *, const void *, void **), (&c, rt_kernel(), NULL)) == 0);
    c.block.x = 0;
    CHECK(RT(cudaLaunchKernelExC, (const void *, const void *, void **), (&c, rt_kernel(), NULL)) ==
          INVALID_CONFIGURATION);
    CHECK(RT(cudaLaunchKernelExC, (const void *, const void *, void **), (NULL, rt_kernel(), NULL)) == INVALID_VALUE);
}

static void called(void *data)
{
    *(int *)data = 7;
}

SNIPPET(cudaLaunchHostFunc)
{
    int seen = 0;
    CHECK(RT(cudaLaunchHostFunc, (void *, void (*)(void *), void *), (NULL, called, &seen)) == 0 && seen == 7);
    CHECK(RT(cudaLaunchHostFunc, (void *, void *, void *), (NULL, NULL, &seen)) == INVALID_VALUE);
}

static int push(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
    return RT(__cudaPushCallConfiguration, (struct dim3, struct dim3, size_t, void *), (grid, block, shared, stream));
}

static int pop(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream)
{
    return RT(__cudaPopCallConfiguration, (struct dim3 *, struct dim3 *, size_t *, void *),
              (grid, block, shared, stream));
}

SNIPPET(__cudaPushCallConfiguration)
{
    struct dim3 grid = {1, 2, 3}, block = {4, 5, 6};
    size_t shared = 0;
    void *stream = NULL;
    CHECK(push(grid, block, 7, &grid) == 0);
    CHECK(push(block, grid, 8, NULL) == 0);
    CHECK(pop(&grid, &block, &shared, &stream) == 0 && grid.x == 4 && block.z == 3 && shared == 8 && !stream);
    CHECK(pop(&grid, &block, &shared, &stream) == 0 && grid.x == 1 && block.z == 6 && shared == 7 && stream == &grid);
    for (int i = 0; i < 16; i++)
        CHECK(push(grid, block, 0, NULL) == 0);
    CHECK(push(grid, block, 0, NULL) != 0);
    for (int i = 0; i < 16; i++)
        CHECK(pop(&grid, &block, &shared, &stream) == 0);
}

SNIPPET(__cudaPopCallConfiguration)
{
    struct dim3 grid, block;
    size_t shared;
    void *stream;
    CHECK(pop(&grid, &block, &shared, &stream) == INVALID_VALUE);
}

/* ---- occupancy: 1536 threads, 65536 registers and 100 KiB of shared memory on an SM of this card ---- */

SNIPPET(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
{
    int blocks = -1;
    CHECK(RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *, const void *, int, size_t),
             (&blocks, rt_kernel(), 256, 0)) == 0);
    CHECK(blocks == 6);
    CHECK(RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *, const void *, int, size_t),
             (&blocks, rt_kernel(), 32, 48 << 10)) == 0);
    CHECK(blocks == 2);
    CHECK(RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *, const void *, int, size_t),
             (&blocks, rt_kernel(), 256, 1)) == 0);
    CHECK(blocks == 6); /* the registers would do for 8 */
    CHECK(RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *, const void *, int, size_t),
             (&blocks, rt_kernel(), 0, 0)) == INVALID_VALUE);
}

SNIPPET(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
{
    int blocks = -1;
    CHECK(RT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *, const void *, int, size_t, unsigned),
             (&blocks, rt_kernel(), 1024, 0, 1)) == 0 &&
          blocks == 1);
}

SNIPPET(cudaOccupancyAvailableDynamicSMemPerBlock)
{
    size_t bytes = 0;
    CHECK(RT(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *, const void *, int, int),
             (&bytes, rt_kernel(), 2, 256)) == 0);
    CHECK(bytes > 40 << 10 && bytes <= 48 << 10);
    CHECK(RT(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *, const void *, int, int),
             (&bytes, rt_kernel(), 0, 256)) == INVALID_VALUE);
    /* More blocks than the shared memory of an SM can serve. */
    CHECK(RT(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *, const void *, int, int),
             (&bytes, rt_kernel(), 1000, 32)) == 0);
    CHECK(bytes == 0);
}

SNIPPET(cudaOccupancyMaxPotentialClusterSize)
{
    struct config c = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    int size = -1;
    CHECK(RT(cudaOccupancyMaxPotentialClusterSize, (int *, const void *, const void *), (&size, rt_kernel(), &c)) ==
              0 &&
          size == 1);
    CHECK(RT(cudaOccupancyMaxPotentialClusterSize, (int *, const void *, const void *), (NULL, rt_kernel(), &c)) ==
          INVALID_VALUE);
}

SNIPPET(cudaOccupancyMaxActiveClusters)
{
    struct config c = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    int clusters = -1;
    CHECK(RT(cudaOccupancyMaxActiveClusters, (int *, const void *, const void *), (&clusters, rt_kernel(), &c)) == 0 &&
          clusters > 0);
    CHECK(RT(cudaOccupancyMaxActiveClusters, (int *, const void *, const void *), (NULL, rt_kernel(), &c)) ==
          INVALID_VALUE);
}

/* ---- libraries ---- */

static void *library(void)
{
    void *l = NULL;
    CHECK(RT(cudaLibraryLoadData, (void **, const void *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, ptx, NULL, NULL, 0, NULL, NULL, 0)) == 0 &&
          l);
    return l;
}

static void unload(void *l)
{
    CHECK(RT(cudaLibraryUnload, (void *), (l)) == 0);
}

SNIPPET(cudaLibraryLoadData)
{
    void *l = NULL;
    unload(library());
    CHECK(RT(cudaLibraryLoadData, (void **, const void *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, NULL, NULL, NULL, 0, NULL, NULL, 0)) == INVALID_VALUE);
}

SNIPPET(cudaLibraryLoadFromFile)
{
    char path[] = "/tmp/plimsoll-snippet-XXXXXX";
    int fd = mkstemp(path);
    void *l = NULL;
    CHECK(fd >= 0 && write(fd, ptx, sizeof ptx - 1) == (ssize_t)sizeof ptx - 1);
    close(fd);
    CHECK(RT(cudaLibraryLoadFromFile, (void **, const char *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, path, NULL, NULL, 0, NULL, NULL, 0)) == 0 &&
          l);
    unload(l);
    unlink(path);
    CHECK(RT(cudaLibraryLoadFromFile, (void **, const char *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, path, NULL, NULL, 0, NULL, NULL, 0)) != 0);
}

SNIPPET(cudaLibraryUnload)
{
    unload(library());
    CHECK(RT(cudaLibraryUnload, (void *), (NULL)) != 0);
}

SNIPPET(cudaLibraryGetKernel)
{
    void *l = library(), *kernel = NULL;
    const struct dim3 one = {1, 1, 1};
    CHECK(RT(cudaLibraryGetKernel, (void **, void *, const char *), (&kernel, l, "first")) == 0 && kernel);
    CHECK(launch("cudaLaunchKernel", kernel, one, one, 0, NULL) == 0);
    CHECK(RT(cudaLibraryGetKernel, (void **, void *, const char *), (&kernel, l, NULL)) == INVALID_VALUE);
    unload(l);
}

static void check_variable(const char *name)
{
    void *l = library(), *one = NULL, *two = NULL;
    size_t size = 0;
    CHECK(BY(name, (void **, size_t *, void *, const char *), (&one, &size, l, "counter")) == 0 && one && size);
    CHECK(BY(name, (void **, size_t *, void *, const char *), (&two, &size, l, "counter")) == 0 && one == two);
    CHECK(BY(name, (void **, size_t *, void *, const char *), (&two, &size, l, NULL)) == INVALID_VALUE);
    unload(l);
}

SNIPPET(cudaLibraryGetGlobal)
{
    check_variable("cudaLibraryGetGlobal");
}

SNIPPET(cudaLibraryGetManaged)
{
    check_variable("cudaLibraryGetManaged");
}

SNIPPET(cudaLibraryGetUnifiedFunction)
{
    void *l = library(), *at = NULL;
    CHECK(RT(cudaLibraryGetUnifiedFunction, (void **, void *, const char *), (&at, l, "anything")) == NOT_SUPPORTED);
    unload(l);
}

SNIPPET(cudaLibraryGetKernelCount)
{
    void *l = library();
    unsigned count = 99;
    CHECK(RT(cudaLibraryGetKernelCount, (unsigned *, void *), (&count, l)) == 0 && count == 2);
    unload(l);
}

SNIPPET(cudaLibraryEnumerateKernels)
{
    void *l = library(), *kernels[2] = {NULL, NULL};
    CHECK(RT(cudaLibraryEnumerateKernels, (void **, unsigned, void *), (kernels, 2, l)) == 0);
    CHECK(kernels[0] && kernels[1] && kernels[0] != kernels[1]);
    unload(l);
}
