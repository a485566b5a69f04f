/* The header of a JPEG file (ITU-T T.81, annex B). */
#include "shim/nvjpeg/header.h"

#include <stdbool.h>
#include <string.h>

enum {
    MARKER_SOI = 0xd8,
    MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda,
    FRAME_FIXED = 6,     /* precision, height, width, number of components */
    FRAME_COMPONENT = 3, /* identifier, sampling factors, table */
    SUBSAMPLING_GRAY = 6,
    SUBSAMPLING_UNKNOWN = -1,
};

static int word(const unsigned char *p)
{
    return p[0] << 8 | p[1];
}

/* The sixteen frame markers less those that are something else. */
static bool is_frame(int marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static bool stands_alone(int marker)
{
    return marker == 0x01 || (marker >= 0xd0 && marker <= MARKER_SOI);
}

/* From how much finer the first component is sampled than the second. */
static int subsampling(int across, int down)
{
    static const struct {
        int across, down, value;
    } table[] = {
        {1, 1, 0}, {2, 1, 1}, {2, 2, 2}, {1, 2, 3}, {4, 1, 4}, {4, 2, 5}, {2, 4, 7},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].across == across && table[i].down == down)
            return table[i].value;
    return SUBSAMPLING_UNKNOWN;
}

static int read_frame(struct plm_jpeg *out, int marker, const unsigned char *p, size_t length)
{
    int across[PLM_JPEG_COMPONENTS], down[PLM_JPEG_COMPONENTS], most_across = 1, most_down = 1;

    if (length < FRAME_FIXED)
        return -1;
    memset(out, 0, sizeof *out);
    out->encoding = marker;
    out->precision = p[0];
    out->height = word(p + 1);
    out->width = word(p + 3);
    out->components = p[5];
    if (out->components < 1 || out->components > PLM_JPEG_COMPONENTS || !out->width || !out->height ||
        length < FRAME_FIXED + FRAME_COMPONENT * (size_t)out->components)
        return -1;
    for (int i = 0; i < out->components; i++) {
        int factors = p[FRAME_FIXED + FRAME_COMPONENT * i + 1];
        across[i] = factors >> 4;
        down[i] = factors & 15;
        if (!across[i] || !down[i])
            return -1;
        most_across = across[i] > most_across ? across[i] : most_across;
        most_down = down[i] > most_down ? down[i] : most_down;
    }
    for (int i = 0; i < out->components; i++) {
        out->widths[i] = (out->width * across[i] + most_across - 1) / most_across;
        out->heights[i] = (out->height * down[i] + most_down - 1) / most_down;
    }
    if (out->components == 1)
        out->subsampling = SUBSAMPLING_GRAY;
    else if (out->components == 2 || across[0] % across[1] || down[0] % down[1])
        out->subsampling = SUBSAMPLING_UNKNOWN;
    else
        out->subsampling = subsampling(across[0] / across[1], down[0] / down[1]);
    return 0;
}

int plm_jpeg_parse(struct plm_jpeg *out, const unsigned char *data, size_t length)
{
    size_t at = 2;
    if (!data || length < 4 || data[0] != 0xff || data[1] != MARKER_SOI)
        return -1;
    while (at + 4 <= length) {
        int marker, size;
        if (data[at] != 0xff)
            return -1;
        marker = data[at + 1];
        if (marker == 0xff) { /* fill */
            at++;
            continue;
        }
        at += 2;
        if (stands_alone(marker))
            continue;
        size = word(data + at);
        if (marker == MARKER_SOS || marker == MARKER_EOI || size < 2 || (size_t)size > length - at)
            return -1;
        if (is_frame(marker))
            return read_frame(out, marker, data + at + 2, (size_t)size - 2);
        at += (size_t)size;
    }
    return -1;
}
