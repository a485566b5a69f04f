/*
 * The published methods behind one interface. docs/HOWTO_ADD_ESTIMATOR.md says how to add one.
 *
 * A method is one file with one function and one line in the table of methods.c. It gets what one capture of a job left behind (struct
 * plm_capture) and says how much memory the job takes: of the card, without the context, which is one figure for all methods and is shown apart.
 * Methods are pure functions of the capture and the question; any thread, each on its own answer. An answer that a method cannot
 * give has a reason; only a lack of memory is a failure (PLM_ENOMEM).
 */
#ifndef PLM_ESTIMATE_METHOD_H
#define PLM_ESTIMATE_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_card;
struct plm_description;
struct plm_error;
struct plm_forest;
struct plm_job;
struct plm_json;
struct plm_page;
struct plm_trace;

/* What is known of the job. What was not captured is NULL. */
struct plm_capture {
    const struct plm_job *job;                 /* a record of the virtual GPU */
    const struct plm_trace *trace;             /* of the profiler, on the CPU */
    const struct plm_description *description; /* of the model */
    const struct plm_forest *forest;           /* that `plimsoll train` made */
    double job_seconds, trace_seconds, description_seconds; /* how long each took to capture; 0: not known */
};
enum plm_capture_part { PLM_NEEDS_JOB = 1, PLM_NEEDS_TRACE = 2, PLM_NEEDS_DESCRIPTION = 4, PLM_NEEDS_FOREST = 8 };

/* What is asked. */
struct plm_question {
    const struct plm_card *card; /* never NULL */
    uint64_t usable;             /* bytes of the card before an allocation fails */
    uint64_t context;            /* what the process takes beside its allocations: the stack constant */
    int gpus, nodes, tensor_parallel; /* for the methods that know several; 1 each */
};

enum plm_paradigm { PLM_ANALYTICAL, PLM_CPU_SIDE, PLM_LEARNED, PLM_VIRTUAL };
const char *plm_paradigm_name(enum plm_paradigm paradigm); /* "analytical", "CPU-side", "learned", "virtual" */

/* Which figure of a run an estimate stands for; it is compared with the same kind of truth. */
enum plm_answer_kind { PLM_ANSWER_ALLOCATED, PLM_ANSWER_RESERVED, PLM_ANSWER_DEVICE };

enum plm_answer_state {
    PLM_ANSWERED,
    PLM_OUTSIDE,   /* answered, but the job is outside what the method was made for: `note` says why */
    PLM_UNANSWERED /* `note` says why */
};

struct plm_answer {
    enum plm_answer_state state;
    uint64_t bytes;         /* without the context */
    bool oom; /* the method's own verdict: bytes and context exceed the card, or its simulation ran out */
    bool judged; /* the method has decided `oom` itself, by running the job on that card's memory */
    double seconds; /* of the method itself, without the capture; filled in by plm_method_ask() */
    char note[200];
};

struct plm_method {
    const char *name; /* "xmem" */
    const char *shown; /* in tables, where it differs: "dnnmem-style", known from its text alone; else NULL */
    enum plm_paradigm paradigm;
    enum plm_answer_kind kind;
    unsigned needs; /* enum plm_capture_part */
    const char *domain; /* what it was made for: a few words */
    const char *leaves_out; /* a few words */
    /* Fills bytes and, where it has its own reason to, state, oom and note. */
    int (*estimate)(const struct plm_capture *capture, const struct plm_question *question, struct plm_answer *answer);
    /* NULL, or: all that it found, when it alone is asked; on a page, else as members of an object that is open. 0 or PLM_ENOMEM. */
    int (*explain)(const struct plm_capture *capture, const struct plm_question *question, const struct plm_page *page,
                   struct plm_json *json);
};

/* methods.c: all of them, in the order in which they are shown. */
extern const struct plm_method plm_methods[];
extern const size_t plm_method_count;
const struct plm_method *plm_method_find(const char *name); /* NULL: no such method */
/* The methods whose names are nearest to a word that is none, for a complaint: "xmem, xmem+"; "" if none is near. */
const char *plm_method_nearest(const char *word, char *buffer, size_t size);

/* Asks one: missing parts of the capture become an answer that says which command makes them; the verdict is filled in. 0 or PLM_ENOMEM. */
int plm_method_ask(const struct plm_method *method, const struct plm_capture *capture,
                   const struct plm_question *question, struct plm_answer *answer);

#endif
