#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
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

static bool complained; /* of something that is the exit status */

/* As one text: the command may write to the same terminal. Names of unknown origin are in it. */
int plm_complain(int status, const char *sentence)
{
    char shown[2000];
    fprintf(stderr, "plimsoll: %s\n", plm_printable(shown, sizeof shown, sentence));
    complained |= status != PLM_EXIT_OK;
    return status;
}

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

static int command_line(int argc, char **argv)
{
    const struct plm_command *command;
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

/* A record must not become standard output because that was closed; writing there fails, as it would have. */
static void descriptors_reserve(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* An answer that did not arrive is none, whatever it was. A reader that has seen enough (`| head`) is no failure. */
static int output_finish(int status)
{
    struct pollfd reader = {.fd = STDOUT_FILENO};
    const bool before = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !before)
        return status;
    if (errno == EPIPE || (poll(&reader, 1, 0) > 0 && reader.revents & POLLERR))
        return status;
    if (!complained)
        plm_complain_of(PLM_EXIT_CANNOT, "cannot write to standard output%s%s", before ? "" : ": ",
                        before ? "" : strerror(errno));
    return PLM_EXIT_CANNOT;
}

int main(int argc, char **argv)
{
    descriptors_reserve();
    setlocale(LC_CTYPE, "");
    return output_finish(command_line(argc, argv));
}
