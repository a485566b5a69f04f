/*
 * What the files of the driver shim share: its error codes, the contexts, and how the device's
 * answers become the driver's.
 *
 * Handles: a context is a struct plm_cu_context; streams, events, graphs and pools are the device's own
 * objects; a module or library is a struct plm_module, a function or kernel a struct plm_kernel, so
 * that the runtime's are interchangeable with them; an array is a struct plm_cu_array.
 *
 * Any thread. Functions return 0 or an enum plm_cu_error, positive, unless they say otherwise.
 */
#ifndef PLM_CUDA_DRIVER_H
#define PLM_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "device/stream.h"
#include "device/shim.h"

enum plm_cu_error {
    PLM_CU_OK = 0,
    PLM_CU_INVALID_VALUE = 1,
    PLM_CU_OUT_OF_MEMORY = 2,
    PLM_CU_NO_DEVICE = 100,
    PLM_CU_INVALID_DEVICE = 101,
    PLM_CU_INVALID_IMAGE = 200,
    PLM_CU_INVALID_CONTEXT = 201,
    PLM_CU_NO_BINARY = 209,
    PLM_CU_UNSUPPORTED_LIMIT = 215,
    PLM_CU_FILE_NOT_FOUND = 301,
    PLM_CU_OPERATING_SYSTEM = 304,
    PLM_CU_INVALID_HANDLE = 400,
    PLM_CU_ILLEGAL_STATE = 401,
    PLM_CU_NOT_FOUND = 500,
    PLM_CU_PEER_ALREADY_ENABLED = 704,
    PLM_CU_PEER_NOT_ENABLED = 705,
    PLM_CU_HOST_ALREADY_REGISTERED = 712,
    PLM_CU_HOST_NOT_REGISTERED = 713,
    PLM_CU_COOPERATIVE_TOO_LARGE = 720,
    PLM_CU_NOT_SUPPORTED = 801,
    PLM_CU_CAPTURE_UNSUPPORTED = 900,
    PLM_CU_CAPTURE_INVALIDATED = 901,
    PLM_CU_CAPTURE_UNJOINED = 904,
    PLM_CU_CAPTURE_ISOLATION = 905,
    PLM_CU_CAPTURE_IMPLICIT = 906,
    PLM_CU_CAPTURE_WRONG_THREAD = 908,
    PLM_CU_INVALID_CLUSTER_SIZE = 912,
};

enum { PLM_CU_DRIVER_VERSION = 13020 };

/* ---- error.c: the device's answers in the driver's words ---- */
int plm_cu_from_device(int status);
int plm_cu_from_stream(int status);
int plm_cu_from_module(int status);
/* Counts a call that only this argument made impossible, and answers "not supported". */
int plm_cu_refuse(const struct plm_symbol *symbol);

/* ---- context.c ---- */
enum { PLM_CU_LIMITS = 10 };

struct plm_cu_context {
    int device;
    bool primary;
    uint64_t id;
    /* Any thread that it is current to sets these. */
    _Atomic bool alive;
    _Atomic unsigned flags;
    _Atomic int cache_config;
    _Atomic uint64_t limits[PLM_CU_LIMITS];
    _Atomic bool limit_set[PLM_CU_LIMITS];
    _Atomic uint64_t peers;    /* bit per device whose memory this context was let into */
    struct plm_cu_context *next;  /* those made by the application */
};

struct plm_cu_context *plm_cu_primary(int device);
/* The context of the calling thread, NULL if none. */
struct plm_cu_context *plm_cu_current(void);
bool plm_cu_context_valid(const struct plm_cu_context *context);
/* The device of the calling thread's context; PLM_CU_INVALID_CONTEXT if it has none. */
int plm_cu_device(int *device);
/* The same, for calls that wait for the device or allocate: fails during a capture that forbids it. */
int plm_cu_blocking(int *device);
bool plm_cu_device_valid(int device);

/* ---- stream.c ---- */
/* Something goes into a stream. *run is false while it captures: then it must not happen now. */
int plm_cu_enqueue(struct plm_stream *stream, enum plm_node_type type, bool *run);

/* ---- array.c ---- */
struct plm_cu_array;
/* Where its bytes are, and the length of a row and the number of rows of a slice. */
int plm_cu_array_place(const struct plm_cu_array *array, uint64_t *address, size_t *pitch, size_t *rows);

/* ---- identity.c ---- */
struct plm_cu_uuid {
    unsigned char bytes[16];
};
/* Where a device sits on the bus: domain 0, one bus each, slot 0. */
int plm_cu_bus_of(int device);

#endif
