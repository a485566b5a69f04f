#include "study/evaluate/design.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "study/evaluate/random.h"

enum { RUNS_MOST = 200000 };
static const char *const names[PLM_DESIGNS] = {"rows", "grid", "montecarlo"};

/* A run that a design asks for. */
struct cell {
    const char *family, *value[PLM_LEVEL_LISTS];
};

struct maker {
    const struct plm_design_options *options;
    const struct plm_truth *file;
    const struct plm_levels *levels;
    struct plm_truth *truth;
    struct plm_design_made *made;
    char (*card)[48]; /* id, per row of the file */
    size_t room;
    struct plm_error *error;
};

const char *plm_design_name(enum plm_design design)
{
    return names[design];
}

int plm_design_parse(const char *text, enum plm_design *design)
{
    for (int i = 0; i < PLM_DESIGNS; i++)
        if (!strcmp(text, names[i])) {
            *design = (enum plm_design)i;
            return 0;
        }
    return PLM_EINVAL;
}

/* ---- rows ---- */

static int row_keep(struct maker *m, const struct plm_truth_row *row)
{
    const bool known = row->ground[m->options->kind] || row->oom;
    if (!plm_truth_row_has(row, m->options->pattern))
        return 0;
    m->made->runs++;
    if (row->disturbed && !m->options->disturbed) {
        m->made->disturbed++;
        return 0;
    }
    m->made->measured += known;
    m->made->without += !known;
    if (!known && !m->options->reference)
        return 0;
    if (m->truth->rows >= RUNS_MOST)
        return plm_fail(m->error, PLM_EFORMAT, "the design has too many runs");
    m->truth->row = plm_grow(m->truth->row, m->truth->rows, &m->room, sizeof *m->truth->row);
    m->truth->row[m->truth->rows++] = *row;
    return 0;
}

/* ---- cells ---- */

static int mode_of(const char *text)
{
    return *text ? (int)strtol(text, NULL, 10) : PLM_TRUTH_ZERO_GRAD_UNKNOWN;
}

static bool is_of(const struct maker *m, size_t row, const struct cell *cell, const char *card)
{
    const struct plm_truth_row *r = &m->file->row[row];
    return r->batch == strtoull(cell->value[PLM_LEVEL_BATCH], NULL, 10) &&
           r->zero_grad == mode_of(cell->value[PLM_LEVEL_ZERO_GRAD]) &&
           !strcmp(r->model, cell->value[PLM_LEVEL_MODEL]) && !strcmp(r->optimizer, cell->value[PLM_LEVEL_OPTIMIZER]) &&
           !strcasecmp(r->family, cell->family) && (m->options->gpu || !strcmp(m->card[row], card));
}

static int card_of(const struct maker *m, const char *gpu, char card[48])
{
    const struct plm_catalogue_entry *entry;
    int status = plm_catalogue_find(m->options->catalogue, gpu, &entry, m->error);
    if (status == 0)
        snprintf(card, 48, "%s", entry->card.id);
    return status;
}

/* All rows of the file that are this run, or the `pick`-th of them, counted round and round; without any, the run
   itself. */
static int add_cell(struct maker *m, const struct cell *cell, bool all, size_t pick)
{
    size_t found = 0;
    char card[48] = "";
    int status = m->options->gpu ? 0 : card_of(m, cell->value[PLM_LEVEL_GPU], card);
    for (size_t i = 0; i < m->file->rows && status == 0; i++)
        if (is_of(m, i, cell, card)) {
            found++;
            if (all)
                status = row_keep(m, &m->file->row[i]);
        }
    if (status || (found && all))
        return status;
    if (!found) {
        const struct plm_truth_row row = {.run = "",
                                          .family = cell->family,
                                          .model = cell->value[PLM_LEVEL_MODEL],
                                          .optimizer = cell->value[PLM_LEVEL_OPTIMIZER],
                                          .gpu = cell->value[PLM_LEVEL_GPU],
                                          .batch = strtoull(cell->value[PLM_LEVEL_BATCH], NULL, 10),
                                          .zero_grad = mode_of(cell->value[PLM_LEVEL_ZERO_GRAD])};
        return row_keep(m, &row);
    }
    pick %= found;
    for (size_t i = 0; i < m->file->rows; i++)
        if (is_of(m, i, cell, card) && !pick--)
            return row_keep(m, &m->file->row[i]);
    return 0;
}

/* ---- levels ---- */

/* As the file spells it, so that the rows of both are one family. */
static const char *spelling(const struct plm_truth *file, const char *family)
{
    for (size_t i = 0; i < file->rows; i++)
        if (!strcasecmp(file->row[i].family, family))
            return file->row[i].family;
    return family;
}

/* A list that is not there has one item, which leaves it to the workload; for cards, to the caller. */
static const char *level_of(const struct maker *m, const struct plm_levels_family *f, int list, size_t index)
{
    if (list == PLM_LEVEL_GPU && m->options->gpu)
        return m->options->gpu;
    return index < f->list[list].count ? f->list[list].level[index].text : "";
}

static size_t count_of(const struct plm_levels_family *f, int list)
{
    return f->list[list].count ? f->list[list].count : 1;
}

static int check_cards(const struct maker *m)
{
    for (size_t i = 0; i < m->levels->families; i++)
        if (!m->options->gpu && !m->levels->family[i].list[PLM_LEVEL_GPU].count)
            return plm_fail(m->error, PLM_EINVAL, "the family %s of the design has no gpus; give one with --gpu",
                            m->levels->family[i].name);
    return 0;
}

/* One card and one position of zero_grad, as in the published grids: the first ones. */
static int make_grid(struct maker *m)
{
    int status = 0;
    for (size_t i = 0; i < m->levels->families; i++) {
        const struct plm_levels_family *f = &m->levels->family[i];
        struct cell cell = {.family = spelling(m->file, f->name)};
        for (int k = 0; k < PLM_LEVEL_LISTS; k++)
            cell.value[k] = level_of(m, f, k, 0);
        for (size_t a = 0; a < f->list[PLM_LEVEL_MODEL].count; a++)
            for (size_t b = 0; b < count_of(f, PLM_LEVEL_OPTIMIZER); b++)
                for (size_t c = 0; c < f->list[PLM_LEVEL_BATCH].count && status == 0; c++) {
                    cell.value[PLM_LEVEL_MODEL] = level_of(m, f, PLM_LEVEL_MODEL, a);
                    cell.value[PLM_LEVEL_OPTIMIZER] = level_of(m, f, PLM_LEVEL_OPTIMIZER, b);
                    cell.value[PLM_LEVEL_BATCH] = level_of(m, f, PLM_LEVEL_BATCH, c);
                    status = add_cell(m, &cell, true, 0);
                }
    }
    return status;
}

static int make_draws(struct maker *m)
{
    struct plm_random random;
    int status = 0;
    plm_random_start(&random, m->options->seed);
    for (size_t i = 0; i < m->options->draws && status == 0; i++) {
        const struct plm_levels_family *f = &m->levels->family[plm_random_below(&random, m->levels->families)];
        struct cell cell = {.family = spelling(m->file, f->name)};
        for (int k = 0; k < PLM_LEVEL_LISTS; k++)
            cell.value[k] = level_of(m, f, k, plm_random_below(&random, count_of(f, k)));
        status = add_cell(m, &cell, false, plm_random_below(&random, RUNS_MOST));
    }
    return status;
}

/* ---- all together ---- */

static int name_cards(struct maker *m)
{
    int status = 0;
    m->card = plm_calloc(m->file->rows, sizeof *m->card);
    for (size_t i = 0; i < m->file->rows && status == 0; i++)
        if (*m->file->row[i].gpu && !m->options->gpu)
            status = card_of(m, m->file->row[i].gpu, m->card[i]);
    return status;
}

static int make_rows(struct maker *m)
{
    int status = 0;
    for (size_t i = 0; i < m->file->rows && status == 0; i++)
        status = row_keep(m, &m->file->row[i]);
    return status;
}

static int nothing(const struct maker *m)
{
    if (!m->made->runs)
        return plm_fail(m->error, PLM_EINVAL, "no row of %.200s contains \"%.60s\"", m->truth->table.path,
                        m->options->pattern ? m->options->pattern : "");
    return plm_fail(m->error, PLM_EINVAL,
                    "none of the %zu runs has a truth of the kind %s; --truth virtual compares the methods with the "
                    "virtual GPU instead",
                    m->made->runs, plm_truth_kind_name(m->options->kind));
}

int plm_design_make(const struct plm_design_options *options, const struct plm_truth *file,
                    const struct plm_levels *levels, struct plm_truth *truth, struct plm_design_made *made,
                    struct plm_error *error)
{
    struct maker m = {.options = options, .file = file, .levels = levels, .truth = truth, .made = made, .error = error};
    int status = 0;
    *made = (struct plm_design_made){
        .design = options->design, .draws = options->draws, .seed = options->seed, .reference = options->reference};
    *truth =
        (struct plm_truth){.tools = file->tools, .table.path = plm_strdup(file->table.path ? file->table.path : "")};
    memcpy(truth->tool, file->tool, sizeof truth->tool);
    if (options->design == PLM_DESIGN_ROWS)
        status = make_rows(&m);
    else {
        status = check_cards(&m);
        if (status == 0)
            status = name_cards(&m);
        if (status == 0)
            status = options->design == PLM_DESIGN_GRID ? make_grid(&m) : make_draws(&m);
    }
    free(m.card);
    if (status == 0 && !truth->rows)
        status = nothing(&m);
    if (status)
        plm_truth_free(truth);
    return status;
}

int plm_design_plan(FILE *out, const struct plm_truth *truth, const struct plm_design_made *made)
{
    struct plm_lines l = {out, false};
    fputs("run,family,model,optimizer,batch_size,gpu,total_gpu_memory,zero_grad_mode\n", out);
    for (size_t i = 0; i < truth->rows; i++) {
        const struct plm_truth_row *r = &truth->row[i];
        if (*r->run)
            plm_lines_text(&l, r->run);
        else
            plm_lines_cell(&l, true, "%s-%05zu", names[made->design], i + 1);
        plm_truth_row_put(&l, r);
        plm_lines_text(&l, r->gpu);
        plm_lines_cell(&l, r->total, "%" PRIu64, r->total);
        plm_truth_row_put_mode(&l, r);
        plm_lines_end(&l);
    }
    return fflush(out) || ferror(out) ? PLM_EIO : 0;
}
