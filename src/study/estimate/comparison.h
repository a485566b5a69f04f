/*
 * The answers of several methods about one job on several cards.
 *
 * plm_compare() asks each method once and has it judge each card; plm_comparison_free() ends it. What the capture
 * points to and the cards belong to the caller and must outlive it; it must not be moved. Nothing fails.
 */
#ifndef PLM_ESTIMATE_COMPARISON_H
#define PLM_ESTIMATE_COMPARISON_H

#include <stdio.h>

#include "study/estimate/method.h"

struct plm_error;
struct plm_page;

/* Where the context of the cards comes from. */
enum plm_comparison_context { PLM_CONTEXT_GIVEN, PLM_CONTEXT_RECORD, PLM_CONTEXT_MODEL };

struct plm_comparison_row {
    const struct plm_method *method;
    struct plm_inquiry inquiry;
    struct plm_answer *answer; /* one for each card */
};

struct plm_comparison {
    struct plm_evidence evidence; /* with how the job is spread */
    struct plm_question *question; /* one for each card, by usable memory */
    size_t cards;
    enum plm_comparison_context source;
    struct plm_comparison_row *row;
    size_t rows, answered;
    size_t memory; /* of these answers: the others are utilization */
};

struct plm_comparison_options {
    const struct plm_method *const *method;
    size_t methods;
    const struct plm_card *card;
    size_t cards;
    int gpus, nodes, tensor_parallel;
    bool context_given;
    uint64_t context;
};
void plm_compare(const struct plm_evidence *evidence, const struct plm_comparison_options *options,
                 struct plm_comparison *comparison);
void plm_comparison_free(struct plm_comparison *comparison);

/* The answer that is shown as the estimate: that for the card with the most memory, where nothing was short. */
const struct plm_answer *plm_comparison_estimate(const struct plm_comparison *comparison,
                                                 const struct plm_comparison_row *row);

/* The one row that has more to say than its figure; NULL: there are several, or it has not. */
const struct plm_comparison_row *plm_comparison_explained(const struct plm_comparison *comparison);

/* Ways to show it: 0, or PLM_EIO with a sentence. */
int plm_comparison_text(const struct plm_page *page, const struct plm_comparison *comparison, struct plm_error *error);
int plm_comparison_json(FILE *out, const struct plm_comparison *comparison, struct plm_error *error);

#endif
