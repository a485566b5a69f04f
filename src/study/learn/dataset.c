/* Which rows a dataset has, and what an earlier run has left of them. */
#include "study/learn/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/temporary.h"
#include "study/learn/dataset_parts.h"
#include "study/rows/key.h"

/* ---- rows ---- */

static struct plm_dataset_row *row_add(struct plm_dataset *d)
{
    struct plm_dataset_row *row;
    d->row = plm_grow(d->row, d->rows, &d->room, sizeof *d->row);
    row = &d->row[d->rows++];
    *row = (struct plm_dataset_row){0};
    return row;
}

static int rows_draw(struct plm_dataset *d)
{
    const struct plm_dataset_settings *s = d->settings;
    for (size_t f = 0; f < s->families; f++)
        for (size_t i = 0; i < s->rows; i++) {
            struct plm_dataset_row *row = row_add(d);
            row->number = i + 1;
            plm_generated_draw(s->family[f], s->seed, i, &row->network);
        }
    return 0;
}

/* What is not of the network, and, of a table that a dataset wrote, not what it said itself: in any other table labels
   are what was measured. */
static void columns_carry(struct plm_dataset *d)
{
    const bool written = plm_table_column(&d->from, "x_layers") >= 0;
    d->carried = plm_calloc(d->from.columns, sizeof *d->carried);
    for (size_t i = 0; i < d->from.columns; i++) {
        const char *name = plm_table_name(&d->from, i);
        d->carried[i] = *name && plm_argument_find(name) < 0 &&
                        !(written ? plm_dataset_writes(name) : !strcmp(name, "family") || !strcmp(name, "row"));
    }
}

static int rows_read(struct plm_dataset *d, struct plm_error *error)
{
    const struct plm_dataset_settings *s = d->settings;
    const enum plm_family family = s->families ? s->family[0] : PLM_FAMILIES;
    int status = plm_table_read(s->from, &d->from, error);
    if (status)
        return status;
    columns_carry(d);
    for (size_t i = 0; i < d->from.rows && status == 0; i++) {
        struct plm_dataset_row *row = row_add(d);
        row->number = i + 1;
        row->origin = i;
        status = plm_generated_read(&d->from, i, family, &row->network, error);
    }
    return status;
}

static int is_script(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);
    return !strchr("._", entry->d_name[0]) && n > 3 && !strcmp(entry->d_name + n - 3, ".py");
}

static int scripts_find(struct plm_dataset *d, struct plm_error *error)
{
    struct dirent **name = NULL;
    int count = scandir(d->settings->from, &name, is_script, alphasort);
    if (count < 0)
        return plm_fail(error, PLM_EIO, "cannot read the folder %.200s: %s", d->settings->from, strerror(errno));
    for (int i = 0; i < count; i++) {
        struct plm_dataset_row *row = row_add(d);
        row->number = (size_t)i + 1;
        row->script = plm_strdup(name[i]->d_name);
        free(name[i]);
    }
    free(name);
    return 0;
}

static bool is_folder(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

int plm_dataset_make(const struct plm_dataset_settings *settings, struct plm_dataset *d, struct plm_error *error)
{
    int status;
    *d = (struct plm_dataset){.settings = settings};
    if (!settings->from)
        status = rows_draw(d);
    else if (is_folder(settings->from))
        status = scripts_find(d, error);
    else
        status = rows_read(d, error);
    if (status == 0 && !d->rows && settings->from)
        status = plm_fail(error, PLM_EINVAL, "%.200s has no %s", settings->from,
                          is_folder(settings->from) ? "script NAME.py" : "row");
    if (status)
        plm_dataset_free(d);
    return status;
}

void plm_dataset_free(struct plm_dataset *d)
{
    for (size_t i = 0; i < d->rows; i++) {
        free(d->row[i].script);
        free(d->row[i].line);
    }
    free(d->row);
    free(d->carried);
    plm_table_free(&d->from);
    *d = (struct plm_dataset){0};
}

/* ---- what is in between ---- */

void plm_dataset_path(const struct plm_dataset *d, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%.150s", d->settings->folder, name);
}

void plm_dataset_clean(const struct plm_dataset *d)
{
    plm_temporary_delete(d->settings->folder);
}

char *plm_dataset_text(const char *path)
{
    FILE *in = fopen(path, "re"), *out;
    char *text = NULL, part[4096];
    size_t size, got;
    if (!in)
        return NULL;
    out = open_memstream(&text, &size);
    while (out && (got = fread(part, 1, sizeof part, in)))
        fwrite(part, 1, got, out);
    fclose(in);
    if (!out || fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* What decides the lines besides the options: the programs that make them, and the table or the scripts. */
static uint64_t key_of(const struct plm_dataset *d)
{
    static const char *const parts[] = {"training.py", "description.py", "common.py",
                                        "mlp.py",      "cnn.py",         "transformer.py"};
    const struct plm_dataset_settings *s = d->settings;
    char folder[4096];
    uint64_t key = plm_key_device(PLM_KEY, s->install);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(s->script, '/') - s->script), s->script);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        key = plm_key_file(key, folder, parts[i]);
    key = plm_key_file(key, s->workloads, "mlp.py");
    for (size_t i = 0; i < d->rows && d->row[i].script; i++)
        key = plm_key_file(key, s->from, d->row[i].script);
    return d->from.columns ? plm_key_file(key, s->from, "") : key;
}

/* One line: the options, then the key. */
static void settings_text(const struct plm_dataset *d, char *out, size_t size)
{
    const struct plm_dataset_settings *s = d->settings;
    int n = 0;
    for (size_t i = 0; i < s->families; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%s", i ? "," : "--family ", plm_family_name[s->family[i]]);
    if (s->from)
        n += snprintf(out + n, size - (size_t)n, "%s--from %.400s", n ? " " : "", s->from);
    else
        n += snprintf(out + n, size - (size_t)n, " --rows %zu --seed %llu", s->rows, (unsigned long long)s->seed);
    n += snprintf(out + n, size - (size_t)n, " --gpu %s --stack %.200s --python %.300s", s->card->id,
                  s->stack ? s->stack : "auto", s->python);
    snprintf(out + n, size - (size_t)n, " # %016llx", (unsigned long long)key_of(d));
    for (char *at = out; *at; at++) /* a name may hold anything */
        if (*at == '\n')
            *at = ' ';
}

/* "INDEX FAILED LINE" */
static void line_take(struct plm_dataset *d, char *text)
{
    char *end;
    const unsigned long index = strtoul(text, &end, 10);
    if (end == text || *end != ' ' || index >= d->rows || (end[1] != '0' && end[1] != '1') || end[2] != ' ')
        return;
    free(d->row[index].line);
    d->row[index].failed = end[1] == '1';
    d->row[index].line = plm_asprintf("%s\n", end + 3);
}

void plm_dataset_take(struct plm_dataset *d, char *text)
{
    char *end;
    for (; (end = strchr(text, '\n')); text = end + 1) { /* what has no end was not written whole */
        *end = '\0';
        line_take(d, text);
    }
}

/* Lines that are no row of the table are not believed. */
static void lines_check(struct plm_dataset *d)
{
    char buffer[128];
    size_t columns = 0;
    while (plm_dataset_column(d, columns, buffer))
        columns++;
    for (size_t i = 0; i < d->rows; i++) {
        struct plm_table line;
        if (!d->row[i].line)
            continue;
        if (plm_table_take("", plm_strdup(d->row[i].line), strlen(d->row[i].line), &line, NULL) == 0) {
            const bool fits = line.columns == columns && line.rows == 0;
            plm_table_free(&line);
            if (fits)
                continue;
        }
        free(d->row[i].line);
        d->row[i].line = NULL;
    }
}

static int begin(const struct plm_dataset *d, const char *path, const char *settings, struct plm_error *error)
{
    FILE *out = fopen(path, "we");
    bool failed = !out;
    if (out) {
        fprintf(out, "%s\n", settings);
        for (size_t i = 0; i < d->rows; i++)
            if (d->row[i].line)
                fprintf(out, "%zu %d %s", i, d->row[i].failed, d->row[i].line);
        failed = ferror(out) != 0;
        failed |= fclose(out) != 0;
    }
    return failed ? plm_fail(error, PLM_EIO, "cannot write %.200s: %s", path, strerror(errno)) : 0;
}

static int other_settings(const struct plm_dataset *d, const char *there, const char *settings, struct plm_error *error)
{
    const char *mark = strstr(settings, " # ");
    const size_t same = mark ? (size_t)(mark - settings) : 0;
    if (!strncmp(there, settings, same + 3))
        return plm_fail(error, PLM_EINVAL,
                        "%.150s was begun before plimsoll, the environment or what is run has changed; -f begins anew",
                        d->settings->folder);
    return plm_fail(error, PLM_EINVAL, "%.150s was begun with %.*s; give these options, or -f to begin anew",
                    d->settings->folder, (int)strcspn(there, "#\n") < 200 ? (int)strcspn(there, "#\n") - 1 : 200,
                    there);
}

/* What a file of before has: lines of the same settings. */
static int before_take(struct plm_dataset *d, char *text, const char *settings, bool anew, struct plm_error *error)
{
    char *rest = strchr(text, '\n');
    if (rest && (size_t)(rest - text) == strlen(settings) && !strncmp(text, settings, strlen(settings))) {
        plm_dataset_take(d, rest + 1);
        lines_check(d);
        return 0;
    }
    return anew ? 0 : other_settings(d, text, settings, error);
}

int plm_dataset_resume(struct plm_dataset *d, bool anew, struct plm_error *error)
{
    char path[4096], settings[2048], *text;
    int status = 0;
    plm_dataset_path(d, "rows", path, sizeof path);
    settings_text(d, settings, sizeof settings);
    if (mkdir(d->settings->folder, 0777) && errno != EEXIST)
        return plm_fail(error, PLM_EIO, "cannot make the folder %.200s: %s", d->settings->folder, strerror(errno));
    text = plm_dataset_text(path);
    if (text)
        status = before_take(d, text, settings, anew, error);
    free(text);
    return status ? status : begin(d, path, settings, error);
}
