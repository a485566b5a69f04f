#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "base/json.h"
#include "base/symbols.h"
#include "base/words.h"
#include "cli/cli.h"
#include "cli/commands.h"

static const char *const classes[] = {"modelled", "accepted", "refused"};

static void print_totals(void)
{
    const char *library = NULL;
    unsigned total[3] = {0};
    printf("%-12s %9s %9s %9s\n", "library", classes[0], classes[1], classes[2]);
    for (unsigned i = 0; i < plm_symbols_rows_count;) {
        unsigned n[3] = {0};
        library = plm_symbols_rows[i].library;
        for (; i < plm_symbols_rows_count && !strcmp(plm_symbols_rows[i].library, library); i++)
            for (int c = 0; c < 3; c++)
                n[c] += !strcmp(plm_symbols_rows[i].class, classes[c]);
        printf("%-12s %9u %9u %9u\n", library, n[0], n[1], n[2]);
        for (int c = 0; c < 3; c++)
            total[c] += n[c];
    }
    printf("%-12s %9u %9u %9u\n", "all", total[0], total[1], total[2]);
    puts("\nmodelled: does what matters to memory; accepted: succeeds, its results would live on the GPU;\n"
         "refused: answers \"not supported\" and is named in the report. --library NAME lists the rows.");
}

static void symbols_json(const char *library)
{
    struct plm_json j;
    plm_json_document(&j, stdout, "plimsoll.symbols/1");
    plm_json_array(&j, "symbols");
    for (unsigned i = 0; i < plm_symbols_rows_count; i++) {
        const struct plm_symbols_row *row = &plm_symbols_rows[i];
        if (library && strcmp(row->library, library))
            continue;
        plm_json_object(&j, NULL);
        plm_json_string(&j, "library", row->library);
        plm_json_string(&j, "name", row->name);
        plm_json_string(&j, "class", row->class);
        if (row->first > 0)
            plm_json_signed(&j, "cuda_first", row->first);
        if (row->last < 99)
            plm_json_signed(&j, "cuda_last", row->last);
        plm_json_text(&j, "note", row->note);
        plm_json_end_object(&j);
    }
    plm_json_end_array(&j);
    plm_json_finish(&j);
}

struct request {
    const char *library;
    bool json;
};

static const struct plm_option options[] = {
    {"library", 0, PLM_OPTION_TEXT, AT(library), "NAME", .help = "the functions of one library",
     .complete = PLM_COMPLETE_LIBRARY},
    {.include = plm_cli_option_json, .at = AT(json)},
    {0},
};

static int symbols_run(int argc, char **argv)
{
    struct request r = {0};
    struct plm_nearest nearest = {0};
    bool known = false;
    struct plm_error error;
    int rest;

    if (plm_options_parse(options, &r, "symbols", argc, argv, &rest, &error) < 0)
        return plm_fault(&error);
    if (rest < argc)
        return plm_complain(PLM_EXIT_USAGE, "symbols takes options only: --library NAME, --json");
    nearest.typed = r.library;
    for (unsigned i = 0; r.library && i < plm_symbols_rows_count; i++) {
        known |= !strcmp(plm_symbols_rows[i].library, r.library);
        plm_nearest_see(&nearest, plm_symbols_rows[i].library);
    }
    if (r.library && !known)
        return plm_complain_of(PLM_EXIT_USAGE, "unknown library '%.60s'; %s%s%s`plimsoll symbols` lists them",
                               r.library, nearest.best ? "did you mean " : "", nearest.best ? nearest.best : "",
                               nearest.best ? "? " : "");
    if (r.json)
        symbols_json(r.library);
    else if (!r.library)
        print_totals();
    else
        for (unsigned i = 0; i < plm_symbols_rows_count; i++)
            if (!strcmp(plm_symbols_rows[i].library, r.library))
                printf("%-9s %-52s %s\n", plm_symbols_rows[i].class, plm_symbols_rows[i].name,
                       plm_symbols_rows[i].note);
    return PLM_EXIT_OK;
}

const struct plm_command plm_command_symbols = {
    .name = "symbols",
    .line = "show which CUDA functions are modelled, accepted or refused",
    .options = options,
    .example = {"plimsoll symbols", "plimsoll symbols --library cudart"},
    .exit = {{PLM_EXIT_USAGE, "usage, or an unknown library"}},
    .run = symbols_run,
};
