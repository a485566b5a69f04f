/*
 * What the header of a JPEG file says of the image: enough to know how much memory its pixels take.
 * Pure; any thread.
 */
#ifndef PLM_NVJPEG_HEADER_H
#define PLM_NVJPEG_HEADER_H

#include <stddef.h>

enum { PLM_JPEG_COMPONENTS = 4 };

struct plm_jpeg {
    int encoding;    /* the marker of the frame: 0xc0 baseline, 0xc2 progressive, ... */
    int precision;   /* bits of a sample */
    int components;
    int width, height;
    int widths[PLM_JPEG_COMPONENTS], heights[PLM_JPEG_COMPONENTS];
    int subsampling; /* nvjpegChromaSubsampling_t */
};

/* 0, or -1 if the bytes are not a JPEG file with a frame header. Nothing beyond `length` is read. */
int plm_jpeg_parse(struct plm_jpeg *out, const unsigned char *data, size_t length);

#endif
