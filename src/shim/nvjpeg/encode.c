/*
 * nvJPEG's encoder. The length of a compressed image depends on pixels that nobody computed: a tenth of
 * the uncompressed RGB image is assumed, which is typical of photographs at the usual quality. The bytes
 * themselves are refused when they are asked for in host memory, where a program would keep them.
 */
#include <stdlib.h>

#include "shim/nvjpeg/status.h"
#include "device/shim.h"

#define UNUSED __attribute__((unused))

enum { CHANNELS = 3, BLOCK = 16, HEADER = 4096, TYPICAL_COMPRESSION = 10 };

struct state {
    size_t length; /* of the last image, compressed; 0 before the first */
};

PLM_API int nvjpegEncoderStateCreate(UNUSED void *handle, struct state **out, UNUSED void *stream)
{
    if (!out)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *out = calloc(1, sizeof **out);
    return *out ? PLM_NVJPEG_SUCCESS : PLM_NVJPEG_ALLOCATOR_FAILURE;
}

PLM_API int nvjpegEncoderStateCreateWithBackend(UNUSED void *handle, struct state **out, int backend,
                                                UNUSED void *stream)
{
    enum { DEFAULT, GPU };
    if (backend != DEFAULT && backend != GPU)
        return PLM_NVJPEG_ARCH_MISMATCH; /* the hardware encoder */
    return nvjpegEncoderStateCreate(handle, out, stream);
}

PLM_API int nvjpegEncoderStateDestroy(struct state *state)
{
    free(state);
    return state ? PLM_NVJPEG_SUCCESS : PLM_NVJPEG_INVALID_PARAMETER;
}

static size_t blocks(int side)
{
    return ((size_t)side + BLOCK - 1) / BLOCK * BLOCK;
}

PLM_API int nvjpegEncodeGetBufferSize(UNUSED void *handle, UNUSED const void *parameters, int width, int height,
                                      size_t *length)
{
    if (width <= 0 || height <= 0 || !length)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *length = blocks(width) * blocks(height) * CHANNELS + HEADER;
    return PLM_NVJPEG_SUCCESS;
}

static int encode(const struct plm_symbol *symbol, struct state *state, int width, int height)
{
    if (!state || width <= 0 || height <= 0)
        return PLM_NVJPEG_INVALID_PARAMETER;
    state->length = (size_t)width * (size_t)height * CHANNELS / TYPICAL_COMPRESSION + HEADER;
    plm_call_launch(symbol);
    return PLM_NVJPEG_SUCCESS;
}

PLM_API int nvjpegEncodeImage(UNUSED void *handle, struct state *state, UNUSED const void *parameters,
                              UNUSED const void *source, UNUSED int format, int width, int height, UNUSED void *stream)
{
    static const struct plm_symbol symbol = {"nvjpeg", "nvjpegEncodeImage"};
    return encode(&symbol, state, width, height);
}

PLM_API int nvjpegEncodeYUV(UNUSED void *handle, struct state *state, UNUSED const void *parameters,
                            UNUSED const void *source, UNUSED int subsampling, int width, int height,
                            UNUSED void *stream)
{
    static const struct plm_symbol symbol = {"nvjpeg", "nvjpegEncodeYUV"};
    return encode(&symbol, state, width, height);
}

PLM_API int nvjpegEncode(UNUSED void *handle, struct state *state, UNUSED const void *parameters,
                         UNUSED const void *source, UNUSED int subsampling, UNUSED int format, int width, int height,
                         UNUSED void *stream)
{
    static const struct plm_symbol symbol = {"nvjpeg", "nvjpegEncode"};
    return encode(&symbol, state, width, height);
}

PLM_API int nvjpegEncodeRetrieveBitstreamDevice(UNUSED void *handle, const struct state *state,
                                                UNUSED unsigned char *data, size_t *length, UNUSED void *stream)
{
    if (!state || !state->length || !length)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *length = state->length;
    return PLM_NVJPEG_SUCCESS;
}

PLM_API int nvjpegEncodeRetrieveBitstream(UNUSED void *handle, const struct state *state, unsigned char *data,
                                          size_t *length, UNUSED void *stream)
{
    static const struct plm_symbol symbol = {"nvjpeg", "nvjpegEncodeRetrieveBitstream"};
    if (!state || !state->length || !length)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *length = state->length;
    if (data) {
        plm_call_refused(&symbol);
        return PLM_NVJPEG_NOT_SUPPORTED;
    }
    return PLM_NVJPEG_SUCCESS;
}
