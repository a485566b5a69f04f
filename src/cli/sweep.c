#include "cli/sweep.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/secret.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/run.h"
#include "fit/fit.h"
#include "report/report.h"
#include "sweep/command.h"

struct request {
    struct plm_option_list parameters;
    const char *gpu, *margin, *price, *largest, *output, *json, *csv, *show, *world, *rank;
    bool zip, resume, force, allow_tight;
    int jobs, runs;
    struct plm_run run;
    char **command; /* ended by NULL */
};

enum { RUNS_OF_SEARCH = 12 };

static const struct plm_option options[] = {
    {"parameter", 'P', PLM_OPTION_LIST, AT(parameters), "NAME=VALUES",
     .help = "vary {NAME}, env:NAME or FILE:KEY: 8,16 or 8..512"},
    {"zip", 0, PLM_OPTION_FLAG, AT(zip), .help = "take the values of several parameters side by side", .rare = true},
    {"largest", 0, PLM_OPTION_TEXT, AT(largest), "NAME", .help = "find the largest value that fits each card"},
    {"runs", 0, PLM_OPTION_NUMBER, AT(runs), "N", .help = "runs that --largest may take (default 12)", .least = 2,
     .most = PLM_SWEEP_VALUES, .configurable = true, .rare = true},
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME,...", .help = "the cards to judge, or all; the first is simulated",
     .complete = PLM_COMPLETE_CARDS, .among = "all", .configurable = true},
    {"margin", 0, PLM_OPTION_TEXT, AT(margin), "SIZE", .help = "memory to keep free: 1GiB, 512m or 5%",
     .configurable = true, .rare = true},
    {"allow-tight", 0, PLM_OPTION_FLAG, AT(allow_tight), .help = "count a value as fitting that needs cache flushes",
     .configurable = true, .rare = true},
    {"price", 0, PLM_OPTION_TEXT, AT(price), "NAME=USD,...", .help = "price of a GPU per hour: adds samples per dollar",
     .configurable = true, .rare = true},
    {"jobs", 'j', PLM_OPTION_NUMBER, AT(jobs), "N", .help = "runs at the same time (default: one per core)", .least = 1,
     .most = 256, .configurable = true},
    {"steps", 0, PLM_OPTION_NUMBER, AT(run.steps), "N", .help = "stop each run after N steps, as in run", .least = 1,
     .configurable = true, .rare = true},
    {"until-exit", 0, PLM_OPTION_FLAG, AT(run.until_exit), .help = "let each run go on until it exits", .rare = true},
    {"gpus", 0, PLM_OPTION_NUMBER, AT(run.gpus), "N", .help = "number of GPUs, as in run", .least = 1, .most = 64,
     .configurable = true, .rare = true},
    {"assume", 0, PLM_OPTION_TEXT, AT(run.assume), "WHAT", .help = "assumptions about unknown values, as in run",
     .configurable = true, .rare = true},
    {"stack", 0, PLM_OPTION_TEXT, AT(run.stack), "NAME", .help = "the stack file for library memory, as in run",
     .complete = PLM_COMPLETE_STACK, .among = "auto none", .configurable = true, .rare = true},
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "save the sweep, run by run, to show or continue it",
     .complete = PLM_COMPLETE_FILE, .among = "json"},
    {"resume", 0, PLM_OPTION_FLAG, AT(resume), .help = "continue the sweep in the file of -o"},
    {"show", 0, PLM_OPTION_TEXT, AT(show), "FILE", .help = "show a saved sweep and run nothing",
     .complete = PLM_COMPLETE_FILE, .among = "json"},
    {.include = plm_cli_option_force, .at = AT(force)},
    {.include = plm_cli_option_json_file, .at = AT(json)},
    {"csv", 0, PLM_OPTION_TEXT, AT(csv), "FILE", .help = "also write a line for each value and card",
     .complete = PLM_COMPLETE_FILE, .among = "csv", .rare = true},
    {.include = plm_cli_option_look, .at = AT(run.look)},
    {"world", 0, PLM_OPTION_TEXT, AT(world), "N", .help = NULL},
    {"rank", 0, PLM_OPTION_TEXT, AT(rank), "R", .help = NULL},
    {0},
};

/* ---- what is asked ---- */

struct asked {
    struct request *request;
    struct plm_catalogue catalogue;
    struct plm_card *card;
    struct plm_margin margin;
    struct plm_sweep sweep;
    char scratch[PLM_SCRATCH];
    size_t taken; /* points that were there already */
    double start;
    size_t saved; /* points that the file has */
};

static int largest_choose(struct plm_sweep *s, const char *name, struct plm_error *error)
{
    uint64_t number, before = 0;
    const struct plm_sweep_parameter *p;
    for (size_t i = 0; i < s->parameters.count; i++)
        if (!strcmp(s->parameters.item[i].name, name))
            s->largest = (int)i;
    if (s->largest < 0)
        return plm_fail(error, PLM_EINVAL, "--largest %.60s: there is no -P of that name", name);
    for (size_t i = 0; i < s->parameters.count; i++)
        if ((int)i != s->largest && s->parameters.item[i].values > 1)
            return plm_fail(error, PLM_EINVAL, "--largest varies one parameter; give %.60s one value",
                            s->parameters.item[i].name);
    p = &s->parameters.item[s->largest];
    for (size_t i = 0; i < p->values; before = number, i++)
        if (!plm_sweep_whole(p->value[i], &number) || (i && number <= before))
            return plm_fail(error, PLM_EINVAL, "--largest %.60s takes whole numbers that rise, such as 1..512", name);
    return 0;
}

static int parameters_parse(const struct request *r, struct plm_sweep *s, struct plm_error *error)
{
    size_t words = 0;
    int status = 0;
    s->parameters.zip = r->zip;
    s->largest = -1;
    s->allow_tight = r->allow_tight;
    for (size_t i = 0; i < r->parameters.count && status == 0; i++)
        status = plm_sweep_parameters_add(&s->parameters, r->parameters.item[i], error);
    if (status == 0 && !s->parameters.count)
        status = plm_fail(error, PLM_EINVAL,
                          "nothing to vary; add -P, such as -P batch=8..512, and {batch} in the "
                          "command");
    if (status == 0)
        status = plm_sweep_parameters_check(&s->parameters, error);
    if (status == 0 && r->largest)
        status = largest_choose(s, r->largest, error);
    if (status == 0)
        status = plm_sweep_command_check(&s->parameters, r->command, error);
    while (r->command[words])
        words++;
    s->command = plm_calloc(words + 1, sizeof *s->command);
    for (size_t i = 0; i < words; i++)
        s->command[i] = plm_strdup(r->command[i]);
    snprintf(s->margin, sizeof s->margin, "%s", r->margin ? r->margin : "");
    return status;
}

static int by_memory(const void *a, const void *b)
{
    const struct plm_card *x = a, *y = b;
    return x->memory_usable != y->memory_usable ? (x->memory_usable < y->memory_usable ? -1 : 1) : strcmp(x->id, y->id);
}

/* Those that are named, all, or the common ones. */
static int cards_choose(struct asked *a, struct plm_error *error)
{
    const char *list = a->request->gpu;
    const bool all = list && !strcmp(list, "all");
    const struct plm_catalogue_entry *first;
    int count = a->catalogue.count, status;
    a->card = plm_calloc((size_t)count + PLM_REPORT_CARDS, sizeof *a->card);
    for (int i = 0; all && i < count; i++)
        a->card[i] = a->catalogue.entry[i].card;
    if (!all)
        count = plm_cards_choose(&a->catalogue, list, NULL, a->card, error);
    if (count < 0)
        return count;
    if (!list || all)
        qsort(a->card, (size_t)count, sizeof *a->card, by_memory);
    status = plm_cards_first(&a->catalogue, list && !all ? list : PLM_RUN_CARD, &first, error);
    if (status < 0)
        return status;
    snprintf(a->sweep.simulated, sizeof a->sweep.simulated, "%s", first->card.id);
    a->sweep.cards = (size_t)count;
    return 0;
}

static int cards_fill(struct asked *a, struct plm_error *error)
{
    struct plm_sweep *s = &a->sweep;
    double *price;
    int status = cards_choose(a, error);
    if (status)
        return status;
    s->card = plm_calloc(s->cards, sizeof *s->card);
    price = plm_calloc(s->cards, sizeof *price);
    status = plm_cards_prices(&a->catalogue, a->request->price, a->card, s->cards, price, error);
    for (size_t i = 0; i < s->cards; i++) {
        snprintf(s->card[i].id, sizeof s->card[i].id, "%s", a->card[i].id);
        s->card[i].usable = plm_margin_usable(&a->margin, a->card[i].memory_usable);
        s->card[i].price = price[i];
    }
    free(price);
    return status;
}

/* ---- a saved sweep ---- */

/* `saved` has masks in the place of secrets. */
static bool commands_differ(char *const *command, char *const *saved)
{
    bool next = false, same = true;
    for (; *command && *saved && same; command++, saved++) {
        char *word = plm_secret_mask(*command, &next);
        same = !strcmp(word, *saved);
        free(word);
    }
    return !same || *command || *saved;
}

static bool parameters_differ(const struct plm_sweep_parameters *a, const struct plm_sweep_parameters *b)
{
    if (a->count != b->count || a->zip != b->zip)
        return true;
    for (size_t i = 0; i < a->count; i++) {
        const struct plm_sweep_parameter *p = &a->item[i], *q = &b->item[i];
        if (p->where != q->where || strcmp(p->name, q->name) || strcmp(p->file, q->file) || p->values != q->values ||
            p->stepped != q->stepped)
            return true;
        for (size_t k = 0; k < p->values; k++)
            if (strcmp(p->value[k], q->value[k]) != 0)
                return true;
    }
    return false;
}

static bool cards_differ(const struct plm_sweep *a, const struct plm_sweep *b)
{
    if (a->cards != b->cards || strcmp(a->simulated, b->simulated) != 0)
        return true;
    for (size_t i = 0; i < a->cards; i++)
        if (strcmp(a->card[i].id, b->card[i].id) != 0)
            return true;
    return false;
}

/* Takes over the runs of an earlier one; those that failed are made again. */
static int resume(struct asked *a, struct plm_error *error)
{
    struct plm_sweep *s = &a->sweep, before;
    int status;
    if (access(a->request->output, F_OK) != 0)
        return 0;
    status = plm_sweep_read(a->request->output, &before, error);
    if (status)
        return status;
    if (commands_differ(s->command, before.command) || parameters_differ(&s->parameters, &before.parameters) ||
        cards_differ(s, &before) || strcmp(s->margin, before.margin) != 0)
        status = plm_fail(error, PLM_EINVAL, "%.200s is of another sweep; write the same command to continue it",
                          a->request->output);
    for (size_t i = 0; i < before.points && status == 0; i++)
        if (before.point[i].state == PLM_SWEEP_DONE) {
            struct plm_sweep_point *point = plm_sweep_add(s);
            struct plm_sweep_cell *cell = point->cell;
            memcpy(cell, before.point[i].cell, s->cards * sizeof *cell);
            *point = before.point[i];
            point->cell = cell;
            a->taken++;
        }
    for (size_t i = 0; i < s->cards && status == 0 && a->taken; i++)
        s->card[i].usable = before.card[i].usable;
    plm_sweep_free(&before);
    return status;
}

static struct plm_output_rule rule_of(const struct request *r)
{
    return (struct plm_output_rule){
        .force = r->force, .input = {r->output, r->json, r->csv, r->show}, .words = r->command};
}

static int save(struct asked *a, struct plm_error *error)
{
    struct plm_output_rule rule = rule_of(a->request);
    rule.force = true; /* it was checked at first, and is ours since */
    return plm_output_write(a->request->output, &rule, plm_sweep_json, &a->sweep, error);
}

/* ---- the runs ---- */

static volatile sig_atomic_t signaled; /* the number; 0: go on */

static void signal_take(int number)
{
    signaled = number;
}

static void signals_take(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(numbers[i], &(const struct sigaction){.sa_handler = signal_take, .sa_flags = (int)SA_RESETHAND},
                      NULL);
}

static bool is_stopped(void *context)
{
    (void)context;
    return signaled;
}

/* What was finished, and how to go on. */
static int stopped_tell(const struct asked *a)
{
    const size_t done = plm_sweep_count(&a->sweep, PLM_SWEEP_DONE);
    if (a->request->output)
        return plm_complain_of(128 + signaled,
                               "interrupted: %zu run%s finished; the same command with --resume continues with %.200s",
                               done, done == 1 ? "" : "s", a->request->output);
    return plm_complain_of(128 + signaled,
                           "interrupted: %zu run%s finished and not kept; -o FILE keeps them, for --resume", done,
                           done == 1 ? "" : "s");
}

static void point_ended(void *context)
{
    struct asked *a = context;
    const struct plm_sweep *s = &a->sweep;
    const size_t done = s->points - plm_sweep_count(s, PLM_SWEEP_WAITS);
    if (a->request->output && done > a->saved && save(a, NULL) == 0)
        a->saved = done;
    if (isatty(STDERR_FILENO))
        plm_cli_evaluate_progress(done, plm_sweep_count(s, PLM_SWEEP_FAILED), s->points, plm_now() - a->start,
                                  done - a->taken, (void *)"runs");
}

/* Adds the points of the grid that are not there yet; all that wait. */
static size_t grid_add(struct plm_sweep *s, size_t *wait)
{
    const size_t all = plm_sweep_points(&s->parameters);
    size_t waiting = 0;
    for (size_t i = 0; i < all; i++) {
        char value[PLM_SWEEP_PARAMETERS][PLM_SWEEP_TEXT] = {0};
        struct plm_sweep_point *point;
        for (size_t k = 0; k < s->parameters.count; k++)
            snprintf(value[k], sizeof value[k], "%s", plm_sweep_value(&s->parameters, i, k));
        if (plm_sweep_find(s, value))
            continue;
        point = plm_sweep_add(s);
        memcpy(point->value, value, sizeof value);
        wait[waiting++] = s->points - 1;
    }
    return waiting;
}

static int grid_run(struct asked *a, const struct plm_cli_sweep_engine *engine, void *state, struct plm_error *error)
{
    size_t *wait = plm_calloc(plm_sweep_points(&a->sweep.parameters), sizeof *wait);
    const size_t waiting = grid_add(&a->sweep, wait);
    const int status = engine->run(state, wait, waiting, error);
    free(wait);
    return status;
}

static int search_run(struct asked *a, const struct plm_cli_sweep_engine *engine, void *state, struct plm_error *error)
{
    struct plm_sweep *s = &a->sweep;
    const size_t most = (size_t)a->request->runs, jobs = (size_t)a->request->jobs;
    uint64_t value[PLM_SWEEP_VALUES];
    size_t wait[PLM_SWEEP_VALUES];
    int status = 0;
    while (status == 0 && !signaled && s->points < most) {
        const size_t room = most - s->points, more = plm_sweep_more(s, value, room < jobs ? room : jobs);
        for (size_t i = 0; i < more; i++) {
            struct plm_sweep_point *point = plm_sweep_add(s);
            for (size_t k = 0; k < s->parameters.count; k++)
                snprintf(point->value[k], sizeof point->value[k], "%s", s->parameters.item[k].value[0]);
            snprintf(point->value[s->largest], PLM_SWEEP_TEXT, "%llu", (unsigned long long)value[i]);
            wait[i] = s->points - 1;
        }
        if (!more)
            break;
        status = engine->run(state, wait, more, error);
    }
    return status;
}

static int sweep_make(struct asked *a, struct plm_error *error)
{
    const struct plm_cli_sweep_engine *engine = &plm_cli_sweep_local;
    const struct request *r = a->request;
    struct plm_cli_sweep_work work = {.sweep = &a->sweep,
                                      .run = &r->run,
                                      .question = {a->card, a->sweep.cards, &a->margin, &a->catalogue.install},
                                      .scratch = a->scratch,
                                      .jobs = r->jobs,
                                      .ended = point_ended,
                                      .stopped = is_stopped,
                                      .context = a};
    void *state;
    int status = engine->open(&work, &state, error);
    if (status)
        return status;
    a->start = plm_now();
    signals_take();
    status = (r->largest ? search_run : grid_run)(a, engine, state, error);
    engine->close(state);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return status;
}

/* ---- the answer ---- */

static bool any_fits(const struct plm_sweep *s)
{
    for (size_t i = 0; i < s->points; i++)
        for (size_t k = 0; k < s->cards && s->point[i].state == PLM_SWEEP_DONE; k++)
            if (plm_sweep_fits(s, &s->point[i].cell[k]))
                return true;
    return false;
}

static int sweep_show(const struct request *r, struct plm_sweep *s)
{
    const struct plm_page page = plm_look_page(&r->run.look, stdout);
    const struct plm_output_rule rule = rule_of(r);
    const struct plm_output_part parts[] = {{r->csv, plm_sweep_csv, s, rule}, {r->json, plm_sweep_json, s, rule}};
    struct plm_error error;
    const size_t failed = plm_sweep_count(s, PLM_SWEEP_FAILED);
    plm_sweep_sort(s);
    if (plm_output_write_all(parts, 2, &error) < 0)
        return plm_fault(&error);
    if (!r->json || strcmp(r->json, "-") != 0)
        plm_sweep_text(&page, s);
    if (failed && failed == s->points)
        return plm_complain_of(PLM_EXIT_COMMAND, "every run failed: %s", s->point[0].why);
    return r->gpu && !any_fits(s) ? PLM_EXIT_NO_FIT : PLM_EXIT_OK;
}

static int saved_show(const struct request *r)
{
    struct plm_sweep sweep;
    struct plm_error error;
    int status;
    if (plm_sweep_read(r->show, &sweep, &error) < 0)
        return plm_fault(&error);
    status = sweep_show(r, &sweep);
    plm_sweep_free(&sweep);
    return status;
}

/* ---- the command ---- */

/* Refused before anything is run. */
static int outputs_check(const struct request *r, struct plm_error *error)
{
    struct plm_output_rule rule = rule_of(r);
    int status = 0;
    if (r->json)
        status = plm_output_check(r->json, &rule, error);
    if (status == 0 && r->csv)
        status = plm_output_check(r->csv, &rule, error);
    rule.force |= r->resume;
    return status || !r->output ? status : plm_output_check(r->output, &rule, error);
}

static int asked_fill(struct asked *a, struct plm_error *error)
{
    struct request *r = a->request;
    int status = plm_cli_margin_parse(r->margin, &a->margin, error);
    if (status == 0)
        status = parameters_parse(r, &a->sweep, error);
    if (status == 0)
        status = outputs_check(r, error);
    if (status == 0)
        status = plm_catalogue_open(&a->catalogue, error);
    if (status == 0)
        status = cards_fill(a, error);
    if (status == 0 && r->resume)
        status = resume(a, error);
    r->run.gpu = a->sweep.simulated;
    return status ? status : plm_scratch_make("sweep", a->scratch, error);
}

static int request_run(struct request *r)
{
    static struct asked a;
    struct plm_error error;
    int status;
    a = (struct asked){.request = r};
    if (asked_fill(&a, &error) < 0 || sweep_make(&a, &error) < 0 || (r->output && save(&a, &error) < 0))
        status = plm_fault(&error);
    else if (signaled)
        status = stopped_tell(&a);
    else
        status = sweep_show(r, &a.sweep);
    plm_scratch_remove(a.scratch);
    plm_sweep_free(&a.sweep);
    free(a.card);
    plm_catalogue_free(&a.catalogue);
    if (signaled)
        raise(signaled); /* by now with its usual effect: a shell that runs this stops too */
    return status;
}

static int sweep_run(int argc, char **argv)
{
    struct request r = {.run = PLM_RUN, .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), .runs = RUNS_OF_SEARCH};
    struct plm_error error;
    int rest;
    if (plm_options_parse(options, &r, "sweep", argc, argv, &rest, &error) < 0)
        return plm_fault(&error);
    if (r.show && (rest < argc || r.parameters.count))
        return plm_complain(PLM_EXIT_USAGE, "--show shows a saved sweep; leave out the command");
    if (r.world || r.rank)
        return plm_complain(PLM_EXIT_USAGE, "sweep runs all ranks of a job, on --gpus N; for --world and --rank use "
                                            "`plimsoll run`, one value at a time");
    if (r.show)
        return saved_show(&r);
    if (rest == argc)
        return plm_complain(PLM_EXIT_USAGE,
                            "no command given; write `plimsoll sweep -P batch=8..512 -- python train.py "
                            "--batch {batch}`");
    if (r.resume && !r.output)
        return plm_complain(PLM_EXIT_USAGE, "--resume needs -o FILE with the earlier sweep");
    r.command = argv + rest;
    return request_run(&r);
}

const struct plm_command plm_command_sweep = {
    .name = "sweep",
    .line = "run a command with several values, or find the largest that fits",
    .words = "-- COMMAND...",
    .options = options,
    .example = {"plimsoll sweep -P batch=8..512 -- python train.py --batch {batch}",
                "plimsoll sweep -P bs=1..512 --largest bs --gpu l4 -- python train.py --bs {bs}",
                "plimsoll sweep -P train.yaml:trainer.batch_size=8..64 -o sweep.json -- python train.py train.yaml"},
    .exit = {{PLM_EXIT_OK, "the values were run, or the sweep was shown"},
             {PLM_EXIT_NO_FIT, "no value fits any card of --gpu"},
             {PLM_EXIT_COMMAND, "every run failed"}},
    .run = sweep_run,
};
