#include "cli/estimate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/error.h"
#include "base/install.h"
#include "base/options.h"
#include "base/units.h"
#include "cli/cli.h"
#include "study/estimate/capture.h"
#include "study/estimate/comparison.h"
#include "study/estimate/forest.h"
#include "study/estimate/schedtune.h"
#include "base/draw.h"
#include "report/report.h"

enum { FILES = 4, METHODS = 64 };

struct request {
    const char *methods, *gpu, *forest, *color, *context_text;
    uint64_t context;
    int gpus, nodes, tensor_parallel;
    bool json, bytes;
    const char *file[FILES];
    int files;
    char **command; /* NULL: files were given */
};

/* ---- what is asked for ---- */

static int parse(struct request *r, int argc, char **argv, struct plm_error *error)
{
    const struct plm_option table[] = {
        {"method", 0, PLM_OPTION_TEXT, &r->methods, true},
        {"gpu", 0, PLM_OPTION_TEXT, &r->gpu, true},
        {"gpus", 0, PLM_OPTION_NUMBER, &r->gpus, true},
        {"nodes", 0, PLM_OPTION_NUMBER, &r->nodes, true},
        {"tensor-parallel", 0, PLM_OPTION_NUMBER, &r->tensor_parallel, true},
        {"forest", 0, PLM_OPTION_TEXT, &r->forest, true},
        {"context", 0, PLM_OPTION_TEXT, &r->context_text, true},
        {"json", 0, PLM_OPTION_FLAG, &r->json, false},
        {"bytes", 0, PLM_OPTION_FLAG, &r->bytes, true},
        {"color", 0, PLM_OPTION_TEXT, &r->color, true},
    };
    int before = 0, status;
    while (before < argc && strcmp(argv[before], "--") != 0)
        before++;
    if (before < argc)
        r->command = argv + before + 1;
    status = plm_options_among(table, sizeof table / sizeof table[0], "estimate", before, argv, r->file, FILES,
                               &r->files, error);
    if (status < 0)
        return status;
    if (r->files && r->command)
        return plm_fail(error, PLM_EINVAL, "either the files of a job or a command, not both");
    if (r->command && !r->command[0])
        return plm_fail(error, PLM_EINVAL, "no command after --");
    if (!r->files && !r->command)
        return plm_fail(error, PLM_EINVAL,
                        "no file given; write `plimsoll estimate FILE...` or `plimsoll estimate -- python train.py`");
    if (r->files >= FILES)
        return plm_fail(error, PLM_EINVAL, "one job leaves at most a record, a trace and a description");
    return 0;
}

static int understand(struct request *r, struct plm_error *error)
{
    const struct {
        const char *name;
        int value;
    } counts[] = {{"gpus", r->gpus}, {"nodes", r->nodes}, {"tensor-parallel", r->tensor_parallel}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].value < 1 || counts[i].value > 1 << 20)
            return plm_fail(error, PLM_EINVAL, "--%s takes a number from 1", counts[i].name);
    if (r->gpus % r->nodes)
        return plm_fail(error, PLM_EINVAL, "%d GPUs cannot be spread evenly over %d nodes", r->gpus, r->nodes);
    if (r->context_text && plm_size_parse(r->context_text, &r->context))
        return plm_fail(error, PLM_EINVAL, "--context %.60s: it takes a size, such as 500MiB", r->context_text);
    return 0;
}

static int unknown(const char *name, struct plm_error *error)
{
    char near[200];
    plm_method_nearest(name, near, sizeof near);
    return plm_fail(error, PLM_EINVAL, "there is no method '%.60s'; %s%s", name,
                    *near ? "near to it: " : "--method all", *near ? near : " has them all");
}

/* "all", or names with commas. Returns their number. */
static int choose_methods(const char *list, const struct plm_method *chosen[METHODS], struct plm_error *error)
{
    char *names, *rest;
    int count = 0, status = 0;
    if (!strcmp(list, "all")) {
        for (size_t i = 0; i < plm_method_count && count < METHODS; i++)
            chosen[count++] = &plm_methods[i];
        return count;
    }
    names = rest = strdup(list);
    if (!names)
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    for (char *name; status == 0 && (name = strsep(&rest, ","));) {
        const struct plm_method *m = plm_method_find(name);
        int at = 0;
        while (at < count && chosen[at] != m)
            at++;
        if (!m)
            status = unknown(name, error);
        else if (at == count && count < METHODS)
            chosen[count++] = m;
    }
    free(names);
    return status ? status : count;
}

/* ---- answering ---- */

struct question {
    struct plm_install install;
    struct plm_catalogue catalogue;
    struct plm_card card[PLM_REPORT_CARDS];
    int cards;
    const struct plm_method *method[METHODS];
    int methods;
    struct plm_estimate_captures made;
    struct plm_captured captured;
    struct plm_forest forest;
};

static unsigned needs(const struct question *q)
{
    unsigned all = 0;
    for (int i = 0; i < q->methods; i++)
        all |= q->method[i]->needs;
    return all;
}

/* 0, or the exit status after a complaint. */
static int open_question(const struct request *r, struct question *q)
{
    struct plm_error error;
    if (plm_install_find(&q->install, &error) < 0 || plm_catalogue_load(&q->catalogue, &q->install, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    q->methods = choose_methods(r->methods, q->method, &error);
    if (q->methods < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    q->cards = plm_cards_choose(&q->catalogue, &q->install, r->gpu, NULL, q->card, &error);
    if (q->cards < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (q->cards == 0)
        return plm_complain(PLM_EXIT_CANNOT, "there are no cards to compare with: the folder of GPU files is empty");
    return 0;
}

static int open_capture(const struct request *r, struct question *q)
{
    const char *const *file = r->file;
    int files = r->files, status;
    struct plm_error error;
    if (r->command) {
        if (plm_estimate_capture(needs(q), r->gpu ? q->card[0].id : NULL, r->command, &q->made, &error) < 0)
            return plm_complain(error.code == PLM_EINVAL ? PLM_EXIT_COMMAND : PLM_EXIT_CANNOT, error.text);
        for (int i = 0; i < PLM_ESTIMATE_CAPTURES; i++)
            if (q->made.why[i][0])
                plm_complain(0, q->made.why[i]);
        file = q->made.file;
        files = q->made.files;
    }
    status = plm_captured_read(file, files, &q->captured, &error);
    if (status < 0)
        return plm_complain(status == PLM_EINVAL ? PLM_EXIT_USAGE : PLM_EXIT_CANNOT, error.text);
    if (r->forest)
        q->captured.evidence.forest = &q->forest;
    return 0;
}

/* Before anything is run: a file that is no forest should not cost a capture. */
static int open_forest(const struct request *r, struct question *q)
{
    struct plm_error error;
    if (r->forest &&
        (plm_forest_load(r->forest, &q->forest, &error) < 0 || plm_schedtune_check(r->forest, &q->forest, &error) < 0))
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    return 0;
}

/* For one method and one card the exit status is the verdict. */
static int verdict(const struct plm_comparison *c)
{
    if (!c->answered)
        return PLM_EXIT_CANNOT;
    return c->rows == 1 && c->cards == 1 && c->row[0].answer[0].oom ? PLM_EXIT_NO_FIT : PLM_EXIT_OK;
}

static int answer(const struct request *r, const struct question *q)
{
    const struct plm_page page = {.out = stdout,
                                  .bytes = r->bytes,
                                  .color = plm_want_color(r->color, STDOUT_FILENO),
                                  .utf8 = plm_want_utf8(),
                                  .width = plm_terminal_width(STDOUT_FILENO)};
    const struct plm_comparison_options options = {.method = q->method,
                                                   .methods = (size_t)q->methods,
                                                   .card = q->card,
                                                   .cards = (size_t)q->cards,
                                                   .gpus = r->gpus,
                                                   .nodes = r->nodes,
                                                   .tensor_parallel = r->tensor_parallel,
                                                   .context_given = r->context_text != NULL,
                                                   .context = r->context};
    struct plm_comparison comparison;
    struct plm_error error;
    int status, result;
    plm_compare(&q->captured.evidence, &options, &comparison);
    result = verdict(&comparison);
    if (!comparison.answered && comparison.rows == 1 && !r->json) {
        char text[300];
        snprintf(text, sizeof text, "%s has no answer: %s", comparison.row[0].method->name,
                 comparison.row[0].answer[0].note);
        result = plm_complain(PLM_EXIT_CANNOT, text);
        status = 0;
    } else
        status = r->json ? plm_comparison_json(stdout, &comparison, &error)
                         : plm_comparison_text(&page, &comparison, &error);
    plm_comparison_free(&comparison);
    return status < 0 ? plm_complain(PLM_EXIT_CANNOT, error.text) : result;
}

int plm_cmd_estimate(int argc, char **argv)
{
    struct request r = {.methods = "all", .color = "auto", .gpus = 1, .nodes = 1, .tensor_parallel = 1};
    struct question q = {0};
    struct plm_error error;
    int status;
    if (parse(&r, argc, argv, &error) < 0 || understand(&r, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    status = open_question(&r, &q);
    if (status == 0)
        status = open_forest(&r, &q);
    if (status == 0)
        status = open_capture(&r, &q);
    if (status == 0)
        status = answer(&r, &q);
    plm_captured_free(&q.captured);
    plm_forest_free(&q.forest);
    plm_estimate_forget(&q.made);
    plm_catalogue_free(&q.catalogue);
    return status;
}
