/* NVTX: nesting, and identities that differ. */
#include "snippet.h"

#define PUSH(symbol)                                                 \
    SNIPPET(symbol)                                                  \
    {                                                                \
        CHECK(CALL(int, symbol, (const void *), (L"step")) == 0);    \
        CHECK(CALL(int, symbol, (const void *), (L"forward")) == 1); \
        CHECK(CALL(int, nvtxRangePop, (void), ()) == 1);             \
        CHECK(CALL(int, nvtxRangePop, (void), ()) == 0);             \
    }
PUSH(nvtxRangePushA)
PUSH(nvtxRangePushW)
PUSH(nvtxRangePushEx)

SNIPPET(nvtxRangePop)
{
    CHECK(CALL(int, nvtxRangePop, (void), ()) < 0);
}

SNIPPET(nvtxDomainRangePushEx)
{
    CHECK(CALL(int, nvtxDomainRangePushEx, (void *, const void *), (NULL, NULL)) == 0);
    CHECK(CALL(int, nvtxDomainRangePop, (void *), (NULL)) == 0);
}

SNIPPET(nvtxDomainRangePop)
{
    CHECK(CALL(int, nvtxDomainRangePop, (void *), (NULL)) < 0);
}

#define START(symbol)                                                          \
    SNIPPET(symbol)                                                            \
    {                                                                          \
        uint64_t one = CALL(uint64_t, symbol, (const void *), (L"step"));      \
        CHECK(one &&one != CALL(uint64_t, symbol, (const void *), (L"step"))); \
    }
START(nvtxRangeStartA)
START(nvtxRangeStartW)
START(nvtxRangeStartEx)

SNIPPET(nvtxDomainRangeStartEx)
{
    CHECK(CALL(uint64_t, nvtxDomainRangeStartEx, (void *, const void *), (NULL, NULL)) != 0);
}

#define DOMAIN(symbol)                                                       \
    SNIPPET(symbol)                                                          \
    {                                                                        \
        void *one = CALL(void *, symbol, (const void *), (L"name"));         \
        CHECK(one &&one != CALL(void *, symbol, (const void *), (L"name"))); \
    }
#define OBJECT(symbol)                                                                     \
    SNIPPET(symbol)                                                                        \
    {                                                                                      \
        void *one = CALL(void *, symbol, (void *, const void *), (NULL, L"name"));         \
        CHECK(one &&one != CALL(void *, symbol, (void *, const void *), (NULL, L"name"))); \
    }
DOMAIN(nvtxDomainCreateA)
DOMAIN(nvtxDomainCreateW)
OBJECT(nvtxDomainRegisterStringA)
OBJECT(nvtxDomainRegisterStringW)
OBJECT(nvtxDomainResourceCreate)
OBJECT(nvtxDomainSyncUserCreate)
