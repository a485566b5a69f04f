/* The status codes of nvJPEG that this shim returns. */
#ifndef PLM_NVJPEG_STATUS_H
#define PLM_NVJPEG_STATUS_H

enum plm_nvjpeg_status {
    PLM_NVJPEG_SUCCESS = 0,
    PLM_NVJPEG_INVALID_PARAMETER = 2,
    PLM_NVJPEG_BAD_JPEG = 3,
    PLM_NVJPEG_ALLOCATOR_FAILURE = 5,
    PLM_NVJPEG_ARCH_MISMATCH = 7,
    PLM_NVJPEG_NOT_SUPPORTED = 9,
};

#endif
