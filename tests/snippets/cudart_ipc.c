/* The CUDA runtime: memory and events between processes. The other process is a child. */
#include "cudart.h"

#include <sys/wait.h>
#include <unistd.h>

struct ipc {
    char bytes[64];
};

enum { LAZY = 1, DISABLE_TIMING = 2, INTERPROCESS = 4, INVALID_CONTEXT = 201 };

static int get_handle(struct ipc *handle, void *p)
{
    return CALL(int, cudaIpcGetMemHandle, (struct ipc *, void *), (handle, p));
}

static int open_handle(void **p, struct ipc handle, unsigned flags)
{
    return CALL(int, cudaIpcOpenMemHandle, (void **, struct ipc, unsigned), (p, handle, flags));
}

static int close_handle(void *p)
{
    return CALL(int, cudaIpcCloseMemHandle, (void *), (p));
}

static size_t free_bytes(void)
{
    size_t free_now = 0, total = 0;
    CHECK(CALL(int, cudaMemGetInfo, (size_t *, size_t *), (&free_now, &total)) == 0);
    return free_now;
}

/* Runs a check in a child; what fails there is told by its status. */
#define IN_ANOTHER_PROCESS(what)                                              \
    do {                                                                      \
        int ended = -1;                                                       \
        pid_t child = fork();                                                 \
        if (!child)                                                           \
            _exit((what) ? 0 : 1);                                            \
        CHECK(child > 0 && waitpid(child, &ended, 0) == child && ended == 0); \
    } while (0)

/* The same address twice, no memory of the card, and nothing that cudaFree takes; closed as often as it was opened. */
static bool opens(struct ipc handle, size_t size)
{
    void *a = NULL, *b = NULL;
    char zero[4] = {9, 9, 9, 9};
    const size_t before = free_bytes();
    bool right = open_handle(&a, handle, LAZY) == 0 && open_handle(&b, handle, LAZY) == 0 && a && a == b;
    right &= free_bytes() == before;
    right &= CALL(int, cudaMemcpy, (void *, const void *, size_t, int), (zero, (char *)a + size - 4, 4, 2)) == 0;
    right &= CALL(int, cudaFree, (void *), (a)) != 0;
    right &= close_handle(a) == 0 && close_handle(a) == 0 && close_handle(a) == INVALID_VALUE;
    return right && open_handle(&a, handle, 0) == INVALID_VALUE;
}

static void check_memory(void)
{
    static const size_t sizes[] = {4096, 2u << 20, 21u << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ipc handle, inside, broken = {{1}};
        void *p = NULL, *mine = NULL;
        CHECK(CALL(int, cudaMalloc, (void **, size_t), (&p, sizes[i])) == 0);
        CHECK(get_handle(&handle, p) == 0 && get_handle(&inside, (char *)p + 512) == 0);
        CHECK(!memcmp(&handle, &inside, sizeof handle)); /* of the allocation, wherever in it the address lies */
        CHECK(open_handle(&mine, handle, LAZY) == INVALID_CONTEXT);
        CHECK(open_handle(&mine, broken, LAZY) == INVALID_HANDLE);
        IN_ANOTHER_PROCESS(opens(handle, sizes[i]));
        CHECK(close_handle(p) == INVALID_VALUE);
        CHECK(CALL(int, cudaFree, (void *), (p)) == 0);
        CHECK(get_handle(&handle, p) == INVALID_VALUE);
    }
}

SNIPPET(cudaIpcGetMemHandle)
{
    check_memory();
}
SNIPPET(cudaIpcOpenMemHandle)
{
    check_memory();
}
SNIPPET(cudaIpcCloseMemHandle)
{
    check_memory();
}

static bool opens_event(struct ipc handle)
{
    void *event = NULL;
    bool right = CALL(int, cudaIpcOpenEventHandle, (void **, struct ipc), (&event, handle)) == 0 && event;
    right &= CALL(int, cudaStreamWaitEvent, (void *, void *, unsigned), (NULL, event, 0)) == 0;
    right &= CALL(int, cudaEventQuery, (void *), (event)) == 0;
    return right && CALL(int, cudaEventDestroy, (void *), (event)) == 0;
}

static void check_event(void)
{
    struct ipc handle;
    void *event = NULL, *plain = NULL, *mine = NULL;
    CHECK(CALL(int, cudaEventCreateWithFlags, (void **, unsigned), (&plain, DISABLE_TIMING)) == 0);
    CHECK(CALL(int, cudaIpcGetEventHandle, (struct ipc *, void *), (&handle, plain)) == INVALID_HANDLE);
    CHECK(CALL(int, cudaEventCreateWithFlags, (void **, unsigned), (&event, DISABLE_TIMING | INTERPROCESS)) == 0);
    CHECK(CALL(int, cudaIpcGetEventHandle, (struct ipc *, void *), (&handle, event)) == 0);
    CHECK(CALL(int, cudaIpcOpenEventHandle, (void **, struct ipc), (&mine, handle)) == INVALID_CONTEXT);
    IN_ANOTHER_PROCESS(opens_event(handle));
    CHECK(CALL(int, cudaEventDestroy, (void *), (event)) == 0 && CALL(int, cudaEventDestroy, (void *), (plain)) == 0);
}

SNIPPET(cudaIpcGetEventHandle)
{
    check_event();
}
SNIPPET(cudaIpcOpenEventHandle)
{
    check_event();
}
