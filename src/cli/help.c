#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "cli/cli.h"
#include "cli/commands.h"

enum { WIDTH = 80, LEFT_MOST = 24, EXAMPLES_MOST = 2, ROWS_MANY = 14, RARE_MANY = 150 };

/* Words from `column` on, which is where the cursor is. */
static void print_wrapped(const char *text, int column)
{
    int at = column;
    while (*text) {
        const int n = (int)strcspn(text, " ");
        if (at > column && at + 1 + n > WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_options(const struct plm_option *row, size_t rows)
{
    char text[64];
    int column = 0;
    for (size_t i = 0; i < rows; i++) {
        int n;
        plm_cli_option_text(&row[i], text, sizeof text);
        n = (int)strlen(text) + 4;
        if (n <= LEFT_MOST && n > column)
            column = n;
    }
    for (size_t i = 0; i < rows; i++) {
        plm_cli_option_text(&row[i], text, sizeof text);
        printf("  %-*s", column - 2, text);
        if ((int)strlen(text) + 4 > column)
            printf("\n%*s", column, "");
        print_wrapped(row[i].help, column);
    }
}

static void print_examples(const struct plm_command *c, size_t most)
{
    for (size_t i = 0; i < most && c->example[i]; i++)
        printf("  %s\n", c->example[i]);
}

static void print_exits(const struct plm_command *c)
{
    char text[400] = "";
    size_t n = 0;
    const char *meaning;
    for (int code = PLM_EXIT_NO_FIT; code <= PLM_EXIT_TIGHT; code++)
        if (code != PLM_EXIT_USAGE && (meaning = plm_command_exit(c, code, true)) && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%d %s", n ? "; " : "", code, meaning);
    if (n) {
        fputs("Exit: ", stdout);
        print_wrapped(text, 6);
    }
}

/* Keeps those that are explained here, and names the others in `text`. */
static size_t leave_rare(struct plm_option *row, size_t rows, char *text, size_t size)
{
    size_t kept = 0, n = 0;
    for (size_t i = 0; i < rows; i++) {
        char one[64];
        if (!row[i].rare) {
            row[kept++] = row[i];
            continue;
        }
        plm_cli_option_text(&row[i], one, sizeof one);
        n += n < size ? (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "Also: ", one) : 0;
    }
    return kept;
}

/* What the first word chooses. */
static void print_sides(const struct plm_command *c)
{
    int column = 0;
    for (const struct plm_command *const *side = c->sides; *side; side++) {
        const int n = (int)strlen(plm_side_name(*side)) + 4;
        column = n > column ? n : column;
    }
    puts("WHAT selects what is compared; without it, the columns of the table decide:");
    for (const struct plm_command *const *side = c->sides; *side; side++) {
        printf("  %-*s", column - 2, plm_side_name(*side));
        print_wrapped((*side)->line, column);
    }
    printf("`plimsoll %s WHAT --help` lists the options of each. All of them have:\n\n", c->name);
}

int plm_help(const struct plm_command *c)
{
    struct plm_option row[PLM_OPTIONS_MOST];
    char rare[400] = "", more[512];
    size_t rows = leave_rare(row, plm_command_options(c, row), rare, sizeof rare);
    printf("plimsoll %s: %s\n  plimsoll %s%s%s%s%s\n\n", c->name, c->line, c->name, c->sides ? " [WHAT]" : "",
           rows ? " [options]" : "", c->words ? " " : "", c->words ? c->words : "");
    if (c->sides)
        print_sides(c);
    print_options(row, rows);
    if (c->also)
        printf("With a command, all options of %s apply as well.\n", c->also->name);
    printf("%sExamples:\n", rows ? "\n" : "");
    print_examples(c, rows > ROWS_MANY || strlen(rare) > RARE_MANY ? 1 : EXAMPLES_MOST); /* it fits a screen */
    print_exits(c);
    snprintf(more, sizeof more, *rare ? "%s; see man plimsoll-%.*s." : "%sMore in `man plimsoll-%.*s`.", rare,
             (int)strcspn(c->name, " "), c->name);
    print_wrapped(more, 0);
    return PLM_EXIT_OK;
}

/* Those of run that most people need. */
static void print_main_options(void)
{
    static const char *const names[] = {"gpu", "steps", "bounded", "output"};
    struct plm_option all[PLM_OPTIONS_MOST], row[PLM_OPTIONS_MOST];
    size_t count = plm_command_options(&plm_command_run, all), rows = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            if (!strcmp(all[i].name, names[n]))
                row[rows++] = all[i];
    print_options(row, rows);
}

/* Those that say why a command could not be started are one to most people. */
static void print_statuses(void)
{
    char text[400] = "";
    size_t n = 0;
    for (const struct plm_status *s = plm_statuses; s->number <= PLM_EXIT_CANNOT && n < sizeof text; s++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d%s %s", n ? "; " : "", s->number,
                              s->number == PLM_EXIT_CANNOT ? "-127" : "", s->brief);
    fputs("\nExit: ", stdout);
    print_wrapped(text, 6);
}

static void print_page(void)
{
    puts("plimsoll tells how much GPU memory a training job needs, before it gets a GPU.\n"
         "\n"
         "  plimsoll [options] -- python train.py     run a few steps on a virtual GPU and report\n"
         "\n"
         "Commands:");
    for (const struct plm_command *const *c = plm_commands; *c; c++)
        printf("  %-10s %s\n", (*c)->name, (*c)->line);
    puts("\nOptions: `plimsoll help COMMAND`, `man plimsoll-COMMAND`. Main options of run:");
    print_main_options();
    puts("\nExamples:");
    print_examples(&plm_command_help, 4);
    print_statuses();
}

static int help_run(int argc, char **argv)
{
    const struct plm_command *command = argc ? plm_command_find(argv[0]) : NULL;
    struct plm_nearest nearest = {.typed = argc ? argv[0] : ""};
    if (argc == 2 && command && plm_command_side(command, argv[1]))
        return plm_help(plm_command_side(command, argv[1]));
    if (argc > 1)
        return plm_complain(PLM_EXIT_USAGE, "help takes one command: `plimsoll help run`");
    if (command && command != &plm_command_help && command != &plm_command_version)
        return plm_help(command);
    if (!argc || command || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")) {
        print_page();
        return PLM_EXIT_OK;
    }
    for (const struct plm_command *const *c = plm_commands; *c; c++)
        plm_nearest_see(&nearest, (*c)->name);
    return plm_complain_of(PLM_EXIT_USAGE, "unknown command '%.100s'; %s%s%s`plimsoll help` lists them", argv[0],
                           nearest.best ? "did you mean " : "", nearest.best ? nearest.best : "",
                           nearest.best ? "? " : "");
}

const struct plm_command plm_command_help = {
    .name = "help",
    .line = "show this page, or the page of a command",
    .words = "[COMMAND]",
    .complete = PLM_COMPLETE_COMMAND,
    .example = {"plimsoll -- python train.py --batch 64", "plimsoll run --gpu rtx3060 --bounded -- python train.py",
                "plimsoll report plimsoll-train.4711.plm --by module --at 3",
                "plimsoll fit --gpu rtx4090 plimsoll-train.4711.plm && plimsoll tune plimsoll-train.4711.plm"},
    .run = help_run,
};
