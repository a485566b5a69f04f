#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/catalogue.h"
#include "common/error.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "report/report.h"
#include "report/time.h"
#include "time/table.h"

struct request {
    struct plm_look look;
    bool json, unfold;
    const char *gpu, *price, *sort, *host_text, *speeds, *by, *path;
    struct plm_host_time host;
    int rank, samples;
};

static const struct plm_option options[] = {
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME,...", .help = "these cards, or all (default: the record's)",
     .complete = PLM_COMPLETE_CARDS, .among = "all", .configurable = true},
    {"by", 0, PLM_OPTION_CHOICE, AT(by), "WHAT",
     .help = "GPU time by operator, module or class of work, with the bottleneck of each",
     .among = "operator module class"},
    {"unfold", 0, PLM_OPTION_FLAG, AT(unfold), .help = "show layers that repeat one by one"},
    {"price", 0, PLM_OPTION_TEXT, AT(price), "NAME=USD,...", .help = "price of a GPU per hour: adds steps per dollar",
     .configurable = true},
    {"samples", 0, PLM_OPTION_NUMBER, AT(samples), "N",
     .help = "hours for N samples, such as an epoch; with --price also the cost", .least = 1, .most = 2000000000},
    {"sort", 0, PLM_OPTION_CHOICE, AT(sort), "WHAT", .help = "order of the cards: step (default), dollar, mfu or name",
     .among = "step dollar mfu name", .configurable = true},
    {.include = plm_cli_option_host, .at = AT(host_text)},
    {"speeds", 0, PLM_OPTION_TEXT, AT(speeds), "FILE", .help = "time model constants, from `calibrate --time`",
     .complete = PLM_COMPLETE_FILE, .among = "ini", .configurable = true},
    {"rank", 0, PLM_OPTION_NUMBER, AT(rank), "N", .help = "the rank to time (default: the one with the most calls)"},
    {.include = plm_cli_option_json, .at = AT(json)},
    {.include = plm_cli_option_color, .at = AT(look.color)},
    {0},
};

/* ---- words ---- */

static int time_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(options, r, "time", argc, argv, &r->path, 1, &words, error);
    if (status < 0)
        return status;
    if (words != 1)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll time FILE.plm`",
                        words ? "one record at a time" : "no record given");
    return plm_host_time_parse(r->host_text, &r->host, error);
}

/* ---- cards ---- */

struct cards {
    struct plm_catalogue catalogue;
    struct plm_card *card;
    double *price;
    size_t count;
};

static void cards_free(struct cards *c)
{
    free(c->card);
    free(c->price);
    plm_catalogue_free(&c->catalogue);
}

static int cards_choose(struct cards *c, const char *list, const char *own, struct plm_error *error)
{
    const bool all = list && !strcmp(list, "all");
    int status;
    c->card = plm_calloc((size_t)c->catalogue.count + PLM_REPORT_CARDS, sizeof *c->card);
    c->price = plm_calloc((size_t)c->catalogue.count + PLM_REPORT_CARDS, sizeof *c->price);
    for (int i = 0; all && i < c->catalogue.count; i++)
        c->card[c->count++] = c->catalogue.entry[i].card;
    if (all)
        return 0;
    if (!list && !*own)
        return plm_fail(error, PLM_EINVAL, "the record does not name its GPU; choose one with --gpu");
    status = plm_cards_choose(&c->catalogue, list ? list : own, NULL, c->card, error);
    c->count = status > 0 ? (size_t)status : 0;
    return status < 0 ? status : 0;
}

/* ---- the answer ---- */

static enum plm_time_order order_of(const char *sort)
{
    static const char *const names[] = {[PLM_TIME_BY_STEP] = "step",
                                        [PLM_TIME_BY_DOLLAR] = "dollar",
                                        [PLM_TIME_BY_MFU] = "mfu",
                                        [PLM_TIME_BY_NAME] = "name"};
    for (size_t i = 0; sort && i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i], sort))
            return (enum plm_time_order)i;
    return PLM_TIME_BY_STEP;
}

static int time_show(const struct request *r, const struct cards *c, struct plm_time_table *table)
{
    struct plm_report_options shown = plm_look_at(&r->look);
    struct plm_report_time_look look = {.options = &shown, .listed = r->by != NULL, .many = c->count > 1};
    struct plm_error error;
    shown.record = r->path;
    shown.unfold = r->unfold;
    if (r->by)
        look.by = *r->by == 'o'   ? PLM_REPORT_TIME_OPERATORS
                  : *r->by == 'm' ? PLM_REPORT_TIME_MODULES
                                  : PLM_REPORT_TIME_CLASSES;
    for (size_t i = 0; i < table->rows; i++) {
        table->row[i].price = c->price[i];
        table->row[i].samples = r->samples;
    }
    if (c->count == 1 && !table->row[0].known)
        return plm_complain(PLM_EXIT_NOTHING, table->row[0].why);
    plm_time_table_sort(table, order_of(r->sort));
    if ((r->json ? plm_report_time_json : plm_report_time_text)(stdout, table, &look, &error) < 0)
        return plm_fault(&error);
    return PLM_EXIT_OK;
}

static int time_answer(const struct request *r, const struct plm_works *works, struct cards *c)
{
    const struct plm_work_lane *lane = plm_time_lane(works, r->rank);
    struct plm_time_question question = {.install = &c->catalogue.install, .speeds = r->speeds, .host = r->host};
    struct plm_time_table table;
    struct plm_error error;
    int status;
    if (!lane)
        return plm_complain_of(PLM_EXIT_USAGE, "the record has no rank %d", r->rank);
    if (cards_choose(c, r->gpu, works->card, &error) < 0 ||
        plm_cards_prices(&c->catalogue, r->price, c->card, c->count, c->price, &error) < 0)
        return plm_fault(&error);
    if (r->by && c->count > 1)
        return plm_complain(PLM_EXIT_USAGE, "--by takes one card: `plimsoll time --gpu rtx3060 --by module FILE.plm`");
    question.shares = c->count == 1;
    if (plm_time_table_make(works, lane, c->card, c->count, &question, &table, &error) < 0)
        return plm_fault(&error);
    status = time_show(r, c, &table);
    plm_time_table_free(&table);
    return status;
}

static int time_run(int argc, char **argv)
{
    struct request r = {.look = PLM_LOOK, .rank = -1};
    struct cards cards = {0};
    struct plm_works works;
    struct plm_error error;
    int status;
    if (time_parse(&r, argc, argv, &error) < 0)
        return plm_fault(&error);
    if (plm_catalogue_open(&cards.catalogue, &error) < 0 || plm_works_read(r.path, &works, &error) < 0)
        status = plm_fault(&error);
    else {
        status = time_answer(&r, &works, &cards);
        plm_works_free(&works);
    }
    cards_free(&cards);
    return status;
}

const struct plm_command plm_command_time = {
    .name = "time",
    .line = "estimate step time and GPU utilization of a recorded job",
    .words = "RECORD",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll time job.plm", "plimsoll time --gpu all job.plm",
                "plimsoll time --gpu rtx3090 --by module job.plm",
                "plimsoll time --gpu rtx4090,a100-80gb --price rtx4090=0.5,a100-80gb=2 --sort dollar job.plm",
                "plimsoll time --gpu a100-80gb --samples 1281167 --price a100-80gb=2 job.plm",
                "plimsoll time --json --gpu all job.plm | jq '.cards[0].gpu'"},
    .exit = {{PLM_EXIT_OK, "the times were shown"},
             {PLM_EXIT_USAGE, "usage, an unknown card, or a rank that the record does not have"},
             {PLM_EXIT_NOTHING, "the record cannot be read or has no kernel launches, the card lacks a figure, or a "
                                "constants file is invalid"}},
    .run = time_run,
};
