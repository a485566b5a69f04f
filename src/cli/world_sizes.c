#include "cli/world_sizes.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/kinds.h"
#include "base/catalogue.h"
#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/rank_memory.h"
#include "cli/run.h"
#include "cli/world.h"
#include "fit/fit.h"

enum { WORLDS = 32 };

/* What is kept of a kind when its job is gone. */
struct kind {
    char *ranks, *why;
    uint64_t count, allocated, reserved, device_used;
    struct plm_cli_rank_memory memory;
};

struct world {
    char size[16], record[256];
    struct plm_job_world layout;
    struct plm_mesh mesh;
    struct kind *kind; /* largest first; none: it failed */
    size_t kinds;
    char card[64]; /* the smallest that it fits on; "": none */
    char why[512]; /* it failed */
    int status;    /* enum plm_exit */
};

struct worlds {
    struct world world[WORLDS];
    size_t count;
    struct plm_card *card; /* all there are */
    size_t cards;
    struct world *now; /* the one that runs */
};

/* ---- what is asked for ---- */

bool plm_cli_world_sizes_wanted(const struct plm_run *run)
{
    return run->world.world && strchr(run->world.world, ',');
}

static int sizes_parse(struct worlds *w, const char *list, struct plm_error *error)
{
    while (*list) {
        const size_t length = strcspn(list, ",");
        if (w->count == WORLDS || !length || length >= sizeof w->world[0].size)
            return plm_fail(error, PLM_EINVAL,
                            "--world takes a number of ranks, or up to %d of them separated by commas", WORLDS);
        memcpy(w->world[w->count++].size, list, length);
        list += length + (list[length] == ',');
    }
    return 0;
}

/* "job.plm" becomes "job.w8.plm". */
static void record_name(struct world *world, const struct plm_run *run, char **command)
{
    char name[128];
    const char *given = run->output, *dot = given ? strrchr(given, '.') : NULL;
    const int stem = dot && !strcmp(dot, ".plm") ? (int)(dot - given) : given ? (int)strlen(given) : 0;
    plm_cli_job_name(name, sizeof name, command);
    if (given)
        snprintf(world->record, sizeof world->record, "%.*s.w%s.plm", stem, given, world->size);
    else
        snprintf(world->record, sizeof world->record, "plimsoll-%s.%d.w%s.plm", name, (int)getpid(), world->size);
}

/* ---- a world ---- */

static void kind_keep(struct world *world, const struct plm_job *job, const struct plm_job_kind *kind)
{
    if (!kind->lane)
        return;
    world->kind[world->kinds++] = (struct kind){.ranks = plm_strdup(kind->ranks),
                                                .why = plm_strdup(kind->why),
                                                .count = kind->count,
                                                .allocated = kind->lane->summary->allocated_peak.bytes,
                                                .reserved = kind->lane->summary->reserved_peak,
                                                .device_used = plm_ladder(job, kind->lane).device_used,
                                                .memory = plm_cli_rank_memory_of(job, kind->lane)};
}

static void card_keep(struct worlds *w, const struct plm_job *job)
{
    struct plm_fit_table table = plm_fit_report(job, w->card, w->cards);
    const struct plm_fit_row *smallest = plm_fit_smallest(&table, false);
    snprintf(w->now->card, sizeof w->now->card, "%s", smallest ? smallest->card->id : "");
    plm_fit_table_free(&table);
}

/* In place of the report. */
static int world_keep(const struct plm_run_end *end, void *context)
{
    struct worlds *w = context;
    struct plm_job_kinds ranks;
    struct plm_error error;
    if (end->result) {
        snprintf(w->now->why, sizeof w->now->why, "%s", end->why);
        return end->result;
    }
    ranks = plm_job_kinds_make(end->job);
    w->now->layout = plm_job_world(end->job);
    w->now->kind = plm_calloc(ranks.kinds, sizeof *w->now->kind);
    for (size_t i = 0; i < ranks.kinds; i++)
        kind_keep(w->now, end->job, &ranks.kind[i]);
    plm_job_kinds_free(&ranks);
    plm_cli_world_mesh(w->now->record, w->now->layout.ranks, &w->now->mesh, &error);
    card_keep(w, end->job);
    return plm_run_judge_cards(end, true);
}

static void world_free(struct world *world)
{
    for (size_t i = 0; i < world->kinds; i++) {
        free(world->kind[i].ranks);
        free(world->kind[i].why);
    }
    free(world->kind);
}

/* ---- the table ---- */

static void kind_show(const struct plm_page *p, const struct world *world, size_t i)
{
    const struct kind *kind = &world->kind[i];
    char layout[32], a[32], r[32], d[32];
    snprintf(layout, sizeof layout, "%u x %u", world->layout.nodes, world->layout.gpus);
    fprintf(p->out, "  %7s %9s ", i ? "" : world->size, i ? "" : layout);
    plm_page_name(p, kind->ranks, 16, true);
    fprintf(p->out, " %6llu %11s %11s %11s  %s\n", (unsigned long long)kind->count,
            plm_page_amount(p, a, sizeof a, kind->allocated), plm_page_amount(p, r, sizeof r, kind->reserved),
            plm_page_amount(p, d, sizeof d, kind->device_used),
            i                ? ""
            : world->card[0] ? world->card
                             : "no card fits");
}

/* From each world that ran to the next one: what the largest kind holds of what it held before. */
static void changes_show(const struct plm_page *p, const struct worlds *w)
{
    const struct world *before = NULL;
    for (size_t i = 0; i < w->count; i++) {
        const struct world *world = &w->world[i];
        char text[400], axes[200];
        if (!world->kinds)
            continue;
        if (before && *plm_cli_rank_memory_change(text, sizeof text, &before->kind[0].memory, &world->kind[0].memory)) {
            plm_axes_change(axes, sizeof axes, &before->mesh, &world->mesh);
            plm_page_say(p, "From %s to %s ranks%s%s%s, per rank of the largest kind: %s.", before->size, world->size,
                         *axes ? " (" : "", axes, *axes ? ")" : "", text);
        }
        before = world;
    }
}

static void worlds_show(const struct plm_page *p, const struct worlds *w)
{
    fprintf(p->out, "%s  %7s %9s %-16s %6s %11s %11s %11s  %s%s\n", plm_ink(p, PLM_INK_DIM), "world", "nodes", "ranks",
            "count", "allocated", "reserved", "device used", "smallest card", plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < w->count; i++) {
        for (size_t k = 0; k < w->world[i].kinds; k++)
            kind_show(p, &w->world[i], k);
        if (!w->world[i].kinds)
            fprintf(p->out, "  %7s failed\n", w->world[i].size);
    }
    changes_show(p, w);
    fputs("Records:", p->out);
    for (size_t i = 0; i < w->count; i++)
        if (w->world[i].kinds) {
            fputc(' ', p->out);
            plm_page_name(p, w->world[i].record, 0, false);
        }
    fputc('\n', p->out);
}

static void memory_json(struct plm_json *j, const struct plm_cli_rank_memory *memory)
{
    plm_json_object(j, "held");
    for (int i = 0; i < PLM_CATEGORIES; i++)
        if (memory->bytes[i])
            plm_json_integer(j, plm_category_name((enum plm_category)i), memory->bytes[i]);
    plm_json_end_object(j);
}

static void world_json(struct plm_json *j, const struct world *world)
{
    plm_json_object(j, NULL);
    plm_json_integer(j, "world", (uint64_t)strtoul(world->size, NULL, 10));
    if (!world->kinds) {
        plm_json_string(j, "failed", world->why[0] ? world->why : "the command failed");
        plm_json_end_object(j);
        return;
    }
    plm_json_integer(j, "nodes", world->layout.nodes);
    plm_json_integer(j, "gpus_per_node", world->layout.gpus);
    plm_json_string(j, "record", world->record);
    plm_json_text(j, "smallest", world->card);
    plm_json_array(j, "kinds");
    for (size_t i = 0; i < world->kinds; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "ranks", world->kind[i].ranks);
        plm_json_integer(j, "count", world->kind[i].count);
        plm_json_text(j, "why", world->kind[i].why);
        plm_json_integer(j, "allocated", world->kind[i].allocated);
        plm_json_integer(j, "reserved", world->kind[i].reserved);
        plm_json_integer(j, "device_used", world->kind[i].device_used);
        memory_json(j, &world->kind[i].memory);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_end_object(j);
}

static int worlds_json(FILE *out, const void *what, struct plm_error *error)
{
    const struct worlds *w = what;
    struct plm_json j;
    plm_json_document(&j, out, "plimsoll.worlds/1");
    plm_json_array(&j, "worlds");
    for (size_t i = 0; i < w->count; i++)
        world_json(&j, &w->world[i]);
    plm_json_end_array(&j);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the document could not be written") : 0;
}

/* ---- all of them ---- */

static int worlds_answer(const struct worlds *w, const struct plm_run *run)
{
    const struct plm_output_rule rule = {.force = run->force, .words = run->command};
    const struct plm_page page = plm_look_page(&run->look, stdout);
    struct plm_error error;
    if (run->json && plm_output_write(run->json, &rule, worlds_json, w, &error) < 0)
        return plm_fault(&error);
    if (!plm_run_quiet(run))
        worlds_show(&page, w);
    return PLM_EXIT_OK;
}

static bool is_verdict(int status)
{
    return status == PLM_EXIT_OK || status == PLM_EXIT_NO_FIT || status == PLM_EXIT_TIGHT;
}

/* The first that did not end well decides; whether all fit comes last. */
static int worst(int status, int next)
{
    if (!is_verdict(status) || !next)
        return status;
    return status == PLM_EXIT_NO_FIT && is_verdict(next) ? status : next;
}

static int worlds_each(struct worlds *w, const struct plm_run *run, char **command)
{
    struct plm_warm warm = {0};
    int status = PLM_EXIT_OK;
    for (size_t i = 0; i < w->count && status != PLM_EXIT_USAGE; i++) {
        struct plm_run one = *run;
        w->now = &w->world[i];
        record_name(w->now, run, command);
        one.world.world = w->now->size;
        one.output = w->now->record;
        one.json = NULL;
        one.warm = &warm;
        if (!plm_run_quiet(run))
            fprintf(stderr, "plimsoll: a world of %s\n", w->now->size);
        status = worst(status, plm_run_command(&one, command, world_keep, w));
    }
    plm_warm_stop(&warm);
    return status;
}

int plm_cli_world_sizes_run(struct plm_run *run, char **command)
{
    struct worlds w = {0};
    struct plm_catalogue catalogue;
    struct plm_error error;
    int status, shown;
    run->command = command;
    if (sizes_parse(&w, run->world.world, &error) < 0)
        return plm_fault(&error);
    if (plm_catalogue_open(&catalogue, &error) < 0)
        return plm_fault(&error);
    w.card = plm_calloc((size_t)catalogue.count, sizeof *w.card);
    for (; w.cards < (size_t)catalogue.count; w.cards++)
        w.card[w.cards] = catalogue.entry[w.cards].card;
    status = worlds_each(&w, run, command);
    shown = status == PLM_EXIT_USAGE ? PLM_EXIT_OK : worlds_answer(&w, run);
    for (size_t i = 0; i < w.count; i++)
        world_free(&w.world[i]);
    free(w.card);
    plm_catalogue_free(&catalogue);
    return status ? status : shown;
}
