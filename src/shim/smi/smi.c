/* The program: options, statuses, repetition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "shim/smi/smi.h"

enum action { SCREEN, LIST, QUERY, TOPOLOGY, HELP, VERSION };

struct asked {
    enum action action;
    struct plm_smi_query query;
    const char *cards;    /* -i: indices, UUIDs or bus ids; NULL: all */
    const char *format;   /* csv, noheader, nounits */
    long milliseconds;    /* -l, -lms; 0: once */
    const char *fields_help; /* of which table */
};

/* ---- options ---- */

static bool set_action(struct asked *asked, enum action action)
{
    asked->action = action;
    return true;
}

static bool take_list(struct asked *asked, const char *value)
{
    (void)value;
    return set_action(asked, LIST);
}

static bool take_help(struct asked *asked, const char *value)
{
    (void)value;
    return set_action(asked, HELP);
}

static bool take_version(struct asked *asked, const char *value)
{
    (void)value;
    return set_action(asked, VERSION);
}

static bool take_topology(struct asked *asked, const char *value)
{
    (void)value;
    return asked->action == TOPOLOGY;
}

static bool take_gpu_query(struct asked *asked, const char *value)
{
    asked->query = (struct plm_smi_query){.fields = value};
    return set_action(asked, QUERY);
}

static bool take_app_query(struct asked *asked, const char *value)
{
    asked->query = (struct plm_smi_query){.fields = value, .apps = true};
    return set_action(asked, QUERY);
}

static bool take_gpu_fields(struct asked *asked, const char *value)
{
    (void)value;
    asked->fields_help = "gpu";
    return set_action(asked, HELP);
}

static bool take_app_fields(struct asked *asked, const char *value)
{
    (void)value;
    asked->fields_help = "apps";
    return set_action(asked, HELP);
}

static bool take_cards(struct asked *asked, const char *value)
{
    asked->cards = value;
    return *value != '\0';
}

static bool take_format(struct asked *asked, const char *value)
{
    asked->format = value;
    return true;
}

static bool take_period(struct asked *asked, const char *value, long unit)
{
    char *end;
    const long number = strtol(value, &end, 10);
    asked->milliseconds = number * unit;
    return *value && !*end && number > 0 && number <= 86400000;
}

static bool take_seconds(struct asked *asked, const char *value)
{
    return take_period(asked, value, 1000);
}

static bool take_milliseconds(struct asked *asked, const char *value)
{
    return take_period(asked, value, 1);
}

static const struct option {
    const char *letter, *word; /* either may be missing */
    bool valued;
    const char *otherwise; /* where the value may be left out */
    bool (*take)(struct asked *asked, const char *value);
    const char *help;
} options[] = {
    {"-h", "--help", false, NULL, take_help, "this text"},
    {NULL, "--version", false, NULL, take_version, "versions of the driver and its library"},
    {"-L", "--list-gpus", false, NULL, take_list, "a line for each card, with its UUID"},
    {"-i", "--id", true, NULL, take_cards, "only these cards: indices, UUIDs or bus ids, with commas between"},
    {"-l", "--loop", true, "5", take_seconds, "again after so many seconds, until the job ends"},
    {"-lms", "--loop-ms", true, NULL, take_milliseconds, "the same in milliseconds"},
    {NULL, "--query-gpu", true, NULL, take_gpu_query, "fields of each card; --help-query-gpu lists them"},
    {NULL, "--query-compute-apps", true, NULL, take_app_query,
     "fields of each process; --help-query-compute-apps lists them"},
    {NULL, "--format", true, NULL, take_format, "csv, and if wanted noheader and nounits"},
    {NULL, "--help-query-gpu", false, NULL, take_gpu_fields, "the fields of --query-gpu"},
    {NULL, "--help-query-compute-apps", false, NULL, take_app_fields, "the fields of --query-compute-apps"},
    {"-m", "--matrix", false, NULL, take_topology, "after the word topo: how the cards are connected"},
};

/* "-i 0", "--id 0" and "--id=0". `*value` is what follows the equals sign, or NULL. */
static const struct option *option_find(const char *word, const char **value)
{
    const size_t n = strcspn(word, "=");
    *value = word[n] ? word + n + 1 : NULL;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *const names[] = {options[i].letter, options[i].word};
        for (size_t k = 0; k < 2; k++)
            if (names[k] && strlen(names[k]) == n && !strncmp(names[k], word, n))
                return &options[i];
    }
    return NULL;
}

static int refuse(const char *word)
{
    printf("ERROR: Option %s is not recognized. Please run 'nvidia-smi -h' for help.\n\n", word);
    return PLM_SMI_INVALID;
}

static int refuse_combination(void)
{
    puts("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n");
    return PLM_SMI_INVALID;
}

static int options_read(int argc, char **argv, struct asked *asked)
{
    int at = 1;
    if (argc > 1 && !strcmp(argv[1], "topo")) {
        asked->action = TOPOLOGY;
        at = 2;
        if (argc == 2)
            return refuse_combination();
    }
    for (; at < argc; at++) {
        const char *value;
        const struct option *o = option_find(argv[at], &value);
        const char *word = argv[at];
        if (!o || (value && !o->valued))
            return refuse(word);
        if (o->valued && !value && at + 1 < argc && (argv[at + 1][0] != '-' || !o->otherwise))
            value = argv[++at];
        if (o->valued && !value)
            value = o->otherwise;
        if ((o->valued && !value) || !o->take(asked, value))
            return refuse(word);
    }
    return PLM_SMI_OK;
}

/* A query needs csv, and only a query has a format. */
static int format_read(struct asked *asked)
{
    char copy[64], *rest, *word;
    bool csv = false;
    if (asked->action != QUERY || !asked->format || strlen(asked->format) >= sizeof copy)
        return asked->action == QUERY || asked->format ? refuse_combination() : PLM_SMI_OK;
    strcpy(copy, asked->format);
    asked->query.header = asked->query.units = true;
    for (word = strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        if (!strcmp(word, "csv"))
            csv = true;
        else if (!strcmp(word, "noheader"))
            asked->query.header = false;
        else if (!strcmp(word, "nounits"))
            asked->query.units = false;
        else
            return refuse_combination();
    }
    return csv ? PLM_SMI_OK : refuse_combination();
}

/* ---- cards ---- */

static bool card_is(nvml_device card, unsigned index, const char *name)
{
    char uuid[PLM_NVML_UUID_CHARS] = "";
    struct nvml_pci pci = {.bus_id = ""};
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    if (!*end)
        return number == index;
    nvmlDeviceGetUUID(card, uuid, sizeof uuid);
    nvmlDeviceGetPciInfo_v3(card, &pci);
    return !strcasecmp(name, uuid) || !strcasecmp(name, pci.bus_id) || !strcasecmp(name, pci.bus_id + 4);
}

static bool card_wanted(const char *list, nvml_device card, unsigned index)
{
    char copy[4096], *rest, *name;
    if (!list)
        return true;
    snprintf(copy, sizeof copy, "%s", list);
    for (name = strtok_r(copy, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
        if (card_is(card, index, name))
            return true;
    return false;
}

static int cards_choose(const char *list, struct plm_smi_cards *cards)
{
    unsigned count = 0;
    nvml_device card;
    if (nvmlInit_v2() || nvmlDeviceGetCount_v2(&count)) {
        puts("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
             "NVIDIA driver is installed and running.\n");
        return PLM_SMI_NO_DRIVER;
    }
    for (unsigned i = 0; i < count; i++)
        if (!nvmlDeviceGetHandleByIndex_v2(i, &card) && card_wanted(list, card, i))
            cards->card[cards->count++] = card;
    if (cards->count)
        return PLM_SMI_OK;
    puts("No devices were found");
    return PLM_SMI_NOT_FOUND;
}

/* ---- the answer ---- */

static void help_print(void)
{
    puts("nvidia-smi of plimsoll: answers for the virtual cards of the job that it runs in\n");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        printf("  %-4s %-26s %s\n", options[i].letter ? options[i].letter : "", options[i].word, options[i].help);
}

static void version_print(void)
{
    char driver[PLM_SMI_TEXT] = "", library[PLM_SMI_TEXT] = "";
    int cuda = 0;
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetNVMLVersion(library, sizeof library);
    nvmlSystemGetCudaDriverVersion(&cuda);
    printf(
        "NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\nCUDA Version        : %d.%d\n",
        driver, library, driver, cuda / 1000, cuda % 1000 / 10);
}

static int answer(const struct asked *asked, const struct plm_smi_query *query, const struct plm_smi_cards *cards)
{
    switch (asked->action) {
    case QUERY: return plm_smi_query(query, cards);
    case LIST: plm_smi_list(cards); break;
    case TOPOLOGY: plm_smi_topology(cards); break;
    case VERSION: version_print(); break;
    case HELP: break;
    case SCREEN: plm_smi_screen(cards);
    }
    return PLM_SMI_OK;
}

/* The record has its place while the job runs: an answer that is repeated in the background ends with it. */
static bool job_runs(void)
{
    const char *record = getenv("PLIMSOLL_RECORD");
    return !record || access(record, F_OK) == 0;
}

static int answer_again_and_again(const struct asked *asked, const struct plm_smi_cards *cards)
{
    struct plm_smi_query query = asked->query;
    const struct timespec pause = {asked->milliseconds / 1000, asked->milliseconds % 1000 * 1000000};
    int status = answer(asked, &query, cards);
    while (!status && asked->milliseconds && fflush(stdout) == 0) {
        nanosleep(&pause, NULL);
        if (!job_runs())
            break;
        query.header = false;
        status = answer(asked, &query, cards);
    }
    return status;
}

static int run(int argc, char **argv)
{
    struct plm_smi_cards cards = {.count = 0};
    struct asked asked = {.action = SCREEN};
    int status = options_read(argc, argv, &asked);
    if (!status && asked.action == HELP) {
        if (asked.fields_help)
            plm_smi_query_help(!strcmp(asked.fields_help, "apps"));
        else
            help_print();
        return PLM_SMI_OK;
    }
    if (!status)
        status = format_read(&asked);
    if (!status)
        status = cards_choose(asked.cards, &cards);
    return status ? status : answer_again_and_again(&asked, &cards);
}

/* Without exit functions: the device's would enter this process, which used no GPU, into the record. */
int main(int argc, char **argv)
{
    const int status = run(argc, argv);
    fflush(stdout);
    _exit(status);
}
