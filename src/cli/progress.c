#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "record/format.h"

/*
 * The command writes to the same terminal whenever it likes. So the line stands in the last row, and
 * that row is taken out of the terminal's scrolling region while the command runs.
 */

enum { ROWS_LEAST = 6 };

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

void plm_progress_start(struct plm_progress *p)
{
    const char *term = getenv("TERM");
    p->rows = rows_of();
    p->active = isatty(STDERR_FILENO) && p->rows >= ROWS_LEAST && !(term && !strcmp(term, "dumb"));
    p->tick = 0;
    if (p->active)
        reserve_row(p->rows);
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

void plm_progress_show(struct plm_progress *p, plm_progress_text *describe, void *context)
{
    static const char *const wheel[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    char text[128];
    int rows;

    if (!p->active)
        return;
    rows = rows_of();
    if (rows != p->rows && rows >= ROWS_LEAST) { /* the window was resized */
        p->rows = rows;
        reserve_row(rows);
    }
    describe(text, sizeof text, context);
    fprintf(stderr, "\0337\033[%d;1H\033[K%s plimsoll: %s\0338", p->rows, wheel[p->tick++ % 10], text);
    fflush(stderr);
}

void plm_progress_stop(struct plm_progress *p)
{
    if (p->active)
        fprintf(stderr, "\0337\033[r\033[%d;1H\033[K\0338", p->rows);
    p->active = false;
}
