/*
 * What the program asks the card to do, for the record: launches, library calls, copies, synchronizations, and
 * what memory it hands to libraries. docs/record.md has the events. The shims call these once a call is
 * accepted.
 *
 * Any thread; no lock and no allocation but for a kernel's first launch. With PLIMSOLL_DETAIL=low or off only tags are
 * recorded, without a record nothing. Never fails. Counting a launch (plm_launch) is the caller's.
 *
 * `run` is false if the stream captures: the event then names the graph that it became a part of.
 */
#ifndef PLM_DEVICE_CALLS_H
#define PLM_DEVICE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/format.h"

struct plm_kernel;
struct plm_stream;

/* Whether calls are recorded at all; for those who would have to look for what they record. */
bool plm_call_wanted(void);

struct plm_call_shape {
    uint32_t grid[3], block[3];
    uint32_t shared; /* dynamic */
};
/* `arguments` is the launch's array of pointers to arguments; it may be NULL. */
void plm_call_kernel(struct plm_kernel *kernel, const struct plm_call_shape *shape, void *const *arguments,
                     struct plm_stream *stream, bool run);
/* A library's routine whose kernels are not known. `name` is a constant. */
void plm_call_routine(const char *name, struct plm_stream *stream, bool run);
void plm_call_graph(uint32_t graph, uint64_t kernels, struct plm_stream *stream, bool run);

struct plm_call_gemm {
    int64_t m, n, k, batch;
    int type_a, type_b, type_c, type_d; /* cudaDataType */
    int compute;                        /* cublasComputeType_t in effect */
    int transpose_a, transpose_b;       /* cublasOperation_t */
    enum plm_gemm_batch how;
    int epilogue;                       /* cublasLtEpilogue_t; 1: none */
};
void plm_call_gemm(const struct plm_call_gemm *gemm, struct plm_stream *stream, bool run);

enum { PLM_CALL_AXES = 3 };
struct plm_call_convolution {
    int op;                             /* 0 forward, 1 backward data, 2 backward filter */
    int type;                           /* cudnnDataType_t of x */
    bool channels_last, tf32;
    int axes;                           /* 1 to 3; the last ones of the arrays are used */
    int64_t n, c, k, groups;
    const int64_t *in, *out, *filter, *stride, *dilation, *pad; /* PLM_CALL_AXES each */
    uint64_t workspace;                 /* bytes */
    enum plm_conv_source source;        /* of that figure, */
    uint64_t most;                      /* and what it may be in truth; 0: it is exact */
};
void plm_call_convolution(const struct plm_call_convolution *convolution, struct plm_stream *stream, bool run);

struct plm_call_rnn {
    enum plm_rnn_call op;
    int cell, type, bias;               /* cudnnRNNMode_t, cudnnDataType_t, cudnnRNNBiasMode_t */
    int layers, directions;
    int64_t input, hidden, projection, steps, batch;
    int64_t rows;                       /* of all sequences together: batch x steps unless they are padded */
    uint64_t work, reserve;             /* bytes */
    bool dropout;                       /* between its layers */
};
void plm_call_rnn(const struct plm_call_rnn *rnn, struct plm_stream *stream, bool run);

struct plm_call_attention {
    enum plm_attention_call op;
    int type;                           /* cudnnDataType_t of the queries */
    int64_t batch, heads, heads_kv, query_steps, key_steps, head_size, value_size;
    uint64_t workspace;                 /* bytes */
};
void plm_call_attention(const struct plm_call_attention *attention, struct plm_stream *stream, bool run);

struct plm_call_collective {
    enum plm_collective kind;
    int type, op;                       /* ncclDataType_t; ncclRedOp_t, -1: does not reduce */
    int ranks, rank;
    int root;                           /* root or peer; -1: none */
    uint64_t count;                     /* as the call gives it: elements of one rank's contribution */
};
void plm_call_collective(const struct plm_call_collective *collective, struct plm_stream *stream, bool run);

/* Tells from the addresses where they are; tags what is copied to the device as input outside of the model. */
void plm_call_copy(const void *to, const void *from, uint64_t bytes, bool async, struct plm_stream *stream, bool run);
void plm_call_fill(const void *to, uint64_t bytes, bool async, struct plm_stream *stream, bool run);

/* `other`: the number of the stream that an event was recorded in; PLM_STREAM_UNKNOWN: none. */
void plm_call_sync(enum plm_sync what, struct plm_stream *stream, uint32_t other);

/* What the block that holds the address is for. Recorded at every level of detail. */
void plm_call_tag(const void *address, enum plm_category category);
/* A workspace, which is named again and again: one tag as long as the block lives. */
void plm_call_workspace(const void *address);
/* A number that the block at this address keeps as long as it lives, and no other block gets; 0 for address 0. It may change
   while the block lives, when many are asked about: then what depends on it is said once more. */
uint64_t plm_call_life(uint64_t address);
/* The block at this address is new: it has no tag. */
void plm_call_new_block(uint64_t address);

#endif
