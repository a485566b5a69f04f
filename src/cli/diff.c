#include <stdio.h>
#include <unistd.h>

#include "analysis/job.h"
#include "base/error.h"
#include "base/options.h"
#include "cli/cli.h"
#include "report/diff.h"
#include "report/report.h"

struct request {
    bool bytes, json;
    const char *color;
    const char *path[2];
};

static int parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    const struct plm_option table[] = {
        {"bytes", 0, PLM_OPTION_FLAG, &r->bytes, true},
        {"json", 0, PLM_OPTION_FLAG, &r->json, false},
        {"color", 0, PLM_OPTION_TEXT, &r->color, true},
    };
    int files, status = plm_options_among(table, sizeof table / sizeof table[0], "diff", argc, argv, r->path, 2, &files,
                                          error);
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
        status = plm_fail(error, PLM_EFORMAT,
                          "%.200s holds no GPU activity: the job never used CUDA or was cut before it did", path);
    }
    return status;
}

static int show(const struct request *r, const struct plm_job *before, const struct plm_job *after,
                struct plm_error *error)
{
    const struct plm_report_options options = {.bytes = r->bytes,
                                               .color = plm_want_color(r->color, STDOUT_FILENO),
                                               .utf8 = plm_want_utf8(),
                                               .width = plm_terminal_width(STDOUT_FILENO)};
    plm_diff_write *write = r->json ? plm_diff_json : plm_diff_text;
    struct plm_diff diff;
    int status;
    plm_diff_make(before, after, &diff);
    status = write(stdout, &diff, r->path, &options, error);
    plm_diff_free(&diff);
    return status;
}

int plm_cmd_diff(int argc, char **argv)
{
    struct request r = {.color = "auto"};
    struct plm_job *before = NULL, *after = NULL;
    struct plm_error error;
    int status;
    if (parse(&r, argc, argv, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    status = read_job(r.path[0], &before, &error);
    if (status == 0)
        status = read_job(r.path[1], &after, &error);
    if (status == 0)
        status = show(&r, before, after, &error);
    if (before)
        plm_job_free(before);
    if (after)
        plm_job_free(after);
    return status < 0 ? plm_complain(PLM_EXIT_CANNOT, error.text) : PLM_EXIT_OK;
}
