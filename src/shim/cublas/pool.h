/*
 * The workspace that cuBLAS has of its own for each handle. Owned by the handle; one thread at a time.
 *
 * The documentation says that it is made with the handle. Published runs of PyTorch, which sets a workspace of its own
 * on each handle before it uses it, show next to nothing of that. So it is taken with the first product that needs it, or when
 * a handle is given a workspace of no bytes, and from the start it counts for the high end of what the job may take.
 */
#ifndef PLM_CUBLAS_POOL_H
#define PLM_CUBLAS_POOL_H

#include <stdint.h>

struct plm_card;

enum { PLM_CUBLAS_BUFFERS = 3 };

struct plm_cublas_pool {
    int device;
    uint64_t address[PLM_CUBLAS_BUFFERS]; /* 0: not taken */
    uint64_t bytes;
};

/* Its size by the card, or as CUBLAS_WORKSPACE_CONFIG says (`setting`, NULL: not set; of no bytes: as if not set). */
uint64_t plm_cublas_pool_bytes(const struct plm_card *card, const char *setting);

void plm_cublas_pool_make(int device, struct plm_cublas_pool *pool);
/* 0, or -1 if the card is full. Once. */
int plm_cublas_pool_take(struct plm_cublas_pool *pool);
void plm_cublas_pool_give(struct plm_cublas_pool *pool);

#endif
