#include "report/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/error.h"
#include "base/options.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "fit/confidence.h"
#include "report/report.h"

struct request {
    struct plm_run run;        /* of a file: bytes and strict only */
    struct plm_limit limit;
    const char *what, *junit, *path;
    bool github;
};

enum { OWN_OPTIONS = 5 };

static void own_options(struct request *r, struct plm_option table[OWN_OPTIONS])
{
    const struct plm_option options[OWN_OPTIONS] = {
        {"max", 0, PLM_OPTION_SIZE, &r->limit.max, true},
        {"what", 0, PLM_OPTION_TEXT, &r->what, true},
        {"pessimistic", 0, PLM_OPTION_FLAG, &r->limit.pessimistic, true},
        {"junit", 0, PLM_OPTION_TEXT, &r->junit, true},
        {"github", 0, PLM_OPTION_FLAG, &r->github, true},
    };
    memcpy(table, options, sizeof options);
}

static int understand(struct request *r, struct plm_error *error)
{
    if (!r->limit.max)
        return plm_fail(error, PLM_EINVAL, "no limit given; write `plimsoll check --max 22GiB FILE.plm`");
    if (plm_check_what_parse(r->what, &r->limit.what))
        return plm_fail(error, PLM_EINVAL, "--what %.60s: it takes device_used, reserved or allocated", r->what);
    if (r->limit.pessimistic && r->limit.what != PLM_CHECK_USED)
        return plm_fail(error, PLM_EINVAL, "--pessimistic is about device_used: what PyTorch takes has no range");
    return 0;
}

/* ---- the verdict ---- */

static int write_junit(const char *path, const struct plm_check *check)
{
    char text[400];
    FILE *out = fopen(path, "we");
    bool failed = !out;
    if (out) {
        plm_check_junit(out, check);
        failed = ferror(out) != 0;
        failed |= fclose(out) != 0;
    }
    if (!failed)
        return PLM_EXIT_OK;
    snprintf(text, sizeof text, "cannot write %.200s: %s", path, strerror(errno));
    return plm_complain(PLM_EXIT_CANNOT, text);
}

/* Tells the verdict everywhere it is wanted. `result` is the exit status that goes with it. */
static int tell(const struct request *r, const struct plm_check *check, int result, bool quiet)
{
    int status = PLM_EXIT_OK;
    if (check->outcome == PLM_CHECK_ERROR)
        plm_complain(result, check->sentence);
    else if (!quiet)
        puts(check->sentence);
    if (r->github && !quiet)
        plm_check_github(stdout, check);
    if (fflush(stdout) || ferror(stdout))
        status = plm_complain(PLM_EXIT_CANNOT, "the verdict could not be written");
    if (r->junit && write_junit(r->junit, check))
        status = PLM_EXIT_CANNOT;
    return result ? result : status;
}

/* A job that failed has no verdict. A limit that is exceeded by what was seen is exceeded, but to keep to it all of
   the job must have been seen. */
static int judge(const struct request *r, const struct plm_job *job, int result, const char *why, bool quiet)
{
    char reasons[8][256];
    struct plm_check check;
    int n;
    if (result) {
        check = plm_check_error(job, why);
        return tell(r, &check, result, quiet);
    }
    check = plm_check_job(job, &r->limit, r->run.bytes);
    if (check.outcome == PLM_CHECK_TOO_MUCH)
        return tell(r, &check, PLM_EXIT_NO_FIT, quiet);
    if (job->summary.full) {
        check = plm_check_error(job, "the disk was full while the job ran: its record does not hold all of it");
        return tell(r, &check, PLM_EXIT_CANNOT, quiet);
    }
    if (r->run.strict && strcmp(plm_confidence(job, reasons, 8, &n), "high")) {
        check = plm_check_error(job, PLM_RUN_UNTRUSTED);
        return tell(r, &check, PLM_EXIT_UNTRUSTED, quiet);
    }
    return tell(r, &check, PLM_EXIT_OK, quiet);
}

/* ---- a command ---- */

static int show(const struct plm_run_end *end, void *context)
{
    const struct request *r = context;
    int result = judge(r, end->job, end->result, end->why, plm_run_quiet(end->run));
    int json = plm_run_document(end);
    if (result == PLM_EXIT_NO_FIT)
        fprintf(stderr, "plimsoll: `plimsoll report %s` shows what takes it\n", end->run->output);
    return result ? result : json;
}

static int check_command(struct request *r, int argc, char **argv)
{
    struct plm_option table[PLM_RUN_OPTIONS + OWN_OPTIONS];
    struct plm_error error;
    int rest;
    plm_run_options(&r->run, table);
    own_options(r, table + PLM_RUN_OPTIONS);
    /* The settings of [run] hold here too; those of [check] are nearer. */
    if (plm_options_parse(table, PLM_RUN_OPTIONS, "run", 0, NULL, &rest, &error) < 0 ||
        plm_options_parse(table, PLM_RUN_OPTIONS + OWN_OPTIONS, "check", argc, argv, &rest, &error) < 0 ||
        understand(r, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (rest == argc || strcmp(argv[rest - 1], "--") != 0)
        return plm_complain(PLM_EXIT_USAGE, "write `plimsoll check --max 22GiB -- python train.py`, or name a record");
    return plm_run_command(&r->run, argv + rest, show, r);
}

/* ---- a record ---- */

/* How the recorded job ended, as an exit status and a sentence. */
static int judge_record(const struct plm_job *job, struct plm_error *why)
{
    const struct plm_summary *s = &job->summary;
    const char *code = plm_summary_config(s, "exit"), *bounded = plm_summary_config(s, "bounded");
    bool oom = false;
    for (int i = 0; i < s->devices; i++)
        oom |= s->device[i].out_of_memory;
    if (s->ended && (!code || !strcmp(code, "0"))) {
        if (job->lanes)
            return PLM_EXIT_OK;
        plm_fail(why, PLM_EINVAL, "this record holds no GPU activity: the job never used CUDA");
        return PLM_EXIT_CANNOT;
    }
    if (s->ended && oom && bounded && !strcmp(bounded, "yes")) {
        plm_fail(why, PLM_EINVAL, "the job of this record ran out of memory on its card");
        return PLM_EXIT_NO_FIT;
    }
    if (s->ended)
        plm_fail(why, PLM_EINVAL, "the job of this record failed with status %.20s; it holds what ran until then",
                 code);
    else
        plm_fail(why, PLM_EINVAL, "this record has no end: the job still runs, or was killed");
    return PLM_EXIT_COMMAND;
}

static int check_record(struct request *r, int argc, char **argv)
{
    struct plm_option run[PLM_RUN_OPTIONS], table[OWN_OPTIONS + 2];
    struct plm_error error;
    struct plm_job *job;
    int words, status;
    plm_run_options(&r->run, run);
    own_options(r, table);
    table[OWN_OPTIONS] = (struct plm_option){"bytes", 0, PLM_OPTION_FLAG, &r->run.bytes, true};
    table[OWN_OPTIONS + 1] = (struct plm_option){"strict", 0, PLM_OPTION_FLAG, &r->run.strict, true};
    status = plm_options_among(table, OWN_OPTIONS + 2, "check", argc, argv, &r->path, 1, &words, &error);
    if (status == 0 && words != 1)
        status = plm_fail(&error, PLM_EINVAL, "%s; write `plimsoll check --max 22GiB FILE.plm`, or `--` and a command",
                          words ? "one record at a time" : "no record given");
    if (status == 0)
        status = understand(r, &error);
    if (status < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (plm_job_read(r->path, &job, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    status = judge_record(job, &error);
    status = judge(r, job, status, error.text, false);
    plm_job_free(job);
    return status;
}

int plm_cmd_check(int argc, char **argv)
{
    struct request r = {.what = "device_used"};
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--"))
            return check_command(&r, argc, argv);
    return check_record(&r, argc, argv);
}
