#include "fit/tune.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/crew.h"
#include "common/error.h"
#include "base/memory.h"
#include "common/card.h"

/* Less than one part in a hundred of what is reserved is not worth a setting. */
enum { WORTH = 100 };

struct work {
    struct plm_tune *tune;
    plm_tune_progress *tell; /* of the calling thread; NULL: nobody looks */
    void *context;
    atomic_size_t done;
    atomic_bool failed;   /* what is left is not tried */
    pthread_mutex_t lock; /* of what follows */
    int status;
    struct plm_error error;
};

static int try_row(const struct plm_tune *t, struct plm_tune_row *row, struct plm_error *error)
{
    int status = plm_fit_need(t->fit, &row->candidate.settings, &row->need, error);
    if (status == 0 && t->card)
        status = plm_fit_card(t->fit, &row->candidate.settings, &row->need, t->card, t->usable, &row->answer, error);
    return status;
}

static void work_on(void *work, size_t task, size_t worker)
{
    struct work *w = work;
    const struct plm_tune *t = w->tune;
    struct plm_error error;
    size_t done;
    int status;
    if (atomic_load(&w->failed))
        return;
    status = try_row(t, &t->row[task], &error);
    done = atomic_fetch_add(&w->done, 1) + 1;
    if (status) {
        pthread_mutex_lock(&w->lock);
        w->status = status;
        w->error = error;
        pthread_mutex_unlock(&w->lock);
        atomic_store(&w->failed, true);
    }
    if (w->tell && worker == 0)
        w->tell(done, t->rows, w->context);
}

static int try_all(struct plm_tune *t, plm_tune_progress *tell, void *context, struct plm_error *error)
{
    struct work w = {.tune = t, .tell = tell, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER};
    plm_crew_run(t->rows, work_on, &w);
    if (w.status)
        *error = w.error;
    return w.status;
}

static int by_worth(const void *a, const void *b)
{
    const struct plm_tune_row *x = a, *y = b;
    if (x->answer.verdict != y->answer.verdict)
        return x->answer.verdict < y->answer.verdict ? -1 : 1;
    if (x->need.reserved != y->need.reserved)
        return x->need.reserved < y->need.reserved ? -1 : 1;
    if (x->candidate.keys != y->candidate.keys)
        return x->candidate.keys - y->candidate.keys;
    return strcmp(x->candidate.text, y->candidate.text);
}

/* The simplest setting that is as good as the best, within what is worth it; only if it is better than the job's own.
   */
static const struct plm_tune_row *advise(const struct plm_tune *t)
{
    const struct plm_tune_row *best = NULL, *simple = NULL;
    uint64_t worth = t->own.need.reserved / WORTH;
    for (size_t i = 0; i < t->rows && !best; i++)
        if (!t->row[i].candidate.modelled)
            best = &t->row[i];
    if (!best || (best->answer.verdict == t->own.answer.verdict && best->need.reserved + worth >= t->own.need.reserved))
        return NULL;
    for (size_t i = 0; i < t->rows; i++) {
        const struct plm_tune_row *row = &t->row[i];
        if (!row->candidate.modelled && row->answer.verdict == best->answer.verdict &&
            row->need.reserved <= best->need.reserved + worth / 2 &&
            (!simple || row->candidate.keys < simple->candidate.keys))
            simple = row;
    }
    return simple;
}

int plm_tune(const struct plm_fit *fit, const struct plm_card *card, const struct plm_margin *margin,
             plm_tune_progress *tell, void *context, struct plm_tune *t, struct plm_error *error)
{
    struct plm_candidate *candidate = plm_calloc(PLM_CANDIDATES, sizeof *candidate);
    struct plm_tune_row *row = plm_calloc(PLM_CANDIDATES, sizeof *row);
    bool assumed;
    int status;

    *t = (struct plm_tune){.fit = fit, .card = card, .row = row};
    t->usable = card ? plm_margin_usable(margin, plm_summary_usable(&fit->job->summary, card, &assumed)) : 0;
    t->own.candidate.settings = fit->settings;
    snprintf(t->own.candidate.text, sizeof t->own.candidate.text, "%s", fit->allocator);
    t->rows = plm_candidates(fit->torch, card != NULL, candidate);
    for (size_t i = 0; i < t->rows; i++)
        row[i].candidate = candidate[i];
    free(candidate);
    status = try_row(t, &t->own, error);
    if (status == 0)
        status = try_all(t, tell, context, error);
    if (status) {
        plm_tune_free(t);
        return status;
    }
    qsort(t->row, t->rows, sizeof *t->row, by_worth);
    t->advice = advise(t);
    return 0;
}

void plm_tune_free(struct plm_tune *tune)
{
    free(tune->row);
    tune->row = NULL;
}
