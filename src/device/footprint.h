/*
 * What this process makes the card hold beside its allocations: which kernels were loaded, which libraries came to
 * life, what limits were set, how large its graphs are. It is counted here and judged by overhead.h; the record gets
 * the state of each device whenever it has grown noticeably, and at the end, so that a process that is killed has
 * told nearly all of it.
 *
 * Any thread. Cheap where it is called often: a kernel that is loaded already costs one load. Never fails.
 */
#ifndef PLM_FOOTPRINT_H
#define PLM_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/overhead.h"

struct plm_card;
struct plm_kernel;

/* A kernel is launched on the device: it is loaded with its first launch. */
void plm_footprint_kernel(int device, struct plm_kernel *kernel);

/* CUDA_MODULE_LOADING=EAGER: modules are loaded with the context. Whoever has them tells how large they are when the
   context of a device is made. */
bool plm_footprint_eager(void);
typedef uint64_t plm_footprint_modules(const struct plm_card *card, uint64_t *guessed); /* adds to *guessed */
void plm_footprint_registered(plm_footprint_modules *modules);

/* A library made a handle or a communicator on the device. */
void plm_footprint_library(int device, enum plm_overhead_library library);

/* The documented numbers of cudaLimit and CUlimit; others do not matter here. */
enum plm_footprint_limit { PLM_LIMIT_STACK, PLM_LIMIT_PRINTF, PLM_LIMIT_HEAP };
void plm_footprint_limit(int device, unsigned limit, uint64_t bytes);

/* Nodes of an executable graph that is made (positive) or destroyed (negative). */
void plm_footprint_graph(int device, int64_t nodes);

/* How certain the memory is that a library took by plm_mem_library: what it takes (or gives back, negative) at the
   least and at the most. */
void plm_footprint_range(int device, const char *library, int64_t low, int64_t high);

/* Memory of the card is asked for, so there is a context now. Calls the modules' function: the caller holds no lock. */
void plm_footprint_start(int device);
/* What a bounded card has less since then, as PLIMSOLL_CONTEXT says: "model" or bytes. 0 without it. Takes no lock. */
uint64_t plm_footprint_taken(int device);

/* The process ends: the last state of each device goes into the record. */
void plm_footprint_end(void);

#endif
