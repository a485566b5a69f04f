#include <stdio.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "report/diff.h"
#include "report/report.h"

struct request {
    struct plm_look look;
    bool json, markdown, exit_code, unfold, force;
    const char *by, *html;
    const char *path[2];
};

static const struct plm_option options[] = {
    {"by", 0, PLM_OPTION_CHOICE, AT(by), "WHAT", .help = "compare memory by module (default) or by line",
     .among = "module line"},
    {.include = plm_cli_option_json, .at = AT(json)},
    {"markdown", 0, PLM_OPTION_FLAG, AT(markdown), .help = "print Markdown, for a comment on a pull request"},
    {"html", 0, PLM_OPTION_TEXT, AT(html), "FILE", .help = "write an HTML page that overlays both jobs",
     .complete = PLM_COMPLETE_FILE, .among = "html"},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"exit-code", 0, PLM_OPTION_FLAG, AT(exit_code), .help = "exit 1 if anything changed, as git diff does"},
    {"unfold", 0, PLM_OPTION_FLAG, AT(unfold), .help = "show layers that repeat one by one"},
    {.include = plm_cli_option_look, .at = AT(look)},
    {0},
};

static int diff_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int files, status = plm_options_among(options, r, "diff", argc, argv, r->path, 2, &files, error);
    if (status < 0)
        return status;
    if (files > 2)
        return plm_fail(error, PLM_EINVAL, "two records at a time: `plimsoll diff BEFORE.plm AFTER.plm`");
    if (files < 2)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll diff BEFORE.plm AFTER.plm`",
                        files ? "one record only" : "no records given");
    if (r->json && r->markdown)
        return plm_fail(error, PLM_EINVAL, "--json and --markdown are two formats: give one of them");
    if (r->html && (r->json || r->markdown))
        return plm_fail(error, PLM_EINVAL, "--html and --%s are two formats: give one of them",
                        r->json ? "json" : "markdown");
    return 0;
}

static int read_job(const char *path, struct plm_job **job, struct plm_error *error)
{
    int status = plm_job_read(path, job, error);
    if (status == 0 && !(*job)->lanes) {
        plm_job_free(*job);
        *job = NULL;
        status =
            plm_fail(error, PLM_EFORMAT,
                     "%.200s has no GPU activity: the job never used CUDA, or the record ends before it did", path);
    }
    return status;
}

/* A difference to a peak that is not the job's says nothing: that is no change, and not none either. */
static int diff_status(const struct plm_diff *diff)
{
    const int before = plm_cli_known_status(diff->before), after = plm_cli_known_status(diff->after);
    return before || after ? PLM_EXIT_NOTHING : diff->changed ? PLM_EXIT_NO_FIT : PLM_EXIT_OK;
}

/* An exit status. */
static int diff_show(const struct request *r, const struct plm_job *before, const struct plm_job *after)
{
    struct plm_report_options shown = plm_look_at(&r->look);
    plm_diff_write *write = r->json ? plm_diff_json : r->markdown ? plm_diff_markdown : plm_diff_text;
    enum plm_key by = PLM_BY_MODULE;
    struct plm_error error;
    struct plm_diff diff;
    int status;
    if (r->by)
        plm_key_parse(r->by, &by);
    if (plm_key_check(before, by, r->path[0], &error) < 0 || plm_key_check(after, by, r->path[1], &error) < 0)
        return plm_fault(&error);
    shown.unfold = r->unfold || by == PLM_BY_LINE;
    plm_diff_make(before, after, by, &diff);
    if (r->html)
        status = plm_cli_diff_page(&diff, r->path, r->html, r->force);
    else
        status = write(stdout, &diff, r->path, &shown, &error) < 0 ? plm_fault(&error) : PLM_EXIT_OK;
    if (status == PLM_EXIT_OK && r->exit_code)
        status = diff_status(&diff);
    plm_diff_free(&diff);
    return status;
}

static int diff_run(int argc, char **argv)
{
    struct request r = {.look = PLM_LOOK};
    struct plm_job *before = NULL, *after = NULL;
    struct plm_error error;
    int status;
    if (diff_parse(&r, argc, argv, &error) < 0)
        return plm_fault(&error);
    status = read_job(r.path[0], &before, &error);
    if (status == 0)
        status = read_job(r.path[1], &after, &error);
    status = status < 0 ? plm_fault(&error) : diff_show(&r, before, after);
    plm_job_free(before);
    plm_job_free(after);
    return status;
}

const struct plm_command plm_command_diff = {
    .name = "diff",
    .line = "compare the peak memory of two job records",
    .words = "BEFORE AFTER",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll diff batch32.plm batch64.plm",
                "plimsoll diff base.plm head.plm --markdown | gh pr comment --body-file -",
                "plimsoll diff batch32.plm batch64.plm --json | jq .growth.change",
                "plimsoll diff batch32.plm batch64.plm --html growth.html"},
    .exit = {{PLM_EXIT_OK, "the difference was shown; with --exit-code: there is none"},
             {PLM_EXIT_NO_FIT, "something changed (--exit-code)"},
             {PLM_EXIT_NOTHING,
              "a record cannot be read, or has no GPU activity; with --exit-code: a peak is unknown"}},
    .run = diff_run,
};
