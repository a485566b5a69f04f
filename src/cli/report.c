#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "base/install.h"
#include "base/options.h"
#include "cli/cli.h"
#include "report/report.h"

struct report_options {
    bool bytes, json;
    const char *color, *by, *at, *gpu, *html;
    const char *path; /* the record */
};

static int parse(struct report_options *o, int argc, char **argv, struct plm_error *error)
{
    const struct plm_option table[] = {
        {"bytes", 0, PLM_OPTION_FLAG, &o->bytes, true}, {"json", 0, PLM_OPTION_FLAG, &o->json, false},
        {"color", 0, PLM_OPTION_TEXT, &o->color, true}, {"by", 0, PLM_OPTION_TEXT, &o->by, false},
        {"at", 0, PLM_OPTION_TEXT, &o->at, false},      {"gpu", 0, PLM_OPTION_TEXT, &o->gpu, true},
        {"html", 0, PLM_OPTION_TEXT, &o->html, false},
    };
    int words, status = plm_options_among(table, sizeof table / sizeof table[0], "report", argc, argv, &o->path, 1,
                                          &words, error);
    if (status < 0)
        return status;
    if (words > 1)
        return plm_fail(error, PLM_EINVAL, "one record at a time: `plimsoll report FILE`");
    if (!o->path)
        return plm_fail(error, PLM_EINVAL, "no record given; write `plimsoll report FILE.plm`");
    return 0;
}

static int understand(const struct report_options *o, struct plm_report_options *out, struct plm_error *error)
{
    *out = (struct plm_report_options){.bytes = o->bytes,
                                       .color = plm_want_color(o->color, STDOUT_FILENO),
                                       .utf8 = plm_want_utf8(),
                                       .width = plm_terminal_width(STDOUT_FILENO),
                                       .record = o->path,
                                       .listed = o->by != NULL};
    if (o->by && plm_key_parse(o->by, &out->by))
        return plm_fail(error, PLM_EINVAL, "--by %.60s: it takes module, op, phase, category or stack", o->by);
    if (o->at && plm_at_parse(o->at, &out->at))
        return plm_fail(error, PLM_EINVAL, "--at %.60s: it takes peak, end or the number of a step", o->at);
    return 0;
}

/* Only --gpu needs the catalogue: what else the report has to say is in the record. */
static int choose_cards(const struct report_options *o, const struct plm_job *job, struct plm_report_options *options,
                        struct plm_card *cards, struct plm_error *error)
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
    status = plm_cards_choose(&catalogue, &install, o->gpu, plm_summary_config(&job->summary, "gpu"), cards, error);
    plm_catalogue_free(&catalogue);
    options->card = cards;
    options->cards = status > 0 ? status : 0;
    return status < 0 ? status : 0;
}

/* The first format that is wanted is written. */
static int show(const struct report_options *o, const struct plm_job *job, const struct plm_report_options *options)
{
    const struct {
        bool wanted;
        plm_report_write *write;
    } formats[] = {
        {o->json, plm_report_json},
        {true, plm_report_text},
    };
    const size_t count = sizeof formats / sizeof formats[0];
    struct plm_error error;
    size_t at = 0;
    while (at + 1 < count && !formats[at].wanted)
        at++;
    if (!job->lanes && formats[at].write == plm_report_text)
        return plm_complain(PLM_EXIT_CANNOT,
                            "this record holds no GPU activity: the job never used CUDA or was cut before it did");
    if (formats[at].write(stdout, job, options, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    return PLM_EXIT_OK;
}

int plm_cmd_report(int argc, char **argv)
{
    struct report_options o = {.color = "auto"};
    struct plm_card cards[PLM_REPORT_CARDS];
    struct plm_report_options options;
    struct plm_error error;
    struct plm_job *job;
    int status;

    if (parse(&o, argc, argv, &error) < 0 || understand(&o, &options, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (plm_job_read(o.path, &job, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    if (plm_at_check(job, options.at, &error) < 0 || choose_cards(&o, job, &options, cards, &error) < 0)
        status = plm_complain(PLM_EXIT_USAGE, error.text);
    else
        status = o.html ? plm_report_page(job, o.path, o.html) : show(&o, job, &options);
    plm_job_free(job);
    return status;
}
