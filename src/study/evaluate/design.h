/*
 * Which runs an evaluation looks at: the rows of a truth file, the full cross of the levels (an ANOVA design), or
 * seeded draws from them (Monte Carlo). A run of a design that has a row in the file is held against it; one that has
 * none is left out and counted, or, if the caller wants that, held against the virtual GPU.
 *
 * plm_design_make() makes a truth of those runs. Its strings belong to the file and the levels, which must outlive
 * it; plm_truth_free() ends it. The same for the same seed. Fails with a sentence.
 */
#ifndef PLM_EVALUATE_DESIGN_H
#define PLM_EVALUATE_DESIGN_H

#include <stdint.h>
#include <stdio.h>

#include "study/evaluate/levels.h"
#include "study/evaluate/truth.h"

struct plm_catalogue;

enum plm_design { PLM_DESIGN_ROWS, PLM_DESIGN_GRID, PLM_DESIGN_MONTECARLO, PLM_DESIGNS };
const char *plm_design_name(enum plm_design design); /* "rows", "grid", "montecarlo" */
int plm_design_parse(const char *text, enum plm_design *design);

struct plm_design_options {
    enum plm_design design;
    size_t draws;             /* of a Monte Carlo */
    uint64_t seed;
    enum plm_truth_kind kind; /* a row without a figure of this kind has no truth */
    bool reference;           /* keep runs without truth */
    bool disturbed;           /* keep rows that say that something else moved the card's memory */
    const char *gpu;          /* instead of all others; NULL: theirs */
    const char *pattern;      /* only runs that have it; NULL: all */
    struct plm_catalogue *catalogue;
};

struct plm_design_made {
    enum plm_design design;
    size_t draws;
    uint64_t seed;
    bool reference;
    size_t runs;      /* of the design that the pattern leaves; a cell of a grid with several rows counts as often */
    size_t measured;  /* of these: they have a truth, and were not disturbed */
    size_t without;   /* they have none */
    size_t disturbed; /* left out for that */
};

/* `levels` NULL with PLM_DESIGN_ROWS. */
int plm_design_make(const struct plm_design_options *options, const struct plm_truth *file,
                    const struct plm_levels *levels, struct plm_truth *truth, struct plm_design_made *made,
                    struct plm_error *error);

/* The runs as a truth file without a ground, for `plimsoll measure`. PLM_EIO if they cannot be written. */
int plm_design_plan(FILE *out, const struct plm_truth *truth, const struct plm_design_made *made);

#endif
