#include "study/evaluate/truth.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "base/memory.h"

struct columns {
    int run, family, model, optimizer, gpu, batch, total, zero_grad, ground, oom, disturbed;
    int kind[PLM_TRUTH_KINDS]; /* -1: it has no column of its own */
    int memory[PLM_TRUTH_TOOLS], tool_oom[PLM_TRUTH_TOOLS], second[PLM_TRUTH_TOOLS], runtime[PLM_TRUTH_TOOLS];
};

static const char *const kind_names[PLM_TRUTH_KINDS] = {"allocated", "reserved", "device", "device-less-first"};

const char *plm_truth_kind_name(enum plm_truth_kind kind)
{
    return kind_names[kind];
}

int plm_truth_kind_parse(const char *text, enum plm_truth_kind *kind)
{
    for (int i = 0; i < PLM_TRUTH_KINDS; i++)
        if (!strcmp(text, kind_names[i])) {
            *kind = (enum plm_truth_kind)i;
            return 0;
        }
    return PLM_EINVAL;
}

bool plm_truth_row_has(const struct plm_truth_row *r, const char *pattern)
{
    return !pattern || strcasestr(r->run, pattern) || strcasestr(r->family, pattern) || strcasestr(r->model, pattern) ||
           strcasestr(r->optimizer, pattern);
}

void plm_truth_row_put(struct plm_lines *lines, const struct plm_truth_row *row)
{
    plm_lines_text(lines, row->family);
    plm_lines_text(lines, row->model);
    plm_lines_text(lines, row->optimizer);
    plm_lines_cell(lines, true, "%" PRIu64, row->batch);
}

void plm_truth_row_put_mode(struct plm_lines *lines, const struct plm_truth_row *row)
{
    plm_lines_cell(lines, row->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN, "%d", row->zero_grad);
}

struct place {
    const struct plm_csv *table;
    size_t row;
    struct plm_error *error;
};

static int wrong(const struct place *p, int column, const char *wanted)
{
    return plm_csv_wrong(p->table, p->row, column, wanted, p->error);
}

/* Amounts may have a fraction in published files; a byte is a byte. */
static int real(const struct place *p, int column, double *value)
{
    return plm_csv_real(p->table, p->row, column, value, p->error);
}

static int whole(const struct place *p, int column, uint64_t *value)
{
    double number;
    int status = real(p, column, &number);
    if (status == 0 && (number < 0 || number != floor(number)))
        return wrong(p, column, "a whole number from 0");
    *value = status ? 0 : (uint64_t)number;
    return status;
}

static int truth_value(const struct place *p, int column, bool *given, bool *value)
{
    const char *text = plm_csv_cell(p->table, p->row, column);
    *value = !strcasecmp(text, "true") || !strcmp(text, "1");
    *given = *text != '\0';
    if (*given && !*value && strcasecmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return wrong(p, column, "true or false");
    return 0;
}

/* Every column T_memory with a column T_oom belongs to a tool T. */
static void find_tools(struct plm_truth *truth, struct columns *c)
{
    static const char end[] = "_memory";
    for (size_t i = 0; i < truth->table.columns && truth->tools < PLM_TRUTH_TOOLS; i++) {
        const char *name = plm_csv_name(&truth->table, i);
        size_t length = strlen(name), n = length >= sizeof end ? length - (sizeof end - 1) : 0;
        char wanted[48], *tool = truth->tool[truth->tools];
        if (!n || n >= sizeof truth->tool[0] || strcmp(name + n, end) != 0)
            continue;
        memcpy(tool, name, n);
        tool[n] = '\0';
        snprintf(wanted, sizeof wanted, "%s_oom", tool);
        c->tool_oom[truth->tools] = plm_csv_column(&truth->table, wanted);
        if (c->tool_oom[truth->tools] < 0)
            continue;
        snprintf(wanted, sizeof wanted, "%s_2nd_oom", tool);
        c->second[truth->tools] = plm_csv_column(&truth->table, wanted);
        snprintf(wanted, sizeof wanted, "%s_runtime_ns", tool);
        c->runtime[truth->tools] = plm_csv_column(&truth->table, wanted);
        c->memory[truth->tools++] = (int)i;
    }
}

static int find_columns(struct plm_truth *truth, enum plm_truth_need need, struct columns *c, struct plm_error *error)
{
    const struct {
        const char *name;
        int *column;
        bool needed;
    } wanted[] = {
        {"run", &c->run, false},
        {"family", &c->family, true},
        {"model", &c->model, true},
        {"optimizer", &c->optimizer, false},
        {"gpu", &c->gpu, false},
        {"batch_size", &c->batch, true},
        {"total_gpu_memory", &c->total, false},
        {"zero_grad_mode", &c->zero_grad, false},
        {"ground", &c->ground, need == PLM_TRUTH_NEEDS_GROUND},
        {"real_oom", &c->oom, false},
        {"disturbed", &c->disturbed, false},
        {"allocated", &c->kind[PLM_TRUTH_ALLOCATED], false},
        {"reserved", &c->kind[PLM_TRUTH_RESERVED], false},
        {"device_used", &c->kind[PLM_TRUTH_DEVICE], false},
    };
    c->kind[PLM_TRUTH_LESS_FIRST] = -1;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].column = plm_csv_column(&truth->table, wanted[i].name);
        if (wanted[i].needed && *wanted[i].column < 0)
            return plm_fail(error, PLM_EFORMAT, "%.300s: the header has no column %s", truth->table.path,
                            wanted[i].name);
    }
    find_tools(truth, c);
    return 0;
}

static int read_claims(const struct place *p, const struct columns *c, size_t tools, struct plm_truth_row *row)
{
    int status = 0;
    for (size_t i = 0; i < tools && status == 0; i++) {
        struct plm_truth_claim *claim = &row->claim[i];
        status = real(p, c->memory[i], &claim->memory);
        if (status == 0)
            status = truth_value(p, c->tool_oom[i], &claim->judged, &claim->oom);
        if (status == 0)
            status = truth_value(p, c->second[i], &claim->second, &claim->second_oom);
        if (status == 0)
            status = real(p, c->runtime[i], &claim->seconds);
        claim->seconds *= 1e-9;
    }
    return status;
}

/* A kind with a column of its own has what stands there; for the others the one figure is what the user says it is. */
static int read_ground(const struct place *p, const struct columns *c, struct plm_truth_row *row)
{
    uint64_t ground = 0;
    int status = whole(p, c->ground, &ground);
    for (int i = 0; i < PLM_TRUTH_KINDS && status == 0; i++) {
        row->ground[i] = ground;
        if (c->kind[i] >= 0)
            status = whole(p, c->kind[i], &row->ground[i]);
    }
    return status;
}

static bool has_ground(const struct plm_truth_row *row)
{
    for (int i = 0; i < PLM_TRUTH_KINDS; i++)
        if (row->ground[i])
            return true;
    return false;
}

static int read_row(const struct place *p, const struct columns *c, enum plm_truth_need need, size_t tools,
                    struct plm_truth_row *row)
{
    const struct plm_csv *t = p->table;
    uint64_t mode = 0;
    bool given;
    int status;
    row->line = t->line[p->row + 1];
    row->run = plm_csv_cell(t, p->row, c->run);
    row->family = plm_csv_cell(t, p->row, c->family);
    row->model = plm_csv_cell(t, p->row, c->model);
    row->optimizer = plm_csv_cell(t, p->row, c->optimizer);
    row->gpu = plm_csv_cell(t, p->row, c->gpu);
    if (!*row->family || !*row->model)
        return plm_fail(p->error, PLM_EFORMAT, "%.300s:%u: %s is empty", t->path, row->line,
                        *row->family ? "model" : "family");
    status = whole(p, c->batch, &row->batch);
    if (status == 0)
        status = whole(p, c->total, &row->total);
    if (status == 0)
        status = read_ground(p, c, row);
    if (status == 0)
        status = whole(p, c->zero_grad, &mode);
    if (status)
        return status;
    if (mode > 9)
        return wrong(p, c->zero_grad, "a mode from 0 to 9");
    row->zero_grad = *plm_csv_cell(t, p->row, c->zero_grad) ? (int)mode : PLM_TRUTH_ZERO_GRAD_UNKNOWN;
    if (!row->batch)
        return wrong(p, c->batch, "a number from 1");
    status = truth_value(p, c->oom, &given, &row->oom);
    if (status == 0)
        status = truth_value(p, c->disturbed, &given, &row->disturbed);
    if (status == 0 && need == PLM_TRUTH_NEEDS_GROUND && !row->oom && !has_ground(row))
        return wrong(p, c->ground, "an amount of memory");
    return status ? status : read_claims(p, c, tools, row);
}

int plm_truth_read(const char *path, enum plm_truth_need need, struct plm_truth *truth, struct plm_error *error)
{
    struct place p = {.error = error};
    struct columns c = {0};
    int status;
    *truth = (struct plm_truth){0};
    status = plm_csv_read(path, &truth->table, error);
    if (status)
        return status;
    p.table = &truth->table;
    status = find_columns(truth, need, &c, error);
    if (status == 0 && !truth->table.rows)
        status = plm_fail(error, PLM_EFORMAT, "%.300s has a header and no rows", path);
    truth->row = plm_calloc(truth->table.rows, sizeof *truth->row);
    for (; status == 0 && p.row < truth->table.rows; p.row++, truth->rows++)
        status = read_row(&p, &c, need, truth->tools, &truth->row[p.row]);
    if (status)
        plm_truth_free(truth);
    return status;
}

void plm_truth_free(struct plm_truth *truth)
{
    free(truth->row);
    plm_csv_free(&truth->table);
    *truth = (struct plm_truth){0};
}
