#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/estimate.h"
#include "study/estimate/method.h"
#include "study/evaluate/bench.h"

enum { LEADING = 12 };

/* How each part comes about. A description is in every trace, so it is made alone only where no trace is wanted. */
static const struct way {
    enum plm_capture_part part, instead;
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

/* In the child. */
static void become(const struct way *way, const char *path, const char *log, const char *gpu, char **command)
{
    size_t words = 0, n = 0;
    const char **all;
    while (command[words])
        words++;
    all = calloc(LEADING + words + 8, sizeof *all);
    if (!all)
        _exit(126);
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
    plm_child_quiet(log);
    execv("/proc/self/exe", (char *const *)all);
    _exit(127);
}

/* What plimsoll said last, else what the command did. */
static void last_line(const char *log, char *out, size_t size)
{
    char line[1024];
    FILE *file = fopen(log, "re");
    bool own = false;
    out[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        const bool ours = !strncmp(line, "plimsoll: ", 10);
        line[strcspn(line, "\r\n")] = '\0';
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                *c = '?';
        if (*line && (ours || !own))
            snprintf(out, size, "%.180s", line + (ours ? 10 : 0));
        own |= ours;
    }
    if (file)
        fclose(file);
}

/* Progress is one line on a terminal, and gone afterwards. */
static void tell(const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%s%s", what ? "plimsoll: making " : "", what ? what : "", what ? " ..." : "");
}

static int make(const struct way *way, const char *gpu, char **command, struct plm_estimate_captures *c, int at,
                struct plm_error *error)
{
    char folder[PLM_SCRATCH], log[PLM_SCRATCH + 8], line[200];
    int status;
    pid_t pid;
    memcpy(folder, c->folder, sizeof folder);
    snprintf(c->path[at], sizeof c->path[at], "%s/%s", folder, way->file);
    snprintf(log, sizeof log, "%s/log", folder);
    tell(way->what);
    pid = fork();
    if (pid == 0)
        become(way, c->path[at], log, gpu, command);
    if (pid < 0)
        return plm_fail(error, PLM_EIO, "cannot start a process: %s", strerror(errno));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return plm_fail(error, PLM_EIO, "cannot wait for a process: %s", strerror(errno));
    tell(NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && access(c->path[at], R_OK) == 0) {
        c->file[c->files++] = c->path[at];
        return 0;
    }
    last_line(log, line, sizeof line);
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
            status = make(&ways[i], gpu, command, c, i, error);
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
