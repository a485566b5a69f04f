/*
 * What nvJPEG tells of a JPEG file before decoding it. The file is in host memory and its header is
 * really read, because programs allocate the pixels from it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shim/nvjpeg/header.h"
#include "shim/nvjpeg/status.h"
#include "device/shim.h"

#define UNUSED __attribute__((unused))

struct stream {
    bool parsed;
    struct plm_jpeg jpeg;
};

PLM_API int nvjpegGetImageInfo(UNUSED void *handle, const unsigned char *data, size_t length, int *components,
                               int *subsampling, int *widths, int *heights)
{
    struct plm_jpeg jpeg;
    if (!data || !components || !subsampling || !widths || !heights)
        return PLM_NVJPEG_INVALID_PARAMETER;
    if (plm_jpeg_parse(&jpeg, data, length))
        return PLM_NVJPEG_BAD_JPEG;
    *components = jpeg.components;
    *subsampling = jpeg.subsampling;
    memcpy(widths, jpeg.widths, sizeof jpeg.widths);
    memcpy(heights, jpeg.heights, sizeof jpeg.heights);
    return PLM_NVJPEG_SUCCESS;
}

PLM_API int nvjpegJpegStreamCreate(UNUSED void *handle, struct stream **out)
{
    if (!out)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *out = calloc(1, sizeof **out);
    return *out ? PLM_NVJPEG_SUCCESS : PLM_NVJPEG_ALLOCATOR_FAILURE;
}

PLM_API int nvjpegJpegStreamDestroy(struct stream *stream)
{
    free(stream);
    return stream ? PLM_NVJPEG_SUCCESS : PLM_NVJPEG_INVALID_PARAMETER;
}

static int parse(struct stream *stream, const unsigned char *data, size_t length)
{
    if (!stream || !data)
        return PLM_NVJPEG_INVALID_PARAMETER;
    stream->parsed = !plm_jpeg_parse(&stream->jpeg, data, length);
    return stream->parsed ? PLM_NVJPEG_SUCCESS : PLM_NVJPEG_BAD_JPEG;
}

PLM_API int nvjpegJpegStreamParse(UNUSED void *handle, const unsigned char *data, size_t length,
                                  UNUSED int save_metadata, UNUSED int save_stream, struct stream *stream)
{
    return parse(stream, data, length);
}

PLM_API int nvjpegJpegStreamParseHeader(UNUSED void *handle, const unsigned char *data, size_t length,
                                        struct stream *stream)
{
    return parse(stream, data, length);
}

static bool readable(const struct stream *stream, const void *out)
{
    return stream && stream->parsed && out;
}

#define GETTER(name, type, field)                            \
    PLM_API int name(const struct stream *stream, type *out) \
    {                                                        \
        if (!readable(stream, out))                          \
            return PLM_NVJPEG_INVALID_PARAMETER;             \
        *out = (type)stream->jpeg.field;                     \
        return PLM_NVJPEG_SUCCESS;                           \
    }
GETTER(nvjpegJpegStreamGetJpegEncoding, int, encoding)
GETTER(nvjpegJpegStreamGetComponentsNum, unsigned, components)
GETTER(nvjpegJpegStreamGetSamplePrecision, unsigned, precision)
GETTER(nvjpegJpegStreamGetChromaSubsampling, int, subsampling)

PLM_API int nvjpegJpegStreamGetFrameDimensions(const struct stream *stream, unsigned *width, unsigned *height)
{
    if (!readable(stream, width) || !height)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *width = (unsigned)stream->jpeg.width;
    *height = (unsigned)stream->jpeg.height;
    return PLM_NVJPEG_SUCCESS;
}

PLM_API int nvjpegJpegStreamGetComponentDimensions(const struct stream *stream, unsigned component, unsigned *width,
                                                   unsigned *height)
{
    if (!readable(stream, width) || !height || component >= (unsigned)stream->jpeg.components)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *width = (unsigned)stream->jpeg.widths[component];
    *height = (unsigned)stream->jpeg.heights[component];
    return PLM_NVJPEG_SUCCESS;
}
