#include "study/learn/white_box.h"

#include "common/error.h"
#include "base/csv.h"
#include "fit/outcome.h"
#include "study/learn/label.h"

#define MIB     1048576.0
#define PERCENT 100

_Static_assert((int)PLM_WHITE_METRICS == (int)PLM_LABEL_METRICS, "labels have the same metrics, in the same order");
const char *const plm_white_metric[PLM_WHITE_METRICS] = {"gputl", "gract", "smact", "smocc", "fp32a"};

/* -1 for a cell that is empty or not there. */
static int cell_read(const struct plm_csv *table, size_t row, const char *name, double scale, double *value,
                     struct plm_error *error)
{
    const int column = plm_csv_column(table, name);
    int status;
    *value = -1;
    if (!*plm_csv_cell(table, row, column))
        return 0;
    status = plm_csv_real(table, row, column, value, error);
    if (status == 0 && *value < 0)
        status = plm_csv_wrong(table, row, column, "0 or more", error);
    *value *= scale;
    return status;
}

int plm_white_box_read(const struct plm_csv *table, size_t row, struct plm_white_box *box, struct plm_error *error)
{
    const struct {
        const char *column;
        double scale, *value;
    } cells[] = {
        {"allocated", 1 / MIB, &box->allocated},
        {"reserved", 1 / MIB, &box->reserved},
        {"reserved_low", 1 / MIB, &box->low},
        {"reserved_high", 1 / MIB, &box->high},
        {"step_ms", 1, &box->step},
    };
    int status = 0;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0] && status == 0; i++)
        status = cell_read(table, row, cells[i].column, cells[i].scale, cells[i].value, error);
    for (size_t i = 0; i < PLM_WHITE_METRICS && status == 0; i++)
        status = cell_read(table, row, plm_white_metric[i], PERCENT, &box->metric[i], error);
    if (box->low < 0 || box->low > box->reserved)
        box->low = box->reserved;
    if (box->high < box->reserved)
        box->high = box->reserved;
    return status;
}

static double beside(uint64_t whole, uint64_t part)
{
    return whole > part ? (double)(whole - part) / MIB : 0;
}

void plm_white_box_of(const struct plm_outcome *o, const struct plm_labels *labels, struct plm_white_box *box)
{
    const bool timed = labels && labels->step_ms > 0;
    *box = (struct plm_white_box){.allocated = (double)o->allocated / MIB,
                                  .reserved = (double)(o->reserved + o->outside) / MIB,
                                  .low = beside(o->low, o->context_low),
                                  .high = beside(o->high, o->context_high),
                                  .step = timed ? labels->step_ms : -1};
    for (size_t i = 0; i < PLM_WHITE_METRICS; i++)
        box->metric[i] = timed ? PERCENT * labels->metric[i] : -1;
    if (box->low > box->reserved)
        box->low = box->reserved;
    if (box->high < box->reserved)
        box->high = box->reserved;
}
