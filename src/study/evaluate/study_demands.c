/* What the user of a method must change or provide. A line is one thing that has to be there and that somebody has to
   do or to own; what plimsoll does by itself is none. Methods of a paradigm need what its lines say, unless they have
   lines of their own. */
#include <string.h>

#include "study/evaluate/study.h"

const char *plm_demand_when_name(enum plm_demand_when when)
{
    static const char *const names[PLM_DEMAND_TIMES] = {
        [PLM_DEMAND_ONCE] = "once", [PLM_DEMAND_EACH_CARD] = "each card or stack", [PLM_DEMAND_EACH_JOB] = "each job"};
    return names[when];
}

#define CONTEXT  "a figure for the stack's context: one measured run, or `plimsoll measure`"
#define COUNTS   "counts of the network: layers, parameters, activations, batch (`plimsoll describe`)"
#define STARTS   "an environment in which the job starts, with PyTorch's CUDA build"
#define MEASURED "some thousand runs measured on that card with that stack, or labelled by `plimsoll dataset`"
#define TRAINING "a training of the model on them"

const struct plm_demand plm_demands[] = {
    {"analytical", PLM_DEMAND_EACH_CARD, CONTEXT},
    {"analytical", PLM_DEMAND_EACH_JOB, COUNTS},

    {"CPU-side", PLM_DEMAND_EACH_CARD, CONTEXT},
    {"CPU-side", PLM_DEMAND_EACH_JOB, "an environment in which the job runs on a CPU"},
    {"CPU-side", PLM_DEMAND_EACH_JOB, "host memory and time for real steps there (`plimsoll trace`)"},

    {"learned", PLM_DEMAND_EACH_CARD, MEASURED},
    {"learned", PLM_DEMAND_EACH_CARD, TRAINING},
    {"learned", PLM_DEMAND_EACH_JOB, COUNTS},

    {"gpumemnet-mlp", PLM_DEMAND_ONCE, "PyTorch where it is trained"},
    {"gpumemnet-mlp", PLM_DEMAND_EACH_CARD, MEASURED},
    {"gpumemnet-mlp", PLM_DEMAND_EACH_CARD, TRAINING},
    {"gpumemnet-mlp", PLM_DEMAND_EACH_JOB, COUNTS},

    {"gpumemnet-transformer", PLM_DEMAND_ONCE, "PyTorch where it is trained"},
    {"gpumemnet-transformer", PLM_DEMAND_EACH_CARD, MEASURED},
    {"gpumemnet-transformer", PLM_DEMAND_EACH_CARD, TRAINING},
    {"gpumemnet-transformer", PLM_DEMAND_EACH_JOB, COUNTS},
    {"gpumemnet-transformer", PLM_DEMAND_EACH_JOB, "the network's layers in their order (`plimsoll describe`)"},

    {"dnnperf", PLM_DEMAND_ONCE, "PyTorch where it is trained"},
    {"dnnperf", PLM_DEMAND_EACH_CARD, MEASURED},
    {"dnnperf", PLM_DEMAND_EACH_CARD, TRAINING},
    {"dnnperf", PLM_DEMAND_EACH_JOB, "the network's layers with their inputs (`plimsoll describe`)"},

    {"plimsoll-learned", PLM_DEMAND_EACH_CARD, "some measured runs with that stack"},
    {"plimsoll-learned", PLM_DEMAND_EACH_CARD, TRAINING},
    {"plimsoll-learned", PLM_DEMAND_EACH_JOB, STARTS},
    {"plimsoll-learned", PLM_DEMAND_EACH_JOB, COUNTS},

    {"virtual", PLM_DEMAND_EACH_CARD, CONTEXT},
    {"virtual", PLM_DEMAND_EACH_JOB, STARTS},
};
const size_t plm_demand_count = sizeof plm_demands / sizeof plm_demands[0];

static bool has_own(const char *method)
{
    for (size_t i = 0; i < plm_demand_count; i++)
        if (!strcmp(plm_demands[i].of, method))
            return true;
    return false;
}

const struct plm_demand *plm_demand_next(const char *method, enum plm_paradigm paradigm,
                                         const struct plm_demand *before)
{
    const char *of = has_own(method) ? method : plm_paradigm_name(paradigm);
    for (size_t i = before ? (size_t)(before - plm_demands) + 1 : 0; i < plm_demand_count; i++)
        if (!strcmp(plm_demands[i].of, of))
            return &plm_demands[i];
    return NULL;
}

size_t plm_demand_times(const char *method, enum plm_paradigm paradigm, enum plm_demand_when when)
{
    size_t count = 0;
    for (const struct plm_demand *d = NULL; (d = plm_demand_next(method, paradigm, d));)
        count += d->when == when;
    return count;
}
