/*
 * cuFFT: the size of a transform and of the memory it needs to work in. Any thread.
 * Functions return 0 or a cufftResult.
 */
#ifndef PLM_CUFFT_PLAN_H
#define PLM_CUFFT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "stack/rows.h"

enum plm_cufft_result {
    PLM_CUFFT_SUCCESS = 0,
    PLM_CUFFT_INVALID_PLAN = 1,
    PLM_CUFFT_ALLOC_FAILED = 2,
    PLM_CUFFT_INVALID_TYPE = 3,
    PLM_CUFFT_INVALID_VALUE = 4,
    PLM_CUFFT_INVALID_SIZE = 8,
};

#define PLM_CUFFT_RANK_MAX 3

struct plm_transform {
    int rank;
    int64_t n[PLM_CUFFT_RANK_MAX]; /* slowest dimension first */
    int64_t batch;
    size_t complex_bytes;          /* of one complex number: 4, 8 or 16 */
    int half;                      /* one side is real: the last dimension has n/2+1 complex numbers */
    enum plm_fft_kind kind;
};

/* From a cufftType, or from the cudaDataTypes of the two sides. */
int plm_transform_of_type(struct plm_transform *out, int type);
int plm_transform_of_data(struct plm_transform *out, int input, int output);
/* Checks rank, lengths and batch. */
int plm_transform_shape(struct plm_transform *out, int rank, const int64_t *n, int64_t batch);
/* What the stack file in use says, else an estimate. */
int plm_transform_work(const struct plm_transform *transform, size_t *bytes);
/* What a stack file knows it by. */
struct plm_fft_shape plm_transform_row(const struct plm_transform *transform);

#endif
