/* The driver: arrays and tensor maps. */
#include "cuda.h"

/* ---- arrays ---- */

struct descriptor_2d {
    size_t width, height;
    int format;
    unsigned channels;
};

struct descriptor_3d {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

static void *array(void)
{
    const struct descriptor_2d d = {16, 4, 0x01, 1};
    void *a = NULL;
    cu_context();
    CHECK(CU(cuArrayCreate_v2, (void **, const void *), (&a, &d)) == 0 && a);
    return a;
}

SNIPPET(cuArrayCreate_v2)
{
    const struct descriptor_2d video = {16, 4, 0xb0, 1};
    void *a = array();
    CHECK(CU(cuArrayDestroy, (void *), (a)) == 0);
    CHECK(CU(cuArrayCreate_v2, (void **, const void *), (&a, &video)) == NOT_SUPPORTED);
}

SNIPPET(cuArrayDestroy)
{
    CHECK(CU(cuArrayDestroy, (void *), (array())) == 0);
}

SNIPPET(cuArrayGetDescriptor_v2)
{
    struct descriptor_2d d = {0};
    CHECK(CU(cuArrayGetDescriptor_v2, (void *, void *), (&d, array())) == 0 && d.width == 16 && d.height == 4);
}

SNIPPET(cuArray3DCreate_v2)
{
    const struct descriptor_3d d = {8, 4, 2, 0x20, 4, 0};
    void *a = NULL;
    cu_context();
    CHECK(CU(cuArray3DCreate_v2, (void **, const void *), (&a, &d)) == 0 && a);
    CHECK(CU(cuArrayDestroy, (void *), (a)) == 0);
}

SNIPPET(cuArray3DGetDescriptor_v2)
{
    struct descriptor_3d d = {0};
    CHECK(CU(cuArray3DGetDescriptor_v2, (void *, void *), (&d, array())) == 0 && d.width == 16 && d.channels == 1);
}

static void check_host_to_array(const char *name)
{
    void *a = array();
    char back[16] = "";
    CHECK(BY(name, (void *, size_t, const void *, size_t, void *), (a, 16, cu_text, 16, NULL)) == 0);
    CHECK(CU(cuMemcpyAtoH_v2, (void *, void *, size_t, size_t), (back, a, 16, 16)) == 0 && !memcmp(back, cu_text, 16));
    CHECK(BY(name, (void *, size_t, const void *, size_t, void *), (a, 60, cu_text, 16, NULL)) == INVALID_VALUE);
}
CHECKED(cuMemcpyHtoA_v2, check_host_to_array)
CHECKED(cuMemcpyHtoA_v2_ptds, check_host_to_array)
CHECKED(cuMemcpyHtoAAsync_v2, check_host_to_array)
CHECKED(cuMemcpyHtoAAsync_v2_ptsz, check_host_to_array)

static void check_array_to_host(const char *name)
{
    void *a = array();
    char back[16] = "";
    CHECK(CU(cuMemcpyHtoA_v2, (void *, size_t, const void *, size_t), (a, 0, cu_text, 16)) == 0);
    CHECK(BY(name, (void *, void *, size_t, size_t, void *), (back, a, 0, 16, NULL)) == 0 &&
          !memcmp(back, cu_text, 16));
}
CHECKED(cuMemcpyAtoH_v2, check_array_to_host)
CHECKED(cuMemcpyAtoH_v2_ptds, check_array_to_host)
CHECKED(cuMemcpyAtoHAsync_v2, check_array_to_host)
CHECKED(cuMemcpyAtoHAsync_v2_ptsz, check_array_to_host)

static void check_device_to_array(const char *name)
{
    void *a = array();
    char back[16] = "";
    address at = cu_filled();
    CHECK(BY(name, (void *, size_t, address, size_t), (a, 0, at, 16)) == 0);
    CHECK(CU(cuMemcpyAtoH_v2, (void *, void *, size_t, size_t), (back, a, 0, 16)) == 0 && !memcmp(back, cu_text, 16));
}
CHECKED(cuMemcpyDtoA_v2, check_device_to_array)
CHECKED(cuMemcpyDtoA_v2_ptds, check_device_to_array)

static void check_array_to_device(const char *name)
{
    void *a = array();
    address at = cu_alloc(4096);
    CHECK(CU(cuMemcpyHtoA_v2, (void *, size_t, const void *, size_t), (a, 0, cu_text, 16)) == 0);
    CHECK(BY(name, (address, void *, size_t, size_t), (at, a, 0, 16)) == 0);
    cu_expect(at, cu_text, 16);
}
CHECKED(cuMemcpyAtoD_v2, check_array_to_device)
CHECKED(cuMemcpyAtoD_v2_ptds, check_array_to_device)

static void check_array_to_array(const char *name)
{
    void *from = array(), *to = array();
    char back[16] = "";
    CHECK(CU(cuMemcpyHtoA_v2, (void *, size_t, const void *, size_t), (from, 0, cu_text, 16)) == 0);
    CHECK(BY(name, (void *, size_t, void *, size_t, size_t), (to, 8, from, 0, 16)) == 0);
    CHECK(CU(cuMemcpyAtoH_v2, (void *, void *, size_t, size_t), (back, to, 8, 16)) == 0 && !memcmp(back, cu_text, 16));
}
CHECKED(cuMemcpyAtoA_v2, check_array_to_array)
CHECKED(cuMemcpyAtoA_v2_ptds, check_array_to_array)

/* ---- tensor maps ---- */

struct tensor_map {
    _Alignas(64) unsigned char bytes[128];
};

static void check_tensor_map(const char *name)
{
    struct tensor_map map;
    uint64_t dims[3] = {64, 64, 64}, strides[2] = {256, 16384};
    uint32_t boxes[3] = {16, 16, 16}, steps[3] = {1, 1, 1};
    address at = cu_alloc(4096);
    int hopper = cu_attribute(75) >= 9, status;
    memset(&map, 0xff, sizeof map);
    status = BY(name, (void *, int, unsigned, address, void *, void *, void *, void *, int, int, int, int),
                (&map, 7, 3, at, dims, strides, boxes, steps, 0, 0, 0, 0));
    CHECK(status == (hopper ? 0 : NOT_SUPPORTED));
    CHECK(!hopper || (!map.bytes[0] && !map.bytes[127]));
    status = BY(name, (void *, int, unsigned, address, void *, void *, void *, void *, int, int, int, int),
                (&map, 7, 6, at, dims, strides, boxes, steps, 0, 0, 0, 0));
    CHECK(status != 0);
}
CHECKED(cuTensorMapEncodeTiled, check_tensor_map)
CHECKED(cuTensorMapEncodeIm2col, check_tensor_map)
CHECKED(cuTensorMapEncodeIm2colWide, check_tensor_map)

SNIPPET(cuTensorMapReplaceAddress)
{
    struct tensor_map map = {{0}};
    CHECK(CU(cuTensorMapReplaceAddress, (void *, address), (&map, cu_alloc(4096))) == 0);
    CHECK(CU(cuTensorMapReplaceAddress, (void *, address), (&map, 1)) == INVALID_VALUE);
}
