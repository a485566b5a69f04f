/*
 * What the files of the runtime shim share: its error codes and how the device's answers become the
 * runtime's. Any thread; the last error is per thread, as documented.
 */
#ifndef PLM_CUDART_RUNTIME_H
#define PLM_CUDART_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/module.h"
#include "device/stream.h"
#include "device/shim.h"

enum plm_rt_error {
    PLM_RT_OK = 0,
    PLM_RT_INVALID_VALUE = 1,
    PLM_RT_MEMORY_ALLOCATION = 2,
    PLM_RT_INITIALIZATION = 3,
    PLM_RT_INVALID_CONFIGURATION = 9,
    PLM_RT_INVALID_SYMBOL = 13,
    PLM_RT_INVALID_DEVICE_FUNCTION = 98,
    PLM_RT_NO_DEVICE = 100,
    PLM_RT_INVALID_DEVICE = 101,
    PLM_RT_DEVICE_UNINITIALIZED = 201,
    PLM_RT_NO_KERNEL_IMAGE = 209,
    PLM_RT_INVALID_HANDLE = 400,
    PLM_RT_ILLEGAL_STATE = 401,
    PLM_RT_SYMBOL_NOT_FOUND = 500,
    PLM_RT_PEER_ALREADY_ENABLED = 704,
    PLM_RT_PEER_NOT_ENABLED = 705,
    PLM_RT_HOST_ALREADY_REGISTERED = 712,
    PLM_RT_HOST_NOT_REGISTERED = 713,
    PLM_RT_COOPERATIVE_TOO_LARGE = 720,
    PLM_RT_NOT_SUPPORTED = 801,
    PLM_RT_CAPTURE_UNSUPPORTED = 900,
    PLM_RT_CAPTURE_INVALIDATED = 901,
    PLM_RT_CAPTURE_UNJOINED = 904,
    PLM_RT_CAPTURE_ISOLATION = 905,
    PLM_RT_CAPTURE_IMPLICIT = 906,
    PLM_RT_CAPTURE_WRONG_THREAD = 908,
};

/* Three unsigned numbers, passed by value in two registers. */
struct plm_dim3 {
    unsigned x, y, z;
};

/* ---- error.c: each returns the runtime's code and keeps it as the thread's last error ---- */
int plm_rt(int code);
int plm_rt_device(int status); /* enum plm_dev_status */
int plm_rt_stream(int status); /* enum plm_stream_status */
/* The current device, for calls that wait or allocate: fails without a device or during a capture. */
int plm_rt_blocking(int *device);

/* ---- driver.c: an entry point of the driver shim beside this library ---- */
void *plm_rt_driver(const char *name);

/* ---- registration.c ---- */
/* The kernel behind a host function, a kernel handle or a driver function; NULL if unknown. */
struct plm_kernel *plm_rt_kernel(const void *function);
/* Device memory of a __device__ variable, made on first use. */
int plm_rt_symbol(const void *symbol, uint64_t *address, size_t *size);

/* ---- launch.c ---- */
int plm_rt_launch(const void *function, struct plm_dim3 grid, struct plm_dim3 block, void **arguments, size_t shared,
                  struct plm_stream *stream);

#endif
