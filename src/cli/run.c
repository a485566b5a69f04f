#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "base/install.h"
#include "base/output.h"
#include "base/secret.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/report_time.h"
#include "cli/retry.h"
#include "cli/run.h"
#include "cli/world.h"
#include "cli/world_sizes.h"
#include "record/create.h"
#include "record/pen.h"
#include "fit/fit.h"
#include "fit/ladder.h"
#include "report/report.h"
#include "stack/folder.h"
#include "stack/topology.h"
#include "world/launcher.h"

enum { GPUS_MOST = 64 };

/* How many GPUs the user's CUDA_VISIBLE_DEVICES takes for granted. */
static int gpus_visible(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    int most = 0;
    while (list && *list) {
        char *end;
        long index = strtol(list, &end, 10);
        if (end == list || index < 0 || index >= GPUS_MOST)
            break;
        most = index > most ? (int)index : most;
        list = *end == ',' ? end + 1 : end;
    }
    return most + 1;
}

/* Secrets are masked: a record is kept, and shown to others. */
static void describe_command(struct plm_pen *pen, char **command)
{
    bool next = false;
    char key[32];
    for (int i = 0; command[i]; i++) {
        char *word = plm_secret_mask(command[i], &next);
        snprintf(key, sizeof key, "argv[%d]", i);
        plm_pen_setting(pen, key, word);
        free(word);
    }
}

static void run_describe(struct plm_pen *pen, const struct plm_run *o, const struct plm_catalogue_entry *gpu,
                         const struct plm_stack_entry *stack, const struct plm_topology_entry *topology, char **command)
{
    char value[32];
    const char *allocator = getenv("PYTORCH_ALLOC_CONF");
    if (!allocator)
        allocator = getenv("PYTORCH_CUDA_ALLOC_CONF");
    plm_pen_setting(pen, "gpu", gpu->card.id);
    plm_pen_setting(pen, "gpu-chosen", o->gpu ? "name" : "default"); /* nobody asked whether it fits on the default */
    snprintf(value, sizeof value, "%d", o->gpus);
    plm_pen_setting(pen, "gpus", value);
    plm_pen_setting(pen, "bounded", o->bounded ? "yes" : "no");
    plm_pen_setting(pen, "detail", o->detail);
    if (o->no_stacks)
        plm_pen_setting(pen, "stacks", "no");
    if (o->until_exit)
        plm_pen_setting(pen, "until-exit", "yes"); /* all of the command is what is asked about, steps or not */
    if (o->assume)
        plm_pen_setting(pen, "assume", o->assume);
    plm_pen_setting(pen, "allocator", allocator ? allocator : "default");
    if (topology)
        plm_pen_setting(pen, "topology", topology->topology.id);
    if (stack) {
        plm_cli_stack_describe(pen, stack, &gpu->card);
        plm_pen_setting(pen, "stack-chosen", o->stack && strcmp(o->stack, "auto") != 0 ? "name" : "card");
    }
    if (!o->no_argv)
        describe_command(pen, command);
}

/* How far a command came that did not end well, and where PyTorch may be the reason, what looks at it. */
static const char *came_to(const struct plm_summary *s, const struct plm_run *o)
{
    static char text[600];
    if (s->devices)
        return "; the figures cover what ran until then";
    if (s->processes > 1 && o->gpus == 1 && plm_summary_has_note(s, "gpus-counted"))
        return " before it used the GPU; 1 GPU is simulated, `--gpus N` if it needs more";
    if (s->processes > 1)
        return o->gpus > 1 ? " before it used a GPU" : " before it used the GPU";
    snprintf(text, sizeof text, PLM_BEFORE_TORCH "%s", plm_doctor_advice(o->command));
    return text;
}

/* The highest number of a GPU that was chosen in vain; -1: none was. */
static int gpu_missing(const struct plm_summary *s)
{
    int highest = -1;
    for (int i = 0; i < s->notes.count; i++)
        if (!strcmp(s->notes.item[i].name, "gpu-missing") && atoi(s->notes.item[i].detail) > highest)
            highest = atoi(s->notes.item[i].detail);
    return highest;
}

/* A note that says why a command failed. */
static bool failure_explained(const struct plm_summary *s, const char **note)
{
    static const char *const kinds[] = {"failed-for-want", "failed-on-value", "store-refused"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (plm_summary_notes(s, kinds[i], note))
            return true;
    return false;
}

/* By what a rank lacked: what is received point to point comes from a pipeline's other stages. */
static const char *ranks_to_run(const char *lacked)
{
    if (!strncmp(lacked, "receive", strlen("receive")))
        return "`--rank stages` runs one rank of each pipeline stage, `--rank all` every rank";
    return "`--rank all` runs every rank";
}

/* Sentence and exit status for a command that did not end well; 0 if it did. */
static int judge_command(int status, const struct plm_job *job, const struct plm_run *o, const char *retried,
                         struct plm_error *why)
{
    const struct plm_summary *s = &job->summary;
    const char *note;
    bool oom = false;
    int missing;
    for (int i = 0; i < s->devices; i++)
        oom |= s->device[i].out_of_memory;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return PLM_EXIT_OK;
    if (o->bounded && oom) {
        plm_fail(why, PLM_EINVAL, "the job does not fit on this GPU: %s%s", plm_fit_known(job).why, retried);
        return PLM_EXIT_NO_FIT;
    }
    if (WIFSIGNALED(status))
        plm_fail(why, PLM_EINVAL, "the command was killed by signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), came_to(s, o));
    else if (!s->steps && plm_summary_notes(s, "absent-peer", &note))
        plm_fail(why, PLM_EINVAL,
                 "the command failed with status %d, perhaps because it received placeholders from ranks that do not "
                 "run (%.100s): %s, and these exchange real messages",
                 WEXITSTATUS(status), note, ranks_to_run(note));
    else if ((missing = gpu_missing(s)) >= o->gpus)
        plm_fail(
            why, PLM_EINVAL,
            "the command failed with status %d because it chose GPU %d and %d %s simulated: add `--gpus %d`, or as "
            "many as it starts processes",
            WEXITSTATUS(status), missing, o->gpus, o->gpus == 1 ? "is" : "are", missing + 1);
    else if (failure_explained(s, &note))
        plm_fail(why, PLM_EINVAL, "the command failed with status %d; %.440s", WEXITSTATUS(status), note);
    else
        plm_fail(why, PLM_EINVAL, "the command failed with status %d%s", WEXITSTATUS(status), came_to(s, o));
    return PLM_EXIT_COMMAND;
}

/* A command that never used the virtual GPU has no answer; say why, as far as it can be known. */
static int judge_silence(const struct plm_summary *s, char **command, struct plm_error *why)
{
    if (plm_summary_has_note(s, "cpu-only-torch"))
        plm_fail(why, PLM_EINVAL,
                 "this PyTorch is a CPU-only build; install a CUDA build in this environment (no NVIDIA packages "
                 "needed: pip install --no-deps torch) and run again");
    else if (s->processes > 1)
        plm_fail(why, PLM_EINVAL,
                 "the command loaded CUDA but put nothing on the GPU; does it choose device \"cuda\"?");
    else
        plm_fail(why, PLM_EINVAL, "the command never used CUDA%s", plm_doctor_advice(command));
    return PLM_EXIT_NOTHING;
}

/* A rank alone that made no step has waited for its peers, or ended because of what they did not say. */
static int judge_rank(const struct plm_run *o, const struct plm_summary *s, struct plm_error *why)
{
    const char *world = plm_summary_config(s, "world");
    const bool lacks = plm_summary_has_note(s, "absent-peer");
    if (!world || s->steps || (o->until_exit && !lacks))
        return PLM_EXIT_OK;
    plm_fail(why, PLM_EINVAL, "the simulated rank of a job of %.20s succeeded but made no optimizer step%s", world,
             lacks ? ", perhaps because it received placeholders from ranks that do not run" : "");
    return PLM_EXIT_NOTHING;
}

static int document_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_run_end *end = what;
    return plm_report_json(out, end->job, end->options, error);
}

struct plm_output_part plm_run_document(const struct plm_run_end *end)
{
    return (struct plm_output_part){
        .path = end->run->json,
        .write = document_write,
        .what = end,
        .rule = {.force = end->run->force, .input = {end->run->output}, .words = end->run->command}};
}

bool plm_run_quiet(const struct plm_run *run)
{
    return run->json && !strcmp(run->json, "-");
}

/* The best row of those that were asked about. */
static const struct plm_fit_row *best_of(const struct plm_fit_table *table, const struct plm_report_options *options)
{
    const struct plm_fit_row *best = NULL;
    for (size_t i = 0; i < table->rows; i++) {
        const struct plm_fit_row *row = &table->row[i];
        if (plm_report_asks(options, row) && (!best || row->answer.verdict < best->answer.verdict))
            best = row;
    }
    return best;
}

static void say_verdict(const struct plm_fit_row *row, const struct plm_fit_known *known, struct plm_error *why)
{
    char need[32], usable[32];
    const char *card = row->card->id;
    plm_size_text(need, sizeof need, row->need);
    plm_size_text(usable, sizeof usable, row->usable);
    if (row->answer.verdict == PLM_UNKNOWN)
        plm_fail(why, PLM_ENOTFOUND, "cannot tell whether the job fits: %s", known->why);
    else if (row->answer.verdict == PLM_NO_FIT)
        plm_fail(why, PLM_EINVAL, "the job does not fit on %s: it needs %s, but only %s is usable", card, need, usable);
    else if (!row->need) /* nothing but how it ended there is known */
        plm_fail(why, PLM_EINVAL, "the job is tight on %s: %s; --allow-tight accepts that", card, known->why);
    else
        plm_fail(
            why, PLM_EINVAL,
            "the job is tight on %s: it needs %s of %s usable, and may need cache flushes; --allow-tight accepts that",
            card, need, usable);
}

int plm_run_judge_cards(const struct plm_run_end *end, bool tell)
{
    const struct plm_report_options *o = end->options;
    const struct plm_fit_table *table;
    const struct plm_fit_row *row;
    struct plm_fit_table own;
    struct plm_error why;
    int status = plm_cli_known_status(end->job);
    plm_fail(&why, PLM_ENOTFOUND, "cannot tell whether the job fits: %s", plm_fit_known(end->job).why);
    if (status <= PLM_EXIT_NO_FIT && o->asked) {
        table = plm_report_fits(end->job, o, &own);
        row = best_of(table, o);
        status = plm_cli_verdict_status(row->answer.verdict, end->run->allow_tight);
        say_verdict(row, &table->known, &why);
        plm_fit_table_free(&own);
    }
    /* A report has said what the verdict is, but that there is none is a fault. */
    tell |= status != PLM_EXIT_NO_FIT && status != PLM_EXIT_TIGHT;
    return status && tell ? plm_complain(status, why.text) : status;
}

/* Of a command that failed: how far it came, in a line. */
static void show_until_then(const struct plm_job *job)
{
    const struct plm_lane *lane = job->lanes ? plm_job_largest(job) : NULL;
    char allocated[32], reserved[32];
    if (lane)
        printf("Peak until then: %s allocated, %s reserved, %d step%s done (--full shows the report)\n",
               plm_size_text(allocated, sizeof allocated, lane->summary->allocated_peak.bytes),
               plm_size_text(reserved, sizeof reserved, lane->summary->reserved_peak), job->summary.steps,
               job->summary.steps == 1 ? "" : "s");
}

/* The report, the document and the status that goes with them. */
static int show_each(const struct plm_run_end *end)
{
    const struct plm_output_part document = plm_run_document(end);
    struct plm_error error;
    char reasons[PLM_DOUBTS][256];
    const bool quiet = plm_run_quiet(end->run);
    int n, json = PLM_EXIT_OK, result = end->result;
    if (result)
        plm_complain(result, end->why);
    if (plm_output_write_all(&document, 1, &error) < 0)
        json = plm_fault(&error);
    if (result == PLM_EXIT_COMMAND && !quiet && !end->run->full)
        show_until_then(end->job);
    else if (end->job->lanes && !quiet && plm_report_text(stdout, end->job, end->options, &error))
        result = plm_fault(&error);
    if (result == PLM_EXIT_OK)
        result = json;
    if (result == PLM_EXIT_OK)
        result = plm_run_judge_cards(end, quiet);
    if (result == PLM_EXIT_OK && end->run->strict && strcmp(plm_confidence(end->job, reasons, PLM_DOUBTS, &n), "high"))
        result = plm_complain(PLM_EXIT_UNTRUSTED, PLM_RUN_UNTRUSTED);
    return result;
}

/* What `run` itself shows. Whether the job fits is found out once for all of it, by replays that may take a second. */
static int show_report(const struct plm_run_end *given, void *context)
{
    struct plm_report_options options = *given->options;
    struct plm_run_end end = *given;
    struct plm_fit_table own = {0};
    int result;
    (void)context;
    if (end.job->lanes && (end.result != PLM_EXIT_COMMAND || end.run->full || end.run->json))
        options.fits = plm_report_fits(end.job, &options, &own);
    end.options = &options;
    result = show_each(&end);
    plm_fit_table_free(&own);
    return result;
}

/* A run that failed, or that did nothing on the GPU, leaves no record. That the card was too small is a result. */
static int record_settle(const struct plm_run *o, const struct plm_run_end *end, struct plm_output *record,
                         struct plm_report_options *options)
{
    const bool failed = end->result == PLM_EXIT_COMMAND || !end->job->lanes;
    struct plm_error error;
    options->record = o->output;
    if (failed && !o->keep)
        plm_output_drop(record);
    else if (plm_output_keep(record, &error) == 0)
        return PLM_EXIT_OK;
    else
        plm_fault(&error);
    options->record = NULL;
    return failed ? PLM_EXIT_OK : PLM_EXIT_CANNOT;
}

/* What the job came to. The record gets its name, or goes. */
/* A job of ranks that is not the one that was meant: said before the report. */
static void ranks_doubt(const struct plm_run *o, const struct plm_summary *s)
{
    const bool wanted = plm_cli_rank_wanted(&o->world);
    if (wanted && !s->groups)
        plm_complain(PLM_EXIT_OK,
                     "the command never joined a process group (torch.distributed): what ran is one process "
                     "alone, not a rank of the job that --world names");
    else if (!wanted && s->group_ranks == 1 && o->gpus == 1 && !plm_launcher_gpus(o->command, 1))
        plm_complain(PLM_EXIT_OK, "the command made a process group of 1 rank, and 1 GPU is simulated; add `--gpus N` "
                                  "if it starts a rank on each GPU");
}

static int run_report(const struct plm_run *o, const struct plm_cli_launch *launch, struct plm_catalogue *catalogue,
                      struct plm_output *record, int command_status, const struct plm_retry_end *again,
                      plm_run_show *show, void *context)
{
    struct plm_card cards[PLM_REPORT_CARDS];
    struct plm_cli_report_time time = {0};
    struct plm_report_options options = plm_look_at(&o->look);
    struct plm_run_end end = {.run = o, .options = &options, .card = &launch->gpu->card};
    struct plm_error error, why = {0};
    const bool many = o->gpu && strchr(o->gpu, ',');
    char retried[PLM_RETRY_TEXT];
    struct plm_job *job;
    int n, kept, result;

    options.card = cards;
    if (plm_cli_report_time_read(&time, launch->record, &job, &error) < 0)
        return plm_fault(&error);
    if (job->summary.missing.why[0]) {
        const struct plm_record_missing missing = job->summary.missing;
        plm_cli_report_time_free(&time);
        plm_job_free(job);
        return plm_complain_of(PLM_EXIT_CANNOT, "%s: the record is incomplete and was not kept; %s", missing.why,
                               missing.help);
    }
    n = plm_cards_choose(catalogue, many ? o->gpu : NULL, launch->gpu->card.id, cards, &error);
    options.cards = n > 0 ? n : 0;
    options.asked = o->gpu ? plm_cards_asked(&options, many ? NULL : launch->gpu->card.id) : 0;
    options.full = o->full;
    end.job = job;
    end.works = time.launched ? &time.works : NULL;
    plm_retry_tell(again, &launch->gpu->card, launch->usable, retried);
    end.result = judge_command(command_status, job, o, retried, &why);
    if (!job->lanes && !end.result)
        end.result = judge_silence(&job->summary, o->command, &why);
    if (!end.result)
        end.result = judge_rank(o, &job->summary, &why);
    end.why = why.text;
    if (job->lanes)
        plm_cli_report_time_make(&time, many ? cards : &launch->gpu->card, many ? (size_t)options.cards : 1,
                                 launch->install, true, &options);
    if (job->lanes)
        ranks_doubt(o, &job->summary);
    kept = record_settle(o, &end, record, &options);
    result = show(&end, context);
    plm_cli_report_time_free(&time);
    plm_job_free(job);
    return result ? result : kept;
}

static void note_end(struct plm_pen *pen, int status, const struct timespec *start)
{
    struct timespec end;
    char value[32];
    clock_gettime(CLOCK_MONOTONIC, &end);
    snprintf(value, sizeof value, "%d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    plm_pen_setting(pen, "exit", value);
    snprintf(value, sizeof value, "%.3f",
             (double)(end.tv_sec - start->tv_sec) + 1e-9 * (double)(end.tv_nsec - start->tv_nsec));
    plm_pen_setting(pen, "seconds", value);
}

/* Runs the command to its end: as a rank of a world, or as it is. */
static int command_run(struct plm_pen *pen, struct plm_record_header *header, const struct plm_cli_launch *launch,
                       const struct plm_cli_world_request *world, struct plm_forks *forks, struct plm_cli_rank_end *end,
                       struct plm_error *error)
{
    pid_t child;
    if (world)
        return plm_cli_world_run(pen, header, launch, world, end, error);
    child = forks ? plm_forks_start(forks, launch, &end->failure) : plm_cli_launch_start(launch, &end->failure);
    if (child < 0)
        return PLM_ENOTFOUND;
    end->status = plm_await_job(child, header, launch->steps);
    return 0;
}

/* ---- the other end ----
 *
 * Some results decide how large the next tensors are, and no kernel computed them. The first run read them
 * as empty; a second one assumes the other extreme. What it needed goes into the first run's record, as a setting "other-end"
 * and an event OTHER_END of each device.
 */

static void other_end_write(struct plm_pen *pen, const struct plm_summary *s)
{
    plm_pen_setting(pen, "other-end", "all=true,keep=1,route=one");
    for (int i = 0; i < s->devices; i++) {
        const struct plm_summary_device *d = &s->device[i];
        plm_pen_other_end(pen, d->device,
                          &(struct plm_ev_other_end){.rank = (uint32_t)d->rank,
                                                     .allocated = d->allocated_peak.bytes,
                                                     .reserved = d->reserved_peak});
    }
}

static bool run_other_end(struct plm_pen *pen, const struct plm_cli_launch *first,
                          const struct plm_cli_world_request *world, int command_status)
{
    const struct plm_output_rule rule = {.record = true, .force = true};
    struct plm_cli_launch launch = *first;
    struct plm_output output;
    struct plm_record_file file;
    struct plm_summary s;
    struct plm_cli_rank_end end = {0};
    bool done;

    if (plm_output_open(&output, first->record, &rule, NULL) < 0)
        return false;
    if (plm_record_create(output.temporary, true, &file, NULL) < 0) {
        plm_output_drop(&output);
        return false;
    }
    launch.record = output.temporary;
    launch.silent = true; /* its output was seen once already, and its input is used up */
    launch.assume = (struct plm_cli_assume){true, 1, PLM_ROUTE_ONE};
    done = command_run(pen, file.header, &launch, world, NULL, &end, NULL) == 0;
    plm_record_close(&file);
    done = done && WIFEXITED(end.status) == WIFEXITED(command_status) &&
           WEXITSTATUS(end.status) == WEXITSTATUS(command_status) && plm_summary_read(launch.record, &s, NULL) == 0;
    if (done) {
        other_end_write(pen, &s);
        plm_summary_free(&s);
    } else
        plm_pen_setting(pen, "other-end", "failed");
    plm_output_drop(&output);
    return done;
}

/* What the first run came to, before a second one begins that may take as long. */
static void tell_first(const struct plm_summary *s)
{
    uint64_t allocated = 0, reserved = 0;
    char first[32], second[32];
    for (int i = 0; i < s->devices; i++) {
        allocated = s->device[i].allocated_peak.bytes > allocated ? s->device[i].allocated_peak.bytes : allocated;
        reserved = s->device[i].reserved_peak > reserved ? s->device[i].reserved_peak : reserved;
    }
    fprintf(stderr,
            "plimsoll: %s allocated, %s reserved at the peak; some tensor sizes depend on unknown data: running again "
            "with the other end assumed\n",
            plm_size_text(first, sizeof first, allocated), plm_size_text(second, sizeof second, reserved));
}

/* Where values that nobody computed decided the size of tensors, both ends are run, if the user wants that: a command may
   have effects that nobody wants twice. One that did not end well is not begun again. */
static void look_at_other_end(struct plm_pen *pen, const struct plm_run *o, const struct plm_cli_launch *launch,
                              const struct plm_cli_world_request *world, int status)
{
    struct plm_summary s;
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    bool deciding;
    if (!o->both_ends || o->assume || !ended || plm_summary_read(launch->record, &s, NULL) < 0)
        return;
    deciding = plm_deciding_readbacks(&s) > 0 ||
               (plm_summary_has_note(&s, "choice-decides") && plm_summary_has_note(&s, "choices-assumed"));
    if (deciding)
        tell_first(&s);
    plm_summary_free(&s);
    if (deciding && !run_other_end(pen, launch, world, status))
        fputs("plimsoll: the second run did not end like the first; the range is unknown\n", stderr);
}

/* ---- the run ---- */

static int run_job(struct plm_run *o, const struct plm_cli_launch *launch, const struct plm_cli_world_request *world,
                   struct plm_catalogue *catalogue, const struct plm_stack_entry *stack, struct plm_output *record,
                   plm_run_show *show, void *context)
{
    struct plm_record_file file;
    struct plm_writer writer;
    struct plm_pen pen = {.writer = &writer};
    struct plm_error error;
    struct timespec start;
    struct plm_cli_rank_end end = {0};
    struct plm_retry_end again = {0};
    int ran;

    if (plm_record_create(launch->record, true, &file, &error) < 0)
        return plm_fault(&error);
    plm_writer_open(&writer, launch->record); /* where it fails, the record tells less */
    run_describe(&pen, o, launch->gpu, stack, launch->topology, o->command);
    if (world)
        plm_cli_rank_describe(&pen, &world->rank);
    plm_child_forward_signals();
    clock_gettime(CLOCK_MONOTONIC, &start);
    ran = command_run(&pen, file.header, launch, world, o->forks, &end, &error);
    if (ran == 0) {
        note_end(&pen, end.status, &start);
        look_at_other_end(&pen, o, launch, world, end.status);
        if (!world)
            again = plm_retry(&pen, o, launch->record, end.status);
    }
    plm_pen_close(&pen);
    plm_writer_close(&writer);
    plm_record_close(&file);
    if (ran == PLM_EINVAL) /* a rank made no step */
        return plm_complain(PLM_EXIT_NOTHING, error.text);
    if (ran == PLM_EIO || ran == PLM_EFORMAT)
        return plm_fault(&error);
    if (ran < 0)
        return plm_could_not_start(launch->command, end.failure);
    return run_report(o, launch, catalogue, record, end.status, &again, show, context);
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, words[i]))
            return true;
    return false;
}

static int run_check(struct plm_run *o, struct plm_cli_assume *assume)
{
    static const char *const workspaces[] = {"auto", "model", "none"};
    const char *workspace = getenv("PLIMSOLL_CONV_WORKSPACE");
    struct plm_error error;
    int launched;
    if (workspace && !is_one_of(workspace, workspaces, 3))
        return plm_complain(PLM_EXIT_USAGE, "PLIMSOLL_CONV_WORKSPACE is auto, model or none");
    if (o->assume && plm_cli_assume_parse(o->assume, assume, &error) < 0)
        return plm_fault(&error);
    launched = plm_cli_rank_wanted(&o->world) ? 0 : plm_launcher_gpus(o->command, GPUS_MOST);
    if (plm_cli_rank_wanted(&o->world) && o->gpus && !o->world.per_node && !o->world.nodes)
        o->world.per_node = o->gpus;
    if (!o->gpus)
        o->gpus = launched > gpus_visible() ? launched : gpus_visible();
    if (o->until_exit)
        o->steps = 0;
    return PLM_EXIT_OK;
}

#define RUN(field) offsetof(struct plm_run, field)
const struct plm_option plm_run_options[] = {
    {"gpu", 0, PLM_OPTION_TEXT, RUN(gpu), "NAME,...",
     .help = "GPU to simulate (default " PLM_RUN_CARD "), and others to judge", .complete = PLM_COMPLETE_CARDS,
     .configurable = true},
    {"gpus", 0, PLM_OPTION_NUMBER, RUN(gpus), "N",
     .help = "number of GPUs (default: as the launcher's line, or CUDA_VISIBLE_DEVICES)", .least = 1, .most = GPUS_MOST,
     .configurable = true, .rare = true},
    {"steps", 0, PLM_OPTION_NUMBER, RUN(steps), "N",
     .help = "stop after N steps (default: once memory repeats, 3 to 10)", .least = 1,
     .instead = "--until-exit lets the command run until it exits", .configurable = true},
    {"until-exit", 0, PLM_OPTION_FLAG, RUN(until_exit), .help = "let the command run until it exits"},
    {"detail", 0, PLM_OPTION_CHOICE, RUN(detail), "LEVEL",
     .help = "what to record besides memory: full (default), low or off", .among = "full low off", .configurable = true,
     .rare = true},
    {"assume", 0, PLM_OPTION_TEXT, RUN(assume), "WHAT",
     .help = "assumptions about unknown values: all=true, keep=0.5, route=one",
     .among = "all=true all=false keep=0 keep=1 route=balanced route=one route=none", .configurable = true,
     .rare = true},
    {"both-ends", 0, PLM_OPTION_FLAG, RUN(both_ends), .help = "run again assuming the largest data-dependent sizes",
     .configurable = true, .rare = true},
    {"stack", 0, PLM_OPTION_TEXT, RUN(stack), "NAME", .help = "the stack file for library memory (default auto)",
     .complete = PLM_COMPLETE_STACK, .among = "auto none", .configurable = true},
    {"topology", 0, PLM_OPTION_TEXT, RUN(topology), "NAME",
     .help = "GPU interconnect, for NCCL's memory (default by card)", .among = "auto", .configurable = true,
     .rare = true},
    {"bounded", 0, PLM_OPTION_FLAG, RUN(bounded), .help = "limit memory to the GPU's: PyTorch raises OutOfMemoryError",
     .configurable = true},
    {"output", 'o', PLM_OPTION_TEXT, RUN(output), "FILE",
     .help = "the job record (default plimsoll-<script>.<pid>.plm)", .complete = PLM_COMPLETE_FILE, .among = "plm"},
    {.include = plm_cli_option_force, .at = RUN(force)},
    {.include = plm_cli_option_json_file, .at = RUN(json)},
    {"no-argv", 0, PLM_OPTION_FLAG, RUN(no_argv), .help = "leave the command's arguments out of the record",
     .configurable = true, .guard = true, .rare = true},
    {"no-stacks", 0, PLM_OPTION_FLAG, RUN(no_stacks),
     .help = "do not record the source lines of allocations (report --by line)", .configurable = true, .guard = true,
     .rare = true},
    {.include = plm_cli_option_strict, .at = RUN(strict)},
    {.include = plm_cli_option_allow_tight, .at = RUN(allow_tight)},
    {"keep", 0, PLM_OPTION_FLAG, RUN(keep), .help = NULL},
    {.include = plm_cli_option_world, .at = RUN(world)},
    {.include = plm_cli_option_look, .at = RUN(look)},
    {0},
};

/* Paths that the command, in whatever folder it works, can use. */
static int run_with_paths(struct plm_run *o, const struct plm_cli_launch *given,
                          const struct plm_cli_world_request *world, struct plm_catalogue *catalogue,
                          const struct plm_stack_entry *stack, plm_run_show *show, void *context)
{
    struct plm_cli_launch launch = *given;
    struct plm_output output = {.fd = -1};
    struct plm_output_rule rule = {.force = o->force, .words = o->command};
    struct plm_error error;
    char name[128], record[PATH_MAX], stack_path[PATH_MAX];
    int status;
    if (!o->output) {
        plm_cli_job_name(name, sizeof name, launch.command);
        snprintf(o->default_output, sizeof o->default_output, "plimsoll-%s.%d.plm", name, (int)getpid());
        o->output = o->default_output;
    }
    rule.input[0] = o->output;
    rule.input[1] = o->json;
    rule.input[2] = stack ? stack->path : NULL;
    if (o->json && plm_output_check(o->json, &rule, &error) < 0)
        return plm_fault(&error);
    rule.record = true;
    if (plm_output_open(&output, o->output, &rule, &error) < 0)
        return plm_fault(&error);
    if (plm_absolute(record, sizeof record, output.temporary) ||
        (stack && plm_absolute(stack_path, sizeof stack_path, stack->path))) {
        plm_output_drop(&output);
        return plm_complain(PLM_EXIT_CANNOT, "the path of the record or of the stack file is too long");
    }
    launch.record = record;
    launch.stack = stack ? stack_path : NULL;
    launch.context = stack ? plm_cli_stack_context(stack) : 0;
    launch.usable = stack ? plm_cli_stack_limit(stack, &launch.gpu->card) : 0;
    status = run_job(o, &launch, world, catalogue, stack, &output, show, context);
    plm_output_drop(&output); /* where it was not kept */
    return status;
}

int plm_run_command(struct plm_run *o, char **command, plm_run_show *show, void *context)
{
    const struct plm_catalogue_entry *gpu = NULL;
    const struct plm_stack_entry *stack = NULL;
    struct plm_catalogue catalogue;
    const struct plm_topology_entry *topology = NULL;
    struct plm_stack_list stacks = {0};
    struct plm_topology_list topologies = {0};
    struct plm_install install;
    struct plm_cli_launch launch = {.install = &install, .assume = PLM_ASSUME_NOTHING};
    struct plm_warm warm = {0};
    struct plm_cli_world_request world = {.warm = o->warm ? o->warm : &warm};
    struct plm_error error;
    int status;
    o->command = command;
    status = run_check(o, &launch.assume);
    if (status)
        return status;
    if (plm_cli_rank_wanted(&o->world) && plm_cli_world_choose(&o->world, o->world.world, command, &world, &error) < 0)
        return plm_fault(&error);
    if (world.rank.as.world)
        o->gpus = (int)world.rank.as.per_node;
    if (plm_install_find(&install, &error) < 0)
        return plm_fault(&error);
    status = plm_catalogue_load(&catalogue, &install, &error);
    if (status == 0)
        status = plm_cards_first(&catalogue, o->gpu ? o->gpu : PLM_RUN_CARD, &gpu, &error);
    if (status == 0)
        status = plm_cli_stack_choose(&stacks, &install, o->stack, &gpu->card, &stack, &error);
    if (status == 0)
        status = plm_topology_list_load(&topologies, &install, &error);
    if (status == 0)
        status = plm_topology_choose(&topologies, o->topology, &gpu->card, &topology, &error);
    if (status < 0)
        return plm_fault(&error);
    launch.gpu = gpu;
    launch.gpus = o->gpus;
    launch.steps = o->steps;
    launch.bounded = o->bounded;
    launch.topology = topology;
    launch.detail = o->detail;
    launch.stacks = !o->no_stacks && !strcmp(o->detail, "full");
    launch.command = plm_cli_rank_command(&world.rank, command);
    launch.aside = plm_run_quiet(o);
    status = run_with_paths(o, &launch, world.rank.as.world ? &world : NULL, &catalogue, stack, show, context);
    plm_warm_stop(&warm);
    plm_cli_rank_free(&world.rank);
    plm_stack_list_free(&stacks);
    plm_topology_list_free(&topologies);
    plm_catalogue_free(&catalogue);
    return status;
}

static const struct plm_option run_options[] = {
    {.include = plm_run_options},
    {"no-retry", 0, PLM_OPTION_FLAG, RUN(no_retry),
     .help = "after --bounded ran out of memory, do not run again to see the need", .configurable = true, .rare = true},
    {"full", 0, PLM_OPTION_FLAG, RUN(full), .help = "show the whole report, not one screen of it", .rare = true},
    {0},
};

static int run_run(int argc, char **argv)
{
    struct plm_run o = PLM_RUN;
    struct plm_error error;
    int rest;
    if (plm_options_parse(run_options, &o, "run", argc, argv, &rest, &error) < 0)
        return plm_fault(&error);
    if (rest == argc)
        return plm_complain(PLM_EXIT_USAGE, "no command given; write `plimsoll run -- python train.py`");
    o.retry = !o.no_retry;
    if (plm_cli_world_sizes_wanted(&o))
        return plm_cli_world_sizes_run(&o, argv + rest);
    return plm_run_command(&o, argv + rest, show_report, NULL);
}

const struct plm_command plm_command_run = {
    .name = "run",
    .line = "run a command on the virtual GPU and report its peak memory",
    .words = "-- COMMAND...",
    .options = run_options,
    .example = {"plimsoll run -- python train.py --batch 64",
                "plimsoll run --gpu a100-40gb:1g.5gb --bounded -- python train.py",
                "plimsoll run --json=report.json -- torchrun --nproc-per-node 2 train.py"},
    .exit = {{PLM_EXIT_OK, "the command succeeded, or was stopped after its steps, and fits the card of --gpu"},
             {PLM_EXIT_NO_FIT, "does not fit"},
             {PLM_EXIT_UNTRUSTED, "confidence not high (--strict)"},
             {PLM_EXIT_TIGHT, "tight on the GPU"},
             {PLM_EXIT_NOTHING, "no GPU used, or no step made without --until-exit"}},
    .run = run_run,
};
