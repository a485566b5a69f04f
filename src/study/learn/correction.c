#include "study/learn/correction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double plm_correction_target(enum plm_correction_way way, double forecast, double measured)
{
    return way == PLM_CORRECT_BY_FACTOR ? log(measured / forecast) : measured - forecast;
}

double plm_correction_apply(enum plm_correction_way way, double forecast, double learned)
{
    return way == PLM_CORRECT_BY_FACTOR ? forecast * exp(learned) : forecast + learned;
}

int plm_correction_learn(const struct plm_correction_frame *frame, const struct plm_tree_data *data,
                         const struct plm_boosted_settings *settings, struct plm_boosted *trees,
                         struct plm_error *error)
{
    int status = plm_boosted_train(data, settings, trees, error);
    if (status)
        return status;
    snprintf(trees->target, sizeof trees->target, "%s", frame->target);
    for (size_t i = 0; i < frame->features; i++)
        snprintf(trees->feature[i].name, sizeof trees->feature[i].name, "%s", frame->name(i));
    return 0;
}

bool plm_correction_fits(const struct plm_correction_frame *frame, const struct plm_boosted *trees)
{
    bool fits = !strcmp(trees->target, frame->target) && trees->features == frame->features;
    for (size_t i = 0; i < frame->features && fits; i++)
        fits = !strcmp(frame->name(i), trees->feature[i].name);
    return fits;
}
