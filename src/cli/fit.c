#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/kinds.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/report_time.h"
#include "fit/tune.h"
#include "fit/ladder.h"
#include "report/report.h"
#include "report/fit_worlds.h"

enum { WORLDS = 16 };

struct request {
    struct plm_look look;
    bool json, all, pessimistic, strict, allow_tight, world;
    const char *gpu, *margin, *path[WORLDS]; /* the records: several with --world */
    int records;
};

static const struct plm_option shared_options[] = {
    {"margin", 0, PLM_OPTION_TEXT, AT(margin), "SIZE", .help = "memory to keep free: 1GiB, 512m or 5%",
     .configurable = true},
    {.include = plm_cli_option_json, .at = AT(json)},
    {.include = plm_cli_option_look, .at = AT(look)},
    {0},
};
static const struct plm_option fit_options[] = {
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME,...", .help = "only these cards", .complete = PLM_COMPLETE_CARDS,
     .configurable = true},
    {"pessimistic", 0, PLM_OPTION_FLAG, AT(pessimistic), .help = "treat tight as does not fit", .configurable = true},
    {"strict", 0, PLM_OPTION_FLAG, AT(strict), .help = "exit 4 unless the confidence is high and the replay exact",
     .configurable = true},
    {.include = plm_cli_option_allow_tight, .at = AT(allow_tight)},
    {"all", 0, PLM_OPTION_FLAG, AT(all), .help = "show every card, including those far from the limit",
     .configurable = true},
    {"world", 0, PLM_OPTION_FLAG, AT(world), .help = "compare numbers of ranks: one column per record"},
    {.include = shared_options},
    {0},
};
static const struct plm_option tune_options[] = {
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME", .help = "also try each setting on this card",
     .complete = PLM_COMPLETE_CARD, .configurable = true},
    {"all", 0, PLM_OPTION_FLAG, AT(all), .help = "show every setting, not only the best twelve", .configurable = true},
    {.include = shared_options},
    {0},
};

static int fit_parse(struct request *r, const struct plm_command *command, int argc, char **argv,
                     struct plm_margin *margin, struct plm_error *error)
{
    int words,
        status = plm_options_among(command->options, r, command->name, argc, argv, r->path, WORLDS, &words, error);
    if (status < 0)
        return status;
    if (words > WORLDS)
        return plm_fail(error, PLM_EINVAL, "%d records are too many: %d at a time", words, WORLDS);
    if (!words || (words > 1 && !r->world))
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll %s FILE.plm`",
                        words ? "one record at a time" : "no record given", command->name);
    r->records = words;
    return plm_cli_margin_parse(r->margin, margin, error);
}

/* Everything that both commands need before they can answer. */
struct question {
    struct plm_catalogue catalogue;
    struct plm_card *card;
    size_t cards;
    struct plm_job *job;
    struct plm_cli_report_time time;
    struct plm_fit fit;
    struct plm_margin margin;
};

static void fit_close(struct question *q)
{
    plm_fit_close(&q->fit);
    plm_cli_report_time_free(&q->time);
    plm_job_free(q->job);
    free(q->card);
    plm_catalogue_free(&q->catalogue);
}

/* --gpu names some; without it, all there are. */
static int fit_choose(struct question *q, const struct request *r, struct plm_error *error)
{
    int status;
    q->card = plm_calloc((size_t)q->catalogue.count + PLM_REPORT_CARDS, sizeof *q->card);
    if (r->gpu) {
        status = plm_cards_choose(&q->catalogue, r->gpu, NULL, q->card, error);
        q->cards = status > 0 ? (size_t)status : 0;
        return status < 0 ? status : 0;
    }
    q->cards = (size_t)q->catalogue.count;
    for (size_t i = 0; i < q->cards; i++)
        q->card[i] = q->catalogue.entry[i].card;
    return 0;
}

/* `timed`: with what is needed to time it. 0, or the exit status after a complaint. */
static int fit_open(struct question *q, const struct request *r, bool timed)
{
    struct plm_error error;
    if (plm_catalogue_open(&q->catalogue, &error) < 0)
        return plm_fault(&error);
    if (fit_choose(q, r, &error) < 0)
        return plm_fault(&error);
    if (r->world)
        return 0;
    if ((timed ? plm_cli_report_time_read(&q->time, r->path[0], &q->job, &error)
               : plm_job_read(r->path[0], &q->job, &error)) < 0)
        return plm_fault(&error);
    return 0;
}

typedef int answer_question(const struct request *r, struct question *q, const struct plm_report_options *options);

static int question_run(const struct plm_command *command, int argc, char **argv, answer_question *answer, bool timed)
{
    struct request r = {.look = PLM_LOOK};
    struct question q = {0};
    struct plm_report_options options;
    struct plm_error error;
    int status;
    if (fit_parse(&r, command, argc, argv, &q.margin, &error) < 0)
        return plm_fault(&error);
    options = plm_look_at(&r.look);
    options.record = r.path[0];
    status = fit_open(&q, &r, timed);
    if (status == 0)
        status = answer(&r, &q, &options);
    fit_close(&q);
    return status;
}

/* ---- fit ---- */

static bool cards_unknown(const struct plm_fit_table *t)
{
    for (size_t i = 0; i < t->rows; i++)
        if (t->row[i].answer.verdict == PLM_UNKNOWN)
            return true;
    return false;
}

/* The exit status is the verdict on the best of the cards that were asked about. */
static int fit_judge(const struct request *r, const struct plm_fit_table *t)
{
    enum plm_verdict verdict = PLM_UNKNOWN;
    char reasons[PLM_DOUBTS][256];
    int n, status;
    for (size_t i = 0; i < t->rows; i++) {
        enum plm_verdict one = t->row[i].answer.verdict;
        if (one == PLM_TIGHT && r->pessimistic)
            one = PLM_NO_FIT;
        verdict = one < verdict ? one : verdict;
    }
    if (verdict == PLM_NO_FIT && cards_unknown(t))
        verdict = PLM_UNKNOWN; /* a card of which nothing is known may do */
    status = verdict == PLM_UNKNOWN ? plm_cli_known_status(t->job) : plm_cli_verdict_status(verdict, r->allow_tight);
    if (verdict == PLM_UNKNOWN)
        return status > PLM_EXIT_NO_FIT ? status : PLM_EXIT_NOTHING;
    if (status)
        return status;
    if (r->strict &&
        ((t->fit && t->fit->doubt[0]) || strcmp(plm_confidence(t->job, reasons, PLM_DOUBTS, &n), "high") != 0))
        return PLM_EXIT_UNTRUSTED;
    return PLM_EXIT_OK;
}

static int fit_answer(const struct request *r, struct question *q, const struct plm_report_options *look)
{
    struct plm_report_options options = *look;
    struct plm_fit_table table;
    struct plm_error error;
    int status;
    if (q->job->lanes && plm_fit_known(q->job).what != PLM_KNOWN_PEAK)
        table = plm_fit_table_known(q->job, q->card, q->cards, &q->margin);
    else if (plm_fit_open(q->job, &q->fit, &error) < 0 ||
             plm_fit_table(&q->fit, q->card, q->cards, &q->margin, &table, &error) < 0)
        return plm_fault(&error);
    status = fit_judge(r, &table);
    options.card = q->card;
    options.cards = q->cards == 1;
    options.asked = q->cards == 1; /* of several the table is the answer */
    plm_cli_report_time_make(&q->time, q->card, q->cards, &q->catalogue.install, false, &options);
    if ((r->json ? plm_report_fit_json : plm_report_fit_text)(stdout, &table, &options, r->all, &error) < 0)
        status = plm_fault(&error);
    plm_fit_table_free(&table);
    return status;
}

/* ---- worlds ---- */

struct world {
    struct plm_job *job;
    struct plm_fit fit;
    struct plm_fit_table table; /* its `fit` is NULL if that was not opened */
    const char *record;
    uint64_t ranks;
};

/* 0, or a negative PLM_E code with a sentence. */
static int world_open(struct world *w, const char *path, const struct question *q, struct plm_error *error)
{
    struct plm_job_kinds ranks;
    int status = plm_job_read(path, &w->job, error);
    if (status < 0)
        return status;
    if (w->job->lanes && plm_fit_known(w->job).what != PLM_KNOWN_PEAK)
        w->table = plm_fit_table_known(w->job, q->card, q->cards, &q->margin);
    else {
        status = plm_fit_open(w->job, &w->fit, error);
        if (status == 0)
            status = plm_fit_table(&w->fit, q->card, q->cards, &q->margin, &w->table, error);
        if (status < 0)
            return status;
    }
    ranks = plm_job_kinds_make(w->job);
    w->ranks = plm_job_world(w->job).ranks; /* of which only some may have been run */
    w->ranks = w->ranks > ranks.count ? w->ranks : ranks.count;
    plm_job_kinds_free(&ranks);
    w->record = path;
    return 0;
}

static void world_close(struct world *w)
{
    plm_fit_table_free(&w->table);
    plm_fit_close(&w->fit);
    plm_job_free(w->job);
}

static int by_ranks(const void *a, const void *b)
{
    const struct world *x = a, *y = b;
    return x->ranks < y->ranks ? -1 : x->ranks > y->ranks;
}

/* Whether a card is enough in the world that asks least of it. */
static int worlds_judge(const struct request *r, const struct world *world)
{
    static const int from_best[] = {PLM_EXIT_OK, PLM_EXIT_TIGHT, PLM_EXIT_UNTRUSTED, PLM_EXIT_NO_FIT, PLM_EXIT_NOTHING};
    size_t best = sizeof from_best / sizeof from_best[0] - 1;
    for (int i = 0; i < r->records; i++) {
        const int status = fit_judge(r, &world[i].table);
        for (size_t k = 0; k < best; k++)
            if (from_best[k] == status)
                best = k;
    }
    return from_best[best];
}

static int worlds_answer(const struct request *r, struct question *q, const struct plm_report_options *options)
{
    struct world *world = plm_calloc((size_t)r->records, sizeof *world);
    struct plm_report_fit_world shown[WORLDS];
    struct plm_error error;
    int status = PLM_EXIT_OK;
    for (int i = 0; i < r->records && status == PLM_EXIT_OK; i++)
        if (world_open(&world[i], r->path[i], q, &error) < 0)
            status = plm_fault(&error);
    if (status == PLM_EXIT_OK) {
        qsort(world, (size_t)r->records, sizeof *world, by_ranks);
        for (int i = 0; i < r->records; i++) {
            world[i].table.fit = world[i].table.fit ? &world[i].fit : NULL; /* it has moved */
            shown[i] = (struct plm_report_fit_world){world[i].record, &world[i].table};
        }
        status = worlds_judge(r, world);
        if ((r->json ? plm_report_worlds_json : plm_report_worlds_text)(stdout, shown, (size_t)r->records, options,
                                                                        r->all, &error) < 0)
            status = plm_fault(&error);
    }
    for (int i = 0; i < r->records; i++)
        world_close(&world[i]);
    free(world);
    return status;
}

static int fit_or_worlds(const struct request *r, struct question *q, const struct plm_report_options *options)
{
    return (r->world ? worlds_answer : fit_answer)(r, q, options);
}

static int fit_run(int argc, char **argv)
{
    return question_run(&plm_command_fit, argc, argv, fit_or_worlds, true);
}

const struct plm_command plm_command_fit = {
    .name = "fit",
    .line = "find the cards that a recorded job fits on",
    .words = "RECORD...",
    .options = fit_options,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll fit job.plm", "plimsoll fit --gpu rtx4090 --margin 1GiB job.plm && sbatch job.sh",
                "plimsoll fit --world fsdp-8.plm fsdp-16.plm fsdp-64.plm",
                "plimsoll fit --json job.plm | jq '[.fits[] | select(.verdict == \"fits\")][0].gpu'"},
    .exit = {{PLM_EXIT_OK, "the job fits on the card, or on at least one of several"},
             {PLM_EXIT_NO_FIT, "it fits on none of them"},
             {PLM_EXIT_UNTRUSTED, "the answer is not certain (--strict)"},
             {PLM_EXIT_TIGHT, "tight on the best of them: it needs cache flushes (--allow-tight: 0)"},
             {PLM_EXIT_NOTHING,
              "the record cannot be read, or is incomplete: its job ran out of memory, or was cut short"}},
    .run = fit_run,
};

/* ---- tune ---- */

static void fit_tell(size_t done, size_t all, void *context)
{
    (void)context;
    fprintf(stderr, "\r%zu of %zu settings\033[K%s", done, all, done == all ? "\r\033[K" : "");
}

static int tune_answer(const struct request *r, struct question *q, const struct plm_report_options *options)
{
    struct plm_error error;
    struct plm_tune tune;
    int status = PLM_EXIT_OK;
    if (r->gpu && q->cards > 1)
        return plm_complain(PLM_EXIT_USAGE, "tune takes one card: `plimsoll tune --gpu rtx3060 FILE.plm`");
    if (plm_fit_open(q->job, &q->fit, &error) < 0)
        return plm_cli_known_status(q->job) == PLM_EXIT_COMMAND ? plm_complain(PLM_EXIT_COMMAND, error.text)
                                                                : plm_fault(&error);
    if (plm_tune(&q->fit, r->gpu ? q->card : NULL, &q->margin, isatty(STDERR_FILENO) ? fit_tell : NULL, NULL, &tune,
                 &error) < 0)
        return plm_fault(&error);
    if ((r->json ? plm_report_tune_json : plm_report_tune_text)(stdout, &tune, options, r->all, &error) < 0)
        status = plm_fault(&error);
    plm_tune_free(&tune);
    return status;
}

static int tune_run(int argc, char **argv)
{
    return question_run(&plm_command_tune, argc, argv, tune_answer, false);
}

const struct plm_command plm_command_tune = {
    .name = "tune",
    .line = "find the PyTorch allocator setting that reserves least",
    .words = "RECORD",
    .options = tune_options,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll tune job.plm", "plimsoll tune --gpu rtx3060 job.plm"},
    .exit = {{PLM_EXIT_OK, "the settings were tried, whether or not one helps"},
             {PLM_EXIT_NOTHING, "the record cannot be read, or is incomplete: its job ran out of memory or failed"}},
    .run = tune_run,
};
