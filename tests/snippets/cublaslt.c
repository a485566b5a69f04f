/* cuBLASLt: descriptors give back what was set, the heuristic finds an algorithm. */
#include "snippet.h"

enum { INVALID_VALUE = 7, ALLOC_FAILED = 3, COMPUTE_32F = 68, R_16F = 2, R_32F = 0 };

static void *const handle = (void *)64; /* never looked into */

SNIPPET(cublasLtGetVersion)
{
    CHECK(CALL(size_t, cublasLtGetVersion, (void), ()) / 10000 == (size_t)snippet_cuda());
}

SNIPPET(cublasLtGetCudartVersion)
{
    CHECK(CALL(size_t, cublasLtGetCudartVersion, (void), ()) >= 12000);
}

SNIPPET(cublasLtGetProperty)
{
    int major = 0;
    CHECK(CALL(int, cublasLtGetProperty, (int, int *), (0, &major)) == 0);
    CHECK(major == snippet_cuda());
}

SNIPPET(cublasLtGetStatusName)
{
    CHECK(!strcmp(CALL(const char *, cublasLtGetStatusName, (int), (7)), "CUBLAS_STATUS_INVALID_VALUE"));
}

SNIPPET(cublasLtGetStatusString)
{
    const char *text = CALL(const char *, cublasLtGetStatusString, (int), (7));
    CHECK(*text && strcmp(text, CALL(const char *, cublasLtGetStatusString, (int), (99))) != 0);
    CHECK(strcmp(text, CALL(const char *, cublasLtGetStatusString, (int), (0))) != 0);
}

SNIPPET(cublasLtHeuristicsCacheGetCapacity)
{
    size_t capacity = 0;
    CHECK(CALL(int, cublasLtHeuristicsCacheGetCapacity, (size_t *), (&capacity)) == 0);
    CHECK(capacity > 0);
}

SNIPPET(cublasLtHeuristicsCacheSetCapacity)
{
    size_t before = 0, after = 0;
    CHECK(CALL(int, cublasLtHeuristicsCacheGetCapacity, (size_t *), (&before)) == 0);
    CHECK(CALL(int, cublasLtHeuristicsCacheSetCapacity, (size_t), (17)) == 0);
    CHECK(CALL(int, cublasLtHeuristicsCacheGetCapacity, (size_t *), (&after)) == 0);
    CHECK(after == 17);
    CHECK(CALL(int, cublasLtHeuristicsCacheSetCapacity, (size_t), (before)) == 0);
}

SNIPPET(cublasLtDisableCpuInstructionsSetMask)
{
    CHECK(CALL(unsigned, cublasLtDisableCpuInstructionsSetMask, (unsigned), (5)) == 0);
    CHECK(CALL(unsigned, cublasLtDisableCpuInstructionsSetMask, (unsigned), (0)) == 5);
}

/* ---- descriptors ---- */
static void *matmul(void)
{
    void *d = NULL;
    CHECK(CALL(int, cublasLtMatmulDescCreate, (void **, int, int), (&d, COMPUTE_32F, R_32F)) == 0);
    return d;
}

static void *layout(uint64_t rows, uint64_t columns)
{
    void *d = NULL;
    CHECK(CALL(int, cublasLtMatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t),
               (&d, R_16F, rows, columns, (int64_t)rows)) == 0);
    return d;
}

static void *preference(void)
{
    void *d = NULL;
    CHECK(CALL(int, cublasLtMatmulPreferenceCreate, (void **), (&d)) == 0);
    return d;
}

static void *transform(void)
{
    void *d = NULL;
    CHECK(CALL(int, cublasLtMatrixTransformDescCreate, (void **, int), (&d, R_32F)) == 0);
    return d;
}

static void *emulation(void)
{
    void *d = NULL;
    CHECK(CALL(int, cublasLtEmulationDescCreate, (void **), (&d)) == 0);
    return d;
}

/* Four of the five functions of a kind: `id` is a 32-bit attribute with the default `start`. */
#define KIND(stem, make, id, start)                                                                                   \
    SNIPPET(stem##Create)                                                                                             \
    {                                                                                                                 \
        void *d = make;                                                                                               \
        CHECK(d != NULL);                                                                                             \
        CHECK(CALL(int, stem##Destroy, (void *), (d)) == 0);                                                          \
    }                                                                                                                 \
    SNIPPET(stem##Destroy)                                                                                            \
    {                                                                                                                 \
        CHECK(CALL(int, stem##Destroy, (void *), (make)) == 0);                                                       \
        CHECK(CALL(int, stem##Destroy, (void *), (NULL)) == 0);                                                       \
    }                                                                                                                 \
    SNIPPET(stem##GetAttribute)                                                                                       \
    {                                                                                                                 \
        void *d = make;                                                                                               \
        uint32_t value[2] = {99, 99};                                                                                 \
        size_t written = 0;                                                                                           \
        CHECK(CALL(int, stem##GetAttribute, (void *, int, void *, size_t, size_t *), (d, id, NULL, 0, &written)) ==   \
              0);                                                                                                     \
        CHECK(written == 4);                                                                                          \
        written = 0;                                                                                                  \
        CHECK(CALL(int, stem##GetAttribute, (void *, int, void *, size_t, size_t *), (d, id, value, 4, &written)) ==  \
              0);                                                                                                     \
        CHECK(written == 4 && value[0] == (uint32_t)(start) && value[1] == 99);                                       \
        CHECK(CALL(int, stem##GetAttribute, (void *, int, void *, size_t, size_t *), (d, id, value, 8, &written)) ==  \
              INVALID_VALUE);                                                                                         \
        CHECK(CALL(int, stem##GetAttribute, (void *, int, void *, size_t, size_t *), (d, id, NULL, 0, NULL)) ==       \
              INVALID_VALUE);                                                                                         \
        CHECK(CALL(int, stem##Destroy, (void *), (d)) == 0);                                                          \
    }                                                                                                                 \
    SNIPPET(stem##SetAttribute)                                                                                       \
    {                                                                                                                 \
        void *d = make;                                                                                               \
        uint32_t value = 0x01020304;                                                                                  \
        CHECK(CALL(int, stem##SetAttribute, (void *, int, const void *, size_t), (d, id, &value, 4)) == 0);           \
        value = 0x00000300;                                                                                           \
        CHECK(CALL(int, stem##SetAttribute, (void *, int, const void *, size_t), (d, id, &value, 4)) == 0);           \
        value = 0;                                                                                                    \
        CHECK(CALL(int, stem##GetAttribute, (void *, int, void *, size_t, size_t *), (d, id, &value, 4, NULL)) == 0); \
        CHECK(value == 0x00000300);                                                                                   \
        CHECK(CALL(int, stem##SetAttribute, (void *, int, const void *, size_t), (d, id, NULL, 4)) == INVALID_VALUE); \
        CHECK(CALL(int, stem##SetAttribute, (void *, int, const void *, size_t), (d, id, &value, 2)) ==               \
              INVALID_VALUE);                                                                                         \
        CHECK(CALL(int, stem##Destroy, (void *), (d)) == 0);                                                          \
    }
KIND(cublasLtMatmulDesc, matmul(), 7, 1)
KIND(cublasLtMatrixLayout, layout(3, 4), 5, 1)
KIND(cublasLtMatmulPreference, preference(), 5, 256)
KIND(cublasLtMatrixTransformDesc, transform(), 0, R_32F)
KIND(cublasLtEmulationDesc, emulation(), 1, 0xffff)

/* A descriptor in the caller's memory: complete, and nothing is written beyond it. */
struct guarded {
    uint64_t descriptor[8];
    uint64_t guard;
};
#define GUARD 0x5555555555555555u

SNIPPET(cublasLtMatrixLayoutInit_internal)
{
    struct guarded g = {{0}, GUARD};
    uint64_t expected[9] = {R_16F, 1, 3ull << 40, 4ull << 40, 5ull << 40, 7, 1ull << 30, 0, 1}, value;
    static const size_t size[9] = {4, 4, 8, 8, 8, 4, 8, 8, 4};
    CHECK(CALL(int, cublasLtMatrixLayoutInit_internal, (void *, size_t, int, uint64_t, uint64_t, int64_t),
               (g.descriptor, sizeof g.descriptor, R_16F, expected[2], expected[3], (int64_t)expected[4])) == 0);
    for (int id = 0; id < 9; id++)
        CHECK(CALL(int, cublasLtMatrixLayoutSetAttribute, (void *, int, const void *, size_t),
                   (g.descriptor, id, &expected[id], size[id])) == 0);
    for (int id = 0; id < 9; id++) {
        value = 0;
        CHECK(CALL(int, cublasLtMatrixLayoutGetAttribute, (void *, int, void *, size_t, size_t *),
                   (g.descriptor, id, &value, size[id], NULL)) == 0);
        CHECK(value == expected[id]);
    }
    CHECK(g.guard == GUARD);
    CHECK(CALL(int, cublasLtMatrixLayoutInit_internal, (void *, size_t, int, uint64_t, uint64_t, int64_t),
               (g.descriptor, 8, R_16F, 1, 1, 1)) == ALLOC_FAILED);
}

/* cublasLtMatmulDescAttributes_t: how many bytes an attribute has; 0: there is none of that number. */
static void matmul_attributes(const void *descriptor)
{
    static const uint8_t bytes[] = {4, 4, 4, 4, 4, 4, 4, 4, 8, 0, 8, 8, 8, 8, 8, 4, 0, 8, 8,
                                    8, 8, 8, 4, 8, 8, 1, 4, 4, 4, 8, 8, 4, 4, 4, 4, 4, 8, 4};
    for (int id = 0; id < (int)sizeof bytes; id++) {
        uint64_t value;
        size_t written = 0;
        const int status = CALL(int, cublasLtMatmulDescGetAttribute, (const void *, int, void *, size_t, size_t *),
                                (descriptor, id, &value, bytes[id] ? bytes[id] : sizeof value, &written));
        CHECK(bytes[id] ? status == 0 && written == bytes[id] : status == INVALID_VALUE);
    }
}

SNIPPET(cublasLtMatmulDescInit_internal)
{
    struct {
        uint64_t descriptor[23];
        uint64_t guard;
    } g = {{0}, GUARD};
    uint64_t pointer = 0x7f0012345678u, back = 0;
    int type = 0;
    CHECK(CALL(int, cublasLtMatmulDescInit_internal, (void *, size_t, int, int),
               (g.descriptor, sizeof g.descriptor, COMPUTE_32F, R_32F)) == 0);
    matmul_attributes(g.descriptor);
    for (int id = 17; id <= 21; id++)
        CHECK(CALL(int, cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t),
                   (g.descriptor, id, &pointer, sizeof pointer)) == 0);
    CHECK(CALL(int, cublasLtMatmulDescGetAttribute, (void *, int, void *, size_t, size_t *),
               (g.descriptor, 20, &back, sizeof back, NULL)) == 0);
    CHECK(back == pointer);
    CHECK(CALL(int, cublasLtMatmulDescGetAttribute, (void *, int, void *, size_t, size_t *),
               (g.descriptor, 0, &type, sizeof type, NULL)) == 0);
    CHECK(type == COMPUTE_32F && g.guard == GUARD);
}

SNIPPET(cublasLtMatmulPreferenceInit_internal)
{
    struct guarded g = {{0}, GUARD};
    uint64_t bytes = 32 << 20, back = 0;
    CHECK(CALL(int, cublasLtMatmulPreferenceInit_internal, (void *, size_t), (g.descriptor, sizeof g.descriptor)) == 0);
    CHECK(CALL(int, cublasLtMatmulPreferenceSetAttribute, (void *, int, const void *, size_t),
               (g.descriptor, 1, &bytes, sizeof bytes)) == 0);
    CHECK(CALL(int, cublasLtMatmulPreferenceGetAttribute, (void *, int, void *, size_t, size_t *),
               (g.descriptor, 1, &back, sizeof back, NULL)) == 0);
    CHECK(back == bytes && g.guard == GUARD);
}

SNIPPET(cublasLtMatrixTransformDescInit_internal)
{
    struct guarded g = {{0}, GUARD};
    int type = 99;
    CHECK(CALL(int, cublasLtMatrixTransformDescInit_internal, (void *, size_t, int),
               (g.descriptor, sizeof g.descriptor, R_16F)) == 0);
    CHECK(CALL(int, cublasLtMatrixTransformDescGetAttribute, (void *, int, void *, size_t, size_t *),
               (g.descriptor, 0, &type, sizeof type, NULL)) == 0);
    CHECK(type == R_16F && g.guard == GUARD);
}

SNIPPET(cublasLtEmulationDescInit_internal)
{
    struct guarded g = {{0}, GUARD};
    int value = 99;
    CHECK(CALL(int, cublasLtEmulationDescInit_internal, (void *, size_t), (g.descriptor, sizeof g.descriptor)) == 0);
    CHECK(CALL(int, cublasLtEmulationDescGetAttribute, (void *, int, void *, size_t, size_t *),
               (g.descriptor, 3, &value, sizeof value, NULL)) == 0);
    CHECK(value == 0 && g.guard == GUARD);
}

SNIPPET(cublasLtGroupedMatrixLayoutCreate)
{
    void *d = NULL;
    int count = 0;
    CHECK(CALL(int, cublasLtGroupedMatrixLayoutCreate, (void **, int, int, void *, void *, void *),
               (&d, R_16F, 8, NULL, NULL, NULL)) == 0);
    CHECK(CALL(int, cublasLtMatrixLayoutGetAttribute, (void *, int, void *, size_t, size_t *),
               (d, 5, &count, sizeof count, NULL)) == 0);
    CHECK(count == 8);
    CHECK(CALL(int, cublasLtMatrixLayoutDestroy, (void *), (d)) == 0);
}

SNIPPET(cublasLtGroupedMatrixLayoutInit_internal)
{
    struct guarded g = {{0}, GUARD};
    CHECK(CALL(int, cublasLtGroupedMatrixLayoutInit_internal, (void *, size_t, int, int, void *, void *, void *),
               (g.descriptor, sizeof g.descriptor, R_16F, 8, NULL, NULL, NULL)) == 0);
    CHECK(g.guard == GUARD);
}

/* ---- algorithms ---- */
struct result {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
    uint64_t guard;
};

SNIPPET(cublasLtMatmulAlgoGetHeuristic)
{
    void *operation = matmul(), *a = layout(1024, 512), *p = preference();
    struct result r = {{0}, 99, 99, -1, {0}, GUARD};
    int count = 0;
    CHECK(CALL(int, cublasLtMatmulAlgoGetHeuristic,
               (void *, void *, void *, void *, void *, void *, void *, int, void *, int *),
               (handle, operation, a, a, a, a, p, 1, &r, &count)) == 0);
    CHECK(count == 1 && r.state == 0 && r.workspace == 0 && r.waves > 0 && r.guard == GUARD);
    CHECK(CALL(int, cublasLtMatmulAlgoGetHeuristic,
               (void *, void *, void *, void *, void *, void *, void *, int, void *, int *),
               (handle, operation, a, a, a, a, p, 0, &r, &count)) == INVALID_VALUE);
    CHECK(CALL(int, cublasLtMatmulDescDestroy, (void *), (operation)) == 0);
    CHECK(CALL(int, cublasLtMatrixLayoutDestroy, (void *), (a)) == 0);
    CHECK(CALL(int, cublasLtMatmulPreferenceDestroy, (void *), (p)) == 0);
}

SNIPPET(cublasLtMatmulAlgoGetIds)
{
    int ids[2] = {-1, -1}, count = 0;
    CHECK(CALL(int, cublasLtMatmulAlgoGetIds, (void *, int, int, int, int, int, int, int, int *, int *),
               (handle, COMPUTE_32F, R_32F, R_16F, R_16F, R_16F, R_16F, 2, ids, &count)) == 0);
    CHECK(count == 1 && ids[0] >= 0 && ids[1] == -1);
}

static void init(uint64_t *algorithm)
{
    CHECK(CALL(int, cublasLtMatmulAlgoInit, (void *, int, int, int, int, int, int, int, void *),
               (handle, COMPUTE_32F, R_32F, R_16F, R_16F, R_16F, R_16F, 5, algorithm)) == 0);
}

SNIPPET(cublasLtMatmulAlgoInit)
{
    uint64_t algorithm[9] = {[8] = GUARD};
    int id = 0;
    init(algorithm);
    CHECK(CALL(int, cublasLtMatmulAlgoConfigGetAttribute, (void *, int, void *, size_t, size_t *),
               (algorithm, 0, &id, sizeof id, NULL)) == 0);
    CHECK(id == 5 && algorithm[8] == GUARD);
}

SNIPPET(cublasLtMatmulAlgoCheck)
{
    void *operation = matmul(), *a = layout(1024, 512);
    struct result r = {{0}, 99, 99, -1, {0}, GUARD};
    uint64_t algorithm[8] = {0};
    init(algorithm);
    CHECK(CALL(int, cublasLtMatmulAlgoCheck, (void *, void *, void *, void *, void *, void *, void *, void *),
               (handle, operation, a, a, a, a, algorithm, &r)) == 0);
    CHECK(r.state == 0 && r.workspace == 0 && r.guard == GUARD && !memcmp(r.algorithm, algorithm, sizeof algorithm));
    CHECK(CALL(int, cublasLtMatmulDescDestroy, (void *), (operation)) == 0);
    CHECK(CALL(int, cublasLtMatrixLayoutDestroy, (void *), (a)) == 0);
}

SNIPPET(cublasLtMatmulAlgoCapGetAttribute)
{
    uint64_t algorithm[8] = {0};
    size_t written = 0;
    uint32_t tiles[2] = {0};
    init(algorithm);
    CHECK(CALL(int, cublasLtMatmulAlgoCapGetAttribute, (void *, int, void *, size_t, size_t *),
               (algorithm, 6, NULL, 0, &written)) == 0);
    CHECK(written == 4);
    CHECK(CALL(int, cublasLtMatmulAlgoCapGetAttribute, (void *, int, void *, size_t, size_t *),
               (algorithm, 6, tiles, written, &written)) == 0);
    CHECK(tiles[0] && !tiles[1]);
}

SNIPPET(cublasLtMatmulAlgoConfigSetAttribute)
{
    uint64_t algorithm[8] = {0};
    uint16_t cluster = 513, back = 0;
    init(algorithm);
    CHECK(CALL(int, cublasLtMatmulAlgoConfigSetAttribute, (void *, int, const void *, size_t),
               (algorithm, 8, &cluster, sizeof cluster)) == 0);
    CHECK(CALL(int, cublasLtMatmulAlgoConfigGetAttribute, (void *, int, void *, size_t, size_t *),
               (algorithm, 8, &back, sizeof back, NULL)) == 0);
    CHECK(back == cluster);
    CHECK(CALL(int, cublasLtMatmulAlgoConfigSetAttribute, (void *, int, const void *, size_t),
               (algorithm, 9, &cluster, sizeof cluster)) == INVALID_VALUE);
}

SNIPPET(cublasLtMatmulAlgoConfigGetAttribute)
{
    uint64_t algorithm[8] = {0};
    size_t written = 0;
    int32_t split = -1;
    init(algorithm);
    CHECK(CALL(int, cublasLtMatmulAlgoConfigGetAttribute, (void *, int, void *, size_t, size_t *),
               (algorithm, 7, NULL, 0, &written)) == 0);
    CHECK(written == 2);
    /* CUBLASLT_ALGO_CONFIG_SPLITK_NUM: 1 unless it is set. */
    CHECK(CALL(int, cublasLtMatmulAlgoConfigGetAttribute, (void *, int, void *, size_t, size_t *),
               (algorithm, 2, &split, sizeof split, NULL)) == 0);
    CHECK(split == 1);
}
