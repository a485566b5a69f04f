#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/error.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "export/values.h"
#include "export/export.h"
#include "export/out.h"
#include "record/reader.h"
#include "time/timeline.h"

enum { FORMATS_MAX = 16 };

struct request {
    bool chosen[FORMATS_MAX];     /* as plm_export_formats */
    const char *path, *output, *at, *gpu, *by;
    bool force, fields, formats;
};

static const struct plm_option own_options[] = {
    {"at", 0, PLM_OPTION_TEXT, AT(at), "MOMENT", .help = "for a snapshot or flame graph: peak, end or a step number",
     .among = "peak end"},
    {"by", 0, PLM_OPTION_CHOICE, AT(by), "WHAT", .help = "for a flame graph: module (default) or stack (Python calls)",
     .among = "module stack"},
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME", .help = "for a trace: the GPU to model a step on",
     .complete = PLM_COMPLETE_CARDS},
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "write to a file", .complete = PLM_COMPLETE_FILE},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"fields", 0, PLM_OPTION_FLAG, AT(fields), .help = "list the types of events and their fields"},
    {"formats", 0, PLM_OPTION_FLAG, AT(formats), .help = "list the formats"},
    {0},
};

/* One flag per format, then its own. */
static const struct plm_option *make_options(void)
{
    static struct plm_option options[FORMATS_MAX + 2];
    size_t count = 0;
    for (; count < plm_export_format_count && count < FORMATS_MAX; count++)
        options[count] = (struct plm_option){.name = plm_export_formats[count].name,
                                             .at = AT(chosen) + count * sizeof(bool),
                                             .help = plm_export_formats[count].summary};
    options[count] = (struct plm_option){.include = own_options};
    return options;
}

static int export_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(make_options(), r, "export", argc, argv, &r->path, 1, &words, error);
    if (status == 0 && words > 1)
        status = plm_fail(error, PLM_EINVAL, "one record at a time: `plimsoll export FILE --csv`");
    return status;
}

/* The format that was asked for; NULL with a sentence if that is not clear. */
static const struct plm_export_format *export_choose(const struct request *r, struct plm_error *error)
{
    const struct plm_export_format *format = NULL;
    if (!r->path) {
        plm_fail(error, PLM_EINVAL, "no record given; write `plimsoll export FILE.plm --csv`");
        return NULL;
    }
    for (size_t i = 0; i < plm_export_format_count && i < FORMATS_MAX; i++) {
        if (!r->chosen[i])
            continue;
        if (format) {
            plm_fail(error, PLM_EINVAL, "one format at a time: --%s or --%s", format->name, plm_export_formats[i].name);
            return NULL;
        }
        format = &plm_export_formats[i];
    }
    if (!format)
        plm_fail(error, PLM_EINVAL, "no format given; add --csv, or see `plimsoll export --formats`");
    else if (r->at && !(format->flags & PLM_EXPORT_MOMENT)) {
        plm_fail(error, PLM_EINVAL, "--at does not go with --%s, which covers the whole job", format->name);
        return NULL;
    } else if (r->gpu && !(format->flags & PLM_EXPORT_TIME)) {
        plm_fail(error, PLM_EINVAL, "--gpu does not go with --%s, which has no modelled times", format->name);
        return NULL;
    } else if (r->by && !(format->flags & PLM_EXPORT_STACKS)) {
        plm_fail(error, PLM_EINVAL, "--by does not go with --%s, which is no flame graph", format->name);
        return NULL;
    }
    return format;
}

/* Nothing is made before the record was read. */
static int write_format(const struct request *r, const struct plm_export_format *format, struct plm_export *export,
                        struct plm_error *error)
{
    const struct plm_output_rule rule = {.force = r->force, .input = {r->path}};
    struct plm_output output;
    struct plm_out out;
    int status = plm_output_open(&output, r->output ? r->output : "-", &rule, error);
    if (status < 0)
        return status;
    plm_out_open(&out, output.fd);
    export->out = &out;
    status = format->write(export, error);
    if (plm_out_close(&out) < 0)
        status =
            plm_fail(error, PLM_EIO, "cannot write %.300s: %s", r->output ? r->output : "the output", strerror(errno));
    if (status == 0)
        return plm_output_keep(&output, error);
    plm_output_drop(&output);
    return status;
}

/* Without --gpu times are shown where they are known; with it somebody wants them. */
static int export_time(const struct request *r, const struct plm_export_format *format, struct plm_timeline *timeline,
                       struct plm_export *export, struct plm_error *error)
{
    struct plm_error unknown;
    int status;
    if (!(format->flags & PLM_EXPORT_TIME))
        return 0;
    status = plm_timeline_make(r->path, r->gpu, timeline, r->gpu ? error : &unknown);
    export->time = status == 0 ? timeline : NULL;
    return r->gpu ? status : 0;
}

static int export_record(const struct request *r, const struct plm_export_format *format, struct plm_error *error)
{
    struct plm_export export = {.path = r->path, .at = {.kind = format->at}, .calls = r->by && !strcmp(r->by, "stack")};
    struct plm_timeline timeline = {0};
    struct plm_job *job = NULL;
    int status = 0;
    if (r->at && plm_at_parse(r->at, &export.at))
        status = plm_fail(error, PLM_EINVAL, "--at %.60s: use peak, end or a step number", r->at);
    if (status == 0)
        status = plm_record_open(r->path, &export.record, error);
    if (status < 0)
        return status;
    if (format->flags & PLM_EXPORT_JOB)
        status = plm_job_read(r->path, &job, error);
    export.job = job;
    if (status == 0 && job)
        status = plm_at_check(job, export.at, error);
    if (status == 0 && export.calls)
        status = plm_key_check(job, PLM_BY_LINE, r->path, error);
    if (status == 0)
        status = export_time(r, format, &timeline, &export, error);
    if (status == 0)
        status = write_format(r, format, &export, error);
    plm_timeline_free(&timeline);
    plm_job_free(job);
    plm_record_free(export.record);
    return status;
}

static int show_fields(void)
{
    for (int type = 1; type < PLM_EV_TYPES; type++) {
        const struct plm_export_event_shape *shape = plm_export_event_shape((enum plm_record_event_type)type);
        printf("%s\n", shape->name);
        for (const struct plm_column *c = shape->column; c->kind; c++)
            printf("  %-16s %s\n", c->name, plm_column_type(c));
    }
    return PLM_EXIT_OK;
}

static int show_formats(void)
{
    for (size_t i = 0; i < plm_export_format_count; i++)
        printf("--%-11s .%-16s %s\n", plm_export_formats[i].name, plm_export_formats[i].extension,
               plm_export_formats[i].summary);
    return PLM_EXIT_OK;
}

static int export_run(int argc, char **argv)
{
    struct request r = {0};
    const struct plm_export_format *format;
    struct plm_error error;
    int status;
    if (export_parse(&r, argc, argv, &error) < 0)
        return plm_fault(&error);
    if (r.fields)
        return show_fields();
    if (r.formats)
        return show_formats();
    format = export_choose(&r, &error);
    if (!format)
        return plm_fault(&error);
    if ((format->flags & PLM_EXPORT_BINARY) && (!r.output || !strcmp(r.output, "-")) && isatty(STDOUT_FILENO))
        return plm_complain_of(PLM_EXIT_USAGE, "a %s cannot go to a terminal; write it to a file with -o FILE.%s",
                               format->name, format->extension);
    status = export_record(&r, format, &error);
    if (status == 0)
        return PLM_EXIT_OK;
    return plm_fault(&error);
}

const struct plm_command plm_command_export = {
    .name = "export",
    .line = "convert a job record to CSV, JSON, a memory snapshot or a trace",
    .words = "RECORD",
    .make_options = make_options,
    .complete = PLM_COMPLETE_FILE,
    .among = "plm",
    .example = {"plimsoll export job.plm --snapshot -o train.pickle",
                "plimsoll export job.plm --folded | flamegraph.pl --countname bytes >peak.svg",
                "plimsoll export job.plm --jsonl | jq 'select(.event == \"oom\")'"},
    .exit = {{PLM_EXIT_OK, "the export was written"},
             {PLM_EXIT_NOTHING, "the record cannot be read, or has nothing to export"}},
    .run = export_run,
};
