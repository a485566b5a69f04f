/* The card under test is whatever the environment describes: figures are checked for sense only. */
#include "snippet.h"

#include <unistd.h>

enum {
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    TIMEOUT = 10,
    VERSION_MISMATCH = 25
};

#define VERSION(type, version) ((unsigned)(sizeof(type) | (version) << 24))

/* Initialised once for all snippets. */
static void *card(unsigned index)
{
    static int started;
    void *device = NULL;
    if (!started++)
        CHECK(CALL(int, nvmlInit_v2, (void), ()) == 0);
    CHECK(CALL(int, nvmlDeviceGetHandleByIndex_v2, (unsigned, void **), (index, &device)) == 0);
    return device;
}

static unsigned mig(void)
{
    unsigned current = 9, pending = 9;
    CHECK(CALL(int, nvmlDeviceGetMigMode, (void *, unsigned *, unsigned *), (card(0), &current, &pending)) == 0);
    CHECK(current == pending && current < 2);
    return current;
}

SNIPPET(nvmlInit)
{
    CHECK(CALL(int, nvmlInit, (void), ()) == 0);
}

SNIPPET(nvmlInit_v2)
{
    CHECK(CALL(int, nvmlInit_v2, (void), ()) == 0);
}

SNIPPET(nvmlInitWithFlags)
{
    CHECK(CALL(int, nvmlInitWithFlags, (unsigned), (0)) == 0);
}

SNIPPET(nvmlShutdown)
{
    CHECK(CALL(int, nvmlInit_v2, (void), ()) == 0);
    CHECK(CALL(int, nvmlShutdown, (void), ()) == 0);
}

#define COUNT(symbol)                                      \
    SNIPPET(symbol)                                        \
    {                                                      \
        unsigned n = 0;                                    \
        card(0);                                           \
        CHECK(CALL(int, symbol, (unsigned *), (&n)) == 0); \
        CHECK(n > 0 && n <= 64);                           \
    }
COUNT(nvmlDeviceGetCount)
COUNT(nvmlDeviceGetCount_v2)

#define BY_INDEX(symbol)                                                                  \
    SNIPPET(symbol)                                                                       \
    {                                                                                     \
        void *device = NULL;                                                              \
        CHECK(CALL(int, symbol, (unsigned, void **), (0, &device)) == 0);                 \
        CHECK(device == card(0));                                                         \
        CHECK(CALL(int, symbol, (unsigned, void **), (64, &device)) == INVALID_ARGUMENT); \
    }
BY_INDEX(nvmlDeviceGetHandleByIndex)
BY_INDEX(nvmlDeviceGetHandleByIndex_v2)

SNIPPET(nvmlDeviceGetHandleByUUID)
{
    char uuid[96] = "";
    void *device = NULL;
    CHECK(CALL(int, nvmlDeviceGetUUID, (void *, char *, unsigned), (card(0), uuid, 96)) == 0);
    CHECK(CALL(int, nvmlDeviceGetHandleByUUID, (const char *, void **), (uuid, &device)) == 0);
    CHECK(device == card(0));
    CHECK(CALL(int, nvmlDeviceGetHandleByUUID, (const char *, void **), ("GPU-absent", &device)) == NOT_FOUND);
}

/* PyTorch asks with the driver's spelling, a domain of four digits. */
#define BY_BUS(symbol)                                                                             \
    SNIPPET(symbol)                                                                                \
    {                                                                                              \
        void *device = NULL;                                                                       \
        card(0);                                                                                   \
        CHECK(CALL(int, symbol, (const char *, void **), ("0000:01:00.0", &device)) == 0);         \
        CHECK(device != NULL);                                                                     \
        CHECK(CALL(int, symbol, (const char *, void **), ("00000000:01:00.0", &device)) == 0);     \
        CHECK(CALL(int, symbol, (const char *, void **), ("0000:7F:00.0", &device)) == NOT_FOUND); \
        CHECK(CALL(int, symbol, (const char *, void **), ("?", &device)) == INVALID_ARGUMENT);     \
    }
BY_BUS(nvmlDeviceGetHandleByPciBusId)
BY_BUS(nvmlDeviceGetHandleByPciBusId_v2)

SNIPPET(nvmlDeviceGetName)
{
    char name[96] = "";
    int other = 0;
    CHECK(CALL(int, nvmlDeviceGetName, (void *, char *, unsigned), (card(0), name, 96)) == 0);
    CHECK(name[0] && !strstr(name, "MIG"));
    CHECK(CALL(int, nvmlDeviceGetName, (void *, char *, unsigned), (card(0), name, 2)) == INSUFFICIENT_SIZE);
    CHECK(CALL(int, nvmlDeviceGetName, (void *, char *, unsigned), (&other, name, 96)) == INVALID_ARGUMENT);
}

SNIPPET(nvmlDeviceGetUUID)
{
    char a[96] = "", b[96] = "";
    CHECK(CALL(int, nvmlDeviceGetUUID, (void *, char *, unsigned), (card(0), a, 96)) == 0);
    CHECK(CALL(int, nvmlDeviceGetUUID, (void *, char *, unsigned), (card(0), b, 96)) == 0);
    CHECK(!strncmp(a, "GPU-", 4) && !strcmp(a, b));
}

SNIPPET(nvmlDeviceGetIndex)
{
    unsigned index = 9;
    CHECK(CALL(int, nvmlDeviceGetIndex, (void *, unsigned *), (card(0), &index)) == 0);
    CHECK(index == 0);
}

SNIPPET(nvmlDeviceGetMinorNumber)
{
    unsigned minor = 9;
    CHECK(CALL(int, nvmlDeviceGetMinorNumber, (void *, unsigned *), (card(0), &minor)) == 0);
    CHECK(minor == 0);
}

SNIPPET(nvmlDeviceGetBoardId)
{
    unsigned id = 0;
    CHECK(CALL(int, nvmlDeviceGetBoardId, (void *, unsigned *), (card(0), &id)) == 0);
    CHECK(id);
}

/* Figures of the RTX 3060 that is played, as NVIDIA's page of it and nvml.h have them. */
#define FIGURE(symbol, expected)                                                \
    SNIPPET(symbol)                                                             \
    {                                                                           \
        unsigned value = 0;                                                     \
        CHECK(CALL(int, symbol, (void *, unsigned *), (card(0), &value)) == 0); \
        CHECK(value == (expected));                                             \
    }
FIGURE(nvmlDeviceGetNumGpuCores, 3584)
FIGURE(nvmlDeviceGetMemoryBusWidth, 192) /* bits */
FIGURE(nvmlDeviceGetPowerManagementLimit, 170000) /* milliwatts */
FIGURE(nvmlDeviceGetPowerManagementDefaultLimit, 170000)
FIGURE(nvmlDeviceGetEnforcedPowerLimit, 170000)
FIGURE(nvmlDeviceGetArchitecture, 7) /* NVML_DEVICE_ARCH_AMPERE */
FIGURE(nvmlDeviceGetBrand, 5) /* NVML_BRAND_GEFORCE */

SNIPPET(nvmlDeviceGetPowerUsage)
{
    unsigned milliwatts = 0;
    CHECK(CALL(int, nvmlDeviceGetPowerUsage, (void *, unsigned *), (card(0), &milliwatts)) == 0);
    CHECK(milliwatts >= 5000 && milliwatts <= 170000); /* between a card that sleeps and its limit */
}

SNIPPET(nvmlDeviceGetDefaultEccMode)
{
    unsigned mode = 9;
    CHECK(CALL(int, nvmlDeviceGetDefaultEccMode, (void *, unsigned *), (card(0), &mode)) == NOT_SUPPORTED);
    CHECK(mode == 9);
}

SNIPPET(nvmlDeviceGetCudaComputeCapability)
{
    int major = 0, minor = -1;
    CHECK(CALL(int, nvmlDeviceGetCudaComputeCapability, (void *, int *, int *), (card(0), &major, &minor)) == 0);
    CHECK(major >= 5 && minor >= 0);
}

SNIPPET(nvmlDeviceGetPciInfo)
{
    struct {
        char bus_id[16];
        unsigned domain, bus, slot, device;
    } info = {{0}, 9, 0, 9, 0};
    CHECK(CALL(int, nvmlDeviceGetPciInfo, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.domain == 0 && info.bus > 0 && info.slot == 0 && strlen(info.bus_id) == 12);
}

SNIPPET(nvmlDeviceGetPciInfo_v2)
{
    struct {
        char bus_id[16];
        unsigned domain, bus, slot, device, subsystem, reserved[4];
    } info = {{0}, 9, 0, 9, 0, 0, {0}};
    CHECK(CALL(int, nvmlDeviceGetPciInfo_v2, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.domain == 0 && info.bus > 0 && info.slot == 0);
}

SNIPPET(nvmlDeviceGetPciInfo_v3)
{
    struct {
        char legacy[16];
        unsigned domain, bus, slot, device, subsystem;
        char bus_id[32];
    } info = {{0}, 9, 0, 9, 0, 0, {0}};
    void *back = NULL;
    CHECK(CALL(int, nvmlDeviceGetPciInfo_v3, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.domain == 0 && info.bus > 0 && strlen(info.bus_id) == 16 && !strcmp(info.legacy, info.bus_id + 4));
    CHECK(CALL(int, nvmlDeviceGetHandleByPciBusId_v2, (const char *, void **), (info.bus_id, &back)) == 0);
    CHECK(back == card(0));
}

SNIPPET(nvmlDeviceGetPciInfoExt)
{
    struct {
        unsigned version, domain, bus, slot, device, subsystem, base, sub;
        char bus_id[32];
    } info = {.domain = 9};
    CHECK(CALL(int, nvmlDeviceGetPciInfoExt, (void *, void *), (card(0), &info)) == VERSION_MISMATCH);
    info.version = VERSION(info, 1);
    CHECK(CALL(int, nvmlDeviceGetPciInfoExt, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.domain == 0 && info.bus > 0 && info.bus_id[0]);
}

SNIPPET(nvmlDeviceGetMemoryInfo)
{
    struct {
        uint64_t total, free, used;
    } info = {0};
    CHECK(CALL(int, nvmlDeviceGetMemoryInfo, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.total > 1 << 30 && info.free <= info.total && info.free + info.used == info.total);
}

SNIPPET(nvmlDeviceGetMemoryInfo_v2)
{
    struct {
        unsigned version;
        uint64_t total, reserved, free, used;
    } info = {0};
    CHECK(CALL(int, nvmlDeviceGetMemoryInfo_v2, (void *, void *), (card(0), &info)) == VERSION_MISMATCH);
    info.version = VERSION(info, 2);
    CHECK(CALL(int, nvmlDeviceGetMemoryInfo_v2, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.total > 1 << 30 && info.reserved + info.free + info.used == info.total);
}

SNIPPET(nvmlDeviceGetBAR1MemoryInfo)
{
    struct {
        uint64_t total, free, used;
    } info = {0};
    CHECK(CALL(int, nvmlDeviceGetBAR1MemoryInfo, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.total && info.free + info.used == info.total);
}

/* No context exists in this program, so the list is empty. */
#define PROCESSES(symbol)                                                                                  \
    SNIPPET(symbol)                                                                                        \
    {                                                                                                      \
        unsigned char list[8 * 24];                                                                        \
        unsigned n = 8;                                                                                    \
        CHECK(CALL(int, symbol, (void *, unsigned *, void *), (card(0), &n, list)) == 0);                  \
        CHECK(n == 0);                                                                                     \
        CHECK(CALL(int, symbol, (void *, unsigned *, void *), (card(0), NULL, list)) == INVALID_ARGUMENT); \
    }
PROCESSES(nvmlDeviceGetComputeRunningProcesses)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)

SNIPPET(nvmlDeviceGetMigMode)
{
    mig();
}

SNIPPET(nvmlDeviceIsMigDeviceHandle)
{
    unsigned is = 9;
    CHECK(CALL(int, nvmlDeviceIsMigDeviceHandle, (void *, unsigned *), (card(0), &is)) == 0);
    CHECK(is == 0);
}

SNIPPET(nvmlDeviceGetMaxMigDeviceCount)
{
    unsigned n = 9;
    CHECK(CALL(int, nvmlDeviceGetMaxMigDeviceCount, (void *, unsigned *), (card(0), &n)) == 0);
    CHECK(n == mig());
}

static void *instance(void)
{
    void *device = NULL;
    int status = CALL(int, nvmlDeviceGetMigDeviceHandleByIndex, (void *, unsigned, void **), (card(0), 0, &device));
    CHECK(status == (mig() ? 0 : NOT_FOUND));
    return device;
}

SNIPPET(nvmlDeviceGetMigDeviceHandleByIndex)
{
    unsigned is = 9;
    char uuid[96] = "";
    void *device = instance(), *none = NULL;
    CHECK(CALL(int, nvmlDeviceGetMigDeviceHandleByIndex, (void *, unsigned, void **), (card(0), 1, &none)) ==
          NOT_FOUND);
    if (!device)
        return;
    CHECK(CALL(int, nvmlDeviceIsMigDeviceHandle, (void *, unsigned *), (device, &is)) == 0 && is == 1);
    CHECK(CALL(int, nvmlDeviceGetUUID, (void *, char *, unsigned), (device, uuid, 96)) == 0);
    CHECK(!strncmp(uuid, "MIG-", 4));
}

SNIPPET(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)
{
    void *device = instance(), *back = NULL;
    int status = CALL(int, nvmlDeviceGetDeviceHandleFromMigDeviceHandle, (void *, void **), (card(0), &back));
    CHECK(status == INVALID_ARGUMENT);
    if (device) {
        CHECK(CALL(int, nvmlDeviceGetDeviceHandleFromMigDeviceHandle, (void *, void **), (device, &back)) == 0);
        CHECK(back == card(0));
    }
}

#define INSTANCE_NUMBER(symbol)                                                             \
    SNIPPET(symbol)                                                                         \
    {                                                                                       \
        unsigned id = 99;                                                                   \
        void *device = instance();                                                          \
        CHECK(CALL(int, symbol, (void *, unsigned *), (card(0), &id)) == NOT_SUPPORTED);    \
        if (device)                                                                         \
            CHECK(CALL(int, symbol, (void *, unsigned *), (device, &id)) == 0 && id != 99); \
    }
INSTANCE_NUMBER(nvmlDeviceGetGpuInstanceId)
INSTANCE_NUMBER(nvmlDeviceGetComputeInstanceId)

#define ATTRIBUTES(symbol)                                                                   \
    SNIPPET(symbol)                                                                          \
    {                                                                                        \
        struct {                                                                             \
            unsigned sms, other[7];                                                          \
            uint64_t mib;                                                                    \
        } a = {0};                                                                           \
        void *device = instance();                                                           \
        CHECK(CALL(int, symbol, (void *, void *), (card(0), &a)) == NOT_SUPPORTED);          \
        if (device)                                                                          \
            CHECK(CALL(int, symbol, (void *, void *), (device, &a)) == 0 && a.sms && a.mib); \
    }
ATTRIBUTES(nvmlDeviceGetAttributes)
ATTRIBUTES(nvmlDeviceGetAttributes_v2)

#define CLOCK(symbol)                                                                             \
    SNIPPET(symbol)                                                                               \
    {                                                                                             \
        unsigned mhz = 0;                                                                         \
        int status = CALL(int, symbol, (void *, int, unsigned *), (card(0), 1, &mhz));            \
        CHECK((status == 0 && mhz > 100) || status == NOT_SUPPORTED);                             \
        CHECK(CALL(int, symbol, (void *, int, unsigned *), (card(0), 3, &mhz)) == NOT_SUPPORTED); \
    }
CLOCK(nvmlDeviceGetClockInfo)
CLOCK(nvmlDeviceGetMaxClockInfo)
CLOCK(nvmlDeviceGetApplicationsClock)
CLOCK(nvmlDeviceGetDefaultApplicationsClock)
CLOCK(nvmlDeviceGetMaxCustomerBoostClock)

SNIPPET(nvmlDeviceGetClock)
{
    unsigned mhz = 0;
    int status = CALL(int, nvmlDeviceGetClock, (void *, int, int, unsigned *), (card(0), 2, 0, &mhz));
    CHECK((status == 0 && mhz > 100) || status == NOT_SUPPORTED);
}

SNIPPET(nvmlDeviceGetPowerManagementLimitConstraints)
{
    unsigned least = 0, most = 0;
    int status = CALL(int, nvmlDeviceGetPowerManagementLimitConstraints, (void *, unsigned *, unsigned *),
                      (card(0), &least, &most));
    CHECK(status == 0 && least >= 5000 && most == 170000 && most >= least); /* milliwatts */
}

SNIPPET(nvmlDeviceGetTemperature)
{
    unsigned celsius = 0;
    CHECK(CALL(int, nvmlDeviceGetTemperature, (void *, int, unsigned *), (card(0), 0, &celsius)) == 0);
    CHECK(celsius > 0 && celsius < 100);
}

SNIPPET(nvmlDeviceGetTemperatureV)
{
    struct {
        unsigned version, sensor;
        int celsius;
    } t = {0};
    t.version = VERSION(t, 1);
    CHECK(CALL(int, nvmlDeviceGetTemperatureV, (void *, void *), (card(0), &t)) == 0);
    CHECK(t.celsius > 0 && t.celsius < 100);
}

SNIPPET(nvmlDeviceGetEccMode)
{
    unsigned current = 9, pending = 9;
    int status = CALL(int, nvmlDeviceGetEccMode, (void *, unsigned *, unsigned *), (card(0), &current, &pending));
    CHECK((status == 0 && current == pending) || status == NOT_SUPPORTED);
}

SNIPPET(nvmlDeviceGetTotalEccErrors)
{
    uint64_t n = 9;
    int status = CALL(int, nvmlDeviceGetTotalEccErrors, (void *, int, int, uint64_t *), (card(0), 0, 0, &n));
    CHECK((status == 0 && n == 0) || status == NOT_SUPPORTED);
}

SNIPPET(nvmlDeviceGetFieldValues)
{
    struct {
        unsigned id, scope;
        int64_t time, latency;
        unsigned type, status;
        uint64_t value;
    } f[2] = {{.id = 91, .scope = 3}, {.id = 140, .status = 77}};
    CHECK(CALL(int, nvmlDeviceGetFieldValues, (void *, int, void *), (card(0), 2, f)) == 0);
    CHECK(f[0].id == 91 && f[0].scope == 3 && f[0].status == NOT_SUPPORTED && f[1].status == NOT_SUPPORTED);
}

SNIPPET(nvmlDeviceGetGpuFabricInfo)
{
    struct {
        unsigned char cluster[16];
        unsigned status, clique;
        unsigned char state;
    } info = {.state = 9};
    CHECK(CALL(int, nvmlDeviceGetGpuFabricInfo, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.state == 0);
}

SNIPPET(nvmlDeviceGetGpuFabricInfoV)
{
    struct {
        unsigned version;
        unsigned char cluster[16];
        unsigned status, clique;
        unsigned char state;
        unsigned health;
        unsigned guard;
    } info = {.version = 0x02000024, .state = 9, .guard = 7};
    CHECK(CALL(int, nvmlDeviceGetGpuFabricInfoV, (void *, void *), (card(0), &info)) == 0);
    CHECK(info.state == 0 && info.version == 0x02000024 && info.guard == 7);
    info.version = 0x03000028;
    CHECK(CALL(int, nvmlDeviceGetGpuFabricInfoV, (void *, void *), (card(0), &info)) == 0);
}

SNIPPET(nvmlSystemGetDriverVersion)
{
    char text[80] = "";
    card(0);
    CHECK(CALL(int, nvmlSystemGetDriverVersion, (char *, unsigned), (text, 80)) == 0);
    CHECK(text[0] >= '5' && text[0] <= '9');
}

SNIPPET(nvmlSystemGetNVMLVersion)
{
    char text[80] = "";
    CHECK(CALL(int, nvmlSystemGetNVMLVersion, (char *, unsigned), (text, 80)) == 0);
    CHECK(!strncmp(text, "13.", 3));
}

SNIPPET(nvmlSystemGetDriverBranch)
{
    struct {
        unsigned version;
        char text[80];
    } branch = {0};
    card(0);
    branch.version = VERSION(branch, 1);
    CHECK(CALL(int, nvmlSystemGetDriverBranch, (void *, unsigned), (&branch, 80)) == 0);
    CHECK(branch.text[0] == 'r');
}

SNIPPET(nvmlErrorString)
{
    CHECK(!strcmp(CALL(const char *, nvmlErrorString, (int), (3)), "Not Supported"));
    CHECK(CALL(const char *, nvmlErrorString, (int), (999)) != NULL);
}

SNIPPET(nvmlSystemGetProcessName)
{
    char name[256] = "";
    card(0);
    CHECK(CALL(int, nvmlSystemGetProcessName, (unsigned, char *, unsigned), ((unsigned)getpid(), name, 256)) == 0);
    CHECK(name[0]);
}

#define SET(symbol)                                                                                    \
    SNIPPET(symbol)                                                                                    \
    {                                                                                                  \
        unsigned long set[4] = {0, 0, 0, 9};                                                           \
        CHECK(CALL(int, symbol, (void *, unsigned, unsigned long *, int), (card(0), 3, set, 0)) == 0); \
        CHECK((set[0] | set[1] | set[2]) && set[3] == 9);                                              \
    }
SET(nvmlDeviceGetCpuAffinity)
SET(nvmlDeviceGetCpuAffinityWithinScope)
SET(nvmlDeviceGetMemoryAffinity)

SNIPPET(nvmlDeviceGetTopologyCommonAncestor)
{
    int level = -1;
    CHECK(CALL(int, nvmlDeviceGetTopologyCommonAncestor, (void *, void *, int *), (card(0), card(0), &level)) == 0);
    CHECK(level == 0);
}

SNIPPET(nvmlDeviceOnSameBoard)
{
    int same = -1;
    CHECK(CALL(int, nvmlDeviceOnSameBoard, (void *, void *, int *), (card(0), card(0), &same)) == 0);
    CHECK(same == 1);
}

static unsigned cards(void)
{
    unsigned n = 0;
    card(0);
    CHECK(CALL(int, nvmlDeviceGetCount_v2, (unsigned *), (&n)) == 0);
    return n;
}

SNIPPET(nvmlDeviceGetTopologyNearestGpus)
{
    void *list[64] = {NULL};
    unsigned n = 64;
    CHECK(CALL(int, nvmlDeviceGetTopologyNearestGpus, (void *, int, unsigned *, void **), (card(0), 40, &n, list)) ==
          0);
    CHECK(n == cards() - 1 && list[0] != card(0));
}

SNIPPET(nvmlSystemGetTopologyGpuSet)
{
    void *list[64] = {NULL};
    unsigned n = 0;
    card(0);
    CHECK(CALL(int, nvmlSystemGetTopologyGpuSet, (unsigned, unsigned *, void **), (0, &n, NULL)) == 0);
    CHECK(n == cards());
    CHECK(CALL(int, nvmlSystemGetTopologyGpuSet, (unsigned, unsigned *, void **), (0, &n, list)) == 0);
    CHECK(list[0] == card(0));
}

SNIPPET(nvmlEventSetWait)
{
    unsigned char event[64];
    CHECK(CALL(int, nvmlEventSetWait, (void *, void *, unsigned), (NULL, event, 1)) == TIMEOUT);
}

SNIPPET(nvmlEventSetWait_v2)
{
    unsigned char event[64];
    CHECK(CALL(int, nvmlEventSetWait_v2, (void *, void *, unsigned), (NULL, event, 1)) == TIMEOUT);
}

SNIPPET(nvmlGpmQueryDeviceSupport)
{
    struct {
        unsigned version, supported, after;
    } answer = {1, 7, 9};
    CHECK(CALL(int, nvmlGpmQueryDeviceSupport, (void *, void *), (card(0), &answer)) == 0);
    CHECK(answer.version == 1 && answer.supported == 0 && answer.after == 9);
}
