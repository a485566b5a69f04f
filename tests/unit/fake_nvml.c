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
