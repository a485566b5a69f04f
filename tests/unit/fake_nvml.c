/* A stand-in for NVIDIA's management library with cards of the test's own: what it answers is set by fake_nvml(). */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fake_nvml.h"

static struct fake_nvml fake = {.cards = 1};

struct fake_nvml *fake_nvml(void)
{
    return &fake;
}

struct memory {
    uint64_t total, free, used;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlSystemGetDriverVersion(char *text, unsigned length);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **card);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **card);
int nvmlDeviceGetUUID(void *card, char *text, unsigned length);
int nvmlDeviceGetMemoryInfo(void *card, struct memory *out);

int nvmlInit_v2(void)
{
    fake.users++;
    return fake.broken;
}

int nvmlShutdown(void)
{
    fake.users--;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = fake.cards;
    return 0;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
    snprintf(text, length, "999.01");
    return 0;
}

static char place[8];

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **card)
{
    *card = &place[index];
    return index < fake.cards ? 0 : 2;
}

int nvmlDeviceGetUUID(void *card, char *text, unsigned length)
{
    snprintf(text, length, "GPU-0000000%d", (int)((char *)card - place));
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **card)
{
    char text[96];
    for (unsigned i = 0; i < fake.cards; i++) {
        *card = &place[i];
        nvmlDeviceGetUUID(*card, text, sizeof text);
        if (!strcmp(text, uuid))
            return 0;
    }
    return 6;
}

int nvmlDeviceGetMemoryInfo(void *card, struct memory *out)
{
    uint64_t asked = fake.asked++;
    *out = (struct memory){.total = 1 << 30, .used = fake.used};
    if (asked < fake.restless) /* another amount every time */
        out->used += asked + 1;
    out->used += card == &place[0] ? 0 : 1000;
    return fake.failing;
}

/* ---- how busy: utilization, and performance monitoring, whose samples count up ---- */

struct rates {
    unsigned gpu, memory;
};

struct support {
    unsigned version, supported;
};

struct metric {
    unsigned id;
    int status;
    double value;
    const char *names[3];
};

struct request {
    unsigned version, count;
    double *before, *after;
    struct metric metric[];
};

int nvmlDeviceGetUtilizationRates(void *card, struct rates *out);
int nvmlGpmQueryDeviceSupport(void *card, struct support *out);
int nvmlGpmSampleAlloc(double **sample);
int nvmlGpmSampleFree(double *sample);
int nvmlGpmSampleGet(void *card, double *sample);
int nvmlGpmMetricsGet(struct request *request);

int nvmlDeviceGetUtilizationRates(void *card, struct rates *out)
{
    (void)card;
    *out = (struct rates){.gpu = fake.busy, .memory = 77};
    return fake.busy > 100 ? 3 : 0;
}

int nvmlGpmQueryDeviceSupport(void *card, struct support *out)
{
    (void)card;
    out->supported = (unsigned)fake.gpm;
    return out->version == 1 ? 0 : 25;
}

int nvmlGpmSampleAlloc(double **sample)
{
    static double room[2];
    *sample = &room[fake.samples++ % 2];
    return 0;
}

int nvmlGpmSampleFree(double *sample)
{
    *sample = 0;
    fake.samples--;
    return 0;
}

int nvmlGpmSampleGet(void *card, double *sample)
{
    static double count;
    (void)card;
    *sample = count += 1;
    return 0;
}

/* Each metric is twice its number, if the second sample is one later than the first. */
int nvmlGpmMetricsGet(struct request *request)
{
    if (request->version != 1 || *request->after - *request->before != 1)
        return 2;
    for (unsigned i = 0; i < request->count; i++) {
        struct metric *m = &request->metric[i];
        m->status = (int)m->id == fake.gpm_refused ? 3 : 0;
        m->value = 2.0 * m->id;
    }
    return 0;
}
