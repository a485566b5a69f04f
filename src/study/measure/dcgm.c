#include "study/measure/dcgm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* In the order of plm_dcgm_fields, which is what each is asked for by. */
const char plm_dcgm_fields[] = "203,1001,1002,1003,1007,1004,1005";

static const struct {
    const char *name;
    enum plm_metric metric;
    double whole; /* what is printed for "all the time" */
} fields[] = {
    {"GPUTL", PLM_METRIC_GPUTL, 100}, /* 203 */
    {"GRACT", PLM_METRIC_GRACT, 1},   /* 1001 */
    {"SMACT", PLM_METRIC_SMACT, 1},   /* 1002 */
    {"SMOCC", PLM_METRIC_SMOCC, 1},   /* 1003 */
    {"FP32A", PLM_METRIC_FP32A, 1},   /* 1007 */
    {"TENSO", PLM_METRIC_TENSO, 1},   /* 1004 */
    {"DRAMA", PLM_METRIC_DRAMA, 1},   /* 1005 */
};
enum { FIELDS = sizeof fields / sizeof fields[0], WORD = 64 };
_Static_assert((int)FIELDS == (int)PLM_METRICS, "each metric has a field of DCGM");

/* The next word of a line; false at its end. */
static bool word_next(const char **line, char word[WORD])
{
    size_t length;
    *line += strspn(*line, " \t\r\n");
    length = strcspn(*line, " \t\r\n");
    snprintf(word, WORD, "%.*s", (int)(length < WORD ? length : WORD - 1), *line);
    *line += length;
    return length > 0;
}

/* ---- which card ---- */

/* The number in the first cell of a row of the table: "| 3      | Name: ..."; -1: none. */
static int first_cell(const char *line)
{
    char *end;
    long number;
    line += strspn(line, " \t|");
    number = strtol(line, &end, 10);
    return end == line || number < 0 || number > 4096 || !strchr(" \t|", *end) ? -1 : (int)number;
}

/* Whether a line has this UUID, and not a longer one that begins with it. */
static bool has_uuid(const char *line, size_t length, const char *uuid)
{
    const size_t n = strlen(uuid);
    for (size_t i = 0; n && i + n <= length; i++)
        if (!strncasecmp(line + i, uuid, n) && (i + n == length || isspace((unsigned char)line[i + n])))
            return true;
    return false;
}

int plm_dcgm_card(const char *discovery, const char *uuid)
{
    int card = -1;
    while (*discovery) {
        const size_t length = strcspn(discovery, "\n");
        const int number = *discovery == '|' ? first_cell(discovery) : -1;
        card = number < 0 ? card : number;
        if (has_uuid(discovery, length, uuid))
            return card;
        discovery += length + (discovery[length] == '\n');
    }
    return -1;
}

/* ---- lines of figures ---- */

static int field_find(const char *name)
{
    for (int i = 0; i < FIELDS; i++)
        if (!strcasecmp(fields[i].name, name))
            return i;
    return -1;
}

/* "# Entity  GPUTL ..." or "#Entity  GPUTL ...": from now on columns are these. */
static void head_read(struct plm_dcgm *dcgm, const char *line, char word[WORD])
{
    dcgm->columns = 0;
    if (!word[1] && !word_next(&line, word)) /* "Entity" */
        return;
    while (dcgm->columns < PLM_DCGM_COLUMNS && word_next(&line, word))
        dcgm->column[dcgm->columns++] = field_find(word);
}

static void figure_read(const char *word, int field, struct plm_reading *reading)
{
    char *end;
    const double value = strtod(word, &end);
    const enum plm_metric metric = field < 0 ? PLM_METRICS : fields[field].metric;
    if (field < 0 || end == word || *end || !(value >= 0) || value > fields[field].whole * 1.05)
        return;
    reading->value[metric] = value < fields[field].whole ? value / fields[field].whole : 1;
    reading->given[metric] = true;
}

bool plm_dcgm_line(struct plm_dcgm *dcgm, const char *line, struct plm_reading *reading)
{
    char word[WORD], *end;
    bool any = false;
    *reading = (struct plm_reading){0};
    if (!word_next(&line, word))
        return false;
    if (word[0] == '#') {
        head_read(dcgm, line, word);
        return false;
    }
    if (strcmp(word, "GPU") != 0 || !word_next(&line, word)) /* "GPU-I 1" is a part of a card */
        return false;
    if (strtol(word, &end, 10) != dcgm->card || end == word || *end)
        return false;
    for (int i = 0; i < dcgm->columns && word_next(&line, word); i++)
        figure_read(word, dcgm->column[i], reading);
    for (int i = 0; i < PLM_METRICS; i++)
        any |= reading->given[i];
    return any;
}
