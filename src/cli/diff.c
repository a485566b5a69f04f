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
    bool json;
    const char *path[2];
};

static const struct plm_option options[] = {
    {.include = plm_cli_option_json, .at = AT(json)},
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

static int diff_show(const struct request *r, const struct plm_job *before, const struct plm_job *after,
                     struct plm_error *error)
{
    const struct plm_report_options shown = plm_look_at(&r->look);
    plm_diff_write *write = r->json ? plm_diff_json : plm_diff_text;
    struct plm_diff diff;
    int status;
    plm_diff_make(before, after, &diff);
    status = write(stdout, &diff, r->path, &shown, error);
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
    if (status == 0)
        status = diff_show(&r, before, after, &error);
    plm_job_free(before);
    plm_job_free(after);
    return status < 0 ? plm_fault(&error) : PLM_EXIT_OK;
}

const struct plm_command plm_command_diff = {
    .name = "diff",
    .line = "compare the peak memory of two job records",
    .words = "BEFORE AFTER",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll diff batch32.plm batch64.plm",
                "plimsoll diff batch32.plm batch64.plm --json | jq .devices[0].peak.device_used.change"},
    .exit = {{PLM_EXIT_OK, "the difference was shown"},
             {PLM_EXIT_NOTHING, "a record cannot be read, or has no GPU activity"}},
    .run = diff_run,
};
