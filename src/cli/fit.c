#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "base/install.h"
#include "base/options.h"
#include "cli/cli.h"
#include "fit/tune.h"
#include "report/fit.h"
#include "fit/confidence.h"
#include "report/report.h"

struct request {
    bool bytes, json, all, pessimistic, strict;
    const char *color, *gpu, *margin, *path;
};

static int parse(struct request *r, const char *command, int argc, char **argv, struct plm_margin *margin,
                 struct plm_error *error)
{
    const struct plm_option table[] = {
        {"bytes", 0, PLM_OPTION_FLAG, &r->bytes, true},
        {"json", 0, PLM_OPTION_FLAG, &r->json, false},
        {"all", 0, PLM_OPTION_FLAG, &r->all, true},
        {"color", 0, PLM_OPTION_TEXT, &r->color, true},
        {"gpu", 0, PLM_OPTION_TEXT, &r->gpu, true},
        {"margin", 0, PLM_OPTION_TEXT, &r->margin, true},
        /* of fit alone */
        {"pessimistic", 0, PLM_OPTION_FLAG, &r->pessimistic, true},
        {"strict", 0, PLM_OPTION_FLAG, &r->strict, true},
    };
    size_t count = sizeof table / sizeof table[0] - (strcmp(command, "fit") ? 2 : 0);
    int words, status = plm_options_among(table, count, command, argc, argv, &r->path, 1, &words, error);
    if (status < 0)
        return status;
    if (words != 1)
        return plm_fail(error, PLM_EINVAL, "%s; write `plimsoll %s FILE.plm`",
                        words ? "one record at a time" : "no record given", command);
    *margin = (struct plm_margin){0};
    if (r->margin && plm_margin_parse(r->margin, margin))
        return plm_fail(error, PLM_EINVAL, "--margin %.60s: it takes a size or a share, 1GiB or 5%%", r->margin);
    return 0;
}

static struct plm_report_options look(const struct request *r)
{
    return (struct plm_report_options){.bytes = r->bytes,
                                       .color = plm_want_color(r->color, STDOUT_FILENO),
                                       .utf8 = plm_want_utf8(),
                                       .width = plm_terminal_width(STDOUT_FILENO),
                                       .record = r->path};
}

/* Everything that both commands need before they can answer. */
struct question {
    struct plm_install install;
    struct plm_catalogue catalogue;
    struct plm_card *card;
    size_t cards;
    struct plm_job *job;
    struct plm_fit fit;
};

static void close_question(struct question *q)
{
    plm_fit_close(&q->fit);
    if (q->job)
        plm_job_free(q->job);
    free(q->card);
    plm_catalogue_free(&q->catalogue);
}

/* --gpu names some; without it, all there are. */
static int choose(struct question *q, const struct request *r, struct plm_error *error)
{
    int status;
    q->card = calloc((size_t)q->catalogue.count + PLM_REPORT_CARDS, sizeof *q->card);
    if (!q->card)
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    if (r->gpu) {
        status = plm_cards_choose(&q->catalogue, &q->install, r->gpu, NULL, q->card, error);
        q->cards = status > 0 ? (size_t)status : 0;
        return status < 0 ? status : 0;
    }
    q->cards = (size_t)q->catalogue.count;
    for (size_t i = 0; i < q->cards; i++)
        q->card[i] = q->catalogue.entry[i].card;
    return 0;
}

/* 0, or the exit status after a complaint. */
static int open_question(struct question *q, const struct request *r)
{
    struct plm_error error;
    *q = (struct question){0};
    if (plm_install_find(&q->install, &error) < 0 || plm_catalogue_load(&q->catalogue, &q->install, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    if (choose(q, r, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    if (plm_job_read(r->path, &q->job, &error) < 0 || plm_fit_open(q->job, &q->fit, &error) < 0)
        return plm_complain(PLM_EXIT_CANNOT, error.text);
    return 0;
}

/* For one card the exit status is the verdict. */
static int judge(const struct request *r, const struct plm_fit_table *t)
{
    enum plm_verdict verdict = t->rows == 1 ? t->row[0].answer.verdict : PLM_FITS;
    char reasons[8][256];
    int n;
    if (verdict == PLM_NO_FIT || (verdict == PLM_TIGHT && r->pessimistic))
        return PLM_EXIT_NO_FIT;
    if (r->strict && (t->fit->doubt[0] || strcmp(plm_confidence(t->fit->job, reasons, 8, &n), "high") != 0))
        return PLM_EXIT_UNTRUSTED;
    return PLM_EXIT_OK;
}

int plm_cmd_fit(int argc, char **argv)
{
    struct request r = {.color = "auto"};
    struct plm_report_options options;
    struct plm_fit_table table;
    struct plm_margin margin;
    struct plm_error error;
    struct question q;
    int status;

    if (parse(&r, "fit", argc, argv, &margin, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    options = look(&r);
    status = open_question(&q, &r);
    if (status == 0 && plm_fit_table(&q.fit, q.card, q.cards, &margin, &table, &error) < 0)
        status = plm_complain(PLM_EXIT_CANNOT, error.text);
    else if (status == 0) {
        status = judge(&r, &table);
        if ((r.json ? plm_fit_json : plm_fit_text)(stdout, &table, &options, r.all, &error) < 0)
            status = plm_complain(PLM_EXIT_CANNOT, error.text);
        plm_fit_table_free(&table);
    }
    close_question(&q);
    return status;
}

/* ---- tune ---- */

static void tell(size_t done, size_t all, void *context)
{
    (void)context;
    fprintf(stderr, "\r%zu of %zu settings\033[K%s", done, all, done == all ? "\r\033[K" : "");
}

int plm_cmd_tune(int argc, char **argv)
{
    struct request r = {.color = "auto"};
    struct plm_report_options options;
    struct plm_margin margin;
    struct plm_error error;
    struct plm_tune tune;
    struct question q;
    int status;

    if (parse(&r, "tune", argc, argv, &margin, &error) < 0)
        return plm_complain(PLM_EXIT_USAGE, error.text);
    options = look(&r);
    status = open_question(&q, &r);
    if (status == 0 && r.gpu && q.cards > 1)
        status = plm_complain(PLM_EXIT_USAGE, "tune looks at one card: `plimsoll tune --gpu rtx3060 FILE.plm`");
    else if (status == 0 && plm_tune(&q.fit, r.gpu ? q.card : NULL, &margin, isatty(STDERR_FILENO) ? tell : NULL, NULL,
                                     &tune, &error) < 0)
        status = plm_complain(PLM_EXIT_CANNOT, error.text);
    else if (status == 0) {
        if ((r.json ? plm_tune_json : plm_tune_text)(stdout, &tune, &options, r.all, &error) < 0)
            status = plm_complain(PLM_EXIT_CANNOT, error.text);
        plm_tune_free(&tune);
    }
    close_question(&q);
    return status;
}
