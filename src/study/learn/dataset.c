/* Which rows a dataset has, and what an earlier run has left of them. */
#include "study/learn/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
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
    const bool written = plm_csv_column(&d->from, "x_layers") >= 0;
    d->carried = plm_calloc(d->from.columns, sizeof *d->carried);
    for (size_t i = 0; i < d->from.columns; i++) {
        const char *name = plm_csv_name(&d->from, i);
        d->carried[i] = *name && plm_argument_find(name) < 0 &&
                        !(written ? plm_dataset_writes(name) : !strcmp(name, "family") || !strcmp(name, "row"));
    }
}

static int rows_read(struct plm_dataset *d, struct plm_error *error)
{
    const struct plm_dataset_settings *s = d->settings;
    const enum plm_family family = s->families ? s->family[0] : PLM_FAMILIES;
    int status = plm_csv_read(s->from, &d->from, error);
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
        return plm_fail(error, PLM_EREAD, "cannot read the folder %.200s: %s", d->settings->from, strerror(errno));
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
    *d = (struct plm_dataset){.settings = settings, .kept = -1};
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

static void kept_close(struct plm_dataset *d)
{
    if (d->kept >= 0)
        close(d->kept);
    d->kept = -1;
}

void plm_dataset_free(struct plm_dataset *d)
{
    for (size_t i = 0; i < d->rows; i++) {
        free(d->row[i].script);
        free(d->row[i].line);
    }
    free(d->row);
    free(d->carried);
    plm_csv_free(&d->from);
    kept_close(d);
    *d = (struct plm_dataset){.kept = -1};
}

/* ---- what is in between ---- */

void plm_dataset_path(const struct plm_dataset *d, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%.150s", d->settings->folder, name);
}

void plm_dataset_clean(const struct plm_dataset *d)
{
    if (d->kept >= 0)
        plm_ours_remove(d->settings->kept, d->kept);
}

char *plm_dataset_text(FILE *in)
{
    FILE *out;
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
    uint64_t key = plm_rows_key_device(PLM_KEY, s->install);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(s->script, '/') - s->script), s->script);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        key = plm_rows_key_file(key, folder, parts[i]);
    key = plm_rows_key_file(key, s->workloads, "mlp.py");
    for (size_t i = 0; i < d->rows && d->row[i].script; i++)
        key = plm_rows_key_file(key, s->from, d->row[i].script);
    return d->from.columns ? plm_rows_key_file(key, s->from, "") : key;
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
        struct plm_csv line;
        if (!d->row[i].line)
            continue;
        if (plm_csv_take("", plm_strdup(d->row[i].line), strlen(d->row[i].line), &line, NULL) == 0) {
            const bool fits = line.columns == columns && line.rows == 0;
            plm_csv_free(&line);
            if (fits)
                continue;
        }
        free(d->row[i].line);
        d->row[i].line = NULL;
    }
}

static int other_settings(const struct plm_dataset *d, const char *there, const char *settings, struct plm_error *error)
{
    const char *mark = strstr(settings, " # ");
    const size_t same = mark ? (size_t)(mark - settings) : 0, options = strcspn(there, "#\n");
    if (!strncmp(there, settings, same + 3))
        return plm_fail(error, PLM_EINVAL,
                        "%.150s was started before plimsoll, the environment or the programs changed; -f starts over",
                        d->settings->kept);
    if (!options)
        return plm_fail(error, PLM_EINVAL, "%.150s does not say which options it was started with; -f starts over",
                        d->settings->kept);
    return plm_fail(error, PLM_EINVAL, "%.150s was started with %.*s; give these options, or -f to start over",
                    d->settings->kept, options < 200 ? (int)options - 1 : 200, there);
}

/* Text that no dataset wrote has no such start. */
static const char mark[] = "plimsoll dataset ";

/* What a file of before has: lines of the same settings, which are `*size` bytes; 0: it is to be begun anew. */
static int before_take(struct plm_dataset *d, char *text, const char *settings, bool anew, off_t *size,
                       struct plm_error *error)
{
    char *rest = strchr(text, '\n'), *end = strrchr(text, '\n');
    if (rest && (size_t)(rest - text) == strlen(settings) && !strncmp(text, settings, strlen(settings))) {
        *size = end + 1 - text; /* what has no end is cut off */
        plm_dataset_take(d, rest + 1);
        lines_check(d);
        return 0;
    }
    return anew ? 0 : other_settings(d, text + strlen(mark), settings + strlen(mark), error);
}

/* Made now, or begun by a dataset before: no link, and nothing of somebody else's. */
static int kept_open(struct plm_dataset *d, struct plm_error *error)
{
    const char *path = d->settings->kept;
    char start[sizeof mark] = "";
    struct stat there;
    d->kept = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (d->kept >= 0)
        return 0;
    if (errno != EEXIST)
        return plm_fail(error, PLM_EIO, "cannot write %.200s: %s", path, strerror(errno));
    d->kept = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (d->kept >= 0 && fstat(d->kept, &there) == 0 && S_ISREG(there.st_mode) &&
        pread(d->kept, start, sizeof mark - 1, 0) > 0 && !strcmp(start, mark))
        return 0;
    kept_close(d);
    return plm_fail(
        error, PLM_EINVAL,
        "%.200s is in the way: `plimsoll dataset` did not make it; rename it, or choose another table with -o", path);
}

int plm_dataset_keep(const struct plm_dataset *d, const char *text, struct plm_error *error)
{
    size_t size = strlen(text);
    ssize_t n = 0;
    while (d->kept >= 0 && size && (n = write(d->kept, text, size)) > 0) {
        text += n;
        size -= (size_t)n;
    }
    if (d->kept < 0 || !size)
        return 0;
    return plm_fail(error, PLM_EIO, "cannot write %.300s: %s", d->settings->kept, strerror(n < 0 ? errno : ENOSPC));
}

int plm_dataset_resume(struct plm_dataset *d, bool anew, struct plm_error *error)
{
    char settings[2048], *text;
    off_t size = 0;
    int status;
    if (!d->settings->kept)
        return 0;
    strcpy(settings, mark);
    settings_text(d, settings + sizeof mark - 1, sizeof settings - sizeof mark);
    status = kept_open(d, error);
    if (status)
        return status;
    text = plm_dataset_text(fdopen(dup(d->kept), "r"));
    if (text && *text)
        status = before_take(d, text, settings, anew, &size, error);
    free(text);
    if (status == 0 && ftruncate(d->kept, size))
        status = plm_fail(error, PLM_EIO, "cannot write %.300s: %s", d->settings->kept, strerror(errno));
    if (status == 0 && !size) {
        strcat(settings, "\n");
        status = plm_dataset_keep(d, settings, error);
        if (status) /* without its mark nobody would know whose it is */
            plm_ours_remove(d->settings->kept, d->kept);
    }
    if (status)
        kept_close(d);
    return status;
}
