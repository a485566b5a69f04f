/*
 * The workspace that cuBLAS makes for itself with each handle. Owned by the handle; one thread at a time.
 */
#ifndef PLM_CUBLAS_POOL_H
#define PLM_CUBLAS_POOL_H

#include <stdint.h>

struct plm_card;

struct plm_cublas_pool {
    int device;
    uint64_t address, bytes;
};

/* Its size by the card, or as CUBLAS_WORKSPACE_CONFIG says (`setting`, NULL: not set). */
uint64_t plm_cublas_pool_bytes(const struct plm_card *card, const char *setting);

/* 0, or -1 if the card is full. */
int plm_cublas_pool_take(int device, struct plm_cublas_pool *pool);
void plm_cublas_pool_give(struct plm_cublas_pool *pool);

#endif
