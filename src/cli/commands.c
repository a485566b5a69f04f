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

const char *plm_side_name(const struct plm_command *side)
{
    return side->name + strcspn(side->name, " ") + 1;
}

const struct plm_command *plm_command_side(const struct plm_command *c, const char *word)
{
    for (const struct plm_command *const *side = c->sides; side && *side; side++)
        if (!strcmp(plm_side_name(*side), word))
            return *side;
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

void plm_cli_option_text(const struct plm_option *o, char *out, size_t size)
{
    const char letter[] = {'-', o->letter, ',', ' ', '\0'};
    const bool optional = o->type == PLM_OPTION_OUTPUT;
    snprintf(out, size, "%s--%s%s%s%s", o->letter ? letter : "", o->name,
             optional      ? "[="
             : o->argument ? " "
                           : "",
             o->argument ? o->argument : "", optional ? "]" : "");
}

const char *plm_command_exit(const struct plm_command *c, int code, bool special)
{
    for (size_t i = 0; i < sizeof c->exit / sizeof c->exit[0] && c->exit[i].meaning; i++)
        if (c->exit[i].code == code)
            return c->exit[i].meaning;
    for (const struct plm_status *s = plm_statuses; s->meaning && !special; s++)
        if (s->number == code &&
            (s->of == PLM_STATUS_ALL || (s->of == PLM_STATUS_START && plm_command_takes_command(c))))
            return s->meaning;
    return NULL;
}
