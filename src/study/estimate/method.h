/*
 * The published methods behind one interface. docs/HOWTO_ADD_ESTIMATOR.md says how to add one.
 *
 * A method is one file with its row, a constant struct plm_method, and one line in study/methods/methods.def. It gets
 * what one capture of a job left behind (struct plm_evidence) and says how much memory the job takes: of the card, without
 * the context, which is one figure for all methods and is shown apart. Or it says how busy the job keeps the card. It
 * works once for a capture; what depends on the card is asked per card. Methods are pure functions; any thread, each on
 * its own inquiry. Nothing fails: an answer that a method cannot give has a reason.
 */
#ifndef PLM_ESTIMATE_METHOD_H
#define PLM_ESTIMATE_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_card;
struct plm_description;
struct plm_error;
struct plm_job;
struct plm_json;
struct plm_labels;
struct plm_learner;
struct plm_method;
struct plm_page;
struct plm_trace;

/* What a method has learned, and whose it is. */
struct plm_model {
    const struct plm_method *method;
    void *model; /* what its learner made */
};

/* What is known of the job. What was not captured is NULL. */
struct plm_evidence {
    const struct plm_job *job;                 /* a record of the virtual GPU */
    const struct plm_labels *labels;           /* what that record says of time and utilization */
    const struct plm_trace *trace;             /* of the profiler, on the CPU */
    const struct plm_description *description; /* of the model */
    const struct plm_model *model;           /* that `plimsoll train` made */
    const double *features;                    /* numbers that this one looks at, instead of a description */
    double job_seconds, trace_seconds, description_seconds; /* how long each took to capture; 0: not known */
    int gpus, nodes, tensor_parallel; /* how the job is spread, for the methods that know several; 0 counts as 1 */
};
/* What a capture has to have. A method that learns needs a model besides. */
enum plm_evidence_part { PLM_NEEDS_JOB = 1, PLM_NEEDS_TRACE = 2, PLM_NEEDS_DESCRIPTION = 4 };

/* What is asked of a card. */
struct plm_question {
    const struct plm_card *card; /* never NULL */
    uint64_t usable;             /* bytes of the card before an allocation fails */
    uint64_t context;            /* what the process takes beside its allocations: the stack constant */
};

enum plm_paradigm { PLM_ANALYTICAL, PLM_CPU_SIDE, PLM_LEARNED, PLM_VIRTUAL };
const char *plm_paradigm_name(enum plm_paradigm paradigm); /* "analytical", "CPU-side", "learned", "virtual" */

/* Which figure of a run an estimate stands for; it is compared with the same kind of truth. All but the last are
   memory: these alone have bytes and a verdict, and the two are never in one table. */
enum plm_answer_kind {
    PLM_ANSWER_ALLOCATED,
    PLM_ANSWER_RESERVED,
    PLM_ANSWER_DEVICE,
    PLM_ANSWER_UTILIZATION /* of the GPU, as DCGM's GPUTL: per cent of the time in which a kernel runs */
};

enum plm_answer_state {
    PLM_ANSWERED,
    PLM_OUTSIDE,   /* answered, but the job is outside what the method was made for: `note` says why */
    PLM_UNANSWERED /* `note` says why */
};

struct plm_answer {
    enum plm_answer_state state;
    uint64_t bytes;         /* without the context */
    double percent;         /* of a method that answers with utilization, which has no bytes */
    bool oom; /* the method's own verdict: bytes and context exceed the card, or its simulation ran out */
    bool judged; /* the method has decided `oom` itself, by running the job on that card's memory */
    double seconds; /* of the method itself, without the capture; with what it did once for all cards */
    char note[200];
};

/* Fills bytes and, where it has its own reason to, state and note: what holds on every card. */
typedef void plm_method_estimate(const struct plm_evidence *evidence, struct plm_answer *answer);
/* The same, for a method that has more to do for each card: returns what it needs for that, which must not move the
   capture. */
typedef void *plm_method_prepare(const struct plm_evidence *evidence, struct plm_answer *answer);
/* One card. `answer` is as it was prepared; bytes, oom, judged, state and note may be set. Not called where there is
   no answer. */
typedef void plm_method_judge(void *prepared, const struct plm_question *question, struct plm_answer *answer);
/* All that it found, when it alone is asked, about the card that was judged last: on a page, else as members of an
   object that is open. */
typedef void plm_method_explain(const void *prepared, const struct plm_page *page, struct plm_json *json);
/* Frees what was prepared; NULL: free() does. */
typedef void plm_method_forget(void *prepared);

struct plm_method {
    const char *name; /* "xmem" */
    enum plm_paradigm paradigm;
    enum plm_answer_kind kind;
    unsigned needs; /* enum plm_evidence_part */
    const char *domain; /* what it was made for: a few words */
    const char *leaves_out; /* a few words */
    const char *shown; /* in tables, where it differs: "dnnmem-style", known from its text alone; else NULL */
    plm_method_estimate *estimate; /* this alone, or the two below */
    plm_method_prepare *prepare;
    plm_method_judge *judge;
    plm_method_explain *explain; /* NULL: it has no more to say than its answer */
    plm_method_forget *forget;
    const struct plm_learner *learner; /* how it learns (study/learn/learner.h); NULL: it has nothing to learn */
};
bool plm_method_is_memory(const struct plm_method *method);

/* For an answer that the job is not the kind the method was made for, or that there is none. The first reason stays. */
__attribute__((format(printf, 2, 3))) void plm_answer_outside(struct plm_answer *answer, const char *format, ...);
__attribute__((format(printf, 2, 3))) void plm_answer_none(struct plm_answer *answer, const char *format, ...);

/* One method asked about one capture, which must outlive it. */
struct plm_inquiry {
    const struct plm_method *method;
    struct plm_answer answer; /* what holds on every card */
    void *prepared;
};
/* Lets the method do what it does once. Missing parts of the capture become an answer that says which command makes
   them. */
struct plm_inquiry plm_inquiry_open(const struct plm_method *method, const struct plm_evidence *evidence);
/* The answer for one card, with the verdict. */
struct plm_answer plm_inquiry_ask(const struct plm_inquiry *inquiry, const struct plm_question *question);
void plm_inquiry_close(struct plm_inquiry *inquiry);

#endif
