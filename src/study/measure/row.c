#include "study/measure/row.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/append.h"
#include "common/error.h"
#include "base/output.h"
#include "common/ini.h"
#include "base/csv.h"

uint64_t plm_measured_used(const struct plm_measured *m)
{
    return m->most > m->first ? m->most - m->first : 0;
}

bool plm_measured_timed(const struct plm_measured *m)
{
    return m->steps_timed && m->step_ns && !m->virtual;
}

/* ---- what the hook left ---- */

/* From USED on only written: the last three where they are known. */
enum kind { TEXT, NUMBER, MODE, SWITCH, USED, GROUND, STEPS, TIME, METRIC };

#define TEXT_OF(member)   TEXT, offsetof(struct plm_measured, member), sizeof(((struct plm_measured *)0)->member)
#define NUMBER_OF(member) NUMBER, offsetof(struct plm_measured, member), 0

static const struct key {
    const char *name;
    enum kind kind;
    size_t place, size;
} keys[] = {
    {"allocated", NUMBER_OF(allocated)},
    {"batch", NUMBER_OF(batch)},
    {"context", NUMBER_OF(context)},
    {"cuda", TEXT_OF(cuda)},
    {"exception", TEXT_OF(exception)},
    {"failed_samples", NUMBER_OF(failed_samples)},
    {"first", NUMBER_OF(first)},
    {"gpu", TEXT_OF(gpu)},
    {"model", TEXT_OF(model)},
    {"most", NUMBER_OF(most)},
    {"ooms", NUMBER_OF(ooms)},
    {"optimizer", TEXT_OF(optimizer)},
    {"reserved", NUMBER_OF(reserved)},
    {"samples", NUMBER_OF(samples)},
    {"settle", NUMBER_OF(settle)},
    {"settled", SWITCH, offsetof(struct plm_measured, settled), 0},
    {"step_mean_ns", NUMBER_OF(step_mean_ns)},
    {"step_ns", NUMBER_OF(step_ns)},
    {"steps", NUMBER_OF(steps)},
    {"steps_begin", NUMBER_OF(steps_begin)},
    {"steps_end", NUMBER_OF(steps_end)},
    {"steps_timed", NUMBER_OF(steps_timed)},
    {"torch", TEXT_OF(torch)},
    {"total", NUMBER_OF(total)},
    {"trouble", TEXT_OF(trouble)},
    {"uuid", TEXT_OF(uuid)},
    {"virtual", SWITCH, offsetof(struct plm_measured, virtual), 0},
    {"zero_grad", MODE, offsetof(struct plm_measured, zero_grad), 0},
};

static int field_set(const struct key *key, const struct plm_ini_pair *pair, struct plm_measured *m,
                     struct plm_error *error)
{
    char *place = (char *)m + key->place, *end;
    uint64_t number;
    if (key->kind == TEXT) {
        snprintf(place, key->size, "%s", pair->value);
        return 0;
    }
    errno = 0;
    number = strtoull(pair->value, &end, 10);
    if (end == pair->value || *end || errno || *pair->value == '-' || (key->kind != NUMBER && number > 9))
        return plm_fail(error, PLM_EFORMAT, "%.200s:%d: %s is \"%.60s\", which is not a usable number", pair->path,
                        pair->line, pair->key, pair->value);
    if (key->kind == NUMBER)
        *(uint64_t *)(void *)place = number;
    else if (key->kind == MODE)
        *(int *)(void *)place = (int)number;
    else
        *(bool *)place = number != 0;
    return 0;
}

/* What is not known here is for people who look at the file. */
static int pair_visit(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!strcmp(keys[i].name, pair->key))
            return field_set(&keys[i], pair, context, error);
    return 0;
}

int plm_measured_read(const char *path, struct plm_measured *m, struct plm_error *error)
{
    int status;
    *m = (struct plm_measured){.zero_grad = -1};
    status = plm_ini_read(path, pair_visit, m, error);
    m->watched = m->samples > 0 && !*m->trouble;
    return status;
}

/* ---- the truth file ---- */

#define AT(member) offsetof(struct plm_measured, member)
#define OF(metric) METRIC, metric

static const struct column {
    const char *name;
    enum kind kind;
    size_t place; /* in the structure; of a metric: its number */
} columns[] = {
    {"run", TEXT, AT(run)},
    {"family", TEXT, AT(family)},
    {"model", TEXT, AT(model)},
    {"optimizer", TEXT, AT(optimizer)},
    {"batch_size", NUMBER, AT(batch)},
    {"gpu", TEXT, AT(gpu)},
    {"total_gpu_memory", NUMBER, AT(total)},
    {"zero_grad_mode", MODE, 0},
    {"ground", GROUND, 0},
    {"real_oom", SWITCH, AT(oom)},
    {"allocated", NUMBER, AT(allocated)},
    {"reserved", NUMBER, AT(reserved)},
    {"device_used", USED, 0},
    {"context", NUMBER, AT(context)},
    {"first_sample", NUMBER, AT(first)},
    {"disturbed", SWITCH, AT(disturbed)},
    {"steps", NUMBER, AT(steps)},
    {"torch", TEXT, AT(torch)},
    {"cuda", TEXT, AT(cuda)},
    {"driver", TEXT, AT(driver)},
    {"samples", NUMBER, AT(samples)},
    {"interval_us", NUMBER, AT(interval_us)},
    {"settled", NUMBER, AT(settle)},
    {"measured", TEXT, AT(measured)},
    {"step_time_ms", TIME, AT(step_ns)},
    {"step_time_mean_ms", TIME, AT(step_mean_ns)},
    {"steps_timed", STEPS, AT(steps_timed)},
    {"gputl", OF(PLM_METRIC_GPUTL)},
    {"gract", OF(PLM_METRIC_GRACT)},
    {"smact", OF(PLM_METRIC_SMACT)},
    {"smocc", OF(PLM_METRIC_SMOCC)},
    {"fp32a", OF(PLM_METRIC_FP32A)},
    {"tenso", OF(PLM_METRIC_TENSO)},
    {"drama", OF(PLM_METRIC_DRAMA)},
    {"metrics_source", TEXT, AT(metrics_source)},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* What may be not known: an empty cell. */
static void known_put(FILE *out, const struct plm_measured *m, const struct column *column)
{
    const char *place = (const char *)m + column->place;
    if (column->kind == METRIC && m->activity.given[column->place])
        fprintf(out, "%.4f", m->activity.value[column->place]);
    else if (column->kind == TIME && plm_measured_timed(m))
        fprintf(out, "%.6g", (double)*(const uint64_t *)(const void *)place / 1e6);
    else if (column->kind == STEPS && plm_measured_timed(m))
        fprintf(out, "%" PRIu64, *(const uint64_t *)(const void *)place);
}

static void column_put(FILE *out, const struct plm_measured *m, const struct column *column)
{
    const char *place = (const char *)m + column->place;
    const uint64_t used = plm_measured_used(m);
    switch (column->kind) {
    case TEXT: plm_csv_put(out, place); break;
    case NUMBER: fprintf(out, "%" PRIu64, *(const uint64_t *)(const void *)place); break;
    case SWITCH: fputs(*(const bool *)place ? "true" : "false", out); break;
    case USED: fprintf(out, "%" PRIu64, used); break;
    case GROUND: /* beyond the sample with the bare context, as in the published tables */
        fprintf(out, "%" PRIu64, used > m->context ? used - m->context : 0);
        break;
    case MODE:
        if (m->zero_grad >= 0)
            fprintf(out, "%d", m->zero_grad);
        break;
    case STEPS:
    case TIME:
    case METRIC: known_put(out, m, column);
    }
}

int plm_measured_check(const char *path, struct plm_error *error)
{
    struct plm_csv table;
    struct stat info;
    int status;
    if (!strcmp(path, "-"))
        return plm_fail(error, PLM_EINVAL, "rows are appended to a file, not to standard output");
    if (stat(path, &info)) {
        if (errno == ENOENT)
            return plm_output_check(path, &(struct plm_output_rule){0}, error);
        return plm_fail(error, PLM_EIO, "cannot read %.300s: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode))
        return plm_fail(error, PLM_EIO, "%.300s is not a file that rows can be appended to", path);
    if (!info.st_size)
        return 0;
    status = plm_csv_read(path, &table, error);
    if (status)
        return status;
    for (size_t i = 0; i < COLUMNS && status == 0; i++)
        if (i >= table.columns || strcmp(plm_csv_name(&table, i), columns[i].name) != 0)
            status = plm_fail(error, PLM_EFORMAT, "%.300s has other columns than measure writes: column %zu is not %s",
                              path, i + 1, columns[i].name);
    if (status == 0 && table.columns > COLUMNS)
        status = plm_fail(error, PLM_EFORMAT, "%.300s has other columns than measure writes: it has %zu more", path,
                          table.columns - COLUMNS);
    plm_csv_free(&table);
    return status;
}

static void row_write(FILE *out, bool head, const void *what)
{
    const struct plm_measured *m = what;
    for (size_t i = 0; head && i < COLUMNS; i++)
        fprintf(out, "%s%s", i ? "," : "", columns[i].name);
    if (head)
        fputc('\n', out);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i)
            fputc(',', out);
        column_put(out, m, &columns[i]);
    }
    fputc('\n', out);
}

int plm_measured_append(const char *path, const struct plm_measured *m, struct plm_error *error)
{
    return plm_append(path, row_write, m, error);
}
