/* For tests/groups/extension: two kernels, a constant, and what frameworks ask of kernels before they launch them. */
__constant__ float offset;
__device__ float total;
__global__ void scale_kernel(float *x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * by + offset;
}
template <typename T> __global__ void fill_kernel(T *x, T value, int n)
{
    extern __shared__ char scratch[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value + scratch[0] * 0;
}
extern "C" int scale(float *x, float by, int n)
{
    float zero = 0;
    cudaFuncAttributes attributes;
    int blocks = 0;
    cudaError_t status = cudaMemcpyToSymbol(offset, &zero, sizeof zero);
    if (status == cudaSuccess)
        status = cudaFuncGetAttributes(&attributes, scale_kernel);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale_kernel, 256, 0);
    if (status != cudaSuccess || blocks < 1)
        return 100 + status;
    scale_kernel<<<(n + 255) / 256, 256>>>(x, by, n);
    fill_kernel<double><<<4, 128, 64>>>((double *)x, 1.0, 16);
    return cudaGetLastError();
}
