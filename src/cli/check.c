#include "report/check.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "common/card.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/report_time.h"
#include "cli/run.h"
#include "fit/known.h"
#include "fit/ladder.h"
#include "report/report.h"

struct request {
    struct plm_run run;        /* of a record, which is its output: json, force, strict and bytes only */
    struct plm_limit limit;
    const char *what, *junit, *path;
    const char *against, *max_growth;
    struct plm_job *base; /* that is read from there */
    bool github;
};

static const struct plm_option own_options[] = {
    {"max", 0, PLM_OPTION_SIZE, AT(limit.max), "SIZE", .help = "the limit: 22GiB, 24GB, 512MiB", .least = 1,
     .configurable = true},
    {"against", 0, PLM_OPTION_TEXT, AT(against), "RECORD",
     .help = "also compare with this record, made by an earlier run", .complete = PLM_COMPLETE_FILE, .among = "plm"},
    {"max-growth", 0, PLM_OPTION_TEXT, AT(max_growth), "AMOUNT",
     .help = "growth to accept with --against: 5%, 512MiB (default 0%)"},
    {"what", 0, PLM_OPTION_CHOICE, AT(what), "FIGURE", .help = "compare device_used (default), reserved or allocated",
     .among = "device_used reserved allocated", .configurable = true},
    {"pessimistic", 0, PLM_OPTION_FLAG, AT(limit.pessimistic), .help = "compare the upper end of the range",
     .configurable = true, .rare = true},
    {"junit", 0, PLM_OPTION_TEXT, AT(junit), "FILE", .help = "also write the verdict as JUnit XML",
     .complete = PLM_COMPLETE_FILE, .among = "xml", .configurable = true, .own = true},
    {"github", 0, PLM_OPTION_FLAG, AT(github), .help = "also print a GitHub Actions annotation", .configurable = true},
    {0},
};
static const struct plm_option record_options[] = {
    {.include = own_options},
    {.include = plm_cli_option_json_file, .at = AT(run.json)},
    {.include = plm_cli_option_force, .at = AT(run.force)},
    {.include = plm_cli_option_strict, .at = AT(run.strict)},
    {.include = plm_cli_option_allow_tight, .at = AT(run.allow_tight)},
    {.include = plm_cli_option_bytes, .at = AT(run.look.bytes)},
    {0},
};
static const struct plm_option command_options[] = {
    {.include = own_options},
    {.include = plm_run_options, .at = AT(run)},
    {0},
};

static int check_understand(struct request *r, struct plm_error *error)
{
    if (!r->limit.max && !r->against)
        return plm_fail(error, PLM_EINVAL,
                        "no limit given; write `plimsoll check --max 22GiB FILE.plm`, or `--against BASE.plm`");
    if (r->max_growth && !r->against)
        return plm_fail(error, PLM_EINVAL, "--max-growth needs a record to compare with: --against BASE.plm");
    if (r->against && plm_check_growth_parse(r->max_growth ? r->max_growth : "0%", &r->limit))
        return plm_fail(error, PLM_EINVAL, "--max-growth %.60s: write a percentage or a size: 5%%, 512MiB",
                        r->max_growth);
    r->limit.against = r->against;
    plm_check_what_parse(r->what, &r->limit.what);
    r->limit.allow_tight = r->run.allow_tight;
    if (r->limit.pessimistic && r->limit.what != PLM_CHECK_USED)
        return plm_fail(error, PLM_EINVAL, "--pessimistic applies to device_used: PyTorch's own figures have no range");
    return 0;
}

/* The record to compare with must tell a peak: growth over less than that is none. 0, or an exit status. */
static int base_read(struct request *r)
{
    struct plm_error error;
    int status;
    if (!r->against)
        return PLM_EXIT_OK;
    if (plm_job_read(r->against, &r->base, &error) < 0)
        return plm_fault(&error);
    r->limit.base = r->base;
    status = r->base->lanes ? plm_cli_known_status(r->base) : PLM_EXIT_NOTHING;
    if (status == PLM_EXIT_OK && plm_fit_known(r->base).what == PLM_KNOWN_PEAK)
        return PLM_EXIT_OK;
    return plm_complain_of(PLM_EXIT_NOTHING, "there is nothing to compare with in %.200s: %s", r->against,
                           r->base->lanes ? plm_fit_known(r->base).why : "it has no GPU activity");
}

/* What the command reads, or writes besides. */
static struct plm_output_rule junit_rule(const struct request *r)
{
    return (struct plm_output_rule){.force = r->run.force,
                                    .input = {r->path, r->run.output, r->run.json, r->run.stack, r->against},
                                    .words = r->run.command};
}

static int junit_check(const struct request *r)
{
    const struct plm_output_rule rule = junit_rule(r);
    struct plm_error error;
    return r->junit && plm_output_check(r->junit, &rule, &error) < 0 ? plm_fault(&error) : PLM_EXIT_OK;
}

/* The record to compare with is read before the command runs, and not replaced by what that writes. An exit status. */
static int base_spare(const struct request *r)
{
    const struct plm_output_rule rule = {.force = true, .input = {r->against}};
    const char *const written[] = {r->run.output, r->run.json};
    struct plm_error error;
    for (size_t i = 0; r->against && i < sizeof written / sizeof written[0]; i++)
        if (written[i] && plm_output_check(written[i], &rule, &error) < 0)
            return plm_fault(&error);
    return PLM_EXIT_OK;
}

/* ---- the verdict ---- */

static int junit_write(FILE *out, const void *what, struct plm_error *error)
{
    (void)error;
    plm_check_junit(out, what);
    return 0;
}

/* Tells the verdict everywhere it is wanted: first in the files, without which there is none. `result` is the exit
   status that goes with it. */
static int check_tell(const struct request *r, struct plm_check *check, int result, const struct plm_run_end *given)
{
    struct plm_report_options options = *given->options;
    struct plm_run_end end = *given;
    const struct plm_output_part files[] = {{r->junit, junit_write, check, junit_rule(r)}, plm_run_document(&end)};
    const bool quiet = plm_run_quiet(&r->run);
    struct plm_error error;
    int status = PLM_EXIT_OK;
    check->status = result;
    options.check = check;
    end.options = &options;
    if (check->outcome == PLM_CHECK_ERROR)
        plm_complain(result, check->sentence);
    if (plm_output_write_all(files, 2, &error) < 0)
        return plm_fault(&error);
    if (check->outcome != PLM_CHECK_ERROR && !quiet)
        puts(check->sentence);
    if (r->github && !quiet)
        plm_check_github(stdout, check);
    if (fflush(stdout) || ferror(stdout))
        status = plm_complain(PLM_EXIT_CANNOT, "the verdict could not be written");
    return result ? result : status;
}

/* ", PyTorch 2.6.0 (there 2.15.0)"; nothing where they are equal or one is not known. */
static void difference_add(char *text, size_t size, const char *what, const char *here, const char *there)
{
    const size_t length = strlen(text);
    if (here && there && strcmp(here, there) != 0)
        snprintf(text + length, size - length, "%s%s %.60s (there %.60s)", length ? ", " : "", what, here, there);
}

/* Growth between unlike runs may come from what is unlike in them: the answer stands, with a sentence before it. */
static void base_compare(const struct request *r, const struct plm_job *job)
{
    static const struct {
        const char *key, *what;
    } same[] = {{"gpu", "GPU"}, {"torch", "PyTorch"}};
    char text[512] = "", here[24], there[24];
    if (!r->base)
        return;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        difference_add(text, sizeof text, same[i].what, plm_summary_config(&job->summary, same[i].key),
                       plm_summary_config(&r->base->summary, same[i].key));
    snprintf(here, sizeof here, "%zu", job->lanes);
    snprintf(there, sizeof there, "%zu", r->base->lanes);
    difference_add(text, sizeof text, "number of ranks or devices", here, there);
    if (text[0])
        plm_complain_of(PLM_EXIT_OK, "this run and %.200s are not alike: %s", r->against, text);
}

/* A job that failed has no verdict. A limit that is exceeded by what was seen is exceeded, but to keep to it all of
   the job must have been seen. */
static int check_judge(const struct request *r, const struct plm_run_end *end)
{
    const struct plm_job *job = end->job;
    const struct plm_fit_known known = plm_fit_known(job);
    char reasons[PLM_DOUBTS][256], sentence[200];
    struct plm_check check;
    int n;
    if (end->result) {
        check = plm_check_error(job, &r->limit, end->why);
        return check_tell(r, &check, end->result, end);
    }
    base_compare(r, job);
    check = plm_check_job(job, &r->limit, known.what == PLM_KNOWN_PEAK ? end->card : NULL, r->run.look.bytes);
    if (check.outcome == PLM_CHECK_TOO_MUCH)
        return check_tell(r, &check, PLM_EXIT_NO_FIT, end);
    if (known.what == PLM_KNOWN_NOTHING) {
        snprintf(sentence, sizeof sentence, "not known: %s", known.why);
        check = plm_check_error(job, &r->limit, sentence);
        return check_tell(r, &check, plm_cli_known_status(job), end);
    }
    if (check.outcome == PLM_CHECK_TIGHT)
        return check_tell(r, &check, PLM_EXIT_TIGHT, end);
    if (r->run.strict && strcmp(plm_confidence(job, reasons, PLM_DOUBTS, &n), "high")) {
        check = plm_check_error(job, &r->limit, PLM_RUN_UNTRUSTED);
        return check_tell(r, &check, PLM_EXIT_UNTRUSTED, end);
    }
    return check_tell(r, &check, PLM_EXIT_OK, end);
}

/* ---- a command ---- */

static int check_show(const struct plm_run_end *end, void *context)
{
    const struct request *r = context;
    const int result = check_judge(r, end);
    if (result == PLM_EXIT_NO_FIT)
        plm_complain_of(PLM_EXIT_OK, "`plimsoll report %.300s` shows what uses it", end->run->output);
    return result;
}

static int check_command(struct request *r, int argc, char **argv)
{
    struct plm_error error;
    int rest, status;
    /* The settings of [run] hold here too; those of [check] are nearer. The flags come first for --config. */
    if (plm_options_parse(command_options, r, "check", argc, argv, &rest, &error) < 0 ||
        plm_options_parse(plm_run_options, &r->run, "run", 0, NULL, &rest, &error) < 0 ||
        plm_options_parse(command_options, r, "check", argc, argv, &rest, &error) < 0 ||
        check_understand(r, &error) < 0)
        return plm_fault(&error);
    if (rest == argc || strcmp(argv[rest - 1], "--") != 0)
        return plm_complain(PLM_EXIT_USAGE, "write `plimsoll check --max 22GiB -- python train.py`, or name a record");
    r->run.command = argv + rest;
    status = junit_check(r);
    if (!status)
        status = base_spare(r);
    if (!status)
        status = base_read(r);
    return status ? status : plm_run_command(&r->run, argv + rest, check_show, r);
}

/* ---- a record ---- */

/* What the record can decide, as an exit status and a sentence. Where it tells too little, a limit may still be exceeded
   by what was seen. */
static int record_status(const struct plm_job *job, struct plm_error *why)
{
    const struct plm_fit_known known = plm_fit_known(job);
    plm_fail(why, PLM_ENOTFOUND, "not known: %s", known.why);
    return job->lanes && plm_cli_known_status(job) == PLM_EXIT_NOTHING ? PLM_EXIT_OK : plm_cli_known_status(job);
}

/* The card that was played, for the verdict; NULL: the catalogue does not have it. */
static const struct plm_card *record_card(const struct plm_job *job, struct plm_catalogue *catalogue)
{
    const struct plm_catalogue_entry *entry;
    const char *gpu = plm_summary_config(&job->summary, "gpu");
    return gpu && plm_catalogue_find(catalogue, gpu, &entry, NULL) == 0 ? &entry->card : NULL;
}

/* The options of run without a command are no slips: its `--` was forgotten. */
static bool lacks_dashes(int argc, char **argv)
{
    struct request other = {0};
    struct plm_error error;
    const char *path;
    int words;
    return plm_options_among(command_options, &other, "check", argc, argv, &path, 1, &words, &error) == 0;
}

/* The verdict, and the report of the record as of a command that has been run; an exit status. */
static int record_judge(const struct request *r, const struct plm_job *job, struct plm_cli_report_time *time)
{
    struct plm_card cards[PLM_REPORT_CARDS];
    struct plm_report_options options = plm_look_at(&r->run.look);
    struct plm_run_end end = {.run = &r->run, .job = job, .options = &options};
    struct plm_catalogue catalogue;
    struct plm_error error, why;
    int n, status;
    end.result = record_status(job, &why);
    end.why = why.text;
    if (plm_catalogue_open(&catalogue, &error) < 0)
        return plm_fault(&error);
    end.card = record_card(job, &catalogue);
    if (r->run.json) {
        n = plm_cards_choose(&catalogue, NULL, plm_summary_config(&job->summary, "gpu"), cards, &error);
        plm_cli_report_time_own(time, job, &catalogue, &options);
        options.card = cards;
        options.cards = n > 0 ? n : 0;
        options.asked = plm_cards_recorded(&options, job);
        options.record = r->path;
    }
    status = check_judge(r, &end);
    plm_catalogue_free(&catalogue);
    return status;
}

/* Could the files that are asked for be written? An exit status. */
static int record_outputs_check(struct request *r)
{
    struct plm_output_rule rule = {.force = r->run.force, .input = {r->path, r->junit, r->against}};
    struct plm_error error;
    int status;
    r->run.output = r->path;
    status = junit_check(r);
    if (status)
        return status;
    return r->run.json && plm_output_check(r->run.json, &rule, &error) < 0 ? plm_fault(&error) : PLM_EXIT_OK;
}

static int check_record(struct request *r, int argc, char **argv)
{
    struct plm_cli_report_time time = {0};
    struct plm_error error;
    struct plm_job *job;
    int words, status;
    status = plm_options_among(record_options, r, "check", argc, argv, &r->path, 1, &words, &error);
    if (status < 0 && lacks_dashes(argc, argv))
        plm_fail(&error, PLM_EINVAL, "the options of run need a command: write `plimsoll check [options] -- COMMAND`");
    if (status == 0 && words != 1)
        status = plm_fail(&error, PLM_EINVAL, "%s; write `plimsoll check --max 22GiB FILE.plm`, or `--` and a command",
                          words ? "one record at a time" : "no record given");
    if (status == 0)
        status = check_understand(r, &error);
    if (status < 0)
        return plm_fault(&error);
    status = record_outputs_check(r);
    if (!status)
        status = base_read(r);
    if (status)
        return status;
    if ((r->run.json ? plm_cli_report_time_read(&time, r->path, &job, &error) : plm_job_read(r->path, &job, &error)) <
        0)
        return plm_fault(&error);
    status = record_judge(r, job, &time);
    plm_cli_report_time_free(&time);
    plm_job_free(job);
    return status;
}

static int check_run(int argc, char **argv)
{
    struct request r = {.what = "device_used", .run = PLM_RUN};
    bool command = false;
    int status;
    for (int i = 0; i < argc && !command; i++)
        command = !strcmp(argv[i], "--");
    status = (command ? check_command : check_record)(&r, argc, argv);
    plm_job_free(r.base);
    return status;
}

const struct plm_command plm_command_check = {
    .name = "check",
    .line = "fail if peak memory exceeds a limit or grew, for CI",
    .words = "RECORD | -- COMMAND...",
    .options = record_options,
    .also = &plm_command_run,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll check --max 22GiB -- python train.py --batch 64",
                "plimsoll check --against base.plm --max-growth 5% train.plm",
                "plimsoll check --max 22GiB --github --junit gpu-memory.xml train.plm"},
    .exit = {{PLM_EXIT_OK, "the job stays within the limits"},
             {PLM_EXIT_NO_FIT, "it exceeds a limit, or ran out of memory (--bounded)"},
             {PLM_EXIT_COMMAND, "the job failed: there is no verdict"},
             {PLM_EXIT_UNTRUSTED, "the confidence is not high (--strict)"},
             {PLM_EXIT_TIGHT, "it stays within the limit only with cache flushes (--allow-tight: 0)"},
             {PLM_EXIT_NOTHING, "the record cannot be read, or is incomplete: no GPU activity, no step"}},
    .run = check_run,
};
