/* The driver: errors, start, entry points, devices. */
#include "cuda.h"

#include <stdlib.h>
#include <unistd.h>

const char cu_ptx[] = ".version 8.0\n.target sm_50\n.address_size 64\n"
                      ".visible .entry first(\n.param .u64 p)\n{ ret; }\n.visible .entry second() { ret; }\n";
const char cu_ptx_of_the_future[] = ".version 9.9\n.target sm_999\n.visible .entry first() { ret; }\n";

/* ---- what the snippets need to stand on ---- */

void *cu_context(void)
{
    void *primary = NULL;
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&primary, 0)) == 0 && primary);
    CHECK(CU(cuCtxSetCurrent, (void *), (primary)) == 0);
    return primary;
}

int cu_attribute(int number)
{
    int value = -99;
    CHECK(CU(cuDeviceGetAttribute, (int *, int, int), (&value, number, 0)) == 0);
    return value;
}

address cu_alloc(size_t bytes)
{
    address at = 0;
    cu_context();
    CHECK(CU(cuMemAlloc_v2, (address *, size_t), (&at, bytes)) == 0 && at);
    return at;
}

void cu_release(address at)
{
    CHECK(CU(cuMemFree_v2, (address), (at)) == 0);
}

void *cu_stream(void)
{
    void *s = NULL;
    cu_context();
    CHECK(CU(cuStreamCreate, (void **, unsigned), (&s, 1)) == 0 && s);
    return s;
}

void *cu_event(void)
{
    void *e = NULL;
    cu_context();
    CHECK(CU(cuEventCreate, (void **, unsigned), (&e, 0)) == 0 && e);
    return e;
}

void *cu_module(void)
{
    void *m = NULL;
    cu_context();
    CHECK(CU(cuModuleLoadData, (void **, const void *), (&m, cu_ptx)) == 0 && m);
    return m;
}

void *cu_kernel(void)
{
    void *f = NULL;
    CHECK(CU(cuModuleGetFunction, (void **, void *, const char *), (&f, cu_module(), "first")) == 0 && f);
    return f;
}

void *cu_graph(void)
{
    void *g = NULL;
    cu_context();
    CHECK(CU(cuGraphCreate, (void **, unsigned), (&g, 0)) == 0 && g);
    return g;
}

void cu_make_file(char path[64], const char *text)
{
    int fd;
    strcpy(path, "/tmp/plimsoll-snippet-XXXXXX");
    fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

const char cu_text[16] = "fifteen letters";

void cu_expect(address at, const void *bytes, size_t count)
{
    char back[64] = "";
    CHECK(CU(cuMemcpyDtoH_v2, (void *, address, size_t), (back, at, count)) == 0 && !memcmp(back, bytes, count));
}

address cu_filled(void)
{
    address at = cu_alloc(4096);
    CHECK(CU(cuMemcpyHtoD_v2, (address, const void *, size_t), (at, cu_text, sizeof cu_text)) == 0);
    return at;
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
    CHECK(CU(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *), ("cuInit", &got, 99000, 0, &result)) ==
          INVALID_VALUE);
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
    CHECK(cu_attribute(1) == 1024);          /* threads of a block */
    CHECK(cu_attribute(16) > 0);             /* SMs */
    CHECK(cu_attribute(75) >= 5);            /* compute capability */
    CHECK(cu_attribute(97) >= cu_attribute(8)); /* shared memory: opt-in and default */
    CHECK(cu_attribute(102) == 1 && cu_attribute(115) == 1 && cu_attribute(41) == 1);
    CHECK(cu_attribute(132) == 0 && cu_attribute(110) == 0 && cu_attribute(88) == 0);
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
    CHECK(major == cu_attribute(75) && minor == cu_attribute(76));
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
    void *mine = cu_context(), *other = NULL;
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
    CHECK(CU(cuCtxDisablePeerAccess, (void *), (cu_context())) == 705);
}
