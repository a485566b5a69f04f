/* What nvidia-smi shows to people: the summary, the list of cards, the matrix of their connections. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shim/smi/smi.h"

enum { NAME_WIDTH = 41 };

#define EDGE_WHOLE "+-----------------------------------------------------------------------------------------+"
#define EDGE_CARDS "+-----------------------------------------+------------------------+----------------------+"

struct nvml_memory plm_smi_memory(nvml_device card)
{
    struct nvml_memory memory = {.version = PLM_NVML_VERSION(memory, 2)};
    if (nvmlDeviceGetMemoryInfo_v2(card, &memory))
        memory = (struct nvml_memory){0};
    return memory;
}

unsigned plm_smi_processes(nvml_device card, struct nvml_process out[PLM_SMI_PROCESSES])
{
    unsigned count = PLM_SMI_PROCESSES;
    return nvmlDeviceGetComputeRunningProcesses_v3(card, &count, out) ? 0 : count;
}

/* ---- the summary ---- */

static void heading(void)
{
    char driver[PLM_SMI_TEXT] = "", cuda[PLM_SMI_TEXT], now[PLM_SMI_TEXT];
    const time_t seconds = time(NULL);
    struct tm parts;
    int version = 0;
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetCudaDriverVersion(&version);
    snprintf(cuda, sizeof cuda, "%d.%d", version / 1000, version % 1000 / 10);
    strftime(now, sizeof now, "%a %b %e %H:%M:%S %Y", localtime_r(&seconds, &parts));
    printf("%s\n" EDGE_WHOLE "\n", now);
    printf("| NVIDIA-SMI %-22.22s Driver Version: %-14.14s CUDA Version: %-8.8s |\n", driver, driver, cuda);
    puts("|-----------------------------------------+------------------------+----------------------+\n"
         "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
         "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
         "|                                         |                        |               MIG M. |\n"
         "|=========================================+========================+======================|");
}

static void watts(char out[16], int (*get)(nvml_device, unsigned *), nvml_device card)
{
    unsigned value = 0;
    if (get(card, &value))
        snprintf(out, 16, "N/A");
    else
        snprintf(out, 16, "%uW", value / 1000);
}

static void identity_row(nvml_device card)
{
    char name[PLM_SMI_TEXT] = "", errors_text[32] = "N/A";
    unsigned index = 0, persistence = 0, display = 0;
    struct nvml_pci pci = {.bus_id = ""};
    uint64_t errors = 0;
    nvmlDeviceGetIndex(card, &index);
    nvmlDeviceGetName(card, name, sizeof name);
    nvmlDeviceGetPersistenceMode(card, &persistence);
    nvmlDeviceGetPciInfo_v3(card, &pci);
    nvmlDeviceGetDisplayActive(card, &display);
    if (!nvmlDeviceGetTotalEccErrors(card, 1, 0, &errors))
        snprintf(errors_text, sizeof errors_text, "%llu", (unsigned long long)errors);
    printf("| %3u  %-30.30s %-3s |%19.19s %-3s |%21s |\n", index, name, persistence ? "On" : "Off", pci.bus_id,
           display ? "On" : "Off", errors_text);
}

static void readings_row(nvml_device card)
{
    const struct nvml_memory memory = plm_smi_memory(card);
    static const char *const modes[] = {"Default", "E. Thread", "Prohibited", "E. Process"};
    struct nvml_rates rates = {0};
    unsigned fan = 0, celsius = 0, state = 0, mode = 0;
    char draw[16], limit[16];
    nvmlDeviceGetUtilizationRates(card, &rates);
    nvmlDeviceGetFanSpeed(card, &fan);
    nvmlDeviceGetTemperature(card, 0, &celsius);
    nvmlDeviceGetPerformanceState(card, &state);
    nvmlDeviceGetComputeMode(card, &mode);
    watts(draw, nvmlDeviceGetPowerUsage, card);
    watts(limit, nvmlDeviceGetPowerManagementLimit, card);
    printf("|%3u%%  %3uC    P%-2u%15s / %5s |%8lluMiB / %6lluMiB |%7u%% %12s |\n", fan, celsius, state, draw, limit,
           (unsigned long long)(memory.used >> 20), (unsigned long long)(memory.total >> 20), rates.gpu,
           modes[mode % 4]);
}

static void card_print(nvml_device card)
{
    unsigned mig = 0, pending = 0;
    const bool known = !nvmlDeviceGetMigMode(card, &mig, &pending);
    identity_row(card);
    readings_row(card);
    printf("|                                         |                        |%21s |\n" EDGE_CARDS "\n",
           !known ? "N/A"
           : mig  ? "Enabled"
                  : "Disabled");
}

static void process_print(unsigned index, const struct nvml_process *process)
{
    char name[4096] = "", shown[NAME_WIDTH + 1];
    size_t n;
    nvmlSystemGetProcessName(process->pid, name, sizeof name);
    n = strlen(name);
    if (n > NAME_WIDTH)
        snprintf(shown, sizeof shown, "...%s", name + n - (NAME_WIDTH - 3));
    else
        snprintf(shown, sizeof shown, "%s", name);
    printf("|  %3u  %3s  %3s %10u %6s   %-41s %7lluMiB |\n", index, "N/A", "N/A", process->pid, "C", shown,
           (unsigned long long)(process->used >> 20));
}

static void processes_print(const struct plm_smi_cards *cards)
{
    struct nvml_process process[PLM_SMI_PROCESSES];
    unsigned shown = 0;
    puts("\n" EDGE_WHOLE "\n"
         "| Processes:                                                                              |\n"
         "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
         "|        ID   ID                                                               Usage      |\n"
         "|=========================================================================================|");
    for (unsigned i = 0; i < cards->count; i++) {
        const unsigned count = plm_smi_processes(cards->card[i], process);
        unsigned index = 0;
        nvmlDeviceGetIndex(cards->card[i], &index);
        for (unsigned k = 0; k < count; k++)
            process_print(index, &process[k]);
        shown += count;
    }
    if (!shown)
        puts("|  No running processes found                                                             |");
    puts(EDGE_WHOLE);
}

void plm_smi_screen(const struct plm_smi_cards *cards)
{
    heading();
    for (unsigned i = 0; i < cards->count; i++)
        card_print(cards->card[i]);
    processes_print(cards);
}

/* ---- the list ---- */

/* An instance has its card's name, then " MIG " and its profile. */
static void instance_print(nvml_device instance)
{
    char name[PLM_SMI_TEXT] = "", uuid[PLM_NVML_UUID_CHARS] = "";
    const char *profile;
    nvmlDeviceGetName(instance, name, sizeof name);
    nvmlDeviceGetUUID(instance, uuid, sizeof uuid);
    profile = strstr(name, " MIG ");
    printf("  MIG %-11s Device  0: (UUID: %s)\n", profile ? profile + 5 : "", uuid);
}

void plm_smi_list(const struct plm_smi_cards *cards)
{
    for (unsigned i = 0; i < cards->count; i++) {
        char name[PLM_SMI_TEXT] = "", uuid[PLM_NVML_UUID_CHARS] = "";
        nvml_device instance;
        unsigned index = 0;
        nvmlDeviceGetIndex(cards->card[i], &index);
        nvmlDeviceGetName(cards->card[i], name, sizeof name);
        nvmlDeviceGetUUID(cards->card[i], uuid, sizeof uuid);
        printf("GPU %u: %s (UUID: %s)\n", index, name, uuid);
        if (!nvmlDeviceGetMigDeviceHandleByIndex(cards->card[i], 0, &instance))
            instance_print(instance);
    }
}

/* ---- the matrix ---- */

/* By nvmlGpuTopologyLevel_t. */
static const char *connection(nvml_device a, nvml_device b)
{
    static const struct {
        int level;
        const char *name;
    } names[] = {{10, "PIX"}, {20, "PXB"}, {30, "PHB"}, {40, "NODE"}};
    int level = 0;
    if (nvmlDeviceGetTopologyCommonAncestor(a, b, &level))
        return "SYS";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (level <= names[i].level)
            return names[i].name;
    return "SYS";
}

/* "0-3,8": the processors that are near. */
static void affinity_print(nvml_device card)
{
    enum { BITS = 8 * sizeof(unsigned long), WORDS = 16 };
    unsigned long mask[WORDS] = {0};
    const char *comma = "";
    nvmlDeviceGetCpuAffinity(card, WORDS, mask);
    for (unsigned cpu = 0, last; cpu < WORDS * BITS; cpu = last + 1) {
        last = cpu;
        if (!(mask[cpu / BITS] >> cpu % BITS & 1))
            continue;
        while (last + 1 < WORDS * BITS && mask[(last + 1) / BITS] >> (last + 1) % BITS & 1)
            last++;
        printf(last > cpu ? "%s%u-%u" : "%s%u", comma, cpu, last);
        comma = ",";
    }
}

void plm_smi_topology(const struct plm_smi_cards *cards)
{
    for (unsigned i = 0; i < cards->count; i++)
        printf("\tGPU%u", i);
    puts("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID");
    for (unsigned i = 0; i < cards->count; i++) {
        printf("GPU%u", i);
        for (unsigned k = 0; k < cards->count; k++)
            printf("\t%s", i == k ? " X " : connection(cards->card[i], cards->card[k]));
        putchar('\t');
        affinity_print(cards->card[i]);
        puts("\t0\t\tN/A");
    }
    puts("\nLegend:\n\n"
         "  X    = the card itself\n"
         "  SYS  = across NUMA nodes\n"
         "  NODE = across PCIe host bridges of one NUMA node\n"
         "  PHB  = through one PCIe host bridge\n"
         "  PXB  = through several PCIe switches\n"
         "  PIX  = through one PCIe switch");
}
