#include "study/learn/generate.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/csv.h"
#include "study/estimate/tree.h"

const char *const plm_family_name[PLM_FAMILIES] = {
    [PLM_FAMILY_MLP] = "mlp", [PLM_FAMILY_CNN] = "cnn", [PLM_FAMILY_TRANSFORMER] = "transformer"};

const char *const plm_argument_column[PLM_ARGUMENT_COUNT] = {
#define X(name, column) [PLM_ARGUMENT_##name] = column,
    PLM_ARGUMENTS(X)
#undef X
};

enum { SAMPLES = 4096 };

int plm_argument_find(const char *column)
{
    for (int i = 0; i < PLM_ARGUMENT_COUNT; i++)
        if (!strcmp(column, plm_argument_column[i]))
            return i;
    return -1;
}

int plm_family_find(const char *name, enum plm_family *family, struct plm_error *error)
{
    for (int i = 0; i < PLM_FAMILIES; i++)
        if (!strcmp(name, plm_family_name[i])) {
            *family = (enum plm_family)i;
            return 0;
        }
    return plm_fail(error, PLM_EINVAL, "unknown family \"%.60s\"; use mlp, cnn or transformer", name);
}

/* ---- rules ---- */

enum kind {
    WHOLE, /* the whole part of a number of [low, high), times a factor */
    SHARE, /* four decimals of [low, high) */
    WORD,  /* one of `words` */
    LIST,  /* the same of numbers; a table may have others */
    RULE   /* a number that depends on others: draw() */
};

struct draw {
    struct plm_generated *network;
    uint64_t random;
};

struct rule {
    enum plm_argument argument;
    enum kind kind;
    double low, high;
    const char *words;
    double factor;
    double (*draw)(struct draw *draw);
    bool optional; /* half of the networks have none */
};

/* ---- drawing ---- */

static double real_draw(struct draw *d, double low, double high)
{
    return low + (high - low) * ((double)(plm_splitmix_next(&d->random) >> 11) * 0x1p-53);
}

static double number_of(const struct plm_generated *network, enum plm_argument argument)
{
    return strtod(network->cell[argument], NULL);
}

static double output_draw(struct draw *d)
{
    return floor(real_draw(d, 1, fmax(2, number_of(d->network, PLM_ARGUMENT_INPUT) / 4)));
}

/* The published generator draws heads that do not divide the width, and those of its runs fail: here it draws again. */
static double heads_draw(struct draw *d)
{
    static const double heads[] = {2, 4, 8, 12, 16};
    const double width = number_of(d->network, PLM_ARGUMENT_WIDTH);
    double drawn;
    do
        drawn = heads[plm_splitmix_below(&d->random, sizeof heads / sizeof heads[0])];
    while (fmod(width, drawn) > 0);
    return drawn;
}

static double ff_draw(struct draw *d)
{
    const double width = number_of(d->network, PLM_ARGUMENT_WIDTH);
    return floor(real_draw(d, 2 * width, 4 * width));
}

/* Every fifth group, or so that a side comes down to about 7 pixels. Only dense networks have transitions. */
static double transition_draw(struct draw *d)
{
    const double side = floor(number_of(d->network, PLM_ARGUMENT_INPUT) / 7),
                 halves = fmax(1, floor(log2(fmax(1, side)))),
                 apart = fmax(1, ceil(number_of(d->network, PLM_ARGUMENT_DEPTH) / halves));
    const bool fifth = plm_splitmix_below(&d->random, 2);
    if (strcmp(d->network->cell[PLM_ARGUMENT_ARCH], "dense") != 0)
        return -1;
    return fifth ? 5 : apart;
}

static void word_draw(struct draw *d, const char *words, char *out, size_t size)
{
    size_t count = 1, chosen;
    for (const char *at = words; (at = strchr(at, ' ')); at++)
        count++;
    for (chosen = plm_splitmix_below(&d->random, count); chosen; chosen--)
        words = strchr(words, ' ') + 1;
    snprintf(out, size, "%.*s", (int)strcspn(words, " "), words);
}

static void argument_draw(struct draw *d, const struct rule *rule)
{
    char *out = d->network->cell[rule->argument];
    const size_t size = sizeof d->network->cell[0];
    double number;
    if (rule->kind == WORD || rule->kind == LIST)
        word_draw(d, rule->words, out, size);
    else if (rule->kind == SHARE)
        snprintf(out, size, "%.4f", real_draw(d, rule->low, rule->high));
    else {
        number = rule->draw ? rule->draw(d) : rule->factor * floor(real_draw(d, rule->low, rule->high));
        if (number >= 0)
            snprintf(out, size, "%.0f", number);
    }
    if (rule->optional && plm_splitmix_below(&d->random, 2))
        out[0] = '\0';
}

/* ---- what each argument may be ---- */

#define ACTIVATIONS "relu leaky_relu prelu elu selu tanh softplus swish mish gelu"

static const struct rule mlp[] = {
    {PLM_ARGUMENT_INPUT, WHOLE, .low = 4, .high = 4096, .factor = 1},
    {PLM_ARGUMENT_OUTPUT, RULE, .draw = output_draw},
    {PLM_ARGUMENT_DEPTH, WHOLE, .low = 1, .high = 11, .factor = 1},
    {PLM_ARGUMENT_ARCH, WORD, .words = "pyramid uniform bottleneck gradual"},
    {PLM_ARGUMENT_BATCH, WHOLE, .low = 4, .high = 1024, .factor = 1},
    {PLM_ARGUMENT_ACTIVATION, WORD, .words = ACTIVATIONS " identity"},
    {PLM_ARGUMENT_DROPOUT, SHARE, .low = .1, .high = .5, .optional = true},
    {PLM_ARGUMENT_BATCHNORM, WORD, .words = "0 1"},
};
static const struct rule cnn[] = {
    {PLM_ARGUMENT_INPUT, WHOLE, .low = 16, .high = 113, .factor = 2},
    {PLM_ARGUMENT_CHANNELS, LIST, .words = "1 3"},
    {PLM_ARGUMENT_OUTPUT, WHOLE, .low = 100, .high = 1001, .factor = 1},
    {PLM_ARGUMENT_FILTERS, WHOLE, .low = 32, .high = 513, .factor = 1},
    {PLM_ARGUMENT_DEPTH, WHOLE, .low = 1, .high = 30, .factor = 1},
    {PLM_ARGUMENT_ARCH, WORD, .words = "pyramid uniform bottleneck gradual hourglass residual dense"},
    {PLM_ARGUMENT_BATCH, WHOLE, .low = 2, .high = 32, .factor = 2},
    {PLM_ARGUMENT_ACTIVATION, WORD, .words = ACTIVATIONS},
    {PLM_ARGUMENT_DROPOUT, SHARE, .low = .1, .high = .5, .optional = true},
    {PLM_ARGUMENT_BATCHNORM, WORD, .words = "0 1"},
    {PLM_ARGUMENT_TRANSITION, RULE, .draw = transition_draw},
};
static const struct rule transformer[] = {
    {PLM_ARGUMENT_VOCABULARY, WHOLE, .low = 50000, .high = 1000000, .factor = 1},
    {PLM_ARGUMENT_WIDTH, LIST, .words = "128 256 512 768 1024 2048"},
    {PLM_ARGUMENT_DEPTH, WHOLE, .low = 2, .high = 40, .factor = 1},
    {PLM_ARGUMENT_HEADS, RULE, .draw = heads_draw},
    {PLM_ARGUMENT_FF, RULE, .draw = ff_draw},
    {PLM_ARGUMENT_SEQUENCE, LIST, .words = "128 256 512 1024"},
    {PLM_ARGUMENT_BATCH, LIST, .words = "1 2 4 8 16 32 64 128"},
    {PLM_ARGUMENT_DROPOUT, SHARE, .low = .1, .high = .5},
    {PLM_ARGUMENT_OUTPUT, WHOLE, .low = 400, .high = 1001, .factor = 1},
    {PLM_ARGUMENT_SAMPLES, WHOLE, .low = 1000, .high = 5001, .factor = 1},
};

static const struct {
    const struct rule *rule;
    size_t rules;
} families[PLM_FAMILIES] = {
    [PLM_FAMILY_MLP] = {mlp, sizeof mlp / sizeof mlp[0]},
    [PLM_FAMILY_CNN] = {cnn, sizeof cnn / sizeof cnn[0]},
    [PLM_FAMILY_TRANSFORMER] = {transformer, sizeof transformer / sizeof transformer[0]},
};

void plm_generated_draw(enum plm_family family, uint64_t seed, uint64_t number, struct plm_generated *network)
{
    struct draw d = {.network = network, .random = plm_splitmix_stream(seed ^ ((uint64_t)family << 56), number)};
    memset(network, 0, sizeof *network);
    network->family = family;
    for (size_t i = 0; i < families[family].rules; i++)
        argument_draw(&d, &families[family].rule[i]);
}

/* ---- from a table ---- */

static bool is_among(const char *word, const char *words)
{
    const size_t length = strlen(word);
    for (const char *at = words; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (length && strcspn(at, " ") == length && !strncmp(at, word, length))
            return true;
    return false;
}

static bool is_whole(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 9 && atol(text) > 0;
}

static bool is_share(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end > text && !*end && value >= 0 && value < 1;
}

/* What is not in the table at all is left out where it may be; so are transitions of networks that have none. */
static bool is_missing(const struct plm_generated *network, const struct rule *rule)
{
    return rule->optional || rule->argument == PLM_ARGUMENT_SAMPLES ||
           (rule->argument == PLM_ARGUMENT_TRANSITION && strcmp(network->cell[PLM_ARGUMENT_ARCH], "dense") != 0);
}

static int argument_read(const struct plm_csv *table, size_t row, const struct rule *rule,
                         struct plm_generated *network, struct plm_error *error)
{
    const char *name = plm_argument_column[rule->argument];
    const int column = plm_csv_column(table, name);
    const char *text = plm_csv_cell(table, row, column);
    char words[160];
    if (!*text && is_missing(network, rule))
        return 0;
    if (column < 0)
        return plm_fail(error, PLM_EFORMAT, "%.200s has no column \"%s\", which a network of the family %s needs",
                        table->path, name, plm_family_name[network->family]);
    snprintf(words, sizeof words, "one of: %.140s", rule->words ? rule->words : "");
    if (rule->kind == WORD && !is_among(text, rule->words))
        return plm_csv_wrong(table, row, column, words, error);
    if (rule->kind == SHARE && !is_share(text))
        return plm_csv_wrong(table, row, column, "a share from 0 to below 1", error);
    if (rule->kind != WORD && rule->kind != SHARE && !is_whole(text))
        return plm_csv_wrong(table, row, column, "a whole number from 1", error);
    snprintf(network->cell[rule->argument], sizeof network->cell[0], "%s", text);
    return 0;
}

int plm_generated_read(const struct plm_csv *table, size_t row, enum plm_family family, struct plm_generated *network,
                       struct plm_error *error)
{
    const int column = plm_csv_column(table, "family");
    int status = 0;
    memset(network, 0, sizeof *network);
    if (column < 0 && family == PLM_FAMILIES)
        return plm_fail(error, PLM_EFORMAT, "%.200s has no column \"family\"; give it with --family", table->path);
    if (column >= 0 && plm_family_find(plm_csv_cell(table, row, column), &family, NULL))
        return plm_csv_wrong(table, row, column, "one of: mlp cnn transformer", error);
    network->family = family;
    for (size_t i = 0; i < families[family].rules && status == 0; i++)
        status = argument_read(table, row, &families[family].rule[i], network, error);
    if (status == 0 && family == PLM_FAMILY_TRANSFORMER &&
        fmod(number_of(network, PLM_ARGUMENT_WIDTH), number_of(network, PLM_ARGUMENT_HEADS)) > 0)
        status = plm_csv_wrong(table, row, plm_csv_column(table, "heads"), "a divisor of the width", error);
    return status;
}

/* ---- steps ---- */

static void plan_add(struct plm_plan *plan, uint64_t samples, uint64_t times)
{
    while (times-- && plan->steps < PLM_PLAN_STEPS)
        plan->step[plan->steps++] = (uint32_t)samples;
}

/* The caching allocator comes back to the same state after one, two or three steps of a training, now and then after
   six. So after as many steps as these, the smaller batch finds what it finds at the end of a whole epoch. */
static uint64_t steps_before_rest(uint64_t full)
{
    return full < 12 ? full : 6 + full % 6;
}

struct plm_plan plm_generated_plan(const struct plm_generated *network)
{
    const char *cell = network->cell[PLM_ARGUMENT_SAMPLES];
    const uint64_t samples = *cell ? strtoull(cell, NULL, 10) : SAMPLES,
                   batch = strtoull(network->cell[PLM_ARGUMENT_BATCH], NULL, 10);
    struct plm_plan plan = {.batch = (uint32_t)batch, .full = samples / batch, .rest = samples % batch};
    if (!plan.rest) {
        plan_add(&plan, batch, 6);
        return plan;
    }
    plan_add(&plan, batch, steps_before_rest(plan.full));
    plan_add(&plan, plan.rest, 1);
    plan_add(&plan, batch, plan.full < 2 ? plan.full : 2);
    if (plan.full < 3) /* epochs are so short that two of them are made */
        plan_add(&plan, plan.rest, plan.full ? 1 : 2);
    return plan;
}
