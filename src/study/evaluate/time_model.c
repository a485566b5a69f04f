#include "study/evaluate/time_model.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"

static const struct plm_speeds *speeds_of(const struct plm_timed_model *model, const char *card)
{
    for (size_t i = 0; i < model->cards; i++)
        if (!strcmp(model->card[i].card, card))
            return &model->card[i].speeds;
    return NULL;
}

int plm_timed_model_read(const struct plm_timed_bench *bench, const char *path, const struct plm_install *install,
                         struct plm_host_time host, struct plm_timed_model *model, struct plm_error *error)
{
    int status = 0;
    *model = (struct plm_timed_model){.host = host};
    for (size_t i = 0; i < bench->runs && status == 0; i++) {
        const struct plm_card *card = &bench->run[i].card;
        struct plm_timed_speeds item;
        if (speeds_of(model, card->id))
            continue;
        strcpy(item.card, card->id);
        status = plm_speeds_read(path, install, card, &item.speeds, error);
        if (status)
            break;
        model->card = plm_grow(model->card, model->cards, &model->room, sizeof *model->card);
        model->card[model->cards++] = item;
    }
    if (status)
        plm_timed_model_free(model);
    return status;
}

void plm_timed_model_free(struct plm_timed_model *model)
{
    free(model->card);
    *model = (struct plm_timed_model){0};
}

static void forecast_take(const struct plm_timing *t, struct plm_timed_forecast *f)
{
    f->known = t->step > 0;
    f->figure[PLM_FIGURE_STEP] = t->step * 1e-6;
    for (int i = 0; i < PLM_METRICS; i++)
        f->figure[PLM_FIGURE_METRIC + i] = t->metric[i];
    f->step = t->step;
    f->busy = t->busy;
    f->host = t->host;
    f->kernels = t->kernels;
    memcpy(f->bound, t->bound, sizeof f->bound);
}

void plm_timed_model_ask(const struct plm_timed_model *model, struct plm_timed_run *run,
                         struct plm_timed_forecast *forecast)
{
    const struct plm_timing_options options = {.host = model->host};
    struct plm_timing timing;
    struct plm_error why;
    *forecast = (struct plm_timed_forecast){0};
    if (!run->lane)
        return;
    if (plm_timing_make(run->works, run->lane, &run->card, speeds_of(model, run->card.id), &options, &timing, &why) <
        0) {
        snprintf(run->why, sizeof run->why, "%.190s", why.text);
        return;
    }
    forecast_take(&timing, forecast);
    plm_timing_free(&timing);
}
