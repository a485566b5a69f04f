#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "common/printable.h"
#include "common/secret_shape.h"
#include "base/words.h"
#include "cli/cli.h"
#include "cli/commands.h"

static int version_run(int argc, char **argv)
{
    if (argc)
        return plm_complain_of(PLM_EXIT_USAGE, "version takes no arguments: `plimsoll version`, not '%.100s'", argv[0]);
    puts("plimsoll " PLM_VERSION);
    return PLM_EXIT_OK;
}

const struct plm_command plm_command_version = {
    .name = "version",
    .line = "print the version",
    .example = {"plimsoll version"},
    .run = version_run,
};

static bool complained; /* of something that is the exit status */

/* As one text: the command may write to the same terminal. Names of unknown origin are in it. */
int plm_complain(int status, const char *sentence)
{
    char shown[2000];
    plm_printable(shown, sizeof shown, sentence);
    plm_hide_secrets(shown);
    fprintf(stderr, "plimsoll: %s\n", shown);
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

static bool is_nearly_version(const char *word)
{
    struct plm_nearest nearest = {.typed = word + strspn(word, "-")};
    plm_nearest_see(&nearest, "version");
    return nearest.best != NULL;
}

/* ---- a first word that is no command ---- */

static bool has_ending(const char *word, const char *ending)
{
    const size_t n = strlen(word), k = strlen(ending);
    return n > k && !strcmp(word + n - k, ending);
}

/* Programs that start trainings, and may be missing on this machine. */
static bool is_launcher(const char *word)
{
    static const char *const names[] = {"python", "python3", "torchrun", "accelerate", "deepspeed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(word, names[i]))
            return true;
    return false;
}

/* What to type instead; the user's words follow it. NULL: nobody knows. */
static const char *meant(const char *word)
{
    static const struct {
        const char *ending, *before;
    } files[] = {
        {".plm", "report"}, {".pickle", "import"}, {".pkl", "import"}, {".json", "estimate"}, {".json.gz", "estimate"}};
    if (has_ending(word, ".py"))
        return !strcmp(plm_cli_python(), "python3") ? "-- python3" : "-- python";
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (has_ending(word, files[i].ending))
            return files[i].before;
    if (plm_is_program(word) || is_launcher(word))
        return "--";
    return has_ending(word, ".sh") ? "-- bash" : NULL;
}

/* The whole line is offered, with all words that were typed. */
static int unknown_command(int argc, char **argv)
{
    struct plm_nearest nearest = {.typed = argv[1]};
    const char *before = meant(argv[1]);
    char *words, *sentence;
    int status;
    for (const struct plm_command *const *c = plm_commands; *c; c++)
        plm_nearest_see(&nearest, (*c)->name);
    if (before)
        nearest.best = NULL;
    words = plm_words_quote((const char *const *)argv + (nearest.best ? 2 : 1), (size_t)argc - (nearest.best ? 2 : 1));
    if (nearest.best)
        sentence = plm_asprintf("unknown command '%.100s'; did you mean `plimsoll %s%s%s`?", argv[1], nearest.best,
                                *words ? " " : "", words);
    else if (before)
        sentence = plm_asprintf("'%.100s' is not a plimsoll command; write `plimsoll %s %s`", argv[1], before, words);
    else
        sentence = plm_asprintf("unknown command '%.100s'; `plimsoll help` lists them", argv[1]);
    status = plm_complain(PLM_EXIT_USAGE, sentence);
    free(sentence);
    free(words);
    return status;
}

/* As the first word, and among the words of a command that runs none of the user's. */
static bool asks_help(const struct plm_command *c, int argc, char **argv)
{
    if (argc && is_help(argv[0]))
        return true;
    for (int i = 0; i < argc && !plm_command_takes_command(c) && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--help"))
            return true;
    return false;
}

static int command_run(const struct plm_command *c, int argc, char **argv)
{
    const struct plm_command *side = argc ? plm_command_side(c, argv[0]) : NULL;
    if (side)
        return command_run(side, argc - 1, argv + 1);
    if (c == &plm_command_help || !asks_help(c, argc, argv))
        return c->run(argc, argv);
    if (c == &plm_command_version)
        return plm_command_help.run(0, NULL);
    side = c->side ? c->side(argc, argv) : NULL;
    return plm_help(side ? side : c);
}

static int command_line(int argc, char **argv)
{
    static const char *names[PLM_COMMANDS + 1];
    const struct plm_command *command;
    for (int i = 0; i < PLM_COMMANDS; i++)
        names[i] = plm_commands[i]->name;
    plm_options_sections(names);
    if (argc < 2) {
        plm_command_help.run(0, NULL);
        return PLM_EXIT_USAGE;
    }
    if (is_help(argv[1]))
        return plm_command_help.run(argc - 2, argv + 2);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return version_run(0, NULL);
    if (argc == 2 && argv[1][0] == '-' && is_nearly_version(argv[1]))
        return plm_complain_of(PLM_EXIT_USAGE, "unknown option '%.100s'; did you mean --version?", argv[1]);
    if (argv[1][0] == '-')
        return plm_command_run.run(argc - 1, argv + 1);
    command = plm_command_find(argv[1]);
    return command ? command_run(command, argc - 2, argv + 2) : unknown_command(argc, argv);
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
