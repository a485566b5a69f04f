#include <stdio.h>
#include <stdlib.h>

#include "base/catalogue.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"

static void print_row(const struct plm_card *c)
{
    char total[32], usable[32];
    printf("%-24s %d.%-2d %4d  %10s%s %10s%s  %s\n", c->id, c->major, c->minor, c->sms,
           plm_size_text(total, sizeof total, c->memory_total), c->memory_total_assumed ? "~" : " ",
           plm_size_text(usable, sizeof usable, c->memory_usable), c->memory_usable_assumed ? "~" : " ", c->name);
}

struct figure {
    const char *name, *unit;
    double value; /* 0: not known */
};

/* Those that are known, in one line. */
static void print_figures(const char *title, const struct figure *figure, size_t count)
{
    const char *before = title;
    for (size_t i = 0; i < count; i++)
        if (figure[i].value > 0) {
            printf("%s%s %.4g%s", before, figure[i].name, figure[i].value, figure[i].unit);
            before = ", ";
        }
    if (before != title)
        putchar('\n');
}

static void print_speeds(const struct plm_card *c)
{
    char host[48] = "host";
    if (c->pcie_generation && c->pcie_lanes)
        snprintf(host, sizeof host, "PCIe %d x%d", c->pcie_generation, c->pcie_lanes);
    const struct figure links[] = {
        {"memory", " GB/s", c->bandwidth_gbs},
        {"L2", " MiB", (double)c->l2_bytes / (1 << 20)},
        {host, " GB/s each way", plm_card_host_gbs(c)},
        {"NVLink", " GB/s both ways", c->nvlink_gbs},
    };
    const struct figure rates[] = {
        {"fp64", "", c->fp64_tflops}, {"fp32", "", c->fp32_tflops}, {"tf32", "", c->tf32_tflops},
        {"fp16", "", c->fp16_tflops}, {"bf16", "", c->bf16_tflops}, {"fp8", "", c->fp8_tflops},
    };
    print_figures("    ", links, sizeof links / sizeof links[0]);
    print_figures("    TFLOP/s: ", rates, sizeof rates / sizeof rates[0]);
}

static void json_number(struct plm_json *j, const char *key, double value)
{
    if (value > 0)
        plm_json_real(j, key, value);
}

static void json_card(struct plm_json *j, const struct plm_card *c)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "id", c->id);
    plm_json_string(j, "name", c->name);
    plm_json_text(j, "class", c->class);
    plm_json_text(j, "architecture", c->architecture);
    plm_json_bool(j, "mig", c->mig);
    plm_json_integer(j, "compute_major", (uint64_t)c->major);
    plm_json_integer(j, "compute_minor", (uint64_t)c->minor);
    plm_json_integer(j, "memory_total", c->memory_total);
    plm_json_bool(j, "memory_total_assumed", c->memory_total_assumed);
    plm_json_integer(j, "memory_usable", c->memory_usable);
    plm_json_bool(j, "memory_usable_assumed", c->memory_usable_assumed);
    plm_json_integer(j, "sms", (uint64_t)c->sms);
    json_number(j, "clock_mhz", c->clock_mhz);
    json_number(j, "bandwidth_gbs", c->bandwidth_gbs);
    json_number(j, "l2_bytes", (double)c->l2_bytes);
    json_number(j, "fp64_tflops", c->fp64_tflops);
    json_number(j, "fp32_tflops", c->fp32_tflops);
    json_number(j, "tf32_tflops", c->tf32_tflops);
    json_number(j, "fp16_tflops", c->fp16_tflops);
    json_number(j, "bf16_tflops", c->bf16_tflops);
    json_number(j, "fp8_tflops", c->fp8_tflops);
    json_number(j, "tdp_watts", c->tdp_watts);
    json_number(j, "pcie_generation", c->pcie_generation);
    json_number(j, "pcie_lanes", c->pcie_lanes);
    json_number(j, "nvlink_gbs", c->nvlink_gbs);
    json_number(j, "host_link_gbs", c->host_link_gbs);
    json_number(j, "host_gbs", plm_card_host_gbs(c));
    plm_json_end_object(j);
}

static int gpus_json(const struct plm_card *cards, int count)
{
    struct plm_json j;
    plm_json_document(&j, stdout, "plimsoll.gpus/1");
    plm_json_array(&j, "gpus");
    for (int i = 0; i < count; i++)
        json_card(&j, &cards[i]);
    plm_json_end_array(&j);
    return plm_json_finish(&j) ? PLM_EXIT_CANNOT : PLM_EXIT_OK;
}

static int gpus_text(const struct plm_card *cards, int count, bool all)
{
    if (all)
        printf("%-24s %-4s %4s  %11s %11s  %s\n", "id", "cc", "SMs", "total", "usable", "name");
    for (int i = 0; i < count; i++) {
        print_row(&cards[i]);
        if (!all)
            print_speeds(&cards[i]);
    }
    if (all)
        puts("~ assumed, not measured on this card");
    return PLM_EXIT_OK;
}

/* The named cards, or all. Returns their number, or -1 after complaining. */
static int gpus_choose(struct plm_catalogue *catalogue, const char **names, int count, struct plm_card *out)
{
    struct plm_error error;
    for (int i = 0; i < count; i++) {
        const struct plm_catalogue_entry *entry;
        if (plm_catalogue_find(catalogue, names[i], &entry, &error) < 0) {
            plm_fault(&error);
            return -1;
        }
        out[i] = entry->card;
    }
    for (int i = 0; !count && i < catalogue->count; i++)
        out[i] = catalogue->entry[i].card;
    return count ? count : catalogue->count;
}

static int gpus_run(int argc, char **argv)
{
    bool json = false;
    const char **name = plm_calloc((size_t)argc + 1, sizeof *name);
    struct plm_card *cards = NULL;
    struct plm_catalogue catalogue = {0};
    struct plm_error error;
    int names, count, status;

    if (plm_options_among(plm_cli_option_json, &json, "gpus", argc, argv, name, argc, &names, &error) < 0) {
        status = plm_fault(&error);
        goto out;
    }
    if (plm_catalogue_open(&catalogue, &error) < 0) {
        status = plm_fault(&error);
        goto out;
    }
    cards = plm_calloc((size_t)catalogue.count + (size_t)argc, sizeof *cards);
    count = gpus_choose(&catalogue, name, names, cards);
    if (count < 0)
        status = PLM_EXIT_USAGE;
    else
        status = json ? gpus_json(cards, count) : gpus_text(cards, count, !names);
out:
    free(cards);
    plm_catalogue_free(&catalogue);
    free(name);
    return status;
}

const struct plm_command plm_command_gpus = {
    .name = "gpus",
    .line = "list the GPUs and MIG profiles in the catalogue",
    .words = "[NAME...]",
    .options = plm_cli_option_json,
    .complete = PLM_COMPLETE_CARD,
    .example = {"plimsoll gpus", "plimsoll gpus rtx3060 \"A100 40GB\""},
    .exit = {{PLM_EXIT_USAGE, "usage, or an unknown name"}, {PLM_EXIT_NOTHING, "a GPU file is wrong"}},
    .run = gpus_run,
};
