/*
 * What the rows of a stack file are about: a convolution, a recurrent network or a Fourier transform, and how each is
 * written in one line of text. Two descriptions are the same if their texts are. Pure functions; any thread.
 */
#ifndef PLM_STACK_ROWS_H
#define PLM_STACK_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct plm_error;
struct plm_record;

enum plm_conv_op { PLM_CONV_FORWARD, PLM_CONV_BACKWARD_DATA, PLM_CONV_BACKWARD_FILTER };

enum { PLM_CONV_AXES = 3 }; /* depth, height, width; an axis that is not there has size 1 */

struct plm_conv_shape {
    enum plm_conv_op op;
    int64_t n, c, k; /* batch, input and output channels of all groups */
    int64_t in[PLM_CONV_AXES], filter[PLM_CONV_AXES], out[PLM_CONV_AXES];
    int64_t stride[PLM_CONV_AXES], dilation[PLM_CONV_AXES], pad[PLM_CONV_AXES]; /* pad: before the first element */
    int64_t groups;
    int axes; /* those that are there, the last ones */
    int type; /* cudnnDataType_t of x */
    int element_bytes;
    bool channels_last;
    bool tf32; /* fp32 on tensor cores */
};

struct plm_rnn_shape {
    int cell;      /* cudnnRNNMode_t */
    int type;      /* cudnnDataType_t */
    bool training, bias, dropout;
    int64_t layers, directions, input, hidden, output, steps, batch; /* output: of one direction */
};

enum plm_fft_kind { PLM_FFT_C2C, PLM_FFT_R2C, PLM_FFT_C2R };

enum { PLM_FFT_RANK = 3 };

struct plm_fft_shape {
    enum plm_fft_kind kind;
    int rank;
    int64_t n[PLM_FFT_RANK], batch; /* slowest dimension first */
    int complex_bytes;              /* 4, 8 or 16 */
};

enum { PLM_ROW_TEXT = 256 };

/*
 * forward 32x64x56x56 128x64x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp32 tf32 nchw
 *         input       filter
 * lstm layers 4 directions 1 input 123 hidden 320 output 320 steps 250 batch 100 fp32 training
 * c2c 1024x512 batch 8 fp32
 * False if a type has no name, or the text does not fit.
 */
bool plm_conv_text(const struct plm_conv_shape *shape, char *out, size_t size);
bool plm_rnn_text(const struct plm_rnn_shape *shape, char *out, size_t size);
bool plm_fft_text(const struct plm_fft_shape *shape, char *out, size_t size);

/* The other way; false if it is not such a text. Sizes are at least 1 and at most 2^31-1. `out` follows. */
bool plm_conv_parse(const char *text, struct plm_conv_shape *shape);
bool plm_rnn_parse(const char *text, struct plm_rnn_shape *shape);
bool plm_fft_parse(const char *text, struct plm_fft_shape *shape);

/* The same as numbers, to look a row up by: equal if and only if the texts are. */
enum { PLM_ROW_WORDS = 10 };
struct plm_stack_row_key {
    uint64_t word[PLM_ROW_WORDS];
};
struct plm_stack_row_key plm_conv_key(const struct plm_conv_shape *shape);
struct plm_stack_row_key plm_rnn_key(const struct plm_rnn_shape *shape);
struct plm_stack_row_key plm_fft_key(const struct plm_fft_shape *shape);

/* used.c: which rows a job would use: its convolutions, recurrent networks and transforms, each once, in the order in
   which they first ran. Read from its record. One thread. */
struct plm_stack_used {
    int convolutions, rnns, ffts;
    int unnamed; /* of a type that stack files have no name for */
};

/* Writes lines `section<tab>row`. 0 or a negative PLM_E code; what the stream says is the caller's to check. */
int plm_stack_used(const char *record, FILE *out, struct plm_stack_used *used, struct plm_error *error);
int plm_stack_used_record(struct plm_record *record, FILE *out, struct plm_stack_used *used, struct plm_error *error);

#endif
