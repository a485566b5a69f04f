/* The driver. Several entry points differ in name only; they share one check. */
#include "snippet.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CU(symbol, types, arguments) CALL(int, symbol, types, arguments)
#define BY(name, types, arguments)   (((int(*) types)snippet_symbol(name)) arguments)
#define CHECKED(symbol, check) \
    SNIPPET(symbol)            \
    {                          \
        check(#symbol);        \
    }

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, NO_BINARY = 209, INVALID_HANDLE = 400, NOT_SUPPORTED = 801 };
enum { PAGE = 2 << 20, KIB64 = 64 * 1024 };

typedef uint64_t address;

static const char ptx[] = ".version 8.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry first(\n.param .u64 p)\n{ ret; }\n.visible .entry second() { ret; }\n";
static const char ptx_of_the_future[] = ".version 9.9\n.target sm_999\n.visible .entry first() { ret; }\n";

/* ---- what the snippets need to stand on ---- */

static void *context(void)
{
    void *primary = NULL;
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&primary, 0)) == 0 && primary);
    CHECK(CU(cuCtxSetCurrent, (void *), (primary)) == 0);
    return primary;
}

static int attribute(int number)
{
    int value = -99;
    CHECK(CU(cuDeviceGetAttribute, (int *, int, int), (&value, number, 0)) == 0);
    return value;
}

static address alloc(size_t bytes)
{
    address at = 0;
    context();
    CHECK(CU(cuMemAlloc_v2, (address *, size_t), (&at, bytes)) == 0 && at);
    return at;
}

static void release(address at)
{
    CHECK(CU(cuMemFree_v2, (address), (at)) == 0);
}

static void *stream(void)
{
    void *s = NULL;
    context();
    CHECK(CU(cuStreamCreate, (void **, unsigned), (&s, 1)) == 0 && s);
    return s;
}

static void *event(void)
{
    void *e = NULL;
    context();
    CHECK(CU(cuEventCreate, (void **, unsigned), (&e, 0)) == 0 && e);
    return e;
}

static void *module(void)
{
    void *m = NULL;
    context();
    CHECK(CU(cuModuleLoadData, (void **, const void *), (&m, ptx)) == 0 && m);
    return m;
}

static void *kernel(void)
{
    void *f = NULL;
    CHECK(CU(cuModuleGetFunction, (void **, void *, const char *), (&f, module(), "first")) == 0 && f);
    return f;
}

static void *graph(void)
{
    void *g = NULL;
    context();
    CHECK(CU(cuGraphCreate, (void **, unsigned), (&g, 0)) == 0 && g);
    return g;
}

static void make_file(char path[64], const char *text)
{
    int fd;
    strcpy(path, "/tmp/plimsoll-snippet-XXXXXX");
    fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* ---- errors, start, entry points ---- */

SNIPPET(cuGetErrorName)
{
    const char *text = NULL;
    CHECK(CU(cuGetErrorName, (int, const char **), (2, &text)) == 0 && !strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY"));
    CHECK(CU(cuGetErrorName, (int, const char **), (12345, &text)) == INVALID_VALUE && !text);
}

SNIPPET(cuGetErrorString)
{
    const char *text = NULL;
    CHECK(CU(cuGetErrorString, (int, const char **), (2, &text)) == 0 && !strcmp(text, "out of memory"));
    CHECK(CU(cuGetErrorString, (int, const char **), (12345, &text)) == INVALID_VALUE && !text);
}

SNIPPET(cuInit)
{
    CHECK(CU(cuInit, (unsigned), (0)) == 0);
    CHECK(CU(cuInit, (unsigned), (1)) == INVALID_VALUE);
}

SNIPPET(cuDriverGetVersion)
{
    int version = 0;
    CHECK(CU(cuDriverGetVersion, (int *), (&version)) == 0 && version == 13020);
}

SNIPPET(cuGetProcAddress_v2)
{
    static const struct {
        const char *base;
        int version;
        const char *name;
    } rows[] = {
        {"cuMemAlloc", 12000, "cuMemAlloc_v2"},
        {"cuStreamGetCaptureInfo", 12000, "cuStreamGetCaptureInfo_v2"},
        {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
        {"cuGraphInstantiate", 11000, "cuGraphInstantiate_v2"},
        {"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
        {"cuMemcpy", 12000, "cuMemcpy"},
        {"cuCtxCreate", 10000, "cuCtxCreate_v2"},
        {"cuMemCreate", 13020, "cuMemCreate"},
    };
    void *got = NULL;
    int result = -1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *),
                 (rows[i].base, &got, rows[i].version, 0, &result)) == 0);
        CHECK(result == 0 && got == snippet_symbol(rows[i].name));
    }
    CHECK(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *),
             ("cuMemcpyHtoDAsync", &got, 12000, 2, &result)) == 0);
    CHECK(got == snippet_symbol("cuMemcpyHtoDAsync_v2_ptsz"));
    CHECK(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *),
             ("cuMulticastCreate", &got, 11000, 0, &result)) == 0);
    CHECK(!got && result == 2);
    CHECK(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *),
             ("cuNoSuchThing", &got, 12000, 0, &result)) == 0);
    CHECK(!got && result == 1);
    CHECK(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *),
             ("cuInit", &got, 99000, 0, &result)) == INVALID_VALUE);
}

SNIPPET(cuGetProcAddress)
{
    void *got = NULL;
    CHECK(CU(cuGetProcAddress, (const char *, void **, int, uint64_t), ("cuInit", &got, 12000, 0)) == 0);
    CHECK(got == snippet_symbol("cuInit"));
    CHECK(CU(cuGetProcAddress, (const char *, void **, int, uint64_t), ("cuNoSuchThing", &got, 12000, 0)) == 500);
}

SNIPPET(cuGetExportTable)
{
    const char id[16] = {1};
    const void *table = id;
    CHECK(CU(cuGetExportTable, (const void **, const void *), (&table, id)) == NOT_SUPPORTED && !table);
}

/* ---- devices ---- */

SNIPPET(cuDeviceGetCount)
{
    int count = -1;
    CHECK(CU(cuDeviceGetCount, (int *), (&count)) == 0 && count >= 1);
}

SNIPPET(cuDeviceGet)
{
    int device = -1;
    CHECK(CU(cuDeviceGet, (int *, int), (&device, 0)) == 0 && device == 0);
    CHECK(CU(cuDeviceGet, (int *, int), (&device, 99)) == INVALID_DEVICE);
}

SNIPPET(cuDeviceGetName)
{
    char name[96] = "";
    CHECK(CU(cuDeviceGetName, (char *, int, int), (name, sizeof name, 0)) == 0 && strlen(name) > 2);
    CHECK(CU(cuDeviceGetName, (char *, int, int), (name, 3, 0)) == 0 && strlen(name) == 2);
}

SNIPPET(cuDeviceGetAttribute)
{
    int value;
    CHECK(attribute(1) == 1024);          /* threads of a block */
    CHECK(attribute(16) > 0);             /* SMs */
    CHECK(attribute(75) >= 5);            /* compute capability */
    CHECK(attribute(97) >= attribute(8)); /* shared memory: opt-in and default */
    CHECK(attribute(102) == 1 && attribute(115) == 1 && attribute(41) == 1);
    CHECK(attribute(132) == 0 && attribute(110) == 0 && attribute(88) == 0);
    for (int i = 1; i <= 148; i++)
        CHECK(CU(cuDeviceGetAttribute, (int *, int, int), (&value, i, 0)) == 0);
    CHECK(CU(cuDeviceGetAttribute, (int *, int, int), (&value, 0, 0)) == INVALID_VALUE);
    CHECK(CU(cuDeviceGetAttribute, (int *, int, int), (&value, 9999, 0)) == INVALID_VALUE);
    CHECK(CU(cuDeviceGetAttribute, (int *, int, int), (&value, 1, 99)) == INVALID_DEVICE);
}

SNIPPET(cuDeviceTotalMem_v2)
{
    size_t bytes = 0;
    CHECK(CU(cuDeviceTotalMem_v2, (size_t *, int), (&bytes, 0)) == 0 && bytes > 1ull << 30);
}

SNIPPET(cuDeviceTotalMem)
{
    unsigned bytes = 0;
    CHECK(CU(cuDeviceTotalMem, (unsigned *, int), (&bytes, 0)) == 0 && bytes > 1u << 30);
}

static void check_uuid(const char *name)
{
    unsigned char id[16] = {0}, zero[16] = {0};
    CHECK(BY(name, (void *, int), (id, 0)) == 0 && memcmp(id, zero, sizeof id));
    CHECK(BY(name, (void *, int), (id, 99)) == INVALID_DEVICE);
}
CHECKED(cuDeviceGetUuid, check_uuid)
CHECKED(cuDeviceGetUuid_v2, check_uuid)

SNIPPET(cuDeviceGetLuid)
{
    char luid[8] = "x";
    unsigned mask = 7;
    CHECK(CU(cuDeviceGetLuid, (char *, unsigned *, int), (luid, &mask, 0)) == NOT_SUPPORTED && !mask && !luid[0]);
}

SNIPPET(cuDeviceGetPCIBusId)
{
    char text[16] = "";
    CHECK(CU(cuDeviceGetPCIBusId, (char *, int, int), (text, sizeof text, 0)) == 0);
    CHECK(!strcmp(text, "0000:01:00.0"));
}

SNIPPET(cuDeviceGetByPCIBusId)
{
    int device = -1;
    CHECK(CU(cuDeviceGetByPCIBusId, (int *, const char *), (&device, "0000:01:00.0")) == 0 && device == 0);
    device = -1;
    CHECK(CU(cuDeviceGetByPCIBusId, (int *, const char *), (&device, "01:00.0")) == 0 && device == 0);
    CHECK(CU(cuDeviceGetByPCIBusId, (int *, const char *), (&device, "0000:ee:00.0")) == INVALID_DEVICE);
}

SNIPPET(cuDeviceComputeCapability)
{
    int major = 0, minor = -1;
    CHECK(CU(cuDeviceComputeCapability, (int *, int *, int), (&major, &minor, 0)) == 0);
    CHECK(major == attribute(75) && minor == attribute(76));
}

SNIPPET(cuDeviceGetProperties)
{
    int all[14] = {0};
    CHECK(CU(cuDeviceGetProperties, (int *, int), (all, 0)) == 0 && all[0] == 1024 && all[9] == 32 && all[13] == 512);
}

/* ---- peers ---- */

SNIPPET(cuDeviceCanAccessPeer)
{
    int can = -1;
    CHECK(CU(cuDeviceCanAccessPeer, (int *, int, int), (&can, 0, 0)) == 0 && can == 0);
    CHECK(CU(cuDeviceCanAccessPeer, (int *, int, int), (&can, 0, 99)) == INVALID_DEVICE);
}

SNIPPET(cuDeviceGetP2PAttribute)
{
    int count = 0, value = -1;
    CU(cuDeviceGetCount, (int *), (&count));
    CHECK(CU(cuDeviceGetP2PAttribute, (int *, int, int, int), (&value, 2, 0, 0)) == INVALID_DEVICE);
    if (count > 1)
        CHECK(CU(cuDeviceGetP2PAttribute, (int *, int, int, int), (&value, 2, 0, 1)) == 0 && value == 1);
}

SNIPPET(cuCtxEnablePeerAccess)
{
    void *mine = context(), *other = NULL;
    int count = 0;
    CU(cuDeviceGetCount, (int *), (&count));
    CHECK(CU(cuCtxEnablePeerAccess, (void *, unsigned), (mine, 0)) == INVALID_DEVICE);
    if (count < 2)
        return;
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&other, 1)) == 0);
    CHECK(CU(cuCtxEnablePeerAccess, (void *, unsigned), (other, 0)) == 0);
    CHECK(CU(cuCtxEnablePeerAccess, (void *, unsigned), (other, 0)) == 704);
    CHECK(CU(cuCtxDisablePeerAccess, (void *), (other)) == 0);
}

SNIPPET(cuCtxDisablePeerAccess)
{
    CHECK(CU(cuCtxDisablePeerAccess, (void *), (context())) == 705);
}

/* ---- contexts ---- */

SNIPPET(cuDevicePrimaryCtxRetain)
{
    void *one = NULL, *two = NULL;
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&one, 0)) == 0);
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&two, 0)) == 0 && one && one == two);
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&two, 99)) == INVALID_DEVICE);
}

SNIPPET(cuDevicePrimaryCtxGetState)
{
    unsigned flags = 99;
    int active = -1;
    context();
    CHECK(CU(cuDevicePrimaryCtxGetState, (int, unsigned *, int *), (0, &flags, &active)) == 0);
    CHECK(active == 1 && flags != 99);
}

static void check_primary_release(const char *name)
{
    context();
    CHECK(BY(name, (int), (0)) == 0);
    CHECK(BY(name, (int), (99)) == INVALID_DEVICE);
}
CHECKED(cuDevicePrimaryCtxRelease, check_primary_release)
CHECKED(cuDevicePrimaryCtxRelease_v2, check_primary_release)
CHECKED(cuDevicePrimaryCtxReset, check_primary_release)
CHECKED(cuDevicePrimaryCtxReset_v2, check_primary_release)

static void check_primary_flags(const char *name)
{
    unsigned flags = 0;
    int active;
    CHECK(BY(name, (int, unsigned), (0, 4)) == 0);
    CHECK(CU(cuDevicePrimaryCtxGetState, (int, unsigned *, int *), (0, &flags, &active)) == 0 && flags == 4);
    CHECK(BY(name, (int, unsigned), (0, 0)) == 0);
}
CHECKED(cuDevicePrimaryCtxSetFlags, check_primary_flags)
CHECKED(cuDevicePrimaryCtxSetFlags_v2, check_primary_flags)

static void finish_context(void *made, void *before)
{
    void *now = NULL;
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == made);
    CHECK(CU(cuCtxDestroy_v2, (void *), (made)) == 0);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == before);
    CHECK(CU(cuCtxSetCurrent, (void *), (made)) == 201);
}

static void check_create(const char *name)
{
    void *before = context(), *made = NULL;
    CHECK(BY(name, (void **, unsigned, int), (&made, 8, 0)) == 0 && made && made != before);
    finish_context(made, before);
}
CHECKED(cuCtxCreate, check_create)
CHECKED(cuCtxCreate_v2, check_create)

SNIPPET(cuCtxCreate_v3)
{
    void *before = context(), *made = NULL;
    CHECK(CU(cuCtxCreate_v3, (void **, void *, int, unsigned, int), (&made, NULL, 0, 0, 0)) == 0);
    finish_context(made, before);
}

SNIPPET(cuCtxCreate_v4)
{
    void *before = context(), *made = NULL;
    CHECK(CU(cuCtxCreate_v4, (void **, void *, unsigned, int), (&made, NULL, 0, 0)) == 0);
    finish_context(made, before);
}

static void check_destroy(const char *name)
{
    void *before = context(), *made = NULL, *now = NULL;
    CHECK(CU(cuCtxCreate_v2, (void **, unsigned, int), (&made, 0, 0)) == 0);
    CHECK(BY(name, (void *), (made)) == 0);
    CHECK(BY(name, (void *), (made)) == 201);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == before);
}
CHECKED(cuCtxDestroy, check_destroy)
CHECKED(cuCtxDestroy_v2, check_destroy)
CHECKED(cuCtxDetach, check_destroy)

static void check_push(const char *name)
{
    void *primary = context(), *now = NULL;
    CHECK(BY(name, (void *), (primary)) == 0);
    CHECK(CU(cuCtxPopCurrent_v2, (void **), (&now)) == 0 && now == primary);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == primary);
    CHECK(BY(name, (void *), (&now)) == 201);
}
CHECKED(cuCtxPushCurrent, check_push)
CHECKED(cuCtxPushCurrent_v2, check_push)

static void check_pop(const char *name)
{
    void *primary = context(), *now = NULL, *made = NULL;
    int device;
    CHECK(CU(cuCtxCreate_v2, (void **, unsigned, int), (&made, 0, 0)) == 0);
    CHECK(BY(name, (void **), (&now)) == 0 && now == made);
    CHECK(BY(name, (void **), (&now)) == 0 && now == primary);
    while (BY(name, (void **), (&now)) == 0)
        continue;
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && !now);
    CHECK(CU(cuCtxGetDevice, (int *), (&device)) == 201);
    context();
}
CHECKED(cuCtxPopCurrent, check_pop)
CHECKED(cuCtxPopCurrent_v2, check_pop)

SNIPPET(cuCtxSetCurrent)
{
    void *primary = context(), *now = primary;
    while (now && CU(cuCtxSetCurrent, (void *), (NULL)) == 0)
        CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0);
    CHECK(CU(cuCtxSetCurrent, (void *), (primary)) == 0);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == primary);
}

SNIPPET(cuCtxGetCurrent)
{
    void *primary = context(), *now = NULL;
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == primary);
}

SNIPPET(cuCtxAttach)
{
    void *primary = context(), *now = NULL;
    CHECK(CU(cuCtxAttach, (void **, unsigned), (&now, 0)) == 0 && now == primary);
}

SNIPPET(cuCtxGetDevice)
{
    int device = -1;
    context();
    CHECK(CU(cuCtxGetDevice, (int *), (&device)) == 0 && device == 0);
}

SNIPPET(cuCtxGetDevice_v2)
{
    int device = -1;
    CHECK(CU(cuCtxGetDevice_v2, (int *, void *), (&device, context())) == 0 && device == 0);
}

SNIPPET(cuCtxSynchronize)
{
    context();
    CHECK(CU(cuCtxSynchronize, (void), ()) == 0);
}

SNIPPET(cuCtxSynchronize_v2)
{
    CHECK(CU(cuCtxSynchronize_v2, (void *), (context())) == 0);
}

SNIPPET(cuCtxGetFlags)
{
    unsigned flags = 99;
    context();
    CHECK(CU(cuCtxGetFlags, (unsigned *), (&flags)) == 0 && flags != 99);
}

SNIPPET(cuCtxSetFlags)
{
    unsigned flags = 99;
    context();
    CHECK(CU(cuCtxSetFlags, (unsigned), (4)) == 0);
    CHECK(CU(cuCtxGetFlags, (unsigned *), (&flags)) == 0 && flags == 4);
    CHECK(CU(cuCtxSetFlags, (unsigned), (0)) == 0);
}

SNIPPET(cuCtxGetId)
{
    uint64_t id = 0;
    CHECK(CU(cuCtxGetId, (void *, uint64_t *), (context(), &id)) == 0 && id);
}

SNIPPET(cuCtxGetLimit)
{
    size_t value = 0;
    context();
    CHECK(CU(cuCtxGetLimit, (size_t *, int), (&value, 2)) == 0 && value == 8 << 20);
    CHECK(CU(cuCtxGetLimit, (size_t *, int), (&value, 99)) == 215);
}

SNIPPET(cuCtxSetLimit)
{
    size_t value = 0;
    context();
    CHECK(CU(cuCtxSetLimit, (int, size_t), (0, 4096)) == 0);
    CHECK(CU(cuCtxGetLimit, (size_t *, int), (&value, 0)) == 0 && value == 4096);
}

SNIPPET(cuCtxGetCacheConfig)
{
    int config = -1;
    context();
    CHECK(CU(cuCtxGetCacheConfig, (int *), (&config)) == 0 && config >= 0);
}

SNIPPET(cuCtxSetCacheConfig)
{
    int config = -1;
    context();
    CHECK(CU(cuCtxSetCacheConfig, (int), (2)) == 0);
    CHECK(CU(cuCtxGetCacheConfig, (int *), (&config)) == 0 && config == 2);
    CHECK(CU(cuCtxSetCacheConfig, (int), (0)) == 0);
}

SNIPPET(cuCtxGetApiVersion)
{
    unsigned version = 0;
    CHECK(CU(cuCtxGetApiVersion, (void *, unsigned *), (context(), &version)) == 0 && version >= 3020);
}

SNIPPET(cuCtxGetStreamPriorityRange)
{
    int least = -9, greatest = 9;
    context();
    CHECK(CU(cuCtxGetStreamPriorityRange, (int *, int *), (&least, &greatest)) == 0 && least == 0 && greatest < 0);
}

SNIPPET(cuCtxRecordEvent)
{
    CHECK(CU(cuCtxRecordEvent, (void *, void *), (context(), event())) == 0);
}

SNIPPET(cuCtxWaitEvent)
{
    CHECK(CU(cuCtxWaitEvent, (void *, void *), (context(), event())) == 0);
}

/* ---- modules, libraries, linking ---- */

static void check_load(const char *name)
{
    void *m = NULL;
    context();
    CHECK(BY(name, (void **, const void *), (&m, ptx)) == 0 && m);
    CHECK(CU(cuModuleUnload, (void *), (m)) == 0);
    CHECK(BY(name, (void **, const void *), (&m, "no code at all")) == 200);
    CHECK(BY(name, (void **, const void *), (&m, ptx_of_the_future)) == NO_BINARY);
}
CHECKED(cuModuleLoadData, check_load)
CHECKED(cuModuleLoadFatBinary, check_load)

SNIPPET(cuModuleLoadDataEx)
{
    char info[16] = "old";
    int options[] = {3, 4};
    void *values[] = {info, (void *)sizeof info}, *m = NULL;
    context();
    CHECK(CU(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **), (&m, ptx, 2, options, values)) == 0);
    CHECK(m && !info[0] && !values[1]);
}

SNIPPET(cuModuleLoad)
{
    char path[64];
    void *m = NULL;
    context();
    make_file(path, ptx);
    CHECK(CU(cuModuleLoad, (void **, const char *), (&m, path)) == 0 && m);
    unlink(path);
    CHECK(CU(cuModuleLoad, (void **, const char *), (&m, path)) == 301);
}

SNIPPET(cuModuleUnload)
{
    void *m = module();
    CHECK(CU(cuModuleUnload, (void *), (m)) == 0);
    CHECK(CU(cuModuleUnload, (void *), (m)) == INVALID_HANDLE);
}

static void check_get_function(const char *name)
{
    void *m = module(), *one = NULL, *two = NULL;
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
    CHECK(BY(name, (unsigned *, void *), (&count, module())) == 0 && count == 2);
}
CHECKED(cuModuleGetFunctionCount, check_count)
CHECKED(cuLibraryGetKernelCount, check_count)

static void check_enumerate(const char *name)
{
    void *found[2] = {NULL, NULL};
    const char *text = NULL;
    CHECK(BY(name, (void **, unsigned, void *), (found, 2, module())) == 0 && found[0] && found[1]);
    CHECK(CU(cuFuncGetName, (const char **, void *), (&text, found[1])) == 0 && !strcmp(text, "second"));
}
CHECKED(cuModuleEnumerateFunctions, check_enumerate)
CHECKED(cuLibraryEnumerateKernels, check_enumerate)

static void check_global(const char *name)
{
    void *m = module();
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
    void *l = NULL;
    context();
    CHECK(CU(cuLibraryLoadData, (void **, const void *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, ptx, NULL, NULL, 0, NULL, NULL, 0)) == 0);
    CHECK(l && CU(cuLibraryUnload, (void *), (l)) == 0);
}

SNIPPET(cuLibraryLoadFromFile)
{
    char path[64];
    void *l = NULL;
    context();
    make_file(path, ptx);
    CHECK(CU(cuLibraryLoadFromFile, (void **, const char *, void *, void *, unsigned, void *, void *, unsigned),
             (&l, path, NULL, NULL, 0, NULL, NULL, 0)) == 0);
    unlink(path);
    CHECK(l != NULL);
}

SNIPPET(cuLibraryUnload)
{
    CHECK(CU(cuLibraryUnload, (void *), (module())) == 0);
    CHECK(CU(cuLibraryUnload, (void *), (NULL)) == INVALID_HANDLE);
}

SNIPPET(cuLibraryGetModule)
{
    void *l = module(), *m = NULL;
    CHECK(CU(cuLibraryGetModule, (void **, void *), (&m, l)) == 0 && m);
}

static void check_module_of(const char *name)
{
    void *m = NULL;
    CHECK(BY(name, (void **, void *), (&m, kernel())) == 0 && m);
    CHECK(BY(name, (void **, void *), (&m, NULL)) == INVALID_HANDLE);
}
CHECKED(cuKernelGetLibrary, check_module_of)
CHECKED(cuFuncGetModule, check_module_of)

SNIPPET(cuKernelGetFunction)
{
    void *k = kernel(), *f = NULL;
    CHECK(CU(cuKernelGetFunction, (void **, void *), (&f, k)) == 0 && f);
}

static void check_name(const char *name)
{
    const char *text = NULL;
    CHECK(BY(name, (const char **, void *), (&text, kernel())) == 0 && !strcmp(text, "first"));
}
CHECKED(cuKernelGetName, check_name)
CHECKED(cuFuncGetName, check_name)

SNIPPET(cuKernelGetAttribute)
{
    int value = 0;
    CHECK(CU(cuKernelGetAttribute, (int *, int, void *, int), (&value, 0, kernel(), 0)) == 0 && value == 1024);
}

SNIPPET(cuKernelSetAttribute)
{
    void *k = kernel();
    int value = 0;
    CHECK(CU(cuKernelSetAttribute, (int, int, void *, int), (8, attribute(97), k, 0)) == 0);
    CHECK(CU(cuKernelGetAttribute, (int *, int, void *, int), (&value, 8, k, 0)) == 0 && value == attribute(97));
    CHECK(CU(cuKernelSetAttribute, (int, int, void *, int), (8, attribute(97) + 1, k, 0)) == INVALID_VALUE);
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
    context();
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
             (state, 1, ptx, strlen(ptx), "ptx", 0, NULL, NULL)) == 0);
    check_linked(state);
}
CHECKED(cuLinkAddData, check_link_data)
CHECKED(cuLinkAddData_v2, check_link_data)

static void check_link_file(const char *name)
{
    void *state = linker();
    char path[64];
    make_file(path, ptx);
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
    void *f = kernel();
    int value = -1;
    for (int i = 0; i <= 15; i++)
        CHECK(CU(cuFuncGetAttribute, (int *, int, void *), (&value, i, f)) == 0);
    CHECK(CU(cuFuncGetAttribute, (int *, int, void *), (&value, 8, f)) == 0 && value == attribute(8));
    CHECK(CU(cuFuncGetAttribute, (int *, int, void *), (&value, 99, f)) == INVALID_VALUE);
}

SNIPPET(cuFuncSetAttribute)
{
    void *f = kernel();
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 8, attribute(97))) == 0);
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 8, attribute(97) + 1)) == INVALID_VALUE);
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 4, 16)) == INVALID_VALUE);
}

typedef int launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static void check_launch(const char *name)
{
    launch *go = (launch *)snippet_symbol(name);
    void *f = kernel();
    CHECK(go(f, 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL) == 0);
    CHECK(go(f, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(f, 1, 65536, 1, 32, 1, 1, 0, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(f, 0, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(f, 1, 1, 1, 32, 1, 1, (unsigned)attribute(8) + 1, NULL, NULL, NULL) == INVALID_VALUE);
    CHECK(go(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == INVALID_HANDLE);
    if (attribute(97) == attribute(8))
        return;
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (f, 8, attribute(97))) == 0);
    CHECK(go(f, 1, 1, 1, 32, 1, 1, (unsigned)attribute(97), NULL, NULL, NULL) == 0);
}
CHECKED(cuLaunchKernel, check_launch)
CHECKED(cuLaunchKernel_ptsz, check_launch)

static void check_cooperative(const char *name)
{
    launch *go = (launch *)snippet_symbol(name);
    check_launch(name);
    CHECK(go(kernel(), 1 << 20, 1, 1, 1024, 1, 1, 0, NULL, NULL, NULL) == 720);
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
    int hopper = attribute(75) >= 9;
    void *f = kernel();
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
    void *s = stream(), *g = NULL;
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
    CHECK(BY(name, (int *, void *, int, size_t, unsigned), (&blocks, kernel(), 256, 0, 0)) == 0);
    CHECK(blocks >= 1 && blocks <= attribute(106) && blocks * 256 <= attribute(39));
    CHECK(BY(name, (int *, void *, int, size_t, unsigned), (&blocks, kernel(), 32, (size_t)attribute(97), 0)) == 0);
    CHECK(blocks >= 1 && blocks <= 2);
}
CHECKED(cuOccupancyMaxActiveBlocksPerMultiprocessor, check_occupancy)
CHECKED(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, check_occupancy)

static void check_block_size(const char *name)
{
    int grid = 0, block = 0;
    CHECK(BY(name, (int *, int *, void *, void *, size_t, int, unsigned), (&grid, &block, kernel(), NULL, 0, 0, 0)) == 0);
    CHECK(block >= 32 && block <= 1024 && grid >= attribute(16));
    CHECK(BY(name, (int *, int *, void *, void *, size_t, int, unsigned), (&grid, &block, kernel(), NULL, 0, 100, 0)) ==
          0);
    CHECK(block <= 100);
}
CHECKED(cuOccupancyMaxPotentialBlockSize, check_block_size)
CHECKED(cuOccupancyMaxPotentialBlockSizeWithFlags, check_block_size)

SNIPPET(cuOccupancyAvailableDynamicSMemPerBlock)
{
    size_t bytes = 0;
    CHECK(CU(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *, void *, int, int), (&bytes, kernel(), 1, 128)) == 0);
    CHECK(bytes > 0 && bytes <= (size_t)attribute(97));
}

static void check_clusters(const char *name)
{
    struct launch_config config = {{2, 1, 1}, {128, 1, 1}, 0, NULL, NULL, 0};
    int value = 0, status = BY(name, (int *, void *, void *), (&value, kernel(), &config));
    CHECK(attribute(75) >= 9 ? status == 0 && value >= 1 : status == NOT_SUPPORTED);
}
CHECKED(cuOccupancyMaxPotentialClusterSize, check_clusters)
CHECKED(cuOccupancyMaxActiveClusters, check_clusters)
