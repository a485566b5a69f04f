/* `plimsoll calibrate --time`: figures of a real card, and the time model's constants from them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "common/input.h"
#include "base/install.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/cli.h"
#include "time/calibrate.h"
#include "time/figures.h"

/* What the script prints is some KB. */
enum { FIGURES_MOST = 4 << 20 };

/* ---- the figures ---- */

/* All of a file; false: it cannot be read, or is larger than any list. */
static bool read_all(int file, char **text, size_t *size)
{
    ssize_t n;
    *text = plm_calloc(FIGURES_MOST + 1, 1);
    *size = 0;
    while (*size <= FIGURES_MOST && (n = read(file, *text + *size, FIGURES_MOST + 1 - *size)) != 0) {
        if (n > 0)
            *size += (size_t)n;
        else if (errno != EINTR)
            return false;
    }
    return *size <= FIGURES_MOST;
}

static int figures_take(int file, const char *name, struct plm_figures *figures)
{
    struct plm_error error = {0};
    char *text;
    size_t size;
    int status = PLM_EXIT_OK;
    if (!read_all(file, &text, &size))
        status = plm_complain_of(PLM_EXIT_NOTHING, "%.300s cannot be read as a list of figures", name);
    else if (plm_figures_parse(name, text, size, figures, &error) < 0)
        status = plm_fault(&error);
    free(text);
    return status;
}

static int figures_read(const char *path, struct plm_figures *figures)
{
    struct plm_error error;
    const int file = plm_input_open(path, NULL, &error);
    int status;
    if (file < 0)
        return plm_fault(&error);
    status = figures_take(file, path, figures);
    close(file);
    return status;
}

/* In the child: what it prints goes to our file. */
static void script_prepare(void *context)
{
    dup2(*(int *)context, STDOUT_FILENO);
}

/* The script complains by itself. */
static int script_judge(int status)
{
    if (WIFSIGNALED(status))
        return plm_complain_of(PLM_EXIT_CANNOT, "the measurement was killed by signal %d (%s)", WTERMSIG(status),
                               strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == PLM_EXIT_CANNOT)
        return PLM_EXIT_CANNOT;
    return WEXITSTATUS(status)
               ? plm_complain_of(PLM_EXIT_CANNOT, "the measurement failed with status %d", WEXITSTATUS(status))
               : PLM_EXIT_OK;
}

static int figures_measure(const char *python, const struct plm_install *install, struct plm_figures *figures)
{
    const char *const words[] = {python, install->calibrate_time, NULL};
    FILE *file = tmpfile();
    int failure, status, fd = file ? fileno(file) : -1;
    pid_t child;
    if (!file)
        return plm_complain(PLM_EXIT_CANNOT, "cannot create a temporary file for the figures");
    plm_child_forward_signals();
    child = plm_child_start(&(struct plm_child){.words = words, .prepare = script_prepare, .context = &fd}, &failure);
    if (child < 0)
        status =
            plm_complain_of(failure == ENOENT ? PLM_EXIT_NOT_FOUND : PLM_EXIT_NOT_RUNNABLE,
                            "cannot start %.200s: %s; choose an interpreter with --python", python, strerror(failure));
    else
        status = script_judge(plm_child_wait(child, NULL, NULL));
    if (!status)
        status = lseek(fd, 0, SEEK_SET) ? plm_complain(PLM_EXIT_CANNOT, "cannot read the figures back")
                                        : figures_take(fd, "the measurement", figures);
    fclose(file);
    return status;
}

/* ---- the card ---- */

/* By the driver's name and its multiprocessors; of several, the one whose memory is nearest. */
static const struct plm_card *card_like(const struct plm_catalogue *catalogue, const struct plm_figures *f)
{
    const struct plm_card *found = NULL;
    double least = INFINITY;
    for (int i = 0; i < catalogue->count; i++) {
        const struct plm_card *card = &catalogue->entry[i].card;
        const double off = fabs((double)card->memory_total - (double)f->memory);
        if (plm_card_match(card, f->gpu) < PLM_CARD_PERHAPS || (f->sms && card->sms != (int)f->sms) || off >= least)
            continue;
        least = off;
        found = card;
    }
    return found;
}

static const struct plm_card *card_choose(struct plm_catalogue *catalogue, const char *name,
                                          const struct plm_figures *f, struct plm_error *error)
{
    const struct plm_catalogue_entry *entry;
    const struct plm_card *card = NULL;
    if (name) {
        card = plm_catalogue_find(catalogue, name, &entry, error) < 0 ? NULL : &entry->card;
    } else {
        card = card_like(catalogue, f);
        if (!card)
            plm_fail(error, PLM_ENOTFOUND, "the catalogue has no %.90s with %llu SMs: name the card with --gpu", f->gpu,
                     (unsigned long long)f->sms);
    }
    return card;
}

/* ---- the constants ---- */

static int constants_write(FILE *out, const void *what, struct plm_error *error)
{
    (void)error;
    plm_calibration_write(out, what);
    return 0;
}

static void constants_name(struct plm_speeds *speeds, const struct plm_card *card, const struct plm_figures *f)
{
    const time_t now = time(NULL);
    struct tm utc;
    char date[16];
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    snprintf(speeds->name, sizeof speeds->name, "%s", card->id);
    snprintf(speeds->source, sizeof speeds->source,
             "plimsoll calibrate --time on %.60s, PyTorch %.20s, CUDA %.12s, driver %.24s, %s", f->gpu,
             *f->torch ? f->torch : "?", *f->cuda ? f->cuda : "?", *f->driver ? f->driver : "?", date);
}

static void constants_show(const struct plm_calibration *c, const char *path)
{
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        if (c->how[i] == PLM_CALIBRATED_BEYOND)
            fprintf(stderr, "plimsoll: %s keeps its value: the measured one is not between %g and %g\n",
                    plm_speed[i].name, plm_speed[i].least, plm_speed[i].most);
    fprintf(stderr,
            "plimsoll: %d of %d constants measured, the rest kept from %s; median error %.0f %%, the worst (%s) is off "
            "by %.0f %%\n",
            c->measured, (int)PLM_SPEEDS, c->kept, 100 * c->median, c->worst_name, 100 * c->worst);
    if (strcmp(path, "-") != 0)
        puts(path);
}

static int constants_make(const struct plm_cli_calibrate_time *r, const struct plm_install *install,
                          const struct plm_card *card, const struct plm_figures *figures)
{
    const struct plm_output_rule rule = {.force = r->force, .input = {r->figures}};
    struct plm_calibration calibration;
    struct plm_speeds kept;
    struct plm_error error = {0};
    if (plm_speeds_read(NULL, install, card, &kept, &error) < 0 ||
        plm_calibrate(figures, card, &kept, &calibration, &error) < 0)
        return plm_fault(&error);
    constants_name(&calibration.speeds, card, figures);
    if (plm_output_write(r->output, &rule, constants_write, &calibration, &error) < 0)
        return plm_fault(&error);
    constants_show(&calibration, r->output);
    return PLM_EXIT_OK;
}

int plm_cli_calibrate_time(const struct plm_cli_calibrate_time *r, const struct plm_install *install)
{
    struct plm_catalogue catalogue;
    struct plm_figures figures = {0};
    const struct plm_card *card;
    struct plm_error error = {0};
    int status;
    if (!r->figures && getenv("PLIMSOLL_SHIMS"))
        return plm_complain(PLM_EXIT_CANNOT, "--time needs a real GPU: times on the virtual one mean nothing");
    if (plm_catalogue_load(&catalogue, install, &error) < 0)
        return plm_fault(&error);
    status = r->figures ? figures_read(r->figures, &figures) : figures_measure(r->python, install, &figures);
    if (!status) {
        card = card_choose(&catalogue, r->gpu, &figures, &error);
        status = card ? constants_make(r, install, card, &figures) : plm_fault(&error);
    }
    plm_figures_free(&figures);
    plm_catalogue_free(&catalogue);
    return status;
}
