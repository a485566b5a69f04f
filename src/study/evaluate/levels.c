#include "study/evaluate/levels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "common/error.h"
#include "common/ini.h"

enum { BATCHES_MOST = 4096, LEVELS_MOST = 4096, NAME = 256 };
static const char *const keys[PLM_LEVEL_LISTS] = {"models", "optimizers", "batches", "gpus", "zero_grad"};

/* PLM_LEVEL_LISTS: it is the name of none. */
static int kind_of(const char *key)
{
    int kind = 0;
    while (kind < PLM_LEVEL_LISTS && strcmp(key, keys[kind]) != 0)
        kind++;
    return kind;
}

struct reading {
    struct plm_levels *levels;
    bool only;
};

static struct plm_levels_family *family_of(struct plm_levels *levels, const char *name)
{
    struct plm_levels_family *new;
    for (size_t i = 0; i < levels->families; i++)
        if (!strncasecmp(levels->family[i].name, name, sizeof levels->family[i].name - 1))
            return &levels->family[i];
    levels->family = plm_grow(levels->family, levels->families, &levels->room, sizeof *levels->family);
    new = &levels->family[levels->families++];
    *new = (struct plm_levels_family){0};
    snprintf(new->name, sizeof new->name, "%s", name);
    return new;
}

/* Each once, with how often it came. PLM_EFORMAT: there are too many. */
static int level_add(struct plm_level_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->level[i].text, text)) {
            list->level[i].times++;
            return 0;
        }
    if (list->count >= LEVELS_MOST)
        return PLM_EFORMAT;
    list->level = plm_grow(list->level, list->count, &list->room, sizeof *list->level);
    list->level[list->count++] = (struct plm_level_item){plm_strdup(text), 1};
    return 0;
}

/* ---- from a truth file ---- */

/* Stable, for lists of a few dozen. */
static void list_sort(struct plm_level_list *list, bool by_number)
{
    for (size_t i = 1; i < list->count; i++)
        for (size_t k = i; k > 0; k--) {
            const struct plm_level_item one = list->level[k], other = list->level[k - 1];
            bool before =
                by_number ? strtoull(one.text, NULL, 10) < strtoull(other.text, NULL, 10) : one.times > other.times;
            if (!before)
                break;
            list->level[k] = other;
            list->level[k - 1] = one;
        }
}

static int add_row(struct plm_levels *levels, const struct plm_truth_row *row)
{
    struct plm_levels_family *f = family_of(levels, row->family);
    char batch[24], mode[12] = "";
    const char *text[PLM_LEVEL_LISTS] = {row->model, row->optimizer, batch, row->gpu, mode};
    int status = 0;
    snprintf(batch, sizeof batch, "%llu", (unsigned long long)row->batch);
    if (row->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN)
        snprintf(mode, sizeof mode, "%d", row->zero_grad);
    for (int i = 0; i < PLM_LEVEL_LISTS && status == 0; i++)
        if (i != PLM_LEVEL_GPU || *text[i])
            status = level_add(&f->list[i], text[i]);
    return status;
}

int plm_levels_of_truth(const struct plm_truth *truth, struct plm_levels *levels)
{
    int status = 0;
    *levels = (struct plm_levels){0};
    for (size_t i = 0; i < truth->rows && status == 0; i++)
        status = add_row(levels, &truth->row[i]);
    for (size_t i = 0; i < levels->families; i++) {
        list_sort(&levels->family[i].list[PLM_LEVEL_BATCH], true);
        list_sort(&levels->family[i].list[PLM_LEVEL_GPU], false);
        list_sort(&levels->family[i].list[PLM_LEVEL_ZERO_GRAD], false);
    }
    if (status)
        plm_levels_free(levels);
    return status;
}

/* ---- from a file ---- */

static int whole_number(const char *text, char **end, unsigned long *value)
{
    errno = 0;
    *value = strtoul(text, end, 10);
    while (**end == ' ')
        (*end)++;
    return *end == text || errno || *text == '-' || *value > 1000000000 ? PLM_EINVAL : 0;
}

/* "200", "5..55" or "5..55 step 5". */
static int add_batches(struct plm_level_list *list, const char *text)
{
    unsigned long first, last, step = 1;
    char *end, number[24];
    int status = whole_number(text, &end, &first);
    last = first;
    if (status == 0 && !strncmp(end, "..", 2))
        status = whole_number(end + 2, &end, &last);
    if (status == 0 && !strncmp(end, "step ", 5))
        status = whole_number(end + 5, &end, &step);
    if (status || *end || !first || last < first || !step || (last - first) / step >= BATCHES_MOST)
        return PLM_EINVAL;
    for (unsigned long batch = first; batch <= last && status == 0; batch += step) {
        snprintf(number, sizeof number, "%lu", batch);
        status = level_add(list, number);
    }
    return status;
}

static int add_item(struct plm_level_list *list, int kind, const char *text)
{
    if (kind == PLM_LEVEL_BATCH)
        return add_batches(list, text);
    if (kind == PLM_LEVEL_ZERO_GRAD && (text[0] < '0' || text[0] > '2' || text[1]))
        return PLM_EINVAL;
    return level_add(list, text);
}

static int add_list(struct plm_level_list *list, int kind, const struct plm_ini_pair *pair, struct plm_error *error)
{
    const char *from = pair->value;
    int status = 0;
    while (status == 0) {
        char item[NAME];
        size_t n = strcspn(from, ","), blank = strspn(from, " \t");
        const char *next = from[n] ? from + n + 1 : NULL;
        blank = blank < n ? blank : n;
        from += blank;
        n -= blank;
        while (n && (from[n - 1] == ' ' || from[n - 1] == '\t'))
            n--;
        snprintf(item, sizeof item, "%.*s", (int)(n < NAME ? n : 0), from);
        status = *item ? add_item(list, kind, item) : PLM_EINVAL;
        if (status == PLM_EINVAL)
            return plm_fail(error, PLM_EFORMAT, "%.200s:%d: %s: \"%.60s\" is not %s", pair->path, pair->line, pair->key,
                            item,
                            kind == PLM_LEVEL_BATCH       ? "a batch size or a range like 5..55 step 5"
                            : kind == PLM_LEVEL_ZERO_GRAD ? "a position: 0, 1 or 2"
                                                          : "a name");
        if (!next)
            break;
        from = next;
    }
    return status ? plm_fail(error, PLM_EFORMAT, "%.200s:%d: the list is too long", pair->path, pair->line) : 0;
}

static int pair_take(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    const struct reading *r = context;
    struct plm_levels_family *f;
    const int kind = kind_of(pair->key);
    if (kind == PLM_LEVEL_LISTS && !r->only)
        return 0;
    if (kind == PLM_LEVEL_LISTS || !*pair->section || strlen(pair->section) >= sizeof f->name)
        return plm_fail(error, PLM_EFORMAT,
                        "%.200s:%d: under [family] there are models, optimizers, batches, gpus and zero_grad",
                        pair->path, pair->line);
    f = family_of(r->levels, pair->section);
    return add_list(&f->list[kind], kind, pair, error);
}

int plm_levels_read(const char *path, bool only, struct plm_levels *levels, struct plm_error *error)
{
    struct reading r = {levels, only};
    int status;
    *levels = (struct plm_levels){0};
    status = plm_ini_read(path, pair_take, &r, error);
    for (size_t i = 0; i < levels->families && status == 0; i++)
        if (!levels->family[i].list[PLM_LEVEL_MODEL].count || !levels->family[i].list[PLM_LEVEL_BATCH].count)
            status =
                plm_fail(error, PLM_EFORMAT, "%.200s: [%s] needs models and batches", path, levels->family[i].name);
    if (status == 0 && !levels->families)
        status = plm_fail(error, PLM_EFORMAT, "%.200s names no models and batches", path);
    if (status)
        plm_levels_free(levels);
    return status;
}

void plm_levels_free(struct plm_levels *levels)
{
    for (size_t i = 0; i < levels->families; i++)
        for (int k = 0; k < PLM_LEVEL_LISTS; k++) {
            struct plm_level_list *list = &levels->family[i].list[k];
            for (size_t n = 0; n < list->count; n++)
                free(list->level[n].text);
            free(list->level);
        }
    free(levels->family);
    *levels = (struct plm_levels){0};
}

bool plm_levels_key(const char *key)
{
    return kind_of(key) < PLM_LEVEL_LISTS;
}
