#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "base/memory.h"
#include "fit/tune.h"

/* The settings that may change a verdict, each replayed once for all cards. */
struct others {
    struct plm_candidate candidate[PLM_CANDIDATES];
    struct plm_need need[PLM_CANDIDATES];
    size_t count;
};

static int by_memory(const void *a, const void *b)
{
    const struct plm_fit_row *x = a, *y = b;
    return x->usable != y->usable ? (x->usable < y->usable ? -1 : 1) : strcmp(x->card->id, y->card->id);
}

/* ---- rows ---- */

/* From which compute capability on cards have a type. */
static const struct {
    const char *name;
    int major, minor;
} types[PLM_TYPES] = {[PLM_TYPE_BF16] = {"bf16", 8, 0}, [PLM_TYPE_FP8] = {"fp8", 8, 9}};

static unsigned card_lacks(const struct plm_card *card, unsigned used)
{
    unsigned lacks = 0;
    for (unsigned i = 0; i < PLM_TYPES; i++)
        if (used >> i & 1 &&
            (card->major < types[i].major || (card->major == types[i].major && card->minor < types[i].minor)))
            lacks |= 1u << i;
    return lacks;
}

const char *plm_fit_lacks_text(unsigned lacks, char out[32])
{
    size_t n = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < PLM_TYPES; i++)
        if (lacks >> i & 1)
            n += (size_t)snprintf(out + n, 32 - n, "%s%s", n ? ", " : "", types[i].name);
    return out;
}

/* All that is known of the cards themselves. */
static struct plm_fit_table table_make(const struct plm_job *job, const struct plm_card *cards, size_t count,
                                       const struct plm_margin *margin)
{
    struct plm_fit_table t = {
        .job = job, .known = plm_fit_known(job), .row = plm_calloc(count, sizeof *t.row), .rows = count};
    for (size_t i = 0; i < count; i++) {
        struct plm_fit_row *row = &t.row[i];
        row->card = &cards[i];
        row->usable = plm_margin_usable(margin, plm_summary_usable(&job->summary, &cards[i], &row->assumed));
        row->lacks = card_lacks(&cards[i], job->summary.types);
    }
    qsort(t.row, t.rows, sizeof *t.row, by_memory);
    return t;
}

void plm_fit_table_free(struct plm_fit_table *table)
{
    free(table->row);
    table->row = NULL;
}

const struct plm_fit_row *plm_fit_smallest(const struct plm_fit_table *t, bool mig)
{
    for (size_t i = 0; i < t->rows; i++) {
        const struct plm_fit_row *row = &t->row[i];
        if (row->answer.verdict == PLM_FITS && row->card->mig == mig && !row->card->shared_memory && !row->lacks)
            return row;
    }
    return NULL;
}

/* ---- by replay ---- */

static int make_others(const struct plm_fit *fit, struct others *others, struct plm_error *error)
{
    others->count = plm_candidates_quick(fit->torch, others->candidate);
    for (size_t i = 0; i < others->count; i++) {
        int status = plm_fit_need(fit, &others->candidate[i].settings, &others->need[i], error);
        if (status)
            return status;
    }
    return 0;
}

/* The first setting that is best on this card. */
static int improve(const struct plm_fit *fit, const struct others *others, struct plm_fit_row *row,
                   struct plm_error *error)
{
    struct plm_fit_answer answer;
    enum plm_verdict best = row->answer.verdict;
    for (size_t i = 0; i < others->count && best != PLM_FITS; i++) {
        int status =
            plm_fit_card(fit, &others->candidate[i].settings, &others->need[i], row->card, row->usable, &answer, error);
        if (status)
            return status;
        if (answer.verdict >= best)
            continue;
        best = answer.verdict;
        snprintf(row->better, sizeof row->better, "%s",
                 *others->candidate[i].text ? others->candidate[i].text : "default");
        row->then = answer;
        row->better_need = plm_fit_need_on(fit, &others->need[i], row->card).need;
    }
    return 0;
}

/* Cards with the same memory and context have the same answer, unless a share of it is a limit. */
static bool repeats(const struct plm_fit *fit, const struct plm_fit_row *row, const struct plm_fit_row *before)
{
    return fit->settings.fraction < 0 && row->usable == before->usable && row->need == before->need;
}

static int table_fill(struct plm_fit_table *t, struct others *others, struct plm_error *error)
{
    const struct plm_fit *fit = t->fit;
    bool made = false;
    int status = plm_fit_need(fit, &fit->settings, &t->need, error);
    if (status == 0)
        status = plm_fit_minimum(fit, &fit->settings, &t->minimum, error);
    for (size_t i = 0; i < t->rows && status == 0; i++) {
        struct plm_fit_row *row = &t->row[i];
        row->need = plm_fit_need_on(fit, &t->need, row->card).need;
        row->minimum = row->need - (t->need.need - t->minimum);
        if (i && repeats(fit, row, row - 1)) {
            row->answer = row[-1].answer;
            row->then = row[-1].then;
            row->better_need = row[-1].better_need;
            memcpy(row->better, row[-1].better, sizeof row->better);
            continue;
        }
        status = plm_fit_card(fit, &fit->settings, &t->need, row->card, row->usable, &row->answer, error);
        /* No setting makes room for more tensors than there is memory. */
        if (status || row->answer.verdict == PLM_FITS || row->usable < fit->least)
            continue;
        if (!made)
            status = make_others(fit, others, error);
        made = true;
        if (status == 0)
            status = improve(fit, others, row, error);
    }
    return status;
}

int plm_fit_table(const struct plm_fit *fit, const struct plm_card *cards, size_t count,
                  const struct plm_margin *margin, struct plm_fit_table *table, struct plm_error *error)
{
    struct others *others = plm_calloc(1, sizeof *others);
    int status;
    *table = table_make(fit->job, cards, count, margin);
    table->fit = fit;
    status = table_fill(table, others, error);
    free(others);
    if (status)
        plm_fit_table_free(table);
    return status;
}

/* ---- without a peak ---- */

/* What a card has for the job beside the context. */
static uint64_t card_room(const struct plm_job *job, const struct plm_card *card, uint64_t usable)
{
    const uint64_t context = plm_ladder_context(&job->summary, plm_job_largest(job)->summary, card).bytes;
    return usable > context ? usable - context : 0;
}

/* With memory between what was taken and what there was, a job of which TOO_LITTLE is known would have been given and
   refused the same, and so would one of which ENOUGH is known: so the one does not end on a card with no more room than
   the played one, and the other does on a card with what it took. */
struct plm_fit_table plm_fit_table_known(const struct plm_job *job, const struct plm_card *cards, size_t count,
                                         const struct plm_margin *margin)
{
    const char *played = plm_summary_config(&job->summary, "gpu");
    struct plm_fit_table t = table_make(job, cards, job->lanes ? count : 0, margin);
    const struct plm_fit_row *own = NULL;
    uint64_t refused = t.known.used, all = 0, room;
    bool assumed;
    for (size_t i = 0; i < t.rows && !own; i++)
        if (played && !strcmp(t.row[i].card->id, played))
            own = &t.row[i];
    if (own) {
        all = plm_summary_usable(&job->summary, own->card, &assumed);
        room = card_room(job, own->card, all);
        refused = room > refused ? room : refused;
    }
    for (size_t i = 0; i < t.rows; i++) {
        struct plm_fit_row *row = &t.row[i];
        const bool same = own && row == own && row->usable == all; /* whatever its context was then */
        room = card_room(job, row->card, row->usable);
        row->answer.verdict = PLM_UNKNOWN;
        if (t.known.what == PLM_KNOWN_TOO_LITTLE && (same || room <= refused))
            row->answer.verdict = PLM_NO_FIT;
        else if (t.known.what == PLM_KNOWN_ENOUGH && (same || room >= t.known.used))
            row->answer.verdict = PLM_TIGHT;
    }
    return t;
}

/* ---- in a report ---- */

/* Some twenty replays of so many events take less than a second. */
enum { QUICK = 300000 };

static bool job_is_quick(const struct plm_job *job)
{
    size_t moments = 0;
    for (size_t i = 0; i < job->lanes; i++)
        moments += job->lane[i].moments;
    return moments <= QUICK;
}

/* What the devices of a job take of a card, by the ladder alone; no allocator is asked. */
static struct plm_fit_table table_by_ladder(const struct plm_job *job, const struct plm_card *cards, size_t count,
                                            const struct plm_margin *margin)
{
    struct plm_fit_table t = table_make(job, cards, count, margin);
    struct plm_ladders ladders = plm_ladders_make(job);
    const struct plm_ladder own = plm_ladders_job(&ladders, NULL);
    t.need = (struct plm_need){.reserved = own.reserved, .need = own.device_used, .low = own.low, .high = own.high};
    for (size_t i = 0; i < t.rows; i++) {
        const struct plm_ladder l = plm_ladders_job(&ladders, t.row[i].card);
        t.row[i].need = l.device_used;
        t.row[i].answer.verdict = plm_ladder_fit(&l, t.row[i].usable);
        t.row[i].answer.in_range = t.row[i].answer.verdict == PLM_TIGHT;
    }
    plm_ladders_free(&ladders);
    return t;
}

struct plm_fit_table plm_fit_report(const struct plm_job *job, const struct plm_card *cards, size_t count)
{
    const struct plm_margin none = {0};
    struct plm_fit_table table;
    struct plm_fit fit;
    int status;
    if (plm_fit_known(job).what != PLM_KNOWN_PEAK)
        return plm_fit_table_known(job, cards, count, &none);
    status = job_is_quick(job) ? plm_fit_open(job, &fit, NULL) : PLM_EINVAL;
    if (status == 0) {
        status = fit.repeats ? plm_fit_table(&fit, cards, count, &none, &table, NULL) : PLM_EINVAL;
        plm_fit_close(&fit);
    }
    if (status)
        return table_by_ladder(job, cards, count, &none);
    table.fit = NULL;
    return table;
}
