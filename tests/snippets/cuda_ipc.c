/* The CUDA driver: memory and events between processes. The other process is a child. */
#include "cuda.h"

#include <sys/wait.h>
#include <unistd.h>

struct ipc {
    char bytes[64];
};

enum { LAZY = 1, DISABLE_TIMING = 2, INTERPROCESS = 4, INVALID_CONTEXT = 201, LEGACY_IPC = 10 };

/* What the child finds: the whole range, at an address that takes none of the card's memory. */
static bool opens(const char *open_by, struct ipc handle, size_t size)
{
    address at = 0, base = 0;
    size_t found = 0, before = 0, after = 1, total;
    bool right = CU(cuMemGetInfo_v2, (size_t *, size_t *), (&before, &total)) == 0;
    right &= BY(open_by, (address *, struct ipc, unsigned), (&at, handle, LAZY)) == 0;
    right &= CU(cuMemGetAddressRange_v2, (address *, size_t *, address), (&base, &found, at + size - 1)) == 0;
    right &= base == at && found == size;
    right &= CU(cuMemGetInfo_v2, (size_t *, size_t *), (&after, &total)) == 0 && before == after;
    right &= CU(cuIpcCloseMemHandle, (address), (at)) == 0;
    return right && CU(cuMemGetAddressRange_v2, (address *, size_t *, address), (&base, &found, at)) != 0;
}

static int child_status(bool (*what)(const char *, struct ipc, size_t), const char *name, struct ipc handle,
                        size_t size)
{
    int ended = -1;
    pid_t child = fork();
    if (!child)
        _exit(what(name, handle, size) ? 0 : 1);
    return child > 0 && waitpid(child, &ended, 0) == child ? ended : -1;
}

static void check_memory(const char *open_by)
{
    const size_t size = 5 << 20;
    struct ipc handle;
    address at = 0, mine = 0;
    int legacy = 0;
    CHECK(CU(cuMemAlloc_v2, (address *, size_t), (&at, size)) == 0);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&legacy, LEGACY_IPC, at)) == 0 && legacy == 1);
    CHECK(CU(cuIpcGetMemHandle, (struct ipc *, address), (&handle, at)) == 0);
    CHECK(CU(cuIpcGetMemHandle, (struct ipc *, address), (NULL, at)) == INVALID_VALUE);
    CHECK(BY(open_by, (address *, struct ipc, unsigned), (&mine, handle, LAZY)) == INVALID_CONTEXT);
    CHECK(child_status(opens, open_by, handle, size) == 0);
    CHECK(CU(cuMemFree_v2, (address), (at)) == 0);
    CHECK(CU(cuIpcGetMemHandle, (struct ipc *, address), (&handle, at)) == INVALID_VALUE);
}

CHECKED(cuIpcOpenMemHandle, check_memory)
CHECKED(cuIpcOpenMemHandle_v2, check_memory)

SNIPPET(cuIpcGetMemHandle)
{
    check_memory("cuIpcOpenMemHandle_v2");
}
SNIPPET(cuIpcCloseMemHandle)
{
    CHECK(CU(cuIpcCloseMemHandle, (address), (12345)) == INVALID_VALUE);
    check_memory("cuIpcOpenMemHandle_v2");
}

static bool opens_event(const char *open_by, struct ipc handle, size_t size)
{
    void *event = NULL;
    (void)size;
    return BY(open_by, (void **, struct ipc), (&event, handle)) == 0 && CU(cuEventQuery, (void *), (event)) == 0 &&
           CU(cuEventDestroy_v2, (void *), (event)) == 0;
}

static void check_event(void)
{
    struct ipc handle;
    void *event = NULL, *mine = NULL;
    CHECK(CU(cuEventCreate, (void **, unsigned), (&event, INTERPROCESS)) == 0);
    CHECK(CU(cuIpcGetEventHandle, (struct ipc *, void *), (&handle, event)) == INVALID_HANDLE); /* it times */
    CHECK(CU(cuEventDestroy_v2, (void *), (event)) == 0);
    CHECK(CU(cuEventCreate, (void **, unsigned), (&event, INTERPROCESS | DISABLE_TIMING)) == 0);
    CHECK(CU(cuIpcGetEventHandle, (struct ipc *, void *), (&handle, event)) == 0);
    CHECK(CU(cuIpcOpenEventHandle, (void **, struct ipc), (&mine, handle)) == INVALID_CONTEXT);
    CHECK(child_status(opens_event, "cuIpcOpenEventHandle", handle, 0) == 0);
    CHECK(CU(cuEventDestroy_v2, (void *), (event)) == 0);
}

SNIPPET(cuIpcGetEventHandle)
{
    check_event();
}
SNIPPET(cuIpcOpenEventHandle)
{
    check_event();
}
