/* The driver: modules, libraries, functions, launches. */
#include "cuda.h"

#include <stdio.h>
#include <unistd.h>

/* ---- modules, libraries, linking ---- */

static void check_load(const char *name)
{
    void *m = NULL;
    cu_context();
    CHECK(BY(name, (void **, const void *), (&m, cu_ptx)) == 0 && m);
    CHECK(CU(cuModuleUnload, (void *), (m)) == 0);
    CHECK(BY(name, (void **, const void *), (&m, "no code at all")) == 200);
    CHECK(BY(name, (void **, const void *), (&m, cu_ptx_of_the_future)) == NO_BINARY);
}
CHECKED(cuModuleLoadData, check_load)
CHECKED(cuModuleLoadFatBinary, check_load)

SNIPPET(cuModuleLoadDataEx)
{
    char info[16] = "old";
    int options[] = {3, 4};
    void *values[] = {info, (void *)sizeof info}, *m = NULL;
    cu_context();
    CHECK(CU(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **), (&m, cu_ptx, 2, options, values)) ==
          0);
    CHECK(m && !info[0] && !values[1]);
}

SNIPPET(cuModuleLoad)
{
    char path[64];
    void *m = NULL;
    cu_context();
    cu_make_file(path, cu_ptx);
    CHECK(CU(cuModuleLoad, (void **, const char *), (&m, path)) == 0 && m);
    unlink(path);
    CHECK(CU(cuModuleLoad, (void **, const char *), (&m, path)) == 301);
}

SNIPPET(cuModuleUnload)
{
    void *m = cu_module();
    CHECK(CU(cuModuleUnload, (void *), (m)) == 0);
    CHECK(CU(cuModuleUnload, (void *), (m)) == INVALID_HANDLE);
}

static void check_get_function(const char *name)
{
    void *m = cu_module(), *one = NULL, *two = NULL;
    CHECK(BY(name, (void **, void *, const char *), (&one, m, "first")) == 0 && one);
    CHECK(BY(name, (void **, void *, const char *), (&two, m, "first")) == 0 && one == two);
    for (int i = 0; i < 1000; i++) {
        char text[16];
        snprintf(text, sizeof text, "k%d", i);
        CHECK(BY(name, (void **, void *, const char *), (&two, m, text)) == 0 && two != one);
    }
    CHECK(BY(name, (void **, void *, const char *), (&two, m, "first")) == 0 && one == two);
}
CHECKED(cuModuleGetFunction, check_get_function)
CHECKED(cuLibraryGetKernel, check_get_function)

static void check_count(const char *name)
{
    unsigned count = 99;
    CHECK(BY(name, (unsigned *, void *), (&count, cu_module())) == 0 && count == 2);
}
CHECKED(cuModuleGetFunctionCount, check_count)
CHECKED(cuLibraryGetKernelCount, check_count)

static void check_enumerate(const char *name)
{
    void *found[2] = {NULL, NULL};
    const char *text = NULL;
    CHECK(BY(name, (void **, unsigned, void *), (found, 2, cu_module())) == 0 && found[0] && found[1]);
    CHECK(CU(cuFuncGetName, (const char **, void *), (&text, found[1])) == 0 && !strcmp(text, "second"));
}
CHECKED(cuModuleEnumerateFunctions, check_enumerate)
CHECKED(cuLibraryEnumerateKernels, check_enumerate)

static void check_global(const char *name)
{
    void *m = cu_module();
    address one = 0, two = 0;
    size_t size = 0;
    CHECK(BY(name, (address *, size_t *, void *, const char *), (&one, &size, m, "v")) == 0 && one && size == KIB64);
    CHECK(BY(name, (address *, size_t *, void *, const char *), (&two, NULL, m, "v")) == 0 && one == two);
    CHECK(CU(cuModuleUnload, (void *), (m)) == 0);
}
CHECKED(cuModuleGetGlobal_v2, check_global)
CHECKED(cuLibraryGetGlobal, check_global)
CHECKED(cuLibraryGetManaged, check_global)

SNIPPET(cuLibraryLoadData)
{
    void *l = NULL, *k = NULL;
    cu_context();
    CHECK(CU(cuLibraryLoadData, (void **, const void *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, cu_ptx, NULL, NULL, 0, NULL, NULL, 0)) == 0);
    CHECK(l && CU(cuLibraryUnload, (void *), (l)) == 0);
    CHECK(CU(cuLibraryLoadData, (void **, const void *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, cu_ptx_of_the_future, NULL, NULL, 0, NULL, NULL, 0)) == 0);
    CHECK(CU(cuLibraryGetKernel, (void **, void *, const char *), (&k, l, "first")) == 0);
    CHECK(CU(cuLaunchKernel,
             (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
             (k, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL)) == NO_BINARY);
}

SNIPPET(cuLibraryLoadFromFile)
{
    char path[64];
    void *l = NULL;
    cu_context();
    cu_make_file(path, cu_ptx);
    CHECK(CU(cuLibraryLoadFromFile, (void **, const char *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, path, NULL, NULL, 0, NULL, NULL, 0)) == 0);
    unlink(path);
    CHECK(l != NULL);
}

SNIPPET(cuLibraryUnload)
{
    CHECK(CU(cuLibraryUnload, (void *), (cu_module())) == 0);
    CHECK(CU(cuLibraryUnload, (void *), (NULL)) == INVALID_HANDLE);
}

SNIPPET(cuLibraryGetModule)
{
    void *l = cu_module(), *m = NULL;
    CHECK(CU(cuLibraryGetModule, (void **, void *), (&m, l)) == 0 && m);
}

static void check_module_of(const char *name)
{
    void *m = NULL;
    CHECK(BY(name, (void **, void *), (&m, cu_kernel())) == 0 && m);
    CHECK(BY(name, (void **, void *), (&m, NULL)) == INVALID_HANDLE);
}
CHECKED(cuKernelGetLibrary, check_module_of)
CHECKED(cuFuncGetModule, check_module_of)

SNIPPET(cuKernelGetFunction)
{
    void *k = cu_kernel(), *f = NULL;
    CHECK(CU(cuKernelGetFunction, (void **, void *), (&f, k)) == 0 && f);
}

static void check_name(const char *name)
{
    const char *text = NULL;
    CHECK(BY(name, (const char **, void *), (&text, cu_kernel())) == 0 && !strcmp(text, "first"));
}
CHECKED(cuKernelGetName, check_name)
CHECKED(cuFuncGetName, check_name)

SNIPPET(cuKernelGetAttribute)
{
    int value = 0;
    CHECK(CU(cuKernelGetAttribute, (int *, int, void *, int), (&value, 0, cu_kernel(), 0)) == 0 && value == 1024);
}

SNIPPET(cuKernelSetAttribute)
{
    void *k = cu_kernel();
    int value = 0;
    CHECK(CU(cuKernelSetAttribute, (int, int, void *, int), (8, cu_attribute(97), k, 0)) == 0);
    CHECK(CU(cuKernelGetAttribute, (int *, int, void *, int), (&value, 8, k, 0)) == 0 && value == cu_attribute(97));
    CHECK(CU(cuKernelSetAttribute, (int, int, void *, int), (8, cu_attribute(97) + 1, k, 0)) == INVALID_VALUE);
}

static void *linker(void)
{
    void *state = NULL;
    CHECK(CU(cuLinkCreate_v2, (unsigned, void *, void *, void **), (0, NULL, NULL, &state)) == 0 && state);
    return state;
}

static void check_linked(void *state)
{
    void *image = NULL, *m = NULL;
    size_t size = 0;
    cu_context();
    CHECK(CU(cuLinkComplete, (void *, void **, size_t *), (state, &image, &size)) == 0 && image && size);
    CHECK(CU(cuModuleLoadData, (void **, const void *), (&m, image)) == 0 && m);
    CHECK(CU(cuLinkDestroy, (void *), (state)) == 0);
}

static void check_link_create(const char *name)
{
    void *state = NULL;
    CHECK(BY(name, (unsigned, void *, void *, void **), (0, NULL, NULL, &state)) == 0 && state);
    CHECK(CU(cuLinkDestroy, (void *), (state)) == 0);
}
CHECKED(cuLinkCreate, check_link_create)
CHECKED(cuLinkCreate_v2, check_link_create)

static void check_link_data(const char *name)
{
    void *state = linker();
    CHECK(BY(name, (void *, int, const void *, size_t, const char *, unsigned, void *, void *),
             (state, 1, cu_ptx, strlen(cu_ptx), "cu_ptx", 0, NULL, NULL)) == 0);
    check_linked(state);
}
CHECKED(cuLinkAddData, check_link_data)
CHECKED(cuLinkAddData_v2, check_link_data)

static void check_link_file(const char *name)
{
    void *state = linker();
    char path[64];
    cu_make_file(path, cu_ptx);
    CHECK(BY(name, (void *, int, const char *, unsigned, void *, void *), (state, 1, path, 0, NULL, NULL)) == 0);
    unlink(path);
    CHECK(BY(name, (void *, int, const char *, unsigned, void *, void *), (state, 1, path, 0, NULL, NULL)) == 301);
    check_linked(state);
}
CHECKED(cuLinkAddFile, check_link_file)
CHECKED(cuLinkAddFile_v2, check_link_file)

SNIPPET(cuLinkComplete)
{
    void *image = NULL, *state = linker();
    CHECK(CU(cuLinkComplete, (void *, void **, size_t *), (state, &image, NULL)) == 200);
}

SNIPPET(cuLinkDestroy)
{
    CHECK(CU(cuLinkDestroy, (void *), (linker())) == 0);
}

/* ---- functions, launches, occupancy ---- */

SNIPPET(cuFuncGetAttribute)
{
    void *f = cu_kernel();
    int value = -1;
    for (int i = 0; i <= 15; i++)
        CHECK(CU(cuFuncGetAttribute, (int *, int, void *), (&value, i, f)) == 0);
    CHECK(CU(cuFuncGetAttribute, (int *, int, void *), (&value, 8, f)) == 0 && value == cu_attribute(8));
    CHECK(CU(cuFuncGetAttribute, (int *, int, void *), (&value, 99, f)) == INVALID_VALUE);
}

SNIPPET(cuFuncSetAttribute)
{
    void *f = cu_kernel();
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 8, cu_attribute(97))) == 0);
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 8, cu_attribute(97) + 1)) == INVALID_VALUE);
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 4, 16)) == INVALID_VALUE);
}

typedef int launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);

static void check_launch(const char *name)
{
    launch *go = (launch *)snippet_symbol(name);
    void *f = cu_kernel();
    CHECK(go(f, 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL) == 0);
    CHECK(go(f, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(f, 1, 65536, 1, 32, 1, 1, 0, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(f, 0, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(f, 1, 1, 1, 32, 1, 1, (unsigned)cu_attribute(8) + 1, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == INVALID_HANDLE);
    if (cu_attribute(97) == cu_attribute(8))
        return;
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 8, cu_attribute(97))) == 0);
    CHECK(go(f, 1, 1, 1, 32, 1, 1, (unsigned)cu_attribute(97), NULL, NULL, NULL) == 0);
}
CHECKED(cuLaunchKernel, check_launch)
CHECKED(cuLaunchKernel_ptsz, check_launch)

static void check_cooperative(const char *name)
{
    launch *go = (launch *)snippet_symbol(name);
    check_launch(name);
    CHECK(go(cu_kernel(), 1 << 20, 1, 1, 1024, 1, 1, 0, NULL, NULL, NULL) == 720);
}
CHECKED(cuLaunchCooperativeKernel, check_cooperative)
CHECKED(cuLaunchCooperativeKernel_ptsz, check_cooperative)

struct launch_attribute {
    int id, pad;
    union {
        unsigned dims[3];
        char room[64];
    } value;
};

struct launch_config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct launch_attribute *attributes;
    unsigned count;
};

static void check_launch_ex(const char *name)
{
    struct launch_attribute cluster = {.id = 4, .value.dims = {2, 1, 1}};
    struct launch_config config = {{2, 1, 1}, {128, 1, 1}, 0, NULL, NULL, 0};
    int hopper = cu_attribute(75) >= 9;
    void *f = cu_kernel();
    CHECK(BY(name, (void *, void *, void **, void **), (&config, f, NULL, NULL)) == 0);
    config.attributes = &cluster;
    config.count = 1;
    CHECK(BY(name, (void *, void *, void **, void **), (&config, f, NULL, NULL)) == (hopper ? 0 : 912));
    config.grid[0] = 3;
    CHECK(BY(name, (void *, void *, void **, void **), (&config, f, NULL, NULL)) != 0);
}
CHECKED(cuLaunchKernelEx, check_launch_ex)
CHECKED(cuLaunchKernelEx_ptsz, check_launch_ex)

static void count_call(void *data)
{
    ++*(int *)data;
}

static void check_host_function(const char *name)
{
    void *s = cu_stream(), *g = NULL;
    int calls = 0;
    CHECK(BY(name, (void *, void (*)(void *), void *, unsigned), (s, count_call, &calls, 0)) == 0 && calls == 1);
    CHECK(CU(cuStreamBeginCapture_v2, (void *, int), (s, 2)) == 0);
    CHECK(BY(name, (void *, void (*)(void *), void *, unsigned), (s, count_call, &calls, 0)) == 0 && calls == 1);
    CHECK(CU(cuStreamEndCapture, (void *, void **), (s, &g)) == 0);
    CHECK(BY(name, (void *, void (*)(void *), void *, unsigned), (NULL, count_call, &calls, 0)) == 0 && calls == 2);
}
CHECKED(cuLaunchHostFunc, check_host_function)
CHECKED(cuLaunchHostFunc_v2, check_host_function)
CHECKED(cuLaunchHostFunc_ptsz, check_host_function)
CHECKED(cuLaunchHostFunc_v2_ptsz, check_host_function)

static void check_occupancy(const char *name)
{
    int blocks = -1;
    CHECK(BY(name, (int *, void *, int, size_t, unsigned), (&blocks, cu_kernel(), 256, 0, 0)) == 0);
    CHECK(blocks >= 1 && blocks <= cu_attribute(106) && blocks * 256 <= cu_attribute(39));
    CHECK(BY(name, (int *, void *, int, size_t, unsigned), (&blocks, cu_kernel(), 32, (size_t)cu_attribute(97), 0)) ==
          0);
    CHECK(blocks >= 1 && blocks <= 2);
    /* Threads come in warps: 97 of them take the room of 128. */
    CHECK(BY(name, (int *, void *, int, size_t, unsigned), (&blocks, cu_kernel(), 97, 0, 0)) == 0);
    CHECK(blocks == (cu_attribute(39) / 128 < cu_attribute(106) ? cu_attribute(39) / 128 : cu_attribute(106)));
}
CHECKED(cuOccupancyMaxActiveBlocksPerMultiprocessor, check_occupancy)
CHECKED(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, check_occupancy)

static void check_block_size(const char *name)
{
    int grid = 0, block = 0;
    CHECK(BY(name, (int *, int *, void *, void *, size_t, int, unsigned),
             (&grid, &block, cu_kernel(), NULL, 0, 0, 0)) == 0);
    CHECK(block >= 32 && block <= 1024 && grid >= cu_attribute(16));
    CHECK(BY(name, (int *, int *, void *, void *, size_t, int, unsigned),
             (&grid, &block, cu_kernel(), NULL, 0, 100, 0)) == 0);
    CHECK(block <= 100);
}
CHECKED(cuOccupancyMaxPotentialBlockSize, check_block_size)
CHECKED(cuOccupancyMaxPotentialBlockSizeWithFlags, check_block_size)

SNIPPET(cuOccupancyAvailableDynamicSMemPerBlock)
{
    size_t bytes = 0;
    CHECK(CU(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *, void *, int, int), (&bytes, cu_kernel(), 1, 128)) ==
          0);
    CHECK(bytes > 0 && bytes <= (size_t)cu_attribute(97));
}

static void check_clusters(const char *name)
{
    struct launch_config config = {{2, 1, 1}, {128, 1, 1}, 0, NULL, NULL, 0};
    int value = 0, status = BY(name, (int *, void *, void *), (&value, cu_kernel(), &config));
    CHECK(cu_attribute(75) >= 9 ? status == 0 && value >= 1 : status == NOT_SUPPORTED);
}
CHECKED(cuOccupancyMaxPotentialClusterSize, check_clusters)
CHECKED(cuOccupancyMaxActiveClusters, check_clusters)
