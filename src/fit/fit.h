/*
 * Whether a recorded job fits on a card, found by replaying it through the allocator simulator.
 *
 * A card holds PyTorch's segments and what else the job needs of it (libraries, context: the ladder). The first is
 * replayed, for any setting of the allocator and any capacity; the second is taken from the record's ladder, with
 * its range. Of a job on several devices the one that needs most decides.
 *
 * plm_fit_open() looks at the job, which must outlive it; plm_fit_close() frees. After opening it is only read: several
 * threads may ask at a time.
 */
#ifndef PLM_FIT_H
#define PLM_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/settings.h"
#include "fit/known.h"
#include "fit/ladder.h"

struct plm_card;
struct plm_error;
struct plm_job;
struct plm_lane;

/* One device of the job. `outside`: what its card holds besides PyTorch's segments; an end of the range can be
   negative, because the other run that it stands for may have reserved less. */
struct plm_fit_lane {
    const struct plm_lane *lane;
    uint64_t least;     /* bytes that were asked for at the peak: no setting does with less */
    uint64_t reserved; /* as recorded */
    uint64_t replayed; /* reserved by a replay with the job's own settings */
    uint64_t calls;    /* for memory, to the driver, in that replay */
    int64_t outside, outside_low, outside_high;
    uint64_t guessed;  /* of outside_low: by how much it is lower because workspaces of convolutions were guessed */
};

struct plm_fit {
    const struct plm_job *job;
    enum plm_torch torch;
    struct plm_allocator_settings settings; /* the job's own */
    const char *allocator;                  /* their text; "" for the defaults */
    struct plm_ladders ladders;
    struct plm_fit_lane *lane;
    size_t lanes;
    uint64_t least;                         /* of the device for which it is most */
    bool repeats;    /* a replay with the job's settings reserves what was recorded */
    char doubt[256]; /* why replays of this record may be wrong; "" if they are exact */
};

/* With a sentence if the record cannot be asked: PLM_ENOTFOUND, no GPU activity, or its peak is not the job's;
   PLM_EFORMAT, settings of the allocator that there are not. */
int plm_fit_open(const struct plm_job *job, struct plm_fit *fit, struct plm_error *error);
void plm_fit_close(struct plm_fit *fit);

/* What the job takes with memory in plenty, by the device that needs most; each end of the range by the device of which
   it is highest, which may be another. */
struct plm_need {
    uint64_t reserved; /* by PyTorch */
    uint64_t need, low, high; /* of the card */
    uint64_t calls; /* for memory, to the driver */
};
int plm_fit_need(const struct plm_fit *fit, const struct plm_allocator_settings *settings, struct plm_need *need,
                 struct plm_error *error);

/* The same on another card than the one that was played: its context is of another size. */
struct plm_need plm_fit_need_on(const struct plm_fit *fit, const struct plm_need *need, const struct plm_card *card);

/* The smallest memory of a card on which the replay completes: with 2 MiB less it does not. */
int plm_fit_minimum(const struct plm_fit *fit, const struct plm_allocator_settings *settings, uint64_t *minimum,
                    struct plm_error *error);

struct plm_fit_answer {
    enum plm_verdict verdict;
    bool in_range; /* tight: whether it completes depends on where in the range the truth lies */
    uint64_t retries; /* else: how often the cache is flushed before memory suffices */
    uint64_t takes; /* of the card, which may be less than it would take if it could; 0: it does not complete */
    uint64_t fallbacks; /* convolutions, each shape once, that have to do without their workspace */
};
/* On a card with `usable` bytes. `need`: of plm_fit_need() for the same settings. */
int plm_fit_card(const struct plm_fit *fit, const struct plm_allocator_settings *settings, const struct plm_need *need,
                 const struct plm_card *card, uint64_t usable, struct plm_fit_answer *answer, struct plm_error *error);

/* "a margin of so much must be left free": "1GiB", "512m" or "5%". */
struct plm_margin {
    uint64_t bytes;
    double share;
};
int plm_margin_parse(const char *text, struct plm_margin *margin);
uint64_t plm_margin_usable(const struct plm_margin *margin, uint64_t usable);

/* Everything `plimsoll fit` shows. */
struct plm_fit_row {
    const struct plm_card *card;
    uint64_t usable; /* less the margin */
    bool assumed; /* nobody has measured how much is usable */
    unsigned lacks; /* enum plm_type, a bit for each that the job computes with and the card does not have */
    uint64_t need, minimum; /* with this card's context; 0: not known */
    struct plm_fit_answer answer;
    char better[128]; /* a setting with which the verdict is better ("default"); "": none of those tried */
    struct plm_fit_answer then;
    uint64_t better_need;
};
struct plm_fit_table {
    const struct plm_job *job;
    const struct plm_fit *fit; /* NULL: it was not asked */
    struct plm_fit_known known; /* if the peak is not the job's, the rows that cannot be judged are PLM_UNKNOWN */
    struct plm_need need; /* on the card that was played; zeros if that is not known, as is `minimum` */
    uint64_t minimum;
    struct plm_fit_row *row; /* by memory */
    size_t rows;
};
int plm_fit_table(const struct plm_fit *fit, const struct plm_card *cards, size_t count,
                  const struct plm_margin *margin, struct plm_fit_table *table, struct plm_error *error);
void plm_fit_table_free(struct plm_fit_table *table);

/* Of a job that cannot be replayed because its peak is not its own: what is known of each card nevertheless. */
struct plm_fit_table plm_fit_table_known(const struct plm_job *job, const struct plm_card *cards, size_t count,
                                         const struct plm_margin *margin);

/* The smallest card, or MIG slice, that can be recommended: the job fits, the card has all it computes with, and does
   not share its memory with the system. NULL: none. */
const struct plm_fit_row *plm_fit_smallest(const struct plm_fit_table *table, bool mig);
/* "bf16, fp8": what is missing. */
const char *plm_fit_lacks_text(unsigned lacks, char out[32]);

/* The same by the way, in a report: by replay where that is quick and the record allows it, else by the ladder; then
   `minimum` is 0. */
struct plm_fit_table plm_fit_report(const struct plm_job *job, const struct plm_card *cards, size_t count);

#endif
