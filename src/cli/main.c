#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"

static int version_run(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("plimsoll " PLM_VERSION);
    return PLM_EXIT_OK;
}

const struct plm_command plm_command_version = {
    .name = "version",
    .line = "the version",
    .example = {"plimsoll version"},
    .run = version_run,
};

int plm_complain(int status, const char *sentence)
{
    fprintf(stderr, "plimsoll: %s\n", sentence);
    return status;
}

/* As one text: the command may write to the same terminal. */
int plm_complain_of(int status, const char *format, ...)
{
    char sentence[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return plm_complain(status, sentence);
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv)
{
    const struct plm_command *command;
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        plm_command_help.run(0, NULL);
        return PLM_EXIT_USAGE;
    }
    if (is_help(argv[1]))
        return plm_command_help.run(0, NULL);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return version_run(0, NULL);
    if (argv[1][0] == '-')
        return plm_command_run.run(argc - 1, argv + 1);
    command = plm_command_find(argv[1]);
    if (command && argc > 2 && is_help(argv[2])) {
        if (command == &plm_command_version)
            return plm_command_help.run(0, NULL);
        if (command != &plm_command_help)
            return plm_help(command);
    }
    if (command)
        return command->run(argc - 2, argv + 2);
    return plm_complain_of(PLM_EXIT_USAGE, "unknown command '%.100s'; to run it, write `plimsoll -- %.100s`", argv[1],
                           argv[1]);
}
