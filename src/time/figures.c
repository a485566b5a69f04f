#include "time/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/json_tree.h"
#include "base/memory.h"
#include "record/events.h"

/* A day: no figure takes longer. */
static const double US_MOST = 86400e6;
static const double AMOUNT_MOST = 1e18;

struct line {
    const char *name;
    int number;
    const struct plm_json_tree *tree;
    const struct plm_json_node *object;
    bool ended;  /* the last line was seen */
    bool begun;  /* the first one */
};

static int line_fail(const struct line *line, struct plm_error *error, const char *sentence)
{
    return plm_fail(error, PLM_EFORMAT, "%.200s:%d: %s", line->name, line->number, sentence);
}

/* ---- words ---- */

static const struct word {
    const char *text;
    int value;
} types[] =
    {
        {"fp64", PLM_WORK_FP64}, {"fp32", PLM_WORK_FP32}, {"tf32", PLM_WORK_TF32},
        {"fp16", PLM_WORK_FP16}, {"bf16", PLM_WORK_BF16}, {"fp8", PLM_WORK_FP8},
},
  operations[] = {
      {"forward", PLM_CONVOLUTION_FORWARD},
      {"backward_data", PLM_CONVOLUTION_BACKWARD_DATA},
      {"backward_filter", PLM_CONVOLUTION_BACKWARD_FILTER},
      {"backward", PLM_ATTENTION_BACKWARD},
      {"host_to_device", PLM_COPY_HOST_TO_DEVICE},
      {"device_to_host", PLM_COPY_DEVICE_TO_HOST},
      {"device_to_device", PLM_COPY_DEVICE_TO_DEVICE},
};
_Static_assert((int)PLM_CONVOLUTION_FORWARD == (int)PLM_ATTENTION_FORWARD, "one word for both");

static int word_find(const struct word *words, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(words[i].text, text))
            return words[i].value;
    return -1;
}

static int class_find(const char *text)
{
    for (int i = 0; i < PLM_WORK_CLASSES; i++)
        if (!strcmp(plm_work_class_name((enum plm_work_class)i), text))
            return i;
    return -1;
}

/* ---- a figure ---- */

enum kind { SWITCH, BYTE, NUMBER, AMOUNT };

static const struct member {
    const char *name;
    enum kind kind;
    size_t place;
} members[] = {
    {"bytes_per", BYTE, offsetof(struct plm_work, bytes_per)},
    {"m", NUMBER, offsetof(struct plm_work, m)},
    {"n", NUMBER, offsetof(struct plm_work, n)},
    {"k", NUMBER, offsetof(struct plm_work, k)},
    {"batch", NUMBER, offsetof(struct plm_work, batch)},
    {"filter", NUMBER, offsetof(struct plm_work, filter)},
    {"stride", NUMBER, offsetof(struct plm_work, stride)},
    {"flops", AMOUNT, offsetof(struct plm_work, flops)},
    {"read", AMOUNT, offsetof(struct plm_work, read)},
    {"written", AMOUNT, offsetof(struct plm_work, written)},
    {"input", AMOUNT, offsetof(struct plm_work, input)},
    {"output", AMOUNT, offsetof(struct plm_work, output)},
    {"pinned", SWITCH, offsetof(struct plm_work, pinned)},
    {"channels_last", SWITCH, offsetof(struct plm_work, channels_last)},
    {"strided", SWITCH, offsetof(struct plm_work, strided)},
};

static int amount_read(const struct line *line, const struct member *member, double most, double *out,
                       struct plm_error *error)
{
    int status = plm_json_tree_get_real(line->tree, line->object, member->name, out, error);
    if (!status && !(*out >= 0 && *out <= most)) {
        char sentence[96];
        snprintf(sentence, sizeof sentence, "\"%s\" is not a number from 0 to %g", member->name, most);
        status = line_fail(line, error, sentence);
    }
    return status;
}

static int member_read(const struct line *line, const struct member *member, struct plm_work *work,
                       struct plm_error *error)
{
    static const double most[] = {[BYTE] = UINT8_MAX, [NUMBER] = UINT32_MAX, [AMOUNT] = AMOUNT_MOST};
    char *place = (char *)work + member->place;
    double amount = 0;
    int status;
    if (member->kind == SWITCH)
        return plm_json_tree_get_bool(line->tree, line->object, member->name, (bool *)place, error);
    status = amount_read(line, member, most[member->kind], &amount, error);
    if (status)
        return status;
    if (member->kind == BYTE)
        *(uint8_t *)place = (uint8_t)amount;
    else if (member->kind == NUMBER)
        *(uint32_t *)(void *)place = (uint32_t)amount;
    else
        *(double *)(void *)place = amount;
    return 0;
}

/* The words of a figure's work: its class, type and operation. */
static int words_read(const struct line *line, struct plm_figure *figure, struct plm_error *error)
{
    const char *class = "", *type = "fp32", *operation = "forward";
    int a, b, c, status;
    if ((status = plm_json_tree_get_text(line->tree, line->object, "class", &class, error)) ||
        (status = plm_json_tree_get_text(line->tree, line->object, "type", &type, error)) ||
        (status = plm_json_tree_get_text(line->tree, line->object, "operation", &operation, error)))
        return status;
    figure->sized = *class != '\0';
    a = figure->sized ? class_find(class) : 0;
    b = word_find(types, sizeof types / sizeof types[0], type);
    c = word_find(operations, sizeof operations / sizeof operations[0], operation);
    if (a < 0 || b < 0 || c < 0)
        return line_fail(line, error, "a class, type or operation that the time model does not have");
    figure->work.class = (uint8_t)a;
    figure->work.type = (uint8_t)b;
    figure->work.operation = (uint8_t)c;
    figure->work.sized = true;
    return 0;
}

static int figure_read(const struct line *line, const char *name, struct plm_figures *figures, struct plm_error *error)
{
    struct plm_figure figure = {.us = -1};
    int status = words_read(line, &figure, error);
    for (size_t i = 0; !status && i < sizeof members / sizeof members[0]; i++)
        status = member_read(line, &members[i], &figure.work, error);
    if (!status)
        status = plm_json_tree_get_real(line->tree, line->object, "us", &figure.us, error);
    if (status)
        return status;
    if (!(figure.us >= 0 && figure.us <= US_MOST) || (figure.sized && !(figure.us > 0)))
        return line_fail(line, error, "\"us\" is not a possible duration");
    snprintf(figure.name, sizeof figure.name, "%s", name);
    figures->item = plm_grow(figures->item, figures->count, &figures->room, sizeof *figures->item);
    figures->item[figures->count++] = figure;
    return 0;
}

/* ---- lines ---- */

static int label_read(const struct line *line, const char *key, char *out, size_t size, struct plm_error *error)
{
    const char *text = "";
    const int status = plm_json_tree_get_text(line->tree, line->object, key, &text, error);
    snprintf(out, size, "%s", text);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return status;
}

static int head_read(struct line *line, struct plm_figures *f, struct plm_error *error)
{
    char edition[16];
    int status;
    if ((status = label_read(line, "plimsoll", edition, sizeof edition, error)) ||
        (status = label_read(line, "gpu", f->gpu, sizeof f->gpu, error)) ||
        (status = label_read(line, "torch", f->torch, sizeof f->torch, error)) ||
        (status = label_read(line, "cuda", f->cuda, sizeof f->cuda, error)) ||
        (status = label_read(line, "driver", f->driver, sizeof f->driver, error)) ||
        (status = plm_json_tree_get_unsigned(line->tree, line->object, "sms", &f->sms, error)) ||
        (status = plm_json_tree_get_unsigned(line->tree, line->object, "memory", &f->memory, error)))
        return status;
    if (strcmp(edition, "times/1") != 0 || !*f->gpu)
        return line_fail(line, error, "this does not start like the output of plimsoll_calibrate_time.py");
    line->begun = true;
    return 0;
}

static int end_read(struct line *line, const struct plm_figures *f, struct plm_error *error)
{
    uint64_t count = 0;
    const int status = plm_json_tree_get_unsigned(line->tree, line->object, "end", &count, error);
    if (status)
        return status;
    if (count != f->count)
        return plm_fail(error, PLM_EFORMAT, "%.200s:%d: expected %llu figures, found %zu", line->name, line->number,
                        (unsigned long long)count, f->count);
    line->ended = true;
    return 0;
}

static int line_take(struct line *line, struct plm_figures *figures, struct plm_error *error)
{
    const char *name = NULL;
    int status;
    if (plm_json_tree_kind(line->object) != PLM_JSON_OBJECT || line->ended)
        return line_fail(line, error, "this is not a line of plimsoll_calibrate_time.py");
    if (!line->begun)
        return head_read(line, figures, error);
    if (plm_json_tree_find(line->tree, line->object, "end"))
        return end_read(line, figures, error);
    if (plm_json_tree_find(line->tree, line->object, "skipped"))
        return 0;
    status = plm_json_tree_get_text(line->tree, line->object, "figure", &name, error);
    if (status)
        return status;
    if (!name)
        return line_fail(line, error, "this is not a line of plimsoll_calibrate_time.py");
    return figure_read(line, name, figures, error);
}

static int line_read(struct line *line, const char *text, size_t size, struct plm_figures *figures,
                     struct plm_error *error)
{
    struct plm_json_tree *tree;
    char place[256];
    int status;
    snprintf(place, sizeof place, "%.200s:%d", line->name, line->number);
    status = plm_json_tree_read_memory(place, text, size, &tree, error);
    if (status)
        return status;
    line->tree = tree;
    line->object = plm_json_tree_root(tree);
    status = line_take(line, figures, error);
    plm_json_tree_free(tree);
    return status;
}

int plm_figures_parse(const char *name, const char *text, size_t size, struct plm_figures *figures,
                      struct plm_error *error)
{
    const char *end = text + size;
    struct line line = {.name = name};
    int status = 0;
    *figures = (struct plm_figures){0};
    for (const char *next; text < end && !status; text = next) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        next = stop ? stop + 1 : end;
        line.number++;
        if (stop != text)
            status = line_read(&line, text, (size_t)((stop ? stop : end) - text), figures, error);
    }
    if (!status && !line.ended)
        status =
            plm_fail(error, PLM_EFORMAT, "%.200s ends too early: its last line is not the count of its figures", name);
    return status;
}

void plm_figures_free(struct plm_figures *figures)
{
    free(figures->item);
    *figures = (struct plm_figures){0};
}

const struct plm_figure *plm_figures_find(const struct plm_figures *figures, const char *name,
                                          const struct plm_figure *after)
{
    for (size_t i = after ? (size_t)(after - figures->item) + 1 : 0; i < figures->count; i++)
        if (!strcmp(figures->item[i].name, name))
            return &figures->item[i];
    return NULL;
}
