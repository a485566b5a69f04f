/* The peaks of each step, in as few rows as say it: steps that read alike share one. */
#include <string.h>

#include "report/overview.h"

enum { ROWS = 8, CURVE_LEAST = 12 };

struct row {
    int first, last; /* steps, from 0 */
    char allocated[32], reserved[32];
};

static void make_row(const struct plm_page *p, const struct plm_device_summary *d, int step, struct row *row)
{
    row->first = row->last = step;
    plm_page_amount(p, row->allocated, sizeof row->allocated, d->step[step].allocated_peak);
    plm_page_amount(p, row->reserved, sizeof row->reserved, d->step[step].reserved_peak);
}

/* The row that starts with a step. */
static struct row row_from(const struct plm_page *p, const struct plm_device_summary *d, int step)
{
    struct row row, next;
    make_row(p, d, step, &row);
    while (row.last + 1 < d->steps) {
        make_row(p, d, row.last + 1, &next);
        if (strcmp(row.allocated, next.allocated) || strcmp(row.reserved, next.reserved))
            break;
        row.last++;
    }
    return row;
}

static void show_row(const struct plm_page *p, const struct row *row)
{
    char steps[32];
    if (row->first == row->last)
        snprintf(steps, sizeof steps, "%d", row->first + 1);
    else
        snprintf(steps, sizeof steps, "%d-%d", row->first + 1, row->last + 1);
    fprintf(p->out, "  %-11s %14s %14s\n", steps, row->allocated, row->reserved);
}

static int largest_step(const struct plm_device_summary *d, int from, int to)
{
    int largest = from;
    for (int i = from; i < to; i++)
        if (d->step[i].allocated_peak > d->step[largest].allocated_peak)
            largest = i;
    return largest;
}

/* The course of many steps in one line. */
static void curve(const struct plm_page *p, const struct plm_device_summary *d)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint64_t top = d->step[largest_step(d, 0, d->steps)].allocated_peak;
    int columns = p->width - 4;
    if (!p->utf8 || d->steps < CURVE_LEAST || !top || columns < CURVE_LEAST)
        return;
    columns = d->steps < columns ? d->steps : columns;
    fputs("  ", p->out);
    for (int i = 0; i < columns; i++) {
        int from = (int)((int64_t)i * d->steps / columns), to = (int)((int64_t)(i + 1) * d->steps / columns);
        double part = (double)d->step[largest_step(d, from, to)].allocated_peak / (double)top;
        fputs(heights[(int)(part * 7.999)], p->out);
    }
    fputc('\n', p->out);
}

static int count_rows(const struct plm_page *p, const struct plm_device_summary *d)
{
    int rows = 0;
    for (int i = 0; i < d->steps && rows <= ROWS; rows++)
        i = row_from(p, d, i).last + 1;
    return rows;
}

void plm_overview_steps(const struct plm_page *p, const struct plm_lane *lane)
{
    const struct plm_device_summary *d = lane->summary;
    struct row row;
    if (!d->steps)
        return;
    plm_page_title(p, "Peak of each step");
    if (count_rows(p, d) > ROWS)
        curve(p, d);
    fprintf(p->out, "  %s%-11s %14s %14s%s\n", plm_ink(p, PLM_INK_DIM), "step", "allocated", "reserved",
            plm_ink(p, PLM_INK_PLAIN));
    if (count_rows(p, d) <= ROWS) {
        for (int i = 0; i < d->steps; i = row.last + 1) {
            row = row_from(p, d, i);
            show_row(p, &row);
        }
        return;
    }
    /* The first, the largest and the last ones. */
    const int largest = largest_step(d, 0, d->steps);
    const int wanted[] = {0, 1, 2, largest, d->steps - 3, d->steps - 2, d->steps - 1};
    for (int k = 0, shown = -1; k < (int)(sizeof wanted / sizeof wanted[0]); k++) {
        if (wanted[k] <= shown)
            continue;
        if (wanted[k] > shown + 1)
            fprintf(p->out, "  ...\n");
        make_row(p, d, wanted[k], &row);
        show_row(p, &row);
        shown = wanted[k];
    }
}
