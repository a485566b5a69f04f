#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/error.h"
#include "base/memory.h"
#include "cli/estimate.h"
#include "study/estimate/method.h"

enum { LEADING = 12 };

/* How each part comes about. A description is in every trace, so it is made alone only where no trace is wanted. */
static const struct way {
    enum plm_evidence_part part, instead;
    const char *file, *what;
    const char *word[LEADING];
} ways[PLM_ESTIMATE_CAPTURES] = {
    {PLM_NEEDS_JOB, 0, "job.plm", "the run on the virtual GPU", {"plimsoll", "run", "--detail", "low", "-f", "-o"}},
    {PLM_NEEDS_TRACE, 0, "trace.json", "the trace", {"plimsoll", "trace", "--no-compute", "-f", "-o"}},
    {PLM_NEEDS_DESCRIPTION,
     PLM_NEEDS_TRACE,
     "description.json",
     "the description",
     {"plimsoll", "describe", "-f", "-o"}},
};

static pid_t capture_start(const struct way *way, const char *path, const char *log, const char *gpu, char **command,
                           int *failure)
{
    size_t words = 0, n = 0;
    const char **all;
    pid_t pid;
    while (command[words])
        words++;
    all = plm_calloc(LEADING + words + 8, sizeof *all);
    for (int i = 0; i < LEADING && way->word[i]; i++)
        all[n++] = way->word[i];
    all[n++] = path;
    if (gpu && way->part == PLM_NEEDS_JOB) {
        all[n++] = "--gpu";
        all[n++] = gpu;
    }
    all[n++] = "--";
    for (size_t i = 0; i < words; i++)
        all[n++] = command[i];
    pid = plm_child_start(&(struct plm_child){.words = all, .self = true, .log = log}, failure);
    free(all);
    return pid;
}

/* Progress is one line on a terminal, and gone afterwards. */
static void capture_tell(const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%s%s", what ? "plimsoll: making " : "", what ? what : "", what ? " ..." : "");
}

static int capture_make(const struct way *way, const char *gpu, char **command, struct plm_estimate_captures *c, int at,
                        struct plm_error *error)
{
    char folder[PLM_SCRATCH], log[PLM_SCRATCH + 8], line[PLM_LAST_LINE];
    int status, failure;
    pid_t pid;
    memcpy(folder, c->folder, sizeof folder);
    snprintf(c->path[at], sizeof c->path[at], "%s/%s", folder, way->file);
    snprintf(log, sizeof log, "%s/log", folder);
    capture_tell(way->what);
    pid = capture_start(way, c->path[at], log, gpu, command, &failure);
    if (pid < 0)
        return plm_fail(error, PLM_EIO, "cannot start a process: %s", strerror(failure));
    status = plm_child_wait(pid, NULL, NULL);
    capture_tell(NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && access(c->path[at], R_OK) == 0) {
        c->file[c->files++] = c->path[at];
        return 0;
    }
    plm_child_last_line(fopen(log, "re"), true, line);
    snprintf(c->why[at], sizeof c->why[at], "%s failed: %s", way->what, line[0] ? line : "it said nothing");
    return 0;
}

int plm_estimate_capture(unsigned needs, const char *gpu, char **command, struct plm_estimate_captures *c,
                         struct plm_error *error)
{
    int status = 0;
    const char *why = "";
    *c = (struct plm_estimate_captures){0};
    status = plm_scratch_make("estimate", c->folder, error);
    if (status)
        return status;
    for (int i = 0; i < PLM_ESTIMATE_CAPTURES && status == 0; i++)
        if ((needs & ways[i].part) && !(needs & ways[i].instead))
            status = capture_make(&ways[i], gpu, command, c, i, error);
    for (int i = 0; i < PLM_ESTIMATE_CAPTURES; i++)
        why = c->why[i][0] ? c->why[i] : why;
    if (status == 0 && !c->files && *why)
        status = plm_fail(error, PLM_EINVAL, "%s", why);
    return status;
}

void plm_estimate_forget(struct plm_estimate_captures *c)
{
    plm_scratch_remove(c->folder);
}
