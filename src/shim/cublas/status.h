/*
 * The status codes of cuBLAS and cuBLASLt, and their names. Read-only; any thread.
 */
#ifndef PLM_CUBLAS_STATUS_H
#define PLM_CUBLAS_STATUS_H

enum plm_cublas_status {
    PLM_CUBLAS_SUCCESS = 0,
    PLM_CUBLAS_NOT_INITIALIZED = 1,
    PLM_CUBLAS_ALLOC_FAILED = 3,
    PLM_CUBLAS_INVALID_VALUE = 7,
    PLM_CUBLAS_MAPPING_ERROR = 11,
    PLM_CUBLAS_EXECUTION_FAILED = 13,
    PLM_CUBLAS_NOT_SUPPORTED = 15,
};

/* Never NULL. */
const char *plm_cublas_status_name(int status);
const char *plm_cublas_status_text(int status);

#endif
