/*
 * What the files of the cuSOLVER shim share. Handles are small structs owned by the application through
 * create and destroy; a handle belongs to one thread at a time, as the real library demands. Entry
 * points return a cusolverStatus_t and never print.
 */
#ifndef PLM_SHIM_CUSOLVER_H
#define PLM_SHIM_CUSOLVER_H

#include "device/shim.h"

/* An entry point has the arguments its library documents, used here or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum plm_solver_status {
    SOLVER_OK = 0,
    SOLVER_NOT_INITIALIZED = 1,
    SOLVER_ALLOC_FAILED = 2,
    SOLVER_INVALID_VALUE = 3,
};

enum { SOLVER_NO_VECTORS = 0 };                          /* cusolverEigMode_t */
enum { SOLVER_RANGE_ALL = 1001, SOLVER_RANGE_INDEX = 1002 }; /* cusolverEigRange_t */

/* Names the entry point in the record as work on the device. */
#define SOLVER_LAUNCH(name)                                            \
    do {                                                               \
        static const struct plm_symbol symbol_ = {"cusolver", (name)}; \
        plm_call_launch(&symbol_);                                     \
    } while (0)

#endif
