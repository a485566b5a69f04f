/*
 * Many threads do everything at once: through the shims, as a program would, and through the device. Every activity checks
 * what it gets back. `make tsan` runs this with ThreadSanitizer, which finds data races and lock-order inversions; a plain
 * build runs it for a moment with the unit tests.
 *
 *   stress SECONDS SHIMS
 *
 * Time is cut into rounds. A round is a process of its own with a new record, so that what happens once (the first call,
 * the context, the first text) is raced for again and again, and the record stays small. Prints a line for each activity
 * and `N passed, N failed`; the exit status is 1 if anything failed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "device/context.h"
#include "device/device.h"
#include "device/footprint.h"
#include "device/internal.h"
#include "record/create.h"
#include "record/reader.h"
#include "record/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { THREADS = 6, ROUND_SECONDS = 4, HANG_SECONDS = 120, KIB = 1024, MIB = 1 << 20 };

/* ---- what the threads of a round share ---- */

struct worker {
    pthread_t thread;
    unsigned seed;
};

static void *runtime, *old_runtime, *driver, *fft, *dnn, *profiler, *management;
static pthread_barrier_t together;
static atomic_bool over;

/* Survives the process of a round. */
static struct shared {
    _Atomic unsigned long done[32], failed[32];
    char why[32][200];
} *result;
static __thread struct worker *me;
static __thread int activity;

static void failure(int line, const char *what)
{
    if (atomic_fetch_add(&result->failed[activity], 1) == 0)
        snprintf(result->why[activity], sizeof result->why[0], "line %d: %s", line, what);
}

#define CHECK(condition)                   \
    do {                                   \
        if (!(condition))                  \
            failure(__LINE__, #condition); \
    } while (0)

static unsigned pick(unsigned below)
{
    me->seed = me->seed * 1664525u + 1013904223u;
    return (me->seed >> 8) % below;
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "there is no %s\n", name);
        abort();
    }
    return found;
}

#define FROM(library, name, types, arguments) (((int(*) types)symbol(library, #name))arguments)
#define RT(name, types, arguments)            FROM(pick(8) ? runtime : old_runtime, name, types, arguments)
#define CU(name, types, arguments)            FROM(driver, name, types, arguments)

/* ---- the activities ---- */

static void memory(void)
{
    static const size_t sizes[] = {16, 512, 3000, 64 * KIB, MIB, 2 * MIB, 3 * MIB, 40 * MIB};
    char *at[4] = {NULL}, in[64], out[64];
    size_t size[COUNT(at)];
    struct {
        int type, device;
        void *on_device, *on_host;
        long unused[8];
    } attributes;
    RT(cudaSetDevice, (int), ((int)pick(2)));
    for (size_t i = 0; i < COUNT(at); i++) {
        size[i] = sizes[pick(COUNT(sizes))];
        CHECK(RT(cudaMalloc, (char **, size_t), (&at[i], size[i])) == 0);
    }
    for (size_t i = 0; i < COUNT(at); i++) {
        size_t bytes = size[i] < sizeof in ? size[i] : sizeof in, offset = size[i] - bytes;
        memset(in, (int)pick(255) + 1, sizeof in);
        memset(out, 0, sizeof out);
        CHECK(RT(cudaMemcpy, (void *, const void *, size_t, int), (at[i] + offset, in, bytes, 1)) == 0);
        CHECK(RT(cudaMemcpyAsync, (void *, const void *, size_t, int, void *), (out, at[i] + offset, bytes, 2, NULL)) ==
              0);
        CHECK(size[i] > 2 * MIB || !memcmp(in, out, bytes));
        CHECK(FROM(runtime, cudaPointerGetAttributes, (void *, const void *), (&attributes, at[i] + offset)) == 0 &&
              attributes.type == 2);
        CHECK(RT(cudaMemset, (void *, int, size_t), (at[i], 7, bytes)) == 0);
    }
    for (size_t i = 0; i < COUNT(at); i++)
        CHECK(RT(cudaFree, (void *), (at[i])) == 0);
}

static void how_much(void)
{
    size_t available = 0, total = 0;
    struct {
        unsigned long long total, available, used;
    } info;
    void *card;
    CHECK(RT(cudaMemGetInfo, (size_t *, size_t *), (&available, &total)) == 0 && available <= total);
    CHECK(FROM(management, nvmlInit_v2, (void), ()) == 0);
    CHECK(FROM(management, nvmlDeviceGetHandleByIndex_v2, (unsigned, void **), (pick(2), &card)) == 0);
    CHECK(FROM(management, nvmlDeviceGetMemoryInfo, (void *, void *), (card, &info)) == 0 && info.total);
    CHECK(FROM(management, nvmlShutdown, (void), ()) == 0);
}

static void pools(void)
{
    void *at[3], *pool = NULL, *stream = NULL;
    struct {
        int type, handle_types, location_type, location_id;
        char unused[72];
    } properties = {1, 0, 1, (int)pick(2), {0}};
    uint64_t high = 0;
    CHECK(RT(cudaStreamCreateWithFlags, (void **, unsigned), (&stream, 1)) == 0);
    CHECK(RT(cudaMemPoolCreate, (void **, void *), (&pool, &properties)) == 0);
    for (size_t i = 0; i < COUNT(at); i++)
        if (pick(2))
            CHECK(RT(cudaMallocAsync, (void **, size_t, void *), (&at[i], 1 + pick(4 * MIB), stream)) == 0);
        else
            CHECK(RT(cudaMallocFromPoolAsync, (void **, size_t, void *, void *),
                     (&at[i], 1 + pick(4 * MIB), pool, stream)) == 0);
    CHECK(RT(cudaMemPoolGetAttribute, (void *, int, void *), (pool, 8, &high)) == 0);
    for (size_t i = 0; i < COUNT(at); i++)
        CHECK(RT(cudaFreeAsync, (void *, void *), (at[i], stream)) == 0);
    CHECK(RT(cudaMemPoolTrimTo, (void *, size_t), (pool, 0)) == 0);
    CHECK(RT(cudaMemPoolDestroy, (void *), (pool)) == 0);
    CHECK(RT(cudaDeviceGetDefaultMemPool, (void **, int), (&pool, (int)pick(2))) == 0 && pool);
    CHECK(RT(cudaMemPoolTrimTo, (void *, size_t), (pool, 0)) == 0);
    CHECK(RT(cudaStreamDestroy, (void *), (stream)) == 0);
}

static void mappings(void)
{
    uint64_t at = 0, handle = 0, same = 0, pages = 1 + pick(4);
    int device = (int)pick(2);
    char out[4] = "";
    CHECK(plm_vmm_reserve(8 * PLM_PAGE, 0, 0, &at) == 0);
    CHECK(plm_vmm_create(device, pages * PLM_PAGE, &handle) == 0);
    CHECK(plm_vmm_map(at, pages * PLM_PAGE, 0, handle) == 0);
    CHECK(plm_vmm_map(at, pages * PLM_PAGE, 0, handle) == PLM_DEV_INVALID);
    CHECK(plm_vmm_set_access(at, pages * PLM_PAGE) == 0);
    CHECK(plm_mem_query((void *)at).size == pages * PLM_PAGE);
    CHECK(plm_vmm_handle_of(at, &same) == 0 && same == handle);
    plm_copy((void *)at, "abc", 4);
    plm_copy(out, (void *)at, 4);
    CHECK(pages > 1 || !strcmp(out, "abc"));
    CHECK(plm_vmm_release(handle) == 0 && plm_vmm_release(handle) == 0);
    CHECK(plm_vmm_unmap(at, pages * PLM_PAGE) == 0);
    CHECK(plm_vmm_release_range(at, 8 * PLM_PAGE) == 0);
}

static void host(void)
{
    void *pinned = NULL, *own = aligned_alloc(4096, 8192), *managed = NULL;
    unsigned flags;
    CHECK(RT(cudaHostAlloc, (void **, size_t, unsigned), (&pinned, 1 + pick(MIB), 0)) == 0);
    CHECK(RT(cudaHostRegister, (void *, size_t, unsigned), (own, 8192, 1)) == 0);
    CHECK(RT(cudaHostGetFlags, (unsigned *, void *), (&flags, own)) == 0 && flags == 1);
    CHECK(plm_mem_query((char *)own + 8191).kind == PLM_MEM_HOST && plm_mem_query(&flags).kind == PLM_MEM_NONE);
    CHECK(RT(cudaMallocManaged, (void **, size_t, unsigned), (&managed, 4096, 1)) == 0);
    CHECK(RT(cudaFree, (void *), (managed)) == 0);
    CHECK(RT(cudaHostUnregister, (void *), (own)) == 0);
    CHECK(RT(cudaFreeHost, (void *), (pinned)) == 0);
    free(own);
}

/* An event that all threads record, wait for and ask about. */
static void *common_event(void)
{
    static _Atomic(void *) event;
    void *have = atomic_load(&event), *made = NULL;
    if (have)
        return have;
    CHECK(RT(cudaEventCreate, (void **), (&made)) == 0);
    if (atomic_compare_exchange_strong(&event, &have, made))
        return made;
    CHECK(RT(cudaEventDestroy, (void *), (made)) == 0);
    return have;
}

static void streams(void)
{
    void *stream = NULL, *event = NULL, *common = common_event();
    float time;
    CHECK(RT(cudaStreamCreateWithPriority, (void **, unsigned, int), (&stream, 1, -1)) == 0);
    CHECK(RT(cudaEventCreate, (void **), (&event)) == 0);
    CHECK(RT(cudaEventRecord, (void *, void *), (event, stream)) == 0);
    CHECK(RT(cudaEventRecord, (void *, void *), (common, stream)) == 0);
    CHECK(RT(cudaStreamWaitEvent, (void *, void *, unsigned), (stream, common, 0)) == 0);
    CHECK(RT(cudaEventQuery, (void *), (common)) == 0);
    CHECK(RT(cudaEventSynchronize, (void *), (event)) == 0);
    CHECK(RT(cudaEventElapsedTime, (float *, void *, void *), (&time, event, common)) == 0);
    CHECK(RT(cudaStreamSynchronize, (void *), (stream)) == 0);
    CHECK(RT(cudaEventDestroy, (void *), (event)) == 0);
    CHECK(RT(cudaStreamDestroy, (void *), (stream)) == 0);
}

/* ---- code ---- */

static const char ptx[] = ".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }\n";
static const struct {
    uint32_t magic, version;
    const void *data, *unused;
} wrapper = {0x466243b1u, 1, ptx, NULL};

/* The addresses of these stand for host stubs and shadow variables; each runtime has its own. */
static struct code {
    _Atomic(void **) binary;
    char stub[256], shadow[256];
} new_code, old_code;

static void register_code(void *library, struct code *code)
{
    void **(*fat)(const void *) = (void **(*)(const void *))symbol(library, "__cudaRegisterFatBinary");
    void **binary = fat(&wrapper);
    for (size_t i = 0; i < COUNT(code->stub); i += 16) {
        ((void (*)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *))symbol(
            library, "__cudaRegisterFunction"))(binary, &code->stub[i], NULL, "kernel", -1, NULL, NULL, NULL, NULL,
                                                NULL);
        ((void (*)(void **, char *, char *, const char *, int, size_t, int, int))symbol(library, "__cudaRegisterVar"))(
            binary, &code->shadow[i], NULL, "variable", 0, 64, 0, 0);
    }
    atomic_store(&code->binary, binary);
}

struct dim3 {
    unsigned x, y, z;
};

static void launch(void *library, struct code *code, void *stream)
{
    CHECK(FROM(library, cudaLaunchKernel, (const void *, struct dim3, struct dim3, void **, size_t, void *),
               (&code->stub[16 * pick(16)], (struct dim3){2, 1, 1}, (struct dim3){64, 1, 1}, NULL, 0, stream)) == 0);
}

static void registration(void)
{
    void *library = pick(2) ? runtime : old_runtime;
    struct code *code = library == runtime ? &new_code : &old_code;
    const char *name = NULL;
    size_t i = 16 * pick(16);
    void *first = NULL, *second = NULL;
    if (!atomic_load(&code->binary) || !pick(64))
        register_code(library, code);
    launch(library, code, NULL);
    CHECK(FROM(library, cudaFuncGetName, (const char **, const void *), (&name, &code->stub[i])) == 0);
    /* Whoever asks gets the same place, unless it was registered anew in between. */
    CHECK(FROM(library, cudaGetSymbolAddress, (void **, const void *), (&first, &code->shadow[i])) == 0 && first);
    CHECK(FROM(library, cudaGetSymbolAddress, (void **, const void *), (&second, &code->shadow[i])) == 0 && second);
}

static void captures(void)
{
    void *stream = NULL, *other = NULL, *event = NULL, *graph = NULL, *exec = NULL;
    if (!atomic_load(&new_code.binary))
        register_code(runtime, &new_code);
    CHECK(FROM(runtime, cudaStreamCreateWithFlags, (void **, unsigned), (&stream, 1)) == 0);
    CHECK(FROM(runtime, cudaStreamCreateWithFlags, (void **, unsigned), (&other, 1)) == 0);
    CHECK(FROM(runtime, cudaEventCreate, (void **), (&event)) == 0);
    CHECK(FROM(runtime, cudaStreamBeginCapture, (void *, int), (stream, 1 + (int)pick(2))) == 0);
    launch(runtime, &new_code, stream);
    CHECK(FROM(runtime, cudaEventRecord, (void *, void *), (event, stream)) == 0);
    CHECK(FROM(runtime, cudaStreamWaitEvent, (void *, void *, unsigned), (other, event, 0)) == 0);
    launch(runtime, &new_code, other);
    CHECK(FROM(runtime, cudaEventRecord, (void *, void *), (event, other)) == 0);
    CHECK(FROM(runtime, cudaStreamWaitEvent, (void *, void *, unsigned), (stream, event, 0)) == 0);
    CHECK(FROM(runtime, cudaStreamEndCapture, (void *, void **), (stream, &graph)) == 0 && graph);
    CHECK(FROM(runtime, cudaGraphInstantiateWithFlags, (void **, void *, unsigned long long), (&exec, graph, 0)) == 0);
    CHECK(FROM(runtime, cudaGraphLaunch, (void *, void *), (exec, stream)) == 0);
    CHECK(FROM(runtime, cudaGraphExecDestroy, (void *), (exec)) == 0);
    CHECK(FROM(runtime, cudaGraphDestroy, (void *), (graph)) == 0);
    CHECK(FROM(runtime, cudaEventDestroy, (void *), (event)) == 0);
    CHECK(FROM(runtime, cudaStreamDestroy, (void *), (other)) == 0);
    CHECK(FROM(runtime, cudaStreamDestroy, (void *), (stream)) == 0);
}

/* A kernel that all threads set attributes of and launch. */
static void *common_kernel(void)
{
    static _Atomic(void *) kernel;
    void *module = NULL, *found = atomic_load(&kernel);
    if (found)
        return found;
    CHECK(CU(cuModuleLoadData, (void **, const void *), (&module, ptx)) == 0);
    CHECK(CU(cuModuleGetFunction, (void **, void *, const char *), (&found, module, "kernel")) == 0);
    atomic_store(&kernel, found);
    return found;
}

static void modules(void)
{
    void *context = NULL, *other = NULL, *module = NULL, *function = NULL;
    uint64_t at = 0, again = 0;
    size_t size;
    unsigned flags;
    int number, device = (int)pick(2);
    CHECK(CU(cuInit, (unsigned), (0)) == 0);
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&other, 1 - device)) == 0);
    CHECK(CU(cuDevicePrimaryCtxRelease_v2, (int), (1 - device)) == 0);
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&context, device)) == 0);
    CHECK(CU(cuCtxSetCurrent, (void *), (context)) == 0);
    CHECK(CU(cuModuleLoadData, (void **, const void *), (&module, ptx)) == 0);
    CHECK(CU(cuModuleGetFunction, (void **, void *, const char *), (&function, module, "kernel")) == 0);
    CHECK(CU(cuModuleGetGlobal_v2, (uint64_t *, size_t *, void *, const char *), (&at, &size, module, "v")) == 0);
    CHECK(CU(cuModuleGetGlobal_v2, (uint64_t *, size_t *, void *, const char *), (&again, &size, module, "v")) == 0);
    CHECK(at && at == again);
    CHECK(CU(cuLaunchKernel,
             (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
             (pick(2) ? function : common_kernel(), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL)) == 0);
    CHECK(CU(cuModuleUnload, (void *), (module)) == 0);
    CHECK(CU(cuFuncSetAttribute, (void *, int, int), (common_kernel(), 8, 1024 * (int)pick(60))) == 0);
    CHECK(CU(cuCtxSetCacheConfig, (int), ((int)pick(4))) == 0 && CU(cuCtxGetCacheConfig, (int *), (&number)) == 0);
    CHECK(CU(cuCtxSetLimit, (int, size_t), (1, MIB)) == 0 && CU(cuCtxGetLimit, (size_t *, int), (&size, 1)) == 0);
    CHECK(CU(cuDevicePrimaryCtxSetFlags_v2, (int, unsigned), (0, pick(4))) == 0);
    CHECK(CU(cuDevicePrimaryCtxGetState, (int, unsigned *, int *), (0, &flags, &number)) == 0);
    number = CU(cuCtxEnablePeerAccess, (void *, unsigned), (other, 0));
    CHECK(number == 0 || number == 704);
    number = CU(cuCtxDisablePeerAccess, (void *), (other));
    CHECK(number == 0 || number == 705);
    CHECK(CU(cuDevicePrimaryCtxRelease_v2, (int), (device)) == 0);
    CHECK(CU(cuCtxCreate_v2, (void **, unsigned, int), (&context, 0, (int)pick(2))) == 0);
    CHECK(CU(cuCtxDestroy_v2, (void *), (context)) == 0);
}

static void libraries(void)
{
    int plan = 0, mask;
    size_t size = sizeof(uint64_t);
    uint64_t value = 1 + pick(100);
    void *data, *function, *handle = NULL;
    CHECK(FROM(fft, cufftPlan1d, (int *, int, int, int), (&plan, 1 << 20, 0x29, 1 + (int)pick(4))) == 0);
    CHECK(FROM(fft, cufftGetSize, (int, size_t *), (plan, &size)) == 0);
    CHECK(FROM(fft, cufftDestroy, (int), (plan)) == 0);
    CHECK(FROM(dnn, cudnnCreate, (void **), (&handle)) == 0 && FROM(dnn, cudnnDestroy, (void *), (handle)) == 0);
    CHECK(FROM(dnn, cudnnSetCallback, (unsigned, void *, void *), (pick(7), &value, NULL)) == 0);
    CHECK(FROM(dnn, cudnnGetCallback, (int *, void **, void **), (&mask, &data, &function)) == 0);
    size = sizeof value;
    CHECK(FROM(profiler, cuptiActivitySetAttribute, (int, size_t *, void *), (2, &size, &value)) == 0);
    CHECK(FROM(profiler, cuptiActivityGetAttribute, (int, size_t *, void *), (2, &size, &value)) == 0);
    plm_footprint_limit((int)pick(2), PLM_LIMIT_STACK, 1024 + pick(4096));
}

/* ---- what PyTorch and the hook do ---- */

static void contexts(void)
{
    static const char *const names[] = {"aten::mm", "aten::add", "aten::empty", "aten::all", "SumBackward0"};
    char module[32];
    int depth = 1 + (int)pick(4);
    plm_context_enter_phase((enum plm_phase)(1 + pick(PLM_PHASES - 1)));
    for (int i = 0; i < depth; i++) {
        snprintf(module, sizeof module, "layer%u", pick(50));
        plm_context_enter_module(plm_record_text(module), 0);
        plm_context_enter_operator(&names[i], names[pick(COUNT(names))]);
        CHECK(plm_context_now());
        plm_journal_note(plm_journal_of_thread(), PLM_JOURNAL_MODULES, (int64_t)pick(1000), 1);
        plm_context_enter_node(&module, "SumBackward0", (int64_t)pick(1000));
        plm_context_now();
        plm_context_leave_operator(&module);
        plm_context_leave_operator(&names[i]);
    }
    for (int i = 0; i <= depth; i++)
        plm_context_leave();
    CHECK(plm_context_depth() == 0);
}

struct c10_device {
    int8_t type, index;
};
void plm_hook_step(uint32_t step, uint32_t optimizers);

static void blocks(void)
{
    static _Atomic(void (*)(void *, int64_t, size_t, size_t, struct c10_device)) report;
    static _Atomic int64_t allocated;
    struct c10_device where = {1, (int8_t)pick(2)};
    uint64_t at = 0;
    int64_t bytes = 512 * (1 + (int64_t)pick(100));
    if (!atomic_load(&report))
        atomic_store(&report, (void (*)(void *, int64_t, size_t, size_t, struct c10_device))symbol(
                                  RTLD_DEFAULT, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"));
    CHECK(plm_mem_alloc(where.index, 256 * KIB, &at) == 0);
    for (int i = 0; i < 4; i++) {
        size_t now = (size_t)(atomic_fetch_add(&allocated, bytes) + bytes);
        atomic_load (&report)((void *)at, bytes, now, now, where);
        plm_copy((void *)at, &bytes, sizeof bytes);
        now = (size_t)(atomic_fetch_sub(&allocated, bytes) - bytes);
        atomic_load (&report)((void *)at, -bytes, now, now, where);
    }
    CHECK(plm_mem_free(at) == 0);
    plm_hook_step(pick(100), 1);
}

static void texts(void)
{
    static struct plm_record_name names[8];
    char text[64];
    unsigned which = pick(COUNT(names));
    uint32_t id;
    snprintf(text, sizeof text, "name %u", which);
    id = plm_record_name(&names[which], text);
    CHECK(id && id == plm_record_text(text));
    snprintf(text, sizeof text, "%u", pick(2000));
    CHECK(plm_record_text(text) == plm_record_text(text));
    plm_record_config("key", text);
    atomic_store(&plm_record_live()->step, pick(100));
}

static void forks(void);

/* AddressSanitizer's allocator, unlike glibc's, leaves its locks taken in a child if a thread was allocating when the process
   forked (mended in gcc 14). So nobody is inside an activity there while somebody forks. */
#ifdef __SANITIZE_ADDRESS__
static pthread_rwlock_t quiet = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void enter(bool alone)
{
    (void)(alone ? pthread_rwlock_wrlock(&quiet) : pthread_rwlock_rdlock(&quiet));
}

static void leave(void)
{
    pthread_rwlock_unlock(&quiet);
}
#else
static void enter(bool alone)
{
    (void)alone;
}

static void leave(void)
{
}
#endif

static const struct {
    const char *name;
    void (*run)(void);
    unsigned rarely; /* one time in so many */
} activities[] = {
    {"memory", memory, 1},   {"how-much", how_much, 4},   {"pools", pools, 1},       {"mappings", mappings, 1},
    {"host", host, 1},       {"streams", streams, 1},     {"captures", captures, 1}, {"registration", registration, 1},
    {"modules", modules, 1}, {"libraries", libraries, 2}, {"contexts", contexts, 1}, {"blocks", blocks, 1},
    {"texts", texts, 1},     {"forks", forks, 20},
};
enum { ACTIVITIES = COUNT(activities) };
_Static_assert(ACTIVITIES <= COUNT(((struct shared *)0)->done), "one counter each");

static void act(int which)
{
    activity = which;
    activities[which].run();
    atomic_fetch_add(&result->done[which], 1);
}

/* A child of a process with many threads: it finds no lock taken and goes on with a record of its own. */
static void forks(void)
{
    int mine = activity, status = 0;
    pid_t child;
#ifdef __SANITIZE_THREAD__
    /* ThreadSanitizer's pthread_once, unlike glibc's, waits forever in a child for a thread that was running it when the
       process forked. So nobody forks there before it has seen everything that happens once. */
    static __thread bool seen;
    for (int i = 0; !seen && i < ACTIVITIES; i++)
        if (activities[i].run != forks)
            act(i);
    seen = true;
    activity = mine;
#endif
    enter(true);
    child = fork();
    if (child)
        leave();
    if (child == 0) {
        alarm(HANG_SECONDS / 2);
        for (int i = 0; i < ACTIVITIES; i++)
            if (activities[i].run != forks)
                act(i);
        _exit(0);
    }
    activity = mine;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (status) {
        char what[64];
        snprintf(what, sizeof what, "a child ended with %s %d", WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        failure(__LINE__, what);
    }
}

/* ---- rounds ---- */

static void *work(void *data)
{
    me = data;
    pthread_barrier_wait(&together);
    while (!atomic_load(&over)) {
        unsigned which = pick(ACTIVITIES);
        if (pick(activities[which].rarely))
            continue;
        if (activities[which].run == forks) {
            act((int)which);
        } else {
            enter(false);
            act((int)which);
            leave();
        }
    }
    return NULL;
}

static void *open_shim(const char *folder, const char *file)
{
    char path[4096];
    void *library;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return library;
}

static void round_of(unsigned number, unsigned milliseconds, const char *shims)
{
    struct worker workers[THREADS];
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

    alarm(milliseconds / 1000 + HANG_SECONDS);
    setenv("CUDA_MODULE_LOADING", number % 2 ? "EAGER" : "LAZY", 1);
    runtime = open_shim(shims, "libcudart.so.13");
    old_runtime = open_shim(shims, "libcudart.so.12");
    driver = open_shim(shims, "libcuda.so.1");
    fft = open_shim(shims, "libcufft.so.12");
    dnn = open_shim(shims, "libcudnn.so.9");
    profiler = open_shim(shims, "libcupti.so.13");
    management = open_shim(shims, "libnvidia-ml.so.1");
    pthread_barrier_init(&together, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.seed = number * THREADS + i + 1};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            abort();
    }
    nanosleep(&time, NULL);
    atomic_store(&over, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    plm_device_leave();
}

/* What a record tells of the card's memory happened in that order: nothing is taken twice, nothing is given back that was
   not taken. Children of the round's process give back what it took before; only the process itself is looked at. */
struct story {
    uint64_t pid, events;
    uint32_t process;
    bool known, wrong;
    unsigned live;
    uint64_t address[4096];
};

static bool take_out(struct story *s, uint64_t address)
{
    for (unsigned i = 0; i < s->live; i++)
        if (s->address[i] == address) {
            s->address[i] = s->address[--s->live];
            return true;
        }
    return false;
}

static int visit(const struct plm_record_event *e, void *data)
{
    struct story *s = data;
    s->events++;
    if (e->type == PLM_EV_PROCESS && e->words[0] == s->pid) {
        s->process = e->process;
        s->known = true;
    }
    if (!s->known || e->process != s->process)
        return 0;
    if (e->type == PLM_EV_MEMORY_FREE)
        s->wrong |= !take_out(s, e->words[0]);
    if (e->type == PLM_EV_MEMORY_ALLOC) {
        s->wrong |= take_out(s, e->words[0]) || s->live == COUNT(s->address);
        s->address[s->live++ % COUNT(s->address)] = e->words[0];
    }
    return 0;
}

static bool read_back(const char *path, pid_t pid)
{
    static struct story s;
    struct plm_record *record;
    struct plm_error error = {0};
    bool whole;
    s = (struct story){.pid = (uint64_t)pid};
    if (plm_record_open(path, &record, &error)) {
        printf("not ok record - it cannot be read\n");
        return false;
    }
    whole = plm_record_each(record, visit, &s, &error) == 0 && s.known && !s.wrong;
    if (!whole)
        printf("not ok record - its %llu events do not fit together\n", (unsigned long long)s.events);
    plm_record_free(record);
    return whole;
}

static bool one_round(unsigned number, unsigned milliseconds, const char *shims, const char *path)
{
    struct plm_record_file file;
    struct plm_error error;
    int status = 0;
    pid_t child;
    if (plm_record_create(path, true, &file, &error))
        return false;
    plm_record_close(&file);
    child = fork();
    if (child == 0) {
        round_of(number, milliseconds, shims);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status) {
        printf("not ok round-%u - status %d\n", number, status);
        return false;
    }
    return read_back(path, child);
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/plimsoll-stress-XXXXXX";
    double left = argc > 1 ? atof(argv[1]) : 0;
    unsigned rounds = 0, bad = 0, passed = 0, failed = 0;
    int fd;

    if (argc != 3 || left <= 0) {
        fprintf(stderr, "usage: stress SECONDS SHIMS\n");
        return 2;
    }
    fd = mkstemp(path);
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || result == MAP_FAILED)
        return 1;
    close(fd);
    setenv("PLIMSOLL_RECORD", path, 1);
    setenv("PLIMSOLL_GPUS", "2", 1);
    setenv("PLIMSOLL_CONTEXT", "model", 1);
    for (; left > 0; left -= ROUND_SECONDS)
        bad += !one_round(rounds++, (unsigned)(1000 * (left < ROUND_SECONDS ? left : ROUND_SECONDS)), argv[2], path);
    unlink(path);
    for (int i = 0; i < ACTIVITIES; i++) {
        unsigned long wrong = atomic_load(&result->failed[i]);
        printf("%s %s - %lu times", wrong ? "not ok" : "ok", activities[i].name, atomic_load(&result->done[i]));
        if (wrong)
            printf(", %lu checks failed, the first in %s", wrong, result->why[i]);
        printf("\n");
        passed += !wrong;
        failed += wrong != 0;
    }
    printf("%s rounds - %u, %u went wrong\n", bad ? "not ok" : "ok", rounds, bad);
    printf("%u passed, %u failed\n", passed + !bad, failed + (bad != 0));
    return failed || bad;
}
