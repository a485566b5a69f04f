#include "cli/commands.h"

#include <string.h>

#include "cli/cli.h"

#define COMMAND(name) &plm_command_##name,
const struct plm_command *const plm_commands[PLM_COMMANDS + 1] = {
#include "cli/commands.def"
    NULL};
#undef COMMAND

const struct plm_command *plm_command_find(const char *name)
{
    for (const struct plm_command *const *c = plm_commands; *c; c++)
        if (!strcmp((*c)->name, name))
            return *c;
    return NULL;
}

size_t plm_command_options(const struct plm_command *c, struct plm_option out[PLM_OPTIONS_MOST])
{
    size_t all = plm_options_list(c->make_options ? c->make_options() : c->options, out), shown = 0;
    for (size_t i = 0; i < all; i++)
        if (out[i].help)
            out[shown++] = out[i];
    return shown;
}

bool plm_command_takes_command(const struct plm_command *c)
{
    return c->words && strstr(c->words, "-- ");
}

bool plm_command_takes_only_command(const struct plm_command *c)
{
    return c->words && !strncmp(c->words, "-- ", 3);
}

void plm_option_text(const struct plm_option *o, char *out, size_t size)
{
    const char letter[] = {'-', o->letter, ',', ' ', '\0'};
    snprintf(out, size, "%s--%s%s%s", o->letter ? letter : "", o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
}

/* What a status means for every command, and for those that start one of the user's. */
static const struct {
    int code;
    bool starts;
    const char *meaning;
} common[] = {
    {PLM_EXIT_OK, false, "done"},
    {PLM_EXIT_USAGE, false, "usage"},
    {PLM_EXIT_COMMAND, true, "the command failed or was killed"},
    {PLM_EXIT_CANNOT, false, "something cannot be read or written"},
    {PLM_EXIT_NOT_RUNNABLE, true, "the command cannot be executed"},
    {PLM_EXIT_NOT_FOUND, true, "the command was not found"},
};

const char *plm_command_exit(const struct plm_command *c, int code, bool special)
{
    for (size_t i = 0; i < sizeof c->exit / sizeof c->exit[0] && c->exit[i].meaning; i++)
        if (c->exit[i].code == code)
            return c->exit[i].meaning;
    for (size_t i = 0; i < sizeof common / sizeof common[0] && !special; i++)
        if (common[i].code == code && (!common[i].starts || plm_command_takes_command(c)))
            return common[i].meaning;
    return NULL;
}
