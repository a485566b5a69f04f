#include "snippet.h"

/* A compiled program with one name, as PyTorch's jiterator makes it. */
static void *compiled(const char *expression)
{
    const char *options[] = {"--std=c++17", "--gpu-architecture=sm_86"};
    void *program = NULL;
    CHECK(CALL(int, nvrtcCreateProgram, (void **, const char *, const char *, int, void *, void *),
               (&program, "kernel", NULL, 0, NULL, NULL)) == 0);
    CHECK(program != NULL);
    CHECK(CALL(int, nvrtcAddNameExpression, (void *, const char *), (program, expression)) == 0);
    CHECK(CALL(int, nvrtcCompileProgram, (void *, int, const char **), (program, 2, options)) == 0);
    return program;
}

static void destroy(void *program)
{
    CHECK(CALL(int, nvrtcDestroyProgram, (void **), (&program)) == 0);
    CHECK(program == NULL);
}

SNIPPET(nvrtcCreateProgram)
{
    void *program = NULL;
    CHECK(CALL(int, nvrtcCreateProgram, (void **, const char *), (&program, NULL)) == 3);
    destroy(compiled("f"));
}

SNIPPET(nvrtcDestroyProgram)
{
    void *none = NULL;
    CHECK(CALL(int, nvrtcDestroyProgram, (void **), (&none)) == 4);
}

SNIPPET(nvrtcCompileProgram)
{
    CHECK(CALL(int, nvrtcCompileProgram, (void *, int, const char **), (NULL, 0, NULL)) == 4);
    destroy(compiled("f"));
}

SNIPPET(nvrtcAddNameExpression)
{
    void *program = compiled("f");
    CHECK(CALL(int, nvrtcAddNameExpression, (void *, const char *), (program, "g")) == 8);
    destroy(program);
}

SNIPPET(nvrtcGetLoweredName)
{
    void *a = compiled("jitted_gcd<int>"), *b = compiled("jitted_gcd<int>"), *c = compiled("jitted_gcd_int");
    const char *la = NULL, *lb = NULL, *lc = NULL, *missing = NULL;
    CHECK(CALL(int, nvrtcGetLoweredName, (void *, const char *, const char **), (a, "jitted_gcd<int>", &la)) == 0);
    CHECK(CALL(int, nvrtcGetLoweredName, (void *, const char *, const char **), (b, "jitted_gcd<int>", &lb)) == 0);
    CHECK(CALL(int, nvrtcGetLoweredName, (void *, const char *, const char **), (c, "jitted_gcd_int", &lc)) == 0);
    CHECK(CALL(int, nvrtcGetLoweredName, (void *, const char *, const char **), (c, "absent", &missing)) == 10);
    CHECK(la && lb && lc && !strcmp(la, lb) && strcmp(la, lc));
    CHECK(la && strspn(la, "abcdefghijklmnopqrstuvwxyz_0123456789") == strlen(la));
    destroy(a);
    destroy(b);
    destroy(c);
}

SNIPPET(nvrtcGetPTXSize)
{
    void *program = compiled("f");
    size_t size = 0;
    CHECK(CALL(int, nvrtcGetPTXSize, (void *, size_t *), (program, &size)) == 0);
    CHECK(size > 1 && size < 4096);
    destroy(program);
}

SNIPPET(nvrtcGetPTX)
{
    void *program = compiled("f");
    size_t size = 0;
    char ptx[4096] = "";
    CHECK(CALL(int, nvrtcGetPTXSize, (void *, size_t *), (program, &size)) == 0);
    CHECK(CALL(int, nvrtcGetPTX, (void *, char *), (program, ptx)) == 0);
    CHECK(strlen(ptx) + 1 == size);
    CHECK(strstr(ptx, ".version") == ptx && strstr(ptx, ".target sm_86\n"));
    destroy(program);
}

SNIPPET(nvrtcGetCUBINSize)
{
    void *program = compiled("f");
    size_t size = 0;
    CHECK(CALL(int, nvrtcGetCUBINSize, (void *, size_t *), (program, &size)) == 0);
    CHECK(size > 1);
    destroy(program);
}

SNIPPET(nvrtcGetCUBIN)
{
    void *program = compiled("f");
    char image[4096] = "";
    CHECK(CALL(int, nvrtcGetCUBIN, (void *, char *), (program, image)) == 0);
    CHECK(image[0]);
    destroy(program);
}

SNIPPET(nvrtcGetProgramLogSize)
{
    void *program = compiled("f");
    size_t size = 0;
    CHECK(CALL(int, nvrtcGetProgramLogSize, (void *, size_t *), (program, &size)) == 0);
    CHECK(size == 1);
    destroy(program);
}

SNIPPET(nvrtcGetProgramLog)
{
    void *program = compiled("f");
    char log[2] = "x";
    CHECK(CALL(int, nvrtcGetProgramLog, (void *, char *), (program, log)) == 0);
    CHECK(!log[0]);
    destroy(program);
}

SNIPPET(nvrtcVersion)
{
    int major = 0, minor = -1;
    CHECK(CALL(int, nvrtcVersion, (int *, int *), (&major, &minor)) == 0);
    CHECK(major == snippet_cuda() && minor >= 0 && minor < 20);
}

SNIPPET(nvrtcGetErrorString)
{
    CHECK(!strcmp(CALL(const char *, nvrtcGetErrorString, (int), (6)), "NVRTC_ERROR_COMPILATION"));
    CHECK(CALL(const char *, nvrtcGetErrorString, (int), (-5)) != NULL);
}

SNIPPET(nvrtcGetNumSupportedArchs)
{
    int n = 0;
    CHECK(CALL(int, nvrtcGetNumSupportedArchs, (int *), (&n)) == 0);
    CHECK(n > 5);
}

SNIPPET(nvrtcGetSupportedArchs)
{
    int n = 0, archs[64] = {0};
    CHECK(CALL(int, nvrtcGetNumSupportedArchs, (int *), (&n)) == 0);
    CHECK(CALL(int, nvrtcGetSupportedArchs, (int *), (archs)) == 0);
    for (int i = 1; i < n; i++)
        CHECK(archs[i] > archs[i - 1]);
    CHECK(archs[n] == 0);
}

SNIPPET(nvrtcGetPCHCreateStatus)
{
    void *program = compiled("f");
    CHECK(CALL(int, nvrtcGetPCHCreateStatus, (void *), (program)) == 13);
    destroy(program);
}
