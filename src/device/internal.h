/*
 * What the parts of the device tell each other. Not for the shims.
 */
#ifndef PLM_DEVICE_INTERNAL_H
#define PLM_DEVICE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"
#include "torch/facts.h"

/* space.c, memory.c, written.c */
bool plm_memory_init(int devices, uint64_t limit);
int plm_memory_device_of(uint64_t address); /* -1: not a device address */
uint64_t plm_memory_used(int device);
int plm_memory_pool_chunk(int device, uint64_t size, uint64_t *address);
bool plm_memory_backed(uint64_t address, uint64_t bytes);
/* The host wrote these backed bytes when `when` kernels had been launched. */
void plm_memory_written(uint64_t address, uint64_t bytes, uint64_t when);
/* Makes them zeros, which counts as written; what is zero already is not touched. */
void plm_memory_zero(uint64_t address, uint64_t bytes, uint64_t when);
/* True if the host wrote there when `since` kernels, or more, had been launched. */
bool plm_memory_fresh(uint64_t address, uint64_t bytes, uint64_t since);
/* A block is handed out anew: what was written into it before must not show. */
void plm_memory_recycle(uint64_t address, uint64_t bytes);

/* asked.c: the size that was asked for when the calling thread got a block of `block` bytes; 0: not known. Sizes are
   known from plm_asked_start() on, which PyTorch must have been loaded for. */
void plm_asked_start(void);
uint64_t plm_asked_take(uint64_t block);
uint32_t plm_asked_stack(void); /* the number of its Python stack; 0: not known. Once for a block */

/* block.c: allocated and reserved peak of each device since the last call. */
/* A GPU was chosen that is not simulated: the record notes its number. */
void plm_gpu_missing(int index);
void plm_device_block_step_peaks(uint64_t peaks[2 * PLM_DEVICES_MAX]);

/* capture.c: some stream of the process captures. */
bool plm_capture_active(void);

/* assume.c: what the user wants to be assumed of values that were not computed. */
void plm_assume_block(uint64_t address, uint64_t bytes); /* a block was handed out to the running operator */
bool plm_assume_is_all(uint64_t address);                /* it holds a result of aten::all */

/* device.c: the process leaves normally; closes its part of the record. Once. */
void plm_device_leave(void);

/* host.c */
struct plm_mem_info plm_mem_host_query(const void *pointer);
int plm_managed_free(uint64_t address);

/* loaded.c: looks at the libraries of the process until `look` returns other than 0; it calls nothing of ours. */
struct dl_phdr_info;
void plm_libraries_each(int (*look)(struct dl_phdr_info *, size_t, void *), void *data);

/* A handle of the library with this file name, if the process has loaded it; else NULL. */
void *plm_loaded(const char *file);
/* The function or variable of the loaded PyTorch that a row of src/torch/facts.c names; NULL if there is none. */
void *plm_device_torch_function(enum plm_torch_fact fact);
/* software.c: writes the versions into the record; plm_software() has done so. */
void plm_software_tell(void);
/* software.c: the release of the loaded PyTorch, see src/torch/release.h; 0 while none is loaded or it does not tell. */
unsigned plm_device_torch_release(void);

/* operator.c: the PyTorch operator that the calling thread is in, found on its stack; "" if none. */
const char *plm_operator_name(char *buffer, unsigned size);

#endif
