#include "fit/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/replay.h"
#include "analysis/job.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/units.h"
#include "common/card.h"

/* Of a card that nobody named: ranges of addresses follow it. */
#define SOME_CARD (80ull << 30)

static uint64_t reserved_peak(const struct plm_replay *r)
{
    return r->stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak;
}

/* `card` NULL: any; then there is no share of it to keep to. */
static int attempt(const struct plm_fit *fit, const struct plm_fit_lane *lane,
                   const struct plm_allocator_settings *settings, const struct plm_card *card, uint64_t capacity,
                   bool without_guessed, struct plm_replay *replay, struct plm_error *error)
{
    struct plm_replay_options options = {.torch = fit->torch,
                                         .settings = *settings,
                                         .capacity = capacity,
                                         .total = card ? card->memory_total : SOME_CARD,
                                         .without_guessed = without_guessed};
    if (!card)
        options.settings.fraction = -1;
    return plm_replay_lane(lane->lane, &options, replay, error);
}

/* ---- opening ---- */

static int read_settings(struct plm_fit *fit, struct plm_error *error)
{
    const struct plm_summary *s = &fit->job->summary;
    const char *text = plm_summary_config(s, "allocator");
    struct plm_error why;

    fit->allocator = text && strcmp(text, "default") != 0 ? text : "";
    fit->torch = plm_torch_version(plm_summary_config(s, "torch"));
    if (plm_allocator_settings_parse(fit->allocator, fit->torch, &fit->settings, &why))
        return plm_fail(error, PLM_EFORMAT, "the job's allocator settings cannot be replayed: %.300s", why.text);
    return 0;
}

/* A record is only as good as the replay of its own settings. */
static int replay_own(struct plm_fit *fit, struct plm_error *error)
{
    struct plm_replay r;
    for (size_t i = 0; i < fit->lanes; i++) {
        struct plm_fit_lane *l = &fit->lane[i];
        const struct plm_summary_device *d = l->lane->summary;
        char replayed[32], recorded[32];
        int status = attempt(fit, l, &fit->settings, NULL, UINT64_MAX, false, &r, error);
        if (status)
            return status;
        l->replayed = reserved_peak(&r);
        l->reserved = d->reserved_peak;
        l->calls = r.stats.num_device_alloc;
        if (l->replayed == l->reserved)
            continue;
        fit->repeats = false;
        snprintf(fit->doubt, sizeof fit->doubt,
                 "The replay of rank %d, device %d reserves %s, but %s was recorded: the record lacks something (such "
                 "as frees that wait for other streams).",
                 d->rank, d->device, plm_size_text(replayed, sizeof replayed, l->replayed),
                 plm_size_text(recorded, sizeof recorded, l->reserved));
    }
    return 0;
}

/* What other settings would do follows from the sizes that were asked for. */
static void doubt_sizes(struct plm_fit *fit)
{
    size_t blocks = 0, unknown = 0;
    for (size_t i = 0; i < fit->lanes; i++) {
        const struct plm_lane *lane = fit->lane[i].lane;
        blocks += lane->blocks;
        for (size_t k = 0; k < lane->blocks; k++)
            unknown += !lane->block[k].asked;
    }
    if (!fit->doubt[0] && unknown)
        snprintf(fit->doubt, sizeof fit->doubt,
                 "For %zu of %zu blocks the record has only the size rounded by PyTorch, not the requested one: with "
                 "other settings they may differ slightly.",
                 unknown, blocks);
}

static int check_known(const struct plm_job *job, struct plm_error *error)
{
    const struct plm_fit_known known = plm_fit_known(job);
    if (!job->lanes)
        return plm_fail(error, PLM_ENOTFOUND,
                        "this record has no GPU activity: the job never used CUDA, or the record ends before it did");
    if (known.what != PLM_KNOWN_PEAK)
        return plm_fail(error, PLM_ENOTFOUND, "unknown: %s", known.why);
    return 0;
}

int plm_fit_open(const struct plm_job *job, struct plm_fit *fit, struct plm_error *error)
{
    int status = check_known(job, error);
    *fit = (struct plm_fit){.job = job, .lanes = job->lanes, .repeats = true};
    if (status == 0)
        status = read_settings(fit, error);
    if (status)
        return status;
    fit->ladders = plm_ladders_make(job);
    fit->lane = plm_calloc(fit->lanes, sizeof *fit->lane);
    for (size_t i = 0; i < fit->lanes; i++) {
        const struct plm_lane *lane = &job->lane[i];
        struct plm_ladder l = plm_ladders_on(&fit->ladders, lane, NULL);
        fit->lane[i] = (struct plm_fit_lane){.lane = lane,
                                             .outside = (int64_t)(l.device_used - l.reserved),
                                             .outside_low = (int64_t)(l.low - l.reserved),
                                             .outside_high = (int64_t)(l.high - l.reserved),
                                             .guessed = plm_fit_conv_range(job, lane).low};
        fit->lane[i].least = plm_replay_least(lane);
        if (fit->lane[i].least > fit->least)
            fit->least = fit->lane[i].least;
    }
    status = replay_own(fit, error);
    if (status)
        plm_fit_close(fit);
    else
        doubt_sizes(fit);
    return status;
}

void plm_fit_close(struct plm_fit *fit)
{
    plm_ladders_free(&fit->ladders);
    free(fit->lane);
    fit->lane = NULL;
}

/* ---- questions ---- */

static uint64_t bytes_plus(uint64_t bytes, int64_t more)
{
    return more < 0 && (uint64_t)-more > bytes ? 0 : bytes + (uint64_t)more;
}

/* What is left of a card for PyTorch. */
static uint64_t bytes_minus(uint64_t usable, int64_t outside)
{
    return outside > 0 && (uint64_t)outside > usable ? 0 : usable - (uint64_t)outside;
}

/* With memory in plenty. The job's own settings were replayed when it was opened. */
static int plentiful(const struct plm_fit *fit, const struct plm_fit_lane *lane,
                     const struct plm_allocator_settings *settings, uint64_t *reserved, uint64_t *calls,
                     struct plm_error *error)
{
    struct plm_replay r;
    int status;
    *reserved = lane->reserved;
    *calls = lane->calls;
    if (settings == &fit->settings)
        return 0;
    status = attempt(fit, lane, settings, NULL, UINT64_MAX, false, &r, error);
    *reserved = reserved_peak(&r);
    *calls = r.stats.num_device_alloc;
    return status;
}

static void need_raise(uint64_t *most, uint64_t bytes)
{
    *most = bytes > *most ? bytes : *most;
}

int plm_fit_need(const struct plm_fit *fit, const struct plm_allocator_settings *settings, struct plm_need *need,
                 struct plm_error *error)
{
    *need = (struct plm_need){0};
    for (size_t i = 0; i < fit->lanes; i++) {
        const struct plm_fit_lane *l = &fit->lane[i];
        uint64_t reserved, calls;
        int status = plentiful(fit, l, settings, &reserved, &calls, error);
        if (status)
            return status;
        need_raise(&need->low, bytes_plus(reserved, l->outside_low));
        need_raise(&need->high, bytes_plus(reserved, l->outside_high));
        if (i && bytes_plus(reserved, l->outside) <= need->need)
            continue;
        need->reserved = reserved;
        need->need = bytes_plus(reserved, l->outside);
        need->calls = calls;
    }
    return 0;
}

static int lane_minimum(const struct plm_fit *fit, const struct plm_fit_lane *lane,
                        const struct plm_allocator_settings *settings, uint64_t *minimum, struct plm_error *error)
{
    struct plm_replay r;
    uint64_t fails, completes, calls; /* pages */
    int status = plentiful(fit, lane, settings, &completes, &calls, error);

    if (settings == &fit->settings)
        completes = lane->replayed;
    completes = (completes + PLM_DRIVER_PAGE - 1) / PLM_DRIVER_PAGE;
    fails = (lane->least + PLM_DRIVER_PAGE - 1) / PLM_DRIVER_PAGE;
    fails -= fails > 0; /* not even room for the tensors */
    while (status == 0 && completes > fails + 1) {
        uint64_t middle = fails + (completes - fails) / 2;
        status = attempt(fit, lane, settings, NULL, middle * PLM_DRIVER_PAGE, false, &r, error);
        *(r.completed ? &completes : &fails) = middle;
    }
    *minimum = bytes_plus(completes * PLM_DRIVER_PAGE, lane->outside);
    return status;
}

int plm_fit_minimum(const struct plm_fit *fit, const struct plm_allocator_settings *settings, uint64_t *minimum,
                    struct plm_error *error)
{
    *minimum = 0;
    for (size_t i = 0; i < fit->lanes; i++) {
        uint64_t bytes;
        int status = lane_minimum(fit, &fit->lane[i], settings, &bytes, error);
        if (status)
            return status;
        if (bytes > *minimum)
            *minimum = bytes;
    }
    return 0;
}

/* By how much contexts on a card differ from those on the card that was played. */
struct shift {
    int64_t bytes, low, high;
};

static struct shift shift_of(const struct plm_fit *fit, const struct plm_fit_lane *lane, const struct plm_card *card)
{
    const struct plm_ladder there = plm_ladders_on(&fit->ladders, lane->lane, card);
    return (struct shift){(int64_t)(there.device_used - there.reserved) - lane->outside,
                          (int64_t)(there.low - there.reserved) - lane->outside_low,
                          (int64_t)(there.high - there.reserved) - lane->outside_high};
}

struct plm_need plm_fit_need_on(const struct plm_fit *fit, const struct plm_need *need, const struct plm_card *card)
{
    const struct shift shift = shift_of(fit, &fit->lane[0], card);
    struct plm_need there = *need;
    there.need = bytes_plus(need->need, shift.bytes);
    there.low = bytes_plus(need->low, shift.low);
    there.high = bytes_plus(need->high, shift.high);
    return there;
}

/* A device completes with so much beside PyTorch's segments. */
static void answer_add(struct plm_fit_answer *answer, const struct plm_replay *r, int64_t outside)
{
    const uint64_t takes = bytes_plus(reserved_peak(r), outside);
    answer->takes = takes > answer->takes ? takes : answer->takes;
    answer->fallbacks += r->fallbacks;
}

/* One device that may not have all it would take. At the lower end of the range, what is guessed of workspaces is
   nothing: that is replayed, not added to the card's memory. */
static int try_lane(const struct plm_fit *fit, const struct plm_fit_lane *lane,
                    const struct plm_allocator_settings *settings, const struct plm_card *card, uint64_t usable,
                    struct plm_fit_answer *answer, struct plm_error *error)
{
    const struct shift shift = shift_of(fit, lane, card);
    const int64_t middle = lane->outside + shift.bytes, low = lane->outside_low + shift.low + (int64_t)lane->guessed;
    uint64_t best = bytes_minus(usable, low);
    struct plm_replay r;
    int status;

    if (best < lane->least) {
        *answer = (struct plm_fit_answer){.verdict = PLM_NO_FIT};
        return 0;
    }
    status = attempt(fit, lane, settings, card, bytes_minus(usable, middle), false, &r, error);
    if (status)
        return status;
    if (r.completed) {
        if (r.stats.num_alloc_retries > answer->retries)
            answer->retries = r.stats.num_alloc_retries;
        /* Plenty at the middle of the range, but not at its upper end. */
        answer->in_range |= r.stats.num_alloc_retries == 0;
        answer_add(answer, &r, middle);
        return 0;
    }
    status = attempt(fit, lane, settings, card, best, true, &r, error);
    if (status)
        return status;
    if (!r.completed) {
        *answer = (struct plm_fit_answer){.verdict = PLM_NO_FIT};
        return 0;
    }
    answer_add(answer, &r, low);
    answer->in_range = true;
    return 0;
}

int plm_fit_card(const struct plm_fit *fit, const struct plm_allocator_settings *settings, const struct plm_need *need,
                 const struct plm_card *card, uint64_t usable, struct plm_fit_answer *answer, struct plm_error *error)
{
    const struct plm_need there = plm_fit_need_on(fit, need, card);
    const bool plenty = there.high <= usable;
    *answer = (struct plm_fit_answer){.verdict = PLM_FITS, .takes = there.need};
    /* A share of the card is a limit of its own. */
    if (plenty && settings->fraction < 0)
        return 0;
    *answer = (struct plm_fit_answer){.verdict = PLM_TIGHT};
    for (size_t i = 0; i < fit->lanes && answer->verdict != PLM_NO_FIT; i++) {
        int status = try_lane(fit, &fit->lane[i], settings, card, usable, answer, error);
        if (status)
            return status;
    }
    if (answer->verdict == PLM_TIGHT && plenty && !answer->retries)
        *answer = (struct plm_fit_answer){.verdict = PLM_FITS, .takes = answer->takes};
    return 0;
}

/* ---- margin ---- */

int plm_margin_parse(const char *text, struct plm_margin *margin)
{
    char *rest;
    *margin = (struct plm_margin){0};
    margin->share = strtod(text, &rest) / 100;
    if (rest != text && rest[0] == '%' && !rest[1])
        return margin->share >= 0 && margin->share < 1 ? 0 : PLM_EINVAL;
    margin->share = 0;
    return plm_size_parse(text, &margin->bytes);
}

uint64_t plm_margin_usable(const struct plm_margin *margin, uint64_t usable)
{
    uint64_t less = margin->bytes + (uint64_t)(margin->share * (double)usable);
    return less < usable ? usable - less : 0;
}
