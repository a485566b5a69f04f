/* nvJPEG: the size of an image before it is decoded, and after it was encoded. */
#include "snippet.h"

enum { INVALID_PARAMETER = 2, BAD_JPEG = 3, ARCH_MISMATCH = 7, NOT_SUPPORTED = 9 };
enum { BACKEND_HARDWARE = 3, BASELINE = 0xc0, CSS_420 = 2 };

/* A 33x17 image, 4:2:0: start, a comment, the frame. */
static const unsigned char image[] = {
    0xff, 0xd8, 0xff, 0xfe, 0, 4, 'h', 'i', 0xff, 0xc0, 0, 17, 8, 0, 17, 0, 33, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1,
};

static void *create(void)
{
    void *handle = NULL;
    CHECK(CALL(int, nvjpegCreateSimple, (void **), (&handle)) == 0);
    return handle;
}

static void destroy(void *handle)
{
    CHECK(CALL(int, nvjpegDestroy, (void *), (handle)) == 0);
}

SNIPPET(nvjpegCreateSimple)
{
    void *handle = create();
    CHECK(handle != NULL);
    destroy(handle);
}

SNIPPET(nvjpegDestroy)
{
    destroy(create());
    CHECK(CALL(int, nvjpegDestroy, (void *), (NULL)) == INVALID_PARAMETER);
}

SNIPPET(nvjpegCreate)
{
    void *handle = NULL;
    CHECK(CALL(int, nvjpegCreate, (int, void *, void **), (0, NULL, &handle)) == 0);
    CHECK(handle != NULL);
    destroy(handle);
}

#define CREATE_EX(symbol)                                                                                     \
    SNIPPET(symbol)                                                                                           \
    {                                                                                                         \
        void *handle = NULL;                                                                                  \
        CHECK(CALL(int, symbol, (int, void *, void *, unsigned, void **),                                     \
                   (BACKEND_HARDWARE, NULL, NULL, 0, &handle)) == ARCH_MISMATCH);                             \
        CHECK(CALL(int, symbol, (int, void *, void *, unsigned, void **), (0, NULL, NULL, 0, &handle)) == 0); \
        CHECK(handle != NULL);                                                                                \
        destroy(handle);                                                                                      \
    }
CREATE_EX(nvjpegCreateEx)
CREATE_EX(nvjpegCreateExV2)

SNIPPET(nvjpegGetProperty)
{
    int major = 0;
    CHECK(CALL(int, nvjpegGetProperty, (int, int *), (0, &major)) == 0);
    CHECK(major == snippet_cuda());
}

SNIPPET(nvjpegGetCudartProperty)
{
    int major = 0;
    CHECK(CALL(int, nvjpegGetCudartProperty, (int, int *), (0, &major)) == 0);
    CHECK(major >= 12);
}

#define PADDING(set, get)                                                   \
    SNIPPET(set)                                                            \
    {                                                                       \
        void *handle = create();                                            \
        CHECK(CALL(int, set, (size_t, void *), (4096, handle)) == 0);       \
        destroy(handle);                                                    \
    }                                                                       \
    SNIPPET(get)                                                            \
    {                                                                       \
        void *handle = create();                                            \
        size_t padding = 1;                                                 \
        CHECK(CALL(int, get, (size_t *, void *), (&padding, handle)) == 0); \
        CHECK(padding == 0);                                                \
        CHECK(CALL(int, set, (size_t, void *), (4096, handle)) == 0);       \
        CHECK(CALL(int, get, (size_t *, void *), (&padding, handle)) == 0); \
        CHECK(padding == 4096);                                             \
        destroy(handle);                                                    \
    }
PADDING(nvjpegSetDeviceMemoryPadding, nvjpegGetDeviceMemoryPadding)
PADDING(nvjpegSetPinnedMemoryPadding, nvjpegGetPinnedMemoryPadding)

SNIPPET(nvjpegGetImageInfo)
{
    int components = 0, subsampling = -9, widths[4] = {9, 9, 9, 9}, heights[4] = {9, 9, 9, 9};
    CHECK(CALL(int, nvjpegGetImageInfo, (void *, const unsigned char *, size_t, int *, int *, int *, int *),
               (NULL, image, sizeof image, &components, &subsampling, widths, heights)) == 0);
    CHECK(components == 3 && subsampling == CSS_420);
    CHECK(widths[0] == 33 && widths[1] == 17 && widths[2] == 17 && widths[3] == 0);
    CHECK(heights[0] == 17 && heights[1] == 9 && heights[2] == 9 && heights[3] == 0);
    /* Cut anywhere, it is not a file. */
    for (size_t length = 0; length < sizeof image; length++)
        CHECK(CALL(int, nvjpegGetImageInfo, (void *, const unsigned char *, size_t, int *, int *, int *, int *),
                   (NULL, image, length, &components, &subsampling, widths, heights)) == BAD_JPEG);
}

static void *stream(void)
{
    void *s = NULL;
    CHECK(CALL(int, nvjpegJpegStreamCreate, (void *, void **), (NULL, &s)) == 0);
    return s;
}

static void *parsed(void)
{
    void *s = stream();
    CHECK(CALL(int, nvjpegJpegStreamParse, (void *, const unsigned char *, size_t, int, int, void *),
               (NULL, image, sizeof image, 0, 0, s)) == 0);
    return s;
}

static void end(void *s)
{
    CHECK(CALL(int, nvjpegJpegStreamDestroy, (void *), (s)) == 0);
}

SNIPPET(nvjpegJpegStreamCreate)
{
    void *s = stream();
    CHECK(s != NULL);
    end(s);
}

SNIPPET(nvjpegJpegStreamDestroy)
{
    end(stream());
    CHECK(CALL(int, nvjpegJpegStreamDestroy, (void *), (NULL)) == INVALID_PARAMETER);
}

SNIPPET(nvjpegJpegStreamParse)
{
    void *s = stream();
    CHECK(CALL(int, nvjpegJpegStreamParse, (void *, const unsigned char *, size_t, int, int, void *),
               (NULL, image + 1, sizeof image - 1, 0, 0, s)) == BAD_JPEG);
    end(s);
    end(parsed());
}

SNIPPET(nvjpegJpegStreamParseHeader)
{
    void *s = stream();
    CHECK(CALL(int, nvjpegJpegStreamParseHeader, (void *, const unsigned char *, size_t, void *),
               (NULL, image, sizeof image, s)) == 0);
    end(s);
}

#define GETTER(symbol, expected)                                                         \
    SNIPPET(symbol)                                                                      \
    {                                                                                    \
        void *s = parsed(), *empty = stream();                                           \
        int value = -9;                                                                  \
        CHECK(CALL(int, symbol, (void *, int *), (s, &value)) == 0);                     \
        CHECK(value == expected);                                                        \
        CHECK(CALL(int, symbol, (void *, int *), (empty, &value)) == INVALID_PARAMETER); \
        end(s);                                                                          \
        end(empty);                                                                      \
    }
GETTER(nvjpegJpegStreamGetJpegEncoding, BASELINE)
GETTER(nvjpegJpegStreamGetComponentsNum, 3)
GETTER(nvjpegJpegStreamGetSamplePrecision, 8)
GETTER(nvjpegJpegStreamGetChromaSubsampling, CSS_420)

SNIPPET(nvjpegJpegStreamGetFrameDimensions)
{
    void *s = parsed();
    unsigned width = 0, height = 0;
    CHECK(CALL(int, nvjpegJpegStreamGetFrameDimensions, (void *, unsigned *, unsigned *), (s, &width, &height)) == 0);
    CHECK(width == 33 && height == 17);
    end(s);
}

SNIPPET(nvjpegJpegStreamGetComponentDimensions)
{
    void *s = parsed();
    unsigned width = 0, height = 0;
    CHECK(CALL(int, nvjpegJpegStreamGetComponentDimensions, (void *, unsigned, unsigned *, unsigned *),
               (s, 1, &width, &height)) == 0);
    CHECK(width == 17 && height == 9);
    CHECK(CALL(int, nvjpegJpegStreamGetComponentDimensions, (void *, unsigned, unsigned *, unsigned *),
               (s, 3, &width, &height)) == INVALID_PARAMETER);
    end(s);
}

/* ---- encoding ---- */
static void *state(void)
{
    void *s = NULL;
    CHECK(CALL(int, nvjpegEncoderStateCreate, (void *, void **, void *), (NULL, &s, NULL)) == 0);
    return s;
}

static void drop(void *s)
{
    CHECK(CALL(int, nvjpegEncoderStateDestroy, (void *), (s)) == 0);
}

SNIPPET(nvjpegEncoderStateCreate)
{
    void *s = state();
    CHECK(s != NULL);
    drop(s);
}

SNIPPET(nvjpegEncoderStateCreateWithBackend)
{
    void *s = NULL;
    CHECK(CALL(int, nvjpegEncoderStateCreateWithBackend, (void *, void **, int, void *), (NULL, &s, 0, NULL)) == 0);
    CHECK(s != NULL);
    drop(s);
    CHECK(CALL(int, nvjpegEncoderStateCreateWithBackend, (void *, void **, int, void *), (NULL, &s, 2, NULL)) ==
          ARCH_MISMATCH);
}

SNIPPET(nvjpegEncoderStateDestroy)
{
    drop(state());
    CHECK(CALL(int, nvjpegEncoderStateDestroy, (void *), (NULL)) == INVALID_PARAMETER);
}

SNIPPET(nvjpegEncodeGetBufferSize)
{
    size_t length = 0;
    CHECK(CALL(int, nvjpegEncodeGetBufferSize, (void *, void *, int, int, size_t *), (NULL, NULL, 640, 480, &length)) ==
          0);
    CHECK(length >= 640 * 480 * 3 && length < 640 * 480 * 4);
}

static size_t encoded_length(void *s)
{
    size_t length = 0;
    CHECK(CALL(int, nvjpegEncodeRetrieveBitstreamDevice, (void *, void *, void *, size_t *, void *),
               (NULL, s, NULL, &length, NULL)) == 0);
    return length;
}

#define ENCODE(symbol)                                                                   \
    SNIPPET(symbol)                                                                      \
    {                                                                                    \
        void *s = state();                                                               \
        CHECK(CALL(int, symbol, (void *, void *, void *, void *, int, int, int, void *), \
                   (NULL, s, NULL, NULL, 5, 640, 480, NULL)) == 0);                      \
        CHECK(encoded_length(s) > 0 && encoded_length(s) < 640 * 480);                   \
        drop(s);                                                                         \
    }
ENCODE(nvjpegEncodeImage)
ENCODE(nvjpegEncodeYUV)

SNIPPET(nvjpegEncode)
{
    void *s = state();
    CHECK(CALL(int, nvjpegEncode, (void *, void *, void *, void *, int, int, int, int, void *),
               (NULL, s, NULL, NULL, 0, 5, 640, 480, NULL)) == 0);
    CHECK(encoded_length(s) > 0);
    drop(s);
}

SNIPPET(nvjpegEncodeRetrieveBitstreamDevice)
{
    void *s = state();
    size_t length = 9;
    CHECK(CALL(int, nvjpegEncodeRetrieveBitstreamDevice, (void *, void *, void *, size_t *, void *),
               (NULL, s, NULL, &length, NULL)) == INVALID_PARAMETER);
    drop(s);
}

SNIPPET(nvjpegEncodeRetrieveBitstream)
{
    void *s = state();
    size_t length = 0;
    unsigned char byte = 0;
    CHECK(CALL(int, nvjpegEncodeImage, (void *, void *, void *, void *, int, int, int, void *),
               (NULL, s, NULL, NULL, 5, 640, 480, NULL)) == 0);
    CHECK(CALL(int, nvjpegEncodeRetrieveBitstream, (void *, void *, void *, size_t *, void *),
               (NULL, s, NULL, &length, NULL)) == 0);
    CHECK(length > 0);
    CHECK(CALL(int, nvjpegEncodeRetrieveBitstream, (void *, void *, void *, size_t *, void *),
               (NULL, s, &byte, &length, NULL)) == NOT_SUPPORTED);
    drop(s);
}
