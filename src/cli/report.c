#include <stdio.h>
#include <stdlib.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/install.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/report_time.h"
#include "report/report.h"

struct request {
    struct plm_look look;
    bool json, force, full, unfold;
    const char *by, *at, *gpu, *html;
    const char *path; /* the record */
};

static const struct plm_option options[] = {
    {"by", 0, PLM_OPTION_CHOICE, AT(by), "WHAT", .help = "group memory by module, op, phase, category, line or stack",
     .among = "module op phase category line stack"},
    {"at", 0, PLM_OPTION_TEXT, AT(at), "WHEN", .help = "the moment to show: peak (default), end or a step number",
     .among = "peak end"},
    {"unfold", 0, PLM_OPTION_FLAG, AT(unfold), .help = "show layers that repeat one by one"},
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME,...", .help = "the cards to check", .complete = PLM_COMPLETE_CARDS,
     .configurable = true},
    {"full", 0, PLM_OPTION_FLAG, AT(full), .help = "everything: steps, times, values that were read, notes"},
    {.include = plm_cli_option_json, .at = AT(json)},
    {"html", 0, PLM_OPTION_TEXT, AT(html), "FILE", .help = "write an HTML page", .complete = PLM_COMPLETE_FILE,
     .among = "html"},
    {.include = plm_cli_option_force, .at = AT(force)},
    {.include = plm_cli_option_look, .at = AT(look)},
    {0},
};

static int report_parse(struct request *o, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(options, o, "report", argc, argv, &o->path, 1, &words, error);
    if (status < 0)
        return status;
    if (words > 1)
        return plm_fail(error, PLM_EINVAL, "one record at a time: `plimsoll report FILE`");
    if (!o->path)
        return plm_fail(error, PLM_EINVAL, "no record given; write `plimsoll report FILE.plm`");
    if (o->html && (o->at || o->by))
        return plm_fail(error, PLM_EINVAL, "--%s does not go with --html: choose it on the page", o->at ? "at" : "by");
    return 0;
}

static int report_understand(const struct request *o, struct plm_report_options *out, struct plm_error *error)
{
    *out = plm_look_at(&o->look);
    out->record = o->path;
    out->unfold = o->unfold;
    out->listed = o->by != NULL;
    out->full = o->full;
    if (o->by)
        plm_key_parse(o->by, &out->by);
    if (o->at && plm_at_parse(o->at, &out->at))
        return plm_fail(error, PLM_EINVAL, "--at %.60s: use peak, end or a step number", o->at);
    return 0;
}

/* What a report needs of the catalogue, and shows. */
struct shown {
    struct plm_report_options options;
    struct plm_card cards[PLM_REPORT_CARDS]; /* to judge */
    struct plm_cli_report_time time;
};

/* A list of holders has no room for times; a page draws them itself. */
static bool shows_times(const struct request *o)
{
    return !o->html && (!o->by || o->json);
}

/* Only --gpu needs the catalogue: what else the report has to say of memory is in the record. */
static int choose_cards(const struct request *o, const struct plm_job *job, struct shown *shown,
                        struct plm_error *error)
{
    struct plm_catalogue catalogue;
    struct plm_install install;
    int status = plm_install_find(&install, error);
    if (status < 0)
        return o->gpu ? status : 0;
    status = plm_catalogue_load(&catalogue, &install, error);
    if (status < 0) {
        if (!o->gpu)
            plm_complain(0, error->text);
        return o->gpu ? status : 0;
    }
    status = plm_cards_choose(&catalogue, o->gpu, plm_summary_config(&job->summary, "gpu"), shown->cards, error);
    shown->options.card = shown->cards;
    shown->options.cards = status > 0 ? status : 0;
    shown->options.asked = o->gpu ? plm_cards_asked(&shown->options, NULL) : plm_cards_recorded(&shown->options, job);
    if (status >= 0 && shows_times(o))
        plm_cli_report_time_own(&shown->time, job, &catalogue, &shown->options);
    plm_catalogue_free(&catalogue);
    return status < 0 ? status : 0;
}

static int report_show(const struct request *o, const struct plm_job *job, const struct plm_report_options *shown)
{
    struct plm_error error;
    if (!job->lanes && !o->json)
        return plm_complain(
            PLM_EXIT_NOTHING,
            "this record has no GPU activity: the job never used CUDA, or the record ends before it did");
    if ((o->json ? plm_report_json : plm_report_text)(stdout, job, shown, &error) < 0)
        return plm_fault(&error);
    return PLM_EXIT_OK;
}

static int report_run(int argc, char **argv)
{
    struct request o = {.look = PLM_LOOK};
    struct shown shown = {0};
    struct plm_error error;
    struct plm_job *job;
    int status;

    if (report_parse(&o, argc, argv, &error) < 0 || report_understand(&o, &shown.options, &error) < 0)
        return plm_fault(&error);
    if ((shows_times(&o) || o.html ? plm_cli_report_time_read(&shown.time, o.path, &job, &error)
                                   : plm_job_read(o.path, &job, &error)) < 0)
        return plm_fault(&error);
    if (plm_at_check(job, shown.options.at, &error) < 0 ||
        (o.by && plm_key_check(job, shown.options.by, o.path, &error) < 0) || choose_cards(&o, job, &shown, &error) < 0)
        status = plm_fault(&error);
    else
        status = o.html
                     ? plm_cli_report_page(job, &shown.time, o.path, o.gpu ? shown.cards[0].id : NULL, o.html, o.force)
                     : report_show(&o, job, &shown.options);
    plm_cli_report_time_free(&shown.time);
    plm_job_free(job);
    return status;
}

const struct plm_command plm_command_report = {
    .name = "report",
    .line = "show the report of a job record",
    .words = "RECORD",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll report job.plm", "plimsoll report --by op --at 3 job.plm",
                "plimsoll report --gpu l4,a10 job.plm", "plimsoll report job.plm --json | jq .devices[0].peak",
                "plimsoll report job.plm --html train.html"},
    .exit = {{PLM_EXIT_OK, "the report was shown"},
             {PLM_EXIT_USAGE, "usage, or a step that the record does not have"},
             {PLM_EXIT_NOTHING, "the record cannot be read, or has no GPU activity"}},
    .run = report_run,
};
