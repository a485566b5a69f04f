#include "allocator/settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { TOKEN_MAX = 64 };

static const uint64_t mib = 1u << 20;

/* From which version on each behaves so. The age of a segment decides between blocks of one size since 2.13
   (pytorch/pytorch#183591); 2.11 and 2.12 compare addresses as 2.10 does. */
static const struct {
    const char *name;
    int major, minor;
} releases[PLM_TORCHES] = {
    [PLM_TORCH_2_6] = {"2.6", 2, 6},
    [PLM_TORCH_2_10] = {"2.10", 2, 10},
    [PLM_TORCH_2_15] = {"2.15", 2, 13},
};

const char *plm_torch_name(enum plm_torch torch)
{
    return releases[torch].name;
}

enum plm_torch plm_torch_version(const char *version)
{
    char *rest;
    long major, minor;
    int found = 0;
    if (!version)
        return PLM_TORCHES - 1;
    major = strtol(version, &rest, 10);
    if (rest == version || *rest != '.')
        return PLM_TORCHES - 1;
    minor = strtol(rest + 1, NULL, 10);
    for (int i = 1; i < PLM_TORCHES; i++)
        if (major > releases[i].major || (major == releases[i].major && minor >= releases[i].minor))
            found = i;
    return (enum plm_torch)found;
}

/* ---- words: names and numbers, with , : [ ] between them ---- */

struct lexer {
    const char *at;
    enum plm_torch torch;
    struct plm_allocator_settings *settings;
    struct plm_error *error;
    bool rounding; /* max_non_split_rounding_mb was given */
    char token[TOKEN_MAX];
};

static bool is_mark(char c)
{
    return c == ',' || c == ':' || c == '[' || c == ']';
}

/* The next token; "" at the end. A word that is too long is cut, which no key or number survives. */
static const char *next(struct lexer *l)
{
    size_t n = 0;
    while (*l->at == ' ')
        l->at++;
    if (is_mark(*l->at)) {
        l->token[n++] = *l->at++;
    } else {
        for (; *l->at && !is_mark(*l->at); l->at++)
            if (*l->at != ' ' && n < TOKEN_MAX - 1)
                l->token[n++] = *l->at;
    }
    l->token[n] = 0;
    return l->token;
}

static char peek(const struct lexer *l)
{
    const char *at = l->at;
    while (*at == ' ')
        at++;
    return *at;
}

static int expect(struct lexer *l, char mark, const char *key)
{
    const char *token = next(l);
    if (token[0] == mark && !token[1])
        return 0;
    return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s needs a '%c' where it has '%s'.", key, mark, token);
}

static int whole(struct lexer *l, const char *key, uint64_t most, uint64_t *value)
{
    const char *token = next(l);
    char *rest;
    errno = 0;
    *value = strtoull(token, &rest, 10);
    if (token[0] < '0' || token[0] > '9' || *rest || errno || *value > most)
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s needs a number, not '%s'.", key, token);
    return 0;
}

static int fraction(struct lexer *l, const char *key, double *value)
{
    const char *token = next(l);
    char *rest;
    *value = strtod(token, &rest);
    if (rest == token || *rest || !isfinite(*value))
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s needs a fraction, not '%s'.", key, token);
    return 0;
}

static int boolean(struct lexer *l, const char *key, bool *value)
{
    const char *token = next(l);
    *value = strcmp(token, "True") == 0;
    if (!*value && strcmp(token, "False") != 0)
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s is True or False, not '%s'.", key, token);
    return 0;
}

/* ---- one function per key ---- */

static int mebibytes(struct lexer *l, const char *key, uint64_t least, uint64_t *bytes)
{
    uint64_t value;
    int status = whole(l, key, UINT64_MAX, &value);
    if (status)
        return status;
    if (value < least)
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must be at least %llu in PyTorch %s.", key,
                        (unsigned long long)least, plm_torch_name(l->torch));
    *bytes = (value < UINT64_MAX / mib ? value : UINT64_MAX / mib) * mib;
    return 0;
}

static int max_split(struct lexer *l, const char *key)
{
    return mebibytes(l, key, 0, &l->settings->max_split_size);
}

static int max_rounding(struct lexer *l, const char *key)
{
    l->rounding = true;
    return mebibytes(l, key, 1, &l->settings->max_non_split_rounding);
}

static int large_segment(struct lexer *l, const char *key)
{
    return mebibytes(l, key, 11, &l->settings->large_segment);
}

static int gc_threshold(struct lexer *l, const char *key)
{
    double value;
    int status = fraction(l, key, &value);
    if (status == 0 && (value <= 0 || value >= 1))
        status = plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must lie between 0 and 1.", key);
    if (status == 0)
        l->settings->gc_threshold = value;
    return status;
}

static int memory_fraction(struct lexer *l, const char *key)
{
    double value;
    int status = fraction(l, key, &value);
    if (status == 0 && (value < 0 || value > 1))
        status = plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must lie in 0 to 1.", key);
    if (status == 0)
        l->settings->fraction = value;
    return status;
}

static int expandable(struct lexer *l, const char *key)
{
    return boolean(l, key, &l->settings->expandable);
}

static int backend(struct lexer *l, const char *key)
{
    const char *token = next(l);
    l->settings->async = strcmp(token, "cudaMallocAsync") == 0;
    if (!l->settings->async && strcmp(token, "native") != 0)
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s is native or cudaMallocAsync, not '%s'.", key,
                        token);
    return 0;
}

static bool power_of_2(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* One "256:4" or ">:8" of the list form. `*last` is the interval of the one before; negative at first. */
static int roundup_entry(struct lexer *l, const char *key, int *last)
{
    uint64_t *roundup = l->settings->roundup, megabytes = 0, divisions;
    bool rest = peek(l) == '>';
    int status, index;

    if (rest)
        next(l);
    else if ((status = whole(l, key, UINT64_MAX, &megabytes)) != 0)
        return status;
    if ((status = expect(l, ':', key)) != 0 || (status = whole(l, key, INT32_MAX, &divisions)) != 0)
        return status;
    if (divisions && !power_of_2(divisions))
        return plm_fail(l->error, PLM_EINVAL, "Divisions of %s must be 0 or a power of 2.", key);
    if (rest) {
        int first = *last < 0 ? 0 : *last + (l->torch != PLM_TORCH_2_6); /* 2.6 takes the last interval too */
        for (int i = first; i < PLM_ROUNDUP_INTERVALS; i++)
            roundup[i] = divisions;
        return 0;
    }
    if (!power_of_2(megabytes))
        return plm_fail(l->error, PLM_EINVAL, "Sizes of %s must be powers of 2.", key);
    index = 63 - __builtin_clzll(megabytes);
    if (index >= PLM_ROUNDUP_INTERVALS)
        index = PLM_ROUNDUP_INTERVALS - 1;
    for (int i = 0; *last < 0 && i < index; i++)
        roundup[i] = divisions;
    roundup[index] = divisions;
    *last = index;
    return 0;
}

static int roundup(struct lexer *l, const char *key)
{
    uint64_t divisions;
    int status, last = -1;

    if (peek(l) != '[') {
        if ((status = whole(l, key, INT32_MAX, &divisions)) != 0)
            return status;
        if (!power_of_2(divisions))
            return plm_fail(l->error, PLM_EINVAL, "Divisions of %s must be a power of 2.", key);
        for (int i = 0; i < PLM_ROUNDUP_INTERVALS; i++)
            l->settings->roundup[i] = divisions;
        return 0;
    }
    next(l);
    while (peek(l) != ']') {
        if ((status = roundup_entry(l, key, &last)) != 0)
            return status;
        if (peek(l) != ']' && (status = expect(l, ',', key)) != 0)
            return status;
    }
    next(l);
    return 0;
}

/* Settings of pinned host memory and of threads: they do not move device memory. */
static int ignored(struct lexer *l, const char *key)
{
    if (!*next(l) || is_mark(l->token[0]))
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s has no value.", key);
    return 0;
}

/* Streams recorded in a capture are not followed after its end; the other way round is not modelled. */
static int reuse(struct lexer *l, const char *key)
{
    bool on;
    int status = boolean(l, key, &on);
    if (status == 0 && on)
        status = plm_fail(l->error, PLM_EINVAL, "The allocator setting %s:True is not modelled.", key);
    return status;
}

static const struct key {
    const char *name;
    enum plm_torch since;
    int (*parse)(struct lexer *l, const char *key);
} keys[] = {
    {"max_split_size_mb", PLM_TORCH_2_6, max_split},
    {"max_non_split_rounding_mb", PLM_TORCH_2_6, max_rounding},
    {"garbage_collection_threshold", PLM_TORCH_2_6, gc_threshold},
    {"roundup_power2_divisions", PLM_TORCH_2_6, roundup},
    {"expandable_segments", PLM_TORCH_2_6, expandable},
    {"backend", PLM_TORCH_2_6, backend},
    {"release_lock_on_cudamalloc", PLM_TORCH_2_6, ignored},
    {"pinned_use_cuda_host_register", PLM_TORCH_2_6, ignored},
    {"pinned_num_register_threads", PLM_TORCH_2_6, ignored},
    {"pinned_use_background_threads", PLM_TORCH_2_6, ignored},
    {"per_process_memory_fraction", PLM_TORCH_2_10, memory_fraction},
    {"graph_capture_record_stream_reuse", PLM_TORCH_2_10, reuse},
    {"pinned_reserve_segment_size_mb", PLM_TORCH_2_10, ignored},
    {"large_segment_size_mb", PLM_TORCH_2_15, large_segment},
    {"throw_on_cudamalloc_oom", PLM_TORCH_2_15, ignored},
    {"pinned_max_round_threshold_mb", PLM_TORCH_2_15, ignored},
    {"pinned_max_cached_size_mb", PLM_TORCH_2_15, ignored},
    {"pinned_free_catch_all", PLM_TORCH_2_15, ignored},
};

static int setting(struct lexer *l)
{
    char name[TOKEN_MAX];
    int status;

    memcpy(name, next(l), sizeof name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(name, keys[i].name) != 0)
            continue;
        if (l->torch < keys[i].since)
            return plm_fail(l->error, PLM_EINVAL, "PyTorch %s does not know the allocator setting %s.",
                            plm_torch_name(l->torch), name);
        status = expect(l, ':', name);
        return status ? status : keys[i].parse(l, keys[i].name);
    }
    return plm_fail(l->error, PLM_EINVAL, "'%s' is not an allocator setting.", name);
}

/* Whatever the order of the keys: 2.6 wants more than the 20 MiB of a large segment, later releases at least its size. */
static int check_limits(const struct lexer *l)
{
    const struct plm_allocator_settings *s = l->settings;
    uint64_t least = s->large_segment + (l->torch == PLM_TORCH_2_6 ? mib : 0);
    bool set = s->max_non_split_rounding != s->large_segment || l->rounding;
    const char *key = s->max_split_size < least                  ? "max_split_size_mb"
                      : set && s->max_non_split_rounding < least ? "max_non_split_rounding_mb"
                                                                 : NULL;
    if (!key)
        return 0;
    return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must be at least %llu in PyTorch %s.", key,
                    (unsigned long long)(least / mib), plm_torch_name(l->torch));
}

int plm_allocator_settings_parse(const char *text, enum plm_torch torch, struct plm_allocator_settings *settings,
                                 struct plm_error *error)
{
    struct lexer l = {.at = text ? text : "", .torch = torch, .settings = settings, .error = error};
    int status;

    *settings =
        (struct plm_allocator_settings){.max_split_size = UINT64_MAX, .large_segment = 20 * mib, .fraction = -1};
    while (peek(&l)) {
        if ((status = setting(&l)) != 0)
            return status;
        if (peek(&l) && (status = expect(&l, ',', "list")) != 0)
            return status;
    }
    if (!settings->max_non_split_rounding)
        settings->max_non_split_rounding = settings->large_segment;
    return check_limits(&l);
}
