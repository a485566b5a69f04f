/*
 * Stream-ordered memory pools (cudaMallocAsync). A pool takes memory from the card in units of 32 MiB
 * and keeps what is freed until it is trimmed, as with an unlimited release threshold, which PyTorch
 * sets. Modelled: the driver's placement inside a pool is not documented; best fit is used here. Any
 * thread. Returns 0 or enum plm_dev_status.
 */
#ifndef PLM_POOL_H
#define PLM_POOL_H

#include <stdint.h>

struct plm_pool;
struct plm_stream;

struct plm_pool *plm_pool_default(int device);
struct plm_pool *plm_pool_current(int device);
int plm_pool_set_current(int device, struct plm_pool *pool);
int plm_pool_create(int device, struct plm_pool **out);
int plm_pool_destroy(struct plm_pool *pool);
int plm_pool_alloc(struct plm_pool *pool, struct plm_stream *stream, uint64_t size, uint64_t *address);
int plm_pool_free(uint64_t address, struct plm_stream *stream);
int plm_pool_trim(struct plm_pool *pool, uint64_t keep);
/* Attribute numbers are those of cudaMemPoolAttr and CUmemPool_attribute. */
int plm_pool_attribute_get(struct plm_pool *pool, int attribute, void *value);
int plm_pool_attribute_set(struct plm_pool *pool, int attribute, const void *value);

#endif
