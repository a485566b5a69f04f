#include "sweep/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/input.h"
#include "base/memory.h"
#include "base/output.h"
#include "sweep/config.h"

enum { CONFIG_MOST = 16 << 20 };

/* ---- where a parameter is ---- */

/* "{batch}" in a word; NULL: it is not there. */
static const char *slot_find(const char *word, const struct plm_sweep_parameter *p)
{
    const size_t n = strlen(p->name);
    for (const char *at = word; (at = strchr(at, '{')); at++)
        if (!strncmp(at + 1, p->name, n) && at[1 + n] == '}')
            return at;
    return NULL;
}

/* Where in a word the path of its config begins: "train.yaml" or "--config=train.yaml". NULL: it is another word. */
static const char *file_find(const char *word, const struct plm_sweep_parameter *p)
{
    const size_t n = strlen(p->file), all = strlen(word);
    if (all < n || strcmp(word + all - n, p->file) != 0 || (all > n && word[all - n - 1] != '='))
        return NULL;
    return word + all - n;
}

static bool is_there(const struct plm_sweep_parameter *p, char *const *words)
{
    for (; *words; words++)
        if (p->where == PLM_SWEEP_WORD ? slot_find(*words, p) : file_find(*words, p))
            return true;
    return p->where == PLM_SWEEP_ENVIRONMENT;
}

/* ---- changed copies ---- */

/* Whatever is wrong with it is wrong with what was typed. */
static int config_read(const char *path, char **text, size_t *size, struct plm_error *error)
{
    uint64_t bytes;
    const int file = plm_input_open(path, &bytes, error);
    FILE *in = file >= 0 ? fdopen(file, "r") : NULL;
    if (!in) {
        if (error)
            error->code = PLM_EINVAL;
        return PLM_EINVAL;
    }
    if (bytes > CONFIG_MOST) {
        fclose(in);
        return plm_fail(error, PLM_EINVAL, "%.200s is no config: it is larger than %d MiB", path, CONFIG_MOST >> 20);
    }
    *text = plm_calloc((size_t)bytes + 1, 1);
    *size = fread(*text, 1, (size_t)bytes, in);
    fclose(in);
    return 0;
}

/* The first of the parameters that change this file does the work for all of them. */
static bool is_first_of_file(const struct plm_sweep_parameters *all, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (all->item[i].where == PLM_SWEEP_CONFIG && !strcmp(all->item[i].file, all->item[at].file))
            return false;
    return all->item[at].where == PLM_SWEEP_CONFIG;
}

static int config_change(const struct plm_sweep_parameters *all, size_t at, char (*value)[PLM_SWEEP_TEXT], char **text,
                         size_t *size, struct plm_error *error)
{
    const char *file = all->item[at].file;
    int status = config_read(file, text, size, error);
    if (status)
        return status;
    for (size_t i = at; i < all->count && status == 0; i++) {
        char *copy = NULL;
        if (all->item[i].where != PLM_SWEEP_CONFIG || strcmp(all->item[i].file, file) != 0)
            continue;
        status = plm_sweep_config_edit(file, *text, *size, all->item[i].name, value ? value[i] : all->item[i].value[0],
                                       &copy, size, error);
        if (status == 0) {
            free(*text);
            *text = copy;
        }
    }
    if (status)
        free(*text);
    return status;
}

struct bytes {
    const char *text;
    size_t size;
};

static int bytes_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct bytes *b = what;
    return fwrite(b->text, 1, b->size, out) == b->size ? 0 : plm_fail(error, PLM_EIO, "cannot write a config");
}

/* "PREFIX0-train.yaml": a name that a program which looks at it understands. */
static int copy_make(const struct plm_sweep_parameters *all, size_t at, char (*value)[PLM_SWEEP_TEXT],
                     const char *prefix, char **copy, struct plm_error *error)
{
    const char *slash = strrchr(all->item[at].file, '/');
    char *text = NULL;
    struct bytes bytes;
    size_t size = 0;
    int status = config_change(all, at, value, &text, &size, error);
    if (status)
        return status;
    *copy = plm_asprintf("%s%zu-%s", prefix, at, slash ? slash + 1 : all->item[at].file);
    bytes = (struct bytes){text, size};
    status = plm_output_write(*copy, &(struct plm_output_rule){.force = true}, bytes_write, &bytes, error);
    free(text);
    return status;
}

/* ---- the command ---- */

int plm_sweep_command_check(const struct plm_sweep_parameters *all, char *const *words, struct plm_error *error)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct plm_sweep_parameter *p = &all->item[i];
        if (!is_there(p, words) && p->where == PLM_SWEEP_WORD)
            return plm_fail(error, PLM_EINVAL, "{%.100s} is nowhere in the command; write it where the value belongs",
                            p->name);
        if (!is_there(p, words))
            return plm_fail(error, PLM_EINVAL,
                            "%.200s is not among the words of the command, so it has no use for a copy", p->file);
        if (is_first_of_file(all, i)) {
            char *text = NULL;
            size_t size = 0;
            const int status = config_change(all, i, NULL, &text, &size, error);
            if (status)
                return status;
            free(text);
        }
    }
    return 0;
}

/* The word with `value` in place of what stands from `at` on, `size` bytes of it. */
static void splice(char **word, const char *at, size_t size, const char *value)
{
    char *made = plm_asprintf("%.*s%s%s", (int)(at - *word), *word, value, at + size);
    free(*word);
    *word = made;
}

/* All slots in one pass: a value that has braces of its own is left as it is. */
static char *slots_fill(const struct plm_sweep_parameters *all, char (*value)[PLM_SWEEP_TEXT], const char *word)
{
    char *made;
    size_t size, used;
    FILE *out = open_memstream(&made, &size);
    if (!out)
        plm_out_of_memory();
    for (; *word; word += used) {
        used = 1;
        for (size_t i = 0; *word == '{' && i < all->count && used == 1; i++)
            if (all->item[i].where == PLM_SWEEP_WORD && slot_find(word, &all->item[i]) == word) {
                fputs(value[i], out);
                used = strlen(all->item[i].name) + 2;
            }
        if (used == 1)
            fputc(*word, out);
    }
    fclose(out);
    return made;
}

static char *word_make(const struct plm_sweep_parameters *all, char (*value)[PLM_SWEEP_TEXT],
                       char *const copy[PLM_SWEEP_PARAMETERS], const char *word)
{
    char *made;
    for (size_t i = 0; i < all->count; i++) {
        const char *at = copy[i] ? file_find(word, &all->item[i]) : NULL;
        if (at) {
            made = plm_strdup(word);
            splice(&made, made + (at - word), strlen(at), copy[i]);
            return made;
        }
    }
    return slots_fill(all, value, word);
}

int plm_sweep_command_make(const struct plm_sweep_parameters *all, char (*value)[PLM_SWEEP_TEXT], char *const *words,
                           const char *prefix, struct plm_sweep_command *out, struct plm_error *error)
{
    size_t count = 0, variables = 0;
    int status = 0;
    *out = (struct plm_sweep_command){0};
    while (words[count])
        count++;
    out->words = plm_calloc(count + 1, sizeof *out->words);
    out->environment = plm_calloc(all->count + 1, sizeof *out->environment);
    for (size_t i = 0; i < all->count && status == 0; i++) {
        if (all->item[i].where == PLM_SWEEP_ENVIRONMENT)
            out->environment[variables++] = plm_asprintf("%s=%s", all->item[i].name, value[i]);
        if (is_first_of_file(all, i))
            status = copy_make(all, i, value, prefix, &out->copy[i], error);
    }
    for (size_t i = 0; i < count && status == 0; i++)
        out->words[i] = word_make(all, value, out->copy, words[i]);
    if (status)
        plm_sweep_command_free(out);
    return status;
}

void plm_sweep_command_free(struct plm_sweep_command *command)
{
    for (char **word = command->words; word && *word; word++)
        free(*word);
    for (char **variable = command->environment; variable && *variable; variable++)
        free(*variable);
    for (size_t i = 0; i < PLM_SWEEP_PARAMETERS; i++)
        free(command->copy[i]);
    free(command->words);
    free(command->environment);
    *command = (struct plm_sweep_command){0};
}
