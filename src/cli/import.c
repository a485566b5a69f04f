#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/input.h"
#include "base/json.h"
#include "base/output.h"
#include "common/printable.h"
#include "base/units.h"
#include "base/words.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "import/import.h"
#include "record/format.h"
#include "torch/release.h"

struct request {
    const char *path, *output, *torch;
    bool force, verify, json;
    enum plm_torch release;
};

static bool is_version(const char *text)
{
    size_t major = strspn(text, "0123456789");
    return major && text[major] == '.' && strspn(text + major + 1, "0123456789");
}

static const struct plm_option options[] = {
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "the record (default: the snapshot's name with .plm)",
     .complete = PLM_COMPLETE_FILE, .among = "plm"},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"verify", 0, PLM_OPTION_FLAG, AT(verify), .help = "check that the simulator reproduces the history"},
    {"torch", 0, PLM_OPTION_TEXT, AT(torch), "VERSION", .help = "verify with the rules of this PyTorch version",
     .among = "2.6 2.10 2.11 2.15"},
    {"json", 0, PLM_OPTION_FLAG, AT(json), .help = "with --verify: print one JSON document"},
    {0},
};

static int import_parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    int words, status = plm_options_among(options, r, "import", argc, argv, &r->path, 1, &words, error);
    if (status < 0)
        return status;
    if (words != 1)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll import SNAPSHOT.pickle`",
                        words ? "one snapshot at a time" : "no snapshot given");
    if (!r->verify && (r->torch || r->json))
        return plm_fail(error, PLM_EINVAL, "--%s needs --verify", r->torch ? "torch" : "json");
    if (r->torch && !is_version(r->torch))
        return plm_fail(error, PLM_EINVAL, "--torch: '%.40s' is not a version such as 2.11", r->torch);
    r->release = plm_torch_version(r->torch);
    return 0;
}

/* snapshot.pickle becomes snapshot.plm, in the current folder. */
static int name_output(const char *path, char *out, size_t size, struct plm_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    if (snprintf(out, size, "%.*s.plm", (int)n, name) >= (int)size)
        return plm_fail(error, PLM_EINVAL, "the name is too long; -o names the record");
    return 0;
}

/* The whole file in memory; it is read as it is needed. */
static int map_file(const char *path, void **data, size_t *size, struct plm_error *error)
{
    uint64_t whole;
    int fd = plm_input_open(path, &whole, error), status = 0;
    if (fd < 0)
        return fd;
    if (!whole)
        status = plm_fail(error, PLM_EFORMAT, "%.300s is empty", path);
    else {
        *size = (size_t)whole;
        *data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (*data == MAP_FAILED)
            status = plm_fail(error, PLM_EREAD, "cannot read %.300s: %s", path, strerror(errno));
    }
    close(fd);
    return status;
}

/* By its first bytes, before an output is looked at. What cannot be read is told by who reads it. */
static int snapshot_check(const char *path, struct plm_error *error)
{
    char start[64];
    int fd = plm_input_open(path, NULL, &(struct plm_error){0});
    const ssize_t got = fd < 0 ? -1 : read(fd, start, sizeof start);
    const size_t magic = sizeof PLM_RECORD_MAGIC - 1;
    if (fd >= 0)
        close(fd);
    if (got >= (ssize_t)magic && !memcmp(start, PLM_RECORD_MAGIC, magic))
        return plm_fail(error, PLM_EFORMAT, "%.300s is a job record already; `plimsoll report %.300s` shows it", path,
                        path);
    if (got == 0)
        return plm_fail(error, PLM_EFORMAT, "%.300s is empty", path);
    if (got > 0 && start[0] != '\x80')
        return plm_input_foreign(path, start, (size_t)got, "a memory snapshot of PyTorch", error);
    return 0;
}

static void import_tell(const struct plm_import_info *info, const char *record)
{
    char *word = plm_words_quote(&record, 1);
    printf("%zu event%s of %zu device%s, %zu allocation%s\n", info->events, info->events == 1 ? "" : "s", info->devices,
           info->devices == 1 ? "" : "s", info->allocations, info->allocations == 1 ? "" : "s");
    if (info->earlier)
        printf("The history starts late: %zu block%s %s allocated before it, and an earlier peak is missing.\n",
               info->earlier, info->earlier == 1 ? "" : "s", info->earlier == 1 ? "was" : "were");
    if (!info->agrees)
        puts("The history does not end in the snapshot's state: sizes may be slightly wrong.");
    fputs("Record: ", stdout);
    plm_printable_put(stdout, record);
    printf("\nNext:   plimsoll report %s\n", word);
    free(word);
}

/* ---- --verify ---- */

/* What each verdict is called and ends with. */
static const struct {
    const char *name;
    int exit;
} verdicts[] = {
    [PLM_VERDICT_SAME] = {"same", PLM_EXIT_OK},
    [PLM_VERDICT_DIFFERS] = {"differs", PLM_EXIT_NO_FIT},
    [PLM_VERDICT_UNKNOWN] = {"unknown", PLM_EXIT_UNTRUSTED},
};

/* docs/schema/verify-1.json */
static int tell_json(const struct plm_verify *v, const char *path)
{
    struct plm_json json;
    plm_json_document(&json, stdout, "plimsoll.verify/1");
    plm_json_string(&json, "snapshot", path);
    plm_json_string(&json, "verdict", verdicts[v->verdict].name);
    plm_json_string(&json, "rules", plm_torch_name(v->torch));
    plm_json_integer(&json, "allocations", v->allocations);
    plm_json_integer(&json, "segments", v->segments);
    if (v->verdict != PLM_VERDICT_SAME) {
        plm_json_object(&json, "difference");
        plm_json_integer(&json, "device", v->device);
        plm_json_integer(&json, "event", v->event);
        plm_json_string(&json, "sentence", v->sentence);
        plm_json_end_object(&json);
    }
    return plm_json_finish(&json);
}

static int tell_verdict(const struct request *r, const struct plm_verify *v)
{
    char allocations[48], segments[48];
    if (r->json) {
        if (tell_json(v, r->path) < 0)
            return plm_complain(PLM_EXIT_CANNOT, "cannot write to standard output");
    } else if (v->verdict == PLM_VERDICT_SAME) {
        printf("Replayed %s allocation%s and %s segment%s with the rules of PyTorch %s: all lie where the GPU run had "
               "them.\n",
               plm_count_text(allocations, sizeof allocations, v->allocations), v->allocations == 1 ? "" : "s",
               plm_count_text(segments, sizeof segments, v->segments), v->segments == 1 ? "" : "s",
               plm_torch_name(v->torch));
    } else {
        return plm_complain(verdicts[v->verdict].exit, v->sentence);
    }
    return verdicts[v->verdict].exit;
}

static int import_snapshot(struct request *r)
{
    struct plm_import_options wanted = {.name = r->path,
                                        .path = r->output,
                                        .replace = r->force,
                                        .verify = r->verify,
                                        .torch = r->torch ? &r->release : NULL};
    struct plm_import_info info = {0};
    struct plm_error error;
    size_t size = 0;
    void *data = NULL;
    int status = map_file(r->path, &data, &size, &error);
    if (status == 0) {
        status = plm_import_snapshot(data, size, &wanted, &info, &error);
        munmap(data, size);
    }
    if (status < 0)
        return plm_fault(&error);
    if (r->output && !r->json)
        import_tell(&info, r->output);
    return r->verify ? tell_verdict(r, &info.verify) : PLM_EXIT_OK;
}

static int import_run(int argc, char **argv)
{
    struct request r = {0};
    struct plm_error error;
    struct plm_output_rule rule;
    char output[PATH_MAX];
    int status = import_parse(&r, argc, argv, &error);
    if (status == 0 && snapshot_check(r.path, &error) < 0)
        return plm_fault(&error);
    if (status == 0 && !r.output && !r.verify) {
        status = name_output(r.path, output, sizeof output, &error);
        r.output = output;
    }
    if (status < 0)
        return plm_fault(&error);
    rule = (struct plm_output_rule){.force = r.force, .record = true, .input = {r.path}};
    if (r.output && plm_output_check(r.output, &rule, &error) < 0)
        return plm_fault(&error);
    return import_snapshot(&r);
}

const struct plm_command plm_command_import = {
    .name = "import",
    .line = "convert a PyTorch memory snapshot to a job record",
    .words = "SNAPSHOT",
    .options = options,
    .complete = PLM_COMPLETE_FILE,
    .among = "pickle",
    .example = {"plimsoll import snapshot.pickle && plimsoll report snapshot.plm --by module",
                "plimsoll import --verify snapshot.pickle"},
    .exit = {{PLM_EXIT_OK, "the record was written or, with --verify, the replay matches"},
             {PLM_EXIT_NO_FIT, "the replay differs"},
             {PLM_EXIT_UNTRUSTED, "the history is too incomplete to decide"},
             {PLM_EXIT_NOTHING, "the file cannot be read, or is not a snapshot"}},
    .run = import_run,
};
