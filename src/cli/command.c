#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/child.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/words.h"
#include "cli/cli.h"
#include "record/format.h"

void plm_job_name(char *out, size_t size, char **command)
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

/* A script that is not a program of its own was meant for Python. */
int plm_could_not_start(char **command, int failure)
{
    const size_t n = strlen(command[0]);
    const bool python = n > 3 && !strcmp(command[0] + n - 3, ".py") && access(command[0], R_OK) == 0;
    size_t count = 0;
    char *words, *sentence;
    int status;
    while (command[count])
        count++;
    words = plm_words_quote((const char *const *)command, count);
    sentence = plm_asprintf("cannot start %.200s: %s%s%s%s", command[0], strerror(failure),
                            python ? "; write `-- python " : "", python ? words : "", python ? "`" : "");
    status = plm_complain(failure == ENOENT ? PLM_EXIT_NOT_FOUND : PLM_EXIT_NOT_RUNNABLE, sentence);
    free(sentence);
    free(words);
    return status;
}

int plm_not_written(const struct plm_error *error)
{
    return plm_complain(error->code == PLM_EINVAL ? PLM_EXIT_USAGE : PLM_EXIT_CANNOT, error->text);
}

int plm_scratch_make(const char *purpose, char folder[PLM_SCRATCH], struct plm_error *error)
{
    const char *given = getenv("TMPDIR"), *place = given && *given ? given : "/tmp";
    int n = snprintf(folder, PLM_SCRATCH, "%s/plimsoll-%s-XXXXXX", place, purpose);
    const bool fits = n > 0 && n < PLM_SCRATCH;
    if (fits && mkdtemp(folder))
        return 0;
    folder[0] = '\0';
    return plm_fail(error, PLM_EIO, "cannot make a folder in %.200s: %s", place,
                    fits ? strerror(errno) : "the path is too long");
}

void plm_scratch_remove(char folder[PLM_SCRATCH])
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *open = folder[0] ? opendir(folder) : NULL;
    if (!open)
        return;
    while ((entry = readdir(open)))
        if (entry->d_name[0] != '.') {
            int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            if (n > 0 && (size_t)n < sizeof path)
                unlink(path);
        }
    closedir(open);
    rmdir(folder);
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
    unsigned tick;
    int rows;
};

static int rows_of(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
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
    p->rows = rows_of();
    if (!isatty(STDERR_FILENO) || p->rows < ROWS_LEAST || (term && !strcmp(term, "dumb")))
        return false;
    reserve_row(p->rows);
    return true;
}

/* Largest step, sums over the processes that use the GPU. */
void plm_progress_of_record(char *out, size_t size, void *context)
{
    struct plm_record_header *header = context;
    uint64_t launches = 0, now = 0, peak = 0;
    unsigned step = 0, processes = header->processes;
    char a[32], b[32];

    if (processes > PLM_RECORD_SLOTS)
        processes = PLM_RECORD_SLOTS;
    for (unsigned i = 0; i < processes; i++) {
        struct plm_live *live = &header->live[i];
        launches += live->launches;
        now += live->allocated;
        peak += live->allocated_peak;
        step = live->step > step ? live->step : step;
    }
    if (!launches)
        snprintf(out, size, "starting");
    else
        snprintf(out, size, "step %u, %llu launches, %s now, %s peak", step + 1, (unsigned long long)launches,
                 plm_size_text(a, sizeof a, now), plm_size_text(b, sizeof b, peak));
}

static void progress_show(void *context)
{
    static const char *const wheel[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    struct progress *p = context;
    const int rows = rows_of();
    char text[128];
    if (rows != p->rows && rows >= ROWS_LEAST) { /* the window was resized */
        p->rows = rows;
        reserve_row(rows);
    }
    p->text(text, sizeof text, p->context);
    fprintf(stderr, "\0337\033[%d;1H\033[K%s plimsoll: %s\0338", p->rows, wheel[p->tick++ % 10], text);
    fflush(stderr);
}

int plm_await(pid_t child, plm_progress_text *text, void *context)
{
    struct progress p = {.text = text, .context = context};
    const bool shown = progress_start(&p);
    const int status = plm_child_wait(child, shown ? progress_show : NULL, &p);
    if (shown)
        fprintf(stderr, "\0337\033[r\033[%d;1H\033[K\0338", p.rows);
    return status;
}
