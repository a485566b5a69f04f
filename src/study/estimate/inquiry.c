#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "study/estimate/amount.h"
#include "study/estimate/method.h"

const char *plm_paradigm_name(enum plm_paradigm paradigm)
{
    static const char *const names[] = {[PLM_ANALYTICAL] = "analytical",
                                        [PLM_CPU_SIDE] = "CPU-side",
                                        [PLM_LEARNED] = "learned",
                                        [PLM_VIRTUAL] = "virtual"};
    return names[paradigm];
}

bool plm_method_is_memory(const struct plm_method *method)
{
    return method->kind != PLM_ANSWER_UTILIZATION;
}

/* ---- asking ---- */

void plm_answer_outside(struct plm_answer *answer, const char *format, ...)
{
    va_list list;
    if (answer->state != PLM_ANSWERED)
        return;
    answer->state = PLM_OUTSIDE;
    va_start(list, format);
    vsnprintf(answer->note, sizeof answer->note, format, list);
    va_end(list);
}

void plm_answer_none(struct plm_answer *answer, const char *format, ...)
{
    va_list list;
    answer->state = PLM_UNANSWERED;
    answer->bytes = 0;
    answer->percent = 0;
    va_start(list, format);
    vsnprintf(answer->note, sizeof answer->note, format, list);
    va_end(list);
}

static bool is_missing(const struct plm_method *method, const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct {
        unsigned part;
        const void *have;
        const char *what;
    } parts[] = {
        {PLM_NEEDS_JOB, evidence->job, "a record (from `plimsoll run -- CMD`)"},
        {PLM_NEEDS_TRACE, evidence->trace, "a trace (from `plimsoll trace -- CMD`)"},
        {PLM_NEEDS_DESCRIPTION, evidence->features ? (const void *)evidence->features : evidence->description,
         "a description (from `plimsoll describe -- CMD`)"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if ((method->needs & parts[i].part) && !parts[i].have) {
            plm_answer_none(answer, "it needs %s", parts[i].what);
            return true;
        }
    if (!method->learner || (evidence->model && evidence->model->method == method))
        return false;
    if (evidence->model)
        plm_answer_none(answer, "it needs a model of its own: this one was trained for %s",
                        evidence->model->method->name);
    else
        plm_answer_none(answer, "it needs a model (--model FILE, from `plimsoll train --method %s`)", method->name);
    return true;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start->tv_sec) + 1e-9 * (double)(end.tv_nsec - start->tv_nsec);
}

struct plm_inquiry plm_inquiry_open(const struct plm_method *method, const struct plm_evidence *evidence)
{
    struct plm_inquiry inquiry = {.method = method};
    struct timespec start;
    if (is_missing(method, evidence, &inquiry.answer))
        return inquiry;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (method->prepare)
        inquiry.prepared = method->prepare(evidence, &inquiry.answer);
    else
        method->estimate(evidence, &inquiry.answer);
    inquiry.answer.seconds = seconds_since(&start);
    return inquiry;
}

struct plm_answer plm_inquiry_ask(const struct plm_inquiry *inquiry, const struct plm_question *question)
{
    struct plm_answer answer = inquiry->answer;
    struct timespec start;
    if (answer.state == PLM_UNANSWERED)
        return answer;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (inquiry->method->judge)
        inquiry->method->judge(inquiry->prepared, question, &answer);
    answer.seconds += seconds_since(&start);
    if (answer.state != PLM_UNANSWERED && !answer.judged && plm_method_is_memory(inquiry->method))
        answer.oom |= plm_plus(answer.bytes, question->context) > question->usable;
    return answer;
}

void plm_inquiry_close(struct plm_inquiry *inquiry)
{
    if (inquiry->prepared && inquiry->method->forget)
        inquiry->method->forget(inquiry->prepared);
    else
        free(inquiry->prepared);
    inquiry->prepared = NULL;
}
