#include <stdio.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "base/error.h"
#include "base/options.h"
#include "cli/cli.h"
#include "report/report.h"

int plm_cmd_report(int argc, char **argv)
{
    bool bytes = false, json = false;
    const char *color = "auto";
    const struct plm_option table[] = {
        {"bytes", 0, PLM_OPTION_FLAG, &bytes, true},
        {"json", 0, PLM_OPTION_FLAG, &json, false},
        {"color", 0, PLM_OPTION_TEXT, &color, true},
    };
    const size_t count = sizeof table / sizeof table[0];
    struct plm_summary s;
    struct plm_error error;
    const char *path = NULL;
    int status = 0;

    /* Options may stand before and after the file. */
    while (argc > 0) {
        int rest;
        if (plm_options_parse(table, count, "report", argc, argv, &rest, &error) < 0)
            return plm_complain(PLM_EXIT_USAGE, error.text);
        argc -= rest;
        argv += rest;
        if (argc == 0)
            break;
        if (path)
            return plm_complain(PLM_EXIT_USAGE, "one record at a time: `plimsoll report FILE`");
        path = argv[0];
        argc--;
        argv++;
    }
    if (!path)
        return plm_complain(PLM_EXIT_USAGE, "no record given; write `plimsoll report FILE.plm`");
    if (plm_summary_read(path, &s, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    if (json)
        status = plm_report_json(stdout, &s);
    else if (!s.devices)
        status = plm_complain(PLM_EXIT_CANNOT,
                              "this record holds no GPU activity: the job never used CUDA or was cut before it did");
    else
        plm_report_text(stdout, &s,
                        &(struct plm_report_options){bytes, plm_want_color(color, STDOUT_FILENO),
                                                     plm_terminal_width(STDOUT_FILENO), NULL});
    plm_summary_free(&s);
    return status < 0 ? plm_complain(PLM_EXIT_CANNOT, "the report could not be written") : status;
}
