/*
 * The old NVTX library: ranges that a profiler would show. No profiler listens; what a program can
 * observe is the nesting of its ranges, which is kept for each thread, and that handles differ.
 */
#include "device/shim.h"

#define UNUSED __attribute__((unused))

enum { NO_RANGE = -1 }; /* nvtxRangePop without a push is a negative level */

/* Ranges pushed outside any domain, and inside one: all domains are counted together. */
static __thread int depth, domain_depth;
static uint64_t last_range;

static int range_push(int *level)
{
    return (*level)++;
}

static int pop(int *level)
{
    return *level ? --*level : NO_RANGE;
}

static uint64_t range(void)
{
    return __atomic_add_fetch(&last_range, 1, __ATOMIC_RELAXED);
}

PLM_API int nvtxRangePushA(UNUSED const char *message)
{
    return range_push(&depth);
}
PLM_API int nvtxRangePushW(UNUSED const void *message)
{
    return range_push(&depth);
}
PLM_API int nvtxRangePushEx(UNUSED const void *attributes)
{
    return range_push(&depth);
}
PLM_API int nvtxRangePop(void)
{
    return pop(&depth);
}
PLM_API int nvtxDomainRangePushEx(UNUSED void *domain, UNUSED const void *attributes)
{
    return range_push(&domain_depth);
}
PLM_API int nvtxDomainRangePop(UNUSED void *domain)
{
    return pop(&domain_depth);
}

PLM_API uint64_t nvtxRangeStartA(UNUSED const char *message)
{
    return range();
}
PLM_API uint64_t nvtxRangeStartW(UNUSED const void *message)
{
    return range();
}
PLM_API uint64_t nvtxRangeStartEx(UNUSED const void *attributes)
{
    return range();
}
PLM_API uint64_t nvtxDomainRangeStartEx(UNUSED void *domain, UNUSED const void *attributes)
{
    return range();
}

PLM_API void *nvtxDomainCreateA(UNUSED const char *name)
{
    return plm_handle_new();
}
PLM_API void *nvtxDomainCreateW(UNUSED const void *name)
{
    return plm_handle_new();
}
PLM_API void *nvtxDomainRegisterStringA(UNUSED void *domain, UNUSED const char *text)
{
    return plm_handle_new();
}
PLM_API void *nvtxDomainRegisterStringW(UNUSED void *domain, UNUSED const void *text)
{
    return plm_handle_new();
}
PLM_API void *nvtxDomainResourceCreate(UNUSED void *domain, UNUSED void *attributes)
{
    return plm_handle_new();
}
PLM_API void *nvtxDomainSyncUserCreate(UNUSED void *domain, UNUSED const void *attributes)
{
    return plm_handle_new();
}
