#include "base/catalogue.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/ini.h"
#include "base/install.h"
#include "unit.h"

static struct plm_install install;
static struct plm_catalogue catalogue;

static int load(void **state)
{
    const char *source = getenv("PLM_SOURCE");
    struct plm_error error;
    (void)state;
    setenv("XDG_CONFIG_HOME", unit_folder(), 1);
    snprintf(install.gpus, sizeof install.gpus, "%s/data/gpus", source);
    snprintf(install.capabilities, sizeof install.capabilities, "%s/data/compute-capabilities.ini", source);
    if (plm_catalogue_load(&catalogue, &install, &error))
        fail_msg("%s", error.text);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    plm_catalogue_free(&catalogue);
    return 0;
}

static void every_card_is_sound(void **state)
{
    int cards = 0, profiles = 0;
    (void)state;
    for (int i = 0; i < catalogue.count; i++) {
        const struct plm_card *c = &catalogue.entry[i].card;
        c->mig ? profiles++ : cards++;
        assert_true(c->id[0] && c->name[0] && c->sms > 0 && c->major >= 6);
        assert_true(c->memory_usable && c->memory_usable <= c->memory_total);
        assert_true(c->warp_size == 32 && c->max_threads_per_block == 1024 && c->async_engines > 0);
        assert_true(c->shared_per_block_optin >= c->shared_per_block);
        if (c->mig)
            assert_non_null(strchr(c->id, ':'));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(c->id, catalogue.entry[k].card.id);
    }
    print_message("%d cards, %d profiles\n", cards, profiles);
    assert_true(cards + profiles >= 45 && cards >= 45 && profiles >= 20);
}

static const char *find(const char *name)
{
    const struct plm_catalogue_entry *found = NULL;
    struct plm_error error;
    if (plm_catalogue_find(&catalogue, name, &found, &error))
        fail_msg("%s: %s", name, error.text);
    return found->card.id;
}

static void spellings(void **state)
{
    static const struct {
        const char *spelling, *id;
    } rows[] = {
        {"NVIDIA A100-SXM4-40GB", "a100-40gb"},
        {"A100 40GB", "a100-40gb"},
        {"rtx 3060", "rtx3060"},
        {"a100-40gb:1g.5gb", "a100-40gb:1g.5gb"},
        {"GeForce RTX 3060", "rtx3060"},
        {"RTX_3060", "rtx3060"},
        {"NVIDIA GeForce RTX 4090", "rtx4090"},
        {"H100-80GB", "h100-80gb"},
        {"Tesla T4", "t4"},
        {"rtx4060ti-16gb", "rtx4060ti-16gb"},
        {"A100 40GB:1g.5gb", "a100-40gb:1g.5gb"},
        {"4090", "rtx4090"},
        {"RTX 4090 24GB", "rtx4090"},
        {"1080 Ti", "gtx1080ti"},
        {"A6000", "rtxa6000"},
        {"a10", "a10"},
        {"A2000", "rtxa2000-12gb"},         /* the only one of them */
        {"a100:1g.5gb", "a100-40gb:1g.5gb"}, /* the other has larger ones */
        {"a100 80", "a100-80gb"},
        {"V100-16", "v100-16gb"},
        {"4060 ti 16", "rtx4060ti-16gb"},
        {"RTX 4090 24", "rtx4090"},
        {"Quadro RTX 6000", "quadro-rtx6000"},
        {"RTX 6000 Ada", "rtx6000ada"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(find(rows[i].spelling), rows[i].id);
}

static const char *refused(const char *name, int code)
{
    static struct plm_error error;
    const struct plm_catalogue_entry *found = NULL;
    assert_int_equal(plm_catalogue_find(&catalogue, name, &found, &error), code);
    return error.text;
}

/* A name that several cards with different memory go by is not decided for the user. */
static void ambiguous_names(void **state)
{
    static const struct {
        const char *name, *choices;
    } rows[] = {
        {"A100", "'A100' is not one GPU: write a100-40gb, a100-80gb-pcie or a100-80gb"},
        {"h100", "h100-80gb-pcie, h100-80gb or h100-nvl"},
        {"NVIDIA H100", "h100-80gb-pcie, h100-80gb or h100-nvl"},
        {"3080", "rtx3080-10gb or rtx3080-12gb"},
        {"NVIDIA GeForce RTX 3080", "rtx3080-10gb or rtx3080-12gb"},
        {"V100", "v100-16gb or v100-32gb"},
        {"RTX 6000", "quadro-rtx6000, rtx6000ada or rtxpro6000"},
        {"6000", "quadro-rtx6000, rtx6000ada or rtxpro6000"},
        {"a100:1g.10gb", "a100-40gb:1g.10gb, a100-80gb-pcie:1g.10gb or a100-80gb:1g.10gb"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_contains(refused(rows[i].name, PLM_EINVAL), rows[i].choices);
}

static void other_makers(void **state)
{
    (void)state;
    assert_contains(refused("MI300X", PLM_EINVAL), "'MI300X' is an AMD GPU; plimsoll simulates NVIDIA GPUs only");
    assert_contains(refused("AMD Instinct MI250", PLM_EINVAL), "AMD GPU");
    assert_contains(refused("RX 7900 XTX", PLM_EINVAL), "AMD GPU");
    assert_contains(refused("Radeon RX 7900", PLM_EINVAL), "AMD GPU");
    assert_contains(refused("Intel Arc A770", PLM_EINVAL), "Intel GPU");
    assert_contains(refused("Gaudi 3", PLM_EINVAL),
                    "'Gaudi 3' is an Intel accelerator; plimsoll simulates NVIDIA GPUs only");
    assert_contains(refused("TPU v4", PLM_EINVAL), "a Google accelerator");
    assert_contains(refused("mine", PLM_EINVAL), "unknown GPU 'mine'");
    assert_null(plm_card_maker("mine")); /* AMD's have a number there */
    assert_null(plm_card_maker("RXT"));
    assert_null(plm_card_maker("xt"));
    assert_string_equal(plm_card_maker("7900 XTX"), "an AMD GPU");
}

/* Each name of each card leads to it; the driver's may be that of several. */
static void names_lead_home(void **state)
{
    (void)state;
    for (int i = 0; i < catalogue.count; i++) {
        const struct plm_card *c = &catalogue.entry[i].card;
        assert_string_equal(find(c->id), c->id);
        for (int k = 0; k < c->alias_count; k++)
            assert_string_equal(find(c->aliases[k]), c->id);
        if (plm_card_match(c, c->name) == PLM_CARD_SAME)
            find(c->name);
        else
            assert_int_equal(plm_card_match(c, c->name), PLM_CARD_PERHAPS);
    }
}

/* What is like no card is not answered with three of them. */
static void unlike_names(void **state)
{
    static const char *const names[] = {"cpu",  "cuda:0", "mps",     "0",      "-",
                                        "nope", "nvidia", "geforce", "xavier", "inferentia"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_contains(refused(names[i], PLM_EINVAL), "'; `plimsoll gpus` lists the known ones");
    assert_contains(refused("titan", PLM_EINVAL), "did you mean titanrtx? `plimsoll gpus` lists all");
    assert_contains(refused("RTX 5000", PLM_EINVAL),
                    "did you mean rtx5000ada?"); /* there are other cards of that name */
    assert_contains(refused("4O90", PLM_EINVAL), "did you mean rtx4090");
    assert_contains(refused("4090,3060", PLM_EINVAL), "'4090,3060' is more than one GPU; give one");
    assert_contains(refused("3060 laptop", PLM_EINVAL), "did you mean rtx3060");
    assert_contains(refused("a100-8", PLM_EINVAL), "did you mean a100-80gb");
}

static void unknown_names(void **state)
{
    const struct plm_catalogue_entry *found = NULL;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_catalogue_find(&catalogue, "rtx3061", &found, &error), PLM_EINVAL);
    assert_contains(error.text, "unknown GPU 'rtx3061'; did you mean rtx306");
    assert_int_equal(plm_catalogue_find(&catalogue, "", &found, &error), PLM_EINVAL);
    assert_int_equal(plm_catalogue_find(&catalogue, "NVIDIA", &found, &error), PLM_EINVAL);
    assert_int_equal(plm_catalogue_find(&catalogue, "./absent.ini", &found, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "./absent.ini");
}

static void own_files(void **state)
{
    static const char text[] = "[gpu]\nname = Mine\ncompute_capability = 8.6\nmemory_total = 1000000000\nsms = 3\n";
    const struct plm_catalogue_entry *found = NULL;
    struct plm_error error;
    (void)state;
    mkdir(unit_path("plimsoll"), 0777);
    mkdir(unit_path("plimsoll/gpus"), 0777);
    unit_write(unit_path("plimsoll/gpus/rtx3060.ini"), text, strlen(text));
    unit_write(unit_path("mine.ini"), text, strlen(text));
    assert_int_equal(plm_catalogue_find(&catalogue, unit_path("mine.ini"), &found, &error), 0);
    assert_string_equal(found->card.id, "mine");
    assert_int_equal(found->card.sms, 3);
    assert_true(found->card.memory_usable_assumed && !found->card.memory_total_assumed);
    drop(NULL);
    load(NULL);
    assert_int_equal(plm_catalogue_find(&catalogue, "rtx3060", &found, &error), 0);
    assert_string_equal(found->card.name, "Mine"); /* the user's own wins */
    unlink(unit_path("plimsoll/gpus/rtx3060.ini"));
    drop(NULL);
    load(NULL);
}

#define GOOD "[gpu]\nname = X\ncompute_capability = 8.6\nmemory_nominal = 8\nsms = 4\n"

static void wrong_files(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", ": name is missing for wrong"},
        {"[gpu]\nname = X\nmemory_nominal = 8\nsms = 4\n", ": compute_capability is missing"},
        {"[gpu]\nname = X\ncompute_capability = 8.6\nmemory_nominal = 8\n", ": sms is missing"},
        {"[gpu]\nname = X\ncompute_capability = 8.6\nsms = 4\n", ": memory_nominal (or memory_total) is missing"},
        {"[gpu]\nname = X\ncompute_capability = 3.3\nmemory_nominal = 8\nsms = 4\n",
         ": compute capability 3.3 is not in "},
        {GOOD "sms = 4\n", ":6: 'sms' is given twice"},
        {GOOD "colour = green\n", ":6: unknown key 'colour'"},
        {GOOD "[gpus]\nx = 1\n", ":7: unknown section [gpus]"},
        {GOOD "tdp_watts = much\n", ":6: tdp_watts = much is not a number from"},
        {GOOD "tdp_watts = 12.5\n", ":6: tdp_watts = 12.5 is not a whole number"},
        {GOOD "bandwidth_gbs = nan\n", ":6: bandwidth_gbs = nan is not a number"},
        {GOOD "tdp_watts = -5\n", ":6: tdp_watts = -5 is not a number"},
        {GOOD "memory_total = 999\n", ":6: memory_total = 999 is not a number"},
        {GOOD "memory_total =\n", ":6: 'memory_total' has no value"},
        {GOOD "aliases = a,b,c,d,e,f,g,h,i,j,k,l,m\n", ":6: more than 12 aliases"},
        {GOOD "architecture = abcdefghijklmnopqrstuvwxyz\n", ":6: architecture is too long"},
        {GOOD "pcie_generation = 4.0.1\n", ":6: pcie_generation = 4.0.1 is not a number"},
        {GOOD "pcie_generation = 9\n", ":6: pcie_generation = 9 is not a number from 1 to 6"},
        {GOOD "pcie_lanes = x16\n", ":6: pcie_lanes = x16 is not a number"},
        {GOOD "pcie_lanes = 0\n", ":6: pcie_lanes = 0 is not a number from 1"},
        {GOOD "pcie_lanes = 7.5\n", ":6: pcie_lanes = 7.5 is not a whole number"},
        {GOOD "nvlink_gbs = 0\n", ":6: nvlink_gbs = 0 is not a number from 1"},
        {GOOD "host_link_gbs = -1\n", ":6: host_link_gbs = -1 is not a number"},
        {GOOD "nonsense\n", ":6: expected 'key = value'"},
        {GOOD "[mig 1g.5gb]\nsms = 2\n", ": memory_nominal_mib (or memory_total) is missing for wrong:1g.5gb"},
        {GOOD "[mig 1g.5gb]\nmemory_nominal_mib = 4864\n", ": sms is missing for wrong:1g.5gb"},
        {GOOD "[mig 1g.5gb]\nsms = 2\nmemory_nominal_mib = x\n", ":8: memory_nominal_mib = x is not a number"},
        {"[gpu]\ncompute_capability = 8\n", ":2: write a compute capability as 8.6"},
        {"[gpu]\ncompute_capability = 8.6a\n", ":2: write a compute capability as 8.6"},
    };
    struct plm_card cards[4];
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path = unit_path("wrong.ini");
        unit_write(path, rows[i].text, strlen(rows[i].text));
        if (plm_card_file(path, install.capabilities, cards, 4, &error) >= 0)
            fail_msg("accepted: %s", rows[i].text);
        assert_contains(error.text, "wrong.ini:");
        assert_contains(error.text, rows[i].message);
    }
}

static void profiles(void **state)
{
    static const char text[] =
        GOOD "[mig 1g.2gb]\nsms = 1\nmemory_nominal_mib = 2048\n[mig 2g.4gb]\nsms = 2\nmemory_total = 4000000000\n";
    struct plm_card cards[3];
    struct plm_error error;
    const char *path = unit_path("parent.ini");
    (void)state;
    unit_write(path, text, strlen(text));
    assert_int_equal(plm_card_file(path, install.capabilities, cards, 3, &error), 3);
    assert_string_equal(cards[1].id, "parent:1g.2gb");
    assert_int_equal(cards[1].memory_total, 2 * GIB);
    assert_true(cards[1].mig && !cards[0].mig && cards[2].sms == 2 && cards[2].memory_total == 4000000000);
    assert_int_equal(plm_card_file(path, install.capabilities, cards, 2, &error), PLM_EFORMAT);
    assert_contains(error.text, "more than 1 profiles");
}

/* What a profile has of its parent: the lanes, which all share. NVLink and the parent's cache it has not. */
static void profile_links(void **state)
{
    static const char text[] = GOOD "l2_bytes = 8388608\npcie_generation = 4\npcie_lanes = 8\nnvlink_gbs = 600\n"
                                    "[mig 1g.2gb]\nsms = 1\nmemory_nominal_mib = 2048\n";
    struct plm_card cards[2];
    struct plm_error error;
    const char *path = unit_path("parent.ini");
    (void)state;
    unit_write(path, text, strlen(text));
    assert_int_equal(plm_card_file(path, install.capabilities, cards, 2, &error), 2);
    assert_true(cards[1].pcie_generation == 4 && cards[1].pcie_lanes == 8);
    assert_true(plm_card_host_gbs(&cards[1]) == plm_card_host_gbs(&cards[0]) && plm_card_host_gbs(&cards[1]) > 0);
    assert_true(cards[0].nvlink_gbs == 600 && cards[1].nvlink_gbs == 0);
    assert_true(cards[0].l2_bytes == 8388608 && cards[1].l2_bytes == 0);
}

static void assert_near(const char *id, const char *what, double value, double expected, double low, double high)
{
    if (!(value >= expected * low && value <= expected * high))
        fail_msg("%s: %s is %g, expected %g to %g", id, what, value, expected * low, expected * high);
}

/* The rates are those of the PCI Express Base Specification: transfers a second, bits, line code. */
static void host_speed(void **state)
{
    static const struct {
        struct plm_card card;
        double expected;
    } rows[] = {
        {{.pcie_generation = 2, .pcie_lanes = 16}, 5.0 * 16 / 8 * 8 / 10},
        {{.pcie_generation = 3, .pcie_lanes = 16}, 8.0 * 16 / 8 * 128 / 130},
        {{.pcie_generation = 4, .pcie_lanes = 16}, 16.0 * 16 / 8 * 128 / 130},
        {{.pcie_generation = 4, .pcie_lanes = 8}, 16.0 * 8 / 8 * 128 / 130},
        {{.pcie_generation = 5, .pcie_lanes = 4}, 32.0 * 4 / 8 * 128 / 130},
        {{.host_link_gbs = 900}, 450},
        {{.pcie_generation = 5, .pcie_lanes = 16, .host_link_gbs = 900}, 450},
        {{.pcie_generation = 5}, 0},
        {{.pcie_lanes = 16}, 0},
        {{.pcie_generation = 7, .pcie_lanes = 16}, 0},
        {{.pcie_generation = -1, .pcie_lanes = 16}, 0},
        {{.bandwidth_gbs = 204.8, .shared_memory = true}, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near("PCIe", "GB/s", plm_card_host_gbs(&rows[i].card), rows[i].expected, 0.999, 1.001);
}

/* ---- the figures of a card agree with each other and with its architecture ---- */

/*
 * Per multiprocessor, from the architecture whitepapers and the arithmetic throughput table of the CUDA C++ Programming
 * Guide.
 * fp16 is the dense rate with FP32 accumulation where there are tensor cores.
 */
struct chip {
    int major, minor, cores, tensor_cores;
    double fp64, fp16; /* of the fp32 rate */
    bool halved;       /* fp16 of the cards that are sold as GeForce */
    double l2_kib;     /* per 32 bits of the bus; three quarters on cards with parts switched off */
};

static const struct chip chips[] = {
    {6, 0, 64, 0, 1 / 2.0, 2, false, 32},     {6, 1, 128, 0, 1 / 32.0, 1 / 64.0, false, 256},
    {7, 0, 64, 8, 1 / 2.0, 8, false, 48},     {7, 5, 64, 8, 1 / 32.0, 8, true, 512},
    {8, 0, 64, 4, 1 / 2.0, 16, false, 256},   {8, 6, 128, 4, 1 / 64.0, 4, true, 512},
    {8, 7, 128, 4, 1 / 64.0, 8, false, 512},  {8, 9, 128, 4, 1 / 64.0, 4, true, 8192},
    {9, 0, 128, 4, 1 / 2.0, 16, false, 320},  {10, 0, 128, 4, 1 / 2.0, 32, false, 512},
    {12, 0, 128, 4, 1 / 64.0, 4, true, 8192},
};

/* Whose data sheet says otherwise than their architecture. */
enum cut { CUT_NONE, CUT_HALF, CUT_FULL, CUT_EXPORT };

static enum cut card_cut(const char *id)
{
    static const struct {
        const char *id;
        enum cut cut;
    } rows[] = {
        {"a10g", CUT_HALF}, {"l40", CUT_HALF}, {"titanrtx", CUT_FULL}, {"h20", CUT_EXPORT}, /* rules for export */
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].id, id))
            return rows[i].cut;
    return CUT_NONE;
}

static const struct chip *chip_of(const struct plm_card *c)
{
    for (size_t i = 0; i < COUNT(chips); i++)
        if (chips[i].major == c->major && chips[i].minor == c->minor)
            return &chips[i];
    fail_msg("%s: compute capability %d.%d is not in the test's table", c->id, c->major, c->minor);
    return NULL;
}

static void units_agree(const struct plm_card *c, const struct chip *chip)
{
    assert_int_equal(c->cuda_cores, c->sms * chip->cores);
    assert_int_equal(c->tensor_cores, c->sms * chip->tensor_cores);
    if (c->memory_clock_mhz && c->memory_bus_bits)
        assert_near(c->id, "bandwidth_gbs", c->bandwidth_gbs, 2e-3 * c->memory_clock_mhz * c->memory_bus_bits / 8, 0.99,
                    1.01);
    if (c->clock_mhz)
        assert_near(c->id, "fp32_tflops", c->fp32_tflops, 2e-6 * c->cuda_cores * c->clock_mhz, 0.99, 1.01);
    if (c->l2_bytes)
        assert_near(c->id, "l2_bytes", (double)c->l2_bytes, chip->l2_kib * 1024 * c->memory_bus_bits / 32, 0.75, 1.0);
}

static void rates_agree(const struct plm_card *c, const struct chip *chip)
{
    const enum cut cut = card_cut(c->id);
    const bool half = cut == CUT_HALF || (cut == CUT_NONE && chip->halved && !strcmp(c->class, "geforce"));
    const bool fp8 = c->major > 8 || (c->major == 8 && c->minor == 9);

    assert_true(c->fp16_tflops > 0);
    assert_true((c->tf32_tflops > 0) == (c->major >= 8) && (c->bf16_tflops > 0) == (c->major >= 8));
    assert_true((c->fp8_tflops > 0) == fp8);
    if (c->major >= 8) {
        assert_near(c->id, "tf32_tflops", c->tf32_tflops, c->fp16_tflops / 2, 0.975, 1.025);
        assert_near(c->id, "bf16_tflops", c->bf16_tflops, c->fp16_tflops, 1, 1);
    }
    if (fp8)
        assert_near(c->id, "fp8_tflops", c->fp8_tflops, c->fp16_tflops * 2, 0.975, 1.025);
    if (cut == CUT_EXPORT)
        return;
    /* The tensor cores of the largest cards are rated at a lower clock than boost. */
    assert_near(c->id, "fp16_tflops", c->fp16_tflops, c->fp32_tflops * chip->fp16 / (half ? 2 : 1), 0.86, 1.025);
    if (c->fp64_tflops > 0)
        assert_near(c->id, "fp64_tflops", c->fp64_tflops, c->fp32_tflops * chip->fp64, 0.97, 1.03);
}

static void figures_agree(void **state)
{
    (void)state;
    for (int i = 0; i < catalogue.count; i++) {
        const struct plm_card *c = &catalogue.entry[i].card;
        if (c->mig)
            continue;
        if (!(c->bandwidth_gbs > 0 && c->fp32_tflops > 0 && c->l2_bytes > 0 && c->memory_bus_bits > 0))
            fail_msg("%s: a figure that times are computed from is missing", c->id);
        units_agree(c, chip_of(c));
        rates_agree(c, chip_of(c));
    }
}

/* The way to the host, and to other GPUs. */
static void every_card_has_its_links(void **state)
{
    const struct plm_card *parent = &catalogue.entry[0].card; /* profiles follow their card */
    (void)state;
    for (int i = 0; i < catalogue.count; i++) {
        const struct plm_card *c = &catalogue.entry[i].card;
        if ((plm_card_host_gbs(c) > 0) == c->shared_memory)
            fail_msg("%s: %s", c->id,
                     c->shared_memory ? "its memory is the host's" : "how it reaches its host is missing");
        if ((c->pcie_generation > 0) != (c->pcie_lanes > 0))
            fail_msg("%s: a generation of PCIe and its lanes belong together", c->id);
        if (c->nvlink_gbs > 0 && !(c->nvlink_gbs > plm_card_host_gbs(c)))
            fail_msg("%s: NVLink of %g GB/s", c->id, c->nvlink_gbs);
        if (!c->mig)
            parent = c;
        else if (c->nvlink_gbs > 0 || !c->l2_bytes || c->l2_bytes > parent->l2_bytes ||
                 plm_card_host_gbs(c) != plm_card_host_gbs(parent))
            fail_msg("%s: not a part of %s", c->id, parent->id);
    }
}

/* ---- every figure says where it comes from ---- */

struct sources {
    char listed[64][40], figures[64][40];
    int lists, count;
    bool standard;
};

static int visit(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    static const char *const plain[] = {"name", "aliases", "class", "architecture"};
    struct sources *s = context;
    (void)error;
    if (!strcmp(pair->section, "source")) {
        s->standard |= !strcmp(pair->key, "default");
        snprintf(s->listed[s->lists++], 40, "%s", pair->key);
    }
    if (strcmp(pair->section, "gpu"))
        return 0;
    for (size_t i = 0; i < COUNT(plain); i++)
        if (!strcmp(pair->key, plain[i]))
            return 0;
    snprintf(s->figures[s->count++], 40, "%s", pair->key);
    return 0;
}

static bool has(char list[][40], int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(list[i], key))
            return true;
    return false;
}

static void every_figure_has_a_source(void **state)
{
    (void)state;
    for (int i = 0; i < catalogue.count; i++) {
        static struct sources s;
        struct plm_error error;
        if (catalogue.entry[i].card.mig)
            continue;
        memset(&s, 0, sizeof s);
        assert_int_equal(plm_ini_read(catalogue.entry[i].path, visit, &s, &error), 0);
        for (int k = 0; k < s.count; k++)
            if (!s.standard && !has(s.listed, s.lists, s.figures[k]))
                fail_msg("%s: %s has no source", catalogue.entry[i].path, s.figures[k]);
        for (int k = 0; k < s.lists; k++)
            if (strcmp(s.listed[k], "default") && !has(s.figures, s.count, s.listed[k]))
                fail_msg("%s: a source for %s, which is not given", catalogue.entry[i].path, s.listed[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_card_is_sound),
        cmocka_unit_test(spellings),
        cmocka_unit_test(ambiguous_names),
        cmocka_unit_test(other_makers),
        cmocka_unit_test(unlike_names),
        cmocka_unit_test(names_lead_home),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(own_files),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(profiles),
        cmocka_unit_test(profile_links),
        cmocka_unit_test(host_speed),
        cmocka_unit_test(figures_agree),
        cmocka_unit_test(every_card_has_its_links),
        cmocka_unit_test(every_figure_has_a_source),
    };
    return cmocka_run_group_tests(tests, load, drop);
}
