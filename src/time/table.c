#include "time/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "common/error.h"
#include "base/memory.h"
#include "time/speeds.h"

const char *plm_work_type_name(enum plm_work_type type)
{
    static const char *const names[PLM_WORK_TYPES] = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8"};
    return type < PLM_WORK_TYPES ? names[type] : "";
}

enum plm_bound plm_time_bound(const struct plm_timing *timing)
{
    int best = 0;
    for (int i = 1; i < PLM_BOUNDS; i++)
        if (timing->bound[i] > timing->bound[best])
            best = i;
    return (enum plm_bound)best;
}

bool plm_time_host_bound(const struct plm_timing *timing)
{
    return timing->host > timing->busy;
}

double plm_time_per_dollar(const struct plm_time_row *row)
{
    return row->price > 0 && row->timing.step > 0 ? 3600e9 / row->timing.step / row->price / row->gpus : 0;
}

double plm_time_hours(const struct plm_time_row *row)
{
    return row->together > 0 ? row->samples / row->together / 3600 : 0;
}

double plm_time_cost(const struct plm_time_row *row)
{
    return plm_time_hours(row) * row->price * row->gpus;
}

/* A process that told no rank is the only one: rank 0. */
const struct plm_work_lane *plm_time_lane(const struct plm_works *works, int rank)
{
    const struct plm_work_lane *best = NULL;
    if (rank < 0)
        return plm_works_main(works);
    for (size_t i = 0; i < works->lanes; i++) {
        const struct plm_work_lane *lane = &works->lane[i];
        if ((lane->rank < 0 ? 0 : lane->rank) == rank && (!best || lane->calls > best->calls))
            best = lane;
    }
    return best;
}

/* ---- types ---- */

static unsigned types_used(const struct plm_works *works, const struct plm_work_lane *lane)
{
    unsigned types = 0;
    for (size_t i = 0; i < lane->steps; i++)
        for (size_t k = 0; k < lane->step[i].calls; k++) {
            const struct plm_work *work = &works->work[lane->call[lane->step[i].first + k].work];
            if (work->flops > 0 && work->type < PLM_WORK_TYPES)
                types |= 1u << work->type;
        }
    for (size_t i = 0; i < lane->nodes; i++)
        if (works->work[lane->node[i].work].flops > 0 && works->work[lane->node[i].work].type < PLM_WORK_TYPES)
            types |= 1u << works->work[lane->node[i].work].type;
    return types;
}

/* TF32 is a way to compute single precision: a card without it takes the other. */
static unsigned types_lacking(unsigned used, const struct plm_card *card)
{
    const unsigned has = (card->fp16_tflops > 0 ? 1u << PLM_WORK_FP16 : 0) |
                         (card->bf16_tflops > 0 ? 1u << PLM_WORK_BF16 : 0) |
                         (card->fp8_tflops > 0 ? 1u << PLM_WORK_FP8 : 0);
    return used & ~has & (1u << PLM_WORK_FP16 | 1u << PLM_WORK_BF16 | 1u << PLM_WORK_FP8);
}

/* ---- the whole job ---- */

/* A process may drive several devices, which share its samples. */
unsigned plm_time_gpus(const struct plm_works *works, const struct plm_work_lane *lane)
{
    unsigned devices = 0;
    for (size_t i = 0; i < works->lanes; i++)
        devices += works->lane[i].process == lane->process;
    return devices * works->world.ranks;
}

static double step_samples(const struct plm_work_lane *lane)
{
    double samples = 0;
    for (size_t i = 0; i < lane->steps; i++)
        samples += lane->step[i].samples;
    return lane->steps ? samples / (double)lane->steps : 0;
}

/* Of a rank in a step: the mean over those that were run, whose batches may differ. */
static double rank_samples(const struct plm_works *works, const struct plm_work_lane *lane)
{
    double sum = 0, lanes = 0;
    if (works->world.ranks <= 1)
        return step_samples(lane);
    for (size_t i = 0; i < works->lanes; i++)
        if (works->lane[i].unit == lane->unit && step_samples(&works->lane[i]) > 0) {
            sum += step_samples(&works->lane[i]);
            lanes++;
        }
    return lanes > 0 ? sum / lanes : 0;
}

/* Ranks wait for each other in every step, so the step of one is that of the job. */
double plm_time_together(const struct plm_works *works, const struct plm_work_lane *lane, double step)
{
    return step > 0 ? works->world.replicas * rank_samples(works, lane) / step * 1e9 : 0;
}

/* ---- rows ---- */

static int row_make(const struct plm_time_table *t, const struct plm_time_question *q, struct plm_time_row *row,
                    struct plm_error *error)
{
    const struct plm_timing_options options = {.host = q->host, .shares = q->shares, .unmetered = q->unmetered};
    struct plm_speeds speeds;
    struct plm_error why;
    int status = plm_speeds_read(q->speeds, q->install, row->card, &speeds, error);
    if (status < 0)
        return status;
    status = plm_timing_make(t->works, t->lane, row->card, &speeds, &options, &row->timing, &why);
    row->known = status == 0;
    row->gpus = plm_time_gpus(t->works, t->lane);
    row->together = plm_time_together(t->works, t->lane, row->timing.step);
    if (status < 0)
        snprintf(row->why, sizeof row->why, "%s", why.text);
    snprintf(row->speeds, sizeof row->speeds, "%s", speeds.name);
    row->host = q->host;
    if (!(row->host.factor > 0))
        row->host.factor = speeds.host_factor;
    row->host_low = row->host.factor * speeds.host_factor_low / speeds.host_factor;
    row->host_high = row->host.factor * speeds.host_factor_high / speeds.host_factor;
    return status == 0 || status == PLM_ENOTFOUND ? 0 : plm_fail(error, status, "%s", why.text);
}

int plm_time_table_make(const struct plm_works *works, const struct plm_work_lane *lane, const struct plm_card *card,
                        size_t cards, const struct plm_time_question *question, struct plm_time_table *table,
                        struct plm_error *error)
{
    const unsigned used = types_used(works, lane);
    int status = 0;
    *table = (struct plm_time_table){.works = works, .lane = lane};
    table->row = plm_calloc(cards, sizeof *table->row);
    for (size_t i = 0; !status && i < cards; i++) {
        struct plm_time_row *row = &table->row[table->rows++];
        row->card = &card[i];
        row->lacks = types_lacking(used, &card[i]);
        status = row_make(table, question, row, error);
    }
    if (status < 0)
        plm_time_table_free(table);
    return status;
}

void plm_time_table_free(struct plm_time_table *table)
{
    for (size_t i = 0; i < table->rows; i++)
        plm_timing_free(&table->row[i].timing);
    free(table->row);
    *table = (struct plm_time_table){0};
}

/* ---- order ---- */

/* What is known first, then what has the figure, then the larger figure, then by step and name. */
static int compare(const struct plm_time_row *x, const struct plm_time_row *y, double a, double b)
{
    if (x->known != y->known)
        return x->known ? -1 : 1;
    if (a != b)
        return a > b ? -1 : 1;
    if (x->timing.step != y->timing.step)
        return x->timing.step < y->timing.step ? -1 : 1;
    return strcmp(x->card->id, y->card->id);
}

static int by_step(const void *a, const void *b)
{
    return compare(a, b, 0, 0);
}

static int by_dollar(const void *a, const void *b)
{
    return compare(a, b, plm_time_per_dollar(a), plm_time_per_dollar(b));
}

static int by_mfu(const void *a, const void *b)
{
    return compare(a, b, ((const struct plm_time_row *)a)->timing.mfu, ((const struct plm_time_row *)b)->timing.mfu);
}

static int by_name(const void *a, const void *b)
{
    const struct plm_time_row *x = a, *y = b;
    return x->known != y->known ? (x->known ? -1 : 1) : strcmp(x->card->id, y->card->id);
}

void plm_time_table_sort(struct plm_time_table *table, enum plm_time_order order)
{
    static int (*const orders[])(const void *, const void *) = {[PLM_TIME_BY_STEP] = by_step,
                                                                [PLM_TIME_BY_DOLLAR] = by_dollar,
                                                                [PLM_TIME_BY_MFU] = by_mfu,
                                                                [PLM_TIME_BY_NAME] = by_name};
    if (table->rows)
        qsort(table->row, table->rows, sizeof *table->row, orders[order]);
}
