/*
 * The networks that `plimsoll dataset` makes: by which arguments they are told apart, how those are drawn, and which
 * steps of a training show what it takes. docs/dataset.md has the distributions and where they come from.
 *
 * Plain values; pure functions; any thread. The same seed and number give the same network on every machine.
 */
#ifndef PLM_LEARN_GENERATE_H
#define PLM_LEARN_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "study/learn/family.h"

struct plm_error;
struct plm_csv;

/* The columns that say what a network is; those that do not apply to a family are empty. */
#define PLM_ARGUMENTS(X)                                                             \
    X(INPUT, "input")             /* mlp: features of a sample; cnn: pixels of a side */         \
    X(OUTPUT, "output")           /* classes */                                                \
    X(DEPTH, "depth")             /* hidden layers, convolutional layers, encoder layers */      \
    X(ARCH, "arch")                                                                  \
    X(BATCH, "batch")                                                                \
    X(ACTIVATION, "activation")                                                      \
    X(DROPOUT, "dropout")         /* empty: none */                                          \
    X(BATCHNORM, "batchnorm")     /* 0 or 1 */                                           \
    X(CHANNELS, "channels")       /* of an image */                                        \
    X(FILTERS, "filters")         /* that an architecture begins with */                     \
    X(TRANSITION, "transition")   /* dense: a transition after every so many groups */ \
    X(VOCABULARY, "vocabulary")                                                      \
    X(WIDTH, "width")             /* of an embedding */                                          \
    X(HEADS, "heads")                                                                \
    X(FF, "ff")                   /* width of the feed-forward layers */                               \
    X(SEQUENCE, "sequence")       /* tokens of a sample */                                 \
    X(SAMPLES, "samples")         /* of an epoch; empty: 4096 */

enum plm_argument {
#define X(name, column) PLM_ARGUMENT_##name,
    PLM_ARGUMENTS(X)
#undef X
        PLM_ARGUMENT_COUNT
};
extern const char *const plm_argument_column[PLM_ARGUMENT_COUNT];
/* Which argument a column is; -1: none. */
int plm_argument_find(const char *column);

struct plm_generated {
    enum plm_family family;
    char cell[PLM_ARGUMENT_COUNT][24];
};

/* PLM_EINVAL with a sentence that offers those there are. */
int plm_family_find(const char *name, enum plm_family *family, struct plm_error *error);
/* The network of that number, from 0. */
void plm_generated_draw(enum plm_family family, uint64_t seed, uint64_t number, struct plm_generated *network);
/* The network of a row of a table; `family` where the table has no such column (PLM_FAMILIES: it must have one). Fails
   with PLM_EFORMAT and a sentence that names the cell. */
int plm_generated_read(const struct plm_csv *table, size_t row, enum plm_family family, struct plm_generated *network,
                       struct plm_error *error);

/* Steps that have the peak of a whole training: full batches, the smaller one at the end of an epoch, full ones again. */
enum { PLM_PLAN_STEPS = 14 };
struct plm_plan {
    uint32_t step[PLM_PLAN_STEPS]; /* samples */
    size_t steps;
    uint32_t batch;
    uint64_t full; /* steps with a whole batch in an epoch */
    uint64_t rest; /* samples of the last one, 0: there is no smaller one */
};
struct plm_plan plm_generated_plan(const struct plm_generated *network);

#endif
