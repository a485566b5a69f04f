#include <math.h>
#include <string.h>

#include "common/card.h"
#include "base/draw.h"
#include "common/error.h"
#include "base/units.h"
#include "report/folding.h"
#include "report/operators.h"
#include "report/report.h"
#include "report/time.h"
#include "report/time_job.h"

enum { LABEL = 24, SECTION_SHARES = 3, SHARES = 5, LISTED = 200 };

const char *plm_report_time_unit(const struct plm_work_lane *lane)
{
    static const char *const names[] = {[PLM_STEP_OPTIMIZER] = "optimizer step",
                                        [PLM_STEP_BACKWARD] = "backward pass",
                                        [PLM_STEP_PASS] = "model call",
                                        [PLM_STEP_WHOLE] = "command"};
    return names[lane->unit];
}

const struct plm_time_row *plm_report_time_of(const struct plm_report_options *o, const struct plm_card *card)
{
    for (size_t i = 0; o->time && i < o->time->rows; i++)
        if (o->time->row[i].known && !strcmp(o->time->row[i].card->id, card->id))
            return &o->time->row[i];
    return NULL;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* A share that is there is never 0 %. */
static const char *share_text(char *out, double part, double whole)
{
    const double share = percent(part, whole);
    snprintf(out, 16, part <= 0 ? "none" : share < 0.5 ? "<1 %%" : "%.0f %%", share);
    return out;
}

/* ---- the sentence ---- */

static int digits_of(double value)
{
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

/* "169-261": both ends in the unit of the step, which stands beside it. */
static const char *range_text(char *out, size_t size, const struct plm_timing *t)
{
    const double unit = t->step >= 0.9995e9 ? 1e9 : t->step >= 0.9995e6 ? 1e6 : t->step >= 999.5 ? 1e3 : 1;
    const double low = t->low / unit, high = t->high / unit;
    snprintf(out, size, "%.*f-%.*f", digits_of(low), low, digits_of(high), high);
    return out;
}

static void show_sentence(const struct plm_page *p, const char *first, const struct plm_work_lane *lane,
                          const struct plm_time_row *row, const char *among)
{
    static const char *const subject[] = {[PLM_STEP_OPTIMIZER] = "Step",
                                          [PLM_STEP_BACKWARD] = "Step",
                                          [PLM_STEP_PASS] = "Model call",
                                          [PLM_STEP_WHOLE] = "Command"};
    const struct plm_timing *t = &row->timing;
    char text[512], step[32], range[48], busy[32], host[32];
    snprintf(text, sizeof text, "%s %s (%s) on %s%s: %s-bound (GPU %s, host %s)", subject[lane->unit],
             plm_duration_text(step, sizeof step, t->step), range_text(range, sizeof range, t), row->card->id, among,
             plm_time_host_bound(t) ? "host" : "GPU", plm_duration_text(busy, sizeof busy, t->busy),
             plm_duration_text(host, sizeof host, t->host));
    fputs(plm_ink(p, PLM_INK_BOLD), p->out);
    plm_page_sentences(p, first, text);
    fputs(plm_ink(p, PLM_INK_PLAIN), p->out);
}

const char *plm_report_time_brief(char *out, size_t size, const struct plm_work_lane *lane,
                                  const struct plm_time_row *row, bool range, bool card)
{
    static const char *const subject[] = {[PLM_STEP_OPTIMIZER] = "step",
                                          [PLM_STEP_BACKWARD] = "step",
                                          [PLM_STEP_PASS] = "model call",
                                          [PLM_STEP_WHOLE] = "command"};
    const struct plm_timing *t = &row->timing;
    char step[32], ends[48];
    plm_duration_text(step, sizeof step, t->step);
    snprintf(out, size, "%s %s%s%s%s%s%s%s", subject[lane->unit], step, range ? " (" : "",
             range ? range_text(ends, sizeof ends, t) : "", range ? ")" : "", card ? " on " : "",
             card ? row->card->id : "",
             !range                   ? ""
             : plm_time_host_bound(t) ? ", host-bound"
                                      : ", GPU-bound");
    return out;
}

/* ---- what it is spent on ---- */

static const char *const bound_texts[PLM_BOUNDS] = {
    [PLM_BOUND_HOST] = "GPU waits for the host",
    [PLM_BOUND_COMPUTE] = "compute",
    [PLM_BOUND_BANDWIDTH] = "memory bandwidth",
    [PLM_BOUND_LAUNCHES] = "kernel launches",
    [PLM_BOUND_COPIES] = "copies",
    [PLM_BOUND_COMMUNICATION] = "communication",
};

static void show_bounds(const struct plm_page *p, const struct plm_timing *t)
{
    char text[32], share[16];
    plm_page_title(p, "Step time by bottleneck");
    for (int i = 0; i < PLM_BOUNDS; i++) {
        if (t->bound[i] <= 0)
            continue;
        fprintf(p->out, "  %-26s %9s %5s  ", bound_texts[i], plm_duration_text(text, sizeof text, t->bound[i]),
                share_text(share, t->bound[i], t->step));
        plm_page_bar(p, plm_page_room(p, 48), 0, (uint64_t)(percent(t->bound[i], t->step) * 1000), 100000);
        fputc('\n', p->out);
    }
}

/* In the order of size: "compute 61 %, host 20 %". */
static void show_bounds_line(const struct plm_page *p, const struct plm_timing *t)
{
    bool said[PLM_BOUNDS] = {0};
    const char *before = "  bound by ";
    for (int n = 0; n < PLM_BOUNDS; n++) {
        int best = -1;
        for (int i = 0; i < PLM_BOUNDS; i++)
            if (!said[i] && percent(t->bound[i], t->step) >= 0.5 && (best < 0 || t->bound[i] > t->bound[best]))
                best = i;
        if (best < 0)
            break;
        said[best] = true;
        fprintf(p->out, "%s%s %.0f %%", before, plm_bound_name((enum plm_bound)best), percent(t->bound[best], t->step));
        before = ", ";
    }
    fputc('\n', p->out);
}

/* "GPU util 98 %, SM active 84 %": those that are not zero, on a line of their own. */
static void show_metrics(const struct plm_page *p, const struct plm_timing *t, int from, int to)
{
    const char *before = "  ";
    char text[16];
    for (int i = from; i < to; i++) {
        if (t->metric[i] <= 0)
            continue;
        fprintf(p->out, "%s%s %s", before, plm_metric_words((enum plm_metric)i), share_text(text, t->metric[i], 1));
        before = ", ";
    }
    if (*before == ',')
        fputc('\n', p->out);
}

static void show_activity(const struct plm_page *p, const struct plm_timing *t)
{
    char flops[32];
    show_metrics(p, t, 0, PLM_METRIC_FP32A);
    show_metrics(p, t, PLM_METRIC_FP32A, PLM_METRICS);
    if (t->mfu > 0)
        fprintf(p->out, "  MFU %.1f %% of %s peak (%s per step)\n", 100 * t->mfu, plm_work_type_name(t->mfu_type),
                plm_flops_text(flops, sizeof flops, t->flops));
}

/* ---- shares ---- */

static const struct plm_time_shares *shares_of(const struct plm_timing *t, enum plm_report_time_key key)
{
    return key == PLM_REPORT_TIME_OPERATORS ? &t->operators
           : key == PLM_REPORT_TIME_MODULES ? &t->modules
                                            : &t->classes;
}

static const char *share_name(const struct plm_time_share *share, enum plm_report_time_key key)
{
    if (*share->name)
        return key == PLM_REPORT_TIME_OPERATORS ? plm_report_operator_shown(share->name) : share->name;
    return key == PLM_REPORT_TIME_MODULES ? "(no module)" : "(no operator)";
}

static enum plm_bound share_bound(const struct plm_time_share *share)
{
    int best = 0;
    for (int i = 1; i < PLM_BOUNDS; i++)
        if (share->bound[i] > share->bound[best])
            best = i;
    return (enum plm_bound)best;
}

static void show_share(const struct plm_page *p, const struct plm_time_share *share, enum plm_report_time_key key,
                       double busy, int columns)
{
    const enum plm_bound bound = share_bound(share);
    char text[32], part[16];
    fputs("  ", p->out);
    plm_page_name(p, share_name(share, key), columns, 1);
    fprintf(p->out, " %9s %5s  %s", plm_duration_text(text, sizeof text, share->ns), share_text(part, share->ns, busy),
            plm_bound_name(bound));
    if (percent(share->bound[bound], share->ns) < 99.5)
        fprintf(p->out, " %.0f %%", percent(share->bound[bound], share->ns));
    fputc('\n', p->out);
}

/* Of the time in which streams work, which is more than the GPU is busy where they overlap. */
static double shares_sum(const struct plm_time_shares *shares)
{
    double sum = 0;
    for (size_t i = 0; i < shares->count; i++)
        sum += shares->item[i].ns;
    return sum;
}

/* Nothing is known of any. */
static bool shares_empty(const struct plm_time_shares *shares)
{
    return !shares->count || (shares->count == 1 && !*shares->item[0].name);
}

/* Modules that repeat are one, unless each is asked for. To be freed with plm_repeats_free_shares(). */
static struct plm_time_shares shares_shown(const struct plm_page *p, const struct plm_timing *t,
                                           enum plm_report_time_key key, const struct plm_report_options *o)
{
    return plm_repeats_merge_shares(shares_of(t, key), !p->utf8, key != PLM_REPORT_TIME_MODULES || o->unfold);
}

static void show_shares(const struct plm_page *p, const struct plm_timing *t, enum plm_report_time_key key,
                        const char *title, size_t most, const struct plm_report_options *o)
{
    struct plm_time_shares shares;
    const double sum = shares_sum(shares_of(t, key));
    int columns = LABEL;
    if (shares_empty(shares_of(t, key)))
        return;
    shares = shares_shown(p, t, key, o);
    for (size_t i = 0; i < shares.count && i < most; i++)
        columns = (int)fmax(columns, plm_page_columns(p, share_name(&shares.item[i], key)));
    columns = (int)fmin(columns, fmax(LABEL, p->width - 42));
    plm_page_title(p, title);
    for (size_t i = 0; i < shares.count && i < most; i++)
        show_share(p, &shares.item[i], key, sum, columns);
    if (shares.count > most)
        fprintf(p->out, "  %s... and %zu more%s\n", plm_ink(p, PLM_INK_DIM), shares.count - most,
                plm_ink(p, PLM_INK_PLAIN));
    plm_repeats_free_shares(&shares);
}

/* "aten::mm 43 ms (compute), aten::addmm 12 ms (bandwidth)" */
static void show_shares_line(const struct plm_page *p, const struct plm_timing *t, enum plm_report_time_key key,
                             const char *first, const struct plm_report_options *o)
{
    struct plm_time_shares shares;
    char text[1024], ns[32];
    size_t used = 0;
    if (shares_empty(shares_of(t, key)))
        return;
    shares = shares_shown(p, t, key, o);
    for (size_t i = 0; i < shares.count && i < SECTION_SHARES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.200s %s (%s)", i ? ", " : "",
                                 share_name(&shares.item[i], key), plm_duration_text(ns, sizeof ns, shares.item[i].ns),
                                 plm_bound_name(share_bound(&shares.item[i])));
    plm_page_sentences(p, first, text);
    plm_repeats_free_shares(&shares);
}

/* ---- what one must know to use the figures ---- */

static void note_steps(const struct plm_page *p, const char *first, const struct plm_work_lane *lane)
{
    char text[256];
    if (lane->unit == PLM_STEP_WHOLE)
        snprintf(text, sizeof text,
                 "No optimizer step and no model call was seen: the time covers all GPU work of the command.");
    else
        snprintf(text, sizeof text, "A step is %s %s; %s%zu step%s%s.", lane->unit == PLM_STEP_OPTIMIZER ? "an" : "a",
                 plm_report_time_unit(lane), lane->steps == 1 ? "only " : "average of ", lane->steps,
                 lane->steps == 1 ? "" : "s",
                 lane->steps == 1 ? " was recorded: record more for a steadier answer" : "");
    plm_page_sentences(p, first, text);
}

static void note_model(const struct plm_page *p, const struct plm_time_row *row)
{
    char text[512];
    snprintf(text, sizeof text,
             "Times are modelled, not measured: kernels with the \"%s\" constants (docs/utilization.md), host time "
             "%s, times %.3g (range: %.3g to %.3g; --host).",
             row->speeds, row->host.measured ? "as measured while recording" : "counted from its calls",
             row->host.factor, row->host_low, row->host_high);
    plm_page_sentences(p, "", text);
}

static void note_sizes(const struct plm_page *p, const struct plm_timing *t)
{
    char text[256], ns[32];
    if (t->unsized >= 0.5) {
        snprintf(text, sizeof text,
                 "%.0f of %.0f kernels per step have an unknown size and count as the shortest kernel.", t->unsized,
                 t->kernels);
        plm_page_sentences(p, "", text);
    }
    if (t->generated > 0) {
        snprintf(
            text, sizeof text,
            "Kernels generated by Triton take %s of it; their bytes are an upper bound and their FLOPs are unknown.",
            plm_duration_text(ns, sizeof ns, t->generated));
        plm_page_sentences(p, "", text);
    }
}

/* "No bf16 in hardware, counted at the rate of fp32: t4, v100-16gb." */
static void note_lacks(const struct plm_page *p, const struct plm_time_table *table)
{
    for (int type = 0; type < PLM_WORK_TYPES; type++) {
        char text[2048];
        size_t used = 0;
        for (size_t i = 0; i < table->rows && used < sizeof text - 64; i++)
            if (table->row[i].known && table->row[i].lacks >> type & 1)
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", table->row[i].card->id);
        if (!used)
            continue;
        fprintf(p->out, "No %s hardware, counted at the fp32 rate:\n", plm_work_type_name((enum plm_work_type)type));
        plm_page_sentences(p, "  ", text);
    }
}

static void show_notes(const struct plm_page *p, const struct plm_time_table *table, const struct plm_time_row *row)
{
    fputc('\n', p->out);
    note_steps(p, "", table->lane);
    plm_report_time_together(p, "", table);
    note_sizes(p, &row->timing);
    note_lacks(p, table);
    note_model(p, row);
}

/* ---- one card ---- */

static void show_card(const struct plm_page *p, const struct plm_time_table *table,
                      const struct plm_report_time_look *look)
{
    static const char *const titles[PLM_REPORT_TIME_KEYS] = {"GPU time by operator, with bottleneck",
                                                             "GPU time by module, with bottleneck",
                                                             "GPU time by class of work, with bottleneck"};
    const struct plm_time_row *row = &table->row[0];
    const struct plm_timing *t = &row->timing;
    show_sentence(p, "", table->lane, row, "");
    plm_report_time_rates(p, table->lane, row);
    plm_report_time_cost(p, row);
    if (look->listed)
        show_shares(p, t, look->by, titles[look->by], LISTED, look->options);
    else {
        show_bounds(p, t);
        plm_page_title(p, "GPU utilization (as DCGM reports it)");
        show_activity(p, t);
        for (int i = 0; i < PLM_REPORT_TIME_KEYS; i++)
            show_shares(p, t, (enum plm_report_time_key)i, titles[i], SHARES, look->options);
    }
    show_notes(p, table, row);
}

/* ---- several cards ---- */

struct column;
typedef void show_cell(const struct column *column, const struct plm_time_row *row, char out[48]);

static void cell_step(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    plm_duration_text(out, 48, row->timing.step);
}

static void cell_range(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    range_text(out, 48, &row->timing);
}

static void cell_busy(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    plm_duration_text(out, 48, row->timing.busy);
}

static void cell_host(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    plm_duration_text(out, 48, row->timing.host);
}

static void cell_metric(const struct column *c, const struct plm_time_row *row, char out[48]);

static void cell_mfu(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    snprintf(out, 48, row->timing.mfu > 0 ? "%.1f %%" : "-", 100 * row->timing.mfu);
}

static void cell_samples(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    snprintf(out, 48, row->together > 0 ? "%.0f" : "-", row->together);
}

static void cell_dollar(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    snprintf(out, 48, row->price > 0 ? "%.0f" : "-", plm_time_per_dollar(row));
}

static void cell_hours(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    snprintf(out, 48, plm_time_hours(row) > 0 ? "%.3g" : "-", plm_time_hours(row));
}

static void cell_cost(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    snprintf(out, 48, row->price > 0 ? "$%.3g" : "-", plm_time_cost(row));
}

static void cell_bound(const struct column *c, const struct plm_time_row *row, char out[48])
{
    (void)c;
    snprintf(out, 48, "%s", plm_bound_name(plm_time_bound(&row->timing)));
}

/* `order`: of those that do not fit on the page the highest goes first; 0 always stays. */
static const struct column {
    const char *title;
    int width, order;
    show_cell *cell;
    int metric;
} columns[] = {
    {"step", 7, 0, cell_step, 0},
    {"range", 11, 1, cell_range, 0},
    {"busy", 7, 0, cell_busy, 0},
    {"host", 7, 0, cell_host, 0},
    {"util", 5, 2, cell_metric, PLM_METRIC_GPUTL},
    {"SM", 5, 6, cell_metric, PLM_METRIC_SMACT},
    {"tensor", 6, 8, cell_metric, PLM_METRIC_TENSO},
    {"DRAM", 5, 7, cell_metric, PLM_METRIC_DRAMA},
    {"MFU", 6, 3, cell_mfu, 0},
    {"samples/s", 9, 5, cell_samples, 0},
    {"steps/$", 9, 1, cell_dollar, 0},
    {"hours", 8, 0, cell_hours, 0},
    {"cost", 8, 0, cell_cost, 0},
    {"bound by", -13, 0, cell_bound, 0},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void cell_metric(const struct column *c, const struct plm_time_row *row, char out[48])
{
    share_text(out, row->timing.metric[c->metric], 1);
}

/* Columns without any figure and those that the page has no room for are not shown. */
static void choose_columns(const struct plm_page *p, const struct plm_time_table *table, int name, bool shown[COLUMNS])
{
    bool priced = false, samples = false, hours = false;
    int width = 2 + name;
    for (size_t i = 0; i < table->rows; i++) {
        priced |= table->row[i].price > 0;
        samples |= table->row[i].together > 0;
        hours |= plm_time_hours(&table->row[i]) > 0;
    }
    for (int i = 0; i < COLUMNS; i++) {
        show_cell *const cell = columns[i].cell;
        shown[i] = cell == cell_dollar    ? priced
                   : cell == cell_samples ? samples
                   : cell == cell_hours   ? hours
                   : cell == cell_cost    ? hours && priced
                                          : true;
        width += shown[i] ? 1 + (columns[i].width < 0 ? 1 - columns[i].width : columns[i].width) : 0;
    }
    for (int order = 9; order > 0; order--)
        for (int i = 0; i < COLUMNS && width > p->width; i++)
            if (shown[i] && columns[i].order == order) {
                shown[i] = false;
                width -= columns[i].width + 1;
            }
}

/* The last column is not filled up. */
static void cell_put(const struct plm_page *p, const struct column *column, const char *text)
{
    if (column->width < 0)
        fprintf(p->out, "  %s", text);
    else
        fprintf(p->out, " %*s", column->width, text);
}

static void show_head(const struct plm_page *p, int name, const bool shown[COLUMNS])
{
    fprintf(p->out, "\n  %s%-*s", plm_ink(p, PLM_INK_DIM), name, "card");
    for (int i = 0; i < COLUMNS; i++)
        if (shown[i])
            cell_put(p, &columns[i], columns[i].title);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

static void show_row(const struct plm_page *p, const struct plm_time_row *row, int name, const bool shown[COLUMNS])
{
    char cell[48];
    fputs("  ", p->out);
    plm_page_name(p, row->card->id, name, 1);
    for (int i = 0; i < COLUMNS; i++) {
        if (!shown[i])
            continue;
        columns[i].cell(&columns[i], row, cell);
        cell_put(p, &columns[i], cell);
    }
    fputc('\n', p->out);
}

/* MIG profiles are many, and all for one reason. */
static void show_left_out(const struct plm_page *p, const struct plm_time_table *table)
{
    char text[640];
    size_t profiles = 0;
    for (size_t i = 0; i < table->rows; i++) {
        const struct plm_time_row *row = &table->row[i];
        if (row->known)
            continue;
        profiles += row->card->mig;
        if (!row->card->mig) {
            snprintf(text, sizeof text, "%s: %s.", row->card->id, row->why);
            plm_page_sentences(p, "Left out: ", text);
        }
    }
    if (profiles) {
        snprintf(text, sizeof text, "%zu MIG profile%s: their bandwidth is unknown, as they share their card's.",
                 profiles, profiles == 1 ? "" : "s");
        plm_page_sentences(p, "Left out: ", text);
    }
}

static void show_table(const struct plm_page *p, const struct plm_time_table *table)
{
    bool shown[COLUMNS];
    char among[64] = "";
    int name = 12;
    size_t known = 0;
    while (known < table->rows && table->row[known].known) {
        name = (int)fmax(name, (double)strlen(table->row[known].card->id));
        known++;
    }
    if (!known) {
        fputs("No times are known for any of these cards.\n", p->out);
        show_left_out(p, table);
        return;
    }
    if (known > 1)
        snprintf(among, sizeof among, ", first of %zu cards", known);
    show_sentence(p, "", table->lane, &table->row[0], among);
    choose_columns(p, table, name, shown);
    show_head(p, name, shown);
    for (size_t i = 0; i < known; i++)
        show_row(p, &table->row[i], name, shown);
    if (known < table->rows)
        fputc('\n', p->out);
    show_left_out(p, table);
    show_notes(p, table, &table->row[0]);
}

int plm_report_time_text(FILE *out, const struct plm_time_table *table, const struct plm_report_time_look *look,
                         struct plm_error *error)
{
    const struct plm_page p = plm_report_page_for(out, look->options);
    if (look->many)
        show_table(&p, table);
    else
        show_card(&p, table, look);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}

/* ---- the section of a report ---- */

void plm_report_time_section(const struct plm_page *p, const struct plm_report_options *o)
{
    const struct plm_time_row *row = o->time && o->time->rows ? &o->time->row[0] : NULL;
    const char *why = row && !row->known ? row->why : o->no_time;
    char title[96];
    if (!row || !row->known) {
        if (!why)
            return;
        fputc('\n', p->out);
        plm_page_sentences(p, "Time: unknown: ", why);
        return;
    }
    snprintf(title, sizeof title, "Time on %s (modelled, not measured)", row->card->id);
    plm_page_title(p, title);
    show_sentence(p, "  ", o->time->lane, row, "");
    plm_report_time_rates(p, o->time->lane, row);
    show_bounds_line(p, &row->timing);
    show_activity(p, &row->timing);
    show_shares_line(p, &row->timing, PLM_REPORT_TIME_OPERATORS, "  operators: ", o);
    show_shares_line(p, &row->timing, PLM_REPORT_TIME_MODULES, "  modules: ", o);
    note_steps(p, "  ", o->time->lane);
    plm_report_time_together(p, "  ", o->time);
}
