#include "common/card.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/ini.h"

enum field_type { TEXT, INTEGER, BYTES, MIB, REAL, CAPABILITY, LIST, FLAG };

struct field {
    const char *key;
    enum field_type type;
    size_t offset, size;
    double least, most; /* a value outside is a mistake in the file */
};

#define FIELD(key, type, member, least, most) \
    {key, type, offsetof(struct plm_card, member), sizeof(((struct plm_card *)0)->member), least, most}

#define TIB          1.1e12
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct field gpu_fields[] = {
    FIELD("name", TEXT, name, 0, 0),
    FIELD("aliases", LIST, aliases, 0, 0),
    FIELD("class", TEXT, class, 0, 0),
    FIELD("architecture", TEXT, architecture, 0, 0),
    FIELD("compute_capability", CAPABILITY, major, 0, 0),
    FIELD("memory_nominal", BYTES, memory_nominal, 1, 2048),
    FIELD("memory_total", BYTES, memory_total, 1e8, TIB),
    FIELD("memory_nominal_mib", MIB, memory_total, 100, 1048576),
    FIELD("memory_usable", BYTES, memory_usable, 1e8, TIB),
    FIELD("memory_nvml", BYTES, memory_nvml, 1e8, TIB),
    FIELD("shared_memory", FLAG, shared_memory, 0, 0),
    FIELD("sms", INTEGER, sms, 1, 1024),
    FIELD("clock_mhz", INTEGER, clock_mhz, 100, 10000),
    FIELD("memory_clock_mhz", INTEGER, memory_clock_mhz, 100, 40000),
    FIELD("memory_bus_bits", INTEGER, memory_bus_bits, 32, 16384),
    FIELD("bandwidth_gbs", REAL, bandwidth_gbs, 1, 100000),
    FIELD("l2_bytes", BYTES, l2_bytes, 1024, 1e10),
    FIELD("cuda_cores", INTEGER, cuda_cores, 1, 1e6),
    FIELD("tensor_cores", INTEGER, tensor_cores, 0, 1e5),
    FIELD("fp64_tflops", REAL, fp64_tflops, 0, 1e6),
    FIELD("fp32_tflops", REAL, fp32_tflops, 0, 1e6),
    FIELD("tf32_tflops", REAL, tf32_tflops, 0, 1e6),
    FIELD("fp16_tflops", REAL, fp16_tflops, 0, 1e6),
    FIELD("bf16_tflops", REAL, bf16_tflops, 0, 1e6),
    FIELD("fp8_tflops", REAL, fp8_tflops, 0, 1e6),
    FIELD("tdp_watts", INTEGER, tdp_watts, 1, 100000),
    FIELD("pcie_generation", INTEGER, pcie_generation, 1, 6),
    FIELD("pcie_lanes", INTEGER, pcie_lanes, 1, 32),
    FIELD("nvlink_gbs", REAL, nvlink_gbs, 1, 100000),
    FIELD("host_link_gbs", REAL, host_link_gbs, 1, 100000),
};

static const struct field capability_fields[] = {
    FIELD("warp_size", INTEGER, warp_size, 1, 1024),
    FIELD("max_threads_per_block", INTEGER, max_threads_per_block, 1, 65536),
    FIELD("max_threads_per_sm", INTEGER, max_threads_per_sm, 1, 65536),
    FIELD("max_blocks_per_sm", INTEGER, max_blocks_per_sm, 1, 1024),
    FIELD("registers_per_block", INTEGER, registers_per_block, 1, 1e7),
    FIELD("registers_per_sm", INTEGER, registers_per_sm, 1, 1e7),
    FIELD("shared_per_block", INTEGER, shared_per_block, 1, 1e7),
    FIELD("shared_per_block_optin", INTEGER, shared_per_block_optin, 1, 1e7),
    FIELD("shared_per_sm", INTEGER, shared_per_sm, 1, 1e7),
    FIELD("shared_reserved_per_block", INTEGER, shared_reserved_per_block, 0, 1e7),
    FIELD("max_grid_x", INTEGER, max_grid[0], 1, 2147483647),
    FIELD("max_grid_y", INTEGER, max_grid[1], 1, 2147483647),
    FIELD("max_grid_z", INTEGER, max_grid[2], 1, 2147483647),
    FIELD("max_block_x", INTEGER, max_block[0], 1, 65536),
    FIELD("max_block_y", INTEGER, max_block[1], 1, 65536),
    FIELD("max_block_z", INTEGER, max_block[2], 1, 65536),
    FIELD("async_engines", INTEGER, async_engines, 0, 64),
};

/* Keys that inform people and are not kept. */
static const char *const informative[] = {"source", "fp32_cores_per_sm", "tensor_cores_per_sm", "fp4_tflops",
                                          "int8_tops"};

static int set_aliases(struct plm_card *card, const struct plm_ini_pair *pair, struct plm_error *error)
{
    char text[1024], *save = NULL;
    snprintf(text, sizeof text, "%s", pair->value);
    card->alias_count = 0;
    for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        while (*word == ' ')
            word++;
        if (card->alias_count == PLM_CARD_ALIASES)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: more than %d aliases", pair->path, pair->line,
                            PLM_CARD_ALIASES);
        snprintf(card->aliases[card->alias_count++], sizeof card->aliases[0], "%s", word);
    }
    return 0;
}

static int set_number(struct plm_card *card, const struct field *field, const struct plm_ini_pair *pair,
                      struct plm_error *error)
{
    void *at = (char *)card + field->offset;
    char *end;
    double value;

    errno = 0;
    value = strtod(pair->value, &end);
    if (*end || errno || !(value >= field->least && value <= field->most)) /* nor "nan" */
        return plm_fail(error, PLM_EFORMAT, "%s:%d: %s = %s is not a number from %g to %g", pair->path, pair->line,
                        pair->key, pair->value, field->least, field->most);
    if (field->type != REAL && value != (double)(uint64_t)value)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: %s = %s is not a whole number", pair->path, pair->line, pair->key,
                        pair->value);
    if (field->type == REAL)
        *(double *)at = value;
    else if (field->type == INTEGER)
        *(int *)at = (int)value;
    else if (field->type == MIB) /* the exact figure, where it is known, wins */
        *(uint64_t *)at = *(uint64_t *)at ? *(uint64_t *)at : (uint64_t)value << 20;
    else
        *(uint64_t *)at = (uint64_t)value;
    return 0;
}

static int set_field(struct plm_card *card, const struct field *field, const struct plm_ini_pair *pair,
                     struct plm_error *error)
{
    char tail;
    switch (field->type) {
    case TEXT:
        if (strlen(pair->value) >= field->size)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: %s is too long", pair->path, pair->line, pair->key);
        memcpy((char *)card + field->offset, pair->value, strlen(pair->value) + 1);
        return 0;
    case LIST: return set_aliases(card, pair, error);
    case CAPABILITY:
        if (sscanf(pair->value, "%d.%d%c", &card->major, &card->minor, &tail) != 2)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: write a compute capability as 8.6", pair->path, pair->line);
        return 0;
    case FLAG:
        if (strcmp(pair->value, "yes") != 0 && strcmp(pair->value, "no") != 0)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: %s must be yes or no", pair->path, pair->line, pair->key);
        *(bool *)((char *)card + field->offset) = pair->value[0] == 'y';
        return 0;
    default: return set_number(card, field, pair, error);
    }
}

static int set_key(struct plm_card *card, const struct field *fields, size_t count, const struct plm_ini_pair *pair,
                   struct plm_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(fields[i].key, pair->key))
            return set_field(card, &fields[i], pair, error);
    for (size_t i = 0; i < COUNT(informative); i++)
        if (!strcmp(informative[i], pair->key))
            return 0;
    return plm_fail(error, PLM_EFORMAT, "%s:%d: unknown key '%s'", pair->path, pair->line, pair->key);
}

static void text_append(char *text, size_t size, const char *between, const char *tail)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", between, tail);
}

struct gpu_visit {
    struct plm_card *cards;
    int most, count;
    char section[128]; /* the one the last card belongs to */
    char last[128];    /* the one that `seen` is about */
    uint64_t seen;     /* bit per row of gpu_fields */
};

_Static_assert(COUNT(gpu_fields) <= 64, "a bit for each");

/* A key that stands twice in a section was meant to be another one. */
static int check_once(struct gpu_visit *v, const struct plm_ini_pair *pair, struct plm_error *error)
{
    if (strcmp(v->last, pair->section))
        v->seen = 0;
    snprintf(v->last, sizeof v->last, "%s", pair->section);
    for (size_t i = 0; i < COUNT(gpu_fields); i++)
        if (!strcmp(gpu_fields[i].key, pair->key)) {
            if (v->seen >> i & 1)
                return plm_fail(error, PLM_EFORMAT, "%s:%d: '%s' is given twice", pair->path, pair->line, pair->key);
            v->seen |= 1ull << i;
        }
    return 0;
}

static int visit_gpu(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    struct gpu_visit *v = context;
    struct plm_card *card;

    if (!strcmp(pair->section, "source"))
        return 0;
    if (check_once(v, pair, error))
        return PLM_EFORMAT;
    if (!strcmp(pair->section, "gpu"))
        return set_key(&v->cards[0], gpu_fields, COUNT(gpu_fields), pair, error);
    if (strncmp(pair->section, "mig ", 4))
        return plm_fail(error, PLM_EFORMAT, "%s:%d: unknown section [%s]", pair->path, pair->line, pair->section);
    if (strcmp(v->section, pair->section)) {
        if (v->count == v->most)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: more than %d profiles", pair->path, pair->line, v->most - 1);
        card = &v->cards[v->count++];
        *card = v->cards[0];
        card->mig = true;
        card->alias_count = 0;
        card->sms = 0;
        card->memory_total = card->memory_usable = card->memory_nvml = 0;
        card->fp64_tflops = card->fp32_tflops = card->tf32_tflops = card->fp16_tflops = card->bf16_tflops = 0;
        card->fp8_tflops = card->bandwidth_gbs = 0;
        card->l2_bytes = 0;
        card->cuda_cores = card->tensor_cores = card->tdp_watts = 0;
        card->nvlink_gbs = 0; /* MIG User Guide: no peer access between GPUs */
        /* The card already holds its parent's name: the profile is appended. */
        text_append(card->id, sizeof card->id, ":", pair->section + 4);
        text_append(card->name, sizeof card->name, " MIG ", pair->section + 4);
        snprintf(v->section, sizeof v->section, "%s", pair->section);
    }
    return set_key(&v->cards[v->count - 1], gpu_fields, COUNT(gpu_fields), pair, error);
}

struct capability_visit {
    struct plm_card *card;
    char section[16];
    bool found;
};

static int visit_capability(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    struct capability_visit *v = context;
    if (strcmp(pair->section, v->section))
        return 0;
    v->found = true;
    return set_key(v->card, capability_fields, COUNT(capability_fields), pair, error);
}

/* What no file gives is derived here, and marked as assumed. */
static void card_assume(struct plm_card *card)
{
    if (!card->memory_total) {
        /* The runtime reports slightly less than the marketed size; 1.5 % is typical of cards with a known figure. */
        card->memory_total = card->memory_nominal * (1ull << 30) / 1000 * 985;
        card->memory_total_assumed = true;
    }
    if (!card->memory_usable) {
        /* Measured on two cards: 1.3 % and 1.7 % of the total cannot be allocated. */
        card->memory_usable = card->memory_total / 1000 * 985;
        card->memory_usable_assumed = true;
    }
    if (!card->async_engines)
        card->async_engines = 2;
}

static int card_check(const struct plm_card *card, const char *path, struct plm_error *error)
{
    const struct {
        const char *key;
        bool missing;
    } needed[] = {
        {"name", !card->name[0]},
        {"compute_capability", !card->major},
        {"sms", !card->sms},
        {"memory_nominal (or memory_total)", !card->mig && !card->memory_nominal && !card->memory_total},
        {"memory_nominal_mib (or memory_total)", card->mig && !card->memory_total}, /* the parent's is not its own */
    };
    for (size_t i = 0; i < COUNT(needed); i++)
        if (needed[i].missing)
            return plm_fail(error, PLM_EFORMAT, "%s: %s is missing for %s", path, needed[i].key, card->id);
    return 0;
}

static void id_from_path(char *id, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    snprintf(id, size, "%.*s", (int)(dot ? (size_t)(dot - name) : strlen(name)), name);
}

int plm_card_file(const char *path, const char *capabilities, struct plm_card *cards, int most, struct plm_error *error)
{
    struct gpu_visit v = {.cards = cards, .most = most, .count = 1};
    int status;

    memset(&cards[0], 0, sizeof cards[0]);
    id_from_path(cards[0].id, sizeof cards[0].id, path);
    status = plm_ini_read(path, visit_gpu, &v, error);
    for (int i = 0; status == 0 && i < v.count; i++) {
        struct capability_visit c = {.card = &cards[i]};
        status = card_check(&cards[i], path, error);
        if (status < 0)
            break;
        snprintf(c.section, sizeof c.section, "%d.%d", cards[i].major, cards[i].minor);
        status = plm_ini_read(capabilities, visit_capability, &c, error);
        if (status == 0 && !c.found)
            status =
                plm_fail(error, PLM_EFORMAT, "%s: compute capability %s is not in %s", path, c.section, capabilities);
        card_assume(&cards[i]);
    }
    return status < 0 ? status : v.count;
}

double plm_card_host_gbs(const struct plm_card *card)
{
    /* Per lane: transfers a second and the line code, 8b/10b, 128b/130b, and 242 of 256 bytes in a flit of PCIe 6. */
    static const double lane[] = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
    if (card->host_link_gbs > 0)
        return card->host_link_gbs / 2;
    if (card->pcie_generation < 0 || (size_t)card->pcie_generation >= COUNT(lane))
        return 0;
    return lane[card->pcie_generation] * card->pcie_lanes;
}

static void word_remove(char *text, const char *word)
{
    char *found = strstr(text, word);
    if (found)
        memmove(found, found + strlen(word), strlen(found + strlen(word)) + 1);
}

/* Compares names without case, blanks, dashes, underscores and the makers' prefix words. */
static void name_normalize(char *out, size_t size, const char *text)
{
    static const char *const noise[] = {"nvidia", "geforce", "tesla", "graphics"};
    char word[128];
    size_t n = 0;
    for (const char *p = text; *p && n + 1 < sizeof word; p++)
        if (isalnum((unsigned char)*p) || *p == ':' || *p == '.')
            word[n++] = (char)tolower((unsigned char)*p);
    word[n] = '\0';
    for (size_t i = 0; i < COUNT(noise); i++)
        word_remove(word, noise[i]);
    snprintf(out, size, "%s", word);
}

/* GeForce and workstation cards go by their number alone. */
static bool name_is(const char *wanted, const char *name)
{
    char have[128];
    name_normalize(have, sizeof have, name);
    return !strcmp(wanted, have) ||
           ((!strncmp(have, "rtx", 3) || !strncmp(have, "gtx", 3)) && !strcmp(wanted, have + 3));
}

static bool card_is(const struct plm_card *card, const char *wanted)
{
    for (int i = 0; i < card->alias_count; i++)
        if (name_is(wanted, card->aliases[i]))
            return true;
    return name_is(wanted, card->id);
}

/* "RTX 4090 24GB": what the card has anyway. */
static bool card_is_with_memory(const struct plm_card *card, const char *wanted)
{
    char memory[32], rest[128];
    size_t n = strlen(wanted), k;
    snprintf(memory, sizeof memory, "%llugb", (unsigned long long)card->memory_nominal);
    k = strlen(memory);
    if (card->mig || n <= k || strcmp(wanted + n - k, memory) != 0)
        return false;
    snprintf(rest, sizeof rest, "%.*s", (int)(n - k), wanted);
    return card_is(card, rest);
}

/* "A100 80", where the memory lacks its unit. */
static bool memory_lacks_unit(const char *name)
{
    size_t n = strlen(name), digits = 0;
    while (digits < n && isdigit((unsigned char)name[n - 1 - digits]))
        digits++;
    return digits && digits < n && strchr(" -_", name[n - 1 - digits]);
}

/* Its id without the word that tells its series from others. */
static bool card_is_short(const struct plm_card *card, const char *wanted)
{
    static const char *const series[] = {"quadro", "ada", "pro"};
    char id[128];
    name_normalize(id, sizeof id, card->id);
    for (size_t i = 0; i < COUNT(series); i++)
        word_remove(id, series[i]);
    return !card->mig && name_is(wanted, id);
}

/* Its id without the last parts: "a100" of a100-80gb-pcie, "a100:1g.5gb" of a100-40gb:1g.5gb. */
static bool card_is_of(const struct plm_card *card, const char *wanted)
{
    const char *profile = strchr(card->id, ':');
    char part[sizeof card->id * 2];
    for (const char *dash = card->id; (dash = strchr(dash, '-')) && (!profile || dash < profile); dash++) {
        snprintf(part, sizeof part, "%.*s%s", (int)(dash - card->id), card->id, profile ? profile : "");
        if (name_is(wanted, part))
            return true;
    }
    return false;
}

enum plm_card_match plm_card_match(const struct plm_card *card, const char *name)
{
    char wanted[128], memory[sizeof wanted + 2];
    name_normalize(wanted, sizeof wanted, name);
    snprintf(memory, sizeof memory, "%s%s", wanted, memory_lacks_unit(name) ? "gb" : "");
    if (!wanted[0])
        return PLM_CARD_OTHER;
    if (card_is(card, wanted) || card_is(card, memory) || card_is_with_memory(card, memory))
        return PLM_CARD_SAME;
    if (name_is(wanted, card->name) || card_is_of(card, wanted))
        return PLM_CARD_PERHAPS;
    return card_is_short(card, wanted) ? PLM_CARD_SHORT : PLM_CARD_OTHER;
}

const char *plm_card_maker(const char *name)
{
    static const struct {
        const char *start, *what;
        bool number; /* follows */
    } others[] = {
        {"amd", "an AMD GPU", false},
        {"radeon", "an AMD GPU", false},
        {"instinct", "an AMD GPU", false},
        {"mi", "an AMD GPU", true},
        {"rx", "an AMD GPU", true},
        {"intel", "an Intel GPU", false},
        {"arc", "an Intel GPU", false},
        {"gaudi", "an Intel accelerator", false},
        {"apple", "an Apple GPU", false},
        {"tpu", "a Google accelerator", false},
        {"trainium", "an Amazon accelerator", false},
        {"ascend", "a Huawei accelerator", false},
    };
    char wanted[128];
    name_normalize(wanted, sizeof wanted, name);
    if (isdigit((unsigned char)wanted[0]) && !strncmp(wanted + strspn(wanted, "0123456789"), "xt", 2))
        return "an AMD GPU"; /* 7900 XTX */
    for (size_t i = 0; i < COUNT(others); i++) {
        const size_t n = strlen(others[i].start);
        if (!strncmp(wanted, others[i].start, n) && (!others[i].number || isdigit((unsigned char)wanted[n])))
            return others[i].what;
    }
    return NULL;
}
