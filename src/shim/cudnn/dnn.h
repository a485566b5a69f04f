/*
 * What the files of the cuDNN shim share: status values, data types, and the descriptors that more
 * than one family reads.
 *
 * A descriptor belongs to the caller, who creates and destroys it; none is locked, as in the real
 * library. Functions return a status of the generation that is built (0 = success): PLM_CUDA is cuDNN's own, 8 or 9.
 * Enumerations of the public API appear as plain ints; only the values that change an answer have a name here.
 */
#ifndef PLM_SHIM_DNN_H
#define PLM_SHIM_DNN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/shim.h"

#ifndef PLM_CUDA
#define PLM_CUDA 9
#endif

#if PLM_CUDA == 8
enum plm_dnn_status {
    PLM_DNN_OK = 0,
    PLM_DNN_BAD_PARAM = 3,
    PLM_DNN_WRONG_TYPE = 3, /* has no status of its own yet */
    PLM_DNN_NOT_SUPPORTED = 9,
    PLM_DNN_NOMEM = 2,
    PLM_DNN_EXECUTION = 8,
};
#else
enum plm_dnn_status {
    PLM_DNN_OK = 0,
    PLM_DNN_BAD_PARAM = 2000,
    PLM_DNN_WRONG_TYPE = 2010,
    PLM_DNN_NOT_SUPPORTED = 3000,
    PLM_DNN_NOMEM = 4003,
    PLM_DNN_EXECUTION = 5000,
};
#endif

enum plm_dnn_type {
    PLM_DNN_FLOAT = 0,
    PLM_DNN_DOUBLE = 1,
    PLM_DNN_HALF = 2,
    PLM_DNN_BFLOAT16 = 9,
};

enum plm_dnn_format { PLM_DNN_NCHW = 0, PLM_DNN_NHWC = 1 };

enum { PLM_DNN_DIMS = 8, PLM_DNN_SPATIAL = 6 };

struct plm_dnn_handle {
    void *stream;
};

struct plm_dnn_tensor {
    int type;
    int dims; /* 0: the tensor does not exist */
    int size[PLM_DNN_DIMS];
    int stride[PLM_DNN_DIMS];
};

struct plm_dnn_filter {
    int type, format, dims;
    int size[PLM_DNN_DIMS];
};

struct plm_dnn_transform {
    int dims, format, direction;
    int pad_before[PLM_DNN_DIMS], pad_after[PLM_DNN_DIMS];
    unsigned fold[PLM_DNN_SPATIAL];
};

struct plm_dnn_convolution {
    int dims; /* spatial ones */
    int pad[PLM_DNN_SPATIAL], stride[PLM_DNN_SPATIAL], dilation[PLM_DNN_SPATIAL];
    int mode, compute, math, groups, reorder;
};

struct plm_dnn_dropout {
    float rate;
    void *states;
    size_t state_bytes;
    unsigned long long seed;
};

/* Puts the address of a zeroed object of that size into the pointer at `slot`. */
int plm_dnn_create(void *slot, size_t bytes);

/* Notes the reason for cudnnGetLastErrorString of this thread; returns `status`. `why` is static text. */
int plm_dnn_fail(int status, const char *why);

/* Bytes of that many elements, packed. 0 for an unknown type. */
uint64_t plm_dnn_bytes(int type, uint64_t elements);

/* Elements of an array of these sizes; 2^53, which no card holds, if there are more: times what one takes still fits. */
uint64_t plm_dnn_product(const int *size, int dims);
uint64_t plm_dnn_tensor_elements(const struct plm_dnn_tensor *tensor);

/* Sets sizes and packed strides in the order of the format. False if there are too many dimensions. */
bool plm_dnn_tensor_packed(struct plm_dnn_tensor *tensor, int type, int format, int dims, const int *size);

/* Number of SMs and resident threads of the current device, never 0. */
int plm_dnn_sms(void);
int plm_dnn_threads(void);

/* Whether fp32 may use tensor cores: Ampere or newer, not switched off by NVIDIA_TF32_OVERRIDE=0. */
bool plm_dnn_tf32(void);

static inline void plm_dnn_put(int *out, int value)
{
    if (out)
        *out = value;
}

static inline void plm_dnn_put_array(int *out, const int *values, int count)
{
    for (int i = 0; out && i < count; i++)
        out[i] = values[i];
}

static inline void plm_dnn_put_size(size_t *out, uint64_t value)
{
    if (out)
        *out = value;
}

#endif
