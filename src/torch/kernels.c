#include "torch/kernels.h"

#include <string.h>

static const struct plm_torch_kernel kernels[] = {
    {"vectorized_elementwise_kernel", PLM_TORCH_ELEMENTS, 2001, "ATen/native/cuda/CUDALoops.cuh"},
    {"unrolled_elementwise_kernel", PLM_TORCH_ELEMENTS, 2001, "ATen/native/cuda/CUDALoops.cuh"},
    {"unrolled_elementwise_kernel_for_multi_outputs", PLM_TORCH_ELEMENTS, 2001, "ATen/native/cuda/Loops.cuh"},
    {"elementwise_kernel", PLM_TORCH_ELEMENTS, 2001, "ATen/native/cuda/CUDALoops.cuh"},
    {"reduce_kernel", PLM_TORCH_REDUCTION, 2001, "ATen/native/cuda/Reduce.cuh"},
    {"multi_tensor_apply_kernel", PLM_TORCH_LISTS, 2001, "ATen/native/cuda/MultiTensorApply.cuh"},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* The structure grew with the space for arguments, of which CUDA 13 makes 32 KiB certain. By the headers of their wheels
   2.11 for CUDA 13 has the small one, 2.12 the large. */
static const struct plm_torch_lists lists[] = {
    {2012, 2015, 13000, {770, 448, 336, 252, 210}, {672, 448, 336, 252, 210}, 2240, 2},
    {0, 2015, 0, {110, 64, 48, 36, 30}, {96, 64, 48, 36, 30}, 320, 1},
};

const struct plm_torch_kernel *plm_torch_kernel(size_t index)
{
    return index < KERNELS ? &kernels[index] : NULL;
}

const struct plm_torch_kernel *plm_torch_kernel_find(const char *name, size_t length)
{
    for (size_t i = 0; i < KERNELS; i++)
        if (strlen(kernels[i].name) == length && !memcmp(kernels[i].name, name, length))
            return &kernels[i];
    return NULL;
}

const struct plm_torch_lists *plm_torch_lists(unsigned release, int cuda)
{
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (release >= lists[i].since && release <= lists[i].until && cuda >= lists[i].cuda)
            return &lists[i];
    return NULL;
}
