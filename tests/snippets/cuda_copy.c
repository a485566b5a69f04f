/* The driver: copies and fills. */
#include "cuda.h"

/* ---- copies ---- */

/* The last argument is the stream, or nothing. */
static void check_to_device(const char *name)
{
    address at = cu_alloc(4096);
    CHECK(BY(name, (address, const void *, size_t, void *), (at, cu_text, sizeof cu_text, NULL)) == 0);
    cu_expect(at, cu_text, sizeof cu_text);
    cu_release(at);
}
CHECKED(cuMemcpyHtoD_v2, check_to_device)
CHECKED(cuMemcpyHtoD_v2_ptds, check_to_device)
CHECKED(cuMemcpyHtoDAsync_v2, check_to_device)
CHECKED(cuMemcpyHtoDAsync_v2_ptsz, check_to_device)
CHECKED(cuMemcpy, check_to_device)
CHECKED(cuMemcpy_ptds, check_to_device)
CHECKED(cuMemcpyAsync, check_to_device)
CHECKED(cuMemcpyAsync_ptsz, check_to_device)

static void check_to_host(const char *name)
{
    address at = cu_filled();
    char back[16] = "";
    CHECK(BY(name, (void *, address, size_t, void *), (back, at, sizeof back, NULL)) == 0);
    CHECK(!memcmp(back, cu_text, sizeof cu_text));
    CHECK(BY(name, (void *, address, size_t, void *), (back, 64, sizeof back, NULL)) == INVALID_VALUE);
    cu_release(at);
}
CHECKED(cuMemcpyDtoH_v2, check_to_host)
CHECKED(cuMemcpyDtoH_v2_ptds, check_to_host)
CHECKED(cuMemcpyDtoHAsync_v2, check_to_host)
CHECKED(cuMemcpyDtoHAsync_v2_ptsz, check_to_host)

static void check_on_device(const char *name)
{
    address from = cu_filled(), to = cu_alloc(4096);
    CHECK(BY(name, (address, address, size_t, void *), (to, from, sizeof cu_text, NULL)) == 0);
    cu_expect(to, cu_text, sizeof cu_text);
    cu_release(from);
    cu_release(to);
}
CHECKED(cuMemcpyDtoD_v2, check_on_device)
CHECKED(cuMemcpyDtoD_v2_ptds, check_on_device)
CHECKED(cuMemcpyDtoDAsync_v2, check_on_device)
CHECKED(cuMemcpyDtoDAsync_v2_ptsz, check_on_device)

static void check_peer(const char *name)
{
    void *c = cu_context();
    address from = cu_filled(), to = cu_alloc(4096);
    CHECK(BY(name, (address, void *, address, void *, size_t, void *), (to, c, from, c, sizeof cu_text, NULL)) == 0);
    cu_expect(to, cu_text, sizeof cu_text);
    cu_release(from);
    cu_release(to);
}
CHECKED(cuMemcpyPeer, check_peer)
CHECKED(cuMemcpyPeer_ptds, check_peer)
CHECKED(cuMemcpyPeerAsync, check_peer)
CHECKED(cuMemcpyPeerAsync_ptsz, check_peer)

static void check_with_attributes(const char *name)
{
    address at = cu_alloc(4096);
    CHECK(BY(name, (address, address, size_t, void *, void *), (at, (address)cu_text, sizeof cu_text, NULL, NULL)) ==
          0);
    cu_expect(at, cu_text, sizeof cu_text);
    cu_release(at);
}
CHECKED(cuMemcpyWithAttributesAsync, check_with_attributes)
CHECKED(cuMemcpyWithAttributesAsync_ptsz, check_with_attributes)

static void check_batch(const char *name)
{
    address to[2] = {cu_alloc(4096), cu_alloc(4096)}, from[2] = {(address)cu_text, (address)cu_text};
    size_t sizes[2] = {16, 8}, start = 0, failed = 0;
    char attributes[64] = {0};
    void *s = cu_stream();
    if (strstr(name, "_v2"))
        CHECK(BY(name, (address *, address *, size_t *, size_t, void *, size_t *, size_t, void *),
                 (to, from, sizes, 2, attributes, &start, 1, s)) == 0);
    else
        CHECK(BY(name, (address *, address *, size_t *, size_t, void *, size_t *, size_t, size_t *, void *),
                 (to, from, sizes, 2, attributes, &start, 1, &failed, s)) == 0);
    CHECK(strstr(name, "_v2") || failed == SIZE_MAX);
    cu_expect(to[0], cu_text, 16);
    cu_expect(to[1], cu_text, 8);
    cu_release(to[0]);
    cu_release(to[1]);
}
CHECKED(cuMemcpyBatchAsync, check_batch)
CHECKED(cuMemcpyBatchAsync_ptsz, check_batch)
CHECKED(cuMemcpyBatchAsync_v2, check_batch)
CHECKED(cuMemcpyBatchAsync_v2_ptsz, check_batch)

struct side_2d {
    size_t x, y;
    int type;
    const void *host;
    address device;
    void *array;
    size_t pitch;
};

struct rectangle {
    struct side_2d src, dst;
    size_t width, height;
};

static void check_rectangle(const char *name)
{
    address at = cu_alloc(4096);
    struct rectangle r = {.src = {.x = 1, .y = 1, .type = 1, .host = cu_text, .pitch = 4},
                          .dst = {.type = 2, .device = at, .pitch = 512},
                          .width = 2,
                          .height = 2};
    CHECK(BY(name, (const void *, void *), (&r, NULL)) == 0);
    cu_expect(at, cu_text + 5, 2);
    cu_expect(at + 512, cu_text + 9, 2);
    r.dst.type = 99;
    CHECK(BY(name, (const void *, void *), (&r, NULL)) == INVALID_VALUE);
    cu_release(at);
}
CHECKED(cuMemcpy2D_v2, check_rectangle)
CHECKED(cuMemcpy2D_v2_ptds, check_rectangle)
CHECKED(cuMemcpy2DUnaligned_v2, check_rectangle)
CHECKED(cuMemcpy2DUnaligned_v2_ptds, check_rectangle)
CHECKED(cuMemcpy2DAsync_v2, check_rectangle)
CHECKED(cuMemcpy2DAsync_v2_ptsz, check_rectangle)

struct side_3d {
    size_t x, y, z, level;
    int type;
    const void *host;
    address device;
    void *array, *context;
    size_t pitch, rows;
};

struct box {
    struct side_3d src, dst;
    size_t width, height, depth;
};

static void check_box(const char *name)
{
    address at = cu_alloc(4096);
    struct box b = {.src = {.z = 1, .type = 1, .host = cu_text, .pitch = 2, .rows = 2},
                    .dst = {.type = 4, .device = at, .pitch = 64, .rows = 4},
                    .width = 2,
                    .height = 2,
                    .depth = 2};
    CHECK(BY(name, (const void *, void *), (&b, NULL)) == 0);
    cu_expect(at, cu_text + 4, 2);
    cu_expect(at + 64, cu_text + 6, 2);
    cu_expect(at + 4 * 64, cu_text + 8, 2);
    b.width = b.src.pitch = b.dst.pitch = 1ull << 33;
    b.height = 1ull << 31;
    CHECK(BY(name, (const void *, void *), (&b, NULL)) == INVALID_VALUE);
    cu_release(at);
}
CHECKED(cuMemcpy3D_v2, check_box)
CHECKED(cuMemcpy3D_v2_ptds, check_box)
CHECKED(cuMemcpy3DPeer, check_box)
CHECKED(cuMemcpy3DPeer_ptds, check_box)
CHECKED(cuMemcpy3DAsync_v2, check_box)
CHECKED(cuMemcpy3DAsync_v2_ptsz, check_box)
CHECKED(cuMemcpy3DPeerAsync, check_box)
CHECKED(cuMemcpy3DPeerAsync_ptsz, check_box)

/* ---- setting memory: the digits in a name are the bits of an element ---- */

static unsigned element_bytes(const char *name)
{
    return strstr(name, "D32") ? 4 : strstr(name, "D16") ? 2 : 1;
}

static void check_set(const char *name)
{
    static const unsigned char pattern[] = {0x44, 0x33, 0x22, 0x11};
    unsigned size = element_bytes(name);
    address at = cu_alloc(4096);
    CHECK(BY(name, (address, unsigned, size_t, void *), (at + 8, 0x11223344u >> (size == 1 ? 24 : 0), 3, NULL)) == 0);
    cu_expect(at + 8 + 2 * size, size == 1 ? pattern + 3 : pattern, size);
    cu_expect(at + 8 + 3 * size, "\0\0\0\0", size);
    CHECK(BY(name, (address, unsigned, size_t, void *), (64, 0, 3, NULL)) == INVALID_VALUE);
    CHECK(size == 1 || BY(name, (address, unsigned, size_t, void *), (at, 0, SIZE_MAX, NULL)) == INVALID_VALUE);
    cu_release(at);
}
CHECKED(cuMemsetD8_v2, check_set)
CHECKED(cuMemsetD16_v2, check_set)
CHECKED(cuMemsetD32_v2, check_set)
CHECKED(cuMemsetD8Async, check_set)
CHECKED(cuMemsetD16Async, check_set)
CHECKED(cuMemsetD32Async, check_set)
CHECKED(cuMemsetD8_v2_ptds, check_set)
CHECKED(cuMemsetD16_v2_ptds, check_set)
CHECKED(cuMemsetD32_v2_ptds, check_set)
CHECKED(cuMemsetD8Async_ptsz, check_set)
CHECKED(cuMemsetD16Async_ptsz, check_set)
CHECKED(cuMemsetD32Async_ptsz, check_set)

static void check_set_2d(const char *name)
{
    unsigned size = element_bytes(name);
    address at = cu_alloc(4096);
    CHECK(BY(name, (address, size_t, unsigned, size_t, size_t, void *), (at, 64, 0x55, 2, 3, NULL)) == 0);
    cu_expect(at + 2 * 64 + size, "\x55\0\0\0", size);
    cu_expect(at + 2 * size, "\0\0\0\0", size);
    CHECK(BY(name, (address, size_t, unsigned, size_t, size_t, void *), (at, 0, 0x55, 1ull << 33, 1ull << 31, NULL)) ==
          INVALID_VALUE);
    cu_release(at);
}
CHECKED(cuMemsetD2D8_v2, check_set_2d)
CHECKED(cuMemsetD2D16_v2, check_set_2d)
CHECKED(cuMemsetD2D32_v2, check_set_2d)
CHECKED(cuMemsetD2D8Async, check_set_2d)
CHECKED(cuMemsetD2D16Async, check_set_2d)
CHECKED(cuMemsetD2D32Async, check_set_2d)
CHECKED(cuMemsetD2D8_v2_ptds, check_set_2d)
CHECKED(cuMemsetD2D16_v2_ptds, check_set_2d)
CHECKED(cuMemsetD2D32_v2_ptds, check_set_2d)
CHECKED(cuMemsetD2D8Async_ptsz, check_set_2d)
CHECKED(cuMemsetD2D16Async_ptsz, check_set_2d)
CHECKED(cuMemsetD2D32Async_ptsz, check_set_2d)
