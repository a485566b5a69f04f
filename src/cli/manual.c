/*
 * The manual. A page is prose by hand in docs/man/NAME.1.in, with a line for each part that comes from the table:
 *   @SYNOPSIS  name and synopsis         @EXIT      what the exit statuses mean
 *   @OPTIONS   all options; then, where there is more to say of one than its line, `@--NAME` and that text; then @END.
 *              Of a command with sides: those that all have, and `@OPTIONS SIDE` the others of each
 *   @EXAMPLES  the examples              @COMMANDS  all commands (plimsoll.1)        @PAGES  all pages (plimsoll.1)
 *   @METHODS   all methods (plimsoll-estimate.1)
 *   @STATUSES  what the exit statuses mean for all (plimsoll.1)
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "study/methods/methods.h"

struct page {
    const char *path;
    FILE *in, *out;
    const struct plm_command *command; /* NULL: plimsoll.1 */
    const struct plm_command *side;    /* that options are of; NULL: the command itself */
    struct plm_option row[PLM_OPTIONS_MOST];
    size_t rows;
    char *more[PLM_OPTIONS_MOST]; /* what the page has to say of an option */
    int line;
    unsigned seen; /* parts, by their bits */
    size_t sides;  /* that had their options */
};

/* ---- text as roff wants it ---- */

/* A hyphen would be typeset as one, and not be found or pasted. `x` becomes a quotation. */
static void put_text(FILE *out, const char *text)
{
    bool open = false;
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '"')
            fputs("\\(dq", out);
        else if (*text == '`')
            fputs((open = !open) ? "\\(oq" : "\\(cq", out);
        else
            putc(*text, out);
}

static void put_sentence(FILE *out, const char *text)
{
    const char first[] = {(char)toupper((unsigned char)text[0]), '\0'};
    put_text(out, first);
    put_text(out, text + 1);
    fputs(".\n", out);
}

/* "NAME,..." as an argument: "Ar name,..."; lower case, as manuals have it. */
static void put_argument(FILE *out, const char *text, size_t n)
{
    const size_t dots = n > 3 && !strncmp(text + n - 3, "...", 3) && text[n - 4] != ',' ? 3 : 0;
    fputs("Ar ", out);
    for (size_t i = 0; i < n - dots; i++)
        putc(tolower((unsigned char)text[i]), out);
    if (dots)
        fputs(" ...", out);
}

/* After the name of an option; where it may be left out: "--json[=FILE]". */
static void put_value(FILE *out, const struct plm_option *o)
{
    if (!o->argument)
        return;
    fputs(o->type == PLM_OPTION_OUTPUT ? " Ns Op = Ns " : " ", out);
    put_argument(out, o->argument, strlen(o->argument));
}

/* "RECORD | -- COMMAND...", "[NAME...]" */
static void put_words(FILE *out, const char *words)
{
    bool optional = words[0] == '[';
    fputs(optional ? ".Op " : ".", out);
    for (size_t n; *words; words += n) {
        words += strspn(words, "[] ");
        n = strcspn(words, "] ");
        if (n == 2 && !strncmp(words, "--", n))
            fputs("Fl - ", out);
        else if (n == 1 && *words == '|')
            fputs("| ", out);
        else if (n) {
            put_argument(out, words, n);
            putc(' ', out);
        }
    }
    putc('\n', out);
}

/* ---- the parts ---- */

static void put_line(FILE *out, const struct plm_command *c)
{
    struct plm_option row[PLM_OPTIONS_MOST];
    const size_t rows = plm_command_options(c, row);
    fprintf(out, ".Nm plimsoll %s\n", c->name);
    for (size_t i = 0; i < rows; i++) {
        const struct plm_option *o = &row[i];
        fprintf(out, o->required ? ".Fl %s%c" : ".Op Fl %s%c", o->letter ? "" : "-",
                o->letter ? o->letter : o->name[0]);
        fputs(o->letter ? "" : o->name + 1, out);
        put_value(out, o);
        putc('\n', out);
    }
    if (c->words)
        put_words(out, c->words);
}

/* Of a command with sides, a line for each of them. */
static void put_synopsis(struct page *p)
{
    const struct plm_command *c = p->command;
    fprintf(p->out, ".Sh NAME\n.Nm plimsoll-%s\n.Nd ", c->name);
    put_text(p->out, c->line);
    fputs("\n.Sh SYNOPSIS\n", p->out);
    if (!c->sides)
        put_line(p->out, c);
    for (const struct plm_command *const *side = c->sides; side && *side; side++)
        put_line(p->out, *side);
}

static void put_option(struct page *p, size_t i)
{
    const struct plm_option *o = &p->row[i];
    fputs(".It ", p->out);
    if (o->letter)
        fprintf(p->out, "Fl %c , ", o->letter);
    fprintf(p->out, "Fl -%s", o->name);
    put_value(p->out, o);
    putc('\n', p->out);
    put_sentence(p->out, o->help);
    if (p->more[i])
        fputs(p->more[i], p->out);
}

/* Which options may stand in the environment and in config files. */
static void put_configurable(struct page *p)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < p->rows; i++)
        count += p->row[i].configurable;
    if (!count)
        return;
    fprintf(p->out,
            ".Pp\nThese options can also be set in the environment and in the section\n.Li [%s]\nof the "
            "configuration\n.Pq see Xr plimsoll 1 :\n",
            p->command->name);
    for (size_t i = 0; i < p->rows; i++)
        if (p->row[i].configurable) {
            const size_t left = count - ++at;
            fprintf(p->out, "%s.Fl -%s%s\n", left || count == 1 ? "" : "and\n", p->row[i].name,
                    left > 1 ? " ,"
                    : left   ? ""
                             : " .");
        }
    for (size_t i = 0; i < p->rows; i++)
        if (p->row[i].own)
            fprintf(p->out, ".Pa plimsoll.ini\nin the current folder cannot set\n.Fl -%s .\n", p->row[i].name);
}

static void put_options(struct page *p)
{
    if (p->side)
        fprintf(p->out, ".Ss Options of %s\n", plm_side_name(p->side));
    else
        fputs(".Sh OPTIONS\n", p->out);
    fputs(".Bl -tag -width Ds\n", p->out);
    for (size_t i = 0; i < p->rows; i++)
        put_option(p, i);
    fputs(".El\n", p->out);
    if (p->command->also)
        fprintf(p->out, ".Pp\nWith a command, all options of\n.Xr plimsoll-%s 1\napply as well.\n",
                p->command->also->name);
    put_configurable(p);
}

/* Of a command, or of all. */
static void put_exits(struct page *p)
{
    fputs(".Sh EXIT STATUS\n.Bl -tag -width 126 -compact\n", p->out);
    for (const struct plm_status *s = plm_statuses; s->meaning; s++) {
        const char *meaning = p->command ? plm_command_exit(p->command, s->number, false) : s->meaning;
        if (!meaning)
            continue;
        fprintf(p->out, ".It %d\n", s->number);
        put_text(p->out, meaning);
        putc('\n', p->out);
    }
    fputs(".El\n", p->out);
}

static void put_examples_of(FILE *out, const struct plm_command *c)
{
    for (size_t i = 0; i < sizeof c->example / sizeof c->example[0] && c->example[i]; i++) {
        fputs(".Dl ", out);
        put_text(out, c->example[i]);
        putc('\n', out);
    }
    for (const struct plm_command *const *side = c->sides; side && *side; side++)
        put_examples_of(out, *side);
}

static void put_examples(struct page *p)
{
    fputs(".Sh EXAMPLES\n", p->out);
    put_examples_of(p->out, p->command ? p->command : &plm_command_help);
}

static bool has_page(const struct plm_command *c)
{
    return c != &plm_command_help && c != &plm_command_version;
}

static void put_commands(struct page *p)
{
    fputs(".Bl -tag -width completion\n", p->out);
    for (const struct plm_command *const *c = plm_commands; *c; c++) {
        fprintf(p->out, ".It Cm %s\n", (*c)->name);
        put_text(p->out, (*c)->line);
        if (has_page(*c))
            fprintf(p->out, "; see\n.Xr plimsoll-%s 1", (*c)->name);
        putc('\n', p->out);
    }
    fputs(".El\n", p->out);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct plm_command *const *)a)->name, (*(const struct plm_command *const *)b)->name);
}

static void put_pages(struct page *p)
{
    const struct plm_command *sorted[PLM_COMMANDS];
    size_t count = 0;
    for (const struct plm_command *const *c = plm_commands; *c; c++)
        if (has_page(*c))
            sorted[count++] = *c;
    qsort(sorted, count, sizeof sorted[0], by_name);
    fputs(".Sh SEE ALSO\n", p->out);
    for (size_t i = 0; i < count; i++)
        fprintf(p->out, ".Xr plimsoll-%s 1%s\n", sorted[i]->name, i + 1 < count ? " ," : "");
}

/* What the row of a method says of it. */
static void put_methods(struct page *p)
{
    static const struct {
        unsigned part;
        const char *name;
    } needs[] = {{PLM_NEEDS_JOB, "a record"}, {PLM_NEEDS_TRACE, "a trace"}, {PLM_NEEDS_DESCRIPTION, "a description"}};
    fputs(".Bl -tag -width deepspeed\n", p->out);
    for (size_t i = 0; i < PLM_METHODS; i++) {
        const struct plm_method *m = plm_methods[i];
        bool first = true;
        fputs(".It Cm ", p->out);
        put_text(p->out, m->name);
        fprintf(p->out, "\n%s, for ", plm_paradigm_name(m->paradigm));
        put_text(p->out, m->domain);
        fputs("; leaves out: ", p->out);
        put_text(p->out, m->leaves_out);
        fputs(".\nNeeds ", p->out);
        for (size_t k = 0; k < sizeof needs / sizeof needs[0]; k++)
            if (m->needs & needs[k].part) {
                fprintf(p->out, "%s%s", first ? "" : " and ", needs[k].name);
                first = false;
            }
        fprintf(p->out, "%s.\n", m->learner ? " and a model" : "");
    }
    fputs(".El\n", p->out);
}

static int page_fail(const struct page *p, struct plm_error *error, const char *what, const char *which)
{
    return plm_fail(error, PLM_EINVAL, "%.200s:%d: %s %.100s", p->path, p->line, what, which);
}

static size_t option_index(const struct page *p, const char *marker)
{
    size_t at = 0;
    while (at < p->rows && (strncmp(marker, "@--", 3) != 0 || strcmp(marker + 3, p->row[at].name) != 0))
        at++;
    return at;
}

/* The texts after @OPTIONS, until @END. */
static int read_more(struct page *p, struct plm_error *error)
{
    char line[1024];
    size_t at = p->rows;
    while (fgets(line, sizeof line, p->in)) {
        p->line++;
        if (line[0] != '@' && at < p->rows) {
            char *longer = plm_asprintf("%s%s", p->more[at] ? p->more[at] : "", line);
            free(p->more[at]);
            p->more[at] = longer;
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        if (!strcmp(line, "@END"))
            return 0;
        at = option_index(p, line);
        if (at == p->rows || p->more[at])
            return page_fail(p, error, "there is no such option, or it was there before:", line);
    }
    return page_fail(p, error, "the page lacks", "@END");
}

static const struct {
    const char *marker;
    bool of_command;
    void (*put)(struct page *p);
} parts[] = {
    {"@SYNOPSIS", true, put_synopsis}, {"@OPTIONS", true, put_options},    {"@EXIT", true, put_exits},
    {"@EXAMPLES", true, put_examples}, {"@COMMANDS", false, put_commands}, {"@PAGES", false, put_pages},
    {"@METHODS", true, put_methods},   {"@STATUSES", false, put_exits},
};

static bool row_is_among(const struct plm_option *row, size_t rows, const char *name)
{
    for (size_t i = 0; i < rows; i++)
        if (!strcmp(row[i].name, name))
            return true;
    return false;
}

/* The options of a side that the command itself does not have, each with what the page says of it. */
static int put_side(struct page *p, const struct plm_command *side, struct plm_error *error)
{
    struct page own = *p;
    size_t all = plm_command_options(side, own.row);
    int status;
    own.side = side;
    own.rows = 0;
    memset(own.more, 0, sizeof own.more);
    for (size_t i = 0; i < all; i++)
        if (!row_is_among(p->row, p->rows, own.row[i].name))
            own.row[own.rows++] = own.row[i];
    status = read_more(&own, error);
    if (status == 0)
        put_options(&own);
    for (size_t i = 0; i < own.rows; i++)
        free(own.more[i]);
    p->line = own.line;
    p->sides++;
    return status;
}

static int put_part(struct page *p, const char *marker, struct plm_error *error)
{
    const char *space = strchr(marker, ' ');
    const struct plm_command *side = space && p->command ? plm_command_side(p->command, space + 1) : NULL;
    if (side && !strncmp(marker, "@OPTIONS ", 9))
        return put_side(p, side, error);
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strcmp(marker, parts[i].marker) && (p->command || !parts[i].of_command || parts[i].put == put_examples)) {
            p->seen |= 1u << i;
            if (parts[i].put == put_options && read_more(p, error) < 0)
                return PLM_EINVAL;
            parts[i].put(p);
            return 0;
        }
    return page_fail(p, error, "there is no part", marker);
}

static int page_check(const struct page *p, struct plm_error *error)
{
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].of_command == (p->command != NULL) && !(p->seen & 1u << i) &&
            (parts[i].put != put_options || p->rows) &&
            (parts[i].put != put_methods || p->command == &plm_command_estimate))
            return page_fail(p, error, "the page lacks", parts[i].marker);
    for (size_t i = 0; p->command && p->command->sides && p->command->sides[i]; i++)
        if (i == p->sides)
            return page_fail(p, error, "the page lacks the options of", p->command->sides[i]->name);
    return 0;
}

static int put_page(struct page *p, struct plm_error *error)
{
    char line[1024];
    int status = 0;
    while (status == 0 && fgets(line, sizeof line, p->in)) {
        p->line++;
        if (line[0] != '@') {
            fputs(line, p->out);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        status = put_part(p, line, error);
    }
    return status < 0 ? status : page_check(p, error);
}

int plm_manual_page(const char *path, FILE *out, struct plm_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct page p = {.path = path, .out = out, .in = fopen(path, "re")};
    int status;
    if (!p.in)
        return plm_fail(error, PLM_EREAD, "cannot read %.200s: %s", path, strerror(errno));
    if (strcmp(name, "plimsoll.1.in") != 0) {
        const char *dash = strchr(name, '-');
        char command[64];
        snprintf(command, sizeof command, "%.*s", dash ? (int)strcspn(dash + 1, ".") : 0, dash ? dash + 1 : "");
        p.command = plm_command_find(command);
        if (!p.command) {
            fclose(p.in);
            return page_fail(&p, error, "there is no command", command);
        }
        p.rows = plm_command_options(p.command, p.row);
    }
    status = put_page(&p, error);
    for (size_t i = 0; i < p.rows; i++)
        free(p.more[i]);
    fclose(p.in);
    return status;
}
