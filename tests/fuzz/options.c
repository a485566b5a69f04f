/*
 * The command line: the first byte chooses a command, the rest are words that end with zeros, as an argument vector has
 * them. Every value that the tables of that command let through is one of its type, and every word is still there.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "cli/commands.h"
#include "fuzz.h"

enum { WORDS = 64, VALUES = 4096 };

static void check_value(const struct plm_option *o, const char *values, char *const *argv, int argc)
{
    const void *value = o->at < VALUES ? values + o->at : NULL;
    const char *text;
    bool given = false;
    if (!value)
        return; /* --config, which has no place */
    switch (o->type) {
    case PLM_OPTION_FLAG: MUST(*(const unsigned char *)value <= 1); break;
    case PLM_OPTION_NUMBER: MUST(*(const int *)value >= 0); break;
    case PLM_OPTION_SIZE: break;
    case PLM_OPTION_CHOICE:
    case PLM_OPTION_OUTPUT:
    case PLM_OPTION_TEXT:
        text = *(const char *const *)value;
        for (int i = 0; text && i < argc; i++)
            given |= text >= argv[i] && text <= argv[i] + strlen(argv[i]);
        /* A part of the command line, not a copy that nobody owns; or standard output. */
        MUST(!text || given || (o->type == PLM_OPTION_OUTPUT && !strcmp(text, "-")));
    }
}

static void check_command(const struct plm_command *c, int argc, char **argv)
{
    static _Alignas(16) char values[VALUES];
    struct plm_option row[PLM_OPTIONS_MOST];
    const struct plm_option *options = c->make_options ? c->make_options() : c->options;
    const char *word[WORDS] = {0};
    struct plm_error error = {0};
    size_t rows = plm_options_list(options, row);
    int rest = -1, words = -1;

    if (!options)
        return;
    for (size_t i = 0; i < rows; i++)
        MUST(row[i].at == (size_t)-1 || row[i].at + sizeof(uint64_t) <= VALUES);
    unsetenv("PLIMSOLL_CONFIG"); /* --config sets it */
    memset(values, 0, sizeof values);
    if (plm_options_parse(options, values, c->name, argc, argv, &rest, &error)) {
        MUST(error.text[0]);
    } else {
        MUST(rest >= 0 && rest <= argc && (rest == argc || !rest || argv[rest]));
        for (size_t i = 0; i < rows; i++)
            check_value(&row[i], values, argv, argc);
    }
    memset(values, 0, sizeof values);
    if (plm_options_among(options, values, c->name, argc, argv, word, WORDS, &words, &error)) {
        MUST(error.text[0]);
        return;
    }
    MUST(words >= 0 && words <= argc);
    for (int i = 0; i < words; i++)
        MUST(word[i] && strlen(word[i]) < 1u << 20);
    for (size_t i = 0; i < rows; i++)
        check_value(&row[i], values, argv, argc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct plm_command *command;
    char *argv[WORDS + 1] = {0}, *text;
    int argc = 0;
    if (size < 2)
        return 0;
    command = plm_commands[data[0] % PLM_COMMANDS];
    text = malloc(size);
    MUST(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    for (char *at = text; at < text + size && argc < WORDS; at += strlen(at) + 1)
        argv[argc++] = at;
    check_command(command, argc, argv);
    for (const struct plm_command *const *side = command->sides; side && *side; side++)
        check_command(*side, argc, argv);
    free(text);
    return 0;
}
