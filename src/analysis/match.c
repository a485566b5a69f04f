#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/summary.h"
#include "common/card.h"
#include "stack/stack_file.h"

enum { PARTS = 4 };

static const struct {
    const char *key, *stack_key, *name;
} parts[PARTS] = {{"torch", "stack-torch", "PyTorch"},
                  {"cuda", "stack-cuda", "CUDA"},
                  {"cudnn", "stack-cudnn", "cuDNN"},
                  {"nccl", "stack-nccl", "NCCL"}};

/* Records have cuDNN's and NCCL's version as one number: 90100 is 9.1.0, 22105 is 2.21.5. */
static void version_plain(char out[32], const char *version)
{
    char *end;
    long number = strtol(version, &end, 10);
    if (!*end && number >= 10000)
        snprintf(out, 32, "%ld.%ld.%ld", number / 10000, number / 100 % 100, number % 100);
    else
        snprintf(out, 32, "%.*s", (int)strcspn(version, "+"), version); /* without "+cu124" */
}

static bool versions_compare(const char *const stack[PARTS], const struct plm_summary *job, char why[PLM_STACK_WHY])
{
    size_t used = 0;
    why[0] = '\0';
    for (int i = 0; i < PARTS; i++) {
        const char *mine = plm_summary_config(job, parts[i].key);
        char a[32], b[32];
        int n;
        if (!stack[i] || !stack[i][0] || !mine || !mine[0])
            continue;
        version_plain(a, stack[i]);
        version_plain(b, mine);
        if (!strcmp(a, b) || used >= PLM_STACK_WHY)
            continue;
        n = snprintf(why + used, PLM_STACK_WHY - used, "%s%s %s instead of %s", used ? ", " : "", parts[i].name, a, b);
        used += n > 0 ? (size_t)n : 0;
    }
    return used > 0;
}

bool plm_summary_stack_differs(const struct plm_stack_file *s, const struct plm_summary *job, char why[PLM_STACK_WHY])
{
    const char *const versions[PARTS] = {s->torch, s->cuda, s->cudnn, s->nccl};
    return versions_compare(versions, job, why);
}

bool plm_summary_own_stack_differs(const struct plm_summary *job, char why[PLM_STACK_WHY])
{
    const char *versions[PARTS], *card = plm_summary_config(job, "stack-card"), *gpu;
    size_t used;
    for (int i = 0; i < PARTS; i++)
        versions[i] = plm_summary_config(job, parts[i].stack_key);
    versions_compare(versions, job, why);
    if (!card || strcmp(card, "other") != 0)
        return why[0] != '\0';
    used = strlen(why);
    gpu = plm_summary_config(job, "stack-gpu");
    snprintf(why + used, PLM_STACK_WHY - used, "%sthe card is %s", used ? ", " : "", gpu ? gpu : "another one");
    return true;
}

uint64_t plm_summary_usable(const struct plm_summary *job, const struct plm_card *card, bool *assumed)
{
    const char *same = plm_summary_config(job, "stack-card"), *gpu = plm_summary_config(job, "gpu");
    uint64_t bytes = 0;
    if (same && !strcmp(same, "same") && gpu && !strcmp(gpu, card->id))
        bytes = job->stack_usable;
    *assumed = !bytes && card->memory_usable_assumed;
    return bytes ? bytes : card->memory_usable;
}
