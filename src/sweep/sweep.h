/*
 * A sweep: one run of a command for each value of its parameters, and what each came to on every card.
 *
 * The caller fills in what is asked; points are added in the order in which they are run and are filled by
 * plm_sweep_judge(). All memory belongs to the struct; plm_sweep_free() frees it. Writers look only; one thread.
 */
#ifndef PLM_SWEEP_SWEEP_H
#define PLM_SWEEP_SWEEP_H

#include <stdio.h>

#include "fit/ladder.h"
#include "sweep/growth.h"
#include "sweep/parameters.h"
#include "sweep/search.h"

struct plm_card;
struct plm_error;
struct plm_install;
struct plm_job;
struct plm_margin;
struct plm_page;
struct plm_works;

/* A point on a card. */
struct plm_sweep_cell {
    enum plm_verdict verdict;
    uint64_t need, high; /* of the card, and the upper end of its range */
    double step, samples; /* seconds, samples per second of all GPUs; 0: not known */
};

enum plm_sweep_state { PLM_SWEEP_WAITS, PLM_SWEEP_DONE, PLM_SWEEP_FAILED };
struct plm_sweep_point {
    char value[PLM_SWEEP_PARAMETERS][PLM_SWEEP_TEXT];
    enum plm_sweep_state state;
    char why[256];  /* it failed: its last line, or a sentence */
    bool forked;    /* it started from a process that had imported PyTorch */
    char cold[96];  /* why it could not; "": nobody tried */
    double seconds; /* that its run took */
    unsigned gpus;  /* of the job */
    uint64_t allocated, reserved;
    struct plm_sweep_cell *cell; /* by card */
};

struct plm_sweep_card {
    char id[64];
    uint64_t usable; /* less the margin */
    double price;    /* of an hour; 0: not given */
};

struct plm_sweep {
    struct plm_sweep_parameters parameters;
    char **command; /* as it was given, ended by NULL */
    char simulated[64]; /* the card of the runs */
    char margin[32]; /* as it was asked for; "": none */
    bool allow_tight; /* tight counts as fits */
    int largest;      /* the parameter whose largest value is looked for; -1: none */
    char cold[128];   /* why runs started Python anew; "": none did */
    struct plm_sweep_card *card; /* by memory */
    size_t cards;
    struct plm_sweep_point *point;
    size_t points, room;
};

void plm_sweep_free(struct plm_sweep *sweep);
/* One more, which waits. Until the next one is added it stays where it is. */
struct plm_sweep_point *plm_sweep_add(struct plm_sweep *sweep);
/* The one with these values; NULL: there is none. */
struct plm_sweep_point *plm_sweep_find(const struct plm_sweep *sweep, char (*value)[PLM_SWEEP_TEXT]);
/* By the values, for who shows them: those of the first parameter first. */
void plm_sweep_sort(struct plm_sweep *sweep);
size_t plm_sweep_count(const struct plm_sweep *sweep, enum plm_sweep_state state);

/* judge.c: what a recorded job comes to on these cards, by replays; those of the sweep, in its order. `works` NULL: no
   times. Fills everything but the values, and sweep->card[].usable. PLM_E codes with a sentence: it cannot be judged. */
struct plm_sweep_question {
    const struct plm_card *card;
    size_t cards;
    const struct plm_margin *margin;
    const struct plm_install *install;
};
int plm_sweep_judge(const struct plm_sweep_question *question, const struct plm_job *job, const struct plm_works *works,
                    struct plm_sweep_point *point, uint64_t *usable, struct plm_error *error);

/* answer.c: what follows from the points. */

bool plm_sweep_fits(const struct plm_sweep *sweep, const struct plm_sweep_cell *cell);
/* The parameter that numbers are told along: the only one that varies, if it is a number, or the one that is searched; -1:
   there is none. */
int plm_sweep_along(const struct plm_sweep *sweep);
/* Allocated memory over it. */
struct plm_sweep_growth plm_sweep_grows(const struct plm_sweep *sweep);

/* The largest value on a card. */
struct plm_sweep_largest {
    const struct plm_sweep_point *fits, *fails; /* that were run, on both sides of the boundary; NULL: there is none */
    uint64_t estimate; /* by the line, where values between the two were not run; 0: none, or not known */
    bool settled; /* no value of the range lies between them */
};
struct plm_sweep_largest plm_sweep_largest_on(const struct plm_sweep *sweep, size_t card);
/* The values to run next: up to `most`, as numbers of the searched parameter. */
size_t plm_sweep_more(const struct plm_sweep *sweep, uint64_t *value, size_t most);

/* Samples for a dollar; 0: not known. */
double plm_sweep_per_dollar(const struct plm_sweep_card *card, const struct plm_sweep_point *point, size_t at);

/* text.c, document.c: as people, programs and spreadsheets read it. */
void plm_sweep_text(const struct plm_page *page, const struct plm_sweep *sweep);
int plm_sweep_json(FILE *out, const void *sweep, struct plm_error *error);
int plm_sweep_csv(FILE *out, const void *sweep, struct plm_error *error);
/* saved.c: the document again. PLM_EREAD, PLM_EFORMAT with a sentence. */
int plm_sweep_read(const char *path, struct plm_sweep *sweep, struct plm_error *error);

#endif
