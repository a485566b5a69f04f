#include "cli/retry.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/job.h"
#include "base/child.h"
#include "common/card.h"
#include "common/error.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "fit/fit.h"
#include "record/pen.h"

struct retry {
    struct plm_run run;
    struct plm_retry_end *end; /* shared with the child */
    char folder[PLM_SCRATCH], record[PLM_SCRATCH + 16], log[PLM_SCRATCH + 16];
};

/* In place of the report. */
static int need_find(const struct plm_run_end *end, void *context)
{
    struct retry *r = context;
    const struct plm_fit_known known = plm_fit_known(end->job);
    struct plm_error error;
    struct plm_fit fit;
    struct plm_need need = {0};
    int status;
    if (known.what != PLM_KNOWN_PEAK) {
        snprintf(r->end->why, sizeof r->end->why, "%s", known.why);
        return PLM_EXIT_NOTHING;
    }
    status = plm_fit_open(end->job, &fit, &error);
    if (status == 0) {
        status = plm_fit_need(&fit, &fit.settings, &need, &error);
        plm_fit_close(&fit);
    }
    if (status < 0)
        snprintf(r->end->why, sizeof r->end->why, "%s", error.text);
    r->end->need = need.need;
    return status < 0 ? PLM_EXIT_NOTHING : PLM_EXIT_OK;
}

static int retry_body(void *context)
{
    struct retry *r = context;
    const int status = plm_run_command(&r->run, r->run.command, need_find, r);
    fflush(NULL);
    return status;
}

static void progress_text(struct plm_progress_line *line, void *context)
{
    (void)context;
    snprintf(line->what, sizeof line->what, "out of memory; running again without the limit");
}

static bool retry_make(struct retry *r, const struct plm_run *first)
{
    struct plm_error error;
    if (plm_scratch_make("retry", r->folder, &error) < 0)
        return false;
    snprintf(r->record, sizeof r->record, "%s/job.plm", r->folder);
    snprintf(r->log, sizeof r->log, "%s/log", r->folder);
    r->run = *first;
    r->run.bounded = r->run.retry = r->run.both_ends = false;
    r->run.force = r->run.keep = r->run.no_stacks = true;
    r->run.output = r->record;
    r->run.json = NULL;
    return true;
}

/* Why there is no figure, if nothing has said it yet. */
static void failure_find(const struct retry *r, int status)
{
    char line[PLM_LAST_LINE];
    if (plm_child_interrupted()) {
        snprintf(r->end->why, sizeof r->end->why, "it was interrupted");
        return;
    }
    plm_child_last_line(fopen(r->log, "re"), true, line);
    if (line[0])
        snprintf(r->end->why, sizeof r->end->why, "%s", line);
    else if (!r->end->why[0])
        snprintf(r->end->why, sizeof r->end->why, "it ended with status %d",
                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void retry_run(struct retry *r)
{
    const struct plm_child child = {.body = retry_body, .context = r, .log = r->log};
    int failure, status;
    const pid_t pid = plm_child_start(&child, &failure);
    if (pid < 0) {
        snprintf(r->end->why, sizeof r->end->why, "%s", strerror(failure));
        return;
    }
    status = plm_await(pid, progress_text, NULL);
    if (!r->end->need)
        failure_find(r, status);
}

/* What came over standard input is used up; a terminal, or nothing, does not give more the second time. */
static bool input_is_free(void)
{
    struct stat input, null;
    if (fstat(STDIN_FILENO, &input) || isatty(STDIN_FILENO))
        return true;
    return stat("/dev/null", &null) == 0 && S_ISCHR(input.st_mode) && input.st_rdev == null.st_rdev;
}

/* It failed by itself after it had run out of memory. */
static bool ran_out(const char *record, int status)
{
    struct plm_summary s;
    bool full = false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 0 || plm_child_interrupted() ||
        plm_summary_read(record, &s, NULL) < 0)
        return false;
    for (int i = 0; i < s.devices; i++)
        full |= s.device[i].out_of_memory;
    plm_summary_free(&s);
    return full;
}

struct plm_retry_end plm_retry(struct plm_pen *pen, const struct plm_run *run, const char *record, int status)
{
    struct plm_retry_end end = {0};
    struct retry r;
    char need[32];
    if (!run->retry || !run->bounded || !input_is_free() || !ran_out(record, status) || !retry_make(&r, run))
        return end;
    r.end = mmap(NULL, sizeof *r.end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r.end != MAP_FAILED) {
        retry_run(&r);
        end = *r.end;
        munmap(r.end, sizeof *r.end);
    }
    plm_scratch_remove(r.folder);
    snprintf(need, sizeof need, "%llu", (unsigned long long)end.need);
    if (end.need)
        plm_pen_setting(pen, "unbounded-need", need);
    return end;
}

void plm_retry_tell(const struct plm_retry_end *end, const struct plm_card *card, uint64_t measured,
                    char out[PLM_RETRY_TEXT])
{
    const uint64_t usable = measured ? measured : card->memory_usable;
    char need[32], more[32];
    plm_size_text(need, sizeof need, end->need);
    plm_size_text(more, sizeof more, end->need - usable);
    out[0] = '\0';
    if (end->need > usable)
        snprintf(out, PLM_RETRY_TEXT,
                 "; it needs %s, %s more than this card has; `plimsoll sweep -P NAME=1..N --largest NAME` finds the "
                 "largest value that fits",
                 need, more);
    else if (end->need)
        snprintf(out, PLM_RETRY_TEXT, "; without the limit it needs %s", need);
    else if (end->why[0])
        snprintf(out, PLM_RETRY_TEXT, "; a run without the limit did not tell how much it needs: %s", end->why);
}
