#include "fit/tune.h"

#include <stdio.h>
#include <string.h>

#include "torch/facts.h"

/* Parts that are joined by commas; "" leaves one out. */
static const char *const splits[] = {
    "max_split_size_mb:32",  "max_split_size_mb:64",  "max_split_size_mb:128",
    "max_split_size_mb:256", "max_split_size_mb:512", "max_split_size_mb:1024",
};
static const char *const more_splits[] = {
    "max_split_size_mb:21",  "max_split_size_mb:48",  "max_split_size_mb:96",
    "max_split_size_mb:192", "max_split_size_mb:384", "max_split_size_mb:2048",
};
static const char *const roundups[] = {
    "roundup_power2_divisions:2",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
    "roundup_power2_divisions:16",
    "roundup_power2_divisions:[64:8,256:4,>:2]",
};
static const char *const segments[] = {
    "large_segment_size_mb:12",
    "large_segment_size_mb:32",
    "large_segment_size_mb:64",
    "large_segment_size_mb:128",
};
static const char *const roundings[] = {"max_non_split_rounding_mb:64", "max_non_split_rounding_mb:256"};
static const char *const collections[] = {
    "garbage_collection_threshold:0.6,per_process_memory_fraction:1.0",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:1.0",
};
static const char *const expandable[] = {"expandable_segments:True"};
static const char *const async[] = {"backend:cudaMallocAsync"};
static const char *const nothing[] = {""};

#define PARTS(list) {list, sizeof(list) / sizeof(list)[0]}
struct parts {
    const char *const *text;
    size_t count;
};

/* Every part of the first list with every part of the second. */
static const struct {
    struct parts first, second;
    bool shares;
} families[] = {
    {PARTS(nothing), PARTS(nothing), false},     {PARTS(expandable), PARTS(nothing), false},
    {PARTS(splits), PARTS(nothing), false},      {PARTS(more_splits), PARTS(nothing), false},
    {PARTS(roundups), PARTS(nothing), false},    {PARTS(segments), PARTS(nothing), false},
    {PARTS(expandable), PARTS(roundups), false}, {PARTS(expandable), PARTS(segments), false},
    {PARTS(splits), PARTS(roundups), false},     {PARTS(splits), PARTS(roundings), false},
    {PARTS(collections), PARTS(nothing), true},  {PARTS(collections), PARTS(splits), true},
    {PARTS(async), PARTS(nothing), false},
};

static bool candidate_add(struct plm_candidate *c, const char *first, const char *second, enum plm_torch torch)
{
    *c = (struct plm_candidate){.keys = 0};
    snprintf(c->text, sizeof c->text, "%s%s%s", first, *first && *second ? "," : "", second);
    if (plm_allocator_settings_parse(c->text, torch, &c->settings, NULL))
        return false;
    /* A key ends in a letter; inside a list there are digits and > before the colons. */
    for (const char *p = strchr(c->text, ':'); p; p = strchr(p + 1, ':'))
        c->keys += p[-1] >= 'a' && p[-1] <= 'z';
    c->modelled = c->settings.async;
    return true;
}

size_t plm_candidates(enum plm_torch torch, bool shares, struct plm_candidate *candidates)
{
    size_t n = 0;
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
        for (size_t i = 0; i < families[f].first.count; i++)
            for (size_t k = 0; k < families[f].second.count; k++)
                if ((shares || !families[f].shares) && n < PLM_CANDIDATES)
                    n += candidate_add(&candidates[n], families[f].first.text[i], families[f].second.text[k], torch);
    return n;
}

size_t plm_candidates_quick(enum plm_torch torch, struct plm_candidate *candidates)
{
    static const char *const quick[] = {"expandable_segments:True", "max_split_size_mb:128", "max_split_size_mb:512",
                                        ""};
    size_t n = 0;
    for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++)
        n += candidate_add(&candidates[n], quick[i], "", torch);
    return n;
}

const char *plm_tune_variable(enum plm_torch torch)
{
    return plm_torch_rule(torch, PLM_TORCH_VARIABLE) ? "PYTORCH_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF";
}

/* ---- what is known to go wrong ---- */

const char *plm_candidate_warning(const struct plm_allocator_settings *s, size_t n)
{
    const bool split = s->max_split_size != UINT64_MAX;
    const struct {
        bool applies;
        const char *sentence;
    } warnings[] = {
        {s->expandable, "With expandable_segments, sharing tensors between processes (CUDA IPC) needs a driver and a "
                        "PyTorch that can export them; try it if your job does that."},
        {s->expandable && split,
         "max_split_size_mb has little effect with expandable_segments: there is one growing segment."},
        {split, "With max_split_size_mb, large blocks are not split: jobs whose sizes vary may call the driver more "
                "often, which takes time."},
        {s->roundup[0] > 1 || s->roundup[PLM_ROUNDUP_INTERVALS - 1] > 1,
         "roundup_power2_divisions makes blocks larger than requested; it helps only if sizes vary."},
        {s->gc_threshold > 0 && s->fraction < 0,
         "garbage_collection_threshold does nothing without a memory fraction: "
         "torch.cuda.set_per_process_memory_fraction(), or per_process_memory_fraction since 2.10."},
        {s->gc_threshold > 0 && s->expandable,
         "garbage_collection_threshold works on whole segments, and expandable_segments has only one."},
        {s->async, "With cudaMallocAsync the driver's own pool decides; the other settings have no effect."},
    };
    for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++)
        if (warnings[i].applies && n-- == 0)
            return warnings[i].sentence;
    return NULL;
}
