#include "study/measure/activity.h"

#include <dlfcn.h>
#include <stddef.h>

#include "study/measure/meter.h"

/* nvmlUtilization_t: per cent of the driver's last sampling period. */
struct rates {
    unsigned gpu, memory;
};

/* nvmlGpmSupport_t and nvmlGpmMetricsGet_t. The documentation's array is as long as there are metrics in its release;
   only as many as the caller says are looked at, and it is longer here than any of these. */
enum { VERSION = 1, METRICS_MOST = 512 };

struct gpm_support {
    unsigned version, supported;
};

struct gpm_metric {
    unsigned id;
    int status; /* 0: the value counts */
    double value;
    const char *short_name, *long_name, *unit;
};

struct gpm_request {
    unsigned version, count;
    void *before, *after;
    struct gpm_metric metric[METRICS_MOST];
};

/* nvmlGpmMetricId_t: all of them per cent. */
static const struct {
    unsigned id;
    enum plm_metric metric;
} gpm[] = {
    {1, PLM_METRIC_GRACT}, /* GRAPHICS_UTIL */
    {2, PLM_METRIC_SMACT}, /* SM_UTIL */
    {3, PLM_METRIC_SMOCC}, /* SM_OCCUPANCY */
    {5, PLM_METRIC_TENSO}, /* ANY_TENSOR_UTIL */
    {10, PLM_METRIC_DRAMA}, /* DRAM_BW_UTIL */
    {12, PLM_METRIC_FP32A}, /* FP32_UTIL */
};
enum { GPM = sizeof gpm / sizeof gpm[0] };

static void metric_set(struct plm_reading *reading, enum plm_metric metric, double per_cent)
{
    if (!(per_cent >= 0) || per_cent > 105)
        return;
    reading->value[metric] = per_cent < 100 ? per_cent / 100 : 1;
    reading->given[metric] = true;
}

/* ---- GPM ---- */

static void gpm_open(struct plm_activity *a, void *library)
{
    int (*support)(void *, void *) = dlsym(library, "nvmlGpmQueryDeviceSupport");
    int (*alloc)(void **) = dlsym(library, "nvmlGpmSampleAlloc");
    int (*get_sample)(void *, void *) = dlsym(library, "nvmlGpmSampleGet");
    struct gpm_support answer = {.version = VERSION};
    a->get_metrics = dlsym(library, "nvmlGpmMetricsGet");
    a->free_sample = dlsym(library, "nvmlGpmSampleFree");
    if (!support || !alloc || !get_sample || !a->get_metrics || !a->free_sample)
        return;
    if (support(a->card, &answer) || !answer.supported)
        return;
    if (alloc(&a->sample[0]) || alloc(&a->sample[1]))
        return;
    a->get_sample = get_sample;
}

static void gpm_read(struct plm_activity *a, struct plm_reading *reading)
{
    struct gpm_request request = {.version = VERSION, .count = GPM};
    void *now = a->sample[1];
    if (a->get_sample(a->card, now)) {
        a->before = false;
        return;
    }
    a->sample[1] = a->sample[0];
    a->sample[0] = now;
    request.before = a->sample[1];
    request.after = now;
    for (size_t i = 0; i < GPM; i++)
        request.metric[i].id = gpm[i].id;
    if (a->before && !a->get_metrics(&request))
        for (size_t i = 0; i < GPM; i++)
            if (!request.metric[i].status)
                metric_set(reading, gpm[i].metric, request.metric[i].value);
    a->before = true;
}

/* ---- all ---- */

void plm_activity_open(struct plm_activity *a, const struct plm_meter *meter)
{
    *a =
        (struct plm_activity){.card = meter->card, .get_rates = dlsym(meter->library, "nvmlDeviceGetUtilizationRates")};
    gpm_open(a, meter->library);
}

bool plm_activity_read(struct plm_activity *a, struct plm_reading *reading)
{
    struct rates rates = {0, 0};
    *reading = (struct plm_reading){0};
    if (a->get_rates && !a->get_rates(a->card, &rates))
        metric_set(reading, PLM_METRIC_GPUTL, rates.gpu);
    if (a->get_sample)
        gpm_read(a, reading);
    for (int i = 0; i < PLM_METRICS; i++)
        if (reading->given[i])
            return true;
    return false;
}

void plm_activity_close(struct plm_activity *a)
{
    for (int i = 0; i < 2; i++)
        if (a->sample[i])
            a->free_sample(a->sample[i]);
    *a = (struct plm_activity){0};
}
