/*
 * Outputs that the symbol tables write, as NVIDIA's documentation has them: which parameter it is, how wide its type is, and what
 * it holds. Written apart from the tables, in the terms of the pages that each group names, so that a wrong row fails here. A value
 * is a documented default or constant, or what the documented meaning is for a card on which nothing runs and nothing is
 * computed. Where neither tells, there is no row, and the call is counted as accepted.
 *
 * Only integer and pointer parameters are counted, from 1. Rows of one symbol follow each other.
 */
#include "snippet.h"

#define INT(name, parameter, is, value)  {name, parameter, sizeof(int), is, value}
#define UINT(name, parameter, is, value) {name, parameter, sizeof(unsigned), is, value}
#define ULL(name, parameter, is, value)  {name, parameter, sizeof(unsigned long long), is, value}
#define SIZE(name, parameter, is, value) {name, parameter, sizeof(size_t), is, value}
#define REAL(name, parameter, is, value) {name, parameter, sizeof(double), is, value} /* 0.0 is all zeros */
#define POINTER(name, parameter)         {name, parameter, sizeof(void *), SNIPPET_IS, 0}
#define HANDLE(name, parameter)          {name, parameter, sizeof(void *), SNIPPET_NEW, 0}

/* The same for the four types of a routine: S, D, C, Z. */
#define EACH_TYPE(before, after, parameter, value)                                                            \
    INT(before "S" after, parameter, SNIPPET_IS, value), INT(before "D" after, parameter, SNIPPET_IS, value), \
        INT(before "C" after, parameter, SNIPPET_IS, value), INT(before "Z" after, parameter, SNIPPET_IS, value)

/* cuSOLVER, cusolverDn<t1><t2>gesv(): the thirteenth parameter is niter, number of iterations; one that converges at
   once has made one. All pairs of types of that page. */
#define REFINED(routine, pair) INT("cusolverDn" pair routine, 13, SNIPPET_LEAST, 1)
#define EACH_PAIR(routine)                                                                              \
    REFINED(routine, "ZZ"), REFINED(routine, "ZC"), REFINED(routine, "ZK"), REFINED(routine, "ZE"),     \
        REFINED(routine, "ZY"), REFINED(routine, "CC"), REFINED(routine, "CK"), REFINED(routine, "CE"), \
        REFINED(routine, "CY"), REFINED(routine, "DD"), REFINED(routine, "DS"), REFINED(routine, "DH"), \
        REFINED(routine, "DB"), REFINED(routine, "DX"), REFINED(routine, "SS"), REFINED(routine, "SH"), \
        REFINED(routine, "SB"), REFINED(routine, "SX")

static const struct snippet_fact cublas[] = {
    /* docs.nvidia.com/cuda/cublas: info = 0: the parameters passed to the function are valid */
    EACH_TYPE("cublas", "getrsBatched", 10, 0),
    EACH_TYPE("cublas", "geqrfBatched", 7, 0),
    EACH_TYPE("cublas", "gelsBatched", 10, 0),
    {0},
};

static const struct snippet_fact cublaslt[] = {HANDLE("cublasLtCreate", 1), {0}};

/* docs.nvidia.com/cuda/cuda-driver-api */
static const struct snippet_fact cuda[] = {
    /* C programming guide, technical specifications: 2^28 elements of linear memory for the cards of today */
    SIZE("cuDeviceGetTexture1DLinearMaxWidth", 1, SNIPPET_IS, 1ull << 28),
    INT("cuDeviceGetExecAffinitySupport", 1, SNIPPET_MOST, 1), /* 1 if ... supported; 0 if not */
    HANDLE("cuDeviceRegisterAsyncNotification", 4),
    INT("cuCtxGetSharedMemConfig", 1, SNIPPET_IS, 1), /* CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE */
    INT("cuModuleGetLoadingMode", 1, SNIPPET_IS, 2), /* CU_MODULE_LAZY_LOADING, the default since 12.2 */
    INT("cuFuncIsLoaded", 1, SNIPPET_IS, 1), /* CU_FUNCTION_LOADING_STATE_LOADED */
    INT("cuMemPoolGetAccess", 1, SNIPPET_IS, 3), /* CU_MEM_ACCESS_FLAGS_PROT_READWRITE */
    HANDLE("cuTexObjectCreate", 1),
    HANDLE("cuSurfObjectCreate", 1),
    ULL("cuDeviceGetGraphMemAttribute", 3, SNIPPET_IS, 0), /* cuuint64_t; no graph has allocated */
    HANDLE("cuLogsRegisterCallback", 3),
    {0},
};

/* docs.nvidia.com/cuda/cuda-runtime-api */
static const struct snippet_fact cudart[] = {
    HANDLE("cudaGraphConditionalHandleCreate", 1),
    HANDLE("cudaGraphConditionalHandleCreate_v2", 1),
    ULL("cudaGraphExecGetFlags", 2, SNIPPET_IS, 0), /* made without flags */
    UINT("cudaGraphNodeGetEnabled", 3, SNIPPET_IS, 1), /* nodes are enabled by default */
    HANDLE("cudaUserObjectCreate", 1),
    SIZE("cudaDeviceGetTexture1DLinearMaxWidth", 1, SNIPPET_IS, 1ull << 28),
    INT("cudaDeviceGetCacheConfig", 1, SNIPPET_IS, 0), /* cudaFuncCachePreferNone */
    INT("cudaThreadGetCacheConfig", 1, SNIPPET_IS, 0), /* identical to cudaDeviceGetCacheConfig() */
    /* "can be either cudaSharedMemBankSizeFourByte or cudaSharedMemBankSizeEightByte": 1 or 2, not the default, 0 */
    INT("cudaDeviceGetSharedMemConfig", 1, SNIPPET_IS, 1),
    {0},
};

/* docs.nvidia.com/deeplearning/cudnn, API of the graph, ops, cnn and adv libraries */
static const struct snippet_fact cudnn[] = {
    INT("cudnnQueryRuntimeError", 2, SNIPPET_IS, 0), /* CUDNN_STATUS_SUCCESS */
    /* the sum of all algorithms plus the sum of all algorithms with Tensor Core operations: at least the enumeration */
    INT("cudnnGetConvolutionForwardAlgorithmMaxCount", 2, SNIPPET_LEAST, 8),
    INT("cudnnGetConvolutionBackwardDataAlgorithmMaxCount", 2, SNIPPET_LEAST, 6),
    INT("cudnnGetConvolutionBackwardFilterAlgorithmMaxCount", 2, SNIPPET_LEAST, 7),
    HANDLE("cudnnCreateSpatialTransformerDescriptor", 1),
    HANDLE("cudnnCreateFusedOpsConstParamPack", 1),
    HANDLE("cudnnCreateFusedOpsVariantParamPack", 1),
    HANDLE("cudnnCreateFusedOpsPlan", 1),
    {0},
};

/* docs.nvidia.com/cupti */
static const struct snippet_fact cupti[] = {
    SIZE("cuptiActivityGetNumDroppedRecords", 3, SNIPPET_IS, 0), /* none is made, so none is lost */
    HANDLE("cuptiSubscribe", 1),
    HANDLE("cuptiSubscribe_v2", 1),
    UINT("cuptiGetCallbackState", 1, SNIPPET_IS, 0), /* zero if disabled: none was enabled */
    INT("cuptiGetThreadIdType", 1, SNIPPET_IS, 0), /* CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT */
    INT("cuptiDeviceSupported", 2, SNIPPET_IS, 1),
    INT("cuptiComputeCapabilitySupported", 3, SNIPPET_IS, 1),
    INT("cuptiDeviceVirtualizationMode", 2, SNIPPET_IS, 0), /* CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE */
    {0},
};

static const struct snippet_fact curand[] = {HANDLE("curandCreateGenerator", 1), {0}};

/* docs.nvidia.com/cuda/cusolver */
static const struct snippet_fact cusolver[] = {
    HANDLE("cusolverDnCreateParams", 1),
    HANDLE("cusolverDnCreateSyevjInfo", 1),
    REAL("cusolverDnXsyevjGetResidual", 3, SNIPPET_IS, 0),
    INT("cusolverDnXsyevjGetSweeps", 3, SNIPPET_LEAST, 1), /* number of executed sweeps */
    HANDLE("cusolverDnCreateGesvdjInfo", 1),
    REAL("cusolverDnXgesvdjGetResidual", 3, SNIPPET_IS, 0),
    INT("cusolverDnXgesvdjGetSweeps", 3, SNIPPET_LEAST, 1),
    HANDLE("cusolverDnIRSInfosCreate", 1),
    INT("cusolverDnIRSInfosGetMaxIters", 2, SNIPPET_IS, 50), /* the default value is 50 */
    INT("cusolverDnIRSInfosGetNiters", 2, SNIPPET_LEAST, 1), /* negative: it fell back to full precision */
    INT("cusolverDnIRSInfosGetOuterNiters", 2, SNIPPET_LEAST, 1),
    EACH_PAIR("gesv"),
    EACH_PAIR("gels"),
    INT("cusolverDnIRSXgesv", 14, SNIPPET_LEAST, 1),
    INT("cusolverDnIRSXgels", 15, SNIPPET_LEAST, 1),
    REAL("cusolverDnXgesvdp", 24, SNIPPET_IS, 0), /* h_err_sigma, of the host */
    HANDLE("cusolverSpCreateCsrcholInfo", 1),
    HANDLE("cusolverSpCreateCsrcholInfoHost", 1),
    HANDLE("cusolverSpCreateCsrluInfoHost", 1),
    HANDLE("cusolverSpCreateCsrqrInfo", 1),
    HANDLE("cusolverSpCreateCsrqrInfoHost", 1),
    {0},
};

/* docs.nvidia.com/cuda/cusparse */
static const struct snippet_fact cusparse[] = {
    HANDLE("cusparseSpSV_createDescr", 1),   HANDLE("cusparseSpSM_createDescr", 1),
    HANDLE("cusparseCreateBsrsv2Info", 1),   HANDLE("cusparseCreateBsrsm2Info", 1),
    HANDLE("cusparseCreateBsric02Info", 1),  HANDLE("cusparseCreateBsrilu02Info", 1),
    HANDLE("cusparseCreateCsric02Info", 1),  HANDLE("cusparseCreateCsrilu02Info", 1),
    HANDLE("cusparseCreateCsru2csrInfo", 1), HANDLE("cusparseCreateColorInfo", 1),
    HANDLE("cusparseCreatePruneInfo", 1),    {0},
};

/* docs.nvidia.com/deeplearning/nccl */
static const struct snippet_fact nccl[] = {
    INT("ncclCommGetAsyncError", 2, SNIPPET_IS, 0), /* ncclSuccess */
    HANDLE("ncclCommRegister", 4),
    {0},
};

/* docs.nvidia.com/cuda/nvjpeg */
static const struct snippet_fact nvjpeg[] = {
    UINT("nvjpegGetHardwareDecoderInfo", 2, SNIPPET_IS, 0), /* 0 if there is no hardware decoder */
    UINT("nvjpegGetHardwareDecoderInfo", 3, SNIPPET_IS, 0),
    UINT("nvjpegGetHardwareEncoderInfo", 2, SNIPPET_IS, 0),
    HANDLE("nvjpegBufferDeviceCreate", 3),
    HANDLE("nvjpegBufferDeviceCreateV2", 3),
    HANDLE("nvjpegBufferPinnedCreate", 3),
    HANDLE("nvjpegBufferPinnedCreateV2", 3),
    SIZE("nvjpegBufferDeviceRetrieve", 2, SNIPPET_IS, 0), /* nothing was decoded into it */
    POINTER("nvjpegBufferDeviceRetrieve", 3),
    SIZE("nvjpegBufferPinnedRetrieve", 2, SNIPPET_IS, 0),
    POINTER("nvjpegBufferPinnedRetrieve", 3),
    INT("nvjpegJpegStreamGetExifOrientation", 2, SNIPPET_IS, 0), /* NVJPEG_ORIENTATION_UNKNOWN */
    HANDLE("nvjpegJpegStateCreate", 2),
    HANDLE("nvjpegDecoderCreate", 3),
    HANDLE("nvjpegDecoderStateCreate", 3),
    HANDLE("nvjpegDecodeParamsCreate", 2),
    INT("nvjpegDecoderJpegSupported", 4, SNIPPET_IS, 0), /* 0 indicates supported, non zero value ... not */
    INT("nvjpegDecodeBatchedSupported", 3, SNIPPET_IS, 0),
    INT("nvjpegDecodeBatchedSupportedEx", 4, SNIPPET_IS, 0),
    HANDLE("nvjpegEncoderParamsCreate", 2),
    {0},
};

/* docs.nvidia.com/deploy/nvml-api */
static const struct snippet_fact nvml[] = {
    /* NVML_CUDA_DRIVER_VERSION_MAJOR(v) is v / 1000: the newest generation that there is a shim for, or a later one */
    INT("nvmlSystemGetCudaDriverVersion", 1, SNIPPET_LEAST, 13000),
    INT("nvmlSystemGetCudaDriverVersion_v2", 1, SNIPPET_LEAST, 13000),
    UINT("nvmlSystemGetHicVersion", 1, SNIPPET_IS, 0),
    UINT("nvmlGetExcludedDeviceCount", 1, SNIPPET_IS, 0),
    INT("nvmlDeviceGetP2PStatus", 4, SNIPPET_IS, 5), /* NVML_P2P_STATUS_NOT_SUPPORTED */
    INT("nvmlDeviceGetAccountingMode", 2, SNIPPET_IS, 0), /* NVML_FEATURE_DISABLED */
    UINT("nvmlDeviceGetGraphicsRunningProcesses", 2, SNIPPET_IS, 0),
    UINT("nvmlDeviceGetGraphicsRunningProcesses_v2", 2, SNIPPET_IS, 0),
    UINT("nvmlDeviceGetGraphicsRunningProcesses_v3", 2, SNIPPET_IS, 0),
    UINT("nvmlDeviceGetMPSComputeRunningProcesses", 2, SNIPPET_IS, 0),
    UINT("nvmlDeviceGetMPSComputeRunningProcesses_v2", 2, SNIPPET_IS, 0),
    UINT("nvmlDeviceGetMPSComputeRunningProcesses_v3", 2, SNIPPET_IS, 0),
    ULL("nvmlDeviceGetCurrentClocksEventReasons", 2, SNIPPET_IS, 1), /* nvmlClocksEventReasonGpuIdle */
    ULL("nvmlDeviceGetCurrentClocksThrottleReasons", 2, SNIPPET_IS, 1),
    UINT("nvmlDeviceGetFanSpeed", 2, SNIPPET_MOST, 100), /* percent */
    UINT("nvmlDeviceGetFanSpeed_v2", 3, SNIPPET_MOST, 100),
    UINT("nvmlDeviceGetNumFans", 2, SNIPPET_LEAST, 0),
    INT("nvmlDeviceGetPerformanceState", 2, SNIPPET_MOST, 15), /* NVML_PSTATE_0 to NVML_PSTATE_15 */
    INT("nvmlDeviceGetPowerState", 2, SNIPPET_MOST, 15),
    INT("nvmlDeviceGetPowerManagementMode", 2, SNIPPET_IS, 1), /* NVML_FEATURE_ENABLED */
    ULL("nvmlDeviceGetSupportedClocksEventReasons", 2, SNIPPET_MOST, 0x1ff), /* nine bits are defined */
    ULL("nvmlDeviceGetSupportedClocksThrottleReasons", 2, SNIPPET_MOST, 0x1ff),
    ULL("nvmlDeviceGetSupportedEventTypes", 2, SNIPPET_IS, 0), /* nvmlEventTypeNone */
    HANDLE("nvmlEventSetCreate", 1),
    UINT("nvmlUnitGetCount", 1, SNIPPET_IS, 0),
    INT("nvmlDeviceGetBusType", 2, SNIPPET_IS, 2), /* NVML_BUS_TYPE_PCIE */
    INT("nvmlDeviceGetComputeMode", 2, SNIPPET_IS, 0), /* NVML_COMPUTEMODE_DEFAULT */
    UINT("nvmlDeviceGetDecoderUtilization", 2, SNIPPET_MOST, 100),
    UINT("nvmlDeviceGetDecoderUtilization", 3, SNIPPET_LEAST, 1), /* microseconds between samples */
    UINT("nvmlDeviceGetEncoderUtilization", 2, SNIPPET_MOST, 100),
    UINT("nvmlDeviceGetEncoderUtilization", 3, SNIPPET_LEAST, 1),
    UINT("nvmlDeviceGetJpgUtilization", 2, SNIPPET_MOST, 100),
    UINT("nvmlDeviceGetJpgUtilization", 3, SNIPPET_LEAST, 1),
    UINT("nvmlDeviceGetOfaUtilization", 2, SNIPPET_MOST, 100),
    UINT("nvmlDeviceGetOfaUtilization", 3, SNIPPET_LEAST, 1),
    INT("nvmlDeviceGetDisplayActive", 2, SNIPPET_IS, 0), /* NVML_FEATURE_DISABLED */
    INT("nvmlDeviceGetDisplayMode", 2, SNIPPET_IS, 0),
    UINT("nvmlDeviceGetMultiGpuBoard", 2, SNIPPET_IS, 0), /* 0 ... not on a multi GPU board */
    UINT("nvmlDeviceGetPcieReplayCounter", 2, SNIPPET_IS, 0),
    UINT("nvmlDeviceGetPcieThroughput", 3, SNIPPET_IS, 0),
    INT("nvmlDeviceGetPersistenceMode", 2, SNIPPET_MOST, 1), /* an nvmlEnableState_t */
    ULL("nvmlDeviceGetTotalEnergyConsumption", 2, SNIPPET_LEAST, 0),
    ULL("nvmlDeviceGetUtilizationRates", 2, SNIPPET_IS, 0), /* nvmlUtilization_t: two unsigned, percent */
    INT("nvmlDeviceGetVirtualizationMode", 2, SNIPPET_IS, 0), /* NVML_GPU_VIRTUALIZATION_MODE_NONE */
    {0},
};

/* docs.nvidia.com/cuda/nvrtc: 0 if the program was not compiled with the option that makes it */
static const struct snippet_fact nvrtc[] = {
    SIZE("nvrtcGetLTOIRSize", 2, SNIPPET_IS, 0),
    SIZE("nvrtcGetOptiXIRSize", 2, SNIPPET_IS, 0),
    {0},
};

/* docs.nvidia.com/nvshmem: NVSHMEM_THREAD_SINGLE is 0; it follows OpenSHMEM 1.3 */
static const struct snippet_fact nvshmem[] = {
    INT("nvshmem_query_thread", 1, SNIPPET_IS, 0),
    INT("nvshmem_info_get_version", 1, SNIPPET_IS, 1),
    INT("nvshmem_info_get_version", 2, SNIPPET_IS, 3),
    {0},
};

/* The status for a null pointer. NVML's pages name NVML_ERROR_INVALID_ARGUMENT for it, function by function. Of CUPTI and nvJPEG it
   rests on their lists of result codes only, in which an invalid parameter has but one. */
const struct snippet_documented snippet_documented[] = {
    {"cublas", cublas, 0},     {"cublaslt", cublaslt, 0}, {"cuda", cuda, 0},     {"cudart", cudart, 0},
    {"cudnn", cudnn, 0},       {"cupti", cupti, 1},       {"curand", curand, 0}, {"cusolver", cusolver, 0},
    {"cusparse", cusparse, 0}, {"nccl", nccl, 0},         {"nvjpeg", nvjpeg, 2}, {"nvml", nvml, 2},
    {"nvrtc", nvrtc, 0},       {"nvshmem", nvshmem, 0},   {NULL, NULL, 0},
};
