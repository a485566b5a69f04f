#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/temporary.h"
#include "base/units.h"
#include "base/words.h"
#include "cli/cli.h"
#include "cli/awaited.h"
#include "cli/silent.h"
#include "cli/waiting.h"
#include "record/format.h"

void plm_cli_job_name(char *out, size_t size, char **command)
{
    const char *name = command[0] ? command[0] : "", *slash;
    for (char **word = command; *word; word++) {
        size_t n = strlen(*word);
        if (n > 3 && !strcmp(*word + n - 3, ".py")) {
            name = *word;
            break;
        }
    }
    slash = strrchr(name, '/');
    snprintf(out, size, "%.100s", slash ? slash + 1 : name);
    if (strlen(out) > 3 && !strcmp(out + strlen(out) - 3, ".py"))
        out[strlen(out) - 3] = '\0';
    for (char *c = out; *c; c++)
        if (iscntrl((unsigned char)*c)) /* files are named after it */
            *c = '_';
}

int plm_absolute(char *out, size_t size, const char *path)
{
    char folder[PATH_MAX];
    int n;
    if (path[0] == '/')
        n = snprintf(out, size, "%s", path);
    else
        n = getcwd(folder, sizeof folder) ? snprintf(out, size, "%s/%s", folder, path) : -1;
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

void plm_prepend(const char *name, const char *value)
{
    const char *old = getenv(name);
    char *joined = old && *old ? plm_asprintf("%s:%s", value, old) : plm_strdup(value);
    setenv(name, joined, 1);
    free(joined);
}

bool plm_is_program(const char *word)
{
    char path[PATH_MAX];
    const char *list = *word ? getenv("PATH") : NULL;
    if (strchr(word, '/'))
        return access(word, X_OK) == 0;
    for (size_t n; list && *list; list += n + (list[n] == ':')) {
        n = strcspn(list, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)n, list, word);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

const char *plm_cli_python(void)
{
    return !plm_is_program("python") && plm_is_program("python3") ? "python3" : "python";
}

/* A script that is not a program of its own was meant for Python or a shell; a record was meant for report. What is to
   be written before the words; *skip: how many of them it takes the place of. NULL: nobody knows. */
static const char *start_instead(char **command, size_t *skip)
{
    const char *word = command[0], *dot = strrchr(word, '.');
    const bool python3 = !strcmp(plm_cli_python(), "python3");
    *skip = !strcmp(word, "python");
    if (*skip)
        return python3 ? "-- python3 " : NULL;
    if (!dot || dot == word || access(word, R_OK) != 0)
        return NULL;
    return !strcmp(dot, ".py")    ? python3 ? "-- python3 " : "-- python "
           : !strcmp(dot, ".sh")  ? "-- bash "
           : !strcmp(dot, ".plm") ? "plimsoll report "
                                  : NULL;
}

int plm_could_not_start(char **command, int failure)
{
    size_t count = 0, skip;
    const char *before = start_instead(command, &skip);
    char *words, *sentence;
    int status;
    while (command[count])
        count++;
    words = plm_words_quote((const char *const *)command + skip, count - skip);
    sentence = plm_asprintf("cannot start %.200s: %s%s%s%s%s", command[0], strerror(failure), before ? "; write `" : "",
                            before ? before : "", before ? words : "", before ? "`" : "");
    status = plm_complain(failure == ENOENT ? PLM_EXIT_NOT_FOUND : PLM_EXIT_NOT_RUNNABLE, sentence);
    free(sentence);
    free(words);
    return status;
}

int plm_scratch_make(const char *purpose, char folder[PLM_SCRATCH], struct plm_error *error)
{
    const char *given = getenv("TMPDIR"), *place = given && *given ? given : "/tmp";
    int n = snprintf(folder, PLM_SCRATCH, "%s/plimsoll-%s-XXXXXX", place, purpose);
    const bool fits = n > 0 && n < PLM_SCRATCH;
    if (fits && plm_temporary_folder(folder) == 0)
        return 0;
    folder[0] = '\0';
    return plm_fail(error, PLM_EIO, "cannot make a folder in %.200s: %s", place,
                    fits ? strerror(errno) : "the path is too long");
}

void plm_scratch_remove(char folder[PLM_SCRATCH])
{
    if (!folder[0])
        return;
    plm_temporary_remove(folder);
    folder[0] = '\0';
}

/* ---- progress: one line on stderr while the command runs; nothing without a terminal ---- */

/*
 * The command writes to the same terminal whenever it likes. So the line stands in the last row, and
 * that row is taken out of the terminal's scrolling region while the command runs.
 */

enum { ROWS_LEAST = 6 };

struct progress {
    plm_progress_text *text;
    void *context; /* of the text */
    char what[sizeof((struct plm_progress_line *)0)->what];
    double since; /* when it began to wait for that */
    unsigned tick;
    int rows;
};

static struct winsize window(void)
{
    struct winsize size = {0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size : (struct winsize){0};
}

/* Saves the cursor, limits scrolling to the rows above the last, restores the cursor. */
static void reserve_row(int rows)
{
    fprintf(stderr, "\n\0337\033[1;%dr\0338\033[1A", rows - 1);
}

/* False if there is no terminal that it can stand on. */
static bool progress_start(struct progress *p)
{
    const char *term = getenv("TERM");
    p->rows = window().ws_row;
    if (!isatty(STDERR_FILENO) || p->rows < ROWS_LEAST || (term && !strcmp(term, "dumb")))
        return false;
    reserve_row(p->rows);
    return true;
}

/* "3": of a run that ends after as many; "3 to 10": when two are alike; "": none is known. */
static void step_text(char *out, size_t size, unsigned step, int steps)
{
    if (steps > 0 && step >= (unsigned)steps)
        snprintf(out, size, "stopping after step %u", step);
    else if (steps > 0)
        snprintf(out, size, "step %u of %d", step + 1, steps);
    else if (steps == PLM_STEPS_STEADY)
        snprintf(out, size, "step %u (stops after 3-10)", step + 1);
    else
        snprintf(out, size, "step %u", step + 1);
}

/* Largest step, sums over the processes that use the GPU. The first slot is plimsoll's own. */
void plm_progress_of_record(struct plm_progress_line *line, void *context)
{
    const struct plm_progress_record *record = context;
    struct plm_record_header *header = record->header;
    uint64_t launches = 0, now = 0, peak = 0;
    unsigned step = 0, passes = 0, processes = header->processes;
    bool imported = false;
    char a[32], b[32], count[32] = "";

    if (processes > PLM_RECORD_SLOTS)
        processes = PLM_RECORD_SLOTS;
    for (unsigned i = 0; i < processes; i++) {
        struct plm_live *live = &header->live[i];
        launches += live->launches;
        now += live->allocated;
        peak += live->allocated_peak;
        step = live->step > step ? live->step : step;
        passes = live->passes > passes ? live->passes : passes;
        imported |= live->stage >= PLM_LIVE_IMPORTED;
    }
    if (!launches) {
        snprintf(line->what, sizeof line->what, "%s",
                 processes < 2 ? "starting the command"
                 : imported    ? "waiting for the first kernel"
                               : "importing torch");
        return;
    }
    step_text(line->what, sizeof line->what, step, record->steps);
    if (!step && passes >= PLM_SILENT_EVALUATES) {
        snprintf(line->what, sizeof line->what, "evaluating");
        snprintf(count, sizeof count, "%u passes, ", passes);
    }
    snprintf(line->detail, sizeof line->detail, "%s%s now, %s peak", count, plm_size_text(a, sizeof a, now),
             plm_size_text(b, sizeof b, peak));
}

static void progress_show(void *context)
{
    static const char *const wheel[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    struct progress *p = context;
    struct plm_progress_line line = {"", ""};
    const struct winsize size = window();
    char text[256];
    if (size.ws_row != p->rows && size.ws_row >= ROWS_LEAST) { /* the window was resized */
        p->rows = size.ws_row;
        reserve_row(p->rows);
    }
    p->text(&line, p->context);
    if (strcmp(line.what, p->what) != 0) {
        memcpy(p->what, line.what, sizeof p->what);
        p->since = plm_now();
    }
    snprintf(text, sizeof text, "plimsoll: %s, %.0f s%s%s", line.what, plm_now() - p->since, line.detail[0] ? ", " : "",
             line.detail);
    /* A line that is broken in two would move what stands above it. */
    fprintf(stderr, "\0337\033[%d;1H\033[K%s %.*s\0338", p->rows, wheel[p->tick++ % 10],
            size.ws_col > 3 ? size.ws_col - 3 : (int)sizeof text, text);
    fflush(stderr);
}

static void progress_end(const struct progress *p)
{
    fprintf(stderr, "\0337\033[r\033[%d;1H\033[K\0338", p->rows);
}

int plm_await(pid_t child, plm_progress_text *text, void *context)
{
    struct progress p = {.text = text, .context = context};
    const bool shown = progress_start(&p);
    const int status = plm_child_wait(child, shown ? progress_show : NULL, &p);
    if (shown)
        progress_end(&p);
    return status;
}

/* ---- a command that writes a record ---- */

struct job {
    struct progress progress;
    bool shown;
    struct plm_waiting waiting;
    struct plm_silent silent;
    struct plm_cli_awaited *awaited;
};

static void job_look(void *context)
{
    struct job *job = context;
    if (job->shown)
        progress_show(&job->progress);
    if (job->waiting.header)
        plm_waiting_look(&job->waiting);
    if (job->silent.header)
        plm_silent_look(&job->silent);
    plm_cli_awaited_look(job->awaited);
}

static int job_wait(struct job *job, pid_t child)
{
    int status;
    job->shown = progress_start(&job->progress);
    status = plm_child_wait(child, job_look, job);
    if (job->shown)
        progress_end(&job->progress);
    return status;
}

int plm_await_rank(pid_t child, struct plm_record_header *header, int steps, struct plm_cli_awaited *awaited)
{
    struct plm_progress_record record = {header, steps};
    struct job job = {.progress = {.text = plm_progress_of_record, .context = &record}, .awaited = awaited};
    return job_wait(&job, child);
}

int plm_await_job(pid_t child, struct plm_record_header *header, int steps)
{
    struct plm_progress_record record = {header, steps};
    struct plm_cli_awaited awaited = {.header = header};
    struct job job = {
        .progress = {.text = plm_progress_of_record, .context = &record},
        .awaited = &awaited,
        .waiting = {.header = header, .command = child},
        .silent = {.header = header, .command = child, .told = !steps}}; /* --until-exit: none is awaited */
    const int status = job_wait(&job, child);
    if (!job.waiting.ended)
        return status;
    fputs("plimsoll: the command was waiting for a process that plimsoll stopped after its steps, so it was stopped "
          "too; --until-exit lets it run to its end\n",
          stderr);
    return 0;
}
