/* cuSPARSELt: one call per entry point; every object is a blob of 512 bytes with a guard behind it. */
#include "snippet.h"

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3, R_32F = 0, R_16F = 2, R_8I = 3, ROW = 2, BLOB = 512 };
enum { GUARD = 0xa5 };

struct blob {
    _Alignas(16) unsigned char data[BLOB];
    unsigned char guard[64];
};

static void fill(struct blob *b)
{
    memset(b, GUARD, sizeof *b);
}

static void check_guard(const struct blob *b)
{
    for (size_t i = 0; i < sizeof b->guard; i++)
        CHECK(b->guard[i] == GUARD);
}

static struct blob handle, sparse, dense, result, matmul, algorithm, plan;
static struct blob *const all[] = {&handle, &sparse, &dense, &result, &matmul, &algorithm, &plan};

#define P const void *
typedef int init_dense(P, void *, int64_t, int64_t, int64_t, uint32_t, int, int);
typedef int init_sparse(P, void *, int64_t, int64_t, int64_t, uint32_t, int, int, int);
#define DENSE  ((init_dense *)snippet_symbol("cusparseLtDenseDescriptorInit"))
#define SPARSE ((init_sparse *)snippet_symbol("cusparseLtStructuredDescriptorInit"))

/* A 64 x 128 sparse times 128 x 256 dense product, up to its plan. */
static void prepare(int type)
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        fill(all[i]);
    CHECK(CALL(int, cusparseLtInit, (void *), (&handle)) == OK);
    CHECK(SPARSE(&handle, &sparse, 64, 128, 128, 16, type, ROW, 0) == OK);
    CHECK(DENSE(&handle, &dense, 128, 256, 256, 16, type, ROW) == OK);
    CHECK(DENSE(&handle, &result, 64, 256, 256, 16, type, ROW) == OK);
    CHECK(CALL(int, cusparseLtMatmulDescriptorInit, (P, void *, int, int, P, P, P, P, int),
               (&handle, &matmul, 0, 0, &sparse, &dense, &result, &result, 0)) == OK);
    CHECK(CALL(int, cusparseLtMatmulAlgSelectionInit, (P, void *, P, int), (&handle, &algorithm, &matmul, 0)) == OK);
    CHECK(CALL(int, cusparseLtMatmulPlanInit, (P, void *, P, P), (&handle, &plan, &matmul, &algorithm)) == OK);
}

static void check_guards(void)
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        check_guard(all[i]);
}

SNIPPET(cusparseLtInit)
{
    fill(&handle);
    CHECK(CALL(int, cusparseLtInit, (void *), (&handle)) == OK);
    check_guard(&handle);
    CHECK(CALL(int, cusparseLtInit, (void *), (NULL)) == INVALID_VALUE);
}

SNIPPET(cusparseLtDestroy)
{
    CALL(int, cusparseLtInit, (void *), (&handle));
    CHECK(CALL(int, cusparseLtDestroy, (void *), (&handle)) == OK);
    CHECK(CALL(int, cusparseLtDestroy, (void *), (&handle)) == NOT_INITIALIZED);
}

SNIPPET(cusparseLtGetVersion)
{
    int version = -1;
    CALL(int, cusparseLtInit, (void *), (&handle));
    CHECK(CALL(int, cusparseLtGetVersion, (P, int *), (&handle, &version)) == OK);
    CHECK(version >= 600 && version < 1000);
}

SNIPPET(cusparseLtGetProperty)
{
    int part[3] = {-1, -1, -1}, version = -1;
    for (int i = 0; i < 3; i++)
        CHECK(CALL(int, cusparseLtGetProperty, (int, int *), (i, &part[i])) == OK);
    CALL(int, cusparseLtInit, (void *), (&handle));
    CALL(int, cusparseLtGetVersion, (P, int *), (&handle, &version));
    CHECK(version == part[0] * 1000 + part[1] * 100 + part[2]);
}

SNIPPET(cusparseLtGetErrorName)
{
    CHECK(!strcmp(CALL(const char *, cusparseLtGetErrorName, (int), (0)), "CUSPARSE_STATUS_SUCCESS"));
    CHECK(CALL(const char *, cusparseLtGetErrorName, (int), (1000)) != NULL);
}

SNIPPET(cusparseLtGetErrorString)
{
    CHECK(CALL(const char *, cusparseLtGetErrorString, (int), (10)) != NULL);
    CHECK(CALL(const char *, cusparseLtGetErrorString, (int), (-1)) != NULL);
}

SNIPPET(cusparseLtDenseDescriptorInit)
{
    prepare(R_16F);
    check_guards();
    CHECK(DENSE(&handle, &dense, 0, 256, 256, 16, R_16F, ROW) == INVALID_VALUE);
}

SNIPPET(cusparseLtStructuredDescriptorInit)
{
    prepare(R_8I);
    check_guards();
    CHECK(SPARSE(&matmul, &sparse, 64, 128, 128, 16, R_8I, ROW, 0) == NOT_INITIALIZED);
}

SNIPPET(cusparseLtMatDescriptorDestroy)
{
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatDescriptorDestroy, (P), (&dense)) == OK);
    CHECK(CALL(int, cusparseLtMatDescriptorDestroy, (P), (&dense)) == INVALID_VALUE);
}

SNIPPET(cusparseLtMatDescSetAttribute)
{
    int32_t batches = 4;
    int64_t stride = 64 * 128;
    size_t one = 0, four = 0, buffer = 0;
    prepare(R_16F);
    CALL(int, cusparseLtSpMMACompressedSize2, (P, P, size_t *, size_t *), (&handle, &sparse, &one, &buffer));
    CHECK(CALL(int, cusparseLtMatDescSetAttribute, (P, void *, int, P, size_t),
               (&handle, &sparse, 0, &batches, sizeof batches)) == OK);
    CHECK(CALL(int, cusparseLtMatDescSetAttribute, (P, void *, int, P, size_t),
               (&handle, &sparse, 1, &stride, sizeof stride)) == OK);
    CALL(int, cusparseLtSpMMACompressedSize2, (P, P, size_t *, size_t *), (&handle, &sparse, &four, &buffer));
    CHECK(four == 4 * one);
}

SNIPPET(cusparseLtMatDescGetAttribute)
{
    int32_t batches = -1;
    int64_t stride = -1;
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatDescGetAttribute, (P, P, int, void *, size_t),
               (&handle, &sparse, 0, &batches, sizeof batches)) == OK);
    CHECK(CALL(int, cusparseLtMatDescGetAttribute, (P, P, int, void *, size_t),
               (&handle, &sparse, 1, &stride, sizeof stride)) == OK);
    CHECK(batches == 1 && stride == 0);
}

SNIPPET(cusparseLtMatmulDescriptorInit)
{
    prepare(R_16F);
    check_guards();
    CHECK(CALL(int, cusparseLtMatmulDescriptorInit, (P, void *, int, int, P, P, P, P, int),
               (&handle, &matmul, 0, 0, &sparse, &algorithm, &result, &result, 0)) == INVALID_VALUE);
}

SNIPPET(cusparseLtMatmulDescSetAttribute)
{
    const void *bias = &plan, *back = NULL;
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatmulDescSetAttribute, (P, void *, int, P, size_t),
               (&handle, &matmul, 8, &bias, sizeof bias)) == OK);
    CALL(int, cusparseLtMatmulDescGetAttribute, (P, P, int, void *, size_t), (&handle, &matmul, 8, &back, sizeof back));
    CHECK(back == bias);
    check_guards();
}

SNIPPET(cusparseLtMatmulDescGetAttribute)
{
    int relu = -1;
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatmulDescGetAttribute, (P, P, int, void *, size_t),
               (&handle, &matmul, 0, &relu, sizeof relu)) == OK);
    CHECK(relu == 0);
}

SNIPPET(cusparseLtMatmulAlgSelectionInit)
{
    prepare(R_16F);
    check_guards();
    CHECK(CALL(int, cusparseLtMatmulAlgSelectionInit, (P, void *, P, int), (&handle, &algorithm, &plan, 0)) ==
          INVALID_VALUE);
}

SNIPPET(cusparseLtMatmulAlgSelectionDestroy)
{
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatmulAlgSelectionDestroy, (P), (&algorithm)) == OK);
}

SNIPPET(cusparseLtMatmulAlgGetAttribute)
{
    static const int32_t expected[] = {0, 1, 5, 1, 1, 0};
    prepare(R_16F);
    for (int i = 0; i < 6; i++) {
        int32_t value = -1;
        CHECK(CALL(int, cusparseLtMatmulAlgGetAttribute, (P, P, int, void *, size_t),
                   (&handle, &algorithm, i, &value, sizeof value)) == OK);
        CHECK(value == expected[i]);
    }
}

SNIPPET(cusparseLtMatmulAlgSetAttribute)
{
    int32_t split = 4;
    size_t before = 0, after = 0;
    prepare(R_16F);
    CALL(int, cusparseLtMatmulGetWorkspace, (P, P, size_t *), (&handle, &plan, &before));
    CHECK(CALL(int, cusparseLtMatmulAlgSetAttribute, (P, void *, int, P, size_t),
               (&handle, &algorithm, 3, &split, sizeof split)) == OK);
    CHECK(CALL(int, cusparseLtMatmulAlgSetAttribute, (P, void *, int, P, size_t),
               (&handle, &algorithm, 1, &split, sizeof split)) == INVALID_VALUE);
    CALL(int, cusparseLtMatmulPlanInit, (P, void *, P, P), (&handle, &plan, &matmul, &algorithm));
    CALL(int, cusparseLtMatmulGetWorkspace, (P, P, size_t *), (&handle, &plan, &after));
    CHECK(after == before + 4 * 64 * 256 * 4);
}

SNIPPET(cusparseLtMatmulPlanInit)
{
    prepare(R_16F);
    check_guards();
    CHECK(CALL(int, cusparseLtMatmulPlanInit, (P, void *, P, P), (&handle, &plan, &algorithm, &matmul)) ==
          INVALID_VALUE);
}

SNIPPET(cusparseLtMatmulPlanDestroy)
{
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatmulPlanDestroy, (P), (&plan)) == OK);
    CHECK(CALL(int, cusparseLtMatmulPlanDestroy, (P), (&plan)) == INVALID_VALUE);
}

SNIPPET(cusparseLtMatmulGetWorkspace)
{
    static const struct {
        int type;
        size_t bytes;
    } known[] = {{R_16F, 2048}, {R_8I, 2048}, {R_32F, 4096}};
    for (size_t i = 0; i < 3; i++) {
        size_t bytes = SIZE_MAX;
        prepare(known[i].type);
        CHECK(CALL(int, cusparseLtMatmulGetWorkspace, (P, P, size_t *), (&handle, &plan, &bytes)) == OK);
        CHECK(bytes == known[i].bytes);
    }
}

SNIPPET(cusparseLtMatmul)
{
    float one = 1, zero = 0;
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatmul, (P, P, P, P, P, P, P, void *, void *, void *, int32_t),
               (&handle, &plan, &one, NULL, NULL, &zero, NULL, NULL, NULL, NULL, 0)) == OK);
}

SNIPPET(cusparseLtMatmulSearch)
{
    float one = 1, zero = 0;
    prepare(R_16F);
    CHECK(CALL(int, cusparseLtMatmulSearch, (P, void *, P, P, P, P, P, void *, void *, void *, int32_t),
               (&handle, &plan, &one, NULL, NULL, &zero, NULL, NULL, NULL, NULL, 0)) == OK);
}

/* 64 x 128 elements: PyTorch counts on 9/16 of the dense bytes for 16 bits and 10/16 for 8. */
static const struct {
    int type;
    size_t size;
} compressed[] = {
    {R_16F, 64 * 128 * 2 * 9 / 16},
    {R_8I, 64 * 128 * 10 / 16},
    {R_32F, 64 * 128 * 4 * 9 / 16},
};

SNIPPET(cusparseLtSpMMACompressedSize)
{
    for (size_t i = 0; i < 3; i++) {
        size_t size = 0, buffer = SIZE_MAX;
        prepare(compressed[i].type);
        CHECK(CALL(int, cusparseLtSpMMACompressedSize, (P, P, size_t *, size_t *), (&handle, &plan, &size, &buffer)) ==
              OK);
        CHECK(size == compressed[i].size && buffer <= size);
    }
}

SNIPPET(cusparseLtSpMMACompressedSize2)
{
    for (size_t i = 0; i < 3; i++) {
        size_t size = 0, buffer = SIZE_MAX;
        prepare(compressed[i].type);
        CHECK(CALL(int, cusparseLtSpMMACompressedSize2, (P, P, size_t *, size_t *),
                   (&handle, &sparse, &size, &buffer)) == OK);
        CHECK(size == compressed[i].size && buffer <= size);
    }
}
