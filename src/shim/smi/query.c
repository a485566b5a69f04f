/* --query-gpu and --query-compute-apps: fields of cards and of processes, as nvidia-smi's help lists them. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shim/smi/smi.h"

enum { FIELDS_MOST = 64 };
enum clock { CLOCK_GRAPHICS, CLOCK_SM, CLOCK_MEMORY };

/* What a row of the answer is about. */
struct subject {
    nvml_device card;
    unsigned cards; /* of the machine */
    struct nvml_process process;
};

struct field {
    const char *name, *alias, *unit;
    bool (*tell)(const struct field *field, const struct subject *of, char out[PLM_SMI_TEXT]); /* NULL: not known */
    int which;
    int (*number)(nvml_device, unsigned *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*pair)(nvml_device, unsigned *, unsigned *); /* `which` of two */
    int (*text)(nvml_device, char *, unsigned);
};

/* ---- how a value is told; false: the library does not know it ---- */

static bool told(int status, char out[PLM_SMI_TEXT], const char *format, unsigned value)
{
    snprintf(out, PLM_SMI_TEXT, format, value); /* NOLINT(clang-diagnostic-format-nonliteral): constants of this file */
    return status == PLM_NVML_OK;
}

static int value_of(const struct field *f, const struct subject *of, unsigned *value)
{
    unsigned two[2] = {0, 0};
    int status;
    if (f->number)
        return f->number(of->card, value);
    if (f->clock)
        return f->clock(of->card, f->which, value);
    status = f->pair(of->card, &two[0], &two[1]);
    *value = two[f->which];
    return status;
}

static bool tell_number(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    unsigned value = 0;
    const int status = value_of(f, of, &value);
    return told(status, out, "%u", value);
}

static bool tell_switch(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    unsigned value = 0;
    const int status = value_of(f, of, &value);
    return told(status, out, value ? "Enabled" : "Disabled", value);
}

static bool tell_watts(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    unsigned value = 0;
    const int status = value_of(f, of, &value);
    snprintf(out, PLM_SMI_TEXT, "%u.%02u", value / 1000, value % 1000 / 10);
    return status == PLM_NVML_OK;
}

static bool tell_state(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    unsigned value = 0;
    const int status = value_of(f, of, &value);
    return told(status, out, "P%u", value);
}

static bool tell_mode(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    static const char *const modes[] = {"Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process"};
    unsigned value = 0;
    const int status = value_of(f, of, &value);
    return told(status, out, modes[value % 4], value);
}

static bool tell_text(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    return f->text(of->card, out, PLM_SMI_TEXT) == PLM_NVML_OK;
}

static bool tell_temperature(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    unsigned value = 0;
    const int status = nvmlDeviceGetTemperature(of->card, f->which, &value);
    return told(status, out, "%u", value);
}

static bool tell_rate(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    struct nvml_rates rates = {0};
    const int status = nvmlDeviceGetUtilizationRates(of->card, &rates);
    return told(status, out, "%u", f->which ? rates.memory : rates.gpu);
}

static bool tell_memory(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    const struct nvml_memory m = plm_smi_memory(of->card);
    const uint64_t bytes[] = {m.total, m.reserved, m.used, m.free};
    snprintf(out, PLM_SMI_TEXT, "%llu", (unsigned long long)(bytes[f->which] >> 20));
    return true;
}

static bool tell_bus(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    struct nvml_pci pci;
    const int status = nvmlDeviceGetPciInfo_v3(of->card, &pci);
    switch (f->which) {
    case 0: snprintf(out, PLM_SMI_TEXT, "%s", pci.bus_id); break;
    case 1: snprintf(out, PLM_SMI_TEXT, "0x%04X", pci.domain); break;
    case 2: snprintf(out, PLM_SMI_TEXT, "0x%02X", pci.bus); break;
    default: snprintf(out, PLM_SMI_TEXT, "0x%02X", pci.slot);
    }
    return status == PLM_NVML_OK;
}

static bool tell_capability(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    int major = 0, minor = 0;
    const int status = nvmlDeviceGetCudaComputeCapability(of->card, &major, &minor);
    (void)f;
    snprintf(out, PLM_SMI_TEXT, "%d.%d", major, minor);
    return status == PLM_NVML_OK;
}

static bool tell_ecc_errors(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    uint64_t errors = 0;
    const int status = nvmlDeviceGetTotalEccErrors(of->card, f->which, 0, &errors);
    return told(status, out, "%u", (unsigned)errors);
}

static bool tell_driver(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    (void)f;
    (void)of;
    return nvmlSystemGetDriverVersion(out, PLM_SMI_TEXT) == PLM_NVML_OK;
}

static bool tell_count(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    (void)f;
    return told(PLM_NVML_OK, out, "%u", of->cards);
}

static bool tell_time(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    struct timespec now;
    struct tm parts;
    size_t n;
    (void)f;
    (void)of;
    clock_gettime(CLOCK_REALTIME, &now);
    n = strftime(out, PLM_SMI_TEXT, "%Y/%m/%d %H:%M:%S", localtime_r(&now.tv_sec, &parts));
    snprintf(out + n, PLM_SMI_TEXT - n, ".%03ld", now.tv_nsec / 1000000);
    return true;
}

static bool tell_pid(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    (void)f;
    return told(PLM_NVML_OK, out, "%u", of->process.pid);
}

static bool tell_process(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    (void)f;
    return nvmlSystemGetProcessName(of->process.pid, out, PLM_SMI_TEXT) == PLM_NVML_OK;
}

static bool tell_process_memory(const struct field *f, const struct subject *of, char out[PLM_SMI_TEXT])
{
    (void)f;
    return told(PLM_NVML_OK, out, "%u", (unsigned)(of->process.used >> 20));
}

/* ---- the fields ---- */

#define FIELD(name_, alias_, unit_, tell_, more) \
    {.name = (name_), .alias = (alias_), .unit = (unit_), .tell = (tell_), more}
#define NUMBER(name, alias, unit, function) FIELD(name, alias, unit, tell_number, .number = (function))
#define SWITCH(name, function)              FIELD(name, NULL, NULL, tell_switch, .number = (function))
#define WATTS(name, function)               FIELD(name, NULL, "W", tell_watts, .number = (function))
#define ECC(name, which_)                   FIELD(name, NULL, NULL, tell_ecc_errors, .which = (which_))
#define UNKNOWN(name)                       FIELD(name, NULL, NULL, NULL, .which = 0)
#define PAIR(name_, unit_, tell_, function, which_) \
    {.name = (name_), .unit = (unit_), .tell = (tell_), .which = (which_), .pair = (function)}
#define CLOCK(name_, alias_, function, which_) \
    {.name = (name_), .alias = (alias_), .unit = "MHz", .tell = tell_number, .which = (which_), .clock = (function)}

static const struct field card_fields[] = {
    FIELD("timestamp", NULL, NULL, tell_time, .which = 0),
    FIELD("driver_version", NULL, NULL, tell_driver, .which = 0),
    FIELD("count", NULL, NULL, tell_count, .which = 0),
    FIELD("name", "gpu_name", NULL, tell_text, .text = nvmlDeviceGetName),
    FIELD("serial", "gpu_serial", NULL, NULL, .which = 0),
    FIELD("uuid", "gpu_uuid", NULL, tell_text, .text = nvmlDeviceGetUUID),
    NUMBER("index", NULL, NULL, nvmlDeviceGetIndex),
    FIELD("pci.bus_id", "gpu_bus_id", NULL, tell_bus, .which = 0),
    FIELD("pci.domain", NULL, NULL, tell_bus, .which = 1),
    FIELD("pci.bus", NULL, NULL, tell_bus, .which = 2),
    FIELD("pci.device", NULL, NULL, tell_bus, .which = 3),
    UNKNOWN("pci.device_id"),
    UNKNOWN("pci.sub_device_id"),
    UNKNOWN("pcie.link.gen.current"),
    UNKNOWN("pcie.link.gen.gpucurrent"),
    UNKNOWN("pcie.link.gen.max"),
    UNKNOWN("pcie.link.gen.gpumax"),
    UNKNOWN("pcie.link.gen.hostmax"),
    UNKNOWN("pcie.link.width.current"),
    UNKNOWN("pcie.link.width.max"),
    UNKNOWN("vbios_version"),
    SWITCH("display_mode", nvmlDeviceGetDisplayMode),
    SWITCH("display_active", nvmlDeviceGetDisplayActive),
    SWITCH("persistence_mode", nvmlDeviceGetPersistenceMode),
    SWITCH("accounting.mode", nvmlDeviceGetAccountingMode),
    UNKNOWN("accounting.buffer_size"),
    UNKNOWN("driver_model.current"),
    UNKNOWN("driver_model.pending"),
    UNKNOWN("inforom.img"),
    UNKNOWN("inforom.oem"),
    UNKNOWN("inforom.ecc"),
    NUMBER("fan.speed", NULL, "%", nvmlDeviceGetFanSpeed),
    FIELD("pstate", NULL, NULL, tell_state, .number = nvmlDeviceGetPerformanceState),
    FIELD("memory.total", NULL, "MiB", tell_memory, .which = 0),
    FIELD("memory.reserved", NULL, "MiB", tell_memory, .which = 1),
    FIELD("memory.used", NULL, "MiB", tell_memory, .which = 2),
    FIELD("memory.free", NULL, "MiB", tell_memory, .which = 3),
    FIELD("compute_mode", NULL, NULL, tell_mode, .number = nvmlDeviceGetComputeMode),
    FIELD("compute_cap", NULL, NULL, tell_capability, .which = 0),
    FIELD("utilization.gpu", NULL, "%", tell_rate, .which = 0),
    FIELD("utilization.memory", NULL, "%", tell_rate, .which = 1),
    PAIR("utilization.encoder", "%", tell_number, nvmlDeviceGetEncoderUtilization, 0),
    PAIR("utilization.decoder", "%", tell_number, nvmlDeviceGetDecoderUtilization, 0),
    PAIR("ecc.mode.current", NULL, tell_switch, nvmlDeviceGetEccMode, 0),
    PAIR("ecc.mode.pending", NULL, tell_switch, nvmlDeviceGetEccMode, 1),
    ECC("ecc.errors.corrected.volatile.total", 0),
    ECC("ecc.errors.uncorrected.volatile.total", 1),
    UNKNOWN("retired_pages.pending"),
    FIELD("temperature.gpu", NULL, NULL, tell_temperature, .which = 0),
    UNKNOWN("temperature.memory"),
    SWITCH("power.management", nvmlDeviceGetPowerManagementMode),
    WATTS("power.draw", nvmlDeviceGetPowerUsage),
    WATTS("power.draw.average", nvmlDeviceGetPowerUsage),
    WATTS("power.draw.instant", nvmlDeviceGetPowerUsage),
    WATTS("power.limit", nvmlDeviceGetPowerManagementLimit),
    WATTS("enforced.power.limit", nvmlDeviceGetEnforcedPowerLimit),
    WATTS("power.default_limit", nvmlDeviceGetPowerManagementDefaultLimit),
    PAIR("power.min_limit", "W", tell_watts, nvmlDeviceGetPowerManagementLimitConstraints, 0),
    PAIR("power.max_limit", "W", tell_watts, nvmlDeviceGetPowerManagementLimitConstraints, 1),
    CLOCK("clocks.current.graphics", "clocks.gr", nvmlDeviceGetClockInfo, CLOCK_GRAPHICS),
    CLOCK("clocks.current.sm", "clocks.sm", nvmlDeviceGetClockInfo, CLOCK_SM),
    CLOCK("clocks.current.memory", "clocks.mem", nvmlDeviceGetClockInfo, CLOCK_MEMORY),
    UNKNOWN("clocks.current.video"),
    CLOCK("clocks.applications.graphics", "clocks.applications.gr", nvmlDeviceGetApplicationsClock, CLOCK_GRAPHICS),
    CLOCK("clocks.applications.memory", "clocks.applications.mem", nvmlDeviceGetApplicationsClock, CLOCK_MEMORY),
    CLOCK("clocks.default_applications.graphics", "clocks.default_applications.gr",
          nvmlDeviceGetDefaultApplicationsClock, CLOCK_GRAPHICS),
    CLOCK("clocks.default_applications.memory", "clocks.default_applications.mem",
          nvmlDeviceGetDefaultApplicationsClock, CLOCK_MEMORY),
    CLOCK("clocks.max.graphics", "clocks.max.gr", nvmlDeviceGetMaxClockInfo, CLOCK_GRAPHICS),
    CLOCK("clocks.max.sm", NULL, nvmlDeviceGetMaxClockInfo, CLOCK_SM),
    CLOCK("clocks.max.memory", "clocks.max.mem", nvmlDeviceGetMaxClockInfo, CLOCK_MEMORY),
    PAIR("mig.mode.current", NULL, tell_switch, nvmlDeviceGetMigMode, 0),
    PAIR("mig.mode.pending", NULL, tell_switch, nvmlDeviceGetMigMode, 1),
};

static const struct field app_fields[] = {
    FIELD("timestamp", NULL, NULL, tell_time, .which = 0),
    FIELD("gpu_name", NULL, NULL, tell_text, .text = nvmlDeviceGetName),
    FIELD("gpu_bus_id", NULL, NULL, tell_bus, .which = 0),
    FIELD("gpu_serial", NULL, NULL, NULL, .which = 0),
    FIELD("gpu_uuid", NULL, NULL, tell_text, .text = nvmlDeviceGetUUID),
    FIELD("pid", NULL, NULL, tell_pid, .which = 0),
    FIELD("process_name", "name", NULL, tell_process, .which = 0),
    FIELD("used_gpu_memory", "used_memory", "MiB", tell_process_memory, .which = 0),
};

struct columns {
    const struct field *field[FIELDS_MOST];
    char name[FIELDS_MOST][64]; /* as the user wrote it: the header has that */
    size_t count;
};

static const struct field *fields_of(bool apps, size_t *count)
{
    *count = apps ? sizeof app_fields / sizeof app_fields[0] : sizeof card_fields / sizeof card_fields[0];
    return apps ? app_fields : card_fields;
}

static const struct field *field_find(bool apps, const char *name)
{
    size_t count;
    const struct field *fields = fields_of(apps, &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, fields[i].name) || (fields[i].alias && !strcmp(name, fields[i].alias)))
            return &fields[i];
    return NULL;
}

/* False: a name is none. It has been told. */
static bool columns_read(const struct plm_smi_query *query, struct columns *columns)
{
    const char *at = query->fields;
    columns->count = 0;
    while (*at) {
        char *name = columns->name[columns->count];
        const struct field *field;
        size_t n;
        at += strspn(at, ", ");
        n = strcspn(at, ", ");
        if (!n)
            break;
        snprintf(name, sizeof columns->name[0], "%.*s", (int)n, at);
        field = field_find(query->apps, name);
        if (!field || columns->count == FIELDS_MOST - 1) {
            printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)n, at);
            return false;
        }
        columns->field[columns->count++] = field;
        at += n;
    }
    return true;
}

static void header_print(const struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        const char *unit = columns->field[i]->unit;
        printf("%s%s%s%s%s", i ? ", " : "", columns->name[i], unit ? " [" : "", unit ? unit : "", unit ? "]" : "");
    }
    putchar('\n');
}

static void row_print(const struct columns *columns, const struct subject *of, bool units)
{
    char text[PLM_SMI_TEXT];
    for (size_t i = 0; i < columns->count; i++) {
        const struct field *f = columns->field[i];
        const bool known = f->tell && f->tell(f, of, text);
        printf("%s%s", i ? ", " : "", known ? text : "[N/A]");
        if (known && units && f->unit)
            printf(" %s", f->unit);
    }
    putchar('\n');
}

int plm_smi_query(const struct plm_smi_query *query, const struct plm_smi_cards *cards)
{
    static struct columns columns;
    struct nvml_process process[PLM_SMI_PROCESSES];
    struct subject of = {0};
    if (!columns_read(query, &columns))
        return PLM_SMI_INVALID;
    if (query->header)
        header_print(&columns);
    nvmlDeviceGetCount_v2(&of.cards);
    for (unsigned i = 0; i < cards->count; i++) {
        const unsigned rows = query->apps ? plm_smi_processes(cards->card[i], process) : 1;
        of.card = cards->card[i];
        for (unsigned k = 0; k < rows; k++) {
            if (query->apps)
                of.process = process[k];
            row_print(&columns, &of, query->units);
        }
    }
    return PLM_SMI_OK;
}

void plm_smi_query_help(bool apps)
{
    size_t count;
    const struct field *fields = fields_of(apps, &count);
    puts("Fields that can be queried:");
    for (size_t i = 0; i < count; i++)
        printf("\"%s\"%s%s%s%s\n", fields[i].name, fields[i].alias ? " or \"" : "",
               fields[i].alias ? fields[i].alias : "", fields[i].alias ? "\"" : "",
               fields[i].tell ? "" : " (not known of a virtual card)");
}
