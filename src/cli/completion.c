/*
 * `plimsoll completion SHELL` prints a short script; at each press of the key the script asks the program what may follow,
 * with `plimsoll completion --answer -- WORD...`: the words behind the program's name, of which the last is being typed.
 * The first line of the answer says what the shell is to offer itself: "words" (nothing), "files" or "files ENDING",
 * "folders", "programs", or "command N": a command of the user's begins with word N. Each line after that is an offer, and
 * after a tab what it means.
 */
#include <string.h>

#include "base/catalogue.h"
#include "common/error.h"
#include "base/install.h"
#include "base/symbols.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "completion_scripts.h"
#include "stack/folder.h"
#include "study/methods/methods.h"

/* Is it in a list with commas already? */
static bool is_listed(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if (at[n] == ',' && (at == list || at[-1] == ',' || at[-1] == '='))
            return true;
    return false;
}

static void offer(const char *before, const char *word, const char *meaning)
{
    if (!*word || !is_listed(before, word))
        printf("%s%s\t%s\n", before, word, meaning);
}

/* ---- what a value may be: `before` stands in the same word, before the value ---- */

static void offer_choices(const char *before, const char *choices)
{
    for (size_t n; *choices; choices += n + (choices[n] == ' ')) {
        n = strcspn(choices, " ");
        printf("%s%.*s\t\n", before, (int)n, choices);
    }
}

static void offer_cards(const char *before)
{
    struct plm_catalogue catalogue = {0};
    if (plm_catalogue_open(&catalogue, NULL) == 0)
        for (int i = 0; i < catalogue.count; i++)
            offer(before, catalogue.entry[i].card.id, catalogue.entry[i].card.name);
    plm_catalogue_free(&catalogue);
}

static void offer_stacks(const char *before)
{
    struct plm_stack_list stacks = {0};
    struct plm_install install;
    if (plm_install_find(&install, NULL) == 0 && plm_stack_list_load(&stacks, &install, NULL) == 0)
        for (int i = 0; i < stacks.count; i++)
            offer(before, stacks.entry[i].stack->id, stacks.entry[i].stack->name);
    plm_stack_list_free(&stacks);
}

static void offer_methods(const char *before)
{
    for (size_t i = 0; i < PLM_METHODS; i++)
        offer(before, plm_methods[i]->name, "");
}

static void offer_libraries(const char *before)
{
    for (unsigned i = 0; i < plm_symbols_rows_count; i++)
        if (!i || strcmp(plm_symbols_rows[i].library, plm_symbols_rows[i - 1].library) != 0)
            offer(before, plm_symbols_rows[i].library, "");
}

static void offer_commands(const char *before)
{
    for (const struct plm_command *const *row = plm_commands; *row; row++)
        offer(before, (*row)->name, (*row)->line);
}

/* What the shell offers for each kind, what we do, and whether there may be several with commas. */
static const struct {
    const char *shell;
    void (*offers)(const char *before);
    bool list;
} kinds[] = {
    [PLM_COMPLETE_WORDS] = {"words", NULL, false},         [PLM_COMPLETE_CARD] = {"words", offer_cards, false},
    [PLM_COMPLETE_CARDS] = {"words", offer_cards, true},   [PLM_COMPLETE_METHODS] = {"words", offer_methods, true},
    [PLM_COMPLETE_STACK] = {"files", offer_stacks, false}, [PLM_COMPLETE_LIBRARY] = {"words", offer_libraries, false},
    [PLM_COMPLETE_FILE] = {"files", NULL, false},          [PLM_COMPLETE_FOLDER] = {"folders", NULL, false},
    [PLM_COMPLETE_PROGRAM] = {"programs", NULL, false},    [PLM_COMPLETE_COMMAND] = {"words", offer_commands, false},
};

/* `typed`: the word, in which the value begins at `value`. */
static void answer_value(enum plm_complete kind, const char *among, const char *typed, const char *value)
{
    const char *comma = kinds[kind].list ? strrchr(value, ',') : NULL;
    const int kept = (int)((comma ? comma + 1 : value) - typed);
    char before[4096];
    snprintf(before, sizeof before, "%.*s", kept, typed);
    printf("%s%s%s\n", kinds[kind].shell, kind == PLM_COMPLETE_FILE && among ? " " : "",
           kind == PLM_COMPLETE_FILE && among ? among : "");
    if (among && kind != PLM_COMPLETE_FILE && !comma)
        offer_choices(before, among);
    if (kinds[kind].offers)
        kinds[kind].offers(before);
}

/* ---- which of them is being typed ---- */

enum { ROWS_MOST = 2 * PLM_OPTIONS_MOST };

/* Options of another command that are not there yet. */
static void add_options(const struct plm_command *c, struct plm_option row[ROWS_MOST], size_t *rows)
{
    struct plm_option more[PLM_OPTIONS_MOST];
    const size_t count = plm_command_options(c, more);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < *rows && strcmp(row[at].name, more[i].name) != 0)
            at++;
        if (at == *rows && *rows < ROWS_MOST)
            row[(*rows)++] = more[i];
    }
}

/* The options of a command, those that it takes in addition, and those of its sides, of which it may be any. */
static size_t collect_options(const struct plm_command *c, struct plm_option row[ROWS_MOST])
{
    size_t rows = plm_command_options(c, row);
    if (c->also)
        add_options(c->also, row, &rows);
    for (const struct plm_command *const *side = c->sides; side && *side; side++)
        add_options(*side, row, &rows);
    return rows;
}

static const struct plm_option *option_find(const struct plm_option *row, size_t rows, const char *word)
{
    const size_t n = strcspn(word, "=");
    for (size_t i = 0; i < rows; i++)
        if ((word[1] == row[i].letter && !word[2]) ||
            (word[1] == '-' && n == strlen(row[i].name) + 2 && !strncmp(word + 2, row[i].name, n - 2)))
            return &row[i];
    return NULL;
}

static void answer_options(const struct plm_command *c, const struct plm_option *row, size_t rows)
{
    puts("words");
    for (size_t i = 0; i < rows; i++)
        offer("--", row[i].name, row[i].help);
    offer("--", "help", "show options and examples");
    if (plm_command_takes_command(c))
        offer("--", "", "the command to run");
}

/* Words from `from` on are the command's; the last one is being typed. */
static void answer_command(const struct plm_command *c, int from, int count, char **word)
{
    struct plm_option row[ROWS_MOST];
    const size_t rows = collect_options(c, row);
    const char *typed = word[count - 1], *equals = strchr(typed, '=');
    const struct plm_option *o;
    for (int i = from; i < count - 1; i++) {
        if (!strcmp(word[i], "--") && plm_command_takes_command(c)) {
            printf("command %d\n", i + 1);
            return;
        }
        if (word[i][0] != '-' && plm_command_takes_only_command(c)) {
            printf("command %d\n", i);
            return;
        }
        o = word[i][0] == '-' ? option_find(row, rows, word[i]) : NULL;
        if (o && o->argument && o->type != PLM_OPTION_OUTPUT && !strchr(word[i], '=') && ++i == count - 1) {
            answer_value(o->complete, o->among, typed, typed);
            return;
        }
    }
    if (typed[0] == '-' && equals && (o = option_find(row, rows, typed)))
        answer_value(o->complete, o->among, typed, equals + 1);
    else if (typed[0] == '-')
        answer_options(c, row, rows);
    else if (plm_command_takes_only_command(c))
        printf("command %d\n", count - 1);
    else {
        answer_value(c->complete, c->among, typed, typed);
        for (const struct plm_command *const *side = c->sides; side && *side && from == count - 1; side++)
            offer("", plm_side_name(*side), (*side)->line);
    }
}

static void completion_answer(int count, char **word)
{
    const struct plm_command *c, *side;
    if (count == 0)
        return;
    if (count == 1 && word[0][0] != '-') {
        puts("words");
        offer_commands("");
        return;
    }
    c = word[0][0] == '-' ? &plm_command_run : plm_command_find(word[0]);
    side = c && count > 2 ? plm_command_side(c, word[1]) : NULL;
    if (side)
        answer_command(side, 2, count, word);
    else if (c)
        answer_command(c, c == &plm_command_run && word[0][0] == '-' ? 0 : 1, count, word);
    if (count == 1)
        offer("--", "version", plm_command_version.line);
}

/* ---- the command ---- */

static const struct {
    const char *shell, *text;
} scripts[] = {{"bash", COMPLETION_BASH}, {"zsh", COMPLETION_ZSH}, {"fish", COMPLETION_FISH}};

struct request {
    bool answer;
    const char *manual;
};

/* For the scripts and for the build: not shown. */
static const struct plm_option options[] = {
    {"answer", 0, PLM_OPTION_FLAG, AT(answer), .help = NULL},
    {"manual", 0, PLM_OPTION_TEXT, AT(manual), .argument = "FOLDER"},
    {0},
};

/* FOLDER/NAME for each NAME.in. */
static int write_manual(const char *folder, int count, char **path)
{
    struct plm_error error;
    char name[4096];
    for (int i = 0; i < count; i++) {
        const char *slash = strrchr(path[i], '/'), *base = slash ? slash + 1 : path[i];
        FILE *out;
        int status;
        snprintf(name, sizeof name, "%.3000s/%.*s", folder, (int)strcspn(base, ".") + 2, base);
        out = fopen(name, "we");
        status = out ? plm_manual_page(path[i], out, &error) : 0;
        if (!out || (fclose(out) && status == 0))
            return plm_complain(PLM_EXIT_CANNOT, "cannot write a manual page");
        if (status < 0)
            return plm_complain(PLM_EXIT_CANNOT, error.text);
    }
    return PLM_EXIT_OK;
}

static int completion_run(int argc, char **argv)
{
    struct request r = {0};
    struct plm_error error;
    int rest;
    if (plm_options_parse(options, &r, "completion", argc, argv, &rest, &error) < 0)
        return plm_fault(&error);
    if (r.manual)
        return write_manual(r.manual, argc - rest, argv + rest);
    if (r.answer) {
        completion_answer(argc - rest, argv + rest);
        return PLM_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0] && argc == rest + 1; i++)
        if (!strcmp(argv[rest], scripts[i].shell)) {
            fputs(scripts[i].text, stdout);
            return fflush(stdout) ? plm_complain(PLM_EXIT_CANNOT, "the script could not be written") : PLM_EXIT_OK;
        }
    return plm_complain(PLM_EXIT_USAGE, "completion takes one shell: bash, zsh or fish");
}

const struct plm_command plm_command_completion = {
    .name = "completion",
    .line = "print a shell completion script",
    .words = "bash|zsh|fish",
    .options = options,
    .among = "bash zsh fish",
    .example = {"eval \"$(plimsoll completion bash)\"       # in ~/.bashrc",
                "source <(plimsoll completion zsh)        # in ~/.zshrc, after compinit",
                "plimsoll completion fish >~/.config/fish/completions/plimsoll.fish"},
    .run = completion_run,
};
