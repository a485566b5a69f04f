#include "study/estimate/comparison.h"

#include <string.h>

#include "analysis/job.h"
#include "fit/ladder.h"
#include "base/memory.h"
#include "common/card.h"
#include "common/overhead.h"

/* ---- what is asked ---- */

/* Of a process that nothing is known of but that it trains something: the context and the two libraries that nearly
   all load. */
static uint64_t modelled_context(const struct plm_card *card)
{
    const struct plm_overhead overhead = {.sms = (unsigned)card->sms,
                                          .threads = (unsigned)card->max_threads_per_sm,
                                          .libraries = 1u << PLM_LIBRARY_CUBLAS | 1u << PLM_LIBRARY_CUDNN};
    return plm_overhead_bytes(&overhead, 0);
}

static void ask_about(const struct plm_comparison *c, const struct plm_comparison_options *o,
                      const struct plm_card *card, struct plm_question *q)
{
    const struct plm_job *job = c->evidence.job;
    bool assumed;
    *q = (struct plm_question){.card = card, .usable = card->memory_usable};
    if (job)
        q->usable = plm_summary_usable(&job->summary, card, &assumed);
    if (c->source == PLM_CONTEXT_GIVEN)
        q->context = o->context;
    else if (c->source == PLM_CONTEXT_RECORD)
        q->context = plm_ladder_context(&job->summary, plm_job_largest(job)->summary, card).bytes;
    else
        q->context = modelled_context(card);
}

static int by_memory(const void *a, const void *b)
{
    const struct plm_question *x = a, *y = b;
    return x->usable != y->usable ? (x->usable < y->usable ? -1 : 1) : strcmp(x->card->id, y->card->id);
}

/* ---- asking ---- */

static void method_ask(struct plm_comparison *c, const struct plm_method *method)
{
    struct plm_comparison_row *row = &c->row[c->rows++];
    *row = (struct plm_comparison_row){.method = method, .answer = plm_calloc(c->cards, sizeof *row->answer)};
    row->inquiry = plm_inquiry_open(method, &c->evidence);
    for (size_t i = 0; i < c->cards; i++)
        row->answer[i] = plm_inquiry_ask(&row->inquiry, &c->question[i]);
    if (plm_comparison_estimate(c, row)->state == PLM_UNANSWERED)
        return;
    c->answered++;
    c->memory += plm_method_is_memory(method);
}

void plm_compare(const struct plm_evidence *evidence, const struct plm_comparison_options *o, struct plm_comparison *c)
{
    *c = (struct plm_comparison){.evidence = *evidence, .cards = o->cards};
    c->evidence.gpus = o->gpus;
    c->evidence.nodes = o->nodes;
    c->evidence.tensor_parallel = o->tensor_parallel;
    c->source = o->context_given                        ? PLM_CONTEXT_GIVEN
                : evidence->job && evidence->job->lanes ? PLM_CONTEXT_RECORD
                                                        : PLM_CONTEXT_MODEL;
    c->question = plm_calloc(o->cards, sizeof *c->question);
    c->row = plm_calloc(o->methods, sizeof *c->row);
    for (size_t i = 0; i < o->cards; i++)
        ask_about(c, o, &o->card[i], &c->question[i]);
    qsort(c->question, c->cards, sizeof *c->question, by_memory);
    for (size_t i = 0; i < o->methods; i++)
        method_ask(c, o->method[i]);
}

void plm_comparison_free(struct plm_comparison *c)
{
    for (size_t i = 0; i < c->rows; i++) {
        plm_inquiry_close(&c->row[i].inquiry);
        free(c->row[i].answer);
    }
    free(c->row);
    free(c->question);
    *c = (struct plm_comparison){0};
}

const struct plm_answer *plm_comparison_estimate(const struct plm_comparison *c, const struct plm_comparison_row *row)
{
    return &row->answer[c->cards - 1];
}

const struct plm_comparison_row *plm_comparison_explained(const struct plm_comparison *c)
{
    const bool one = c->rows == 1 && c->answered == 1;
    return one && c->row[0].method->explain ? &c->row[0] : NULL;
}
