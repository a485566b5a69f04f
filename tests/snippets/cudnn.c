/* cuDNN: versions, errors, handle, and the life of each kind of descriptor. */
#include "cudnn.h"

/* A descriptor of that kind; a failed creation fails the snippet. */
P dnn_make(const char *kind)
{
    char name[80] = "cudnnCreate";
    P out = NULL;
    strcat(name, kind);
    CHECK(((int (*)(P *))snippet_symbol(name))(&out) == 0);
    CHECK(out != NULL);
    return out;
}

void dnn_drop(const char *kind, P object)
{
    char name[80] = "cudnnDestroy";
    strcat(name, kind);
    CHECK(((int (*)(P))snippet_symbol(name))(object) == 0);
}

P dnn_tensor(int type, int n, int c, int h, int w)
{
    P t = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensor4dDescriptor, (P, int, int, int, int, int, int), (t, 0, type, n, c, h, w)) == 0);
    return t;
}

P dnn_filter(int k, int c, int r, int s)
{
    P f = dnn_make("FilterDescriptor");
    CHECK(CALL(int, cudnnSetFilter4dDescriptor, (P, int, int, int, int, int, int), (f, 0, 0, k, c, r, s)) == 0);
    return f;
}

P dnn_convolution(int pad, int stride)
{
    P d = dnn_make("ConvolutionDescriptor");
    CHECK(CALL(int, cudnnSetConvolution2dDescriptor, (P, int, int, int, int, int, int, int, int),
               (d, pad, pad, stride, stride, 1, 1, 1, 0)) == 0);
    return d;
}

int dnn_tensor_nd(P t, int size[8], int stride[8])
{
    int type = -1, dims = -1;
    CHECK(CALL(int, cudnnGetTensorNdDescriptor, (P, int, int *, int *, int *, int *),
               (t, 8, &type, &dims, size, stride)) == 0);
    return dims;
}
P dnn_handle(void)
{
    P h = NULL;
    CHECK(CALL(int, cudnnCreate, (P *), (&h)) == 0 && h);
    return h;
}

#define PAIR(kind)                                             \
    SNIPPET(cudnnCreate##kind)                                 \
    {                                                          \
        dnn_drop(#kind, dnn_make(#kind));                      \
        CHECK(CALL(int, cudnnCreate##kind, (P), (NULL)) != 0); \
    }                                                          \
    SNIPPET(cudnnDestroy##kind)                                \
    {                                                          \
        dnn_drop(#kind, dnn_make(#kind));                      \
        dnn_drop(#kind, NULL);                                 \
    }

PAIR(TensorDescriptor)
PAIR(TensorTransformDescriptor)
PAIR(OpTensorDescriptor)
PAIR(ReduceTensorDescriptor)
PAIR(FilterDescriptor)
PAIR(PoolingDescriptor)
PAIR(ActivationDescriptor)
PAIR(LRNDescriptor)
PAIR(DropoutDescriptor)
PAIR(ConvolutionDescriptor)
PAIR(RNNDescriptor)
PAIR(RNNDataDescriptor)
PAIR(SeqDataDescriptor)
PAIR(AttnDescriptor)
PAIR(CTCLossDescriptor)

SNIPPET(cudnnGetVersion)
{
    size_t version = CALL(size_t, cudnnGetVersion, (void), ());
    CHECK(snippet_cuda() == 8 ? version >= 8000 && version < 9000 : version >= 90000 && version < 100000);
}

SNIPPET(cudnnGetCudartVersion)
{
    CHECK(CALL(size_t, cudnnGetCudartVersion, (void), ()) >= 12000);
}

SNIPPET(cudnnGetMaxDeviceVersion)
{
    CHECK(CALL(size_t, cudnnGetMaxDeviceVersion, (void), ()) >= 900);
}

SNIPPET(cudnnGetErrorString)
{
    CHECK(!strcmp(CALL(const char *, cudnnGetErrorString, (int), (0)), "CUDNN_STATUS_SUCCESS"));
    CHECK(!strcmp(CALL(const char *, cudnnGetErrorString, (int), (snippet_cuda() == 8 ? 9 : 3000)),
                  "CUDNN_STATUS_NOT_SUPPORTED"));
    CHECK(CALL(const char *, cudnnGetErrorString, (int), (77)) != NULL);
}

SNIPPET(cudnnGetLastErrorString)
{
    char text[128];
    CALL(void, cudnnGetLastErrorString, (char *, size_t), (text, sizeof text));
    memset(text, 'x', sizeof text);
    CALL(int, cudnnGetProperty, (int, int *), (99, NULL));
    CALL(void, cudnnGetLastErrorString, (char *, size_t), (text, sizeof text));
    CHECK(text[0] && memchr(text, 0, sizeof text));
    CALL(void, cudnnGetLastErrorString, (char *, size_t), (text, sizeof text));
    CHECK(!text[0]);
}

SNIPPET(cudnnGetProperty)
{
    int part[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++)
        CHECK(CALL(int, cudnnGetProperty, (int, int *), (i, &part[i])) == 0);
    CHECK((size_t)(part[0] * (snippet_cuda() == 8 ? 1000 : 10000) + part[1] * 100 + part[2]) ==
          CALL(size_t, cudnnGetVersion, (void), ()));
}

SNIPPET(cudnnCreate)
{
    CHECK(CALL(int, cudnnDestroy, (P), (dnn_handle())) == 0);
}

SNIPPET(cudnnDestroy)
{
    CHECK(CALL(int, cudnnDestroy, (P), (dnn_handle())) == 0);
}

SNIPPET(cudnnSetStream)
{
    P h = dnn_handle();
    CHECK(CALL(int, cudnnSetStream, (P, P), (h, (P)1)) == 0);
    CHECK(CALL(int, cudnnSetStream, (P, P), (NULL, (P)1)) != 0);
    CALL(int, cudnnDestroy, (P), (h));
}

SNIPPET(cudnnGetStream)
{
    P h = dnn_handle(), stream = (P)5;
    CHECK(CALL(int, cudnnGetStream, (P, P *), (h, &stream)) == 0 && !stream);
    CALL(int, cudnnSetStream, (P, P), (h, (P)2));
    CHECK(CALL(int, cudnnGetStream, (P, P *), (h, &stream)) == 0 && stream == (P)2);
    CALL(int, cudnnDestroy, (P), (h));
}

static void check_callback(void)
{
    unsigned mask = 0;
    P data = NULL, function = NULL;
    CHECK(CALL(int, cudnnSetCallback, (unsigned, P, P), (7, (P)3, (P)4)) == 0);
    CHECK(CALL(int, cudnnGetCallback, (unsigned *, P *, P *), (&mask, &data, &function)) == 0);
    CHECK(mask == 7 && data == (P)3 && function == (P)4);
    CALL(int, cudnnSetCallback, (unsigned, P, P), (0, NULL, NULL));
}

SNIPPET(cudnnSetCallback)
{
    check_callback();
}
SNIPPET(cudnnGetCallback)
{
    check_callback();
}
