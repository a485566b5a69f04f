/* How output looks, and the options that several commands have. */
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/draw.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "report/report.h"

const struct plm_option plm_cli_option_json[] = {
    {"json", 0, PLM_OPTION_FLAG, 0, .help = "print one JSON document instead of text"},
    {0},
};

const struct plm_option plm_cli_option_json_file[] = {
    {"json", 0, PLM_OPTION_OUTPUT, 0, "FILE", .help = "print one JSON document instead of text, or also write FILE",
     .complete = PLM_COMPLETE_FILE, .among = "json"},
    {0},
};

const struct plm_option plm_cli_option_force[] = {
    {"force", 'f', PLM_OPTION_FLAG, 0, .help = "overwrite existing files"},
    {0},
};

const struct plm_option plm_cli_option_strict[] = {
    {"strict", 0, PLM_OPTION_FLAG, 0, .help = "exit 4 unless the confidence is high", .configurable = true},
    {0},
};

const struct plm_option plm_cli_option_allow_tight[] = {
    {"allow-tight", 0, PLM_OPTION_FLAG, 0, .help = "exit 0, not 5, if the job fits only with cache flushes",
     .configurable = true, .rare = true},
    {0},
};

const struct plm_option plm_cli_option_bytes[] = {
    {"bytes", 0, PLM_OPTION_FLAG, 0, .help = "show bytes instead of GiB", .configurable = true},
    {0},
};

const struct plm_option plm_cli_option_color[] = {
    {"color", 0, PLM_OPTION_CHOICE, 0, .argument = "WHEN",
     .help = "colours: auto (on a terminal; default), always or never", .among = "auto always never",
     .configurable = true},
    {0},
};

/* Of those that tell times; time/host.h reads it. */
const struct plm_option plm_cli_option_host[] = {
    {"host", 0, PLM_OPTION_TEXT, 0, "HOW",
     .help = "host time: counted from its calls (default) or measured during the recording, and a factor: measured,1.5",
     .among = "counted measured", .configurable = true},
    {"host-factor", 0, PLM_OPTION_TEXT, 0, "F", .instead = "write --host F, or --host measured,F",
     .configurable = true},
    {0},
};

const struct plm_option plm_cli_option_look[] = {
    {.include = plm_cli_option_bytes, .at = offsetof(struct plm_look, bytes)},
    {.include = plm_cli_option_color, .at = offsetof(struct plm_look, color)},
    {0},
};

static bool want_color(const char *choice, int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (choice && !strcmp(choice, "always"))
        return true;
    if ((choice && !strcmp(choice, "never")) || (no_color && *no_color) || (term && !strcmp(term, "dumb")))
        return false;
    return isatty(fd);
}

static int terminal_width(int fd)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (columns && atoi(columns) > 20)
        return atoi(columns);
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        return size.ws_col;
    return 80;
}

struct plm_page plm_look_page(const struct plm_look *look, FILE *out)
{
    return (struct plm_page){.out = out,
                             .bytes = look->bytes,
                             .color = want_color(look->color, STDOUT_FILENO),
                             .utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
                             .width = terminal_width(STDOUT_FILENO)};
}

struct plm_report_options plm_look_at(const struct plm_look *look)
{
    const struct plm_page page = plm_look_page(look, stdout);
    return (struct plm_report_options){
        .bytes = page.bytes, .color = page.color, .utf8 = page.utf8, .width = page.width};
}
