#include "allocator/settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "torch/facts.h"

enum { TOKEN_MAX = 64 };

static const uint64_t mib = 1u << 20;

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
static const char *token_next(struct lexer *l)
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

static char token_peek(const struct lexer *l)
{
    const char *at = l->at;
    while (*at == ' ')
        at++;
    return *at;
}

static int token_expect(struct lexer *l, char mark, const char *key)
{
    const char *token = token_next(l);
    if (token[0] == mark && !token[1])
        return 0;
    return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s needs a '%c', not '%s'.", key, mark, token);
}

static int value_whole(struct lexer *l, const char *key, uint64_t most, uint64_t *value)
{
    const char *token = token_next(l);
    char *rest;
    errno = 0;
    *value = strtoull(token, &rest, 10);
    if (token[0] < '0' || token[0] > '9' || *rest || errno || *value > most)
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s needs a number, not '%s'.", key, token);
    return 0;
}

static int value_fraction(struct lexer *l, const char *key, double *value)
{
    const char *token = token_next(l);
    char *rest;
    *value = strtod(token, &rest);
    if (rest == token || *rest || !isfinite(*value))
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s needs a fraction, not '%s'.", key, token);
    return 0;
}

static int value_boolean(struct lexer *l, const char *key, bool *value)
{
    const char *token = token_next(l);
    *value = strcmp(token, "True") == 0;
    if (!*value && strcmp(token, "False") != 0)
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must be True or False, not '%s'.", key, token);
    return 0;
}

/* ---- one function per key ---- */

static int value_mebibytes(struct lexer *l, const char *key, uint64_t least, uint64_t *bytes)
{
    uint64_t value;
    int status = value_whole(l, key, UINT64_MAX, &value);
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
    return value_mebibytes(l, key, 0, &l->settings->max_split_size);
}

static int max_rounding(struct lexer *l, const char *key)
{
    l->rounding = true;
    return value_mebibytes(l, key, 1, &l->settings->max_non_split_rounding);
}

static int large_segment(struct lexer *l, const char *key)
{
    return value_mebibytes(l, key, 11, &l->settings->large_segment);
}

static int gc_threshold(struct lexer *l, const char *key)
{
    double value;
    int status = value_fraction(l, key, &value);
    if (status == 0 && (value <= 0 || value >= 1))
        status = plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must be between 0 and 1.", key);
    if (status == 0)
        l->settings->gc_threshold = value;
    return status;
}

static int memory_fraction(struct lexer *l, const char *key)
{
    double value;
    int status = value_fraction(l, key, &value);
    if (status == 0 && (value < 0 || value > 1))
        status = plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must be from 0 to 1.", key);
    if (status == 0)
        l->settings->fraction = value;
    return status;
}

static int expandable(struct lexer *l, const char *key)
{
    return value_boolean(l, key, &l->settings->expandable);
}

static int backend(struct lexer *l, const char *key)
{
    const char *token = token_next(l);
    l->settings->async = strcmp(token, "cudaMallocAsync") == 0;
    if (!l->settings->async && strcmp(token, "native") != 0)
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s must be native or cudaMallocAsync, not '%s'.",
                        key, token);
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
    bool rest = token_peek(l) == '>';
    int status, index;

    if (rest)
        token_next(l);
    else if ((status = value_whole(l, key, UINT64_MAX, &megabytes)) != 0)
        return status;
    if ((status = token_expect(l, ':', key)) != 0 || (status = value_whole(l, key, INT32_MAX, &divisions)) != 0)
        return status;
    if (divisions && !power_of_2(divisions))
        return plm_fail(l->error, PLM_EINVAL, "Divisions of %s must be 0 or a power of 2.", key);
    if (rest) {
        int first = *last < 0 ? 0 : *last + !plm_torch_rule(l->torch, PLM_TORCH_ROUNDUP_OVERWRITES);
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

    if (token_peek(l) != '[') {
        if ((status = value_whole(l, key, INT32_MAX, &divisions)) != 0)
            return status;
        if (!power_of_2(divisions))
            return plm_fail(l->error, PLM_EINVAL, "Divisions of %s must be a power of 2.", key);
        for (int i = 0; i < PLM_ROUNDUP_INTERVALS; i++)
            l->settings->roundup[i] = divisions;
        return 0;
    }
    token_next(l);
    while (token_peek(l) != ']') {
        if ((status = roundup_entry(l, key, &last)) != 0)
            return status;
        if (token_peek(l) != ']' && (status = token_expect(l, ',', key)) != 0)
            return status;
    }
    token_next(l);
    return 0;
}

/* Settings of pinned host memory and of threads: they do not move device memory. */
static int ignored(struct lexer *l, const char *key)
{
    if (!*token_next(l) || is_mark(l->token[0]))
        return plm_fail(l->error, PLM_EINVAL, "The allocator setting %s has no value.", key);
    return 0;
}

static int reuse(struct lexer *l, const char *key)
{
    return value_boolean(l, key, &l->settings->capture_reuse);
}

/* "0.5" or "40G". PyTorch warns of anything else and goes on without it. */
static int reserve(struct lexer *l, const char *key)
{
    char *rest;
    double value;

    if (ignored(l, key))
        return PLM_EINVAL;
    if (l->token[strspn(l->token, "0123456789.eE+-")] && !strchr("Gg", l->token[strlen(l->token) - 1]))
        return 0;
    value = strtod(l->token, &rest);
    if (rest == l->token || !isfinite(value) || value <= 0 || (*rest && (!strchr("Gg", *rest) || rest[1])))
        return 0;
    l->settings->reserve = value;
    l->settings->reserve_gib = *rest != 0;
    return 0;
}

/* "[name:0.5,...]" is for streams that the program gives such a name, which only C++ can. */
static int reserve_by_class(struct lexer *l, const char *key)
{
    int status = token_expect(l, '[', key);
    while (status == 0 && token_peek(l) != ']') {
        if ((status = ignored(l, key)) == 0 && (status = token_expect(l, ':', key)) == 0)
            status = ignored(l, key);
        if (status == 0 && token_peek(l) != ']')
            status = token_expect(l, ',', key);
    }
    return status ? status : token_expect(l, ']', key);
}

#define SETTING(key, since, parser) {#key, since, parser},
static const struct key {
    const char *name;
    unsigned since;
    int (*parse)(struct lexer *l, const char *key);
} keys[] = {
#include "torch/settings.def"
};
#undef SETTING

static int setting_parse(struct lexer *l)
{
    char name[TOKEN_MAX];
    int status;

    memcpy(name, token_next(l), sizeof name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(name, keys[i].name) != 0)
            continue;
        if (plm_torch_stands_for(l->torch) < keys[i].since)
            return plm_fail(l->error, PLM_EINVAL, "PyTorch %s does not have the allocator setting %s.",
                            plm_torch_name(l->torch), name);
        status = token_expect(l, ':', name);
        return status ? status : keys[i].parse(l, keys[i].name);
    }
    return plm_fail(l->error, PLM_EINVAL, "'%s' is not an allocator setting.", name);
}

/* Whatever the order of the keys. */
static int settings_check(const struct lexer *l)
{
    const struct plm_allocator_settings *s = l->settings;
    uint64_t least = s->large_segment + (plm_torch_rule(l->torch, PLM_TORCH_SPLIT_ABOVE) ? mib : 0);
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
    while (token_peek(&l)) {
        if ((status = setting_parse(&l)) != 0)
            return status;
        if (token_peek(&l) && (status = token_expect(&l, ',', "list")) != 0)
            return status;
    }
    if (!settings->max_non_split_rounding)
        settings->max_non_split_rounding = settings->large_segment;
    return settings_check(&l);
}

/* ---- sizes ---- */

static uint64_t roundup_divisions(const struct plm_allocator_settings *s, uint64_t size)
{
    int index = 63 - __builtin_clzll(size) - 20;
    index = index < 0 ? 0 : index;
    return s->roundup[index < PLM_ROUNDUP_INTERVALS ? index : PLM_ROUNDUP_INTERVALS - 1];
}

uint64_t plm_allocator_size_round(const struct plm_allocator_settings *s, uint64_t size)
{
    uint64_t divisions, floor, step;

    if (size < PLM_BLOCK_LEAST)
        return PLM_BLOCK_LEAST;
    divisions = roundup_divisions(s, size);
    if (divisions <= 1 || size <= PLM_BLOCK_LEAST * divisions)
        return (size + PLM_BLOCK_LEAST - 1) / PLM_BLOCK_LEAST * PLM_BLOCK_LEAST;
    floor = 1ull << (63 - __builtin_clzll(size));
    step = floor / divisions;
    return (size + step - 1) / step * step;
}

uint64_t plm_allocator_size_segment(const struct plm_allocator_settings *s, uint64_t rounded)
{
    if (rounded <= PLM_SMALL_MOST)
        return PLM_SMALL_SEGMENT;
    if (rounded < PLM_LARGE_LEAST)
        return s->large_segment;
    return (rounded + PLM_LARGE_ROUND - 1) / PLM_LARGE_ROUND * PLM_LARGE_ROUND;
}

bool plm_allocator_size_splits(const struct plm_allocator_settings *s, bool small, uint64_t size, uint64_t rest)
{
    if (small || s->expandable)
        return rest >= PLM_BLOCK_LEAST;
    return size < s->max_split_size && rest > PLM_SMALL_MOST;
}
